"""Shards of a tagger that know all labels and features from the first; knows no sources.

Their weights are those of one table, so they are merged as they are, without a look at names.
"""

from __future__ import annotations

from dataclasses import replace

from surelearn.merging import MergeState, Way
from surelearn.models.held_out import warn_if_worse
from surelearn.models.sequence_training import SequenceTrainable
from surelearn.models.sequences import SequenceModel


class SequenceShard(SequenceTrainable):
    """A tagger in training whose labels and features are those of its model; see `Trainable`."""

    def fork(self, model: SequenceModel | None = None, *, threads: int = 1) -> SequenceShard:
        return SequenceShard(self.settings, model)

    def state(self, how: Way, start: SequenceModel | None = None) -> MergeState:  # type: ignore[override]
        model = self.model
        assert model is not None
        return MergeState.of_columns(
            model.weights,
            how,
            layout=model.layout,
            initial_variance=model.initial_variance,
            n_columns=len(model.classes),
            mistakes=model.mistakes,
            updates=model.updates,
            start=None if start is None else start.weights,
        )

    def take(  # type: ignore[override]
        self, total: MergeState, prior: MergeState | None = None, *, threads: int = 1
    ) -> None:
        assert self.model is not None
        found = total.merged(prior, threads=threads)
        weights = self.model.weights if found.weights is None else found.weights
        self.model = replace(
            self.model,
            weights=weights,  # type: ignore[arg-type]  # a tagger's are diagonal
            mistakes=found.mistakes,
            updates=found.updates,
        )
        warn_if_worse(total.held, self._right, total.how)

    def rewound(self, start: SequenceModel, state: MergeState) -> SequenceModel | None:  # type: ignore[override]
        model, before = self.model, state.start_of_moves()
        if model is None or model.weights is None or start.weights is None or before is None:
            return None
        if before["prior"] != start.weights.prior:
            return None
        weights = model.weights.moved(before)
        return replace(model, weights=weights, mistakes=list(start.mistakes), updates=start.updates)

"""Shards of a tagger that know all labels and features from the first; knows no sources.

Their weights are those of one table, so they are merged as they are, without a look at names.
"""

from __future__ import annotations

from surelearn.learners.tasks.sequence_training import SequenceTrainable
from surelearn.learners.tasks.sequences import SequenceModel
from surelearn.learners.tasks.structured import columns_state, reset_to, with_merged
from surelearn.merging import MergeState, Way
from surelearn.training.held_out import warn_if_worse


class SequenceShard(SequenceTrainable):
    """A tagger in training whose labels and features are those of its model; see `Trainable`."""

    def fork(self, model: SequenceModel | None = None, *, threads: int = 1) -> SequenceShard:
        return SequenceShard(self.settings, model)

    def state(self, how: Way, start: SequenceModel | None = None) -> MergeState:  # type: ignore[override]
        assert self.model is not None
        return columns_state(self.model, how, n_columns=len(self.model.classes), start=start)

    def take(  # type: ignore[override]
        self, total: MergeState, prior: MergeState | None = None, *, threads: int = 1
    ) -> None:
        self.model = with_merged(self.model, total.merged(prior, threads=threads))
        warn_if_worse(total.held, self._right, total.how)

    def reset_to(self, start: SequenceModel, state: MergeState) -> SequenceModel | None:  # type: ignore[override]
        found: SequenceModel | None = reset_to(self.model, start, state)
        return found

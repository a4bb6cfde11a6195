"""Training a ranker, block by block; knows no sources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.learners.tasks.rank_settings import RankSettings
from surelearn.learners.tasks.ranking import GroupBlock, RankModel
from surelearn.learners.tasks.row_training import Features, RowReader
from surelearn.learners.tasks.structured import reset_to
from surelearn.merging import MergeState, Way
from surelearn.read import Source
from surelearn.training.held_out import HeldOut, warn_if_worse
from surelearn.training.protocol import Order, Packed, Report


class RankTrainable:
    """A ranker in training; see `protocol.Trainable`.

    Parameters
    ----------
    settings : RankSettings
    reader : RowReader
    model : RankModel or None
        The model to continue with; None: start untrained.
    watch : function, optional
        Called with each new model.
    """

    def __init__(
        self,
        settings: RankSettings,
        reader: RowReader,
        model: RankModel | None = None,
        *,
        watch: Callable[[RankModel], None] | None = None,
    ) -> None:
        self.settings = settings
        self.reader = reader
        self.model = model
        self._watch = watch

    # ------------------------------------------------------------------ blocks

    def prepare(self, records: Any, source: Source) -> GroupBlock:
        features = self.reader.read(records.X, source.feature_names)
        n_rows = int(records.bounds[-1])
        cost = _check.candidate_costs(records.relevance, records.cost, n_rows)
        return _block(features, records.bounds, cost, records.weight)

    def check_all_read(self, *, resumed: bool) -> None:
        pass  # no setting names anything in the records

    def check_learnt(self) -> None:
        assert self.model is not None
        # Untrained weights score all candidates alike: the first group learnt is a mistake.
        _check.some_right(self.model.skipped, sum(self.model.mistakes))

    def pack(self, block: GroupBlock) -> Packed:
        features: Features = block.features
        weight = np.zeros(0) if block.weight is None else block.weight
        info = features.n_features, block.weight is not None
        return Packed((*features.arrays, block.bounds, block.cost, weight), info)

    def unpack(self, packed: Packed) -> GroupBlock:
        *arrays, bounds, cost, weight = packed.arrays
        n_features, weighted = packed.info
        return _block(
            Features(tuple(arrays), n_features), bounds, cost, weight if weighted else None
        )

    # ---------------------------------------------------------------- learning

    def learn(
        self,
        block: GroupBlock,
        order: Order = None,
        *,
        number: int = 1,
        starts_pass: bool = False,
        report: Report | None = None,
    ) -> GroupBlock:
        model = self.model
        if model is None:
            model = self._untrained(is_sparse=block.is_sparse)
        if starts_pass:
            model.mistakes.append(0)
        if number == 1:
            model.skipped += block.n_skipped
        self._publish(model)
        settings, learnt = self.settings, model.records_learnt
        try:
            model.learn(
                settings.method, block, all_right=settings.all_right, order=order, report=report
            )
        except BaseException:
            if number == 1:
                model.skipped -= _skipped_after(block, order, model.records_learnt - learnt)
            raise
        return block

    def _publish(self, model: RankModel) -> None:
        self.model = model
        if self._watch is not None:
            self._watch(model)

    def _untrained(self, *, is_sparse: bool) -> RankModel:
        assert self.reader.n_features is not None
        return self.settings.untrained(self.reader.n_features, is_sparse=is_sparse)

    # ----------------------------------------------------------------- merging

    def fork(self, model: RankModel | None = None, *, threads: int = 1) -> RankTrainable:
        return RankTrainable(self.settings, self.reader.fork(), model)

    def state(self, how: Way, start: RankModel | None = None) -> MergeState:
        model = self._untrained(is_sparse=True) if self.model is None else self.model
        return model.merge_state(how, start)

    def take(self, total: MergeState, prior: MergeState | None = None, *, threads: int = 1) -> None:
        model = self._untrained(is_sparse=True) if self.model is None else self.model
        self._publish(model.merged(total, prior, threads=threads))
        warn_if_worse(total.held, self._right, total.how)

    def reset_to(self, start: RankModel, state: MergeState) -> RankModel | None:
        found: RankModel | None = reset_to(self.model, start, state)
        return None if found is None else replace(found, skipped=start.skipped)

    def held_out(self, block: GroupBlock, n: int) -> HeldOut:
        groups = block.part(block.size - n, block.size)
        return HeldOut(groups, self._right(groups))

    def _right(self, groups: GroupBlock) -> NDArray[np.bool_]:
        """Of the groups with a right and a wrong candidate, where the best one is right."""
        assert self.model is not None
        best = self.model.leads(groups.rows, groups.bounds, 1).best[groups.tells]
        starts = groups.bounds[:-1][groups.tells]
        ends = groups.bounds[1:][groups.tells]
        least = [groups.cost[a:b].min() for a, b in zip(starts, ends, strict=True)]
        return np.asarray(groups.cost[best] == least, dtype=bool)


def _skipped_after(block: GroupBlock, order: Order, learnt: int) -> int:
    """How many groups are skipped after the first ones, which have been learnt."""
    places = block.to_learn(order)[learnt:]
    if not len(places):
        return 0
    skips = block.has_weight & ~block.tells
    return int(np.count_nonzero((skips if order is None else skips[order])[places[0] :]))


def _block(features: Features, bounds: Any, cost: Any, weight: Any) -> GroupBlock:
    """The groups of a stream."""
    rows, is_sparse = features.rows(), features.is_sparse
    return GroupBlock.of(rows, bounds, cost, weight, is_sparse=is_sparse, features=features)

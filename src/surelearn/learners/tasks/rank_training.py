"""Training a ranker, block by block; knows no sources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, constraints
from surelearn.learners.settings import Parameter, Params, Settings, resolved
from surelearn.learners.tasks.ranking import GroupBlock, RankModel
from surelearn.learners.tasks.row_training import Features, RowReader
from surelearn.learners.tasks.structures import StructureTrainable
from surelearn.merging import MergeState, Way
from surelearn.read import Source
from surelearn.training.held_out import warn_if_worse
from surelearn.training.protocol import Order, Packed, Report
from surelearn.weights import Diagonal, fits


def _scheme(name: str, params: Params) -> constraints.Constraints:
    scheme = constraints.get(params[name])
    if not isinstance(scheme, constraints.Single | constraints.Sequential):
        raise ValueError(
            "constraints must be 'single' or 'sequential', or constraints.Sequential(k), for "
            f"candidates, got {scheme!r}."
        )
    return scheme


class RankSettings(Settings):
    """The checked parameters of a ranker."""

    own: ClassVar = {"constraints": Parameter(_scheme, shared=True)}

    @property
    def all_right(self) -> bool:
        """Whether a wrong candidate must lose to all better ones."""
        return bool(self.right == "all")

    def untrained(self, n_features: int, *, is_sparse: bool) -> RankModel:
        """An untrained model for rows of this width."""
        layout = self.layout(n_features)
        fits(layout, 1)
        weights = Diagonal(layout, 1, self.initial_variance)
        projection = resolved(self.projection, is_sparse=is_sparse)
        return RankModel(layout, self.initial_variance, projection, weights)


class RankTrainable(StructureTrainable):
    """A ranker in training: its features are columns, which all shards number alike.

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
        super().__init__(settings, model, watch=watch, same_space=True)
        self.reader = reader

    # ------------------------------------------------------------------ blocks

    def prepare(self, records: Any, source: Source) -> GroupBlock:
        features = self.reader.read(records.X, source.feature_names)
        n_rows = int(records.bounds[-1])
        cost = _check.candidate_costs(records.relevance, records.cost, n_rows)
        return _block(features, records.bounds, cost, records.weight)

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

    def register(self, block: GroupBlock) -> GroupBlock:
        if self.model is None:
            self.model = self._untrained(is_sparse=block.is_sparse)
        return block

    def learn(
        self,
        block: GroupBlock,
        order: Order = None,
        *,
        number: int = 1,
        starts_pass: bool = False,
        report: Report | None = None,
    ) -> GroupBlock:
        self.register(block)
        model = self.model
        if starts_pass:
            model.mistakes.append(0)
        if number == 1:
            model.skipped += block.n_skipped
        self._publish(model)
        learnt = model.records_learnt
        try:
            self._learn(block, order, report)
        except BaseException:
            if number == 1:
                model.skipped -= _skipped_after(block, order, model.records_learnt - learnt)
            raise
        return block

    def _learn(self, encoded: GroupBlock, order: Order, report: Report | None) -> None:
        settings = self.settings
        self.model.learn(
            settings.method, encoded, all_right=settings.all_right, order=order, report=report
        )

    def _untrained(self, *, is_sparse: bool) -> RankModel:
        assert self.reader.n_features is not None
        model: RankModel = self.settings.untrained(self.reader.n_features, is_sparse=is_sparse)
        return model

    # ----------------------------------------------------------------- merging

    def fork(self, model: RankModel | None = None, *, threads: int = 1) -> RankTrainable:
        return RankTrainable(self.settings, self.reader.fork(), model)

    def state(self, how: Way, start: RankModel | None = None) -> MergeState:
        model: RankModel = self._untrained(is_sparse=True) if self.model is None else self.model
        return model.merge_state(how, start)

    def take(self, total: MergeState, prior: MergeState | None = None, *, threads: int = 1) -> None:
        model = self._untrained(is_sparse=True) if self.model is None else self.model
        self._publish(model.merged(total, prior, threads=threads))
        warn_if_worse(total.held, self._right, total.how)

    def reset_to(self, start: RankModel, state: MergeState) -> RankModel | None:
        before: RankModel | None = super().reset_to(start, state)
        return None if before is None else replace(before, skipped=start.skipped)

    def _right(self, encoded: GroupBlock) -> NDArray[np.bool_]:
        """Of the groups with a right and a wrong candidate, where the best one is right."""
        best = self.model.leads(encoded.rows, encoded.bounds, 1).best[encoded.tells]
        starts = encoded.bounds[:-1][encoded.tells]
        ends = encoded.bounds[1:][encoded.tells]
        least = [encoded.cost[a:b].min() for a, b in zip(starts, ends, strict=True)]
        return np.asarray(encoded.cost[best] == least, dtype=bool)


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

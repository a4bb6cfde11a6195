"""The state of a ranker: one column of weights for all candidates; knows no scikit-learn."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, _core, constraints, probability, weights
from surelearn.learners.settings import Parameter, Params, Settings, resolved
from surelearn.learners.snapshot import copied
from surelearn.learners.tasks.row_block import Features
from surelearn.learners.tasks.row_training import RowReader
from surelearn.learners.tasks.structures import (
    StructureTrainable,
    columns_state,
    learn_in_turns,
    with_merged,
)
from surelearn.merging import MergeState, Way
from surelearn.read import Source
from surelearn.training.held_out import warn_if_worse
from surelearn.training.protocol import Order, Packed, Report, UpdateMethod
from surelearn.weights import Diagonal, Layout, Leads, Tally, fits

Array = NDArray[np.float64]

#: Draws per group for the probabilities of dependent scores: the standard error is at most 0.016.
_DRAWS = 1000

#: Numbers in the covariances that are held at a time: 32 MB.
_HELD = 1 << 22


class GroupMoments(NamedTuple):
    """Scores of n groups of K candidates each."""

    places: NDArray[np.int64]  # rows of the candidates, of shape (n, K)
    mean: Array  # of shape (n, K)
    covariance: Array  # of shape (n, K, K)


class GroupBlock(NamedTuple):
    """Checked groups of candidates: group i has the rows bounds[i] to bounds[i + 1].

    The bounds may be those of some of the groups: rows and costs are those of all.
    """

    rows: Any  # rows of the core
    bounds: NDArray[np.int64]
    cost: Array  # of each row
    weight: Array | None  # of each group
    tells: NDArray[np.bool_]  # of each group: whether one candidate costs less than another
    is_sparse: bool
    first: int = 0  # the number of the first group in the user's data
    features: Any = None  # the arrays behind the rows, in a stream

    @property
    def size(self) -> int:
        return len(self.bounds) - 1

    @property
    def n_skipped(self) -> int:
        """Groups without a right and a wrong candidate, that have a weight."""
        return int(np.count_nonzero(self.has_weight & ~self.tells))

    @property
    def has_weight(self) -> NDArray[np.bool_]:
        """Of each group, whether its weight is not 0."""
        return np.ones(self.size, bool) if self.weight is None else self.weight > 0

    @classmethod
    def of(
        cls,
        rows: _core.Rows,
        bounds: NDArray[np.int64],
        cost: Array,
        weight: Array | None,
        *,
        is_sparse: bool,
        features: Any = None,
    ) -> GroupBlock:
        """All groups of these rows."""
        tells = differs(bounds, cost)
        return cls(rows, bounds, cost, weight, tells, is_sparse, features=features)

    def part(self, begin: int, end: int) -> GroupBlock:
        """Some of the groups, which keep their numbers."""
        return self._replace(
            bounds=self.bounds[begin : end + 1],
            weight=None if self.weight is None else self.weight[begin:end],
            tells=self.tells[begin:end],
            first=self.first + begin,
        )

    def to_learn(self, order: NDArray[np.int64] | None) -> NDArray[np.int64]:
        """The places in `order` of the groups that can be learnt: they tell, and have a weight."""
        usable = self.tells & self.has_weight
        return np.flatnonzero(usable if order is None else usable[order])


def differs(bounds: NDArray[np.int64], cost: Array) -> NDArray[np.bool_]:
    """Of each group, whether its costs are not all the same."""
    filled = np.flatnonzero(np.diff(bounds))
    found = np.zeros(len(bounds) - 1, dtype=bool)
    if len(filled):
        starts = bounds[filled]
        found[filled] = np.minimum.reduceat(cost, starts) < np.maximum.reduceat(cost, starts)
    return found


@dataclass
class RankModel:
    """Weights and counters of training so far.

    Parameters
    ----------
    layout : Layout
    initial_variance : float
    projection : {"precision", "covariance"}
    weights : Diagonal
        One column, without intercept: it cancels between the candidates of a group.
    skipped : int
        Groups without a right and a wrong candidate.
    mistakes : list of int
        Groups in which no right candidate led all wrong ones before the update, one entry per pass.
    updates : int
        Groups that moved the weights.
    """

    layout: Layout
    initial_variance: float
    projection: str
    weights: Diagonal
    skipped: int = 0
    mistakes: list[int] = field(default_factory=list)
    updates: int = 0
    records_learnt: int = 0  # since the model was made or loaded, in all passes

    def copy(self) -> RankModel:
        """An independent copy: training it does not change this model."""
        return replace(self, weights=copied(self.weights), mistakes=list(self.mistakes))

    def learn(
        self,
        method: UpdateMethod,
        block: GroupBlock,
        *,
        all_right: bool,
        order: NDArray[np.int64] | None = None,
        report: Callable[[Tally], None] | None = None,
    ) -> None:
        """Learn the groups, all or those in `order`; a bad one raises `Refused` in its turn."""
        core_method = method.core(self.projection)
        places = block.to_learn(order)
        groups = places if order is None else order[places]
        data = block.rows, block.bounds, block.cost, all_right, block.weight, groups

        def learn(span: tuple[int, int], done: NDArray[np.uint64]) -> bool:
            return self.weights.learn_structures(
                _core.learn_groups, core_method, data, span=span, done=done
            )

        def name(place: int) -> tuple[int, int]:
            return block.first + int(groups[place]), int(places[place])

        learn_in_turns(self, len(groups), learn, name=name, unit="group", report=report)

    # --------------------------------------------------------------- prediction

    def scores(self, rows: _core.Rows) -> Array:
        """The mean score of each candidate."""
        return self.weights.scores(rows)[:, 0]

    def leads(self, rows: _core.Rows, bounds: NDArray[np.int64], threads: int) -> Leads:
        """The best and the next best candidate of each group, and the margin between them.

        `next` is -1 in a group of one, `best` as well in an empty group.
        """
        return Leads(*_core.group_leads(self.weights.core, rows, bounds, threads))

    def probabilities(
        self,
        rows: _core.Rows,
        bounds: NDArray[np.int64],
        *,
        noise: float,
        temperature: float = 1.0,
        threads: int,
    ) -> Array:
        """The probability that a candidate is the best of its group, for each row."""
        _covariance_fits(int(np.diff(bounds).max(initial=0)), weights.MEMORY_LIMIT)
        p = np.ones(len(rows))
        for places, mean, covariance in self._moments(rows, bounds, threads=threads):
            p[places] = best_of(mean, covariance, noise, temperature)
        return p

    def fitted_temperature(self, block: GroupBlock, *, noise: float, threads: int) -> float:
        """The temperature with which right candidates are most probably the best of their group.

        It is drawn to 1 if groups are few. A group of equal candidates does not depend on it.
        """
        largest = math.isqrt(int((np.diff(block.bounds) ** 2).sum()))
        _covariance_fits(largest, weights.MEMORY_LIMIT, who="calibrate")
        groups = list(self._moments(block.rows, block.bounds, threads=threads))
        costs = [block.cost[places] for places, _, _ in groups]
        right = [cost == cost.min(axis=1, keepdims=True) for cost in costs]

        def log_probabilities(temperature: float) -> Array:
            own = [
                (best_of(mean, covariance, noise, temperature) * which).sum(axis=1)
                for (_, mean, covariance), which in zip(groups, right, strict=True)
            ]
            return np.asarray(np.log(np.maximum(np.concatenate(own), 0.5 / _DRAWS)))

        # More digits would only fit the noise of the draws.
        return probability.best_temperature(log_probabilities, shrink=True, near=0.01)

    def _moments(
        self, rows: _core.Rows, bounds: NDArray[np.int64], *, threads: int
    ) -> Iterator[GroupMoments]:
        """The scores of groups of two candidates at least, some groups of one size at a time."""
        scores, sizes = self.scores(rows), np.diff(bounds)
        for size in np.unique(sizes[sizes > 1]).tolist():
            groups, step = np.flatnonzero(sizes == size), max(1, _HELD // size**2)
            for at in range(0, len(groups), step):
                some = groups[at : at + step]
                places = bounds[some][:, None] + np.arange(size)
                spread = self._covariances(rows, bounds, some, threads=threads)
                yield GroupMoments(places, scores[places], spread)

    def _covariances(
        self, rows: _core.Rows, bounds: NDArray[np.int64], some: Any, *, threads: int
    ) -> Array:
        """The covariances of the scores of groups of one size, of shape (n, size, size)."""
        size = int(bounds[some[0] + 1] - bounds[some[0]])
        found = [
            _core.group_covariances(self.weights.core, rows, bounds[run[0] : run[-1] + 2], threads)
            for run in np.split(some, np.flatnonzero(np.diff(some) > 1) + 1)
        ]
        return np.concatenate(found).reshape(-1, size, size)

    # ------------------------------------------------------------------ merging

    def merge_state(self, how: Way, start: RankModel | None = None) -> MergeState:
        """What merging needs from this model, which was trained from `start`."""
        counts = np.array([self.skipped], dtype=np.int64)
        return columns_state(self, how, n_columns=1, start=start, counts=counts)

    def merged(
        self, total: MergeState, prior: MergeState | None = None, *, threads: int = 1
    ) -> RankModel:
        """The model of a sum, with the settings of this one."""
        found = total.merged(prior, threads=threads)
        model: RankModel = replace(with_merged(self, found), skipped=int(found.counts[0]))
        return model


def best_of(mean: Array, covariance: Array, noise: float, temperature: float = 1.0) -> Array:
    """The probability of each score to be the largest of its row.

    Exact for two scores and for independent ones; else the share of 1,000 draws, the same in every
    call. Label noise belongs to the difference of two scores: each gets half of it. The temperature
    multiplies all standard deviations.

    Parameters
    ----------
    mean : ndarray of shape (n, K)
    covariance : ndarray of shape (n, K, K)
    noise : float
    temperature : float
    """
    K = mean.shape[1]
    spread = (covariance + 0.5 * noise * np.eye(K)) * temperature**2
    variances = np.diagonal(spread, axis1=1, axis2=2)
    if K == 2:
        gap = variances.sum(axis=1) - 2.0 * spread[:, 0, 1]
        margin = mean[:, 1] - mean[:, 0]
        return probability.label_probabilities(margin, np.maximum(gap, 0.0))
    p = np.empty_like(mean)
    apart = np.count_nonzero(spread, axis=(1, 2)) == np.count_nonzero(variances, axis=1)
    if apart.any():
        p[apart] = probability.label_probabilities(mean[apart], variances[apart])
    if not apart.all():
        random = np.random.default_rng(0)
        some = mean[~apart], spread[~apart]
        p[~apart] = probability.sample_probabilities(*some, _DRAWS, random)
    return p


def _covariance_fits(n_candidates: int, limit: int | None, *, who: str = "predict_proba") -> None:
    """Refuse a group whose covariance does not fit in memory, with what is computed from it."""
    needed = 4 * 8 * n_candidates**2
    _check.enough_memory(
        needed,
        limit,
        lambda room: (
            f"group must have a covariance that fits in memory ({_check.size(room)} available) for "
            f"{who}, got {n_candidates:,} candidates, which need {_check.size(needed)}. Without "
            "group and qid, all rows are one group."
        ),
    )


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
        X = records.X
        if len(records):
            features = self.reader.read(X, source.feature_names)
        else:  # none could be read, or all are withheld
            features = Features((X.indptr, X.indices, X.data), X.shape[1])
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

    def begin_round(self, block: GroupBlock, start: RankModel, how: Way) -> GroupBlock:
        own: GroupBlock = super().begin_round(block, start, how)
        self.model.skipped = start.skipped
        return own

    def _counted(self, model: RankModel) -> NDArray[np.int64]:
        return np.array([model.skipped], dtype=np.int64)

    def _counting(self, model: RankModel, more: NDArray[np.int64]) -> RankModel:
        return replace(model, skipped=model.skipped + int(more[0]))

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

"""Partitions: what every engine does with them, in the order of `fit`; must not know an engine.

A partition is a shard whose rows an engine holds. The engine visits partitions and gathers their
results; everything else is here, so that all engines give the same bytes.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.columns.known import Known
from surelearn.learners.answers.linear import block_of, put_rows_model, reader_of
from surelearn.learners.base import settings_of
from surelearn.learners.checks import random_numbers
from surelearn.learners.classifier import SureClassifier
from surelearn.learners.labels import as_labels, one_label_each
from surelearn.learners.online import rounds_of
from surelearn.learners.row_input import ShardRows
from surelearn.learners.row_learner import merged_shards, shard_of
from surelearn.learners.table_classifier import SureTableClassifier, decided, undecided
from surelearn.learners.table_shards import (
    Scales,
    TableCounts,
    columns_in,
    counted_tables,
    new_like,
    parted,
    weighed_tables,
)
from surelearn.learners.tasks.row_settings import (
    RowSettings,
    check_declared,
    check_weighted,
    given_weight,
)
from surelearn.learners.tasks.rows import RowModel, union_of_labels
from surelearn.learners.text_classifier import SureTextClassifier
from surelearn.learners.text_shards import counted_texts, weighed_by
from surelearn.merging import Documents, MergeState, ShardState, Words, added, met_in_order
from surelearn.parameters import untrained
from surelearn.read import Labels
from surelearn.training.shards import Shard, learn_round, named
from surelearn.units import ColumnScale
from surelearn.weights import Diagonal

E = TypeVar("E", bound=SureClassifier)
R = TypeVar("R")

#: What a part of the rows is called in errors.
PART = "partition"


def shard_state(
    estimator: SureClassifier,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    classes: Any,
    number: int,
    prior: SureClassifier | None = None,
    counts: Any = None,
    documents: Counts | None = None,
    part: str = "shard",
) -> ShardStates:
    """Learn one shard on its own, for one round; what is learnt, ready to be merged with others.

    Parameters
    ----------
    estimator : SureClassifier or SureTextClassifier
        Its parameters alone are used, so it may be fitted or not; it is not changed.
    X, y, sample_weight
        As in `fit`, but there may be no rows at all, or rows of one class only.
    classes : array
        Labels of all shards: every shard starts from the same model.
    number : int
        Which shard this is, from 0. With `random_state` it decides the order of the rows.
    prior : estimator, optional
        The merged model of the rounds before this one; see `n_rounds`.
    counts : array of int, optional
        Rows of each class (in sorted order) in all shards, without those of weight 0. Needed for
        ``class_weight="balanced"``.
    documents : Documents or Scales, optional
        The sum of `count_documents` of all shards. Needed with ``idf=True`` and scaled columns.
    part : str, default "shard"
        What a shard is called in errors, such as ``"shard 3: ..."``.

    Returns
    -------
    ShardStates
    """
    settings: RowSettings = settings_of(estimator)
    one_label_each(y)
    known = np.unique(as_labels(classes, "classes"))
    _check.two_classes(known, "fit")
    with named(number, part):
        rows = ShardRows(X, Labels.of(as_labels(y)), sample_weight, number)
        shard = shard_of(estimator, rows, classes=known, counts=counts)
        if _weighs_words(estimator):
            shard = weighed_by(shard, _given(documents, "idf=True"))
        if isinstance(documents, TableCounts):
            shard, documents = weighed_tables(shard, documents.documents), documents.scales
        n_features: int = shard.trainable.reader.n_features  # type: ignore[attr-defined]
        is_sparse = shard.block.is_sparse
        if settings.new_scale(n_features, is_sparse=is_sparse) is not None:
            shard = _scaled_by(shard, _given(documents, "scaled columns"))
        if prior is None:
            start = settings.but(scale=False).start(n_features, known, is_sparse=is_sparse)
        else:
            start = _going_on(settings, prior, known, n_features).unscaled()
        state = learn_round(shard, start, rounds_of(estimator))
        if isinstance(state, ShardState) and isinstance(start.weights, Diagonal):
            state = replace(state, runs=state.runs.moved(start.weights))
        words = shard.trainable.reader.words()  # type: ignore[attr-defined]
        has_rows = shard.block.size > 0
        return ShardStates(replace(start, weights=None), {number: OneShard(state, words, has_rows)})


class OneShard(NamedTuple):
    """What one shard has learnt, and the words that it has met."""

    state: ShardState | MergeState
    words: Words | None
    has_rows: bool


@dataclass(frozen=True)
class ShardStates:
    """What shards have learnt in a round.

    They are put together by ``+`` and `combined`, in any order and grouping, and merged by `fitted`
    in the order of the shards.

    Parameters
    ----------
    start : RowModel
        What all of them went on from, without its weights.
    shards : dict of int
        By their numbers.
    """

    start: RowModel
    shards: dict[int, OneShard]

    def __add__(self, other: ShardStates) -> ShardStates:
        states = self, other
        known = [state.start for state in states if state.has_rows]
        if len(known) > 1:
            _check.agree("projection_", *(start.projection for start in known))
        return ShardStates((known or [self.start])[0], self.shards | other.shards)

    @staticmethod
    def combined(states: Iterable[ShardStates]) -> ShardStates:
        """All of them."""
        listed = list(states)
        _check.some_state(len(listed))
        return reduce(operator.add, listed)

    @property
    def has_rows(self) -> bool:
        return any(shard.has_rows for shard in self.shards.values())

    @property
    def in_order(self) -> list[OneShard]:
        """In the order of their numbers."""
        return [self.shards[number] for number in sorted(self.shards)]


def _going_on(
    settings: RowSettings, prior: SureClassifier, classes: NDArray[Any], n_features: int
) -> RowModel:
    """The model of the rounds before."""
    settings.check_fits(prior.model_)
    _check.agree("classes", prior.classes_.tolist(), classes.tolist())
    _check.n_features(prior.n_features_in_, n_features, "X")
    return prior.model_


#: What rows are weighed by.
Counts = Documents | Scales | TableCounts


def counts_documents(estimator: SureClassifier) -> bool:
    """Whether all rows have to be looked at before one is learnt: to weigh words, or for units."""
    return _weighs_words(estimator) or estimator.scale is not False


def _weighs_words(estimator: SureClassifier) -> bool:
    return isinstance(estimator, SureTextClassifier) and bool(estimator.idf)


def count_documents(
    estimator: SureClassifier, X: Any, y: Any, sample_weight: Any = None
) -> Counts | None:
    """What one shard adds to what all are weighed by, for `shard_state` of all.

    The documents with ``idf=True``; the moments of scaled columns; None where nothing is weighed.

    Parameters
    ----------
    estimator : SureClassifier or SureTextClassifier
        Its parameters alone are used.
    X, y, sample_weight
        As in `shard_state`. Rows of weight 0 are not counted.
    """
    if not counts_documents(estimator):
        return None
    if isinstance(estimator, SureTableClassifier):
        return counted_tables(estimator, X, y, sample_weight)
    if _weighs_words(estimator):
        return counted_texts(estimator, X, y, sample_weight)
    block = block_of(untrained(estimator), X, y, sample_weight)
    settings: RowSettings = settings_of(estimator)
    scale = settings.but(n_shards=1).scale_of(block, np.shape(X)[1])
    return None if scale is None else Scales((scale,))


def n_rounds(estimator: SureClassifier) -> int:
    """How often shards are merged: after every `merge_every` passes, and after the last."""
    return rounds_of(estimator).number


def fitted(
    estimator: E,
    states: ShardStates | Iterable[ShardStates],
    *,
    prior: SureClassifier | None = None,
    documents: Counts | None = None,
    feature_names: Any = None,
) -> E:
    """A new estimator with what the shards of a round have learnt.

    Parameters
    ----------
    estimator : SureClassifier or SureTextClassifier
        Its parameters are those of the result.
    states : ShardStates or list of them
        Of all shards, in any order and grouping.
    prior : estimator, optional
        The merged model of the rounds before this one.
    documents : Documents, optional
        As in `shard_state`.
    feature_names : array of str, optional
        Names of the features, for `feature_names_in_`.

    Examples
    --------
    >>> from surelearn import SureClassifier
    >>> from surelearn.learners.partitions import count_documents, counted, n_rounds, shard_state
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [0.0, 2.0], [2.0, 1.0]], [0, 1, 0, 1]
    >>> clf = SureClassifier(passes=4, merge_every=2, random_state=0)
    >>> parts = [(X[:2], y[:2]), (X[2:], y[2:])]
    >>> same = {"documents": counted(count_documents(clf, *part) for part in parts)}
    >>> model = None
    >>> for _ in range(n_rounds(clf)):
    ...     states = [shard_state(clf, *part, classes=[0, 1], number=i, prior=model, **same)
    ...               for i, part in enumerate(parts)]
    ...     model = fitted(clf, states, prior=model, **same)
    >>> bool((model.sigma_ == clf.set_params(n_shards=2).fit(X, y).sigma_).all())
    True
    """
    total = states if isinstance(states, ShardStates) else ShardStates.combined(states)
    start = total.start if prior is None else prior.model_.copy().unscaled()
    words = met_in_order([shard.words for shard in total.in_order])
    learnt = [shard.state for shard in total.in_order]
    own, scales = parted(documents)
    units = None if scales is None else scales.units
    result: E = merged_shards(new_like(estimator), start, learnt, words, units=units)
    if _weighs_words(estimator):
        own = _given(own, "idf=True")
    if own is not None:
        put_rows_model(result, result.model_, reader_of(result).words(), own)
    if scales is not None:
        result.model_.scale_by(ColumnScale.united(scales.parts))
    if feature_names is not None:
        result.feature_names_in_ = np.asarray(feature_names, dtype=object)
    return result


# -------------------------------------------------------------------- partitions


class LabelCounts(NamedTuple):
    """Labels of one partition or more, and the rows of each that are learnt, which may be none."""

    number: int  # of the first partition
    classes: NDArray[Any]
    counts: NDArray[np.int64]
    n_parts: int


@dataclass(frozen=True)
class Job:
    """What every partition has to know; it is sent to where the rows are."""

    estimator: SureClassifier  # its parameters alone; it draws the same numbers everywhere
    classes: NDArray[Any] | None = None
    counts: NDArray[np.int64] | None = None
    prior: SureClassifier | None = None
    documents: Counts | None = None

    def tally(self, y: Any, sample_weight: Any = None, *, number: int) -> LabelCounts:
        """The labels of a partition; rows of weight 0 are not learnt."""
        with named(number, PART):
            labels = Labels.of(as_labels(y))
            weight = _check.sample_weight(sample_weight, labels.n_rows)
            own = _check.class_weight(self.estimator.class_weight)
            weight = given_weight(own, labels, weight)
            learnt = labels if weight is None else labels.take(weight != 0)
        return LabelCounts(number, _plain(labels.values), learnt.counts, n_parts=1)

    def columns(self, X: Any, *, number: int) -> list[Known] | None:
        """The columns of a partition of tables; None where it has no rows."""
        if len(X) == 0:
            return None
        with named(number, PART):
            return columns_in(self.estimator, X)

    def count(self, X: Any, y: Any, sample_weight: Any = None, *, number: int) -> Counts | None:
        """The documents of a partition."""
        if len(y) == 0:
            return None
        with named(number, PART):
            return count_documents(self.estimator, X, y, sample_weight)

    def state(
        self, X: Any, y: Any, sample_weight: Any = None, *, number: int
    ) -> ShardStates | None:
        """What is learnt from a partition; None where it has no rows."""
        if len(y) == 0:
            return None
        return shard_state(
            self.estimator,
            X,
            y,
            sample_weight,
            classes=self.classes,
            number=number,
            prior=self.prior,
            counts=self.counts,
            documents=self.documents,
            part=PART,
        )


class Engine(Protocol):
    """Whoever holds the partitions."""

    def tally(self, job: Job) -> LabelCounts | None:
        """`Job.tally` of all partitions, together; None where there are none."""

    def columns(self, job: Job) -> list[Known] | None:
        """`Job.columns` of the first partition that has rows."""

    def documents(self, job: Job) -> Counts | None:
        """`Job.count` of all partitions, together."""

    def total(self, job: Job) -> ShardStates | None:
        """`Job.state` of all partitions, together."""


def fit(estimator: E, engine: Engine, *, classes: Any = None, feature_names: Any = None) -> E:
    """A new estimator that has learnt all partitions of an engine."""
    settings, job = _settings(estimator), Job(_seeded(estimator))
    if isinstance(estimator, SureTableClassifier):  # the first partition decides for all
        job = replace(job, estimator=decided(job.estimator, _some(engine.columns(job))))
    known, counts = _classes(settings, engine, job, classes)
    _check.two_classes(known, "fit")
    if settings.chooses_passes:
        tally = _tally(engine, job)
        n_rows = int(tally.counts.sum())
        passes = settings.for_rows(n_rows, len(known), tally.n_parts).passes
        job = replace(job, estimator=new_like(job.estimator).set_params(passes=passes))
    documents = engine.documents(job) if counts_documents(estimator) else None
    job = replace(job, classes=known, counts=counts, documents=documents)
    model: E | None = None
    for _ in range(n_rounds(job.estimator)):
        total = _some(engine.total(replace(job, prior=model)))
        twin: Any = job.estimator
        model = fitted(twin, total, prior=model, documents=documents, feature_names=feature_names)
    assert model is not None  # passes are one at least
    own = estimator.get_params(deep=False)
    if isinstance(model, SureTableClassifier):
        undecided(model)
    model.set_params(passes=own["passes"], random_state=own["random_state"])
    return model


def _some(found: R | None) -> R:
    """What some partition has given."""
    if found is None:
        raise ValueError("fit needs at least one row, got none in any partition.")
    return found


def together(tallies: Iterable[LabelCounts | None]) -> LabelCounts | None:
    """One of all; labels must be of one kind."""
    total: LabelCounts | None = None
    for tally in tallies:
        if tally is None or not len(tally.classes):
            continue
        total = tally if total is None else _added(total, tally)
    return total


def counted(found: Iterable[Any]) -> Any:
    """The documents, or the moments, of all."""
    return reduce(added, found, None)


def gathered(states: Iterable[ShardStates | None]) -> ShardStates | None:
    """All that are there."""
    found = [state for state in states if state is not None]
    return ShardStates.combined(found) if found else None


def _added(one: LabelCounts, other: LabelCounts) -> LabelCounts:
    with named(other.number, PART):
        _check.one_kind(one.classes, other.classes)
    classes = union_of_labels(one.classes, other.classes)
    counts = np.zeros(len(classes), dtype=np.int64)
    for tally in (one, other):
        counts[np.searchsorted(classes, tally.classes)] += tally.counts
    n_parts = one.n_parts + other.n_parts
    return LabelCounts(min(one.number, other.number), classes, counts, n_parts)


def _classes(
    settings: RowSettings, engine: Engine, job: Job, classes: Any
) -> tuple[NDArray[Any], NDArray[np.int64] | None]:
    """Classes as declared, or those found, with the rows of each where these matter."""
    if classes is None:
        tally = _tally(engine, job)
        check_weighted(settings.class_weight, tally.classes)
        return tally.classes[tally.counts > 0], tally.counts[tally.counts > 0]
    known = np.unique(as_labels(classes, "classes"))
    check_declared(settings.class_weight, known)
    if settings.class_weight != "balanced":
        return known, None
    tally = _tally(engine, job)
    found = tally.classes[tally.counts > 0]
    _check.one_kind(known, found)
    counts = np.zeros(len(known), dtype=np.int64)
    counts[_check.known_labels(found, known, len(found), "y")] = tally.counts[tally.counts > 0]
    return known, counts


def _tally(engine: Engine, job: Job) -> LabelCounts:
    tally = engine.tally(job)
    return LabelCounts(0, np.zeros(0), np.zeros(0, np.int64), n_parts=0) if tally is None else tally


def _settings(estimator: Any) -> RowSettings:
    """Parameters, checked as those of a model that is merged from parts."""
    if not isinstance(estimator, SureClassifier):
        raise TypeError(
            f"estimator must be a SureClassifier or SureTextClassifier, got {estimator!r}."
        )
    params = estimator.get_params(deep=False)
    settings = RowSettings.of(params)
    return RowSettings.of({**params, "n_shards": max(2, settings.n_shards)})


def _seeded(estimator: E) -> E:
    """A twin that draws the same numbers on every machine, and when a partition is learnt again."""
    twin: E = untrained(estimator)
    if not isinstance(estimator.random_state, int | np.integer):
        seed = random_numbers(estimator.random_state).randint(2**31 - 1)
        twin.set_params(random_state=int(seed))
    return twin


def _plain(classes: NDArray[Any]) -> NDArray[Any]:
    """Texts as numpy's own, whatever library the labels have come from."""
    return np.asarray(classes.tolist()) if classes.dtype.kind == "O" and len(classes) else classes


def _scaled_by(shard: Shard, scales: Scales) -> Shard:
    """A shard whose columns are in the units of all shards."""
    if not shard.block.size:
        return shard
    shard.trainable.units = scales.units  # type: ignore[attr-defined]
    return shard._replace(block=shard.block.in_units(scales.units))


def _given(counted: Any, why: str) -> Any:
    """What all shards have counted, without which rows cannot be learnt."""
    if counted is None:
        raise ValueError(
            f"documents must be given with {why}, got None. Add up count_documents of all shards."
        )
    return counted

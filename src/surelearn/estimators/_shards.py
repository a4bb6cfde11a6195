"""Shards: parts of the rows learnt apart, then merged into one model; must not know engines.

A shard is what threads, Dask and Spark have in common. What it learns depends on its rows, its
number and the model it starts from alone, so whoever learns it gets the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from surelearn import _check
from surelearn.estimators._base import as_labels
from surelearn.merging import MergeState, Words
from surelearn.models import reductions
from surelearn.models.row_settings import Plan, balanced_weights
from surelearn.models.rows import Batch, Model
from surelearn.training.passes import reporter
from surelearn.training.prefetch import ahead
from surelearn.weights import Tally

if TYPE_CHECKING:
    from surelearn.estimators._classifier import SureClassifier

T = TypeVar("T")
R = TypeVar("R")
E = TypeVar("E", bound="SureClassifier")


class Shard(NamedTuple):
    """Rows that are learnt apart from all others."""

    number: int  # from 0
    batch: Batch  # labels are places among the classes
    span: tuple[int, int]  # the shard's rows among those of the batch
    words: Words | None = None  # met in its texts


# ------------------------------------------------------------------ for any engine


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
    part: str = "shard",
) -> MergeState:
    """Learn one shard on its own, for one round; what is learnt, ready to be added to others.

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

    part : str, default "shard"
        What a shard is called in errors, such as ``"shard 3: ..."``.

    Returns
    -------
    MergeState
    """
    plan = Plan.of(estimator.get_params(deep=False))
    known = np.unique(as_labels(classes, "classes"))
    _check.two_classes(known, "fit")
    shell = reader(estimator, plan, known, counts)
    with named(number, part):
        shard = read(shell, X, y, sample_weight, classes=known, number=number)
        if prior is None:
            start = blank(shell, plan, known, is_sparse=shard.batch.is_sparse)
        else:
            start = _going_on(plan, prior, known, shell.n_features_in_)
        return learn_round(plan, shard, start, seed_of(estimator))


def n_rounds(estimator: SureClassifier) -> int:
    """How often shards are merged: after every `merge_every` passes, and after the last."""
    plan = Plan.of(estimator.get_params(deep=False))
    return -(-plan.passes // (plan.merge_every or plan.passes))


def fitted(
    estimator: E,
    states: MergeState | Iterable[MergeState],
    *,
    prior: SureClassifier | None = None,
    feature_names: Any = None,
) -> E:
    """A new estimator with what the shards of a round have learnt.

    Parameters
    ----------
    estimator : SureClassifier or SureTextClassifier
        Its parameters are those of the result.
    states : MergeState or list of them
        Of all shards, in any order and grouping.
    prior : estimator, optional
        The merged model of the rounds before this one.
    feature_names : array of str, optional
        Names of the features, for `feature_names_in_`.

    Examples
    --------
    >>> from surelearn import SureClassifier
    >>> from surelearn.estimators._shards import fitted, n_rounds, shard_state
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [0.0, 2.0], [2.0, 1.0]], [0, 1, 0, 1]
    >>> clf = SureClassifier(passes=4, merge_every=2, random_state=0)
    >>> model = None
    >>> for _ in range(n_rounds(clf)):
    ...     parts = [(X[:2], y[:2]), (X[2:], y[2:])]
    ...     states = [shard_state(clf, *part, classes=[0, 1], number=i, prior=model)
    ...               for i, part in enumerate(parts)]
    ...     model = fitted(clf, states, prior=model)
    >>> same = clf.set_params(n_shards=2).fit(X, y)
    >>> bool((model.sigma_ == same.sigma_).all())
    True
    """
    total = states if isinstance(states, MergeState) else MergeState.combined(states)
    result: E = clone(estimator)
    start = None
    if prior is not None:
        start = MergeState.of(prior._model, total.how)
    put(result, total, prior=start)
    if feature_names is not None:
        result.feature_names_in_ = np.asarray(feature_names, dtype=object)
    return result


def put(
    result: SureClassifier,
    total: MergeState,
    *,
    prior: MergeState | None = None,
    threads: int = 1,
) -> None:
    """Make what was merged the model of an estimator."""
    merged = total.result(prior, threads=threads)
    plan = Plan.of(result.get_params(deep=False))
    fixed = reductions.is_fixed(total.multiclass)
    code = merged.code if fixed else reductions.code_of(total.multiclass, len(merged.weighed))
    model = Model(
        total.layout,
        total.initial_variance,
        merged.projection or plan.resolved(False),
        merged.weighed,
        weights=merged.weights,
        counts=np.zeros(len(merged.weighed), dtype=np.int64),
        mistakes=merged.mistakes,
        updates=merged.updates,
        multiclass=total.multiclass,
        code=code,
    ).with_classes(merged.classes)
    model.counts = merged.counts
    result.n_features_in_ = total.layout.n_features
    result._know(merged.words)
    result._model = model


# --------------------------------------------------------------------- in threads


def fit_shards(shell: SureClassifier, plan: Plan, shards: Sequence[Shard], start: Model) -> None:
    """All rounds over the shards of one machine, in threads."""
    seed = seed_of(shell)
    # Threads that are no longer needed for shards help with large full covariances.
    n_jobs = plan.how.threads
    threads = max(1, n_jobs // len(shards))
    prior: MergeState | None = None

    def work(shard: Shard) -> MergeState:
        with named(shard.number):
            return learn_round(plan, shard, start, seed, threads=threads, stop=stop)

    while len(start.mistakes) < plan.passes:
        stop = Event()
        states = spread(shards, work, n_jobs, stop.set)
        # While shards are being learnt all cores are taken.
        merging = n_jobs if len(shards) <= n_jobs else 1
        total = MergeState.combined(states, threads=merging)
        put(shell, total, prior=prior, threads=n_jobs)
        start = shell._model
        if len(start.mistakes) < plan.passes:
            prior = MergeState.of(start, plan.combine)


def spread(
    items: Sequence[T],
    work: Callable[[T], R],
    threads: int,
    stop: Callable[[], object] | None = None,
) -> Iterator[R]:
    """``map(work, items)`` in threads; in the caller's own where one is enough."""
    threads = min(threads, len(items))
    return map(work, items) if threads == 1 else ahead(items, work, threads, stop)


def spans(n_rows: int, n_shards: int) -> list[tuple[int, int]]:
    """Where rows are cut, as by `numpy.array_split`: the first shards have one more."""
    each, more = divmod(n_rows, n_shards)
    ends = [i * each + min(i, more) for i in range(n_shards + 1)]
    return list(pairwise(ends))


# --------------------------------------------------------------------- one shard


def blank(shell: SureClassifier, plan: Plan, classes: NDArray[Any], *, is_sparse: bool) -> Model:
    """The model that learning starts from, with all classes known."""
    plan.constraints.check_rivals(len(classes) - 1)
    model = shell._untrained(plan, shell.n_features_in_, is_sparse)
    plan.check_classes(classes, model)
    return model.with_classes(classes)


def learn_round(
    plan: Plan,
    shard: Shard,
    start: Model,
    seed: int,
    *,
    threads: int = 1,
    stop: Event | None = None,
) -> MergeState:
    """What a shard learns in one round; `start` is not changed."""
    model = start.copy()
    how = plan.how._replace(threads=threads)
    begin, end = shard.span
    first = len(start.mistakes) + 1
    for number in range(first, min(first + (plan.merge_every or plan.passes), plan.passes + 1)):
        model.mistakes.append(0)
        order = _order(shard, [seed, shard.number, number]) if plan.shuffle else None
        span = shard.span if order is None else (0, end - begin)
        name = f"shard {shard.number}, pass {number}/{plan.passes}"
        if begin < end:
            report = _watch(reporter(name, end - begin) if plan.verbose else None, stop)
            model.learn_coded(how, shard.batch, order=order, span=span, report=report)
    # A row counts once, however often it was learnt.
    own = np.bincount(shard.batch.y[begin:end], minlength=len(start.classes)) * (first == 1)
    model.counts = start.counts + own
    return MergeState.of(model, plan.combine, words=shard.words)


def _watch(
    report: Callable[[Tally], None] | None, stop: Event | None
) -> Callable[[Tally], None] | None:
    """A report that ends the learning when nobody waits for it any more."""
    if stop is None:
        return report

    def watch(done: Tally) -> None:
        if stop.is_set():
            raise InterruptedError("another shard has failed, or training was interrupted.")
        if report is not None:
            report(done)

    return watch


@contextmanager
def named(number: int, part: str = "shard") -> Iterator[None]:
    """An error says in which shard it was, by the name that its holder has for it."""
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        said = kind(f"{part} {number}: {error}")
        for note in getattr(error, "__notes__", ()):
            said.add_note(note)
        raise said from error
    except Exception as error:
        error.add_note(f"This was in {part} {number}.")
        raise


def seed_of(estimator: SureClassifier) -> int:
    """Decides with a shard's number in which order its rows are learnt."""
    return int(check_random_state(estimator.random_state).randint(2**31 - 1))


def _order(shard: Shard, key: list[int]) -> NDArray[np.int64]:
    begin, end = shard.span
    order = np.random.default_rng(key).permutation(end - begin).astype(np.int64, copy=False)
    order += begin
    return order


def reader(estimator: E, plan: Plan, classes: NDArray[Any], counts: Any) -> E:
    """A twin that has learnt nothing, to read one shard with."""
    shell = estimator._stream_shell()
    shell.n_jobs = 1  # whoever reads several at a time has a thread for each
    if plan.class_weight == "balanced":
        shell.class_weight = balanced_weights(classes, counts)
    return shell


def read(
    shell: SureClassifier, X: Any, y: Any, weight: Any, *, classes: NDArray[Any], number: int
) -> Shard:
    """The rows of one shard, checked."""
    if len(y) == 0:
        shell.n_features_in_ = shell._n_features_of(X)
        return Shard(number, Batch(None, None, np.zeros(0, np.int32), None), (0, 0))
    batch = shell._batch(X, y, weight, reset=True)
    return Shard(number, coded(batch, classes), (0, len(batch.y)), shell._known_words())


def coded(batch: Batch, classes: NDArray[Any]) -> Batch:
    """The same rows, with the places of their labels among the classes."""
    _check.one_kind(classes, batch.y)
    places = _check.known_labels(batch.y, classes, len(batch.y), "y")
    return batch._replace(y=places.astype(np.int32))


def _going_on(plan: Plan, prior: SureClassifier, classes: NDArray[Any], n_features: int) -> Model:
    """The model of the rounds before."""
    plan.check_fits(prior._model)
    _check.agree("classes", prior._model.classes.tolist(), classes.tolist())
    _check.n_features(prior.n_features_in_, n_features, "X")
    return prior._model

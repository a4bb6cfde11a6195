"""`MergeState`: what is known of models that are being merged; must not know estimators."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from itertools import zip_longest
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.decode import Code
from surelearn.merging._scale import Classes, Scale, Total, joined, move_of, scale_of
from surelearn.merging._sums import DiagonalSums, FullSums
from surelearn.merging._threads import in_threads
from surelearn.merging._words import Words, united
from surelearn.weights import Diagonal, Full, Layout

#: Ways to merge.
HOWS = ("bayes", "weighted", "kl", "uniform")

#: In place of a way to learn classes: columns that have nothing to do with each other.
_COLUMNS = "columns"

#: Digits of sums have room for so many models.
_MOST = 2**22


class Learnt(Protocol):
    """A model as far as merging has to know it."""

    layout: Layout
    initial_variance: float
    multiclass: str | Code
    projection: str
    classes: Classes
    weights: Diagonal | Full | None
    counts: NDArray[np.int64]
    mistakes: list[int]
    updates: int
    code: Code | None


@dataclass(frozen=True)
class _Sole:
    """The only model so far that has moved a weight: kept as it is, so that it stays as it is."""

    classes: Classes
    state: dict[str, Any]


@dataclass(frozen=True)
class _Summed:
    """Two or more such models."""

    classes: Classes
    sums: Any  # DiagonalSums or FullSums
    n_narrow: int  # models whose untouched weights have the initial variance a margin
    n_wide: int  # and those that have it a block, see Scale
    power: int
    rounds: int

    @property
    def n(self) -> int:
        return self.n_narrow + self.n_wide


class Merged(NamedTuple):
    """One model, made of many."""

    classes: Classes
    weights: Diagonal | Full | None  # None: no model has moved a weight
    weighed: Classes  # those that the weights are for: fewer where only one model has moved any
    counts: NDArray[np.int64]
    mistakes: list[int]
    updates: int
    code: Code | None
    words: Words | None
    projection: str | None  # None: no model has seen a row


@dataclass(frozen=True)
class MergeState:
    r"""Sums over models that are merged: states add up, in any order and grouping to the same bits.

    .. math:: \sum_c \Sigma_c^{-1} \mu_c, \qquad \sum_c (\Sigma_c^{-1} - \Sigma_0^{-1})

    and for ``how="uniform"`` the sums of :math:`\mu_c` and :math:`\Sigma_c - \Sigma_0`. The state
    of one model is the size of the model; that of a thousand is the size of one with their
    features, about five times the bytes of its weights. It holds plain arrays and can be pickled.
    `of` makes one, ``+`` and `combined` put them together, `result` makes a model of them.

    Examples
    --------
    >>> from surelearn import SureClassifier
    >>> from surelearn.merging import MergeState
    >>> X, y = [[0.0, 1.0], [1.0, 0.0]], ["no", "yes"]
    >>> a, b = (SureClassifier(random_state=seed).fit(X, y) for seed in (1, 2))
    >>> state = MergeState.of(a) + MergeState.of(b)
    >>> state.n_models, state.result().predict([[2.0, 1.0]]).tolist()
    (2, ['yes'])
    """

    how: str
    layout: Layout
    initial_variance: float
    multiclass: str | Code
    classes: Classes
    counts: NDArray[np.int64]
    mistakes: list[int]
    updates: int
    n_models: int
    code: Code | None
    trained: _Sole | _Summed | None
    words: Words | None
    projection: str | None  # None: one without rows has none to agree with
    make: Callable[[MergeState, MergeState | None], Any] | None = None  # an estimator of sums

    @classmethod
    def of(cls, model: Any, how: str = "bayes", *, words: Words | None = None) -> Any:
        """The state of one fitted estimator, or of what it has learnt (`Learnt`)."""
        if hasattr(model, "__merge_state__"):
            return model.__merge_state__(how)
        return cls.of_learnt(model, how, words=words)

    @classmethod
    def of_learnt(cls, model: Learnt, how: str, *, words: Words | None = None) -> MergeState:
        """The state of plain weights and counts."""
        state = None if model.weights is None else model.weights.state()
        moved = state is not None and _is_moved(state)
        return cls(
            how=how,
            layout=model.layout,
            initial_variance=model.initial_variance,
            multiclass=model.multiclass,
            classes=model.classes,
            counts=model.counts.copy(),
            mistakes=list(model.mistakes),
            updates=model.updates,
            n_models=1,
            code=model.code,
            trained=_Sole(model.classes, state) if state is not None and moved else None,
            words=words,
            projection=model.projection if model.counts.any() else None,
        )

    @classmethod
    def of_columns(
        cls,
        weights: Diagonal | None,
        how: str,
        *,
        layout: Layout,
        initial_variance: float,
        n_columns: int,
        mistakes: list[int],
        updates: int,
    ) -> MergeState:
        """The state of weights each column of which is merged for itself: no classes, no counts."""
        columns = np.arange(n_columns)
        state = None if weights is None else weights.state()
        moved = state is not None and _is_moved(state)
        return cls(
            how=how,
            layout=layout,
            initial_variance=initial_variance,
            multiclass=_COLUMNS,
            classes=columns,
            counts=np.zeros(n_columns, dtype=np.int64),
            mistakes=list(mistakes),
            updates=updates,
            n_models=1,
            code=None,
            trained=_Sole(columns, state) if state is not None and moved else None,
            words=None,
            projection=None,
        )

    def __add__(self, other: MergeState) -> MergeState:
        """The state of the models of both."""
        return self._plus(other)

    def _plus(self, other: MergeState, threads: int = 1) -> MergeState:
        self._check_fits(other)
        classes = joined(self.classes, other.classes)
        n_models = self.n_models + other.n_models
        _check.number("number of models", n_models, f"[1, {_MOST})", low=1, high=_MOST)
        return replace(
            self,
            classes=classes,
            counts=_counts(self, classes) + _counts(other, classes),
            mistakes=_added(self.mistakes, other.mistakes, 1),
            updates=self.updates + other.updates,
            n_models=n_models,
            code=other.code if self.code is None else self.code,
            trained=self._together(other, threads),
            words=united(self.words, other.words),
            projection=other.projection if self.projection is None else self.projection,
            make=other.make if self.make is None else self.make,
        )

    @staticmethod
    def combined(states: Iterable[MergeState], *, threads: int = 1) -> MergeState:
        """All of them as one, two of a size at a time: no state is read more than log n times.

        The number of threads changes no bit.
        """
        waiting: list[tuple[int, MergeState]] = []
        for state in states:
            rank = 0
            while waiting and waiting[-1][0] == rank:
                state = waiting.pop()[1]._plus(state, threads)
                rank += 1
            waiting.append((rank, state))
        total = waiting.pop()[1]
        while waiting:
            total = waiting.pop()[1]._plus(total, threads)
        return total

    def result(self, prior: MergeState | None = None) -> Any:
        """One model of all: an estimator where these were estimators, otherwise `Merged`.

        Parameters
        ----------
        prior : MergeState, optional
            Of the model that all these started from. Counts, and with ``how="bayes"`` what was
            learnt, are then counted once and not once for each; its words are kept. Default: the
            untrained model.
        """
        return self.merged(prior) if self.make is None else self.make(self, prior)

    def merged(self, prior: MergeState | None = None, *, threads: int = 1) -> Merged:
        """One model of all, in plain pieces; the number of threads changes no bit."""
        extra = 0 if prior is None else self.n_models - 1
        start = self if prior is None else prior
        counts = self.counts - extra * _counts(start, self.classes)
        mistakes = _added(self.mistakes, start.mistakes, -extra)
        weights, weighed = self._weights(prior, threads)
        return Merged(
            self.classes,
            weights,
            weighed,
            counts,
            mistakes,
            self.updates - extra * start.updates,
            self.code,
            self.result_words(prior),
            self.projection,
        )

    def result_words(self, prior: MergeState | None = None) -> Words | None:
        """The words of `result`."""
        return self.words if prior is None else united(self.words, prior.words)

    # ---------------------------------------------------------------- internals

    def _check_fits(self, other: MergeState) -> None:
        _check.agree("how", self.how, other.how)
        for name, own in asdict(self.layout).items():
            _check.agree(name, own, getattr(other.layout, name))
        _check.agree("initial_variance", self.initial_variance, other.initial_variance)
        _check.agree("multiclass", self.multiclass, other.multiclass)
        if self.projection is not None and other.projection is not None:
            _check.agree("projection_", self.projection, other.projection)
        if self._fixed and len(self.classes) and len(other.classes):
            _check.agree("classes", self.classes.tolist(), other.classes.tolist())
            _check.agree("code", self.code, other.code)

    @property
    def _fixed(self) -> bool:
        """Whether the columns are those of a code, which takes no other classes."""
        return self.multiclass not in ("joint", "ovr", "ovo", _COLUMNS)

    def _halves(self, classes: Classes) -> bool:
        return self.multiclass == "joint" and len(classes) > 2

    def _together(self, other: MergeState, threads: int) -> _Sole | _Summed | None:
        if self.trained is None or other.trained is None:
            return other.trained if self.trained is None else self.trained
        classes = joined(self.trained.classes, other.trained.classes)
        a, b = in_threads(
            lambda trained: self._moved(self._summed(trained), classes),
            [self.trained, other.trained],
            threads,
        )
        return _Summed(
            classes,
            a.sums.plus(b.sums, threads=threads),
            a.n_narrow + b.n_narrow,
            a.n_wide + b.n_wide,
            max(a.power, b.power),
            a.rounds + b.rounds,
        )

    def _summed(self, trained: Any) -> _Summed:
        """One model's weights as sums."""
        if isinstance(trained, _Summed):
            return trained
        halves = self._halves(trained.classes)
        scale = scale_of(trained.state, self.initial_variance, halves=halves)
        kind = FullSums if self.layout.covariance == "full" else DiagonalSums
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused by name
            sums = kind.of(trained.state, scale, plain=self.how == "uniform")
        wide, rounds = int(scale.wide), trained.state["rounds"]
        return _Summed(trained.classes, sums, 1 - wide, wide, scale.power, rounds)

    def _moved(self, summed: _Summed, classes: Classes) -> _Summed:
        """The same sums over more classes."""
        move = move_of(self.multiclass, summed.classes, classes)
        if move is None:
            return summed
        return replace(summed, classes=classes, sums=summed.sums.moved(move, self.layout))

    def _weights(
        self, prior: MergeState | None, threads: int
    ) -> tuple[Diagonal | Full | None, Classes]:
        if self.trained is None:
            return None, self.classes[:0]
        kind: type[Diagonal | Full] = Full if self.layout.covariance == "full" else Diagonal
        if isinstance(self.trained, _Sole) and (self.n_models == 1 or self.how == "bayes"):
            return kind.from_state(self.trained.state), self.trained.classes
        summed = self._moved(self._summed(self.trained), self.classes)
        if prior is not None and prior.trained is not None:
            summed = self._less(summed, self._summed(prior.trained))
        total = self._total(summed)
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused by name
            arrays = summed.sums.state(self.layout, total, threads=threads)
        state = {
            "layout": asdict(self.layout),
            "n_columns": self._n_columns(),
            "prior": _prior(self.initial_variance, total.scale),
            "rounds": summed.rounds,
        }
        return kind.from_state({**state, **arrays}), self.classes

    def _less(self, summed: _Summed, start: _Summed) -> _Summed:
        """Without the model that all started from, but for once."""
        rounds = summed.rounds - (summed.n - 1) * start.rounds
        if self.how != "bayes":
            return replace(summed, rounds=rounds)
        sums = summed.sums.plus(self._moved(start, self.classes).sums, 1 - summed.n)
        return replace(summed, rounds=rounds, sums=sums)

    def _n_columns(self) -> int:
        K = len(self.classes)
        if K == 2 and self.multiclass != _COLUMNS:
            return 1
        if self.multiclass == "ovo":
            return K * (K - 1) // 2
        return self.code.n_problems if self._fixed and self.code is not None else K

    def _total(self, summed: _Summed) -> Total:
        """What the priors come to, in the units of sums."""
        dtype = np.dtype(self.layout.dtype)
        narrow = float(dtype.type(self.initial_variance))
        scale = Scale(0.0, self._halves(self.classes), summed.n_wide > 0, summed.power)
        variances = narrow, 2 * narrow if scale.halves else narrow
        own = variances[scale.wide]
        others = self.n_models - summed.n
        each = [summed.n_narrow, summed.n_wide]
        each[scale.wide] += others
        if self.how == "uniform":
            base = sum(n * variance for n, variance in zip(each, variances, strict=True))
        elif self.how == "bayes":
            base = 1.0 / own
        else:
            base = sum(n / variance for n, variance in zip(each, variances, strict=True))
        stored = float(dtype.type(_prior(self.initial_variance, scale)))
        return Total(self.how, self.n_models, base, scale._replace(prior=stored), summed.rounds)


def _prior(initial_variance: float, scale: Scale) -> float:
    share = 0.5 if scale.halves and not scale.wide else 1.0
    return initial_variance * share * 4.0**scale.power


def _is_moved(state: dict[str, Any]) -> bool:
    """Whether any weight differs from the start."""
    if "features" in state:
        return len(state["features"]) > 0
    prior = state["sigma"].dtype.type(state["prior"])
    start = np.eye(len(state["sigma"]), dtype=prior.dtype) * prior
    return bool(state["means"].any()) or not np.array_equal(state["sigma"], start)


def _counts(state: MergeState, classes: Classes) -> NDArray[np.int64]:
    counts = np.zeros(len(classes), dtype=np.int64)
    counts[np.isin(classes, state.classes)] = state.counts
    return counts


def _added(a: list[int], b: list[int], times: int) -> list[int]:
    return [x + times * y for x, y in zip_longest(a, b, fillvalue=0)]

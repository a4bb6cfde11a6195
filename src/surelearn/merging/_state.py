"""`MergeState`: what is known of models that are being merged; must not know estimators."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.decode import LABELS, Code
from surelearn.merging._exact import in_threads
from surelearn.merging._learnt import (
    Classes,
    Evidence,
    Merged,
    ModelSum,
    OneModel,
    Scale,
    State,
    Total,
    Way,
    WeightsLearnt,
    at_power,
    goes_on,
    grown,
    merged_classes,
    move_of,
    same_start,
    scale_of,
    way_of,
)
from surelearn.merging._moves import changed, is_moved, lifetime, moved_state, moves_of
from surelearn.merging._sums import DiagonalSums, FullSums
from surelearn.merging._words import Documents, Words, added, united
from surelearn.units import ColumnScale, Units, same_scales
from surelearn.weights import Diagonal, Full, Layout

#: In place of a way to learn classes: columns that have nothing to do with each other.
_COLUMNS = "columns"

#: Digits of sums have room for so many models.
_MOST = 2**22


@dataclass(frozen=True)
class MergeState:
    r"""Sums over models that are merged: states add up, in any order and grouping to the same bits.

    Of every weight that a model has moved these are the sums of `Evidence`, and for ``"bayes"``,
    ``"weighted"`` and ``"kl"``

    .. math:: \sum_c \Sigma_c^{-1} \mu_c, \qquad \sum_c (\Sigma_c^{-1} - \Sigma_0^{-1})

    and for ``"uniform"`` the sums of :math:`\mu_c` and :math:`\Sigma_c - \Sigma_0`. The state
    of one model is the size of the model; that of a thousand is the size of one with their
    features, some eight times the bytes of its weights. It holds plain arrays and can be pickled.
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

    how: Way
    layout: Layout
    initial_variance: float
    multiclass: str | Code
    classes: Classes
    counts: NDArray[np.int64]
    mistakes: list[int]
    updates: int
    n_models: int
    code: Code | None
    trained: OneModel | ModelSum | None
    words: Words | None
    projection: str | None  # None: one without rows has none to agree with
    documents: Documents | None = None  # counted for the rarity of words
    scales: tuple[ColumnScale, ...] = ()  # of the rows of each model, in use by all
    make: Callable[[MergeState, MergeState | None], Any] | None = None  # an estimator of sums
    held: tuple[Any, ...] = ()  # records that were kept back

    @classmethod
    def of(
        cls,
        model: Any,
        how: str | Evidence = "evidence",
        *,
        start: Any = None,
    ) -> Any:
        """The state of one fitted estimator, or of what it has learnt (`WeightsLearnt`).

        Parameters
        ----------
        model : estimator or WeightsLearnt
        how : str or Evidence
            As in `merge`.
        start : of the same kind, optional
            The trained model that this one, and all that are added to it, went on from; it is
            handed to `result` as well. Default: the untrained one.
        """
        if hasattr(model, "__merge_state__"):
            return model.__merge_state__(how, start)
        return cls.of_learnt(model, how, start=start)

    @classmethod
    def of_learnt(
        cls,
        model: WeightsLearnt,
        how: str | Evidence,
        *,
        words: Words | None = None,
        start: WeightsLearnt | None = None,
    ) -> MergeState:
        """The state of plain weights and counts."""
        state = cls(
            how=_way(how, model.layout),
            layout=model.layout,
            initial_variance=model.initial_variance,
            multiclass=model.multiclass,
            classes=model.classes,
            counts=model.counts.copy(),
            mistakes=list(model.mistakes),
            updates=model.updates,
            n_models=1,
            code=model.code,
            trained=None,
            words=words,
            projection=model.projection if model.counts.any() or model.updates else None,
        )
        before = None if start is None else moved_state(start.weights)
        known = model.classes if start is None else start.classes
        return replace(state, trained=state._one_model(model.weights, before, known))

    @classmethod
    def of_columns(
        cls,
        weights: Diagonal | None,
        how: str | Evidence,
        *,
        layout: Layout,
        initial_variance: float,
        n_columns: int,
        mistakes: list[int],
        updates: int,
        start: Diagonal | None = None,
        counts: NDArray[np.int64] | None = None,
    ) -> MergeState:
        """The state of weights each column of which is merged for itself: no classes."""
        columns = np.arange(n_columns)
        state = cls(
            how=_way(how, layout),
            layout=layout,
            initial_variance=initial_variance,
            multiclass=_COLUMNS,
            classes=columns,
            counts=np.zeros(n_columns, dtype=np.int64) if counts is None else counts,
            mistakes=list(mistakes),
            updates=updates,
            n_models=1,
            code=None,
            trained=None,
            words=None,
            projection=None,
        )
        return replace(state, trained=state._one_model(weights, moved_state(start), columns))

    def __add__(self, other: MergeState) -> MergeState:
        """The state of the models of both."""
        return self._plus(other)

    def _plus(self, other: MergeState, threads: int = 1) -> MergeState:
        if self._is_open and not other._is_open:
            self = replace(self, multiclass=other.multiclass)
        self._check_fits(other)
        classes = merged_classes(self.classes, other.classes)
        n_models = self.n_models + other.n_models
        _check.number("number of models", n_models, f"[1, {_MOST})", low=1, high=_MOST)
        return replace(
            self,
            classes=classes,
            counts=_counts(self, classes) + _counts(other, classes),
            mistakes=_add_counts(self.mistakes, other.mistakes, 1),
            updates=self.updates + other.updates,
            n_models=n_models,
            code=other.code if self.code is None else self.code,
            trained=self._together(other, threads),
            words=united(self.words, other.words),
            documents=added(self.documents, other.documents),
            scales=self.scales + other.scales,
            projection=other.projection if self.projection is None else self.projection,
            make=other.make if self.make is None else self.make,
            held=self.held + other.held,
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
        _check.some_state(len(waiting))
        total = waiting.pop()[1]
        while waiting:
            total = waiting.pop()[1]._plus(total, threads)
        return total

    def result(self, prior: MergeState | None = None) -> Any:
        """One model of all: an estimator where these were estimators, otherwise `Merged`.

        Parameters
        ----------
        prior : MergeState, optional
            Of the model that all these started from. Counts, and with ``"evidence"`` and
            ``"bayes"`` what was learnt, are then counted once and not once for each; its words are
            kept. Default: the untrained model.
        """
        return self.merged(prior) if self.make is None else self.make(self, prior)

    def merged(self, prior: MergeState | None = None, *, threads: int = 1) -> Merged:
        """One model of all, in plain pieces; the number of threads changes no bit."""
        extra = 0 if prior is None else self.n_models - 1
        start = self if prior is None else prior
        counts = self.counts - extra * _counts(start, self.classes)
        mistakes = _add_counts(self.mistakes, start.mistakes, -extra)
        weights, weighed = self._weights(prior, threads)
        return Merged(
            self.classes,
            weights,
            weighed,
            counts,
            mistakes,
            self.updates - extra * start.updates,
            self.code,
            self.projection,
        )

    def result_scale(self, prior: MergeState | None = None) -> ColumnScale | None:
        """The scale of columns of `result`."""
        scales = self.scales if prior is None else self.scales + prior.scales
        return ColumnScale.united(scales) if scales else None

    def units(self, prior: MergeState | None = None) -> Units:
        """Those in which all have learnt."""
        scales = self.scales if prior is None else self.scales + prior.scales
        return scales[0].units

    def result_words(self, prior: MergeState | None = None) -> Words | None:
        """The words of `result`."""
        return self.words if prior is None else united(self.words, prior.words)

    def result_documents(self, prior: MergeState | None = None) -> Documents | None:
        """The document counts of `result`; those of the start are counted once."""
        start = None if prior is None else prior.documents
        if self.documents is None or start is None:
            return start if self.documents is None else self.documents
        return self.documents.plus(start, 1 - self.n_models)

    # ---------------------------------------------------------------- internals

    def _check_fits(self, other: MergeState) -> None:
        same_scales(self.scales + other.scales)
        _check.agree("how", self.how, other.how)
        for name, own in asdict(self.layout).items():
            _check.agree(name, own, getattr(other.layout, name))
        _check.agree("initial_variance", self.initial_variance, other.initial_variance)
        if not other._is_open:
            _check.agree("multiclass", self.multiclass, other.multiclass)
        if self.projection is not None and other.projection is not None:
            _check.agree("projection_", self.projection, other.projection)
        if self._fixed and len(self.classes) and len(other.classes):
            _check.agree("classes", self.classes.tolist(), other.classes.tolist())
            _check.agree("code", self.code, other.code)

    @property
    def _fixed(self) -> bool:
        """Whether the columns are those of a code, which takes no other classes."""
        return self.multiclass not in ("joint", "ovr", "ovo", LABELS, _COLUMNS)

    @property
    def _is_open(self) -> bool:
        """Whether no row has told yet if rows have one label or many."""
        return not len(self.classes) and self.multiclass in ("joint", "ovr")

    def _halves(self, classes: Classes) -> bool:
        return self.multiclass == "joint" and len(classes) > 2

    def _one_model(
        self, weights: Diagonal | Full | None, before: State | None, known: Classes
    ) -> OneModel | None:
        """What one model has learnt, since a start with these classes where there is one."""
        if weights is None:
            return None
        if before is None or not isinstance(self.how, Evidence):
            state: State = weights.state()
            return OneModel(self.classes, state) if is_moved(state) else None
        assert isinstance(weights, Diagonal)
        like = {"layout": asdict(weights.layout), "prior": weights.prior}
        state, before = changed(weights, self._start_at(before, known, like))
        if len(state["features"]) == 0 and state["rounds"] == before["rounds"]:
            return None
        return OneModel(self.classes, state, before)

    def _start_at(self, start: State, known: Classes, like: State) -> State:
        """A start with the classes of this state, at the scale of another one's weights."""
        halves = self._halves(self.classes)
        splits = halves and not self._halves(known)
        begun = grown(start, move_of(self.multiclass, known, self.classes), halves=splits)
        scales = [scale_of(some, self.initial_variance, halves=halves) for some in (like, begun)]
        return at_power(begun, scales[0].power - scales[1].power)

    def _together(self, other: MergeState, threads: int) -> OneModel | ModelSum | None:
        if self.trained is None or other.trained is None:
            return other.trained if self.trained is None else self.trained
        classes = merged_classes(self.trained.classes, other.trained.classes)
        same_start(goes_on(self.trained), goes_on(other.trained))
        a, b = in_threads(
            lambda trained: self._moved(self._summed(trained), classes),
            [self.trained, other.trained],
            threads,
        )
        return ModelSum(
            classes,
            a.sums.plus(b.sums, threads=threads),
            a.n_margin_priors + b.n_margin_priors,
            a.n_class_priors + b.n_class_priors,
            max(a.power, b.power),
            a.rounds + b.rounds,
            a.goes_on,
        )

    def _summed(self, trained: Any) -> ModelSum:
        """One model's weights as sums."""
        if isinstance(trained, ModelSum):
            return trained
        halves, state, start = self._halves(trained.classes), trained.state, trained.start
        scale = scale_of(state, self.initial_variance, halves=halves)
        kind = FullSums if self.layout.covariance == "full" else DiagonalSums
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused by name
            if isinstance(self.how, Evidence):
                sums: Any = moves_of(state, start, scale)
            else:
                sums = kind.of(state, scale, plain=self.how == "uniform")
        wide, rounds = int(scale.wide), lifetime(state, start).since
        begun = start is not None
        return ModelSum(trained.classes, sums, 1 - wide, wide, scale.power, rounds, begun)

    def _moved(self, summed: ModelSum, classes: Classes) -> ModelSum:
        """The same sums over more classes."""
        move = move_of(self.multiclass, summed.classes, classes)
        if move is None:
            return summed
        return replace(summed, classes=classes, sums=summed.sums.moved(move, self.layout))

    def _weights(
        self, prior: MergeState | None, threads: int
    ) -> tuple[Diagonal | Full | None, Classes]:
        if isinstance(self.how, Evidence):
            return self._settled(prior, threads, self.how.tau)
        if self.trained is None:
            return None, self.classes[:0]
        kind: type[Diagonal | Full] = Full if self.layout.covariance == "full" else Diagonal
        if isinstance(self.trained, OneModel) and (self.n_models == 1 or self.how == "bayes"):
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

    def _settled(
        self, prior: MergeState | None, threads: int, tau: float
    ) -> tuple[Diagonal | Full | None, Classes]:
        """The weights that moves come to, from where all models started."""
        start = None if prior is None else prior.trained
        begun = start.state if isinstance(start, OneModel) else None
        known = self.classes if start is None else start.classes
        own = self.trained
        if own is None:
            return (None, known[:0]) if begun is None else (Diagonal.from_state(begun), known)
        same_start(goes_on(own), begun is not None)
        if isinstance(own, ModelSum):
            return self._settled_sums(own, begun, known, tau=tau, threads=threads), self.classes
        if begun is not None:
            begun = replace(self, classes=own.classes)._start_at(begun, known, own.state)
        return _after(begun, own.state), own.classes

    def _settled_sums(
        self, summed: ModelSum, begun: State | None, known: Classes, *, tau: float, threads: int
    ) -> Diagonal:
        """The same for two models or more; `begun` has these classes."""
        summed = self._moved(summed, self.classes)
        scale = self._total(summed).scale
        start = self._untrained(scale)
        if begun is not None:
            start = self._start_at(begun, known, start)
            scale = scale_of(start, self.initial_variance, halves=scale.halves)
        weights: Diagonal = summed.sums.settled(
            start, scale=scale, since=summed.rounds, tau=tau, threads=threads
        )
        return weights

    def _untrained(self, scale: Scale) -> State:
        """Diagonal weights that have learnt nothing."""
        layout, K = self.layout, self._n_columns()
        return {
            "layout": asdict(layout),
            "n_columns": K,
            "prior": _prior(self.initial_variance, scale),
            "rounds": 0,
            "features": np.zeros(0, dtype=np.int64),
            "cells": np.zeros((0, layout.parts * K), dtype=layout.dtype),
        }

    def _less(self, summed: ModelSum, start: ModelSum) -> ModelSum:
        """Subtract the common start, counted once."""
        rounds = summed.rounds - (summed.n - 1) * start.rounds
        if self.how != "bayes":
            return replace(summed, rounds=rounds)
        sums = summed.sums.plus(self._moved(start, self.classes).sums, 1 - summed.n)
        return replace(summed, rounds=rounds, sums=sums)

    def _n_columns(self) -> int:
        K = len(self.classes)
        if K == 2 and self.multiclass not in (LABELS, _COLUMNS):
            return 1
        if self.multiclass == "ovo":
            return K * (K - 1) // 2
        return self.code.n_problems if self._fixed and self.code is not None else K

    def _total(self, summed: ModelSum) -> Total:
        """What the priors come to, in the units of sums."""
        dtype = np.dtype(self.layout.dtype)
        narrow = float(dtype.type(self.initial_variance))
        scale = Scale(0.0, self._halves(self.classes), summed.n_class_priors > 0, summed.power)
        variances = narrow, 2 * narrow if scale.halves else narrow
        own = variances[scale.wide]
        others = self.n_models - summed.n
        each = [summed.n_margin_priors, summed.n_class_priors]
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


def _after(start: State | None, state: State) -> Diagonal:
    """Weights that were at `start`, untrained without one, and have moved to `state`."""
    if start is None:
        return Diagonal.from_state(state)
    return Diagonal.from_state(start).put_features(state)


def _way(how: str | Evidence, layout: Layout) -> Way:
    """A full covariance keeps the gain of a row whole: what its models know is added up."""
    way = way_of(how)
    return "bayes" if layout.covariance == "full" and isinstance(way, Evidence) else way


def _counts(state: MergeState, classes: Classes) -> NDArray[np.int64]:
    counts = np.zeros(len(classes), dtype=np.int64)
    counts[np.isin(classes, state.classes)] = state.counts
    return counts


def _add_counts(a: list[int], b: list[int], times: int) -> list[int]:
    return [x + times * y for x, y in zip_longest(a, b, fillvalue=0)]

"""Weights as sums that add up, and sums as weights again: one class for each kind of weights."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, _core, weights
from surelearn.merging._exact import ExactSums, in_threads, slices
from surelearn.merging._learnt import Move, Scale, Total
from surelearn.weights import Layout

Array = NDArray[np.float64]


def _stored(numbers: Array, dtype: str) -> NDArray[Any]:
    return finite_weights(numbers.astype(dtype, order="C"))


def _zeros(shape: tuple[int, ...], n_digits: int) -> ExactSums:
    """Sums without terms, where there is memory for them."""
    check_memory(math.prod(shape), n_digits)
    return ExactSums.zeros(shape, n_digits)


def check_memory(n_sums: int, n_digits: int, more: int = 0) -> None:
    """Refuse so many sums, and `more` bytes, where there is no memory for them."""
    needed = n_sums * (8 * n_digits + 1) + more
    _check.enough_memory(
        needed,
        weights.MEMORY_LIMIT,
        lambda room: _check.Message(
            f"models must be small enough to be merged in memory ({_check.size(room)} available), "
            f"got sums that need {_check.size(needed)}. Use fewer classes or fewer features "
            "({n_features} if they are hashed).",
            n_features=_check.Keyword("n_features"),
        ),
    )


def n_digits(dtype: str) -> int:
    return 2 if dtype == "float32" else 3


@dataclass(frozen=True)
class DiagonalSums:
    """Sums over diagonal weights, of those features only that a model has moved.

    What is summed of a weight is how far it is from the start, so that the others add nothing:
    (precision times mean, precision less prior precision), or for the plain average (mean,
    variance less prior variance); then the same of its averaged mean as of its mean.

    Parameters
    ----------
    features : ndarray of int64 of shape (n,)
        Ascending.
    sums : ExactSums of shape (n, parts, n_columns)
        In the order of a feature's numbers.
    """

    features: NDArray[np.int64]
    sums: ExactSums

    @classmethod
    def of(cls, state: Mapping[str, Any], scale: Scale, *, plain: bool) -> DiagonalSums:
        """The sums of one model."""
        layout = Layout(**state["layout"])
        shape = (len(state["features"]), layout.parts, state["n_columns"])
        cells = state["cells"].astype(np.float64).reshape(shape)
        c, unit = 2.0**scale.power, scale.unit
        terms = np.empty(shape)
        weight: Array | float = unit / c
        if layout.second_order and plain:
            terms[:, 1] = (cells[:, 1] - scale.prior) * (unit / c**2)
        elif layout.second_order:
            precision = 1.0 / cells[:, 1]
            terms[:, 1] = (precision - 1.0 / scale.prior) * (c**2 / unit)
            weight = precision * c
        terms[:, 0] = cells[:, 0] * weight
        if layout.averaged:
            average = cells[:, 0] - cells[:, -1] / (state["rounds"] + 1)
            terms[:, -1] = average * weight
        finite_sums(terms)
        return cls(state["features"], ExactSums.of(terms, n_digits(layout.dtype)))

    def plus(self, other: DiagonalSums, times: int = 1, *, threads: int = 1) -> DiagonalSums:
        """The sums of both, the other's so many times."""
        features, places = _united(self.features, other.features)
        shape = (len(features), *self.sums.tops.shape[1:])
        sums = _zeros(shape, self.sums.n_digits)

        def fill(rows: slice) -> None:
            span = features[rows]
            own, its = (_between(x.features, span) for x in (self, other))
            sums.put(places[self.features[own]], self.sums, own)
            sums.add(other.sums.part(its), places=places[other.features[its]], times=times)

        in_threads(fill, slices(len(features), threads), threads)
        return DiagonalSums(features, sums)

    def moved(self, move: Move, layout: Layout) -> DiagonalSums:
        """The same sums under other columns."""
        shape = (*self.sums.tops.shape[:2], len(move.columns))
        sums = _zeros(shape, self.sums.n_digits)
        for k, (column, sign) in enumerate(zip(move.columns, move.signs, strict=True)):
            for part in range(shape[1]) if column >= 0 else ():
                own = 1 if layout.second_order and part == 1 else sign
                sums.put((slice(None), part, k), self.sums, (slice(None), part, column), own)
        return DiagonalSums(self.features, sums)

    def state(self, layout: Layout, total: Total, *, threads: int = 1) -> dict[str, Any]:
        """The state of the weights that the sums come to."""
        features, sums = self.features, self.sums
        if layout.second_order and _start(layout, total) != total.scale.prior:
            # The variance of unmoved weights changes as well, so all weights are stored.
            features = np.arange(layout.n_rows, dtype=np.int64)
            sums = _zeros((layout.n_rows, *sums.tops.shape[1:]), sums.n_digits)
            sums.put(self.features, self.sums, slice(None))

        def cells(rows: slice) -> NDArray[Any]:
            with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused by name
                return _cells(sums.part(rows).values(), layout, total)

        parts = in_threads(cells, slices(len(features), threads), threads)
        return {"features": features, "cells": np.concatenate(parts).reshape(len(features), -1)}


def _between(features: NDArray[np.int64], span: NDArray[np.int64]) -> slice:
    """Which of ascending features are those of a stretch of others."""
    if len(span) == 0:
        return slice(0, 0)
    return slice(*np.searchsorted(features, [span[0], span[-1] + 1]))


def _united(
    a: NDArray[np.int64], b: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Features of both, ascending, and the place of each feature among them.

    A table of all features is a part of what their weights take, and needs neither sorting nor
    searching, which would take longer than the sums.
    """
    seen = np.zeros(max((int(x[-1]) + 1 for x in (a, b) if len(x)), default=0), dtype=bool)
    seen[a] = True
    seen[b] = True
    places = np.cumsum(seen, dtype=np.int64)
    places -= 1
    return np.flatnonzero(seen), places


def _start(layout: Layout, total: Total) -> float:
    """The variance of a weight that no model has moved, as stored."""
    nothing = np.zeros((1, layout.parts, 1))
    return float(_cells(nothing, layout, total)[0, 1, 0])


def _cells(values: Array, layout: Layout, total: Total) -> NDArray[Any]:
    """Means, variances and sums for averaging of what sums come to."""
    n, c, unit = total.n_models, 2.0**total.scale.power, total.scale.unit
    numbers = np.empty_like(values)
    divisor: Array | float = n * unit
    if layout.second_order and total.plain:
        # The sums are of differences to the prior: of variances far below it, nothing is left.
        least = float(np.finfo(np.float64).epsneg) * total.scale.prior
        numbers[:, 1] = np.maximum((values[:, 1] + total.base) / divisor * c**2, least)
    elif layout.second_order:
        divisor = (values[:, 1] + total.base) * unit
        if not (divisor > 0).all():
            raise ValueError(
                "models must be surer of every weight than their prior to be merged, got a merged "
                f"precision of {divisor.min():.3g}."
            )
        # A precision that has no inverse in this type: the least variance there is.
        least = float(np.finfo(layout.dtype).smallest_subnormal)
        share = n if total.how == "kl" else 1
        numbers[:, 1] = np.maximum(share / divisor * c**2, least)
    numbers[:, 0] = values[:, 0] / divisor * c
    if layout.averaged:
        mean = _stored(numbers[:, 0], layout.dtype).astype(np.float64)
        average = values[:, -1] / divisor * c
        numbers[:, -1] = (mean - average) * (total.rounds + 1)
    return _stored(numbers, layout.dtype)


@dataclass(frozen=True)
class FullSums:
    """The same over full weights: vectors and one matrix for all of them.

    Parameters
    ----------
    means : ExactSums of shape (n_columns, features with intercept, 1 or 2)
        Of the means and the averaged means.
    square : ExactSums of shape (n_columns, features, n_columns, features)
    """

    means: ExactSums
    square: ExactSums

    @classmethod
    def of(cls, state: Mapping[str, Any], scale: Scale, *, plain: bool) -> FullSums:
        """The sums of one model."""
        layout = Layout(**state["layout"])
        means, sigma = (state[name].astype(np.float64) for name in ("means", "sigma"))
        c, unit, identity = 2.0**scale.power, scale.unit, np.eye(len(sigma))
        if layout.averaged:
            means[1] = means[0] - means[1] / (state["rounds"] + 1)
        if plain:
            vectors = means * (unit / c)
            square = (sigma - scale.prior * identity) * (unit / c**2)
        else:
            precision = _inverse(sigma)
            vectors = np.stack([_core.applied(precision, mu) for mu in means]) * c
            square = (precision - identity / scale.prior) * (c**2 / unit)
        for numbers in (vectors, square):
            finite_sums(numbers)
        shape, D = (state["n_columns"], layout.n_rows), n_digits(layout.dtype)
        vectors = np.moveaxis(vectors.reshape(-1, *shape), 0, -1)
        return cls(ExactSums.of(vectors, D), ExactSums.of(square.reshape(shape * 2), D))

    def plus(self, other: FullSums, times: int = 1, *, threads: int = 1) -> FullSums:
        """The sums of both, the other's so many times; in one thread."""
        both = []
        for own, its in ((self.means, other.means), (self.square, other.square)):
            total = ExactSums(own.digits.copy(), own.tops.copy())
            total.add(its, times=times)
            both.append(total)
        return FullSums(*both)

    def moved(self, move: Move, layout: Layout) -> FullSums:
        """The same sums under other columns."""
        K, rows, parts = len(move.columns), layout.n_rows, self.means.tops.shape[-1]
        means = _zeros((K, rows, parts), self.means.n_digits)
        square = _zeros((K, rows, K, rows), self.means.n_digits)
        known = [k for k in range(K) if move.columns[k] >= 0]
        for k in known:
            means.put(k, self.means, move.columns[k], move.signs[k])
            for z in [k] if move.apart else known:
                where = (move.columns[k], slice(None), move.columns[z])
                square.put((k, slice(None), z), self.square, where)
        return FullSums(means, square)

    def state(self, layout: Layout, total: Total, *, threads: int = 1) -> dict[str, Any]:
        """The state of the weights that the sums come to; in one thread."""
        n, c, unit = total.n_models, 2.0**total.scale.power, total.scale.unit
        size = self.means.tops.shape[0] * layout.n_rows
        vectors = np.moveaxis(self.means.values(), -1, 0).reshape(-1, size)
        vectors = np.ascontiguousarray(vectors)
        square = self.square.values().reshape(size, size) + total.base * np.eye(size)
        if total.plain:
            means, sigma = vectors / (n * unit) * c, square / (n * unit) * c**2
        else:
            sigma = _inverse(square * unit)
            means = np.stack([_core.applied(sigma, h) for h in vectors]) * c
            sigma *= (n if total.how == "kl" else 1) * c**2
        if layout.averaged:
            mean = _stored(means[0], layout.dtype).astype(np.float64)
            means[1] = (mean - means[1]) * (total.rounds + 1)
        spread = _stored(sigma, layout.dtype)
        variances = np.diagonal(spread)
        if not (variances > 0).all():
            raise ValueError(
                f"merged variances must be positive, got {variances.min()}. Use dtype='float64'."
            )
        return {"means": _stored(means, layout.dtype), "sigma": spread}


def _inverse(matrix: Array) -> Array:
    found: Array | None = _core.inverse(np.ascontiguousarray(matrix))
    if found is None:
        raise ValueError(
            "models must have positive definite covariances to be merged, got one that is not, "
            "because of rounding. Use dtype='float64', or how='uniform', which needs no inverse."
        )
    return found


def finite_sums(terms: Array) -> None:
    """Refuse models some of whose terms are infinite."""
    if not np.isfinite(terms).all():
        raise ValueError(
            "models must have variances whose inverse fits in float64 to be merged, got smaller "
            "ones. Use how='uniform'."
        )


def finite_weights(weights: NDArray[Any]) -> NDArray[Any]:
    """The merged weights, which must be finite."""
    weights_fit(bool(np.isfinite(weights).all()), str(weights.dtype))
    return weights


def weights_fit(fit: bool, dtype: str) -> None:
    """Refuse merged weights some of which do not fit."""
    if not fit:
        raise ValueError(
            f"merged weights must fit in {dtype}, got an overflow. Scale the features, or "
            "use dtype='float64'."
        )

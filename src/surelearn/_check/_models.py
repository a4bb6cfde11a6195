"""Checks of settings of models, and of models to be merged."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from surelearn._check._values import doubles, listing, number

W = TypeVar("W")


def storage(dtype: object) -> np.dtype[Any]:
    known = (np.dtype(np.float32), np.dtype(np.float64))
    for found in known:
        if isinstance(dtype, str | type | np.dtype) and dtype == found:
            return found
    raise ValueError(f"dtype must be 'float32' or 'float64', got {dtype!r}.")


def prior(value: object, dtype: np.dtype[Any]) -> float:
    """A starting variance that fits in the storage type."""
    a = number("initial_variance", value, "(0, inf)", low=0.0)
    limits = np.finfo(dtype)
    if not float(limits.tiny) <= a <= float(limits.max):
        raise ValueError(
            f"initial_variance must be within {limits.tiny:.3g} and {limits.max:.3g} "
            f"for dtype {dtype.name!r}, got {value!r}."
        )
    return a


def cost(value: object) -> NDArray[np.float64] | None:
    """A matrix of misclassification costs, zero on the diagonal."""
    if value is None:
        return None
    matrix = doubles("cost", value, "a square matrix of numbers").copy()
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"cost must be a square matrix, got shape {matrix.shape}.")
    if not (np.isfinite(matrix).all() and (matrix >= 0).all() and (matrix <= 1e6).all()):
        raise ValueError(f"cost must hold numbers in [0, 1e6], got {value!r}.")
    if np.diagonal(matrix).any():
        raise ValueError(
            f"cost must be 0 where the label is right, got {np.diagonal(matrix).tolist()} on the "
            "diagonal."
        )
    return matrix


def cost_fits(matrix: NDArray[np.float64] | None, classes: NDArray[Any]) -> None:
    K = len(classes)
    if matrix is not None and K > 1 and matrix.shape != (K, K):
        raise ValueError(
            f"cost must be a ({K}, {K}) matrix for classes {listing(classes.tolist())}, got shape "
            f"{matrix.shape}. In a stream, declare all classes in the first partial_fit."
        )


def same(name: str, fitted: object, got: object) -> None:
    if fitted != got:
        raise ValueError(
            f"{name} must stay {fitted!r} in a fitted model, got {got!r}. Call fit to start anew."
        )


def same_order(second_order: bool, rule: object) -> None:
    """Refuse to switch a fitted model between first-order and second-order rules."""
    kind = "second-order" if second_order else "first-order"
    raise ValueError(
        f"rule must stay a {kind} one in a fitted model, got {rule!r}. Call fit to start anew."
    )


def some_state(n_states: int) -> None:
    """Refuse to merge nothing."""
    if n_states == 0:
        raise ValueError("states must have at least one state, got none.")


def agree(name: str, one: object, other: object) -> None:
    """Refuse to merge models with different settings."""
    if one != other:
        raise ValueError(
            f"models must have the same {name} to be merged, got {one!r} and {other!r}."
        )


def finite_loss(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights or curvatures of a loss; raises if it overflows."""
    if not np.isfinite(numbers).all():
        raise ValueError(
            "X must have values whose loss is finite, got an overflow in double precision. Scale "
            "the features, or sample_weight if it is huge."
        )
    return numbers


def left_alone(name: str, value: object, default: object, *, where: str, use: str) -> None:
    """Refuse a parameter where it has no meaning."""
    if value != default:
        raise ValueError(f"{name} must be {default!r} {where}, got {value!r}. Use {use}.")


def same_labels(known: NDArray[Any], classes: NDArray[Any]) -> None:
    """Refuse a warm start from a model with other labels."""
    before, now = set(known.tolist()), set(classes.tolist())
    if before != now:
        new, gone = sorted(now - before), sorted(before - now)
        what = f"the new label {new[0]!r}" if new else f"none that is {gone[0]!r}"
        raise ValueError(
            f"y must hold the labels {listing(known.tolist())} for warm_start=True, got {what}. "
            "Use warm_start=False for other labels."
        )


def size_known(n_features: int | None, key: object) -> int:
    """The number of features; raises for a dict that is numbered before any array has come."""
    if n_features is None:
        raise ValueError(
            f"the first dict must have names of features (str) as keys, got {key!r}. For numbers "
            "as keys, learn from an array or a sparse row first: it says how many features there "
            "are."
        )
    return n_features


def trained(weights: W | None, what: str) -> W:
    """The weights; raises if fewer than two classes are known."""
    if weights is None:
        raise ValueError(f"{what} needs at least two known classes, got fewer so far.")
    return weights

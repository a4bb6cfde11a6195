"""Checks of kernels: their parameters, their values on a sample, and the memory they need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn._check._memory import enough_memory, size
from surelearn._check._values import choice, count, listing, number, numbers

Array = NDArray[np.float64]

#: What rounding may add to a kernel value or an eigenvalue, relative to the largest one; a user's
#: function may compute in float32.
_ROUNDING = 1e-5


def gamma(value: object) -> float | str:
    """The factor of a kernel: a number, or how to compute it from the rows."""
    if isinstance(value, str):
        return choice("gamma", value, ["scale", "auto"])
    return number("gamma", value, "(0, inf)", low=0.0)


def kernel_function(value: object, known: list[str]) -> Callable[..., Any]:
    """A kernel that is not given by name must be a function of two matrices."""
    if isinstance(value, type) or not callable(value):
        raise TypeError(
            f"kernel must be one of {listing(known)} or a function of (X, Z), got {value!r}."
        )
    return value


def kernel_values(name: str, values: object, shape: tuple[int, int]) -> Array:
    """What a user's function returned for `shape` pairs of rows."""
    found = numbers(f"values of kernel {name}", values)
    if found.shape != shape:
        raise ValueError(
            f"kernel {name} must return an array of shape {shape}, one value for each row of X and "
            f"each row of Z, got shape {found.shape}."
        )
    return found


def finite_kernel(values: Array) -> None:
    """Refuse rows whose kernel overflows."""
    if not np.isfinite(values).all():
        raise ValueError(
            "X must have values whose kernel is finite, got an overflow in double precision. Scale "
            "the features."
        )


def positive_kernel(name: str, gram: Array) -> None:
    """Refuse a kernel whose matrix on a sample of rows is not symmetric or not positive."""
    largest = float(np.abs(gram).max(initial=0.0))
    i, j = np.unravel_index(np.abs(gram - gram.T).argmax(), gram.shape) if gram.size else (0, 0)
    if gram.size and abs(gram[i, j] - gram[j, i]) > _ROUNDING * largest:
        raise ValueError(
            f"kernel {name} must be symmetric, got k(x, z) = {gram[i, j]:.6g} and k(z, x) = "
            f"{gram[j, i]:.6g} for two of {len(gram)} sampled rows."
        )
    eigenvalues = np.linalg.eigvalsh(gram) if gram.size else np.zeros(1)
    if eigenvalues[0] < -_ROUNDING * max(largest, float(eigenvalues[-1])):
        raise ValueError(
            f"kernel {name} must be positive semi-definite, got a matrix of {len(gram)} sampled "
            f"rows with the eigenvalue {eigenvalues[0]:.3g}. A distance is no kernel; exp(-gamma "
            "distance ** 2) often is."
        )


def square_gram(shape: tuple[int, ...]) -> None:
    """Refuse a precomputed matrix of training rows that is not square."""
    if shape[0] != shape[1]:
        raise ValueError(
            "X must be a square matrix for kernel='precomputed', with the kernel of each training "
            f"row with each other, got shape {shape}."
        )


def gram_width(width: int, n_rows: int) -> None:
    """Refuse rows to predict that have no kernel value with some training row."""
    if width not in (n_rows, n_rows + 1):
        raise ValueError(
            f"X must have {n_rows} columns for kernel='precomputed', the kernel of each row with "
            f"each of the training rows, got {width}. One more column may hold the kernel of each "
            "row with itself."
        )


def gram_diagonal(diagonal: Array | None) -> Array:
    """Refuse variances of rows whose kernel with themselves is unknown."""
    if diagonal is None:
        raise ValueError(
            "X must tell the kernel of each row with itself where variances are asked for, as "
            "kernel='precomputed' had different ones in training, got none. Append a column with "
            "them."
        )
    return diagonal


def not_precomputed(kernel: object) -> None:
    """Refuse to go on learning where the kernel with the known points is not given."""
    if kernel == "precomputed":
        raise ValueError(
            "kernel must be a name or a function for partial_fit, got 'precomputed'. Pass all rows "
            "to fit."
        )


def no_joint(multiclass: object) -> None:
    """Refuse to learn classes together: kernels learn problems of two classes."""
    if multiclass == "joint":
        raise ValueError(
            "multiclass must be 'ovr', 'ovo', 'ecoc' or a coding matrix for kernels, got 'joint'."
        )


def budget(value: object) -> int | None:
    """The most support points of a problem; None: no limit."""
    if value is None:
        return None
    return count("budget", value, least=2)


def support_memory(sizes: list[int], total: int, *, more: int, limit: int | None) -> None:
    """Refuse support points whose covariances do not fit in memory.

    Parameters
    ----------
    sizes : list of int
        Support points of each problem.
    total : int
        Bytes of all covariances.
    more : int
        Bytes that are still to be allocated.
    limit : int or None
        The most bytes in total; None means the memory available now.
    """
    problems = "" if len(sizes) == 1 else f" in each of {len(sizes):,} problems"
    enough_memory(
        more if limit is None else total,
        limit,
        lambda room: (
            f"covariances of support points must fit in memory ({size(room)} available), got up "
            f"to {max(sizes):,} points{problems}, which need {size(total)}. Use a smaller budget, "
            "or a rule that learns from fewer rows."
        ),
    )


def kernel_to_save(name: str | None, function: object) -> str:
    """The name of a function that a file can hold."""
    if name is None:
        raise ValueError(
            f"kernel must have a name to be saved, got {function!r}. Call "
            "surelearn.kernels.register(name, function) first."
        )
    return name


def unknown_kernel(where: str, name: object) -> str:
    """The message for a file whose kernel is not known here."""
    short = str(name)[:60]
    return (
        f"{where} must have a kernel that is known here, got {short!r}. If it is a function of "
        f"yours, call surelearn.kernels.register({short!r}, function) first."
    )


def dual_collapse(row: int) -> str:
    """The message for a row whose update would leave no usable model."""
    return (
        f"row {row} must leave finite weights and positive variances, got a collapse in double "
        "precision. Scale the features, or choose parameters with smaller steps."
    )

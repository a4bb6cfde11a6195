"""Checks of kernels: their parameters, their values on a sample, and the memory they need."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surelearn._check._values import choice, count, number

Array = NDArray[np.float64]


def gamma(value: object) -> float | str:
    """The factor of a kernel: a number, or how to compute it from the rows."""
    if isinstance(value, str):
        return choice("gamma", value, ["scale", "auto"])
    return number("gamma", value, "(0, inf)", low=0.0)


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

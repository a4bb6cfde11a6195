"""Every check of what a user hands in, and every wording of its error; must not know estimators.

Pattern of a message: *who* must be *what*, got *value*. Then, if it helps, one sentence on the
remedy.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

W = TypeVar("W")


class FormatError(ValueError):
    """A file is damaged, foreign or newer than this version of surelearn."""


def number(name: str, value: object, where: str, *, low: float, high: float = math.inf) -> float:
    """`value` as a float in the interval that `where` spells, such as ``"[0.5, 1)"``."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}.")
    x = float(value)
    above = x > low if where.startswith("(") else x >= low
    if not (math.isfinite(x) and above and x < high):
        raise ValueError(f"{name} must be in {where}, got {value!r}.")
    return x


def positive(name: str, value: object) -> float:
    """A parameter of a rule, within what its formulas bear in double precision."""
    return number(name, value, "[1e-30, 1e30]", low=1e-30, high=math.nextafter(1e30, math.inf))


def step(who: str, got: object, *, m: float, v: float, first_order: bool) -> tuple[float, float]:
    """What a rule's function gave for a margin, which must be a step that keeps the laws."""
    pair = _two_numbers(got)
    if pair is None or not all(math.isfinite(x) and x >= 0 for x in pair):
        raise ValueError(
            f"{who} must give two finite numbers (alpha, gain), neither negative, got {got!r} for "
            f"m={m!r}, v={v!r}."
        )
    if first_order and pair[1] != 0:
        raise ValueError(
            f"{who} must give gain 0 with first_order=True, got {got!r} for m={m!r}, v={v!r}."
        )
    return pair


def _two_numbers(got: Any) -> tuple[float, float] | None:
    try:
        alpha, gain = got
        if any(isinstance(x, bool | np.bool_) or not isinstance(x, Real) for x in (alpha, gain)):
            return None
        return float(alpha), float(gain)
    except (TypeError, ValueError, OverflowError):
        return None


def function(name: str, value: object) -> Callable[..., Any]:
    if isinstance(value, type) or not callable(value):
        raise TypeError(f"{name} must be a function of (m, v), got {value!r}.")
    return value


def count(name: str, value: object, *, least: int = 1, most: int = 2**62) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}.")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value!r}.")
    if int(value) > most:
        raise ValueError(f"{name} must be at most {most}, got {value!r}.")
    return int(value)


def top(value: object, *, auto: int | None) -> int | None:
    """How many rows of a table to list; None: all."""
    if value is None:
        return None
    if isinstance(value, str) and value == "auto":
        return auto
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"top must be a whole number, 'auto' or None, got {value!r}.")
    return count("top", value)


def names(value: object, n_features: int) -> NDArray[Any] | None:
    """A name for each feature."""
    if value is None:
        return None
    found = np.asarray(value, dtype=object)
    if found.shape != (n_features,):
        raise ValueError(
            f"names must be a list of {n_features}, one for each feature, got shape {found.shape}."
        )
    return found


def flag(name: str, value: object) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def choice(name: str, value: object, known: Iterable[str]) -> str:
    names = list(known)
    if not isinstance(value, str):
        raise TypeError(f"{name} must be one of {listing(names)}, got {value!r}.")
    if value not in names:
        raise ValueError(f"{name} must be one of {listing(names)}, got {value!r}.")
    return value


def listing(names: Iterable[object]) -> str:
    return ", ".join(repr(name) for name in names)


def not_yet(name: str, value: object, only: object) -> None:
    """Refuse what a later version will accept."""
    raise NotImplementedError(f"{name}={value!r} is not available yet. Use {name}={only!r}.")


def storage(dtype: object) -> np.dtype[Any]:
    known = (np.dtype(np.float32), np.dtype(np.float64))
    for found in known:
        if isinstance(dtype, str | type | np.dtype) and dtype == found:
            return found
    raise ValueError(f"dtype must be 'float32' or 'float64', got {dtype!r}.")


def prior(value: object, dtype: np.dtype[Any]) -> float:
    """A starting variance that the storage type can hold."""
    a = number("initial_variance", value, "(0, inf)", low=0.0)
    limits = np.finfo(dtype)
    if not float(limits.tiny) <= a <= float(limits.max):
        raise ValueError(
            f"initial_variance must be within {limits.tiny:.3g} and {limits.max:.3g} "
            f"for dtype {dtype.name!r}, got {value!r}."
        )
    return a


def sound_rows(fault: tuple[str, int] | None, name: str = "X") -> None:
    """Refuse rows in which the core has found a fault."""
    if fault is None:
        return
    kind, row = fault
    if kind == "not finite":
        raise ValueError(f"{name} must be finite, got NaN or infinity in row {row}.")
    if kind == "bad index":
        raise ValueError(f"{name} must have indices of its own columns, got another in row {row}.")
    raise ValueError(f"{name} must be a valid CSR matrix, got a bad indptr at row {row}.")


def n_features(expected: int, got: int, name: str = "x") -> None:
    if expected != got:
        raise ValueError(f"{name} must have {expected} features as in fit, got {got}.")


def labels(y: NDArray[Any], name: str = "y") -> NDArray[Any]:
    """Labels of one kind, none missing."""
    if y.dtype.kind == "O":
        return _object_labels(y, name)
    if y.dtype.kind == "f":
        _whole_labels(y, name)
    if y.dtype.kind == "M" and np.isnat(y).any():
        row = int(np.flatnonzero(np.isnat(y))[0])
        raise ValueError(f"{name} must have no missing labels, got NaT at row {row}.")
    return y


def _object_labels(y: NDArray[Any], name: str) -> NDArray[Any]:
    missing = [i for i, value in enumerate(y) if _is_missing(value)]
    if missing:
        raise ValueError(
            f"{name} must have no missing labels, got {y[missing[0]]!r} at row {missing[0]}."
        )
    kinds = sorted({kind_of(value) for value in y})
    if len(kinds) > 1:
        raise TypeError(f"{name} must hold labels of one kind, got {' and '.join(kinds)}.")
    if kinds and kinds[0] not in ("str", "int", "float", "bool"):
        raise TypeError(f"{name} must hold texts, numbers or booleans, got {y[0]!r}.")
    # Numbers and booleans become an array of their own type; texts stay as they are.
    return y if not kinds or kinds[0] == "str" else labels(np.array(y.tolist()), name)


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):  # pandas.NA will not say whether it equals itself
        return True


def kind_of(label: Any) -> str:
    """The kind of a label, the same for Python's and numpy's types of it."""
    for kind, types in (("str", str), ("bool", bool | np.bool_), ("int", Integral)):
        if isinstance(label, types):
            return kind
    return "float" if isinstance(label, Real) else type(label).__name__


def _whole_labels(y: NDArray[Any], name: str) -> None:
    """Numbers as labels must be whole: others are most likely a target to be regressed on."""
    missing = np.flatnonzero(~np.isfinite(y))
    if len(missing):
        raise ValueError(
            f"{name} must have no missing labels, got {y[missing[0]]} at row {missing[0]}."
        )
    broken = np.flatnonzero(y != np.floor(y))
    if len(broken):
        raise ValueError(
            f"{name} must hold classes, got {y[broken[0]]} at row {broken[0]}. "
            "Unknown label type: continuous. Turn the numbers into classes first."
        )


def one_label_a_row(n_labels: int, n_rows: int) -> None:
    if n_labels != n_rows:
        raise ValueError(f"y must have one label for each of {n_rows} rows of X, got {n_labels}.")


def size_known(n_features: int | None) -> int:
    if n_features is None:
        raise ValueError(
            "x must be an array or a sparse row at first, got a dict: the number of features is "
            "not known yet."
        )
    return n_features


def trained(weights: W | None, what: str) -> W:
    """The weights, which are there once two classes are known."""
    if weights is None:
        raise ValueError(f"{what} needs at least two known classes, got fewer so far.")
    return weights


def some_weight(n_rows: int) -> None:
    if n_rows == 0:
        raise ValueError("sample_weight must have a positive entry, got zero weight in every row.")


def two_classes(classes: NDArray[Any], doing: str) -> None:
    if len(classes) < 2:
        seen = listing(classes.tolist()) or "none"
        raise ValueError(f"{doing} needs at least two classes, got {len(classes)} class: {seen}.")


def sample_weight(value: object, n_rows: int) -> NDArray[np.float64] | None:
    if value is None:
        return None
    try:
        weight = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"sample_weight must be numbers, got {value!r}.") from None
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have shape ({n_rows},) as y has, got shape {weight.shape}."
        )
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(bad):
        raise ValueError(
            f"sample_weight must be finite and not negative, got {weight[bad[0]]} at row {bad[0]}."
        )
    return np.require(weight, requirements=["C", "A"])


def class_weight(value: object) -> dict[Any, float] | str | None:
    if value is None or (isinstance(value, str) and value == "balanced"):
        return value
    if not isinstance(value, Mapping):
        raise ValueError(f"class_weight must be None, 'balanced' or a dict, got {value!r}.")
    return {
        label: number(f"class_weight[{label!r}]", weight, "[0, inf)", low=0.0)
        for label, weight in value.items()
    }


def one_kind(classes: NDArray[Any], y: NDArray[Any]) -> None:
    """Refuse to mix texts, numbers and other kinds among the labels of one model."""

    def kind(labels: NDArray[Any]) -> str:
        found = kind_of(labels[0])
        return "number" if found in ("bool", "int", "float") else found

    if not len(classes) or not len(y):
        return
    if kind(classes) != kind(y):
        raise TypeError(
            f"y must hold labels of the kind known so far, such as {classes.tolist()[0]!r}, "
            f"got {y.tolist()[0]!r}."
        )
    both = classes.dtype.kind in "iu" and y.dtype.kind in "iu"
    if both and np.result_type(classes, y).kind == "f":
        raise ValueError(
            f"y must hold labels that fit one type with {classes.dtype}, got {y.dtype}."
        )


def only_class(classes: NDArray[Any]) -> int:
    """The place of the one class known so far."""
    if len(classes) == 0:
        raise ValueError("predict needs at least one known class, got none yet.")
    return 0


def collapse(row: int, *, covariance: str, projection: str, dtype: str, exact: bool) -> str:
    """The message for a row whose update would leave no usable model."""
    other = {"precision": "covariance", "covariance": "precision"}[projection]
    with_, use = f"projection={projection!r}", f"Use projection={other!r}, scale"
    if covariance == "full":
        with_ = f"covariance='full' and dtype={dtype!r}"
        use = "Use dtype='float64', scale" if dtype == "float32" else "Scale"
    elif exact:
        with_ = "the exact scheme"
        use = "Use Sequential or Parallel with projection='covariance', scale"
    return (
        f"row {row} must leave finite weights and positive variances, got a collapse with "
        f"{with_}. {use} the features, or let the rule move less."
    )


def threads(name: str, value: object) -> int:
    """How many threads may run; None and -1 stand for as many as there are cores."""
    if value is not None and count(name, value, least=-1) == 0:
        raise ValueError(f"{name} must be None, -1 or at least 1, got 0.")
    cores = os.cpu_count() or 1
    return cores if value is None or value == -1 else int(value)  # type: ignore[call-overload]


def mixing(value: object, k: int | None) -> tuple[float, ...]:
    """Weights of the parallel scheme, scaled to sum to one."""
    try:
        if isinstance(value, str | Mapping):
            raise TypeError
        given = [float(x) for x in value]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise TypeError(f"mixing must be a list of numbers, got {value!r}.") from None
    if not given or not all(0 <= x < math.inf for x in given) or not 0 < sum(given) < math.inf:
        raise ValueError(f"mixing must hold finite numbers >= 0, not all 0, got {value!r}.")
    if k is not None and len(given) != k:
        raise ValueError(f"mixing must have k={k} entries, got {len(given)}.")
    return tuple(x / sum(given) for x in given)


def enough_rivals(scheme: str, k: int | None, n_rivals: int) -> None:
    if k is not None and k > n_rivals:
        raise ValueError(
            f"{scheme} needs at least {k + 1} classes for {k} rivals, got {n_rivals + 1}. "
            "Use a smaller k, or None for all rivals."
        )


def cost(value: object) -> NDArray[np.float64] | None:
    """A square of costs, zero on the diagonal."""
    if value is None:
        return None
    try:
        matrix = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"cost must be a square matrix of numbers, got {value!r}.") from None
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


def fits_in_memory(needed: int, limit: int, n_weights: int) -> None:
    """Refuse a covariance matrix that is too large."""
    if needed > limit:
        raise ValueError(
            f"covariance='full' must need at most {_size(limit)}, got {n_weights:,} weights, "
            f"whose covariances take {_size(needed)}. Use covariance='diagonal' or fewer "
            "features, or raise surelearn.weights.FULL_LIMIT."
        )


def _size(n_bytes: int) -> str:
    unit, name = (2**30, "GiB") if n_bytes >= 2**30 else (2**20, "MiB")
    return f"{n_bytes / unit:.1f} {name}"


def row_of_numbers(shape: tuple[int, ...], dtype: np.dtype[Any], name: str = "x") -> int:
    """The number of features of one row."""
    if len(shape) != 2 or shape[0] != 1 or shape[1] == 0:
        raise ValueError(f"{name} must be one row of at least one feature, got shape {shape}.")
    if dtype.kind not in "biuf":
        raise TypeError(f"{name} must be a row of numbers, got dtype {dtype}.")
    return shape[1]


def same(name: str, fitted: object, got: object) -> None:
    if fitted != got:
        raise ValueError(
            f"{name} must stay {fitted!r} in a fitted model, got {got!r}. Call fit to start anew."
        )


def score_moments(mean: object, variance: object) -> tuple[Any, Any]:
    """Means and variances of scores: finite, of one shape, no variance negative."""
    m, v = numbers("mean", mean), numbers("variance", variance)
    if m.ndim not in (1, 2):
        raise ValueError(f"mean must have one or two dimensions, got shape {m.shape}.")
    if m.ndim == 2 and m.shape[1] < 2:
        raise ValueError(f"mean must have a column for each of two or more classes, got {m.shape}.")
    if v.shape != m.shape:
        raise ValueError(f"variance must have shape {m.shape} as mean has, got shape {v.shape}.")
    if (v < 0).any():
        raise ValueError(f"variance must not be negative, got {v[v < 0][0]}.")
    return m, v


def numbers(name: str, value: object) -> NDArray[np.float64]:
    """`value` as an array of finite doubles, rows one after the other."""
    try:
        array = np.asarray(value, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be an array of numbers, got {value!r}.") from None
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]}.")
    return array


def covariance(value: object, shape: tuple[int, int]) -> NDArray[np.float64]:
    """Variances (n, K) or covariances (n, K, K) of scores of shape (n, K)."""
    c = numbers("covariance", value)
    if c.shape not in (shape, (*shape, shape[1])):
        raise ValueError(
            f"covariance must have shape {shape} or {(*shape, shape[1])}, got shape {c.shape}."
        )
    diagonal = c if c.ndim == 2 else np.diagonal(c, axis1=1, axis2=2)
    if (diagonal < 0).any():
        raise ValueError(f"covariance must not be negative, got {diagonal[diagonal < 0][0]}.")
    return c


def probabilities(p: object, name: str = "p") -> NDArray[np.float64]:
    """Rows of two or more probabilities that sum to one."""
    array = numbers(name, p)
    if array.ndim != 2 or array.shape[1] < 2:
        raise ValueError(f"{name} must have shape (n, K) with K >= 2, got shape {array.shape}.")
    if ((array < 0) | (array > 1)).any():
        bad = array[(array < 0) | (array > 1)][0]
        raise ValueError(f"{name} must be within 0 and 1, got {bad}.")
    off = np.flatnonzero(np.abs(array.sum(axis=1) - 1) > 1e-6)
    if len(off):
        total = array[off[0]].sum()
        raise ValueError(f"{name} must sum to one in each row, got {total} in row {off[0]}.")
    return array


def generator(random: object) -> None:
    if not isinstance(random, np.random.Generator):
        raise TypeError(f"random must be a numpy.random.Generator, got {random!r}.")


def known_labels(y: object, classes: NDArray[Any], n_rows: int, name: str) -> NDArray[np.int64]:
    """The place of each label of `y` among the sorted `classes`."""
    array = np.asarray(y)
    if array.shape != (n_rows,):
        raise ValueError(f"{name} must have shape ({n_rows},), got shape {array.shape}.")
    place = np.minimum(np.searchsorted(classes, array), len(classes) - 1)
    strange = np.flatnonzero(classes[place] != array)
    if len(strange):
        raise ValueError(
            f"{name} must hold labels among {listing(classes.tolist())}, "
            f"got {array.tolist()[strange[0]]!r} at row {strange[0]}."
        )
    return place.astype(np.int64)


def sorted_classes(classes: object, n_classes: int) -> NDArray[Any]:
    array = np.asarray(classes)
    if array.shape != (n_classes,):
        raise ValueError(
            f"classes must have a label for each of {n_classes} columns, got shape {array.shape}."
        )
    if not (array[:-1] < array[1:]).all():
        raise ValueError(f"classes must be sorted and differ, got {listing(array.tolist())}.")
    return array

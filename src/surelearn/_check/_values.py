"""Checks of parameters: numbers, counts, names, functions, and settings of models."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from surelearn._check._messages import must

#: Quota and period of a control group: in one file, or in two.
_QUOTAS = (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"))


def number(name: str, value: object, where: str, *, low: float, high: float = math.inf) -> float:
    """`value` as a float in an interval; `where` spells it, such as ``"[0.5, 1)"``."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(must(name, "be a number", value))
    try:
        x = float(value)
    except OverflowError:  # an int larger than any double
        x = math.inf
    above = x > low if where.startswith("(") else x >= low
    if not (math.isfinite(x) and above and x < high):
        raise ValueError(must(name, f"be in {where}", value))
    return x


def positive(name: str, value: object) -> float:
    """A parameter of a rule, in the range where its formulas neither overflow nor underflow."""
    return number(name, value, "[1e-30, 1e30]", low=1e-30, high=math.nextafter(1e30, math.inf))


def count(name: str, value: object, *, least: int = 1, most: int = 2**62) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(must(name, "be a whole number", value))
    if value < least:
        raise ValueError(must(name, f"be at least {least}", value))
    if int(value) > most:
        raise ValueError(must(name, f"be at most {most}", value))
    return int(value)


def flag(name: str, value: object) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise TypeError(must(name, "be True or False", value))
    return bool(value)


def new_name(
    kind: str,
    name: object,
    value: object,
    *,
    builtin: Iterable[str],
    registered: Mapping[str, object],
    replace: object,
) -> None:
    """Refuse a name under which a rule or a kernel of a user cannot be registered."""
    if not isinstance(name, str) or not name:
        raise TypeError(must("name", "be a text", name))
    if name in builtin:
        raise ValueError(must("name", f"not be that of a built-in {kind}", name))
    known = registered.get(name, value)
    if not flag("replace", replace) and known != value:
        raise ValueError(
            f"name must be a new one, got {name!r} of {known!r}. Use replace=True to replace it "
            f"by {value!r}."
        )


def is_auto(value: object) -> bool:
    """Whether a parameter leaves the choice to the data; an array is never equal to a text."""
    return isinstance(value, str) and value == "auto"


def verbosity(value: object) -> int:
    """The value of `verbose`: a flag or a count."""
    return int(value) if isinstance(value, bool | np.bool_) else count("verbose", value, least=0)


def choice(name: str, value: object, known: Iterable[str]) -> str:
    names = list(known)
    if not isinstance(value, str):
        raise TypeError(must(name, f"be one of {listing(names)}", value))
    if value not in names:
        raise ValueError(must(name, f"be one of {listing(names)}", value))
    return value


def listing(names: Iterable[object]) -> str:
    return ", ".join(repr(name) for name in names)


def shown(value: object) -> str:
    """A value as errors show it, cut to 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:56]} ..."


def doubles(name: str, value: object, what: str) -> NDArray[np.float64]:
    """`value` as an array of doubles in C order."""
    if value is None:  # NumPy would read a NaN
        raise TypeError(f"{name} must be {what}, got None.")
    if getattr(getattr(value, "dtype", None), "kind", None) == "c":
        raise TypeError(f"{name} must be real, got complex numbers.")
    try:
        return np.asarray(value, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be {what}, got {value!r}.") from None


def numbers(name: str, value: object) -> NDArray[np.float64]:
    """`value` as an array of finite doubles in C order."""
    array = doubles(name, value, "an array of numbers")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]}.")
    return array


def callback(name: str, value: object) -> None:
    """Refuse a callback that is not callable."""
    if value is not None and not callable(value):
        raise TypeError(f"{name} must be a function or None, got {value!r}.")


def threads(name: str, value: object) -> int:
    """The number of threads: None is one, or what a context of joblib says; -1 is one a core, -2
    leaves one out. Never more than there are cores: more threads only wait for each other."""
    if value is None:
        # Its import takes half a second, and before it there is no context.
        joblib = sys.modules.get("joblib")
        n = 1 if joblib is None else int(joblib.effective_n_jobs(None))
    else:
        n = count(name, value, least=-(2**62))
    if n == 0:
        raise ValueError(f"{name} must be None, negative or at least 1, got 0.")
    if n == 1:
        return 1
    return max(1, cores() + 1 + n) if n < 0 else min(n, cores())


def cores() -> int:
    """The cores that this process may use, as `joblib.cpu_count` has them.

    These are the cores of the machine, or fewer: those that the process is bound to, the quota of
    its control group, as of a container, and ``LOKY_MAX_CPU_COUNT``.
    """
    limits = [os.cpu_count() or 1]
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        with suppress(OSError):
            limits.append(len(os.sched_getaffinity(0)))
    limits.append(quota("/sys/fs/cgroup") or limits[0])
    with suppress(ValueError):
        limits.append(int(os.environ.get("LOKY_MAX_CPU_COUNT", limits[0])))
    return max(1, min(limits))


@cache
def quota(folder: str) -> int | None:
    """The cores that the control group of this folder may use, rounded up; None: all."""
    for names in _QUOTAS:
        with suppress(OSError, ValueError):
            words = " ".join((Path(folder) / name).read_text() for name in names)
            most, period = map(int, words.split())  # "max" in place of a number is no limit
            if most > 0 and period > 0:
                return math.ceil(most / period)
    return None


def top(value: object, *, auto: int | None) -> int | None:
    """How many rows of a table to list; None means all."""
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


def listed(name: str, value: object, of: str) -> None:
    """Refuse a single string, and anything that is not iterable."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise TypeError(f"{name} must be a list of {of}, got {value!r}.")


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, or pandas' NaT or NA."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):  # a comparison with pandas.NA is no bool
        return True


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

"""Checks of single parameters: numbers, counts, flags, names, functions."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn._check._messages import must


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
    """The number of threads: None is one, or what a context of joblib says; -1 is one a core."""
    if value is None:
        # Its import takes half a second, and before it there is no context.
        joblib = sys.modules.get("joblib")
        return 1 if joblib is None else int(joblib.effective_n_jobs(None))
    n = count(name, value, least=-1)
    if n == 0:
        raise ValueError(f"{name} must be None, -1 or at least 1, got 0.")
    return (os.cpu_count() or 1) if n == -1 else n


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

"""Frames of pandas and polars, as Arrow tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from surelearn._check import bad_record, is_missing, is_utf8
from surelearn.read._columns import MANY, ColumnSpec, kind_of, kind_of_most, shown
from surelearn.read._stores import InMemory, OneShot, Store

#: The name of a frame in errors.
_NAME = "frame"


def frame(source: Any, wanted: ColumnSpec, skip_bad: bool) -> Store:
    """The store of a frame, or of any object with the Arrow stream protocol."""
    import pyarrow

    if type(source).__module__.partition(".")[0] == "pandas" and hasattr(source, "columns"):
        has_names = all(isinstance(name, str) for name in source.columns)
        return InMemory(_NAME, _of_pandas(source, wanted, skip_bad), has_names=has_names)
    if isinstance(source, pyarrow.RecordBatchReader):
        return OneShot("reader", lambda: source)
    if hasattr(source, "__arrow_c_stream__") or isinstance(source, pyarrow.RecordBatch):
        return InMemory(_NAME, pyarrow.table(source))
    raise TypeError(
        "source must be a path, a list of paths, a pandas or polars frame or a pyarrow table, "
        f"got {type(source).__name__}."
    )


def _of_pandas(frame: Any, wanted: ColumnSpec, skip_bad: bool) -> Any:
    """The columns of a pandas frame that are read."""
    import pyarrow
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    names = [str(name) for name in frame.columns]
    numbers = {
        name: None
        for name, type_ in zip(names, frame.dtypes, strict=True)
        if is_numeric_dtype(type_) and not is_bool_dtype(type_)
    }
    texts = {
        name: value
        for i, name in enumerate(names)
        if name not in numbers and isinstance(value := _first(frame.iloc[:, i]), str)
    }
    columns = wanted.among(names, _NAME, numbers=numbers, texts=texts)
    # Columns that are not read keep their name and get nulls: converting them may fail.
    made = dict.fromkeys(names, pyarrow.nulls(len(frame)))
    places = {name: i for i, name in enumerate(names)}
    for name in columns.all_names:
        made[name] = _column(frame.iloc[:, places[name]], name, skip_bad)
    return pyarrow.table(made)


def _first(series: Any) -> Any:
    """The first value that is not missing."""
    return next((value for value in series if not is_missing(value)), None)


def _column(series: Any, name: str, skip_bad: bool) -> Any:
    import pyarrow

    try:
        return pyarrow.Array.from_pandas(series)
    except (
        pyarrow.ArrowInvalid,
        pyarrow.ArrowTypeError,
        pyarrow.ArrowNotImplementedError,
        UnicodeEncodeError,  # a lone surrogate
    ):
        return pyarrow.Array.from_pandas(_of_one_kind(series, name, skip_bad))


def _of_one_kind(series: Any, name: str, skip_bad: bool) -> Any:
    """A column of objects, with null for values of another kind than most have."""
    there = series.notna().to_numpy()
    # Not by `map`, which makes a column of texts of them, and fails at a lone surrogate.
    series = type(series)([*map(_as_list, series)], index=series.index, dtype=object)
    kind, many = kind_of_most(series[there])
    fitting = {kind, "a whole number"} if kind == "a number" else {kind} - {None}
    fits = [
        isinstance(value, list) == many
        and fitting.issuperset(map(_encodable, value if many else [value]))
        for value in series
    ]
    misfit = there & ~np.array(fits, bool)
    if misfit.any() and not skip_bad:
        row = int(misfit.argmax())
        what = f"a list of {MANY[kind]}" if many and kind else kind or "a text or a number"
        value = shown(series.iloc[row])
        raise bad_record(f"{_NAME}, row {row + 1}", f"{name!r} must be {what}, got {value}.")
    return series.where(~misfit, None)


def _encodable(value: Any) -> str | None:
    """The kind of a value; None for a text with a lone surrogate, which files have none of."""
    return None if isinstance(value, str) and not is_utf8(value) else kind_of(value)


def _as_list(value: Any) -> Any:
    """A tuple, a set or an array as a list, any other value unchanged.

    pyarrow refuses sets, and an empty array among arrays of texts.
    """
    if isinstance(value, np.ndarray):
        return value.tolist()
    return list(value) if isinstance(value, tuple | set | frozenset) else value

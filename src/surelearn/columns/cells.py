"""The cells of a column as arrays, whatever they came in; must not know what they mean.

pandas, polars and pyarrow are told by their names: none of them is imported here.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn.read import ColumnTable

#: In what cells come.
NUMBERS, FLAGS, DATES, STRINGS, LISTS = "numbers", "flags", "dates", "strings", "lists"


@dataclass(frozen=True)
class Cells:
    """The cells of one column.

    Parameters
    ----------
    form : {"numbers", "flags", "dates", "strings", "lists"}
    values : ndarray
        float64 with NaN for missing ones; datetime64[us] with NaT; for strings and lists the
        codes of `distinct`, -1 for missing ones.
    distinct : list of str or Arrow array of strings
        The distinct values in the order of their codes.
    starts : ndarray of int64, optional
        Of lists: the codes of row i are ``values[starts[i]:starts[i + 1]]``.
    absent : ndarray of bool, optional
        Of lists: which rows have none, not even an empty one.
    is_coded : bool
        Whether the values were categories where they came from.
    """

    form: str
    values: NDArray[Any]
    distinct: Any = ()
    starts: NDArray[np.int64] | None = None
    absent: NDArray[np.bool_] | None = None
    is_coded: bool = False

    def __len__(self) -> int:
        return len(self.values) if self.starts is None else len(self.starts) - 1

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which cells are missing."""
        if self.form == LISTS:
            assert self.absent is not None
            return self.absent
        found: NDArray[np.bool_]
        if self.form == STRINGS:
            found = self.values < 0
        else:
            found = np.isnat(self.values) if self.form == DATES else np.isnan(self.values)
        return found

    def strings(self) -> list[str]:
        """The distinct values of strings and lists."""
        known = self.distinct
        return known.to_pylist() if hasattr(known, "to_pylist") else list(known)

    def take(self, rows: NDArray[np.int64]) -> Cells:
        """The cells of some rows."""
        if self.starts is None:
            some = Cells(self.form, self.values[rows], self.distinct, is_coded=self.is_coded)
            return some if len(self.distinct) <= len(rows) else some._without_unused()
        assert self.absent is not None
        sizes = np.diff(self.starts)[rows]
        starts = np.append(0, np.cumsum(sizes)).astype(np.int64)
        inside = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
        values = self.values[np.repeat(self.starts[rows], sizes) + inside]
        return Cells(LISTS, values, self.distinct, starts, self.absent[rows])

    def plain(self) -> list[Any]:
        """The values as Python has them: numbers, flags, texts, lists of texts; None: missing."""
        gone = self.missing.tolist()
        if self.form == LISTS:
            assert self.starts is not None
            names = [*self.strings(), None]
            flat = [names[code] for code in self.values.tolist()]
            spans = pairwise(self.starts.tolist())
            found: list[Any] = [flat[begin:end] for begin, end in spans]
        elif self.form == STRINGS:
            names = [*self.strings(), None]
            found = [names[code] for code in self.values.tolist()]
        elif self.form == DATES:
            found = [str(value).removesuffix("T00:00:00.000000") for value in self.values]
        else:
            flag = self.form == FLAGS
            found = [bool(x) if flag else x for x in self.values.tolist()]
        return [None if none else value for none, value in zip(gone, found, strict=True)]

    def _without_unused(self) -> Cells:
        """The same without distinct values that no cell has."""
        used, codes = np.unique(self.values, return_inverse=True)
        here = used[used >= 0]
        codes = (codes - (len(used) - len(here))).astype(np.int32)
        known = self.distinct
        names = known.take(here) if hasattr(known, "take") else [known[i] for i in here.tolist()]
        return Cells(self.form, codes, names, is_coded=self.is_coded)


def cells_of(column: Any) -> Cells:
    """The cells of a column: a list, an array, or a column of pandas, polars or pyarrow."""
    if isinstance(column, Cells):
        return column
    home = type(column).__module__.partition(".")[0]
    if home == "polars":
        column = column.to_arrow() if _has_arrow() else column.to_list()
        home = type(column).__module__.partition(".")[0]
    if home == "pandas":
        return _of_pandas(column)
    if home == "pyarrow":
        return _of_arrow(column)
    return of_array(column) if isinstance(column, np.ndarray) else of_objects(list(column))


def of_array(array: NDArray[Any]) -> Cells:
    """The cells of a NumPy array."""
    kind = array.dtype.kind
    if kind == "b":
        return Cells(FLAGS, array.astype(np.float64))
    if kind in "iuf":
        return Cells(NUMBERS, _finite(array.astype(np.float64)))
    if kind == "M":
        return Cells(DATES, array.astype("datetime64[us]"))
    return of_objects(array.tolist())


def of_objects(values: list[Any]) -> Cells:
    """The cells of a list of Python values."""
    kinds = {kind for kind in set(map(type, values)) if not _is_missing_type(kind)}
    if kinds and all(issubclass(kind, str) for kind in kinds):
        return _of_strings(values)
    if any(issubclass(kind, float) for kind in kinds) and not all(map(_is_number, kinds)):
        # NaN stands for a missing text, list or date.
        values = [None if isinstance(x, float) and x != x else x for x in values]
        kinds = {kind for kind in set(map(type, values)) if not _is_missing_type(kind)}
    if all(map(_is_flag, kinds)) and kinds:
        return Cells(FLAGS, _doubles(values))
    if all(map(_is_number, kinds)):
        return Cells(NUMBERS, _finite(_doubles(values)))
    if all(issubclass(kind, _DATES) for kind in kinds):
        return Cells(DATES, np.array([_date(x) for x in values], "datetime64[us]"))
    if any(issubclass(kind, _LISTS) for kind in kinds):
        return _of_lists(values)
    return _of_strings([None if _is_missing(x) else text_of(x) for x in values])


def text_of(value: Any) -> str:
    """A value as the name of a category: whole numbers without a point."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        return f"{value:.15g}"
    return str(value)


# ----------------------------------------------------------------------- Python values

_DATES = (datetime.date, np.datetime64)
_LISTS = (list, tuple, set, frozenset, np.ndarray)
_NONE = type(None)


def _is_missing_type(kind: type) -> bool:
    return kind is _NONE or kind.__name__ in ("NAType", "NaTType")


def _is_missing(value: Any) -> bool:
    return _is_missing_type(type(value)) or (isinstance(value, float) and value != value)


def _is_flag(kind: type) -> bool:
    return issubclass(kind, bool | np.bool_)


def _is_number(kind: type) -> bool:
    return issubclass(kind, Number | np.bool_)


def _doubles(values: list[Any]) -> NDArray[np.float64]:
    try:
        return np.array(values, dtype=np.float64)  # None becomes NaN
    except (TypeError, ValueError, OverflowError):
        return np.array([_double(x) for x in values], dtype=np.float64)


def _double(value: Any) -> float:
    try:
        return float("nan") if _is_missing(value) else float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def _finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same with infinite numbers as missing ones."""
    bad = np.isinf(values)
    return np.where(bad, np.nan, values) if bad.any() else values


def _date(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return np.datetime64(value.replace(tzinfo=None), "us")
    return np.datetime64("NaT", "us") if _is_missing(value) else np.datetime64(value, "us")


def _of_strings(values: Sequence[Any]) -> Cells:
    """Texts by their distinct values; empty and blank ones are missing."""
    distinct: list[str] = []
    place: dict[Any, int] = {}
    for value in dict.fromkeys(values):  # distinct values only
        text = None if not isinstance(value, str) or not value or value.isspace() else value
        place[value] = -1 if text is None else len(distinct)
        if text is not None:
            distinct.append(text)
    codes = np.fromiter(map(place.__getitem__, values), np.int32, len(values))
    return Cells(STRINGS, codes, distinct)


def _of_lists(values: list[Any]) -> Cells:
    """Lists, and single values as lists of one."""
    absent = np.array([_is_missing(x) for x in values], dtype=bool)
    lists = [
        [] if gone else [*x] if isinstance(x, _LISTS) else [x]
        for x, gone in zip(values, absent.tolist(), strict=True)
    ]
    starts = np.append(0, np.cumsum([len(x) for x in lists])).astype(np.int64)
    flat = _of_strings([None if _is_missing(x) else text_of(x) for row in lists for x in row])
    return Cells(LISTS, flat.values, flat.distinct, starts, absent)


# ------------------------------------------------------------------------------ pandas


def _of_pandas(column: Any) -> Cells:
    kind = column.dtype
    if hasattr(kind, "categories"):
        names = [text_of(value) for value in kind.categories.tolist()]
        found = column.cat.codes.to_numpy().astype(np.int32)
        return _coded(found, names)
    if kind.kind in "iufb":
        if isinstance(kind, np.dtype):
            return of_array(column.to_numpy())
        form = FLAGS if kind.kind == "b" else NUMBERS
        return Cells(form, _finite(column.to_numpy(dtype=np.float64, na_value=np.nan)))
    if kind.kind == "M":
        plain = column if isinstance(kind, np.dtype) else column.dt.tz_localize(None)
        return of_array(plain.to_numpy())
    return of_objects(column.to_numpy(dtype=object).tolist())


def _coded(codes: NDArray[np.int32], names: list[str]) -> Cells:
    """Categories of another library; blank ones, and equal ones, as those of texts."""
    own = _of_strings(names)
    place = np.append(own.values, -1).astype(np.int32)  # code -1 is the last
    return Cells(STRINGS, place[codes], own.distinct, is_coded=True)


# ------------------------------------------------------------------------------- Arrow


def _has_arrow() -> bool:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return False
    return True


def _of_arrow(column: Any) -> Cells:
    from pyarrow import types

    array = column.combine_chunks() if hasattr(column, "chunks") else column
    if hasattr(array, "chunks"):  # a chunked array without rows, or of several types
        array = array.chunk(0) if array.num_chunks else array.type.wrap_array([])
    kind = array.type
    if types.is_string_view(kind) or types.is_large_string(kind) or types.is_string(kind):
        return _of_arrow_strings(array)
    if types.is_boolean(kind):
        return Cells(FLAGS, _arrow_doubles(array.cast("uint8")))
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return Cells(NUMBERS, _finite(_arrow_doubles(array)))
    if types.is_timestamp(kind) or types.is_date(kind):
        return Cells(DATES, _arrow_dates(array))
    if types.is_dictionary(kind) and types.is_string(kind.value_type):
        codes = array.indices.cast("int32").fill_null(-1)
        return _coded(_arrow_array(codes), array.dictionary.to_pylist())
    return of_objects(array.to_pylist())


def _of_arrow_strings(array: Any) -> Cells:
    coded = (
        array.dictionary_encode()
        if str(array.type) != "string_view"
        else array.cast("large_string").dictionary_encode()
    )
    codes = _arrow_array(coded.indices.fill_null(-1)).astype(np.int32)
    known = coded.dictionary
    from pyarrow import compute

    blank = _arrow_array(compute.utf8_length(compute.utf8_trim_whitespace(known))) == 0
    if not blank.any():
        return Cells(STRINGS, codes, known)
    kept = np.where(blank, -1, np.cumsum(~blank) - 1).astype(np.int32)
    kept = np.append(kept, -1)
    return Cells(STRINGS, kept[codes].astype(np.int32), known.take(np.flatnonzero(~blank)))


def _arrow_doubles(array: Any) -> NDArray[np.float64]:
    doubles = array.cast("float64", safe=False)
    return _arrow_array(doubles.fill_null(float("nan")) if doubles.null_count else doubles)


def _arrow_dates(array: Any) -> NDArray[Any]:
    import pyarrow

    zone = getattr(array.type, "tz", None)
    if zone is not None:  # the local time
        from pyarrow import compute

        array = compute.local_timestamp(array)
    times = array.cast(pyarrow.timestamp("us"), safe=False).cast("int64")
    times = times.fill_null(np.iinfo(np.int64).min) if times.null_count else times
    return _arrow_array(times).view("datetime64[us]")


def _arrow_array(array: Any) -> NDArray[Any]:
    """An array of numbers; `to_numpy` would import pandas, if it is there."""
    return np.array(np.from_dlpack(array))


# ------------------------------------------------------------------------------ tables


class Table:
    """The columns of a table by name, converted when they are asked for.

    Parameters
    ----------
    columns : dict of {str: column}
    n_rows : int
    may_lack : bool, default False
        Whether a column that is not there has missing values, as in dicts.
    """

    def __init__(self, columns: dict[str, Any], n_rows: int, *, may_lack: bool = False) -> None:
        self._columns = columns
        self.n_rows = n_rows
        self.may_lack = may_lack

    @property
    def names(self) -> list[str]:
        return list(self._columns)

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, rows: slice) -> Table:
        return self.take(np.arange(self.n_rows)[rows])

    def cells(self, name: str) -> Cells:
        """The cells of a column."""
        made = cells_of(self._columns[name])
        if len(made) != self.n_rows:
            raise ValueError(
                f"columns must have one length, got {self.n_rows} and {len(made)} of {name!r}."
            )
        self._columns[name] = made
        return made

    def take(self, rows: NDArray[np.int64]) -> Table:
        """Some rows."""
        taken = {name: self.cells(name).take(rows) for name in self.names}
        return Table(taken, len(rows), may_lack=self.may_lack)

    def records(self) -> list[dict[str, Any]]:
        """The rows as dicts of plain values, None where one is missing."""
        columns = [self.cells(name).plain() for name in self.names]
        return [dict(zip(self.names, row, strict=True)) for row in zip(*columns, strict=True)]

    @classmethod
    def of(cls, X: Any, who: str = "X") -> Table:
        """A table of a frame, a list of dicts or a dict of columns."""
        if isinstance(X, Table):
            return X
        if isinstance(X, dict):
            return cls._named(list(X.items()), who)
        if isinstance(X, list | tuple) and X and all(isinstance(row, dict) for row in X):
            names = dict.fromkeys(name for row in X for name in row)
            columns = [(name, [row.get(name) for row in X]) for name in names]
            return cls._named(columns, who, len(X), may_lack=True)
        if isinstance(X, ColumnTable):
            return cls._named(list(X.columns.items()), who, len(X))
        home = type(X).__module__.partition(".")[0]
        if home == "pyarrow" and hasattr(X, "schema"):
            return cls._named(list(zip(X.schema.names, X.columns, strict=True)), who)
        if hasattr(X, "columns") and hasattr(X, "iloc"):  # pandas
            numbered = range(len(X.columns))
            return cls._named([(X.columns[j], X.iloc[:, j]) for j in numbered], who, len(X))
        if home == "polars" and hasattr(X, "columns"):
            return cls._named([(name, X[name]) for name in X.columns], who)
        raise TypeError(
            f"{who} must be a table: a frame of pandas, polars or Arrow, a list of dicts, or a "
            f"dict of columns, got {_shown(X)}."
        )

    @classmethod
    def one(cls, x: Any, who: str = "x") -> Table:
        """A table of one row, a dict."""
        if isinstance(x, Table):
            return x
        if not isinstance(x, dict):
            raise TypeError(f"{who} must be a dict of {{column: value}}, got {_shown(x)}.")
        return cls._named([(name, [value]) for name, value in x.items()], who, 1, may_lack=True)

    @classmethod
    def _named(
        cls,
        columns: list[tuple[Any, Any]],
        who: str,
        n_rows: int | None = None,
        *,
        may_lack: bool = False,
    ) -> Table:
        names = [str(name) for name, _ in columns]
        for name, times in Counter(names).items():
            if times > 1:
                raise ValueError(
                    f"{who} must have columns of different names, got {times} of {name!r}."
                )
        n = (len(columns[0][1]) if columns else 0) if n_rows is None else n_rows
        return cls({str(name): column for name, column in columns}, n, may_lack=may_lack)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 60 else f"{text[:56]} ..."

"""Cells read as numbers, dates, categories: how values are written; must not know models."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn.columns.cells import (
    DATES,
    FLAGS,
    LISTS,
    NUMBERS,
    STRINGS,
    Cells,
    cells_of,
    of_objects,
)

#: Spellings of true and false.
_TRUE = frozenset(["true", "yes", "y", "t", "1"])
_FALSE = frozenset(["false", "no", "n", "f", "0"])

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_THOUSANDS = {"," : re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?"),
              ".": re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d*)?")}  # fmt: skip

#: A date, and maybe a time: the three numbers, their separator, the rest.
_DATE = re.compile(r"(\d{1,4})([-./])(\d{1,2})\2(\d{1,4})(?:[T ]+(\d{1,2}:\d{2}\S*(?: ?[AP]M)?))?")
_TIME = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6})\d*)?)?(?:Z|[+-]\d{2}:?\d{2})?")

#: Places of year, month and day in dates of each order.
_PLACES = {"iso": (0, 1, 2), "dmy": (2, 1, 0), "mdy": (2, 0, 1)}


class Read(NamedTuple):
    """Values, and one that could not be read, if there is any."""

    values: NDArray[Any]
    unread: str | None = None


# ----------------------------------------------------------------------------- numbers


def numbers(cells: Cells, decimal: str) -> Read:
    """Cells as numbers; what is none is missing."""
    if cells.form in (NUMBERS, FLAGS):
        return Read(cells.values)
    if cells.form == DATES:
        return Read(years(cells.values))
    if cells.form == LISTS:
        return Read(np.full(len(cells), np.nan), _example(cells))
    if decimal == "." and (cast := _cast(cells)) is not None:
        return cast
    distinct = cells.strings()
    mark = decimal_of(distinct) if decimal == "auto" else decimal
    return _by_value(cells, distinct, lambda text: number_of(text, mark), np.nan)


def _cast(cells: Cells) -> Read | None:
    """Numbers as Arrow reads them, where it can read all of them; the same, and faster."""
    if not hasattr(cells.distinct, "cast"):
        return None
    from pyarrow import ArrowInvalid

    try:
        made = cells_of(cells.distinct.cast("float64")).values
    except ArrowInvalid:
        return None
    if np.isnan(made).any():  # Arrow reads "nan" and "inf", which are no numbers here
        return None
    return Read(np.append(made, np.nan)[cells.values])


def number_of(text: str, decimal: str) -> float | None:
    """A number that is written as a text; None if it is none."""
    text = text.strip()
    other = "," if decimal == "." else "."
    if _THOUSANDS[other].fullmatch(text):
        text = text.replace(other, "")
    if decimal == ",":
        if "." in text:
            return None
        text = text.replace(",", ".")
    return float(text) if _NUMBER.fullmatch(text) else None


def decimal_of(texts: Sequence[str]) -> str:
    """The decimal mark of numbers: a comma, where all with one can be read so, but not all of
    them as thousands."""
    some = [text.strip() for text in texts if "," in text]
    if not some or all(_THOUSANDS[","].fullmatch(text) for text in some):
        return "."
    return "," if all(number_of(text, ",") is not None for text in some) else "."


def are_numbers(texts: Sequence[str]) -> bool:
    """Whether all texts are numbers, and none a code such as 007."""
    mark = decimal_of(texts)
    return all(
        number_of(text, mark) is not None and not re.match(r"\s*[+-]?0\d", text) for text in texts
    )


# ------------------------------------------------------------------------------- dates


def dates(cells: Cells, order: str) -> Read:
    """Cells as dates; what is none is missing."""
    if cells.form == DATES:
        return Read(cells.values)
    missing = np.datetime64("NaT", "us")
    if cells.form != STRINGS:
        values = np.full(len(cells), missing)
        return Read(values, None if cells.missing.all() else _example(cells))
    distinct = cells.strings()
    own = order_of(distinct) if order == "auto" else order
    return _by_value(cells, distinct, lambda text: date_of(text, own), missing)


@lru_cache(2**14)  # the days of a stream come again in every block
def date_of(text: str, order: str) -> Any:
    """A date that is written as a text; None if it is none."""
    found = _DATE.fullmatch(text.strip())
    if found is None:
        return None
    parts = found.group(1, 3, 4)
    places = _PLACES["iso" if len(parts[0]) == 4 else "dmy" if found[2] == "." else order]
    year, month, day = (parts[place] for place in places)
    if len(year) != 4:
        return None
    time = None if found[5] is None else _time(found[5])
    try:
        hour, minute, second, micro = (0, 0, 0, 0) if time is None else time
        made = datetime(int(year), int(month), int(day), hour, minute, second, micro)
    except ValueError:
        return None
    return None if found[5] is not None and time is None else np.datetime64(made, "us")


def order_of(texts: Sequence[str]) -> str:
    """The order of dates with slashes or hyphens: the month first, unless a first number is above
    12."""
    for text in texts:
        found = _DATE.fullmatch(text.strip())
        if found is not None and len(found[1]) <= 2 and int(found[1]) > 12:
            return "dmy"
    return "mdy"


def are_dates(texts: Sequence[str]) -> bool:
    """Whether all texts are dates."""
    order = order_of(texts)
    return all(date_of(text, order) is not None for text in texts)


def years(values: NDArray[Any]) -> NDArray[np.float64]:
    """Dates as years with a fraction; NaN for missing ones."""
    year = values.astype("datetime64[Y]")
    begin, end = year.astype("datetime64[us]"), (year + 1).astype("datetime64[us]")
    whole = year.astype(np.int64) + 1970.0
    share = (values - begin) / (end - begin)
    return np.where(np.isnat(values), np.nan, whole + share)


def parts_of(values: NDArray[Any]) -> dict[str, NDArray[np.int64]]:
    """Year, month (1 to 12), weekday (0 is Monday) and hour of dates; -1 for missing ones."""
    gone = np.isnat(values)
    known = np.where(gone, np.datetime64(0, "us"), values)
    year = known.astype("datetime64[Y]").astype(np.int64) + 1970
    month = known.astype("datetime64[M]").astype(np.int64) % 12 + 1
    weekday = (known.astype("datetime64[D]").astype(np.int64) + 3) % 7
    hour = known.astype("datetime64[h]").astype(np.int64) % 24
    return {
        name: np.where(gone, -1, part)
        for name, part in (("year", year), ("month", month), ("weekday", weekday), ("hour", hour))
    }


def _time(text: str) -> tuple[int, int, int, int] | None:
    half = text[-2:].upper() if text[-2:].upper() in ("AM", "PM") else ""
    found = _TIME.fullmatch(text[: len(text) - len(half)].strip())
    if found is None:
        return None
    hour, minute = int(found[1]), int(found[2])
    if half:
        hour = hour % 12 + (12 if half == "PM" else 0)
    return hour, minute, int(found[3] or 0), int((found[4] or "0").ljust(6, "0"))


# -------------------------------------------------------------------------- categories


def categories(cells: Cells) -> Cells:
    """Cells as texts, by their distinct values."""
    if cells.form == STRINGS:
        return cells
    if cells.form == LISTS:
        return _joined(cells)
    distinct, codes = np.unique(cells.values, return_inverse=True)
    gone = np.isnat(distinct) if cells.form == DATES else np.isnan(distinct)
    n = int(np.count_nonzero(~gone))  # missing ones are sorted to the end
    codes = np.where(codes < n, codes, -1).astype(np.int32)
    return Cells(STRINGS, codes, _names(cells.form, distinct[:n]))


def lists(cells: Cells, separator: str | None) -> Cells:
    """Cells as lists of texts."""
    if cells.form == LISTS:
        return cells
    cells = categories(cells)
    distinct = cells.strings()
    if separator is None:
        parts = [[text] for text in distinct]
    else:
        parts = [[part.strip() for part in text.split(separator)] for text in distinct]
    of_value = of_objects([[part for part in row if part] for row in parts] or [[]])
    absent = cells.values < 0
    if not distinct:
        none = np.zeros(0, np.int32)
        return Cells(LISTS, none, [], np.zeros(len(cells) + 1, np.int64), absent)
    made = of_value.take(np.where(absent, 0, cells.values).astype(np.int64))
    return _emptied(made, absent)


def booleans(cells: Cells) -> Read:
    """Cells as 1 for true and 0 for false; what is neither is missing."""
    if cells.form == FLAGS:
        return Read(cells.values)
    cells = categories(cells)
    return _by_value(cells, cells.strings(), _flag, np.nan)


def _flag(text: str) -> float | None:
    text = text.strip().lower()
    return 1.0 if text in _TRUE else 0.0 if text in _FALSE else None


def are_flags(texts: Sequence[str]) -> bool:
    """Whether all texts are words for true and false."""
    known = _TRUE | _FALSE
    return all(text.strip().lower() in known and not text.strip().isdigit() for text in texts)


def _names(form: str, values: NDArray[Any]) -> list[str]:
    if form == FLAGS:
        return ["true" if value else "false" for value in values.tolist()]
    if form == NUMBERS:
        return [f"{value:.15g}" for value in values.tolist()]
    return [str(value) for value in values.astype("datetime64[s]").tolist()]


def _joined(cells: Cells) -> Cells:
    """Lists as texts."""
    assert cells.starts is not None
    distinct, starts = cells.strings(), cells.starts.tolist()
    rows = [cells.values[a:b].tolist() for a, b in pairwise(starts)]
    return of_objects([" ".join(distinct[code] for code in row) for row in rows] or [""])


def _emptied(cells: Cells, absent: NDArray[np.bool_]) -> Cells:
    """Lists, without the values of absent rows."""
    assert cells.starts is not None
    sizes = np.diff(cells.starts)
    kept = np.repeat(~absent, sizes)
    starts = np.append(0, np.cumsum(np.where(absent, 0, sizes))).astype(np.int64)
    return Cells(LISTS, cells.values[kept], cells.distinct, starts, absent)


def _by_value(cells: Cells, distinct: list[str], read: Callable[[str], Any], missing: Any) -> Read:
    """What `read` makes of the distinct values, for each cell."""
    made = [read(text) for text in distinct]
    seen = np.bincount(cells.values[cells.values >= 0], minlength=len(distinct)) > 0
    unread = (i for i, value in enumerate(made) if value is None and seen[i])
    first = next(unread, None)
    table = np.array([missing if value is None else value for value in [*made, None]])
    return Read(table[cells.values], None if first is None else distinct[first])


def _example(cells: Cells) -> str | None:
    """A value that is there, as a text."""
    if cells.form == LISTS:
        assert cells.starts is not None
        return str([cells.strings()[code] for code in cells.values[:3].tolist()])
    made = categories(cells)
    present = made.values[made.values >= 0]
    return made.strings()[int(present[0])] if len(present) else None

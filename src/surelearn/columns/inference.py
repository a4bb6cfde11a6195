"""What each column of a table is, told from its values; must not know how columns are learnt.

The rules, the first that fits; n is the number of cells that are not missing:

1. No value at all, or the same one in every row: ignored. But of a single row, numbers are
   numbers, dates dates, texts of several words texts, and others categories.
2. Lists: categories. True and false: boolean. Dates: date.
3. Whole numbers, with or without a point: ignored if each is the one before plus 1, as row numbers
   are; otherwise a number. If there are few values, `MOST_CODES` at most and each `EACH_CODE`
   times on average, each value is a category as well: it may be a code.
4. Other numbers: number.
5. Texts that can all be read as true and false, numbers or dates: as above; but codes such as 007
   are no numbers.
6. Other texts: a category if each occurs twice on average, and they are short or few; text if most
   have several words; ignored if nearly all are different, as ids are; otherwise a category.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn.columns import readings
from surelearn.columns.cells import DATES, FLAGS, LISTS, STRINGS, Cells
from surelearn.columns.specs import (
    Boolean,
    Categories,
    Category,
    Column,
    Date,
    Ignore,
    Number,
    Text,
)

#: Whole numbers with at most so many distinct values, each so many times on average, may be codes
#: of categories; see experiments/columns.
MOST_CODES, EACH_CODE = 50, 10

#: Distinct values that are looked at for how they are written.
_LOOKED_AT = 5000

#: Texts that repeat are categories if they have at most so many words on average, or there are at
#: most so many.
_WORDS, _FEW = 5.0, 100

#: Ids: at least so many rows, nearly all of them different.
_IDS, _DISTINCT = 50, 0.9


class Told(NamedTuple):
    """A kind, why, and whether the user should hear of it."""

    column: Column
    why: str
    warns: bool = False


def infer(cells: Cells) -> Told:
    """The kind of a column."""
    gone = cells.missing
    if gone.all():
        return Told(Ignore(), "all missing")
    if len(cells) == 1:
        return _of_one(cells)
    if cells.form == LISTS:
        return Told(Categories(), "lists")
    if cells.form == STRINGS:
        return _of_texts(cells)
    distinct = np.unique(cells.values[~gone])
    if len(distinct) == 1 and not gone.any():
        return Told(Ignore(), "constant")
    if cells.form == FLAGS:
        return Told(Boolean(), "true or false")
    if cells.form == DATES:
        return Told(Date(), "dates")
    return of_numbers(cells.values[~gone], distinct)


def _of_one(cells: Cells) -> Told:
    """The kind of a column of which one value is known."""
    texts = cells.strings() if cells.form == STRINGS else []
    column: Column = Number()
    if cells.form == LISTS:
        column = Categories()
    elif cells.form == FLAGS or (texts and readings.are_flags(texts)):
        column = Boolean()
    elif cells.form == DATES or (texts and readings.are_dates(texts)):
        column = Date()
    elif texts and not readings.are_numbers(texts):
        column = Text() if len(texts[0].split()) > 1 else Category()
    return Told(column, "its first value")


def of_numbers(values: NDArray[np.float64], distinct: NDArray[np.float64]) -> Told:
    """The kind of a column of numbers."""
    if (distinct != np.floor(distinct)).any():
        return Told(Number(), "numbers")
    n = len(values)
    if len(distinct) == n >= _IDS and (np.diff(values) == 1).all():
        return Told(Ignore(), "row numbers")
    if len(distinct) <= min(MOST_CODES, n // EACH_CODE):
        return Told(Number(bins="values"), f"{len(distinct)} whole numbers, maybe codes")
    return Told(Number(), "whole numbers")


def _of_texts(cells: Cells) -> Told:
    present = cells.values[cells.values >= 0]
    used = np.unique(present)
    d, n = len(used), len(present)
    if d == 1 and len(present) == len(cells):
        return Told(Ignore(), "constant")
    if cells.is_coded:
        return Told(Category(), "categories")
    looked_at = used[:: max(1, -(-d // _LOOKED_AT))]
    texts = _some(cells.distinct, looked_at)
    if readings.are_flags(texts):
        return Told(Boolean(), "words for true and false")
    if readings.are_numbers(texts):
        decimal = readings.decimal_of(texts)
        read = readings.numbers(cells, decimal).values
        values = read[~np.isnan(read)]
        told = of_numbers(values, np.unique(values))
        if isinstance(told.column, Number):
            return told._replace(column=replace(told.column, decimal=decimal))
        return told
    if readings.are_dates(texts):
        return Told(Date(order=readings.order_of(texts)), "dates in texts")
    return _of_words(texts, d, n)


def _of_words(texts: list[str], d: int, n: int) -> Told:
    words = float(np.mean([len(text.split()) for text in texts]))
    if 2 * d <= n and (words <= _WORDS or d <= _FEW):
        return Told(Category(), f"{d:,} distinct values")
    if words >= 1.5:
        return Told(Text(), f"{words:.1f} words on average")
    if d > _DISTINCT * n and n >= _IDS:
        return Told(Ignore(), "nearly all different, as ids are", warns=True)
    return Told(Category(), f"{d:,} distinct values")


def _some(distinct: Any, places: NDArray[np.int64]) -> list[str]:
    if hasattr(distinct, "take"):
        some: list[str] = distinct.take(places).to_pylist()
        return some
    return [distinct[place] for place in places.tolist()]

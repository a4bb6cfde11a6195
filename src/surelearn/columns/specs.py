"""What a column of a table is: text, category, number, date; plain values, no data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Self

from surelearn import _check

#: Decimal marks of numbers that are written as texts, and the orders of dates.
_DECIMALS = ("auto", ".", ",")
_ORDERS = ("auto", "iso", "dmy", "mdy")


@dataclass(frozen=True)
class Column:
    """What a column is, and how it is learnt; the base of the kinds."""

    kind: ClassVar[str]

    def plain(self) -> dict[str, Any]:
        """The column as JSON."""
        return {"kind": self.kind, **asdict(self)}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Self:
        """The column from what `plain` gave."""
        own = {one.name for one in fields(cls)}
        if plain.keys() - {"kind"} != own:
            raise ValueError(f"a column of kind {cls.kind!r} must have {sorted(own)}.")
        return cls(**{name: _as_tuple(plain[name]) for name in own})


@dataclass(frozen=True)
class Text(Column):
    """Texts: hashed words or n-grams, as in `SureTextClassifier`.

    Parameters
    ----------
    weight : float > 0, default 1
        What the values are multiplied by. A weight of 2 makes the prior variance of what the column
        says four times as large.
    analyzer : {"word", "char", "char_wb"}, default "word"
    ngram_range : tuple of two int, default (1, 1)
    idf : bool, default True
        Whether rare words weigh more.

    Examples
    --------
    >>> from surelearn.columns import Text
    >>> Text(weight=2.0, ngram_range=(1, 2))
    Text(weight=2.0, analyzer='word', ngram_range=(1, 2), idf=True)
    """

    kind: ClassVar[str] = "text"
    weight: float = 1.0
    analyzer: str = "word"
    ngram_range: tuple[int, int] = (1, 1)
    idf: bool = True

    def __post_init__(self) -> None:
        _weight(self.weight)
        _check.choice("analyzer", self.analyzer, ["word", "char", "char_wb"])
        span = self.ngram_range
        if not (type(span) is tuple and list(map(type, span)) == [int, int]):
            raise ValueError(_check.must("ngram_range", "be a tuple of two int", span))
        if not 1 <= span[0] <= span[1]:
            raise ValueError(_check.must("ngram_range", "be from 1 and ascending", span))
        _check.flag("idf", self.idf)


@dataclass(frozen=True)
class Category(Column):
    """One of some values: the feature ``column=value``, hashed. New values may come at any time.

    Parameters
    ----------
    weight : float > 0, default 1
        As in `Text`.

    Examples
    --------
    >>> from surelearn import SureTableClassifier
    >>> from surelearn.columns import Category
    >>> rows = [{"floor": 1}, {"floor": 2}, {"floor": 1}, {"floor": 2}]
    >>> clf = SureTableClassifier(columns={"floor": Category()}).fit(rows, ["a", "b", "a", "b"])
    >>> sorted(clf.explain(top=2).feature)
    ['floor=1', 'floor=2']
    """

    kind: ClassVar[str] = "category"
    weight: float = 1.0

    def __post_init__(self) -> None:
        _weight(self.weight)


@dataclass(frozen=True)
class Number(Column):
    """Numbers, in any unit.

    Parameters
    ----------
    bins : int, tuple of float, "values", "auto" or None, default "auto"
        A number of quantiles of the first rows, or the edges themselves: the bin of a number is
        then a category as well, such as ``price in [10, 20)``. ``"values"``: each value is one, as
        ``rooms=3``. ``"auto"``: 16 from 1,000 rows on, none with fewer. None: the value alone.
    decimal : {"auto", ".", ","}, default "auto"
        The decimal mark of numbers that are written as texts. ``"auto"``: a comma, if all numbers
        with a comma can be read so and not all of them as thousands: "1,5" is one and a half, and
        "1,500" is fifteen hundred.

    Examples
    --------
    >>> from surelearn.columns import Number
    >>> Number(bins=[10, 20])
    Number(bins=(10.0, 20.0), decimal='auto')
    """

    kind: ClassVar[str] = "number"
    bins: int | tuple[float, ...] | str | None = "auto"
    decimal: str = "auto"

    def __post_init__(self) -> None:
        _check.choice("decimal", self.decimal, list(_DECIMALS))
        if isinstance(self.bins, list | tuple):
            edges = tuple(
                _check.number("bins", edge, "(-inf, inf)", low=-math.inf) for edge in self.bins
            )
            if list(edges) != sorted(set(edges)):
                raise ValueError(_check.must("bins", "ascend", self.bins))
            object.__setattr__(self, "bins", edges)
        elif isinstance(self.bins, str):
            _check.choice("bins", self.bins, ["auto", "values"])
        elif self.bins is not None:
            _check.count("bins", self.bins, least=2)


@dataclass(frozen=True)
class Date(Column):
    """Dates and times: year, month, weekday and hour as categories.

    Parameters
    ----------
    weight : float > 0, default 1
        As in `Text`, of the categories.
    order : {"auto", "iso", "dmy", "mdy"}, default "auto"
        How dates in texts are written: 2024-12-31, 31.12.2024 or 31/12/2024, 12/31/2024. With
        ``"auto"``, points mean that the day comes first; slashes that the month does, unless a
        first number is above 12.
    trend : bool, default False
        Whether the time is a number of years as well. It follows what grows with time, and misleads
        where rows come in the order of time: those to predict are then beyond all that were learnt.

    Examples
    --------
    >>> from surelearn.columns import Date
    >>> Date(order="dmy").order
    'dmy'
    """

    kind: ClassVar[str] = "date"
    weight: float = 1.0
    order: str = "auto"
    trend: bool = False

    def __post_init__(self) -> None:
        _weight(self.weight)
        _check.choice("order", self.order, list(_ORDERS))
        _check.flag("trend", self.trend)


@dataclass(frozen=True)
class Boolean(Column):
    """True or false, also written as yes, no, y, n, t, f, 1 or 0.

    Parameters
    ----------
    weight : float > 0, default 1
        As in `Text`.

    Examples
    --------
    >>> from surelearn.columns import Boolean
    >>> Boolean(weight=0.5)
    Boolean(weight=0.5)
    """

    kind: ClassVar[str] = "boolean"
    weight: float = 1.0

    def __post_init__(self) -> None:
        _weight(self.weight)


@dataclass(frozen=True)
class Categories(Column):
    """Any number of categories in each row: lists, or texts cut at a separator.

    Parameters
    ----------
    separator : str or None, default None
        What separates categories in a text, such as ``";"``; blanks around them are left out.
        Without it a text is one category.
    weight : float > 0, default 1
        As in `Text`.

    Examples
    --------
    >>> from surelearn.columns import Categories
    >>> Categories(";")
    Categories(separator=';', weight=1.0)
    """

    kind: ClassVar[str] = "categories"
    separator: str | None = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        _weight(self.weight)
        if self.separator is not None and not (isinstance(self.separator, str) and self.separator):
            raise ValueError(_check.must("separator", "be a text or None", self.separator))


@dataclass(frozen=True)
class Ignore(Column):
    """A column that is not learnt from.

    Examples
    --------
    >>> from surelearn.columns import Ignore
    >>> Ignore().kind
    'ignored'
    """

    kind: ClassVar[str] = "ignored"


#: The kinds by the names that may stand for them.
KINDS: dict[str, type[Column]] = {
    "text": Text,
    "category": Category,
    "number": Number,
    "date": Date,
    "boolean": Boolean,
    "categories": Categories,
    "ignored": Ignore,
    "ignore": Ignore,
}


def column_of(name: str, given: Any) -> Column:
    """The column that a user gave: an instance of a kind, the kind, or its name."""
    if isinstance(given, Column):
        return given
    if isinstance(given, type) and issubclass(given, Column) and given is not Column:
        return given()
    if isinstance(given, str) and given in KINDS:
        return KINDS[given]()
    names = ", ".join(repr(kind) for kind in KINDS if kind != "ignored")
    raise ValueError(f"columns[{name!r}] must be one of {names}, or such as Text(), got {given!r}.")


def column_in(plain: Mapping[str, Any]) -> Column:
    """The column from what `Column.plain` gave."""
    kind = plain.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"a column must be of a known kind, got {str(kind)[:40]!r}.")
    return KINDS[kind].of(plain)


def given_columns(columns: Any) -> dict[str, Column]:
    """The checked parameter `columns`."""
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        raise TypeError(_check.must("columns", "be a dict of {name: kind} or None", columns))
    return {str(name): column_of(str(name), given) for name, given in columns.items()}


def given_interactions(interactions: Any) -> tuple[tuple[str, str], ...]:
    """The checked parameter `interactions`: pairs of names."""
    pairs = () if interactions is None else interactions
    if isinstance(pairs, str) or not isinstance(pairs, Sequence):
        raise TypeError(_check.must("interactions", "be a list of pairs of columns", interactions))
    for pair in pairs:
        sound = (
            isinstance(pair, list | tuple)
            and len(pair) == 2
            and all(isinstance(name, str) for name in pair)
        )
        if not sound:
            raise TypeError(_check.must("interactions", "have pairs of names of columns", pair))
    return tuple((left, right) for left, right in pairs)


def _weight(weight: Any) -> None:
    _check.positive("weight", weight)


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value

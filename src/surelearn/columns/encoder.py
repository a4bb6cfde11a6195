"""Tables as rows of numbers: each column a stretch or a namespace; must not know models.

The features of a row, in this order: one for each column of numbers, with its raw value, absent
where it is missing; `size` places that categories are hashed to, by ``column=value``; as many for
interactions, if there are any; and as many for the words of each column of texts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _core
from surelearn.columns import parts, readings
from surelearn.columns.cells import NUMBERS, STRINGS, Cells, Table
from surelearn.columns.known import Known, ignored
from surelearn.columns.memory import Memory
from surelearn.columns.parts import Arrays, Found, Named, Part
from surelearn.columns.specs import Boolean, Categories, Category, Column, Date, Number, Text
from surelearn.text import vectorizer_class

#: Where single words and categories are hashed to, and where longer n-grams and products are.
PLACES, PLACES_OF_MANY = 2**18, 2**20


def n_numbers_of(width: int, n_features: Any) -> int:
    """How many of the features of a model are numbers: the others come in stretches of hashed ones.

    Parameters
    ----------
    width : int
        The number of all features.
    n_features : int or "auto"
        As of `Encoder`.
    """
    return width % (PLACES if n_features == "auto" else int(n_features))


class Space(NamedTuple):
    """Which features belong to what: where each stretch begins, and its size."""

    n_numbers: int
    n_categories: int
    n_products: int
    texts: dict[str, tuple[int, int]]  # begin and end of each column

    @property
    def products(self) -> int:
        return self.n_numbers + self.n_categories

    @property
    def size(self) -> int:
        """The number of all features."""
        return max([self.products + self.n_products, *(end for _, end in self.texts.values())])


class Encoder:
    """Tables to rows.

    Parameters
    ----------
    known : list of Known
        The columns. Others are left out.
    interactions : sequence of pairs of str, default ()
    n_features : int or "auto", default "auto"
        Number of places of each stretch of hashed features.
    keep_names : bool, default True
        Whether to remember the first name hashed to each feature.
    """

    def __init__(
        self,
        known: Sequence[Known],
        interactions: Sequence[tuple[str, str]] = (),
        *,
        n_features: Any = "auto",
        keep_names: bool = True,
    ) -> None:
        self.known = list(known)
        self.interactions = tuple(interactions)
        self.n_features_given = n_features
        self.keep_names = keep_names
        self._check_interactions()
        self.space = self._space()
        self._vectorizers = {name: self._vectorizer(name, True) for name in self.space.texts}
        self._plain = {name: self._vectorizer(name, False) for name in self.space.texts}
        numbers = self._numbers()
        texts = self.space.texts
        self.memory = Memory(numbers, texts, self._vectorizers, self.space.size)
        self._warned: set[str] = set()

    @property
    def n_features(self) -> int:
        return self.space.size

    @property
    def spans(self) -> list[tuple[int, int, float]]:
        """Begin, end and weight of the columns of texts that are weighed by rarity."""
        return [
            (*self.space.texts[name], column.weight)
            for name, column in self._of_kind(Text)
            if column.idf
        ]

    def weighed(self, rows: _core.Rows, *, counting: bool) -> _core.Rows:
        """Rows with their words weighed by the rows counted so far; with `counting`, each row is
        counted first."""
        spans = self.spans
        return self.memory.documents.weigh_spans(rows, spans, counting) if spans else rows

    def weigh_in_place(self, rows: Any) -> None:
        """A matrix of `encode`, with its words weighed by the rows counted so far."""
        if self.spans:
            arrays = rows.indptr, rows.indices, rows.data
            self.memory.documents.weigh_spans_in_place(*arrays, self.spans)

    def pass_over(self, names: Sequence[str | None]) -> None:
        """Leave out columns of these names without a warning."""
        self._warned.update(name for name in names if name is not None)

    def like(self) -> Encoder:
        """A new encoder of the same columns that has not met any name."""
        other = Encoder(
            self.known,
            self.interactions,
            n_features=self.n_features_given,
            keep_names=self.keep_names,
        )
        other._warned = self._warned
        return other

    # ------------------------------------------------------------------------- rows

    def encode(self, table: Table, *, learning: bool) -> tuple[Arrays, Found]:
        """The rows of a table, not weighed by rarity, and the names in them for `register`."""
        self._warn_of_columns(table)
        found: Found = []
        own = {one.name: self._parts(one, table, found, learning) for one in self._used()}
        numbers: list[Any] = [own[name][0] for name in self.memory.numbers]
        made = [part for _, of_column in own.values() for part in of_column]
        for left, right in self.interactions:
            made += self._crossed(own[left][1], own[right][1], found, learning)
        if numbers:
            made.insert(0, Part(parts.of_numbers(numbers), 0))
        dtype = np.float64 if numbers else np.float32
        return parts.joined(made, len(table), dtype), found

    def numbers_in(self, table: Table) -> dict[str, float]:
        """The numbers of one row, by the name of their column."""
        own = {one.name: self._parts(one, table, [], False)[0] for one in self._used()}
        return {name: float(values[0]) for name, values in own.items() if values is not None}

    def names_in(self, table: Table) -> dict[int, str]:
        """The names of all features of a row."""
        named = self.like()
        named._warned = {*self._warned, *table.names, *(one.name for one in self.known)}
        _, found = named.encode(table, learning=True)
        named.memory.register(found)
        return named._all_names(table)

    def _parts(
        self, one: Known, table: Table, found: Found, learning: bool
    ) -> tuple[NDArray[np.float64] | None, list[Part]]:
        """The numbers of a column, and its hashed parts."""
        cells = table.cells(one.name) if one.name in table.names else _absent(len(table))
        make: Callable[..., Any] = self._MAKERS[type(one.column)]
        result: tuple[NDArray[np.float64] | None, list[Part]]
        result = make(self, one, cells, found if learning and self.keep_names else None)
        return result

    def _of_category(
        self, one: Known, cells: Cells, found: Found | None
    ) -> tuple[None, list[Part]]:
        return None, [self._coded(one, readings.categories(cells), found)]

    def _of_boolean(self, one: Known, cells: Cells, found: Found | None) -> tuple[None, list[Part]]:
        values, unread = readings.booleans(cells)
        self._warn_of_value(one, unread)
        codes = np.where(np.isnan(values), -1, values).astype(np.int32)
        return None, [self._coded(one, Cells(STRINGS, codes, ["false", "true"]), found)]

    def _of_categories(
        self, one: Known, cells: Cells, found: Found | None
    ) -> tuple[None, list[Part]]:
        column: Any = one.column
        made = readings.lists(cells, column.separator)
        assert made.starts is not None
        codes, distinct = _used(made)
        names = [f"{one.name}={value}" for value in distinct]
        table = np.array([*map(self._place, names), 0], dtype=np.int64)
        rows = parts.of_lists(made.starts, codes, table, self.space.n_categories)
        weight = self._share * column.weight
        self._note(found, table[:-1], names)
        own = Part(rows, self.space.n_numbers, weight)
        return None, [own, *self._missing(one, made.missing, found)]

    def _of_number(
        self, one: Known, cells: Cells, found: Found | None
    ) -> tuple[NDArray[np.float64], list[Part]]:
        column: Any = one.column
        values, unread = readings.numbers(cells, column.decimal)
        self._warn_of_value(one, unread)
        gone = np.isnan(values)
        if not column.bins:
            return values, self._missing(one, gone, found)
        if column.bins == "values":
            coded = readings.categories(Cells(NUMBERS, values))
            return values, [self._coded(one, coded, found)]
        codes = np.searchsorted(column.bins, np.where(gone, 0.0, values), side="right")
        codes = np.where(gone, -1, codes).astype(np.int32)
        return values, [self._coded(one, Cells(STRINGS, codes, _bins(column.bins)), found, " in ")]

    def _of_date(
        self, one: Known, cells: Cells, found: Found | None
    ) -> tuple[NDArray[np.float64] | None, list[Part]]:
        column: Any = one.column
        days, unread = readings.dates(cells, column.order)
        self._warn_of_value(one, unread)
        made = self._missing(one, np.isnat(days), found)
        for what, values in readings.parts_of(days).items():
            if what == "hour" and not one.has_hours:
                continue
            names, join, present = _PARTS_OF_DATES.get(what, []), f" {what}=", values >= 0
            if what == "year":
                years, values = np.unique(values, return_inverse=True)
                names = [str(year) for year in years.tolist()]
            coded = Cells(STRINGS, values.astype(np.int32), names)
            part = self._coded(one, coded, found, join)
            starts, features, ones = part.arrays
            some = np.append(0, np.cumsum(present)).astype(np.int64)
            made.append(part._replace(arrays=(some, features[present], ones[present])))
            del starts
        return readings.years(days) if column.trend else None, made

    def _of_text(self, one: Known, cells: Cells, found: Found | None) -> tuple[None, list[Part]]:
        column: Any = one.column
        texts = readings.categories(cells)
        codes, distinct = _used(texts)
        vectorizer = (self._plain if found is None else self._vectorizers)[one.name]
        arrays, names = vectorizer.transform_apart(distinct)
        if found is not None and names is not None:
            found.append((one.name, names))
        weight = 1.0 if column.idf else column.weight
        rows = parts.taken(arrays, codes)
        own = Part(rows, self.space.texts[one.name][0], weight)
        return None, [own, *self._missing(one, codes < 0, found)]

    _MAKERS: ClassVar[dict[type[Column], Callable[..., Any]]] = {
        Category: _of_category,
        Boolean: _of_boolean,
        Categories: _of_categories,
        Number: _of_number,
        Date: _of_date,
        Text: _of_text,
    }

    def _coded(self, one: Known, cells: Cells, found: Found | None, join: str = "=") -> Part:
        """A category in each row."""
        column: Any = one.column
        codes, distinct = _used(cells)
        names = [f"{one.name}{join}{value}" for value in distinct]
        gone = f"{one.name} missing"
        arrays, features = parts.of_codes(codes, names, self._place, self._place(gone))
        if (codes < 0).any():
            features, names = np.append(features, self._place(gone)), [*names, gone]
        self._note(found, features, names)
        weight = getattr(column, "weight", 1.0) * self._share
        return Part(arrays, self.space.n_numbers, weight)

    def _missing(self, one: Known, gone: NDArray[np.bool_], found: Found | None) -> list[Part]:
        """What says that a value is missing."""
        if not gone.any():
            return []
        name = f"{one.name} missing"
        place = self._place(name)
        self._note(found, np.array([place]), [name])
        return [Part(parts.some_rows(gone, place), self.space.n_numbers, self._share)]

    def _crossed(
        self, left: list[Part], right: list[Part], found: Found, learning: bool
    ) -> Iterator[Part]:
        """The products of the features of two columns."""
        size, n_features = self.space.n_products, self.space.size
        for own in left:
            for other in right:
                a, b = (
                    part._replace(arrays=parts.of_length_one(part.arrays)) for part in (own, other)
                )
                arrays = parts.crossed(a, b, n_features, size)
                yield Part(arrays, self.space.products, self._share)
                few = all((np.diff(part.arrays[0]) <= 1).all() for part in (a, b))
                if learning and self.keep_names and few:
                    found.append(self._named_pairs(parts.pairs_of(a, b), found))

    # ------------------------------------------------------------------------ names

    def _named_pairs(self, pairs: Any, found: Found) -> Named:
        """The names of products, of those of their factors that were just found."""
        known = {
            feature: name
            for one in found
            if isinstance(one, Named)
            for feature, name in zip(one.features.tolist(), one.names, strict=True)
        }
        places = parts.places_of_pairs(pairs, self.space.size, self.space.n_products)
        names = [
            f"{known.get(a, f'#{a}')} × {known.get(b, f'#{b}')}"
            for a, b in zip(*(side.tolist() for side in pairs), strict=True)
        ]
        return Named(places + self.space.products, names)

    def _all_names(self, table: Table) -> dict[int, str]:
        """The names of the features of one row, which this encoder has registered."""
        found: Found = []
        own = {one.name: self._parts(one, table, found, False) for one in self._used()}
        for left, right in self.interactions:
            for a in own[left][1]:
                for b in own[right][1]:
                    self._name_products(a, b)
        (_, features, _), _ = self.encode(table, learning=False)
        return {
            feature: name for feature in features.tolist() if (name := self.memory.name(feature))
        }

    def _name_products(self, a: Part, b: Part) -> None:
        own, other = (part.arrays[1].astype(np.int64) + part.offset for part in (a, b))
        pairs = np.repeat(own, len(other)), np.tile(other, len(own))
        places = parts.places_of_pairs(pairs, self.space.size, self.space.n_products)
        for left, right, place in zip(*(x.tolist() for x in (*pairs, places)), strict=True):
            name = f"{self.memory.name(left)} × {self.memory.name(right)}"
            self.memory.give_name(place + self.space.products, name)

    def _note(self, found: Found | None, features: NDArray[np.int64], names: Sequence[str]) -> None:
        if found is not None and len(names):
            found.append(Named(features + self.space.n_numbers, names))

    # --------------------------------------------------------------------- settings

    @property
    def _share(self) -> float:
        """What the value of a category is: those of a typical row together have length 1."""
        n = len(self.interactions)
        for one in self._used():
            column = one.column
            if isinstance(column, Category | Boolean | Categories):
                n += 1
            elif isinstance(column, Date):
                n += 4 if one.has_hours else 3
            elif isinstance(column, Number) and column.bins:
                n += 1
        return float(1.0 / np.sqrt(max(1, n)))

    def _used(self) -> list[Known]:
        return [one for one in self.known if not ignored(one)]

    def _of_kind(self, *kinds: type[Column]) -> list[tuple[str, Any]]:
        """The columns of some kinds by name: the order of a table's columns moves no feature."""
        found = [(one.name, one.column) for one in self.known if isinstance(one.column, kinds)]
        return sorted(found, key=lambda pair: pair[0])

    def _numbers(self) -> list[str]:
        """Columns with a fixed feature number: numbers, and dates with `trend`."""
        found = self._of_kind(Number, Date)
        return [name for name, column in found if getattr(column, "trend", True)]

    def _space(self) -> Space:
        given = self.n_features_given
        several = PLACES_OF_MANY if given == "auto" else given
        single = PLACES if given == "auto" else given
        n_numbers, texts = len(self._numbers()), {}
        if n_numbers >= single:
            raise ValueError(
                f"n_features must be more than the columns of numbers and dates, {n_numbers}, got "
                f"{given}."
            )
        products = several if self.interactions else 0
        at = n_numbers + single + products
        for name, column in self._of_kind(Text):
            size = single if column.ngram_range == (1, 1) else several
            texts[name] = (at, at + size)
            at += size
        return Space(n_numbers, single, products, texts)

    def _vectorizer(self, name: str, keep_names: bool) -> Any:
        begin, end = self.space.texts[name]
        column: Any = dict(self._of_kind(Text))[name]
        made = vectorizer_class()(
            analyzer=column.analyzer,
            ngram_range=column.ngram_range,
            idf=column.idf,
            n_features=end - begin,
            log_counts=True,
            alternate_sign=False,
            dtype=np.float32,
            keep_names=keep_names and self.keep_names,
        )
        made.check_settings([])
        return made

    def _place(self, name: str) -> int:
        return _core.feature_of(name.encode("utf-8", "replace"), self.space.n_categories)

    def _check_interactions(self) -> None:
        kinds = {one.name: one.column for one in self._used()}
        for pair in self.interactions:
            for name in pair:
                column = kinds.get(name)
                if column is None:
                    raise ValueError(
                        "interactions must be of columns that are learnt, "
                        f"{', '.join(map(repr, kinds))}, got {name!r}."
                    )
                if isinstance(column, Number) and not column.bins:
                    raise ValueError(
                        f"interactions must not be of numbers, got {name!r}. Use "
                        f"columns={{{name!r}: Number(bins=8)}}, whose bins are crossed."
                    )

    # --------------------------------------------------------------------- warnings

    def _warn_of_columns(self, table: Table) -> None:
        """Warn once of columns that are new, and of those that are gone."""
        known = {one.name for one in self.known}
        new = [name for name in table.names if name not in known | self._warned]
        if new:
            self._warn(new, "is not among those that were learnt and is left out")
        if table.may_lack:
            return
        gone = [one.name for one in self._used() if one.name not in table.names]
        if gone := [name for name in gone if name not in self._warned]:
            self._warn(gone, "is missing from these rows; all its values count as missing")

    def _warn_of_value(self, one: Known, unread: str | None) -> None:
        if unread is not None and one.name not in self._warned:
            self._warn(
                [one.name],
                f"must be a {one.column.kind}; what is none counts as missing, such as {unread!r}",
            )

    def _warn(self, names: Sequence[str], what: str) -> None:
        self._warned.update(names)
        for name in names:
            warnings.warn(f"column {name!r} {what}.", UserWarning, stacklevel=2)


#: The values of the parts of dates, by their codes.
_PARTS_OF_DATES = {
    "month": [
        "",
        "Jan",
        "Feb",
        "Mar",
        "Apr",
        "May",
        "Jun",
        "Jul",
        "Aug",
        "Sep",
        "Oct",
        "Nov",
        "Dec",
    ],
    "weekday": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
    "hour": [f"{hour:02d}" for hour in range(24)],
}


def _absent(n: int) -> Cells:
    """Cells that are all missing."""
    return Cells(STRINGS, np.full(n, -1, np.int32), [])


def _used(cells: Cells) -> tuple[NDArray[Any], Any]:
    """Codes and distinct values, without values that no row has."""
    n = len(cells.distinct)
    has = np.zeros(n + 1, dtype=bool)
    has[cells.values] = True
    if has[:n].all():
        return cells.values, cells.distinct if hasattr(cells.distinct, "take") else list(
            cells.distinct
        )
    table = np.append(np.cumsum(has[:n]) - 1, -1)
    kept = np.flatnonzero(has[:n])
    known = cells.distinct
    some = known.take(kept) if hasattr(known, "take") else [known[i] for i in kept.tolist()]
    return table[cells.values].astype(np.int32), some


def _bins(edges: Sequence[float]) -> list[str]:
    """The names of the bins between edges."""
    shown = ["-inf", *(f"{edge:.6g}" for edge in edges), "inf"]
    return [f"[{low}, {high})" for low, high in pairwise(shown)]

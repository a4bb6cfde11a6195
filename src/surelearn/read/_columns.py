"""Which columns are text, label, weight and features, and which values they may hold."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from surelearn._check import BadInput, Keyword, Message, is_utf8, listing
from surelearn.read._batch import Batch
from surelearn.read._column_table import ColumnTable
from surelearn.read._labels import Labels

if TYPE_CHECKING:
    import pyarrow

#: The kinds of labels: the name in errors, the type in Python and the type in Arrow.
_KINDS: dict[str, tuple[type, str]] = {
    "a text": (str, "string"),
    "true or false": (bool, "bool_"),
    "a whole number": (int, "int64"),
    "a number": (float, "float64"),
}

#: The same kinds as errors name several of them.
MANY = {
    "a text": "texts",
    "true or false": "true and false",
    "a whole number": "whole numbers",
    "a number": "numbers",
}


#: The value of `features` that means all numeric columns, and that of `keep` that means all.
ALL = ("*",)

#: An error suggests at most this many numeric columns by name; for more it suggests ``"*"``.
_LISTED = 10

#: An error shows this many characters of a value.
_SHOWN = 20


@dataclass(frozen=True)
class ColumnSpec:
    """The columns that the user named. None means the column of that name, if there is one.

    With ``label=False`` labels are not read, even if the column is there.
    """

    text: str | None = None
    label: str | Literal[False] | None = None
    weight: str | None = None
    features: tuple[str, ...] | None = None
    label_type: type | None = None  # for csv, where a label has no type
    keep: tuple[str, ...] = ()
    separator: str | None = None  # for csv: what separates the labels of a record
    is_table: bool = False  # whether all other columns are read, as they are stored

    def among(
        self,
        names: Sequence[str],
        where: str,
        *,
        numbers: Iterable[str],
        texts: Mapping[str, Any],
    ) -> Columns:
        """Choose the columns to read.

        Parameters
        ----------
        names : list of str
            Names of all columns.
        where : str
            Name of the file or frame in errors.
        numbers : list of str
            Names of the numeric columns.
        texts : dict
            Names of the text columns, each with one of its values or None.
        """
        given = self.given
        if self.is_table:
            return self._whole_table(names, where)
        text = self.text or (_default("text", names, given) if self.features is None else None)
        label = self.label or _default("label", names, given)
        # Before label=False takes effect: a label that is not read is still no feature.
        taken = {text, label, self.weight, *self.keep}
        free = tuple(name for name in numbers if name not in taken)
        if text is None and self.features in (None, ALL):
            left = {name: value for name, value in texts.items() if name not in taken}
            _refuse_to_guess(where, names, texts={} if self.features else left, numbers=free)
        features = free if self.features in (None, ALL) else self.features
        if self.label is False:
            label = None
        read = () if text is not None else features or ()
        once = [name for name, n in Counter(names).items() if n == 1]
        keep = once if self.keep == ALL else self.keep
        columns = Columns(text, label, self.weight, read, keep=dict.fromkeys(keep))
        there(columns.all_names, names, where)
        chosen = set(columns.all_names)
        return replace(columns, others=tuple(name for name in names if name not in chosen))

    def _whole_table(self, names: Sequence[str], where: str) -> Columns:
        """All columns, each of another name."""
        there(names, names, where)
        all_of_them = self.keep == ALL and self.label is False
        label = None if all_of_them else self.label or _default("label", names, self.given)
        read = [name for name in names if name not in (label, self.weight)]
        columns = Columns(
            None,
            None if self.label is False else label,
            self.weight,
            (),
            keep=dict.fromkeys(read),
            is_table=True,
        )
        there(columns.all_names, names, where)
        return columns

    @property
    def given(self) -> list[str]:
        """The columns that the user named, each for one purpose."""
        if self.text is not None and self.features is not None:
            raise BadInput(
                Message(
                    "{text} or {features} must be named, not both, got {column!r} and features.",
                    text=Keyword("text"),
                    features=Keyword("features"),
                    column=self.text,
                )
            )
        names = [self.text, self.label, self.weight, *(self.features or ())]
        given = [name for name in names if name]
        for name, n in Counter(given).items():
            if n > 1:
                raise BadInput(f"columns must be named for one thing each, got {name!r} for two.")
        return given


def _default(name: str, names: Sequence[str], given: Sequence[str]) -> str | None:
    """The column of this name, if there is one and the user named it for nothing else."""
    return name if name in names and name not in given else None


@dataclass(frozen=True)
class Columns:
    """The columns that are read."""

    text: str | None
    label: str | None
    weight: str | None
    features: tuple[str, ...]
    kind: str = "a text"  # of the labels
    #: Columns of `keep`, which may have another role as well, with their kinds if known.
    keep: Mapping[str, str | None] = field(default_factory=dict)
    others: tuple[str, ...] = ()  # columns that are not read
    is_guessed: bool = False  # whether the kind of the labels was guessed from the first rows
    many: bool = False  # whether a record has a list of labels
    is_table: bool = False  # whether the columns of `keep` are the rows

    def plain(self) -> dict[str, Any]:
        """The columns as keywords of `batches`."""
        given = {"text": self.text, "label": self.label, "weight": self.weight}
        plain: dict[str, Any] = {name: value for name, value in given.items() if value}
        return plain | ({"features": list(self.features)} if self.features else {})

    @property
    def names(self) -> list[str]:
        """Names of the text, label, weight and feature columns."""
        return [name for name in (self.text, self.label, self.weight) if name] + [*self.features]

    @cached_property
    def numbers(self) -> frozenset[str | None]:
        """The names of the columns that must be numbers."""
        return frozenset([self.weight, *self.features])

    @property
    def all_names(self) -> list[str]:
        """The same names, and those of `keep`."""
        return list(dict.fromkeys([*self.names, *self.keep]))

    def schema(self, *, kept: bool = False) -> pyarrow.Schema:
        """The Arrow types of the columns; `kept` adds columns of `keep` whose kind is known."""
        import pyarrow

        fields: dict[str, Any] = {name: pyarrow.float64() for name in self.features}
        for name, kind in self.keep.items() if kept else ():
            if kind is not None:
                fields[name] = getattr(pyarrow, _KINDS[kind][1])()
        if self.text is not None:
            fields[self.text] = pyarrow.string()
        if self.label is not None:
            one = getattr(pyarrow, _KINDS[self.kind][1])()
            fields[self.label] = pyarrow.list_(one) if self.many else one
        if self.weight is not None:
            fields[self.weight] = pyarrow.float64()
        return pyarrow.schema(fields)

    def fault(self, record: Mapping[str, Any]) -> str | None:
        """What is wrong with a record, as a sentence; None if it is valid."""
        if self.text is not None and (found := _not(record, self.text, str)) is not None:
            return f"{self.text!r} must be a text, got {found}."
        if self.label is not None and (wrong := self._wrong_label(record, self.label)):
            return wrong
        if self.weight is not None:
            found = _not_number(record, self.weight, low=0.0)
            if found is not None:
                return f"{self.weight!r} must be a number of at least 0, got {found}."
        for name in self.features:
            if (found := _not_number(record, name)) is not None:
                return f"{name!r} must be a number, got {found}."
        return None

    def _wrong_label(self, record: Mapping[str, Any], name: str) -> str | None:
        type_ = _KINDS[self.kind][0]
        if self.many:
            found = _not_list(record, name, type_)
            kind = f"a list of {MANY[self.kind]}"
        else:
            found = _not(record, name, type_)
            large = type(record.get(name)) is int and self.kind == "a whole number"
            kind = f"{self.kind} that fits int64" if large else self.kind
        return None if found is None else f"{name!r} must be {kind}, got {found}."


def there(wanted: Iterable[str], names: Sequence[str], where: str) -> None:
    """Refuse a column that is missing, or that occurs twice."""
    counts = Counter(names)
    for name in wanted:
        if name not in counts:
            raise BadInput(f"{where} must have a column {name!r}, got {listing(names) or 'none'}.")
        if counts[name] > 1:
            raise BadInput(f"{where} must have one column {name!r}, got {counts[name]}.")


def kind_of(label: Any) -> str | None:
    """The kind of a label; None if the value cannot be a label."""
    for kind, (type_, _) in _KINDS.items():
        if type(label) is type_:  # not isinstance: True is an int
            return kind
    return None


def kind_of_most(values: Iterable[Any]) -> tuple[str | None, bool]:
    """The kind that most values have, and whether most are lists; the first decides a tie.

    Null and what is of no kind do not count. An empty list counts as a list, of no kind.
    """
    known = [value for value in values if isinstance(value, list) or kind_of(value)]
    n_lists = sum(isinstance(value, list) for value in known)
    many = 2 * n_lists > len(known) - (bool(known) and isinstance(known[0], list))
    votes: Counter[str] = Counter()
    for value in known:
        kind = _kind_in(value) if many else kind_of(value)
        if kind == "a whole number" and kind not in votes and "a number" in votes:
            kind = "a number"  # written without a point
        if kind is not None:
            votes[kind] += 1
    return max(votes, key=votes.__getitem__, default=None), many


def _kind_in(values: Any) -> str | None:
    """The kind of all elements of a list; None if they have none, or several."""
    kinds = {kind_of(value) for value in values} if isinstance(values, list) else set()
    if kinds == {"a number", "a whole number"}:
        return "a number"
    return kinds.pop() if len(kinds) == 1 else None


def _not(record: Mapping[str, Any], name: str, type_: type) -> str | None:
    """The value of a column as errors show it; None if it has the type."""
    if type_ is float:
        return _not_number(record, name)
    value: Any = record.get(name)
    fits = type(value) is type_
    if type_ is str:
        fits = fits and is_utf8(value)
    elif type_ is int:
        fits = fits and -(2**63) <= value < 2**63
    return None if fits else shown(value, there=name in record)


def _not_list(record: Mapping[str, Any], name: str, type_: type) -> str | None:
    """The same for a list whose elements must have the type."""
    value: Any = record.get(name)
    fits = isinstance(value, list) and all(_not({name: x}, name, type_) is None for x in value)
    return None if fits else shown(value, there=name in record)


def _not_number(record: Mapping[str, Any], name: str, low: float = -math.inf) -> str | None:
    value: Any = record.get(name)
    number = type(value) in (int, float) and abs(value) < 1e308  # False for NaN and infinity
    return None if number and value >= low else shown(value, there=name in record)


def shown(value: Any, *, there: bool = True) -> str:
    """A value as errors show it, cut to 40 characters."""
    if value is None:
        return "null" if there else "none"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def batch_of(table: Any, columns: Columns, *, n_bad: int = 0, kept: Any = None) -> Batch:
    """The batch of a valid table that has the types of the schema."""
    if columns.is_table:
        X: Any = ColumnTable(kept, len(next(iter(kept.values()), ())))
        kept = None
    elif columns.text is not None:
        X = one_piece(table.column(columns.text))
    else:
        X = np.column_stack([_numbers(table, name) for name in columns.features])
    label = None if columns.label is None else _labels(table.column(columns.label), columns)
    weight = None if columns.weight is None else _numbers(table, columns.weight)
    return Batch(X, label, weight, n_bad, kept or {})


def faulty(table: Any, columns: Columns) -> NDArray[np.bool_]:
    """Which rows of a table are invalid."""
    bad = np.zeros(table.num_rows, dtype=bool)
    # Every comparison is negated, so that NaN counts as bad.
    for name in filter(None, (columns.text, columns.label)):
        column = table.column(name)
        if column.null_count:
            bad |= numbers_of(column.is_null())
        if columns.many and name == columns.label:
            bad |= _faulty_lists(one_piece(column))
        if str(column.type) == "double":
            bad |= ~(np.abs(_numbers(table, name)) < 1e308)
    if columns.weight is not None:
        bad |= ~(_numbers(table, columns.weight) >= 0)
        bad |= ~(_numbers(table, columns.weight) < 1e308)
    for name in columns.features:
        bad |= ~(np.abs(_numbers(table, name)) < 1e308)
    return bad


def _faulty_lists(column: Any) -> NDArray[np.bool_]:
    """Which lists of labels have an element that is null, or no finite number."""
    from pyarrow import compute

    values = column.flatten()
    bad = numbers_of(values.is_null())
    if str(values.type) == "double":
        bad = ~(np.abs(numbers_of(values)) < 1e308)
    rows = numbers_of(compute.list_parent_indices(column))
    found: NDArray[np.bool_] = np.bincount(rows[bad], minlength=len(column)) > 0
    return found


def _numbers(table: Any, name: str) -> NDArray[np.float64]:
    """A numeric column, with NaN for null."""
    return np.array(numbers_of(table.column(name)), dtype=np.float64)


def _labels(column: Any, columns: Columns) -> Labels:
    return (label_lists_of if columns.many else labels_of)(one_piece(column))


def label_lists_of(column: Any) -> Labels:
    """A column of lists of labels; a label that a list repeats counts once."""
    found = labels_of(column.flatten())
    starts = np.append(0, np.cumsum(numbers_of(column.value_lengths())))
    return Labels(found.codes, found.values, starts.astype(np.int64)).in_order()


def labels_of(column: Any) -> Labels:
    """A column of labels, as codes and distinct values."""
    coded = column.dictionary_encode()
    values = coded.dictionary
    if "string" not in str(values.type):
        return Labels(numbers_of(coded.indices), numbers_of(values))
    return Labels(numbers_of(coded.indices), text_values(values.to_pylist()))


def text_values(texts: list[str]) -> NDArray[Any]:
    """Distinct labels as an array."""
    # A NumPy string array drops NUL characters at the end of a text; an object array keeps them.
    padded = any(text.endswith("\0") for text in texts)
    return np.array(texts, dtype=object if padded else str)


def numbers_of(column: Any) -> NDArray[Any]:
    """A column of numbers or flags as an array; `to_numpy` would import pandas, if it is there."""
    from pyarrow import types

    array = one_piece(column)
    if array.null_count or types.is_temporal(array.type) or not types.is_primitive(array.type):
        return np.asarray(array.to_numpy(zero_copy_only=False))
    if types.is_boolean(array.type):
        return np.from_dlpack(array.cast("uint8")).astype(bool)
    return np.from_dlpack(array)


def one_piece(column: Any) -> Any:
    """A column as one array, without chunks."""
    if not hasattr(column, "chunks"):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _refuse_to_guess(
    where: str, names: Sequence[str], *, texts: Mapping[str, Any], numbers: Sequence[str]
) -> None:
    """Refuse to guess which columns to use if the user named none and there is no column 'text'.

    Numeric columns are used without a question only if there are no texts.

    Parameters
    ----------
    where : str
    names : list of str
        Names of all columns.
    texts : dict
        Text columns without another role, each with one of its values or None.
    numbers : list of str
        Numeric columns without another role.
    """
    if not texts and numbers:
        return
    if not texts:
        raise BadInput(
            Message(
                "{where} must have a column 'text', or name another by {text}, got {names}.",
                where=where,
                text=Keyword("text"),
                names=listing(names) or "none",
            )
        )
    by_text = Keyword("text", next(iter(texts)))
    by_numbers = Keyword("features", list(numbers) if len(numbers) <= _LISTED else ["*"])
    remedy = Message("Name the one to learn from, such as {text}", text=by_text)
    if numbers:
        remedy = Message("{first}, or the numeric columns: {them}", first=remedy, them=by_numbers)
    raise BadInput(
        Message(
            "{where} must have a column 'text', got texts in {found}. {remedy}.",
            where=where,
            found=", ".join(_example(name, value) for name, value in texts.items()),
            remedy=remedy,
        )
    )


def _example(name: str, value: Any) -> str:
    if value is None:
        return repr(name)
    shown = repr(value if len(value) <= _SHOWN else f"{value[: _SHOWN - 4]} ...")
    return f"{name!r} (such as {shown})"

"""The pool: texts or sentences from files, each once; must not know who labels them."""

from __future__ import annotations

import ctypes
import gc
import hashlib
import os
from array import array
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from tempfile import TemporaryFile, gettempdir
from threading import Lock
from typing import Any, NamedTuple
from weakref import finalize

import numpy as np

from surelearn import _check, read
from surelearn.columns.cells import Table, text_of
from surelearn.label.records import EMPTY, Records

#: A label that is no label: a missing value, or an empty cell of csv.
_NONE = (None, "")


@dataclass(frozen=True, eq=False)
class Items:
    """The texts or sentences of a pool, each once, in the order of the files.

    Parameters
    ----------
    X : pyarrow.StringArray, TextFile, list of lists of tokens, or Table
        Whatever a model takes.
    start : dict of {int: label}
        Labels that the files had: a text, a list of texts, or the tags of a sentence.
    files : list of str
    n_duplicates, n_empty, n_bad, n_clashes : int
        What was left out: texts met before, texts without a letter, records that could not be
        parsed, labels that contradict an earlier one of the same text.
    text_column, label_column : str or None
        What exports call the columns; None for a label that has no column in the files, and for
        the texts of a table.
    id_column : str, optional
        The column by which exports name a record.
    records : Records, optional
        Where the items are in the files.
    lines : TextFile, optional
        Of a table: its records as texts, to search.
    columns : list of dict, optional
        Of a table: what its columns are, as a store keeps it; by default a model decides.

    Examples
    --------
    >>> from surelearn.label import Items
    >>> items = Items([["a", "dog"]], n_empty=2)
    >>> items.text(0), items.told()
    ('a dog', ['skipped because they are empty: 2'])
    """

    X: Any
    start: dict[int, Any] = field(default_factory=dict)
    files: Sequence[str] = ()
    n_duplicates: int = 0
    n_empty: int = 0
    n_bad: int = 0
    n_clashes: int = 0
    text_column: str | None = "text"
    label_column: str | None = None
    id_column: str | None = None
    records: Records | None = None
    lines: TextFile | None = None
    columns: list[dict[str, Any]] | None = None

    def __len__(self) -> int:
        return len(self.X)

    def text(self, item: int) -> str:
        """An item as one text, to show and to search."""
        if self.lines is not None:
            return self.lines[item]
        found = self.X[item]
        if isinstance(found, list):
            return " ".join(self.words(item))
        return found if isinstance(found, str) else str(found.as_py())

    @property
    def plural(self) -> str:
        """What the items are called."""
        if self.lines is not None:
            return "records"
        is_texts = hasattr(self.X, "to_pylist") or (len(self.X) > 0 and isinstance(self.X[0], str))
        return "texts" if is_texts else "sentences"

    def values(self, item: int) -> dict[str, Any]:
        """The columns of a record of a table, None where one is missing."""
        values: dict[str, Any] = self.X.take(np.array([item])).records()[0]
        return values

    def words(self, item: int) -> list[str]:
        """The words of a sentence."""
        return [token if isinstance(token, str) else token[0] for token in self.X[item]]

    def digest(self, n: int) -> str:
        """A checksum of the first n items, by which a store knows its pool."""
        found = hashlib.sha256()
        for item in range(n):
            is_text = self.lines is not None or hasattr(self.X, "to_pylist")
            content = self.text(item) if is_text else repr(self.X[item])
            found.update(content.encode("utf-8", "surrogatepass") + b"\0")
        return found.hexdigest()

    def give_back(self) -> None:
        """Give memory that is not in use back to the system: a page may be open for days."""
        import pyarrow as pa

        gc.collect()
        pa.default_memory_pool().release_unused()
        with suppress(AttributeError, OSError):  # the C library of Linux keeps it otherwise
            ctypes.CDLL(None).malloc_trim(0)

    def told(self) -> list[str]:
        """What was left out of the pool, one sentence each."""
        counts = {
            "skipped because they occur more than once: {}": self.n_duplicates,
            "skipped because they are empty: {}": self.n_empty,
            "skipped because they could not be parsed: {}": self.n_bad,
            "labels that contradict an earlier one, which was kept: {}": self.n_clashes,
        }
        lacking = [] if self.records is None else self.records.told()
        return [*(text.format(f"{n:,}") for text, n in counts.items() if n), *lacking]


def read_texts(
    source: str | os.PathLike[str] | Sequence[str],
    *,
    label: str | None = None,
    label_separator: str | None = None,
    id: str | None = None,
    **reading: Any,
) -> Items:
    """Read a pool of texts from files.

    Parameters
    ----------
    source : str, path or list of them
        As in `surelearn.read.batches`.
    label : str, optional
        A column of labels that are known already. A missing value or empty text is no label.
    label_separator : str, optional
        What separates the labels of a text, such as ``;``.
    id : str, optional
        A column with another value in each record, by which exports can be joined to the files.
    **reading
        More keywords of `surelearn.read.batches`, such as ``text`` and ``skip_bad``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "pool.csv"
    ...     _ = path.write_text("text,label\\nfine,good\\ndull,\\nfine,bad\\n")
    ...     pool = read_texts(path, label="label")
    >>> pool.X.to_pylist(), pool.start, pool.n_duplicates, pool.n_clashes
    (['fine', 'dull'], {0: 'good'}, 1, 1)
    """
    keep = list(dict.fromkeys(name for name in (label, id) if name is not None))
    plain = partial(_one_or_more, separator=label_separator)
    text = reading.get("text") or "text"
    found = read.batches(source, label=False, keep=keep, **reading)
    records = Records(found, _addresses(source, reading), text_column=text, **reading)
    columns = {"text_column": text, "label_column": label, "id_column": id}
    items = _items(_texts(found, label, id, records), plain, source, **columns)
    items.give_back()  # what was read but is not kept
    return items


def read_sentences(
    source: str | os.PathLike[str] | Sequence[str], *, tagged: bool = False, **reading: Any
) -> Items:
    """Read a pool of sentences from files with one token a line.

    Parameters
    ----------
    source : str, path or list of them
        As in `surelearn.read.sentences`.
    tagged : bool, default False
        Whether the files have tags that are known already.
    **reading
        More keywords of `surelearn.read.sentences`, such as ``columns``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "pool.conll"
    ...     _ = path.write_text("a D\\ndog N\\n")
    ...     pool = read_sentences(path, tagged=True)
    >>> pool.text(0), pool.start
    ('a dog', {0: ['D', 'N']})
    """
    if not tagged:
        reading["label"] = False
    found = read.sentences(source, **reading)
    numbers: dict[Hashable, int] = {}
    records = Records(found)
    once: list[Any] = []
    labels: list[Any] = []
    n_bad = 0
    for block in found.blocks():
        batch = block.parse()
        places, new = _number_items(map(tuple, batch.X), numbers)
        records.add(block.end.file, block.numbers(batch), places)
        once += [batch.X[i] for i in new]
        labels += batch.y or ()
        n_bad += batch.n_bad
    return _items(_ReadItems(once, records, labels, n_bad), list, source)


class _ReadItems(NamedTuple):
    """Items, each once; the place and the label of each record; records that were skipped."""

    X: Any
    records: Records
    labels: Iterable[Any]
    n_bad: int


def read_table(
    source: str | os.PathLike[str] | Sequence[str],
    *,
    label: str | None = None,
    id: str | None = None,
    **reading: Any,
) -> Items:
    """Read a pool of the records of tables; it is held in memory.

    Parameters
    ----------
    source, label, id
        As in `read_texts`. Records are equal if all columns but these two are.
    **reading
        More keywords of `surelearn.read.batches`, such as ``skip_bad``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "pool.csv"
    ...     _ = path.write_text("title,price,label\\nfine,3,good\\ndull,2,\\n")
    ...     pool = read_table(path, label="label")
    >>> pool.values(0), pool.start
    ({'title': 'fine', 'price': '3'}, {0: 'good'})
    """
    given = {"label": False, "keep": ["*"], "table": True, **reading}
    found = read.batches(source, **given)
    aside = [name for name in (label, id) if name is not None]
    shown = partial(line_of, aside=aside)
    records = Records(
        found, _addresses(source, reading | {"table": True}), text_column=None, text_of=shown,
        table=True, **reading,
    )  # fmt: skip
    columns = {"text_column": None, "label_column": label, "id_column": id}
    pool = _table_items(found, records, shown, columns)
    return replace(pool, files=_names(source))


def line_of(values: Mapping[str, Any], aside: Sequence[str] = ()) -> str:
    """The record of a table as one text: a line for each column that is not missing."""
    there = [(name, x) for name, x in values.items() if name not in aside and x is not None]
    return "\n".join(f"{name}: {written(x)}" for name, x in sorted(there))


def written(value: Any) -> str:
    """A value of a table as it is shown."""
    return ", ".join(map(text_of, value)) if isinstance(value, list) else text_of(value)


def _table_items(
    source: read.Source, records: Records, shown: Any, columns: dict[str, Any]
) -> Items:
    """The records of a source, each once, and their labels."""
    numbers: dict[Hashable, int] = {}
    ids: dict[str, int] = {}
    file, once = TextFile(), list[dict[str, Any]]()
    labels: list[Any] = []
    n_bad = 0
    label, id = columns["label_column"], columns["id_column"]
    for block in source.blocks():
        batch = block.parse()
        listed = Table.of(batch.X).records()
        lines = [shown(values) for values in listed]
        places, new = _number_items(map(_key, lines), numbers)
        file.extend(lines[i] for i in new)
        records.add(block.end.file, block.numbers(batch), places)
        if id is not None:
            _check_ids(id, [values.get(id) for values in listed], ids, records)
        labels += [values.get(label) for values in listed] if label is not None else []
        once += [listed[i] for i in new]
        n_bad += batch.n_bad
    if not records.items and not n_bad:
        raise _check.NoRecords(source.name)
    kept = list(dict.fromkeys(name for x in once for name in x))
    for name in (name for name in (label, id) if name is not None and once):
        if name not in kept:
            raise ValueError(f"{source.name} must have a column {name!r}, got {', '.join(kept)}.")
    table = {name: [x.get(name) for x in once] for name in kept if name not in (label, id)}
    found = _ReadItems(Table.of(table), records, labels, n_bad)
    plain = partial(_one_or_more, separator=None)
    items = replace(_items(found, plain, (), **columns), lines=file)
    items.give_back()
    return items


def _texts(source: read.Source, label: str | None, id: str | None, records: Records) -> _ReadItems:
    """The texts of a source, batch by batch, so that few are in memory at a time."""
    numbers: dict[Hashable, int] = {}
    ids: dict[str, int] = {}
    file = TextFile()
    labels: list[Any] = []
    n_bad = 0
    for block in source.blocks():
        batch = block.parse()
        if not hasattr(batch.X, "to_pylist"):
            said = "{where} must have a column of texts, got numbers. Name one by {text}."
            keyword = _check.Keyword("text")
            raise _check.BadInput(_check.Message(said, where=source.name, text=keyword))
        texts = batch.X.to_pylist()
        found, new = _number_items(map(_key, texts), numbers)
        file.extend(texts[i] for i in new)
        records.add(block.end.file, block.numbers(batch), found)
        if id is not None:
            _check_ids(id, batch.kept[id].tolist(), ids, records)
        labels += batch.kept[label].tolist() if label is not None else []
        n_bad += batch.n_bad
    if not records.items and not n_bad:
        raise _check.NoRecords(source.name)
    return _ReadItems(file, records, labels, n_bad)


def _check_ids(name: str, values: list[Any], ids: dict[str, int], records: Records) -> None:
    """Refuse ids that are missing, or that an earlier record has; `ids` has the known ones."""
    for record, value in enumerate(values, start=len(records.items) - len(values)):
        where = "{}, line {}".format(*records.line(record))
        if value is None or value == "" or value != value:
            raise ValueError(f"{where}: {name!r} must be an id, got none.")
        first = ids.setdefault(str(value), record)
        if first != record:
            other = "{}, line {}".format(*records.line(first))
            raise ValueError(
                f"{where}: {name!r} must be another in each record, got {value!r} as in {other}."
            )


def _addresses(source: Any, reading: Mapping[str, Any]) -> list[str]:
    """What `read.batches` takes for each single file of a source."""
    found: list[str] = []
    for given in _names(source):
        names = read.batches(given, label=False, **reading).names
        scheme, mark, _ = given.rpartition("://")
        found += [given] if len(names) == 1 else [f"{scheme}{mark}{name}" for name in names]
    return found


def _items(found: _ReadItems, plain: Any, source: Any, **columns: Any) -> Items:
    places = found.records.items
    start, n_clashes = _known_labels(places, found.labels, plain)
    n_empty = places.count(EMPTY)
    return Items(
        found.X,
        start,
        _names(source),
        n_duplicates=len(places) - n_empty - len(found.X),
        n_empty=n_empty,
        n_bad=found.n_bad,
        n_clashes=n_clashes,
        records=found.records,
        **columns,
    )


def _number_items(
    keys: Iterable[Hashable], numbers: dict[Hashable, int]
) -> tuple[list[int], list[int]]:
    """The item of each record, numbered in order of appearance, and the records of new items."""
    places, new = [], []
    for i, key in enumerate(keys):
        before = len(numbers)
        places.append(numbers.setdefault(key, before) if key else EMPTY)
        if len(numbers) > before:
            new.append(i)
    return places, new


def _key(text: str) -> bytes:
    """What equal texts have in common, in less memory; nothing for empty ones."""
    return hashlib.blake2b(text.encode(), digest_size=16).digest() if text.strip() else b""


def _known_labels(
    places: Iterable[int], labels: Iterable[Any], plain: Any
) -> tuple[dict[int, Any], int]:
    """The first label of each item, and how many labels contradict it."""
    start: dict[int, Any] = {}
    n_clashes = 0
    for place, label in zip(places, labels, strict=False):
        is_none = label != label or (isinstance(label, str | None) and label in _NONE)
        if place != EMPTY and not is_none:
            n_clashes += start.setdefault(place, plain(label)) != plain(label)
    return start, n_clashes


def _one_or_more(label: Any, separator: str | None) -> Any:
    """A label as a text; the labels of a list in order, each once."""
    if separator is not None and isinstance(label, str):
        label = [name.strip() for name in label.split(separator) if name.strip()]
    if isinstance(label, str) or not hasattr(label, "__len__"):
        # A column of whole numbers has fractions where values are missing.
        return str(int(label) if isinstance(label, float) and label.is_integer() else label)
    return sorted(map(str, set(label)))


def _names(source: Any) -> list[str]:
    listed = [source] if isinstance(source, str | os.PathLike) else source
    return [os.fspath(name) for name in listed]


class TextFile:
    """Texts in a temporary file without a name; a model takes it as a column of texts.

    Several threads may read it. It is gone with the process.

    Parameters
    ----------
    texts : iterable of str, optional

    Examples
    --------
    >>> file = TextFile(["a fine film", "a dull film"])
    >>> file[1]
    'a dull film'
    >>> file.take([1, 0]).to_pylist()
    ['a dull film', 'a fine film']
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._file = TemporaryFile(buffering=0)  # noqa: SIM115  (open as long as this object lives)
        finalize(self, self._file.close)
        self._lock = Lock()
        self._ends = array("q", [0])
        self.extend(texts)

    def extend(self, texts: Iterable[str]) -> None:
        """Add texts at the end."""
        encoded = [text.encode() for text in texts]
        left = memoryview(b"".join(encoded))
        try:
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:  # a full disk, for one
            raise OSError(error.errno, error.strerror, gettempdir()) from error
        for text in encoded:
            self._ends.append(self._ends[-1] + len(text))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, i: int) -> str:
        return self._bytes(i).decode()

    def take(self, rows: Any) -> Any:
        """Texts by number, as a pyarrow.LargeStringArray."""
        import pyarrow as pa

        found = [self._bytes(i) for i in np.asarray(rows).tolist()]
        ends = np.cumsum([0, *map(len, found)], dtype=np.int64)
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(found))]
        return pa.Array.from_buffers(pa.large_string(), len(found), buffers)

    def to_pylist(self) -> list[str]:
        """All texts."""
        return list(self)

    def _bytes(self, i: int) -> bytes:
        begin, end = self._ends[i], self._ends[i + 1]
        with self._lock:
            self._file.seek(begin)
            return self._file.read(end - begin)

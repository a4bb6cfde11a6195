"""Where each text of a pool is in its files, with all columns; must not know labels."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from surelearn import read
from surelearn.columns.cells import Table

#: The item of a record that is empty.
EMPTY = -1


class Record(NamedTuple):
    """A record of a file: its line, or its row in a table, and its columns in order."""

    file: str
    line: int
    values: Mapping[str, Any]


class Records:
    """The place of each record of a pool; the columns are read again when they are wanted.

    Parameters
    ----------
    source : Source
    addresses : list of str, optional
        What `surelearn.read.batches` takes for each file of the source; none for sentences, which
        have no other columns.
    text_column : str or None, default "text"
        None: tables, in which `text_of` gives the text of the columns of a record.
    text_of : function, optional
    **reading
        How `surelearn.read.batches` reads the files.
    """

    def __init__(
        self,
        source: read.Source,
        addresses: Sequence[str] = (),
        *,
        text_column: str | None = "text",
        text_of: Callable[[Mapping[str, Any]], str] | None = None,
        **reading: Any,
    ) -> None:
        self.names, self._addresses = source.names, addresses
        self._text_column, self._text_of, self._reading = text_column, text_of, reading
        self._can_restart = source.can_restart
        self._files, self._lines, self.items = array("i"), array("q"), array("q")

    def add(self, file: int, lines: Iterable[int], items: Iterable[int]) -> None:
        """Add records of a file: the line and the item of each."""
        self.items.extend(items)
        self._lines.extend(lines)
        self._files.extend([file] * (len(self._lines) - len(self._files)))

    def line(self, record: int) -> tuple[str, int]:
        """File and line of a record."""
        return self.names[self._files[record]], self._lines[record]

    def told(self) -> list[str]:
        """What exports lack, one sentence."""
        if self._can_restart or not self._addresses:
            return []
        return ["exports have no other columns: standard input cannot be read once more"]

    def of(self, texts: Mapping[int, str]) -> dict[int, list[Record]]:
        """The records of some items, of which the texts are given, in the order of the files."""
        found: dict[int, list[Record]] = {item: [] for item in texts}
        wanted = np.flatnonzero(np.isin(np.asarray(self.items), list(texts)))
        files = np.asarray(self._files)[wanted]
        for file in np.unique(files).tolist():
            places = {self._lines[i]: self.items[i] for i in wanted[files == file].tolist()}
            for record in self._read(file, places):
                item = places[record.line]
                if record.values:
                    is_same = self._text(record.values) == texts[item]
                    _same_text(f"{record.file}, line {record.line}", is_same=is_same)
                found[item].append(record)
        return found

    def _text(self, values: Mapping[str, Any]) -> Any:
        """The text of a record."""
        if self._text_of is not None:
            return self._text_of(values)
        assert self._text_column is not None
        return values[self._text_column]

    def _read(self, file: int, lines: Collection[int]) -> Iterator[Record]:
        """The records at some lines of a file."""
        name, found = self.names[file], 0
        if not self._can_restart or not self._addresses:
            yield from (Record(name, line, {}) for line in sorted(lines))
            return
        try:
            address = self._addresses[file]
            source = read.batches(address, label=False, keep=["*"], **self._reading)
            for line, text, values in _rows(source, lines):
                found += 1
                # A column of whole numbers is not kept as texts.
                own = {} if self._text_column is None else {self._text_column: text}
                yield Record(name, line, {**values, **own})
        except OSError as error:
            raise ValueError(
                f"{name} must be there for its other columns to be exported, got: "
                f"{error.strerror}. Put the file back."
            ) from error
        _same_text(name, is_same=found == len(lines))


def _rows(source: read.Source, lines: Collection[int]) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Line, text and columns of the records at some lines; other blocks are not parsed."""
    wanted, before = np.sort(list(lines)), 0
    for block in source.blocks():
        # A file with carriage returns alone is one line to the reader.
        last = block.end.line if block.end.line > before + 1 else wanted[-1]
        here = wanted[(wanted > before) & (wanted <= last)].tolist()
        before = block.end.line
        if not here:
            continue
        batch = block.parse()
        rows = {line: row for row, line in enumerate(block.numbers(batch))}
        if isinstance(batch.X, read.ColumnTable):
            here = [line for line in here if line in rows]
            table = Table.of(batch.X).take(np.array([rows[line] for line in here], dtype=np.int64))
            yield from ((line, "", x) for line, x in zip(here, table.records(), strict=True))
            continue
        for line in here:
            if line in rows:
                row = rows[line]
                values = {name: _plain(column[row]) for name, column in batch.kept.items()}
                yield line, str(batch.X[row]), values


def _plain(value: Any) -> Any:
    """A value of a column as Python has it."""
    return value.item() if isinstance(value, np.generic) else value


def _same_text(where: str, *, is_same: bool) -> None:
    """Refuse a file that has changed since the pool was read."""
    if not is_same:
        raise ValueError(
            f"{where} must be as it was when the page started, got another text. Put the file "
            "back, or start the page again."
        )

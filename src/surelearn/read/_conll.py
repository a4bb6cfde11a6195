"""CoNLL and CoNLL-U, one token a line in columns: parses a block of lines into sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn._check import BadInput, NoRecords
from surelearn.read._batch import Sentences, Written
from surelearn.read._encoding import not_utf8
from surelearn.read._lines import Lines

#: The name of a column that is not read.
NOT_READ = "_"
_DOCSTART = "-DOCSTART-"

#: Characters at which `str.split` splits and CoNLL does not, such as the narrow space in the French
#: "10 000".
_OTHER_BLANKS = re.compile(
    "[\x0b\x0c\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
)
_FIELD = re.compile(r"[^ \t\r]+")

_IS_BLANK = np.isin(np.arange(256), list(b" \t\r\n"))

_U_NAMES = ("id", "w", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_WORD = re.compile(r"[0-9]+")
_NO_WORD = re.compile(r"[0-9]+[-.][0-9]+")


@dataclass(frozen=True)
class ConllColumns:
    """Which columns are read.

    Parameters
    ----------
    names : tuple of str
        Names of the columns from the first on, "_" for a column that is not read.
    label : str or None
        Name of the label column. None if labels are not read.
    width : int
        Number of columns of each line.
    """

    names: tuple[str, ...]
    label: str | None
    width: int

    @property
    def inputs(self) -> list[int]:
        """Positions of the columns that a tagger sees."""
        return [i for i, name in enumerate(self.names) if name not in (NOT_READ, self.label)]

    @property
    def label_at(self) -> int | None:
        return None if self.label is None else self.names.index(self.label)


class Format(Protocol):
    """A format with one token a line."""

    #: Matches the start of a line with a token.
    has_word: ClassVar[re.Pattern[bytes]]

    def layout(self, lines: Lines) -> ConllColumns:
        """Decide which columns to read, from the first lines of a source."""

    def plain(self, layout: ConllColumns) -> dict[str, Any]:
        """The layout as keywords of `sentences`."""

    def regular(self, data: bytes, text: str, width: int) -> list[range] | None:
        """The lines of each sentence, if one `str.split` of the block gives the right columns.

        None if the lines must be parsed one by one.
        """

    def rows(self, text: str, lines: list[str]) -> list[list[str]]:
        """The columns of each line; an empty list for a line that ends a sentence."""

    def words(self, rows: list[list[str]], stretch: range) -> Sequence[int]:
        """Which lines of a sentence are tokens."""

    def fault(self, row: list[str], layout: ConllColumns) -> str | None:
        """What is wrong with a line of a sentence; None if it is valid."""

    def with_tag(self, line: str, tags: Sequence[str], label: str | None) -> str:
        """A line with the prediction for its token: the tag, and perhaps its confidence."""


@dataclass(frozen=True)
class Conll:
    """Columns separated by blanks or tabs; ``-DOCSTART-`` counts as a blank line.

    Parameters
    ----------
    columns : tuple of str or None
        Names of the first columns. None means w, pos, c2, c3, ...
    label : str, None or False
        None means the last column that is read.
    """

    has_word: ClassVar[re.Pattern[bytes]] = re.compile(
        rb"(?>\A\xef\xbb\xbf|^)[ \t\r]*+(?!-DOCSTART-(?:[ \t\r\n]|\Z))[^ \t\r\n]", re.MULTILINE
    )

    columns: tuple[str, ...] | None
    label: str | Literal[False] | None

    def layout(self, lines: Lines) -> ConllColumns:
        # The byte order mark of the file is gone already. The newline keeps the pattern from taking
        # a second one, which is part of a token, for the mark of the file.
        data = b"\n" + lines.data
        found = self.has_word.search(data)
        if found is None:
            raise NoRecords(lines.name, what="sentence")
        text = data[found.start() :].partition(b"\n")[0].decode("utf-8", "surrogateescape")
        width = len(self.rows(text, [text])[0])
        names = default_names(width) if self.columns is None else self.columns
        number = lines.first - 1 + data.count(b"\n", 0, found.start())
        where = f"{lines.name}, line {number}"
        if width < len(names):
            listed = _check.listing(names)
            raise BadInput(f"{where}: expected the {len(names)} columns {listed}, got {width}.")
        read = [name for name in names if name != NOT_READ]
        label = None if self.label is False else self.label or read[-1]
        if label is not None and label not in read:
            raise BadInput(f"label must be one of {_check.listing(read)}, got {label!r}.")
        layout = ConllColumns(names, label, width)
        if not layout.inputs:
            raise BadInput(f"{where}: expected a column besides the label, got {width} in all.")
        return layout

    def plain(self, layout: ConllColumns) -> dict[str, Any]:
        named = {"columns": list(layout.names)}
        return named if layout.label is None else {**named, "label": layout.label}

    def regular(self, data: bytes, text: str, width: int) -> list[range] | None:
        if _DOCSTART in text or _OTHER_BLANKS.search(text):
            return None
        widths = _widths(data)
        if not ((widths == 0) | (widths == width)).all():
            return None
        return list(_stretches(np.flatnonzero(widths == 0).tolist(), len(widths)))

    def rows(self, text: str, lines: list[str]) -> list[list[str]]:
        plain = _OTHER_BLANKS.search(text) is None
        rows = list(map(str.split if plain else _FIELD.findall, lines))
        if _DOCSTART in text:
            rows = [[] if row and row[0] == _DOCSTART else row for row in rows]
        return rows

    def words(self, rows: list[list[str]], stretch: range) -> Sequence[int]:
        return stretch

    def fault(self, row: list[str], layout: ConllColumns) -> str | None:
        return _wrong_width(row, layout.width)

    def with_tag(self, line: str, tags: Sequence[str], label: str | None) -> str:
        text = line.rstrip(" \t\r")
        between = "\t" if "\t" in text else " "
        return between.join([text, *tags]) + ("\r" if line.endswith("\r") else "")


@dataclass(frozen=True)
class ConllU:
    """The ten tab-separated columns of Universal Dependencies; tags go into the label column.

    Parameters
    ----------
    columns : tuple of str or None
        Columns to read. None means w, which is another name for form.
    label : str, None or False
        None means upos.
    """

    has_word: ClassVar[re.Pattern[bytes]] = re.compile(
        rb"(?>\A\xef\xbb\xbf|^)(?!#)[^\r\n]*[^ \t\r\n]", re.MULTILINE
    )

    columns: tuple[str, ...] | None
    label: str | Literal[False] | None

    def layout(self, lines: Lines) -> ConllColumns:
        label = None if self.label is False else _u_name("label", self.label or "upos")
        chosen = {_u_name("columns", name) for name in self.columns or ("w",)}
        names = tuple(n if n in chosen or n == label else NOT_READ for n in _U_NAMES)
        layout = ConllColumns(names, label, len(names))
        if not layout.inputs:
            raise BadInput(f"columns must have one besides the label, got {label!r} alone.")
        return layout

    def plain(self, layout: ConllColumns) -> dict[str, Any]:
        named = {"columns": [name for name in layout.names if name != NOT_READ]}
        return named if layout.label is None else {**named, "label": layout.label}

    def regular(self, data: bytes, text: str, width: int) -> list[range] | None:
        return None

    def rows(self, text: str, lines: list[str]) -> list[list[str]]:
        return [line.rstrip("\r").split("\t") if line.strip(" \t\r") else [] for line in lines]

    def words(self, rows: list[list[str]], stretch: range) -> Sequence[int]:
        return [i for i in stretch if _WORD.fullmatch(rows[i][0])]

    def fault(self, row: list[str], layout: ConllColumns) -> str | None:
        if row[0].startswith("#"):  # a comment
            return None
        wrong = _wrong_width(row, layout.width)
        if wrong is not None or _NO_WORD.fullmatch(row[0]):
            return wrong
        if not _WORD.fullmatch(row[0]):
            return _check.unlike("a number as id", row[0].encode("utf-8", "replace"))
        empty = [name for name, field in zip(layout.names, row, strict=True) if not field]
        lacking = [name for name in empty if name != NOT_READ]
        return f"expected {lacking[0]!r}, got nothing." if lacking else None

    def with_tag(self, line: str, tags: Sequence[str], label: str | None) -> str:
        row = line.rstrip("\r").split("\t")
        row[_U_NAMES.index(label if label in _U_NAMES else "upos")] = tags[0]
        for sure in tags[1:]:
            row[-1] = ("" if row[-1] == "_" else f"{row[-1]}|") + f"Confidence={sure}"
        return "\t".join(row) + ("\r" if line.endswith("\r") else "")


FORMATS: dict[str, type[Conll | ConllU]] = {"conll": Conll, "conllu": ConllU}


class Reader:
    """Parses blocks of whole sentences.

    Parameters
    ----------
    format : Format
    head : Lines
        The first lines of the source; they fix the number of columns.
    encoding : str or None
        Encoding of the files; None means UTF-8.
    skip_bad : bool
        Whether to skip and count sentences with a bad line.
    """

    def __init__(
        self, format: Format, head: Lines, *, encoding: str | None, skip_bad: bool
    ) -> None:
        self._format = format
        self._encoding = encoding
        self._skip_bad = skip_bad
        self._layout = format.layout(head)
        self._inputs = itemgetter(*self._layout.inputs)

    @property
    def columns(self) -> Reader:
        """The object that names the columns, as with readers of other formats."""
        return self

    others: tuple[str, ...] = ()  # columns without names cannot be listed

    def plain(self) -> dict[str, Any]:
        """Which columns are read, as keywords of `sentences`."""
        return self._format.plain(self._layout)

    def __call__(self, data: bytes, name: str, first: int) -> Sentences:
        text, is_sound = _decode(data)
        regular = self._format.regular(data, text, self._layout.width) if is_sound else None
        if regular is not None:
            return self._at_once(text, regular)
        lines = text.split("\n")
        rows = self._format.rows(text, lines)
        good: list[Sequence[int]] = []
        bad: list[range] = []
        for stretch in _stretches([i for i, row in enumerate(rows) if not row], len(rows)):
            wrong = self._fault(rows, stretch, None if is_sound else lines)
            if wrong is None:
                good.append(self._format.words(rows, stretch))
            elif self._skip_bad:
                bad.append(stretch)
            else:
                where = f"{name}, line {first + wrong[0]}"
                raise _check.bad_record(where, wrong[1], "sentences", n_before=stretch.start)
        good = [words for words in good if words]
        label = self._layout.label_at
        return Sentences(
            [[self._inputs(rows[i]) for i in words] for words in good],
            tags=None if label is None else [[rows[i][label] for i in words] for words in good],
            n_bad=len(bad),
            written=Written(text, good, bad, self._with_tag),
        )

    def _at_once(self, text: str, stretches: list[range]) -> Sentences:
        """Parse a block with one split.

        This makes no list a line: so many lists would keep the garbage collector busy.
        """
        fields, width, label = text.split(), self._layout.width, self._layout.label_at
        columns = [fields[i::width] for i in self._layout.inputs]
        words: list[Any] = columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
        ends = list(accumulate(map(len, stretches), initial=0))
        tags = None if label is None else _cut(fields[label::width], ends)
        written = Written(text, stretches, [], self._with_tag)
        return Sentences(_cut(words, ends), tags=tags, written=written)

    def _fault(
        self, rows: list[list[str]], stretch: range, lines: list[str] | None
    ) -> tuple[int, str] | None:
        """The first bad line of a sentence, and why; `lines` is given if some may not be text."""
        for i in stretch:
            wrong = None if lines is None else _no_text(lines[i], self._encoding)
            wrong = wrong or self._format.fault(rows[i], self._layout)
            if wrong is not None:
                return i, wrong
        return None

    def _with_tag(self, line: str, tags: Sequence[str], label: str | None) -> str:
        return self._format.with_tag(line, tags, label or self._layout.label)


def default_names(width: int) -> tuple[str, ...]:
    """Default names of the columns."""
    return ("w", "pos", *(f"c{i}" for i in range(2, width)))[:width]


def _stretches(ends: Iterable[int], n: int) -> Iterator[range]:
    """The ranges of lines between `ends`, which are lines that end a sentence."""
    begin = 0
    for end in (*ends, n):
        if end > begin:
            yield range(begin, end)
        begin = end + 1


def _widths(data: bytes) -> NDArray[np.int64]:
    """The number of fields of each line."""
    letters = np.frombuffer(data, np.uint8)
    is_blank = _IS_BLANK[letters]
    # A field begins at a letter after a blank; then count the beginnings between newlines.
    begins = np.flatnonzero(~is_blank & np.concatenate([[True], is_blank[:-1]]))
    ends = np.flatnonzero(letters == ord("\n"))
    return np.diff(np.searchsorted(begins, np.concatenate([[0], ends, [len(letters)]])))


def _cut(words: list[Any], ends: list[int]) -> list[list[Any]]:
    return [words[begin:end] for begin, end in pairwise(ends)]


def _wrong_width(row: list[str], width: int) -> str | None:
    n = len(row)
    return None if n == width else f"expected {width} column{'s'[: width - 1]}, got {n}."


def _u_name(keyword: str, given: str) -> str:
    """The name of a CoNLL-U column, in lower case, with w for form."""
    name = "w" if given.lower() == "form" else given.lower()
    return _check.choice(keyword, name, _U_NAMES)


def _decode(data: bytes) -> tuple[str, bool]:
    """The text, and whether all of it is valid; invalid bytes become lone surrogates."""
    try:
        text = data.decode()
        return text, "\0" not in text
    except UnicodeDecodeError:
        return data.decode("utf-8", "surrogateescape"), False


def _no_text(line: str, encoding: str | None) -> str | None:
    """Why a line is not text; None if it is."""
    data = line.encode("utf-8", "surrogateescape")
    if not _check.is_utf8(data):
        return not_utf8(data, encoding)
    place = data.find(0)
    return None if place < 0 else f"expected text, got a null byte at position {place}."

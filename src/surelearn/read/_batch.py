"""What readers give: some records at a time, and where the next ones begin."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack

from surelearn._check import NoRecords
from surelearn.read._kept import Kept, joined_kept


class Labels(NamedTuple):
    """Labels as places in a list of those that occur, so that each is looked at once.

    Parameters
    ----------
    codes : ndarray of int32 of shape (n_rows,)
    values : ndarray
        The labels that occur, in the order they are met.
    """

    codes: NDArray[np.int32]
    values: NDArray[Any]

    def take(self, rows: Any) -> Labels:
        """The labels of some rows."""
        return Labels(self.codes[rows], self.values)


class Place(NamedTuple):
    """A place between two records of a source, so that reading can go on from it.

    Parameters
    ----------
    file : int
        Number of the file.
    at : int
        Bytes (line formats, after decompression) or rows (tables) of this file that are before it.
    line : int
        Lines or rows of this file that are before it.
    mark : int
        Tells the bytes before it from those of another file: how many were looked at, times 2**32,
        and their CRC-32. 0: nothing to tell by.
    """

    file: int = 0
    at: int = 0
    line: int = 0
    mark: int = 0


@dataclass(frozen=True, eq=False)
class Batch:
    """Some records in their order.

    Parameters
    ----------
    X : pyarrow.StringArray, scipy.sparse.csr_array or ndarray
        Texts; the rows of svmlight and Vowpal Wabbit text; columns of numbers.
    labels : Labels or None
        None: the records have none.
    weight : ndarray of float64 of shape (n_rows,) or None
    n_bad : int
        Records that were left out because they could not be read.
    kept : dict of {str: ndarray}
        The columns that were asked to be carried along, in their order.
    """

    X: Any
    labels: Labels | None = None
    weight: NDArray[np.float64] | None = None
    n_bad: int = 0
    kept: Kept = field(default_factory=dict)

    def __len__(self) -> int:
        return int(self.X.shape[0] if hasattr(self.X, "shape") else len(self.X))

    def __getitem__(self, rows: Any) -> Batch:
        """Some of the records."""
        labels = None if self.labels is None else self.labels.take(rows)
        weight = None if self.weight is None else self.weight[rows]
        kept = {name: values[rows] for name, values in self.kept.items()}
        return Batch(self.X[rows], labels, weight, self.n_bad, kept)

    @property
    def is_labelled(self) -> bool:
        """Whether labels were read."""
        return self.labels is not None

    @cached_property
    def y(self) -> NDArray[Any] | None:
        """The label of each record."""
        return None if self.labels is None else self.labels.values[self.labels.codes]


class Written(NamedTuple):
    """The text that sentences were read from.

    Parameters
    ----------
    text : str
    words : list of sequences of int
        The line of each word of each sentence.
    left_out : list of range
        Lines of sentences that could not be read.
    with_tag : function
        Gives a line with what was predicted for its word, in the column of a name if the format
        has a place for it.
    """

    text: str
    words: Sequence[Sequence[int]]
    left_out: Sequence[range]
    with_tag: Callable[[str, Sequence[str], str | None], str]


@dataclass(frozen=True, eq=False)
class Sentences(Batch):
    """Some sentences in their order.

    Parameters
    ----------
    X : list of lists of str, or of tuples of str
        Of each sentence its words, or the columns of each of its words.
    tags : list of lists of str or None
        The labels of the words, also called `y`. None: they are not read.
    n_bad : int
        Sentences that were left out because they could not be read.
    written : Written or None
        What they were read from. None: this is a part, or was joined.
    """

    tags: list[list[str]] | None = None
    written: Written | None = None

    def __getitem__(self, rows: Any) -> Sentences:
        """Some of the sentences, by a slice."""
        tags = None if self.tags is None else self.tags[rows]
        return Sentences(self.X[rows], tags=tags, n_bad=self.n_bad)

    @property
    def is_labelled(self) -> bool:
        return self.tags is not None

    @property
    def y(self) -> list[list[str]] | None:  # type: ignore[override]
        """The labels of the words of each sentence."""
        return self.tags

    def tagged(self, *columns: Iterable[Iterable[str]], label: str | None = None) -> str:
        """The text that was read, with something said of each word: its tag, and how sure it is.

        CoNLL gets columns of its own for that. CoNLL-U has the tag in the column `label`, by
        default the one of labels that was read, else upos, and how sure it is in the last one.
        Sentences that could not be read are left out.
        """
        assert self.written is not None
        text, words, left_out, with_tag = self.written
        lines: list[str | None] = [*text.split("\n")]
        for at, *said in zip(words, *columns, strict=True):
            for i, *of_word in zip(at, *said, strict=True):
                lines[i] = with_tag(lines[i] or "", of_word, label)
        for stretch in left_out:
            lines[stretch.start : stretch.stop] = [None] * len(stretch)
        return "\n".join(line for line in lines if line is not None)


class Block(Protocol):
    """Records that have been read but not yet looked into."""

    @property
    def end(self) -> Place:
        """Where the next block begins."""

    @property
    def n_bytes(self) -> int:
        """Bytes of the source that went into it, as they lie on the disk."""

    def parse(self) -> Batch:
        """Look into them. May be called in any thread."""

    def before(self, n: int) -> Block:
        """The first n lines, or rows of a table."""


class Part(Protocol):
    """A file or a table of a source; `size` is None where nobody knows."""

    @property
    def name(self) -> str: ...
    @property
    def size(self) -> int | None: ...
    @property
    def can_restart(self) -> bool: ...
    @property
    def is_named(self) -> bool: ...
    def cancel(self) -> None: ...


class Named(Protocol):
    """Columns that are read: as keywords of who reads them, and the others that are there."""

    @property
    def others(self) -> Sequence[str]: ...
    def plain(self) -> dict[str, Any]: ...


class Source(ABC):
    """Records that can be gone through, again and again but for standard input and pipes.

    Attributes
    ----------
    name : str
        Of the files, as errors and files name them.
    n_bytes : int or None
        Bytes of all of it on the disk; None: nobody knows.
    can_restart : bool
        Whether it can be gone through more than once.
    is_named : bool
        Whether its names tell it from others; all frames are called the same.
    """

    _columns: Named | None = None

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = list(parts)
        #: How files are read besides their columns, by the keywords of `batches`.
        self.settings: dict[str, Any] = {}

    @property
    def names(self) -> list[str]:
        return [part.name for part in self._parts]

    @property
    def name(self) -> str:
        first, *others = self.names
        return f"{first} and {len(others)} more" if others else first

    @property
    def n_bytes(self) -> int | None:
        sizes = [part.size for part in self._parts]
        return None if None in sizes else sum(filter(None, sizes))

    @property
    def can_restart(self) -> bool:
        return all(part.can_restart for part in self._parts)

    @property
    def is_named(self) -> bool:
        return all(part.is_named for part in self._parts)

    @property
    def columns(self) -> dict[str, Any]:
        """What is read and how, by the keywords of `batches`; known after the first block."""
        read = self._columns
        return {} if read is None else {**read.plain(), **self.settings}

    @property
    def ignored(self) -> list[str]:
        """Names of columns that are there and not read; known after the first block."""
        return [] if self._columns is None else list(self._columns.others)

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the columns of numbers; None where they have none, and of texts."""
        return self.columns.get("features")

    def end_of(self, file: int) -> int | None:
        """The largest `at` of a place in a file, where that is quick to tell."""
        return None

    @abstractmethod
    def blocks(self, start: Place | None = None) -> Iterator[Block]:
        """What there is to read, from a place on."""

    def cancel(self) -> None:
        """End the wait of another thread for the next block of standard input or a pipe."""
        for part in self._parts:
            part.cancel()

    def __iter__(self) -> Iterator[Batch]:
        for block in self.blocks():
            yield block.parse()

    def first(self, n: int) -> Batch:
        """The first n records, or all if there are fewer, as one batch."""
        parts: list[Batch] = []
        for batch in self:
            parts.append(batch)
            if sum(map(len, parts)) >= n:
                break
        if not parts:
            raise NoRecords(self.name)
        return joined(parts)[:n]

    def some_blocks(self) -> Iterator[Block]:
        """All blocks, or none where there is nothing to read."""
        with contextlib.suppress(NoRecords):
            yield from self.blocks()


def joined(parts: Sequence[Batch]) -> Batch:
    """The records of several batches as one."""
    filled = [part for part in parts if len(part)] or parts[:1]
    y = [part.y for part in filled if part.y is not None]
    weights = [np.ones(len(part)) if part.weight is None else part.weight for part in filled]
    weighted = any(part.weight is not None for part in filled)
    return Batch(
        _stacked([part.X for part in filled]),
        _coded(np.concatenate(y)) if y else None,
        np.concatenate(weights) if weighted else None,
        sum(part.n_bad for part in parts),
        joined_kept([part.kept for part in filled]),
    )


def _coded(y: NDArray[Any]) -> Labels:
    values, codes = np.unique(y, return_inverse=True)
    return Labels(codes.astype(np.int32), values)


def _stacked(parts: Sequence[Any]) -> Any:
    if issparse(parts[0]):
        return vstack(parts, format="csr")
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    import pyarrow

    return pyarrow.concat_arrays(parts)

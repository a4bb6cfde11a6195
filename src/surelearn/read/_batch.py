"""What readers return: batches of records, and the place where the next batch begins."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack

from surelearn import _check
from surelearn.read._column_table import ColumnTable, joined_tables
from surelearn.read._labels import Kept, Labels, joined_kept, spans_of

if TYPE_CHECKING:
    from surelearn.read._files import Stamp


class Place(NamedTuple):
    """A place between two records of a source, from which reading can continue.

    Parameters
    ----------
    file : int
        Number of the file.
    at : int
        Number of bytes (line formats, after decompression) or rows (tables) of this file before
        the place.
    line : int
        Number of lines or rows of this file before the place.
    mark : int
        Fingerprint of the bytes before the place, to notice that the file has changed: the number
        of bytes hashed times 2**32, plus their CRC-32. 0 if there is no fingerprint.

    Examples
    --------
    >>> Place(file=1)  # where the second file begins
    Place(file=1, at=0, line=0, mark=0)
    """

    file: int = 0
    at: int = 0
    line: int = 0
    mark: int = 0


@dataclass(frozen=True, eq=False)
class Batch:
    """A batch of records, in order.

    Parameters
    ----------
    X : pyarrow.StringArray, scipy.sparse.csr_array, ndarray or ColumnTable
        Texts; or sparse rows of svmlight and Vowpal Wabbit text; or numeric columns; or all columns
        but label and weight.
    labels : Labels or None
        None if the records have no labels.
    weight : ndarray of float64 of shape (n_rows,) or None
    n_bad : int
        Number of records skipped because they could not be parsed.
    kept : dict of {str: ndarray}
        The columns named by `keep`, in that order.

    Examples
    --------
    >>> labels = Labels(np.array([0, 1, 0]), np.array(["spam", "ham"]))
    >>> batch = Batch(np.eye(3), labels)
    >>> len(batch), batch[1:].y.tolist()
    (3, ['ham', 'spam'])
    """

    X: Any
    labels: Labels | None = None
    weight: NDArray[np.float64] | None = None
    n_bad: int = 0
    kept: Kept = field(default_factory=dict)

    def __len__(self) -> int:
        return int(self.X.shape[0] if hasattr(self.X, "shape") else len(self.X))

    def __getitem__(self, rows: Any) -> Batch:
        """The batch of these records."""
        labels = None if self.labels is None else self.labels.take(rows)
        weight = None if self.weight is None else self.weight[rows]
        kept = {name: values[rows] for name, values in self.kept.items()}
        return Batch(_take_rows(self.X, rows), labels, weight, self.n_bad, kept)

    @property
    def is_labelled(self) -> bool:
        """Whether labels were read."""
        return self.labels is not None

    def no_labels(self, where: str) -> _check.BadInput:
        """The error for a source without labels."""
        return _check.no_labels(where)

    @cached_property
    def y(self) -> Any:
        """The label of each record; a list of tuples if records have many labels."""
        if self.labels is None:
            return None
        if self.labels.starts is not None:
            return self.labels.lists()
        return self.labels.values[self.labels.codes]


class Written(NamedTuple):
    """The text that sentences were parsed from.

    Parameters
    ----------
    text : str
    words : list of sequences of int
        The line number of each token of each sentence.
    left_out : list of range
        Lines of sentences that could not be parsed.
    with_tag : function
        Returns a line with the prediction for its token added, in the named column if the format
        has it.
    """

    text: str
    words: Sequence[Sequence[int]]
    left_out: Sequence[range]
    with_tag: Callable[[str, Sequence[str], str | None], str]


@dataclass(frozen=True, eq=False)
class Sentences(Batch):
    """A batch of sentences, in order.

    Parameters
    ----------
    X : list of lists of str, or of tuples of str
        The tokens of each sentence, or the columns of each token.
    tags : list of lists of str or None
        The tags of the tokens; `y` is another name. None if tags were not read.
    n_bad : int
        Number of sentences skipped because they could not be parsed.
    written : Written or None
        The text they were parsed from. None for a part of a batch or for joined batches.

    Examples
    --------
    >>> batch = Sentences([["We", "agree"], ["No"]], tags=[["PRON", "VERB"], ["INTJ"]])
    >>> len(batch), batch[1:].X, batch[1:].y
    (2, [['No']], [['INTJ']])
    """

    tags: list[list[str]] | None = None
    written: Written | None = None

    def __getitem__(self, rows: Any) -> Sentences:
        """The batch of these sentences."""
        tags = _take_rows(self.tags, rows)
        return Sentences(_take_rows(self.X, rows), tags=tags, n_bad=self.n_bad)

    @property
    def is_labelled(self) -> bool:
        """Whether tags were read."""
        return self.tags is not None

    @property
    def y(self) -> list[list[str]] | None:
        """The tags of each sentence."""
        return self.tags

    def tagged(self, *columns: Iterable[Iterable[str]], label: str | None = None) -> str:
        """The original text with the prediction for each token: its tag, and its confidence.

        CoNLL gets a new column for each. CoNLL-U gets the tag in the column `label` and the
        confidence in the last column. `label` defaults to the label column that was read, else
        upos. Sentences that could not be parsed are skipped.
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


@dataclass(frozen=True, eq=False)
class Groups(Batch):
    """A batch of groups of candidates, in order; its length is the number of groups.

    Parameters
    ----------
    X : scipy.sparse.csr_array of shape (n_candidates, n_features)
    bounds : ndarray of int64 of shape (n_groups + 1,)
        The candidates of group g are the rows ``bounds[g]`` to ``bounds[g + 1]``.
    relevance : ndarray of float64 of shape (n_candidates,) or None
        Larger is better. None if the candidates have costs or no labels.
    cost : ndarray of float64 of shape (n_candidates,) or None
        Smaller is better.
    ids : ndarray of int64 of shape (n_groups,) or None
        The ``qid`` of each group. None if the format has none.
    names : ndarray of int64 of shape (n_candidates,) or None
        The label of each candidate, -1 for a missing one. None if the format has none.
    n_bad : int
        Number of groups skipped because they could not be parsed.

    Examples
    --------
    >>> batch = Groups(np.eye(3), bounds=np.array([0, 2, 3]), relevance=np.array([1.0, 0.0, 2.0]))
    >>> len(batch), batch.sizes.tolist(), batch[1:].relevance
    (2, [2, 1], array([2.]))
    """

    bounds: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    relevance: NDArray[np.float64] | None = None
    cost: NDArray[np.float64] | None = None
    ids: NDArray[np.int64] | None = None
    names: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def __getitem__(self, groups: Any) -> Groups:
        """The batch of these groups."""
        bounds, rows = spans_of(self.bounds, groups)
        of_rows: dict[str, Any] = {
            name: _take_rows(getattr(self, name), rows) for name in _OF_CANDIDATES
        }
        ids = _take_rows(self.ids, groups)
        return Groups(self.X[rows], n_bad=self.n_bad, bounds=bounds, ids=ids, **of_rows)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of candidates of each group, as `group` of `SureRanker.fit`."""
        return np.diff(self.bounds)

    @property
    def is_labelled(self) -> bool:
        """Whether relevances or costs were read."""
        return self.relevance is not None or self.cost is not None

    def no_labels(self, where: str) -> _check.BadInput:
        """The error for a source without relevances and costs."""
        return _check.BadInput(
            f"{where} must have a relevance or a cost for each candidate, got none. A line of vw "
            "begins with label:cost, such as 2:0.5, a line of svmlight with the relevance."
        )

    @cached_property
    def y(self) -> NDArray[np.float64] | None:
        """The relevance of each candidate."""
        return self.relevance


#: What a batch of groups has for each candidate.
_OF_CANDIDATES = ("relevance", "cost", "names")


def _take_rows(values: Any, places: Any) -> Any:
    """Some of the values for each record, by numbers or a slice; None of None."""
    if values is None or isinstance(places, slice) or hasattr(values, "shape"):
        return None if values is None else values[places]
    return values.take(places) if hasattr(values, "take") else [values[i] for i in places]


class Block(Protocol):
    """Records that have been read but not parsed."""

    @property
    def end(self) -> Place:
        """Where the next block begins."""

    @property
    def n_bytes(self) -> int:
        """Number of bytes read from the disk for this block, before decompression."""

    def parse(self) -> Batch:
        """Parse the records. Safe to call in any thread."""

    def before(self, n: int) -> Block:
        """A block of the first n lines, or of the first n rows of a table."""

    def numbers(self, batch: Batch) -> Sequence[int]:
        """The line, or the row of a table, of each record that `parse` has returned."""


class Part(Protocol):
    """A file or a table of a source; `size` and `stamp` are None if unknown."""

    @property
    def name(self) -> str: ...
    @property
    def size(self) -> int | None: ...
    @property
    def stamp(self) -> Stamp | None: ...
    @property
    def can_restart(self) -> bool: ...
    @property
    def is_named(self) -> bool: ...
    def cancel(self) -> None: ...


class Named(Protocol):
    """The columns that are read, as keywords of the reader, and the names of the other columns."""

    @property
    def others(self) -> Sequence[str]: ...
    def plain(self) -> dict[str, Any]: ...


class Source(ABC):
    """Records to iterate over; repeatedly, except for standard input and pipes.

    Attributes
    ----------
    name : str
        Name of the files, as in errors.
    n_bytes : int or None
        Total size on the disk; None if unknown.
    can_restart : bool
        Whether the source can be read more than once.
    is_named : bool
        Whether the name identifies the source; all frames share one name.

    Examples
    --------
    >>> import pandas
    >>> from surelearn.read import batches
    >>> source = batches(pandas.DataFrame({"text": ["good", "bad"], "label": [1, 0]}))
    >>> source.name, source.can_restart, source.first(1).X.to_pylist()
    ('frame', True, ['good'])
    """

    #: Whether files may get longer between two passes; those of tables have their size inside.
    can_grow: bool = False

    #: The function of `surelearn.read` that makes such sources.
    made_by: ClassVar[str] = "batches"

    _columns: Named | None = None

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = list(parts)
        #: Other settings of the reader, as keywords of `batches`.
        self.settings: dict[str, Any] = {}
        #: Whether records may have lists of labels; those of csv need a separator.
        self.may_list = True

    @property
    def names(self) -> list[str]:
        """Name of each file."""
        return [part.name for part in self.parts]

    @property
    def name(self) -> str:
        first, *others = self.names
        return f"{first} and {len(others)} more" if others else first

    @property
    def n_bytes(self) -> int | None:
        sizes = [part.size for part in self.parts]
        return None if None in sizes else sum(filter(None, sizes))

    @property
    def can_restart(self) -> bool:
        return all(part.can_restart for part in self.parts)

    @property
    def is_named(self) -> bool:
        return all(part.is_named for part in self.parts)

    @property
    def stamps(self) -> list[Stamp | None]:
        """The stamp of each file as it is now; None for what is no file."""
        return [part.stamp for part in self.parts]

    @property
    def columns(self) -> dict[str, Any]:
        """The columns and settings, as keywords of `batches`; known after the first block."""
        read = self._columns
        return {} if read is None else {**read.plain(), **self.settings}

    @property
    def ignored(self) -> list[str]:
        """Names of the columns that are not read; known after the first block."""
        return [] if self._columns is None else list(self._columns.others)

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the numeric columns; None for texts and for columns without names."""
        return self.columns.get("features")

    def end_of(self, file: int) -> int | None:
        """The largest `at` of a place in this file; None if that takes a pass over the file."""
        return None

    @abstractmethod
    def blocks(
        self, start: Place | None = None, ends: Mapping[int, int] | None = None
    ) -> Iterator[Block]:
        """The blocks from a place on.

        `ends` has the `at` at which some files end, by their numbers: bytes that have been added
        since are not read. It is for sources that can grow.
        """

    def cancel(self) -> None:
        """Wake a thread that waits for the next block of standard input or a pipe."""
        for part in self.parts:
            part.cancel()

    def __iter__(self) -> Iterator[Batch]:
        for block in self.blocks():
            yield block.parse()

    def first(self, n: int) -> Batch:
        """The first n records as one batch, or all records if there are fewer."""
        parts: list[Batch] = []
        for batch in self:
            parts.append(batch)
            if sum(map(len, parts)) >= n:
                break
        if not parts:
            raise _check.NoRecords(self.name)
        return self.joined(parts)[:n]

    def joined(self, parts: Sequence[Batch]) -> Batch:
        """Several batches of this source as one."""
        return joined(parts)

    def some_blocks(self) -> Iterator[Block]:
        """All blocks; none, and no error, if the source is empty."""
        with contextlib.suppress(_check.NoRecords):
            yield from self.blocks()


def joined(parts: Sequence[Batch]) -> Batch:
    """Several batches as one."""
    filled = [part for part in parts if len(part)] or parts[:1]
    labels = [part.labels for part in filled if part.labels is not None]
    weights = [np.ones(len(part)) if part.weight is None else part.weight for part in filled]
    weighted = any(part.weight is not None for part in filled)
    return Batch(
        _stack([part.X for part in filled]),
        _join_labels(labels) if labels else None,
        np.concatenate(weights) if weighted else None,
        sum(part.n_bad for part in parts),
        joined_kept([part.kept for part in filled]),
    )


def joined_groups(parts: Sequence[Groups]) -> Groups:
    """Several batches of groups as one."""
    filled = [part for part in parts if len(part)] or parts[:1]

    def all_of(name: str) -> Any:
        values = [getattr(part, name) for part in filled]
        return None if any(value is None for value in values) else np.concatenate(values)

    sizes = np.concatenate([part.sizes for part in filled])
    return Groups(
        _stack([part.X for part in filled]),
        n_bad=sum(part.n_bad for part in parts),
        bounds=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        **{name: all_of(name) for name in (*_OF_CANDIDATES, "ids")},
    )


def _join_labels(parts: Sequence[Labels]) -> Labels:
    flat = np.concatenate([part.values[part.codes] for part in parts])
    values, codes = np.unique(flat, return_inverse=True)
    sizes = [np.diff(part.starts) for part in parts if part.starts is not None]
    starts = np.cumsum(np.concatenate([[0], *sizes]), dtype=np.int64) if sizes else None
    return Labels(codes.astype(np.int32), values, starts)


def _stack(parts: Sequence[Any]) -> Any:
    if issparse(parts[0]):
        return vstack(parts, format="csr")
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    if isinstance(parts[0], ColumnTable):
        return joined_tables(parts)
    import pyarrow

    return pyarrow.concat_arrays(parts)

"""Files of groups of candidates, to learn a ranking; a bad line skips or refuses its whole group.

Guesses the format from the file name.
"""

from __future__ import annotations

import io
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from surelearn import _check
from surelearn.read import _options, _svmlight, _vw
from surelearn.read._batch import Batch, Groups, Source, joined_groups
from surelearn.read._columns import Columns
from surelearn.read._files import File, files_of, one_format
from surelearn.read._lines import Lines, LineSource, last_blank_line, whole_records
from surelearn.read._source import GROUP_FORMATS, checked_width, guessed_format, settings_of
from surelearn.read._sparse import HASHED, widest
from surelearn.read._svmlight import BadLine, Parsed, too_wide
from surelearn.read._vw import ParsedCandidates
from surelearn.rows import crossed


def groups(
    source: Any,
    *,
    label: Literal[False] | None = None,
    format: str | None = None,
    encoding: str | None = None,
    n_features: int | None = None,
    zero_based: bool = False,
    cross: bool = False,
    skip_bad: bool = False,
    filesystem: Any = None,
) -> Source:
    r"""Read groups of candidates in batches, from files with one candidate a line.

    In svmlight format a line is ``relevance qid:n index:value ...``. Adjacent lines with the same
    ``qid`` are a group; a relevance is at least 0, and larger is better. All lines of a query must
    be adjacent: a query that comes again in the same block of 2 MiB is an error. A group ends with
    its file.

    In Vowpal Wabbit's label-dependent format a line is ``label:cost |namespace feature ...``, with
    a whole number as label, and a blank line ends a group. Smaller costs are better. The first line
    of a group may be ``shared |namespace feature ...``: its features are added to those of every
    candidate. They change no ranking unless they are crossed with the features of the candidates.

    Parameters
    ----------
    source : str, path, list of them or Source
        As in `batches`: files, globs, folders and URLs, compressed or not; ``"-"`` is standard
        input. A `Source` is returned unchanged.
    label : False, optional
        With False, relevances and costs are not read.
    format : {"svmlight", "vw"}, optional
        The default is ``"vw"`` for names that end in ``.vw`` or ``.ldf`` (before ``.gz`` and the
        like), and ``"svmlight"`` for ``.svm``, ``.svmlight``, ``.libsvm``, ``.txt``, ``.dat`` and
        standard input.
    encoding : str, optional
        Encoding of the files, as in `batches`. The default is UTF-8.
    n_features : int, optional
        Number of columns, as in `batches`.
    zero_based : bool, default False
        Whether feature indices of svmlight start at 0 instead of 1.
    cross : bool, default False
        Label-dependent format: whether to add, for each candidate, the products of all shared
        features and all features of the candidate, hashed into the same columns.
    skip_bad : bool, default False
        Whether to skip and count groups with a line that cannot be parsed.
    filesystem : as in `batches`

    Returns
    -------
    Source
        Iterating over it gives batches of type `Groups`.

    Raises
    ------
    BadInput
        If a line cannot be parsed, as in `batches`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "clicks.svm"
    ...     _ = path.write_text("2 qid:7 1:0.5 3:1\n0 qid:7 2:1\n1 qid:9 1:2\n")
    ...     for batch in groups(path):
    ...         print(batch.X.shape, batch.sizes, batch.relevance, batch.ids)
    (3, 3) [2 1] [2. 0. 1.] [7 9]
    """
    if isinstance(source, Source):
        return source
    n_features = checked_width(n_features)
    flags = {
        "zero_based": _check.flag("zero_based", zero_based) or None,
        "cross": _check.flag("cross", cross) or None,
    }
    encoding = _options.encoding(encoding)
    files = files_of(source, filesystem, GROUP_FORMATS, format, encoding=encoding)
    guess = partial(guessed_format, GROUP_FORMATS, "svmlight")
    kind = one_format(files, GROUP_FORMATS, format, guess)
    _options.only_for(kind, **flags)
    if label is not None and label is not False:
        raise TypeError(f"label must be None or False, got {label!r}.")
    settings = {
        "labelled": label is None,
        "skip_bad": _check.flag("skip_bad", skip_bad),
    }
    if kind == "svmlight":
        made = _queries(files, n_features, zero_based=zero_based, **settings)
    else:
        made = _candidates(files, n_features, cross=cross, **settings)
    made.settings = settings_of(kind, format, encoding=encoding, **flags)
    return made


class GroupSource(LineSource):
    """Files of groups."""

    made_by = "groups"

    def joined(self, parts: Sequence[Batch]) -> Groups:
        return joined_groups(cast("Sequence[Groups]", parts))


def _queries(
    files: Sequence[File], n_features: int | None, *, zero_based: bool, **settings: bool
) -> GroupSource:
    def make_reader(head: Lines) -> QueryReader:
        parse = partial(_svmlight.parse, zero_based=zero_based)
        known = widest(files, parse) if n_features is None else n_features
        return QueryReader(known, zero_based=zero_based, **settings)

    split = partial(whole_records, last_end=QueryReader.last_end, made_of="groups of one qid each")
    return GroupSource(files, make_reader, split)


def _candidates(
    files: Sequence[File], n_features: int | None, *, cross: bool, **settings: bool
) -> GroupSource:
    places = HASHED if n_features is None else n_features

    def make_reader(head: Lines) -> GroupReader:
        return CandidateReader(places, cross=cross, **settings)

    # Shared features are repeated for each candidate, so that a block takes many times its bytes;
    # smaller blocks than these cost later passes more than their learning.
    split = partial(
        whole_records,
        last_end=CandidateReader.last_end,
        made_of="groups with a blank line after each",
        parts=2,
    )
    return GroupSource(files, make_reader, split)


#: The label and the query of a line. A line that does not match belongs to the group before it.
_QUERY = re.compile(rb"[^\S\n]*+[^\s#]++[^\S\n]++qid:([0-9]{1,18})(?=[\s#]|\Z)")

#: What is before the first line of a group, if a blank line ends the group before.
_BEFORE_GROUP = re.compile(rb"\n[ \t\r]*+\n[ \t\r\n]*+(?=[^ \t\r\n])")


class GroupText(NamedTuple):
    """The lines of one group, and the query if the format names it."""

    begin: int
    end: int
    query: int | None = None


class GroupReader(ABC):
    """Parses blocks of whole groups.

    Parameters
    ----------
    n_features : int
    labelled : bool
        Whether to read relevances or costs, if there are any.
    skip_bad : bool
        Whether to skip and count groups with a line that cannot be parsed.
    """

    columns = Columns(None, None, None, ())  # features have no names

    def __init__(self, n_features: int, *, labelled: bool, skip_bad: bool) -> None:
        self._n_features = n_features
        self._labelled = labelled
        self._skip_bad = skip_bad

    def __call__(self, data: bytes, name: str, first: int) -> Groups:
        found = self._parse(data)
        if not found.bad and self._is_sound(found, labelled=self._has_labels(found)):
            return self._batch(found, 0)
        data, n_bad = self._without_bad(data, name, first, labelled=self._has_labels(found))
        return self._batch(self._parse(data), n_bad)

    def _without_bad(
        self, data: bytes, name: str, first: int, *, labelled: bool
    ) -> tuple[bytes, int]:
        """The text without bad groups, and their number; raises an error unless `skip_bad`."""
        kept: list[bytes] = []
        seen: set[int | None] = set()
        n_bad = 0
        for begin, end, query in self.texts(data):
            text = data[begin:end]
            comes_again = query is not None and query in seen
            again = f"expected all lines of a query one after the other, got qid:{query} again."
            wrong = (0, again) if comes_again else self._fault(text, labelled)
            seen.add(query)
            if wrong is None:
                kept.append(text)
                continue
            if not self._skip_bad:
                n_before = data.count(b"\n", 0, begin)
                where = f"{name}, line {first + n_before + wrong[0]}"
                raise _check.bad_record(where, wrong[1], "groups", n_before=n_before)
            n_bad += 1
        return b"".join(kept), n_bad

    def _fault(self, text: bytes, labelled: bool) -> tuple[int, str] | None:
        """The first bad line of a group, from 0, and what is wrong; None if there is none."""
        found = self._parse(text)
        if found.bad:
            return found.bad[0].line - 1, found.bad[0].reason
        for number, line in enumerate(text.split(b"\n")):
            wrong = self._wrong_line(self._parse(line), labelled=labelled)
            if wrong is not None:
                return number, wrong
        wrong = self._wrong_group(found)
        return None if wrong is None else (0, wrong)

    def _wrong_group(self, found: Any) -> str | None:
        """What is wrong with a group of valid lines."""
        return None

    @staticmethod
    @abstractmethod
    def texts(data: bytes) -> Iterator[GroupText]:
        """The groups of a block, which together are all of its lines."""

    @staticmethod
    @abstractmethod
    def last_end(data: bytes, seen: int = 0) -> int:
        """The end of the last whole group of some bytes of a file; 0 if there is none.

        There is none within the first `seen` bytes.
        """

    @abstractmethod
    def _parse(self, data: bytes) -> Any:
        """The rows of some lines, and the bad lines."""

    @abstractmethod
    def _has_labels(self, found: Any) -> bool:
        """Whether the rows have relevances or costs to be read."""

    @abstractmethod
    def _is_sound(self, found: Any, *, labelled: bool) -> bool:
        """Whether the groups are without a fault."""

    @abstractmethod
    def _wrong_line(self, found: Any, *, labelled: bool) -> str | None:
        """What is wrong with a line that could be parsed."""

    @abstractmethod
    def _batch(self, found: Any, n_bad: int) -> Groups:
        """The batch of sound groups."""


class QueryReader(GroupReader):
    """svmlight: adjacent lines with the same ``qid`` are a group, and labels are relevances."""

    def __init__(self, *args: Any, zero_based: bool, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._zero_based = zero_based

    @staticmethod
    def texts(data: bytes) -> Iterator[GroupText]:
        begin = at = 0
        query: int | None = None
        for line in io.BytesIO(data):
            found = _query(line)
            if found is not None and found != query:
                if query is not None:
                    yield GroupText(begin, at, query)
                    begin = at
                query = found
            at += len(line)
        yield GroupText(begin, at, query)

    @staticmethod
    def last_end(data: bytes, seen: int = 0) -> int:
        end = data.rfind(b"\n") + 1
        last: int | None = None
        start = 0
        while end:
            begin = data.rfind(b"\n", 0, end - 1) + 1
            query = _query(data[begin:end])
            if last is not None and query is not None and query != last:
                return start
            if query is not None:
                last, start = query, begin
                if end < seen:
                    return 0  # all lines before have this query
            end = begin
        return 0

    def _parse(self, data: bytes) -> Parsed:
        return _svmlight.parse(data, zero_based=self._zero_based, grouped=True, skip_bad=True)

    def _has_labels(self, found: Parsed) -> bool:
        return self._labelled

    def _is_sound(self, found: Parsed, *, labelled: bool) -> bool:
        queries = np.asarray(found.queries)
        comes_again = len(np.unique(queries)) < len(_bounds(queries)) - 1
        is_negative = labelled and bool((found.labels < 0).any())
        return not (comes_again or is_negative or found.n_features > self._n_features)

    def _wrong_line(self, found: Parsed, *, labelled: bool) -> str | None:
        if labelled and (found.labels < 0).any():
            return f"expected a relevance of at least 0, got {float(found.labels[0]):g}."
        if found.n_rows and found.n_features > self._n_features:
            return too_wide(self._n_features, found.n_features)
        return None

    def _batch(self, found: Parsed, n_bad: int) -> Groups:
        queries = np.asarray(found.queries)
        bounds = _bounds(queries)
        return Groups(
            found.matrix(self._n_features),
            n_bad=n_bad,
            bounds=bounds,
            relevance=found.labels if self._labelled else None,
            ids=queries[bounds[:-1]],
        )


class CandidateReader(GroupReader):
    """Label-dependent text: a blank line ends a group, and labels have costs.

    Parameters
    ----------
    cross : bool
        Whether to add the products of the shared features and those of each candidate.
    """

    def __init__(self, *args: Any, cross: bool, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._cross = cross

    @staticmethod
    def texts(data: bytes) -> Iterator[GroupText]:
        starts = [len(data) - len(data.lstrip(b" \t\r\n"))]
        starts += [found.end() for found in _BEFORE_GROUP.finditer(data, starts[0])]
        for begin, end in pairwise([*starts, len(data)]):
            yield GroupText(begin, end)

    @staticmethod
    def last_end(data: bytes, seen: int = 0) -> int:
        cut = last_blank_line(data)
        return cut if data[:cut].strip() else 0

    def _parse(self, data: bytes) -> Candidates:
        return Candidates(_vw.parse_candidates(data, n_features=self._n_features), self._cross)

    def _has_labels(self, found: Candidates) -> bool:
        return self._labelled and bool(np.isfinite(found.costs).any())

    def _is_sound(self, found: Candidates, *, labelled: bool) -> bool:
        return self._wrong_line(found, labelled=labelled) is None and found.wrong is None

    def _wrong_line(self, found: Candidates, *, labelled: bool) -> str | None:
        if labelled and np.isnan(found.costs).any():
            return "expected label:cost, since other candidates have a cost, got none."
        return None

    def _wrong_group(self, found: Candidates) -> str | None:
        return found.wrong

    def _batch(self, found: Candidates, n_bad: int) -> Groups:
        return Groups(
            found.X,
            n_bad=n_bad,
            bounds=_bounds(found.groups),
            cost=found.costs if self._has_labels(found) else None,
            names=found.names,
        )


def _query(line: bytes) -> int | None:
    """The query of a line of svmlight; None if there is none."""
    found = _QUERY.match(line)
    return None if found is None else int(found[1])


def _bounds(keys: Any) -> NDArray[np.int64]:
    """Where runs of equal keys begin, and the end of the last one."""
    if not len(keys):
        return np.zeros(1, np.int64)
    return np.concatenate([[0], np.flatnonzero(np.diff(keys)) + 1, [len(keys)]]).astype(np.int64)


#: A group with more entries is refused: shared features are repeated for each candidate.
MOST_ENTRIES = 1 << 24


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of a block.

    Parameters
    ----------
    parsed : ParsedCandidates
    cross : bool
        Whether to add the products of the shared features and those of each candidate.
    """

    parsed: ParsedCandidates
    cross: bool

    @property
    def bad(self) -> list[BadLine]:
        return self.parsed.bad

    @cached_property
    def own(self) -> NDArray[np.bool_]:
        """Which rows are candidates."""
        return ~self.parsed.shared

    @property
    def costs(self) -> NDArray[np.float64]:
        return self.parsed.costs[self.own]

    @property
    def names(self) -> NDArray[np.int64]:
        return self.parsed.names[self.own]

    @property
    def groups(self) -> NDArray[np.int64]:
        return self.parsed.groups[self.own]

    @cached_property
    def X(self) -> csr_array:
        """The candidates, with the shared features of their group."""
        rows, own = self.parsed.X, self.own
        if own.all():
            return rows
        candidates = rows[own]
        # A group without shared features has an empty row instead, the last.
        shared = vstack([rows[~own], csr_array((1, rows.shape[1]), dtype=rows.dtype)], format="csr")
        last = shared.shape[0] - 1
        place = np.full(int(self.parsed.groups.max()) + 1, last)
        place[self.parsed.groups[~own]] = np.arange(last)
        of = place[self.groups]
        appended = candidates + shared[of]
        if not self.cross:
            return appended
        pairs = (of, np.arange(len(of)))
        return appended + crossed(shared, candidates, pairs, rows.shape[1], hashed=True)

    @property
    def wrong(self) -> str | None:
        """What is wrong with a group; None if all are valid."""
        if len(np.unique(self.parsed.groups)) > len(np.unique(self.groups)):
            return "expected candidates after the shared features, got none."
        most = int(self._n_entries.max(initial=0))
        if most > MOST_ENTRIES:
            return (
                f"expected a group of at most {MOST_ENTRIES} entries with its shared features, got "
                f"{most}. They are repeated for each candidate."
            )
        if not np.isfinite(self.X.data).all():  # sums of finite entries may overflow
            return "expected features of finite sums, got sums beyond the range of float32."
        return None

    @property
    def _n_entries(self) -> NDArray[Any]:
        """The number of entries of each group, with the shared features of each candidate."""
        sizes = np.diff(self.parsed.X.indptr).astype(np.float64)
        groups, own = self.parsed.groups, self.own
        n = int(groups.max(initial=-1)) + 1
        common = np.bincount(groups[~own], sizes[~own], minlength=n)[groups]
        each = sizes + common * (1 + sizes) if self.cross else sizes + common
        return np.bincount(groups[own], each[own], minlength=n)

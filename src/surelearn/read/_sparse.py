"""svmlight and Vowpal Wabbit text as batches of sparse rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn._check import BadInput, bad_record
from surelearn.read import _svmlight, _vw
from surelearn.read._batch import Batch
from surelearn.read._columns import Columns, there
from surelearn.read._files import File
from surelearn.read._labels import Labels, values_of
from surelearn.read._lines import Lines, LineSource, lines_of
from surelearn.read._svmlight import Parsed, too_wide

#: Default size of the hashed feature space of Vowpal Wabbit text.
HASHED = 2**18

#: The largest number of features that is found in svmlight files. A few bytes of text can name
#: more, and weights take 8 bytes a feature.
WIDEST = 2**26


def svmlight(
    files: Sequence[File],
    *,
    n_features: int | None,
    zero_based: bool,
    separator: str | None,
    labelled: bool,
    keep: Sequence[str],
    skip_bad: bool,
) -> LineSource:
    """A source of svmlight files; without `n_features`, an extra pass finds the number.

    With a comma as `separator`, rows have lists of labels.
    """
    if separator not in (None, ","):
        raise ValueError(_check.must("label_separator", "be ',' for svmlight", separator))
    of_lines = _svmlight.parse if separator is None else _svmlight.parse_lists
    parse = partial(of_lines, zero_based=zero_based, skip_bad=skip_bad)

    def make_reader(head: Lines) -> Sparse:
        known = widest(files, parse) if n_features is None else n_features
        return Sparse(parse, known, head, labelled=labelled, keep=keep, skip_bad=skip_bad)

    return LineSource(files, make_reader)


def vowpal_wabbit(
    files: Sequence[File],
    *,
    n_features: int | None,
    labelled: bool,
    keep: Sequence[str],
    skip_bad: bool,
) -> LineSource:
    """A source of Vowpal Wabbit files."""
    places = HASHED if n_features is None else n_features
    parse = partial(_vw.parse, n_features=places, alternate_sign=False, skip_bad=skip_bad)
    make_reader = partial(Sparse, parse, places, labelled=labelled, keep=keep, skip_bad=skip_bad)
    return LineSource(files, make_reader)


def widest(files: Sequence[File], parse: Callable[..., Parsed]) -> int:
    """The number of features of all files."""
    widest = 1
    for file in files:
        if not file.can_restart:
            raise _width_wanted(f"from {file.name}, which cannot be read twice")
        for block in lines_of(file):
            widest = max(widest, parse(block.data, skip_bad=True).n_features)
            if widest > WIDEST:
                raise _too_wide(block, parse)
    return widest


def _too_wide(block: Lines, parse: Callable[..., Parsed]) -> BadInput:
    """The error for a block with more features than are found in files."""
    widths = [parse(line, skip_bad=True).n_features for line in block.data.split(b"\n")]
    line = next(i for i, width in enumerate(widths) if width > WIDEST)
    where = f"{block.name}, line {block.first + line}"
    return _width_wanted(f"of more than {WIDEST:,} features, got {widths[line]:,} in {where}")


class Sparse:
    """Parses sparse rows.

    Parameters
    ----------
    parse : function
        `parse` of `_svmlight` or `_vw`.
    n_features : int
    head : Lines
        The first lines of the source. If all their labels are whole numbers, all labels must be.
    labelled : bool
        Whether to read labels, if there are any.
    keep : list of str
        Columns to keep; the only one is "label".
    skip_bad : bool
    """

    columns = Columns(None, None, None, ())  # features have no names

    def __init__(
        self,
        parse: Callable[..., Parsed],
        n_features: int,
        head: Lines,
        *,
        labelled: bool,
        keep: Sequence[str],
        skip_bad: bool,
    ) -> None:
        there(keep, ["label"], head.name)
        self._parse = parse
        self._n_features = n_features
        self._keep = keep
        self._skip_bad = skip_bad
        found = parse(head.data, skip_bad=True)
        self._labelled = labelled and _has_labels(found)
        labels = found.labels
        self._whole = bool((labels == np.floor(labels))[np.isfinite(labels)].all())

    def __call__(self, lines: bytes, name: str, first: int) -> Batch:
        found = self._parse(lines, first_line=first, name=name)
        labelled = self._labelled
        bad = found.too_wide(self._n_features)
        if labelled:
            bad |= ~np.isfinite(found.labels)
            bad |= self._whole & (
                (found.labels != np.floor(found.labels)) | _too_large(found.labels)
            )
        if bad.any() and not self._skip_bad:
            self._name_first(lines, name, first, labelled=labelled)
        return self._batch(found, ~bad, labelled=labelled)

    def _batch(self, found: Parsed, kept: Any, *, labelled: bool) -> Batch:
        labels = self._labels(found, kept) if labelled else None
        carried = {name: self._kept_labels(found) for name in self._keep}
        whole = Batch(found.matrix(self._n_features), labels, found.weights, found.n_bad, carried)
        if kept.all():
            return whole
        rows = whole[np.flatnonzero(kept)]
        n_bad = found.n_bad + int(np.count_nonzero(~kept))
        return replace(rows, n_bad=n_bad)

    def _labels(self, found: Parsed, kept: NDArray[np.bool_]) -> Labels:
        if found.lists is None:
            return _labels(found.labels, kept, whole=self._whole)
        return _labels_of_lists([own if isinstance(own, list) else [] for own in found.lists])

    def _kept_labels(self, found: Parsed) -> NDArray[Any]:
        """Labels as in the file, None for a missing or bad one."""
        if found.lists is not None:
            return values_of([own if isinstance(own, list) else None for own in found.lists])
        labels = found.labels
        as_whole = self._whole & (labels == np.floor(labels)) & ~_too_large(labels)
        values = [
            int(x) if whole else x if x == x else None  # NaN stands for a missing label
            for x, whole in zip(labels.tolist(), as_whole.tolist(), strict=True)
        ]
        return values_of(values)

    def _name_first(self, lines: bytes, name: str, first: int, *, labelled: bool) -> None:
        """Raise an error for the first bad line."""
        for number, line in enumerate(lines.split(b"\n"), start=first):
            found = self._parse(line, first_line=number, name=name)
            if found.n_rows == 0:
                continue
            wrong = self._wrong(found, labelled=labelled)
            if wrong is not None:
                raise bad_record(f"{name}, line {number}", wrong, n_before=number - first)

    def _wrong(self, found: Parsed, *, labelled: bool) -> str | None:
        """What is wrong with one row; None if it is valid."""
        if labelled and found.lists is not None and isinstance(found.lists[0], str):
            return found.lists[0]
        label = float(found.labels[0]) if labelled else 0.0
        if not np.isfinite(label):
            return "expected a label, got none."
        if self._whole and label != np.floor(label):
            return f"expected a whole number as label, got {label}."
        if self._whole and _too_large(label):
            return f"expected a label of 53 bits at most, got {label}."
        if found.too_wide(self._n_features).any():
            return too_wide(self._n_features, int(found.features.max()) + 1)
        return None


def _has_labels(found: Parsed) -> bool:
    """Whether the rows have labels; a list may be empty."""
    some = bool(np.isfinite(found.labels).any())
    return some or not found.n_rows or found.lists is not None


def _labels_of_lists(lists: Sequence[Sequence[int]]) -> Labels:
    """Lists of labels as codes and distinct values; a label that a list repeats counts once."""
    flat = np.array([label for own in lists for label in own], np.int64)
    values, codes = np.unique(flat, return_inverse=True)
    starts = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return Labels(codes.astype(np.int32), values, starts).in_order()


def _too_large(labels: Any) -> Any:
    """Whether whole numbers exceed 53 bits: labels are parsed as doubles, which round them."""
    return np.abs(labels) >= 2.0**53


def _labels(labels: Any, kept: Any, *, whole: bool) -> Labels:
    """Labels as codes and distinct values, which are integers if `whole`."""
    # Labels of bad rows may be NaN, which does not convert to an integer.
    sound = np.where(kept, labels, 0.0)
    values, codes = np.unique(sound.astype(np.int64) if whole else sound, return_inverse=True)
    return Labels(codes.astype(np.int32), values)


def _width_wanted(which: str) -> BadInput:
    """The error for svmlight text whose width must be given."""
    said = "{n_features} must be given for svmlight {which}."
    return BadInput(_check.Message(said, n_features=_check.Keyword("n_features"), which=which))

"""From what a user has to a `Source`: the format is guessed from the name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

from surelearn import _check
from surelearn._check import BadInput
from surelearn.read._batch import Source
from surelearn.read._columns import Wanted
from surelearn.read._csv import CsvSource
from surelearn.read._files import File, files_of
from surelearn.read._frames import frame
from surelearn.read._jsonl import JsonLines
from surelearn.read._lines import LineSource
from surelearn.read._sparse import svmlight, vowpal_wabbit
from surelearn.read._stores import arrow, parquet
from surelearn.read._tables import TableSource

#: Formats and the endings of their files.
FORMATS = {
    "jsonl": (".jsonl", ".ndjson", ".json"),
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc"),
    "svmlight": (".svm", ".svmlight", ".libsvm"),
    "vw": (".vw",),
}


def batches(
    source: Any,
    *,
    text: str | None = None,
    label: str | Literal[False] | None = None,
    weight: str | None = None,
    features: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    label_type: type | None = None,
    format: str | None = None,
    n_features: int | None = None,
    zero_based: bool = False,
    skip_bad: bool = False,
    filesystem: Any = None,
) -> Source:
    """Records in batches, from wherever they are.

    Parameters
    ----------
    source : str, path, list of them, frame or Source
        Files, globs, folders and addresses such as ``"https://..."``; ``"-"`` is standard input. Of
        a folder the files with a known ending are read in the order of their names, but for those
        that begin with ``.`` or ``_``, and those of folders in it. A frame of pandas or polars, or
        a table of pyarrow. A `Source` is given back as it is.
    text, label, weight : str, optional
        Columns of the text, the label and the weight of a record. Default: ``"text"`` and
        ``"label"`` if there are such columns, and no weights. ``label=False``: labels are not read,
        be they there or not. Columns of a frame may be named by whole numbers.
    features : list of str, optional
        Columns of numbers, in place of a text. Default where there is no text: all columns of
        numbers but label and weight.
    keep : list of str, optional
        Columns to carry along, whatever is in them, in ``kept`` of each batch; also those that are
        read for something. svmlight and Vowpal Wabbit text have one, ``"label"``. Values of csv and
        tsv are texts, or whole numbers if those of the first block all are. Dates and times are
        texts.
    label_type : {str, int}, optional
        What labels of csv and tsv are, which do not tell texts from numbers. Default: whole numbers
        if those of the first block all are.
    format : str, optional
        ``"jsonl"``, ``"csv"``, ``"tsv"``, ``"parquet"``, ``"arrow"``, ``"svmlight"`` or ``"vw"``.
        Default: guessed from the name, before ``.gz``, ``.zst``, ``.bz2``, ``.lz4`` or ``.xz``;
        jsonl for standard input.
    n_features : int, optional
        Columns of the rows of svmlight (default: found by going through the files once) and of
        Vowpal Wabbit text (default 2**18: names are hashed).
    zero_based : bool, default False
        Whether svmlight counts features from 0; otherwise from 1.
    skip_bad : bool, default False
        Whether to leave out records that cannot be read, and count them.
    filesystem : filesystem of pyarrow or fsspec, optional
        Where the files are. Default: this machine, or what their addresses say.

    Returns
    -------
    Source
        Iterating over it gives `Batch` after `Batch`; each time from the first record on.

    Raises
    ------
    BadInput
        For a record that cannot be read: names the file, the line and what was expected.

    Examples
    --------
    >>> import pandas
    >>> frame = pandas.DataFrame({"text": ["good", "bad", "fine"], "label": [1, 0, 1]})
    >>> for batch in batches(frame):
    ...     print(batch.X.to_pylist(), batch.y)
    ['good', 'bad', 'fine'] [1 0 1]
    """
    if isinstance(source, Source):
        return source
    skip_bad = _check.flag("skip_bad", skip_bad)
    zero_based = _check.flag("zero_based", zero_based)
    kept = _check.distinct("keep", _check.as_names(keep))
    wanted = Wanted(
        _check.column("text", text),
        label if label is False else _check.column("label", label),
        _check.column("weight", weight),
        _check.feature_names(features),
        label_type,
        kept,
    )
    if not isinstance(source, str | os.PathLike | list | tuple):
        _check.need("reading a frame", "pyarrow", "files")
        return TableSource([frame(source, wanted, skip_bad)], wanted, skip_bad=skip_bad)
    files = files_of(source, filesystem, FORMATS, format)
    kind = _format(files, format)
    if kind not in ("svmlight", "vw"):  # which are read by our own core
        _check.need(f"reading {kind}", "pyarrow", "files")
    if kind == "jsonl":
        return LineSource(files, partial(JsonLines, wanted, skip_bad=skip_bad))
    if kind in ("csv", "tsv"):
        delimiter = "," if kind == "csv" else "\t"
        return CsvSource(files, wanted, delimiter=delimiter, skip_bad=skip_bad)
    if kind in ("parquet", "arrow"):
        store = parquet if kind == "parquet" else arrow
        return TableSource([store(file) for file in files], wanted, skip_bad=skip_bad)
    if kind == "vw":
        return vowpal_wabbit(
            files, n_features=n_features, labelled=label is not False, keep=kept, skip_bad=skip_bad
        )
    return svmlight(
        files,
        n_features=n_features,
        zero_based=zero_based,
        labelled=label is not False,
        keep=kept,
        skip_bad=skip_bad,
    )


def _format(files: list[File], given: str | None) -> str:
    """The one format of all files."""
    if given is not None:
        if given not in FORMATS:
            raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {given!r}.")
        return given
    found = {_guess(file) for file in files}
    if len(found) > 1:
        raise BadInput(f"files must have one format, got {' and '.join(sorted(found))}.")
    return found.pop()


def _guess(file: File) -> str:
    if file.is_stdin:
        return "jsonl"
    for kind, endings in FORMATS.items():
        if file.ending in endings:
            return kind
    raise BadInput(
        f"{file.name} must have an ending that tells its format, such as .jsonl, got "
        f"{file.ending!r}. "
        f"Name the format: {', '.join(FORMATS)}."
    )

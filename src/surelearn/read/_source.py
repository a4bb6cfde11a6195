"""From what a user has to a `Source`: the format is guessed from the name."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

from surelearn import _check
from surelearn.read._batch import Source
from surelearn.read._columns import ColumnSpec
from surelearn.read._csv import CsvSource
from surelearn.read._csv_dialect import CsvDialect
from surelearn.read._files import File, files_of, one_format
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
    delimiter: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
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
    delimiter : str, optional
        What is between columns of csv and tsv. Default: a comma, and a tab in tsv.
    quote : str, optional
        What is around texts of csv and tsv with delimiters or newlines in them. Default: ``'"'``;
        ``""``: nothing is, quotes are letters.
    encoding : str, optional
        Of lines of text, such as ``"latin-1"`` or ``"utf-16"``. Default: UTF-8.
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
    wanted = ColumnSpec(
        _check.column("text", text),
        label if label is False else _check.column("label", label),
        _check.column("weight", weight),
        _check.feature_names(features),
        _check.label_type(label_type),
        kept,
    )
    written = {"delimiter": delimiter, "quote": quote, "encoding": _check.encoding(encoding)}
    if not isinstance(source, str | os.PathLike | list | tuple):
        _check.only_for("a frame", **written)
        _check.need("reading a frame", "pyarrow", "files")
        return TableSource([frame(source, wanted, skip_bad)], wanted, skip_bad=skip_bad)
    files = files_of(source, filesystem, FORMATS, format, encoding=written["encoding"])
    kind = one_format(files, FORMATS, format, _guess)
    _check.only_for(kind, **written)
    if kind not in ("svmlight", "vw"):  # which are read by our own core
        _check.need(f"reading {kind}", "pyarrow", "files")
    if kind in ("csv", "tsv"):
        made: Source = CsvSource(files, wanted, layout=_layout(kind, written), skip_bad=skip_bad)
    elif kind == "svmlight":
        sparse = _sparse(wanted, n_features, skip_bad=skip_bad)
        made = svmlight(files, **sparse, zero_based=zero_based)
    elif kind == "vw":
        made = vowpal_wabbit(files, **_sparse(wanted, n_features, skip_bad=skip_bad))
    elif kind == "jsonl":
        encoded = written["encoding"]
        make_reader = partial(JsonLines, wanted, encoding=encoded, skip_bad=skip_bad)
        made = LineSource(files, make_reader)
    else:
        store = parquet if kind == "parquet" else arrow
        made = TableSource([store(file) for file in files], wanted, skip_bad=skip_bad)
    made.settings = _settings(kind, format, zero_based=zero_based or None, **written)
    return made


def _layout(kind: str, written: Mapping[str, str | None]) -> CsvDialect:
    """Where rows and columns of csv or tsv end."""
    given, quote = written["delimiter"], written["quote"]
    delimiter = {"csv": ",", "tsv": "\t"}[kind] if given is None else _check.delimiter(given)
    return CsvDialect(delimiter, _check.quote('"' if quote is None else quote, delimiter))


def _sparse(wanted: ColumnSpec, n_features: int | None, *, skip_bad: bool) -> dict[str, Any]:
    """What readers of sparse rows are told."""
    labelled = wanted.label is not False
    return {
        "n_features": n_features, "labelled": labelled, "keep": wanted.keep, "skip_bad": skip_bad,
    }  # fmt: skip


def _settings(kind: str, format: str | None, **given: Any) -> dict[str, Any]:
    """What was said of how files are read, and the format it was said of."""
    settings = {name: value for name, value in given.items() if value is not None}
    return {**settings, "format": kind} if settings or format is not None else {}


def told_formats(source: Any, filesystem: Any = None) -> set[str | None]:
    """The formats that the names of files tell; None for those that do not."""
    if not isinstance(source, str | os.PathLike | list | tuple):
        return set()
    return {_ending(file) for file in files_of(source, filesystem, FORMATS, None)}


def _guess(file: File) -> str:
    if file.is_stdin:
        return "jsonl"
    kind = _ending(file)
    if kind is None:
        raise _check.format_unknown(file.name, file.ending, list(FORMATS))
    return kind


def _ending(file: File) -> str | None:
    """The format that a name tells."""
    return next((kind for kind, endings in FORMATS.items() if file.ending in endings), None)

"""Makes a `Source` of files or frames; guesses the format from the file name."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

from surelearn import _check
from surelearn.read import _options
from surelearn.read._batch import Source
from surelearn.read._columns import ColumnSpec
from surelearn.read._csv import CsvSource
from surelearn.read._csv_rows import CsvDialect
from surelearn.read._files import Endings, File, files_of, one_format
from surelearn.read._jsonl import JsonLines
from surelearn.read._lines import LineSource
from surelearn.read._sparse import svmlight, vowpal_wabbit
from surelearn.read._stores import arrow, frame, parquet
from surelearn.read._tables import TableSource

#: Formats and the extensions of their files.
FORMATS = {
    "jsonl": (".jsonl", ".ndjson", ".json"),
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc"),
    "svmlight": (".svm", ".svmlight", ".libsvm"),
    "vw": (".vw",),
}

#: The same for files of groups.
GROUP_FORMATS = {
    "svmlight": (*FORMATS["svmlight"], ".txt", ".dat"),
    "vw": (*FORMATS["vw"], ".ldf"),
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
    label_separator: str | None = None,
    format: str | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    n_features: int | None = None,
    zero_based: bool = False,
    skip_bad: bool = False,
    filesystem: Any = None,
    table: bool = False,
) -> Source:
    """Read records in batches, from files, streams or frames.

    Parameters
    ----------
    source : str, path, list of them, frame or Source
        Files, globs, folders and URLs such as ``"https://..."``; ``"-"`` is standard input. Of a
        folder, the files with a known extension are read, sorted by name; files whose name begins
        with ``.`` or ``_`` and folders inside it are skipped. Or a pandas or polars frame, or a
        pyarrow table. A `Source` is returned unchanged.
    text, label, weight : str, optional
        Columns of the texts, the labels and the sample weights. The default is ``"text"`` and
        ``"label"`` if there are such columns, and no weights. With ``label=False`` labels are not
        read. Columns of a frame may be named by whole numbers. Labels have the type of most of the
        first ones. If that is a list, each record has a list of labels, which may be empty.
    features : list of str, optional
        Numeric columns to read instead of a text. If there is no text, the default is all numeric
        columns but label and weight.
    keep : list of str, optional
        Columns to return unchanged in ``kept`` of each batch; a column that is read may be named
        as well. ``["*"]`` returns all columns, and every key of JSON lines. svmlight and Vowpal
        Wabbit text have one such column, ``"label"``. Values of csv and tsv are texts, or whole
        numbers if all those of the first block are. Dates and times are texts.
    label_type : {str, int}, optional
        Type of the labels of csv and tsv, which do not distinguish texts from numbers. The default
        is int if the labels of the first block are whole numbers.
    label_separator : str, optional
        What separates the labels of a record in csv and tsv, such as ``";"``; an empty cell has no
        labels, and spaces around a label are removed. In svmlight it is ``","``, as in
        ``1,3 5:0.5``. By default a record has one label.
    format : str, optional
        ``"jsonl"``, ``"csv"``, ``"tsv"``, ``"parquet"``, ``"arrow"``, ``"svmlight"`` or ``"vw"``.
        The default is guessed from the extension before ``.gz``, ``.zst``, ``.bz2``, ``.lz4`` or
        ``.xz``; it is jsonl for standard input.
    delimiter : str, optional
        Column separator of csv and tsv. The default is a comma, or a tab in tsv.
    quote : str, optional
        Quote character around csv and tsv values that contain delimiters or newlines. The default
        is ``'"'``. With ``""`` quotes have no special meaning.
    encoding : str, optional
        Encoding of text formats, such as ``"latin-1"`` or ``"utf-16"``. The default is UTF-8.
    n_features : int, optional
        Number of columns of svmlight rows (by default found in an extra pass over the files, up to
        2**26) and of Vowpal Wabbit rows (by default 2**18; names are hashed).
    zero_based : bool, default False
        Whether feature indices of svmlight start at 0 instead of 1.
    skip_bad : bool, default False
        Whether to skip and count records that cannot be parsed.
    filesystem : filesystem of pyarrow or fsspec, optional
        Where the files are. The default is the local filesystem, or that of the URL.
    table : bool, default False
        Whether X of a batch is a `ColumnTable` of all columns but label and weight, as they are
        stored, for `SureTableClassifier`; with ``label=False`` and ``keep=["*"]`` of all columns.
        Not for svmlight and Vowpal Wabbit text.

    Returns
    -------
    Source
        Iterating over it gives batches of type `Batch`, each time from the first record on.

    Raises
    ------
    BadInput
        If a record cannot be parsed. The error names the file, the line and what was expected.

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
    skip_bad, zero_based = _check.flag("skip_bad", skip_bad), _check.flag("zero_based", zero_based)
    n_features = checked_width(n_features)
    wanted = ColumnSpec(
        _options.column("text", text),
        label if label is False else _options.column("label", label),
        _options.column("weight", weight),
        _options.feature_names(features),
        _options.label_type(label_type),
        _options.distinct("keep", _options.as_names(keep)),
        _options.label_separator(label_separator),
        _check.flag("table", table) and _whole_table(text=text, features=features, keep=keep),
    )
    written = {"delimiter": delimiter, "quote": quote, "encoding": _options.encoding(encoding),
               "label_separator": label_separator}  # fmt: skip
    if not isinstance(source, str | os.PathLike | list | tuple):
        _options.only_for("a frame", zero_based=zero_based or None, **written)
        _check.need("reading a frame", "pyarrow", "files")
        return TableSource([frame(source, wanted, skip_bad)], wanted, skip_bad=skip_bad)
    files = files_of(source, filesystem, FORMATS, format, encoding=written["encoding"])
    kind = one_format(files, FORMATS, format, partial(guessed_format, FORMATS, "jsonl"))
    _options.only_for(kind, zero_based=zero_based or None, weight=wanted.weight, **written)
    if kind not in ("svmlight", "vw"):  # the core parses these two
        _check.need(f"reading {kind}", "pyarrow", "files")
    if kind in ("csv", "tsv"):
        made: Source = CsvSource(files, wanted, dialect=_dialect(kind, written), skip_bad=skip_bad)
    elif kind == "svmlight":
        sparse = _sparse(wanted, n_features, skip_bad=skip_bad)
        made = svmlight(files, **sparse, zero_based=zero_based, separator=wanted.separator)
    elif kind == "vw":
        made = vowpal_wabbit(files, **_sparse(wanted, n_features, skip_bad=skip_bad))
    elif kind == "jsonl":
        make_reader = partial(JsonLines, wanted, encoding=written["encoding"], skip_bad=skip_bad)
        made = LineSource(files, make_reader)
    else:
        store = parquet if kind == "parquet" else arrow
        made = TableSource([store(file) for file in files], wanted, skip_bad=skip_bad)
    made.settings = settings_of(kind, format, zero_based=zero_based or None, **written)
    return made


def _whole_table(**given: Any) -> bool:
    """True; raises for columns that a table has no use for."""
    for name, value in given.items():
        if value and (name, value) != ("keep", ["*"]):
            raise _check.BadInput(f"{name} must not be given with table=True, got {value!r}.")
    return True


def checked_width(n_features: int | None) -> int | None:
    """The number of columns of sparse rows, if it is given."""
    if n_features is None:
        return None
    return _check.count("n_features", n_features, most=2**31 - 1)


def _dialect(kind: str, written: Mapping[str, str | None]) -> CsvDialect:
    """The delimiter and quotes of csv or tsv."""
    given, quote = written["delimiter"], written["quote"]
    delimiter = {"csv": ",", "tsv": "\t"}[kind] if given is None else _options.delimiter(given)
    return CsvDialect(delimiter, _options.quote('"' if quote is None else quote, delimiter))


def _sparse(wanted: ColumnSpec, n_features: int | None, *, skip_bad: bool) -> dict[str, Any]:
    """Keywords of the readers of sparse rows."""
    if wanted.is_table:
        raise ValueError("table must be False for svmlight and vw, without columns, got True.")
    labelled = wanted.label is not False
    return {
        "n_features": n_features, "labelled": labelled, "keep": wanted.keep, "skip_bad": skip_bad,
    }  # fmt: skip


def settings_of(kind: str, format: str | None, **given: Any) -> dict[str, Any]:
    """The settings that the user gave, and the format they belong to."""
    settings = {name: value for name, value in given.items() if value is not None}
    return {**settings, "format": kind} if settings or format is not None else {}


def formats_by_extension(
    source: Any, filesystem: Any = None, formats: Endings = FORMATS
) -> set[str | None]:
    """The formats that the file names show; None for a name that shows none.

    >>> formats_by_extension("reviews.csv.gz"), formats_by_extension("reviews")
    ({'csv'}, {None})
    """
    if not isinstance(source, str | os.PathLike | list | tuple):
        return set()
    return {format_of(file, formats) for file in files_of(source, filesystem, formats, None)}


def guessed_format(formats: Endings, of_stdin: str, file: File) -> str:
    """The format that the name of a file shows; another one for standard input."""
    kind = of_stdin if file.is_stdin else format_of(file, formats)
    if kind is not None:
        return kind
    raise _check.BadInput(
        _check.Message(
            "{name} must have an extension that shows its format, such as {such}, got {ending!r}. "
            "Name the {format}: {formats}.",
            name=file.name,
            such=formats[of_stdin][0],
            ending=file.ending,
            format=_check.Keyword("format"),
            formats=", ".join(formats),
        )
    )


def format_of(file: File, formats: Endings) -> str | None:
    """The format of the extension; None if it is unknown."""
    return next((kind for kind, endings in formats.items() if file.ending in endings), None)

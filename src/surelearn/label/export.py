"""Answers and labels as files: jsonl, csv, parquet, CoNLL; must not know the page."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from surelearn.label.ledger import Given
from surelearn.label.records import Record
from surelearn.label.session import FILE, Session

#: The type of each format.
FORMATS = {
    "jsonl": "application/jsonl; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "conll": "text/plain; charset=utf-8",
}
#: Columns that follow those of the pool and the label.
_OURS = ("by", "time", "settled", "item", "file", "line")


def formats(kind: str, *, agreed: bool) -> list[str]:
    """The formats for a kind of task; CoNLL has no place for answers of several people."""
    if kind != "tags":
        return ["jsonl", "csv", "parquet"]
    return ["conll", "jsonl", "parquet"] if agreed else ["jsonl", "parquet"]


class _Line(NamedTuple):
    """One answer to one record."""

    item: int
    record: Record | None
    label: Any
    given: Given
    settled: bool


def exported(session: Session, kind: str, *, agreed: bool = True) -> bytes:
    """What has been labelled so far as a file of this format.

    A line is a record of the pool with all its columns, its label, who gave it and when, and the
    file and the line where the record stands. A text that stands in several records has a line for
    each of them.

    Parameters
    ----------
    session : Session
    kind : {"jsonl", "csv", "parquet", "conll"}
    agreed : bool, default True
        One line a text, with the label that counts; False gives a line for each answer, and for
        each label that was settled. A CoNLL file has the tags that count.

    Examples
    --------
    >>> import pyarrow
    >>> from tempfile import TemporaryDirectory
    >>> from surelearn.label import Items, Session, Store
    >>> pool = Items(pyarrow.array(["a fine film"]))
    >>> with TemporaryDirectory() as folder, Store(f"{folder}/answers.db") as store:
    ...     session = Session(pool, store, ["good", "bad"])
    ...     session.answer("ann", session.question("ann").item, "good")
    ...     exported(session, "csv").decode().splitlines()[0]
    'text,label,by,time,settled,item,file,line'
    """
    with session.lock:
        answers = list(
            _agreed_answers(session) if agreed or kind == "conll" else _all_answers(session)
        )
    if kind == "conll":
        return _bytes(_conll(answers, session))
    lines = _lines_of(session, answers)
    names = _columns(session, lines)
    rows = [_row(session, line, names) for line in lines]
    if kind == "jsonl":
        return _bytes("".join(_json(row) + "\n" for row in rows))
    return _csv(rows, names) if kind == "csv" else _parquet(rows, names, session.kind)


class _Names(NamedTuple):
    """Names of the columns: the texts among those of the pool, the label, and what follows."""

    content: str | None
    pool: list[str]
    label: str
    ours: list[str]

    @property
    def all(self) -> list[str]:
        return [*dict.fromkeys([*self.pool, self.label, *self.ours])]


Answer = tuple[int, Any, Given, bool]


def _agreed_answers(session: Session) -> Iterator[Answer]:
    """The label that counts of each item, in the order in which the model learnt them."""
    ledger = session.ledger
    for step in session.label_steps():
        settled = ledger.settled.get(step.item)
        yield step.item, step.label, settled or ledger.first(step.item), settled is not None


def _all_answers(session: Session) -> Iterator[Answer]:
    """All answers in their order; a settled label is one more."""
    ledger = session.ledger
    found = [(item, g.label, g, False) for item, by in ledger.given.items() for g in by.values()]
    found += [(item, given.label, given, True) for item, given in ledger.settled.items()]
    yield from sorted(found, key=lambda answer: answer[2].number)


def _lines_of(session: Session, answers: list[Answer]) -> list[_Line]:
    """A line for each answer and each record of its text."""
    items = session.items
    texts = {item: items.text(item) for item, *_ in answers}
    nowhere: list[Record | None] = [None]
    places = {} if items.records is None else items.records.of(texts)
    return [
        _Line(item, record, label, given, settled)
        for item, label, given, settled in answers
        for record in places.get(item) or nowhere
    ]


def _columns(session: Session, lines: list[_Line]) -> _Names:
    """Names of the columns; ours give way to those of the pool."""
    items = session.items
    theirs = dict.fromkeys(name for line in lines if line.record for name in line.record.values)
    content, label = items.text_column, items.label_column
    if session.kind == "tags":
        content, label = "tokens", "tags"
    if items.lines is not None and not theirs:
        theirs = dict.fromkeys(items.X.names)
    pool = [name for name in (items.id_column, *theirs) if name is not None]
    if content is not None and content not in pool:
        pool = [content, *pool]
    pool = list(dict.fromkeys(pool))
    label = label or _free("label", {*pool})
    return _Names(content, pool, label, [_free(name, {*pool, label}) for name in _OURS])


def _free(name: str, taken: set[str]) -> str:
    """The name, or the name with underscores if there is such a column."""
    while name in taken:
        name += "_"
    return name


def _row(session: Session, line: _Line, names: _Names) -> dict[str, Any]:
    items, record, given = session.items, line.record, line.given
    values = {} if record is None else record.values
    if names.content is not None:
        content = items.words(line.item) if session.kind == "tags" else items.text(line.item)
        values = {names.content: content, **values}
    elif not values:
        values = items.values(line.item)
    time = datetime.fromtimestamp(given.time, UTC).isoformat(timespec="seconds")
    place = (None, None) if record is None else (record.file, record.line)
    by = None if given.person == FILE else given.person
    ours = dict(zip(names.ours, (by, time, line.settled, line.item, *place), strict=True))
    row = {**values, names.label: line.label, **ours}
    return {name: row[name] for name in names.all if name in row}


def _bytes(text: str) -> bytes:
    """UTF-8; what is no text, as in names of files, becomes an escape."""
    return text.encode("utf-8", "backslashreplace")


def _json(value: Any) -> str:
    return json.dumps(_finite(value), ensure_ascii=False, default=str)


def _finite(value: Any) -> Any:
    """A value without infinities and NaN, which JSON lacks."""
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _csv(rows: list[dict[str, Any]], names: _Names) -> bytes:
    """A list of labels is one cell with ``;`` between them, as ``--label-separator`` reads it."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(names.all)
    for row in rows:
        own = row[names.label]
        cells = {**row, names.label: ";".join(own) if isinstance(own, list) else own}
        writer.writerow([_cell(cells.get(name)) for name in names.all])
    return _bytes(file.getvalue())


def _cell(value: Any) -> Any:
    return _json(value) if isinstance(value, dict | list | tuple | bool) else value


def _parquet(rows: list[dict[str, Any]], names: _Names, kind: str) -> bytes:
    """Our types are the same whatever the labels are: none of them may have a list yet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = pa.string()
    types = dict(
        zip(names.ours, (text, text, pa.bool_(), pa.int64(), text, pa.int64()), strict=True)
    )
    types[names.label] = text if kind == "texts" else pa.list_(text)
    if names.content is not None:
        types[names.content] = pa.list_(text) if kind == "tags" else text
    columns = {
        name: _column([row.get(name) for row in rows], types.get(name)) for name in names.all
    }
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def _column(values: list[Any], type_: Any) -> Any:
    """A column of one type; of texts, if the values of the files have several types."""
    import pyarrow as pa

    try:
        return pa.array([_bytes(v).decode() if isinstance(v, str) else v for v in values], type_)
    except (pa.ArrowException, ValueError, OverflowError):
        return pa.array([v if v is None else _bytes(str(_cell(v))).decode() for v in values])


def _conll(answers: list[Answer], session: Session) -> str:
    """One token a line with all its columns, the tag last, a blank line after a sentence."""
    sentences = []
    for item, tags, *_ in answers:
        tokens = session.items.X[item]
        columns = [(token,) if isinstance(token, str) else tuple(token) for token in tokens]
        lines = [" ".join([*c, tag]) for c, tag in zip(columns, tags, strict=True)]
        sentences.append("\n".join(lines) + "\n")
    return "\n".join(sentences)

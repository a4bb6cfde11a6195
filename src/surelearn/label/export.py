"""Labels as files: jsonl, csv, parquet, CoNLL; must not know the page."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from surelearn.label.session import FILE, Session

#: The type of each format of labels.
FORMATS = {
    "jsonl": "application/jsonl; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "conll": "text/plain; charset=utf-8",
}


def exported(session: Session, kind: str) -> bytes:
    """All labels so far as a file of this format, in the order in which they were given."""
    with session.lock:
        rows = list(_rows(session))
    if kind == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    if kind == "csv":
        return _csv(_columns(session), rows)
    if kind == "conll":
        return _conll(rows, session).encode()
    return _parquet(_columns(session), rows, session.kind)


def _rows(session: Session) -> Iterator[dict[str, Any]]:
    items, ledger, names = session.items, session.ledger, _columns(session)
    for step in session.lessons():
        given = ledger.settled.get(step.item) or ledger.first(step.item)
        content = items.words(step.item) if session.kind == "tags" else items.text(step.item)
        by = given.person if given.person != FILE else None
        time = datetime.fromtimestamp(given.time, UTC).isoformat(timespec="seconds")
        yield dict(zip(names, (content, step.label, by, time, step.item), strict=True))


def _columns(session: Session) -> list[str]:
    """Names of the columns; ours give way to those of the pool."""
    items = session.items
    ours = ["tokens", "tags"] if session.kind == "tags" else [items.text_column, items.label_column]
    return [*ours, *(f"{name}_" if name in ours else name for name in ("by", "time", "item"))]


def _csv(names: list[str], rows: list[dict[str, Any]]) -> bytes:
    """A list of labels is one cell with ``;`` between them, as ``--label-separator`` reads it."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([";".join(v) if isinstance(v, list) else v for v in row.values()])
    return file.getvalue().encode()


def _parquet(names: list[str], rows: list[dict[str, Any]], kind: str) -> bytes:
    """The types are the same whatever the labels are: none of them may have a list yet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = io.BytesIO()
    text = pa.string()
    content = pa.list_(text) if kind == "tags" else text
    label = text if kind == "texts" else pa.list_(text)
    types = [content, label, text, text, pa.int64()]
    schema = pa.schema(list(zip(names, types, strict=True)))
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), file)
    return file.getvalue()


def _conll(rows: list[dict[str, Any]], session: Session) -> str:
    """One token a line with all its columns, the tag last, a blank line after a sentence."""
    sentences = []
    for row in rows:
        tokens = session.items.X[row["item"]]
        columns = [(token,) if isinstance(token, str) else tuple(token) for token in tokens]
        lines = [" ".join([*c, tag]) for c, tag in zip(columns, row["tags"], strict=True)]
        sentences.append("\n".join(lines) + "\n")
    return "\n".join(sentences)

"""Slow readers of jsonl and csv, a record at a time with Python's own modules: judges of ours."""

from __future__ import annotations

import csv
import io
import json
import re
import sys

csv.field_size_limit(sys.maxsize // 2)


#: What stands for a label that is missing.
MISSING = {"nan", "na", "n/a", "#n/a", "<na>", "null", "none"}


class NoColumns(Exception):
    """The columns that are asked for are not there."""


def jsonl(data: bytes) -> tuple[list[str], list, list[int]]:
    """Texts and labels of the good lines, and the numbers of the bad ones."""
    if is_wide(data) or _is_no_lines(data.removeprefix(b"\xef\xbb\xbf")):
        raise NoColumns
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    records = {i: _object(line) for i, line in enumerate(lines, start=1) if line.strip()}
    objects = [record for record in records.values() if record is not None]
    if not objects or not {"text", "label"} <= set(objects[0]):
        raise NoColumns
    labels = [record.get("label") for record in objects]
    kind, many = _usual([label for label in labels if type(label) in (list, *_KINDS)])
    good = {
        i: record | {"label": _as(record["label"], kind)}
        for i, record in records.items()
        if record is not None
        and _is(record.get("text"), str)
        and _is_label(record.get("label"), kind, many)
    }
    return _columns(list(good.values()), sorted(set(records) - set(good)))


#: Types of labels.
_KINDS = (str, bool, int, float)


def _usual(labels: list) -> tuple[type, bool]:
    """The type that most of the first 100 labels have, and whether most are lists."""
    first = labels[:100]
    many = _most([type(label) is list for label in first], default=False)
    kinds = [_kind(label, many) for label in first]
    if float in kinds and kinds.index(float) < (kinds.index(int) if int in kinds else len(kinds)):
        kinds = [float if kind is int else kind for kind in kinds]
    later = (kind for kind in (_kind(label, many) for label in labels[100:]) if kind)
    return _most([kind for kind in kinds if kind], default=next(later, str)), many


def _most(values: list, default):
    """The most frequent value, the first of equals."""
    return max(
        values, key=lambda value: (values.count(value), -values.index(value)), default=default
    )


def _kind(label: object, many: bool) -> type | None:
    if many != (type(label) is list):
        return None
    kinds = {type(x) for x in label} if many else {type(label)}
    kinds = {float} if kinds == {int, float} else kinds
    return kinds.pop() if len(kinds) == 1 and kinds <= set(_KINDS) else None


def _is_label(value: object, kind: type, many: bool) -> bool:
    if not many:
        return _is(value, kind)
    return type(value) is list and all(_is(x, kind) for x in value)


def _as(value: object, kind: type) -> object:
    """A label; of a list, each label once, in order."""
    return tuple(sorted({kind(x) for x in value})) if type(value) is list else kind(value)


def _object(line: bytes) -> dict | None:
    try:
        record = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _is(value: object, kind: type) -> bool:
    if kind is float:
        return type(value) in (int, float) and abs(value) < 1e308
    if kind is int:
        return type(value) is int and -(2**63) <= value < 2**63
    if kind is str:
        return type(value) is str and not re.search("[\ud800-\udfff]", value)
    return type(value) is kind


def table(data: bytes, delimiter: str) -> tuple[list[str], list, list[int]]:
    """Texts and labels of the good rows of csv, and the numbers of the bad ones, the first 1."""
    # Every byte is a letter in Latin-1, so that columns are found before they are looked into.
    letters = io.StringIO(data.removeprefix(b"\xef\xbb\xbf").decode("latin-1"), newline="")
    names, *rows = [row for row in csv.reader(letters, delimiter=delimiter) if row] or [[]]
    if is_wide(data) or [_utf8(name) for name in names].count(None):
        raise NoColumns
    names = [_utf8(name) for name in names]
    if names.count("text") != 1 or names.count("label") != 1 or not rows:
        raise NoColumns
    text, label = names.index("text"), names.index("label")
    whole_rows = [row for row in rows if len(row) == len(names) and not _is_names(row, names)]
    labels = [row[label] for row in whole_rows if row[label]]
    odd = [letters for letters in labels if _whole(letters) is None]
    few = 10 * len(odd) <= len(labels) or {letters.lower() for letters in odd} <= MISSING
    kind = int if len(odd) < len(labels) and few else str
    good = {}
    for i, row in enumerate(rows, start=1):
        is_row = len(row) == len(names) and not _is_names(row, names)
        if is_row and row[label] and _utf8(row[text]) is not None:
            found = _whole(row[label]) if kind is int else _utf8(row[label])
            if found is not None:
                good[i] = {"text": _utf8(row[text]), "label": found}
    return _columns(list(good.values()), sorted(set(range(1, len(rows) + 1)) - set(good)))


def _is_names(row: list[str], names: list[str]) -> bool:
    """The names once more, perhaps after the mark of an editor."""
    found = [_utf8(letters) for letters in row]
    return len(row) > 1 and [(found[0] or "").removeprefix("\ufeff"), *found[1:]] == names


def is_wide(data: bytes) -> bool:
    """Letters of two or four bytes, by a mark or by the first letters."""
    begin = data[:64]
    if begin[:2] in (b"\xff\xfe", b"\xfe\xff") or begin[:4] == b"\0\0\xfe\xff":
        return True
    pairs = [begin[i : i + 2] for i in range(0, len(begin) - 1, 2)]
    nulls = [sum(pair[k] == 0 for pair in pairs) for k in (0, 1)]
    return len(pairs) >= 4 and 0 in nulls and sum(nulls) >= 0.8 * len(pairs)


def _is_no_lines(data: bytes) -> bool:
    """An array, or an object over several lines."""
    lines = [line for line in data.split(b"\n") if line.strip()] or [b""]
    if lines[0].strip() == b"{":
        return len(lines) > 1 and lines[1].lstrip().startswith(b'"')
    if not lines[0].lstrip().startswith(b"["):
        return False
    try:
        json.loads(lines[0])
    except (ValueError, RecursionError):
        return True
    return len(lines) == 1


def _utf8(letters: str) -> str | None:
    try:
        return letters.encode("latin-1").decode()
    except UnicodeDecodeError:
        return None


def _whole(text: str) -> int | None:
    """The number, if it is written the way Python writes it."""
    try:
        number = int(text)
    except ValueError:
        return None
    return number if str(number) == text and -(2**63) <= number < 2**63 else None


def _columns(records: list[dict], bad: list[int]) -> tuple[list[str], list, list[int]]:
    return [r["text"] for r in records], [r["label"] for r in records], bad

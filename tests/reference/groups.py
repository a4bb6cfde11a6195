"""Slow readers of groups of candidates, a line at a time: judges of ours.

A reader gives ``(groups, n_bad)``. A group is ``(id, [(label, name, {feature: value}), ...])``.
"""

from __future__ import annotations

import math
import re

import numpy as np

from reference import vw

_NUMBER = rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_BLANK = rb"[ \t\v\f\r]"
_ENTRY = re.compile(rb"(\d{1,18}):(" + _NUMBER + rb")")
_LINE = re.compile(
    rb"(" + _NUMBER + rb")" + _BLANK + rb"+qid:(\d{1,18})((?:" + _BLANK + rb"+[^ \t\v\f\r]+)*)"
)
_QUERY = re.compile(rb"[^\s#]+" + _BLANK + rb"+qid:(\d{1,18})(?=[\s#]|$)")


def svmlight(data: bytes, n_features: int) -> tuple[list, int]:
    """Groups of a block of svmlight text."""
    stretches: list[tuple[int | None, list[bytes]]] = [(None, [])]
    for line in data.split(b"\n"):
        found = _QUERY.match(line.lstrip(b" \t\v\f\r"))
        query = None if found is None else int(found[1])
        if query is not None and stretches[-1][0] is None:
            stretches[-1] = (query, stretches[-1][1])
        elif query is not None and stretches[-1][0] != query:
            stretches.append((query, []))
        stretches[-1][1].append(line)
    groups, seen, n_bad = [], set(), 0
    for query, lines in stretches:
        rows = [_row(line, n_features) for line in lines if line.split(b"#")[0].strip()]
        if None in rows or query in seen:
            n_bad += 1
        elif rows:
            groups.append((query, rows))
        seen.add(query)
    return groups, n_bad


def _row(line: bytes, n_features: int) -> tuple | None:
    found = _LINE.fullmatch(line.split(b"#")[0].strip(b" \t\v\f\r"))
    if found is None or not 0 <= float(found[1]) < math.inf:
        return None
    entries = [_ENTRY.fullmatch(word) for word in found[3].split()]
    if None in entries:
        return None
    row: dict[int, float] = {}
    for entry in entries:
        j, x = int(entry[1]) - 1, _single(float(entry[2]))
        if not 0 <= j < n_features or not math.isfinite(x):
            return None
        row[j] = row.get(j, 0.0) + x
    return float(found[1]), None, row


def candidates(data: bytes, n_features: int) -> tuple[list, int]:
    """Groups of a block of the label-dependent format, which has costs if any candidate has."""
    stretches = [[]]
    for line in data.split(b"\n"):
        if line.strip(b" \t\r"):
            stretches[-1].append(line)
        else:
            stretches.append([])
    found = [_group(lines, n_features) for lines in stretches if lines]
    labelled = any(row[0] is not None for group in found if group for row in group if row)
    sound = [group for group in found if group and _is_sound(group, labelled=labelled)]
    return [(None, group) for group in sound], len(found) - len(sound)


def _is_sound(group: list, *, labelled: bool) -> bool:
    if None in group or (labelled and any(row[0] is None for row in group)):
        return False
    return all(math.isfinite(x) for row in group for x in row[2].values())


def _group(lines: list[bytes], n_features: int) -> list:
    """Candidates with the features that they share; None for a bad line."""
    shared: dict[int, float] = {}
    rows: list = []
    for i, line in enumerate(lines):
        try:
            word, row = _candidate(line, n_features)
        except vw.Bad:
            rows.append(None)
            continue
        if word in (b"shared", b"***shared***"):
            shared = row
            if i > 0:
                rows.append(None)
            continue
        name, colon, cost = word.partition(b":")
        try:
            rows.append((vw.number(cost) if colon else None, int(name) if name else -1, row))
        except (vw.Bad, ValueError):
            rows.append(None)
            continue
        if (name and not re.fullmatch(rb"\d{1,18}", name)) or (colon and not name):
            rows[-1] = None
    return [row and (*row[:2], _sum(row[2], shared)) for row in rows]


def _candidate(line: bytes, n_features: int) -> tuple[bytes, dict[int, float]]:
    before, bar, rest = line.partition(b"|")
    if not bar:
        raise vw.Bad(line)
    words = before.lstrip(b" \t\r").split(b" ")
    is_tagged = bool(words[-1])
    words = [word for word in words if word]
    if words and (is_tagged or words[-1].startswith(b"'")):
        words.pop()
    if len(words) > 1:
        raise vw.Bad(before)
    row = vw.row_of(b"|" + rest, n_features, False)[2]
    single = {j: _single(x) for j, x in row.items()}
    if not all(map(math.isfinite, single.values())):
        raise vw.Bad(rest)
    return (words or [b""])[0], single


def _sum(row: dict[int, float], shared: dict[int, float]) -> dict[int, float]:
    features = sorted({*row, *shared})
    return {j: _single(row.get(j, 0.0) + shared.get(j, 0.0)) for j in features}


def _single(x: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(x))

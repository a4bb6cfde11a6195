"""Slow readers of CoNLL's columns and CoNLL-U, a line at a time in bytes: judges of ours."""

from __future__ import annotations

import re

from reference.readers import NoColumns


def conll(data: bytes) -> tuple[list, list, list[int]]:
    """Words (all columns but the last) and labels of good sentences, a line of each bad one."""
    lines = _lines(data)
    rows = [[field for field in re.split(rb"[ \t\r]+", line) if field] for line in lines]
    rows = [[] if row[:1] == [b"-DOCSTART-"] else row for row in rows]
    width = next((len(row) for row in rows if row), 0)
    if width < 2:
        raise NoColumns
    X, y, bad = [], [], []
    for first, sentence in _sentences(rows):
        words = [_texts(row) for row in sentence]
        wrong = [i for i, word in enumerate(words) if word is None or len(word) != width]
        if wrong:
            bad.append(first + wrong[0])
        else:
            X.append([tuple(word[:-1]) if width > 2 else word[0] for word in words])
            y.append([word[-1] for word in words])
    return X, y, bad


def conllu(data: bytes) -> tuple[list, list, list[int]]:
    """Forms and parts of speech of good sentences, the first bad line of each other one."""
    lines = _lines(data)
    rows = [line.rstrip(b"\r").split(b"\t") if line.strip(b" \t\r") else [] for line in lines]
    X, y, bad = [], [], []
    for first, sentence in _sentences(rows):
        X.append([])
        y.append([])
        for number, row in enumerate(sentence, start=first):
            texts = _texts(row)
            if texts is None or not (row[0].startswith(b"#") or _is_row(texts)):
                bad.append(number)
                X.pop(), y.pop()
                break
            if re.fullmatch("[0-9]+", texts[0]):
                X[-1].append(texts[1])
                y[-1].append(texts[3])
    filled = [i for i, words in enumerate(X) if words]
    return [X[i] for i in filled], [y[i] for i in filled], bad


def _is_row(texts: list[str]) -> bool:
    if len(texts) != 10:
        return False
    if re.fullmatch("[0-9]+[-.][0-9]+", texts[0]):
        return True
    return bool(re.fullmatch("[0-9]+", texts[0]) and texts[1] and texts[3])


def _lines(data: bytes) -> list[bytes]:
    if not data.removeprefix(b"\xef\xbb\xbf").strip():
        raise NoColumns
    return data.removeprefix(b"\xef\xbb\xbf").split(b"\n")


def _sentences(rows: list[list[bytes]]) -> list[tuple[int, list[list[bytes]]]]:
    """Rows between empty ones, with the number of the first line of each."""
    found, now = [], []
    for number, row in enumerate([*rows, []], start=1):
        if row:
            now.append(row)
        elif now:
            found.append((number - len(now), now))
            now = []
    return found


def _texts(row: list[bytes]) -> list[str] | None:
    try:
        texts = [field.decode() for field in row]
    except UnicodeDecodeError:
        return None
    return None if any("\0" in text for text in texts) else texts

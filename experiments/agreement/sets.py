"""The data sets: rows and labels, cut into what is learnt, what calibrates and what is judged."""

from __future__ import annotations

import json
import lzma
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GroupShuffleSplit
from sklearn.preprocessing import StandardScaler

DOMAINS = "amazon-multidomain.jsonl.xz"


class Split(NamedTuple):
    """Rows and labels to learn from, to calibrate with and to judge by."""

    learn: tuple[Any, np.ndarray]
    calibrate: tuple[Any, np.ndarray]
    judge: tuple[Any, np.ndarray]


def newsgroups() -> Split:
    """20 Newsgroups."""
    found = _records("20news-18828.jsonl.xz")
    return _texts([r["text"] for r in found], [r["label"] for r in found])


def titles() -> Split:
    """Titles of Stack Overflow."""
    found = _records("stackoverflow-titles.jsonl.xz")
    (text,) = {"text", "title"} & found[0].keys()
    (label,) = {"label", "tag"} & found[0].keys()
    return _texts([r[text] for r in found], [r[label] for r in found])


def domains() -> Split:
    """The 14 Amazon domains."""
    found = _records(DOMAINS)
    return _texts([r["text"] for r in found], [r["domain"] for r in found])


def reuters() -> Split:
    """R52: the ModApte split, one topic a text, topics that occur on both sides."""
    found = _records("reuters-21578.jsonl.xz")
    found = [r for r in found if r["has_topics"] == "YES" and len(r["topics"]) == 1]
    sides = {s: [r for r in found if r["lewissplit"] == s] for s in ("TRAIN", "TEST")}
    topics = [{r["topics"][0] for r in side} for side in sides.values()]
    both = [
        [r for r in side if r["topics"][0] in set.intersection(*topics)] for side in sides.values()
    ]
    texts, y = ([pick(r) for side in both for r in side] for pick in (_text, _topic))
    X, labels = _words(texts), np.asarray(y)
    train, test = np.arange(len(both[0])), np.arange(len(both[0]), len(texts))
    learn, calibrate = _cut(train, _numbered(texts)[train], 0.1)
    return _split(X, labels, learn, (calibrate, test))


def digits() -> Split:
    """Handwritten digits of 8 x 8 pixels."""
    X, y = load_digits(return_X_y=True)
    return _dense(X / 16.0, y)


def wine() -> Split:
    """Wines by chemical analysis."""
    X, y = load_wine(return_X_y=True)
    return _dense(StandardScaler().fit_transform(X), y)


SETS = {
    "20 Newsgroups": newsgroups,
    "Stack Overflow titles": titles,
    "Amazon domains": domains,
    "Reuters R52": reuters,
    "digits": digits,
    "wine": wine,
}


def _records(name: str) -> list[dict[str, Any]]:
    folder = os.environ.get("SURELEARN_DATA")
    if folder is None:
        raise SystemExit(f"SURELEARN_DATA must name the folder with {name}, got nothing.")
    with lzma.open(Path(folder) / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _text(record: dict[str, Any]) -> str:
    return record["text"]


def _topic(record: dict[str, Any]) -> str:
    return record["topics"][0]


def _words(texts: list[str]) -> Any:
    vectorizer = CountVectorizer(binary=True, token_pattern=r"\w+", dtype=np.float32)
    return vectorizer.fit_transform(texts).sorted_indices()


def _texts(texts: list[str], labels: list[str]) -> Split:
    """A fifth to judge by, a tenth of the rest to calibrate; equal texts on one side only."""
    groups = _numbered(texts)
    rest, judge = _cut(np.arange(len(texts)), groups, 0.2)
    learn, calibrate = _cut(rest, groups[rest], 0.1)
    return _split(_words(texts), np.asarray(labels), learn, (calibrate, judge))


def _dense(X: np.ndarray, y: np.ndarray) -> Split:
    """As for texts, but with a third to judge by and a fifth to calibrate: there are few rows."""
    rest, judge = _cut(np.arange(len(y)), np.arange(len(y)), 0.33)
    learn, calibrate = _cut(rest, rest, 0.2)
    return _split(X, y, learn, (calibrate, judge))


def _numbered(texts: list[str]) -> np.ndarray:
    """The same number for equal texts."""
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    return np.array([numbers[text] for text in texts])


def _cut(rows: np.ndarray, groups: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    cut = GroupShuffleSplit(1, test_size=share, random_state=0)
    first, second = next(cut.split(rows, groups=groups))
    return rows[first], rows[second]


def _split(X: Any, y: np.ndarray, learn: np.ndarray, others: Iterable[np.ndarray]) -> Split:
    # A class of a few rows may be missing from what is learnt: nobody can predict it.
    known = np.unique(y[learn])
    parts = (rows[np.isin(y[rows], known)] for rows in (learn, *others))
    return Split(*((X[rows], y[rows]) for rows in parts))

"""The data sets of all experiments, as raw texts or as a matrix; must not know what is learnt.

Files are found by `surelearn.datasets.find`; docstrings, digits, wine and breast cancer need none.
Equal texts have one group number, and `folds` and `cut` keep a group on one side.
"""

from __future__ import annotations

import json
import lzma
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.model_selection import GroupKFold, GroupShuffleSplit
from sklearn.preprocessing import StandardScaler

from surelearn.datasets import find, load_docstrings

AMAZON_7 = ("apparel", "books", "dvd", "electronics", "kitchen_housewares", "music", "video")
AMAZON_3 = ("books", "dvd", "music")


class Corpus(NamedTuple):
    """Texts and their labels."""

    texts: list[str]
    y: NDArray[Any]


class Rows(NamedTuple):
    """A matrix, its labels, and a number for each row that equal texts share."""

    X: Any
    y: NDArray[Any]
    groups: NDArray[Any]


# ------------------------------------------------------------------------ texts


def newsgroups() -> Corpus:
    """20 Newsgroups."""
    return _labelled(records("20news-18828.jsonl.xz"), "label")


def acl(domain: str) -> Corpus:
    """Sentiment of a review whose words and pairs of words are counted: a token for each count."""
    found = [_counted(line) for line in _lines(f"amazon-processed-acl/{domain}.txt.xz")]
    return Corpus([text for text, _ in found], np.array([label for _, label in found]))


def domains(among: tuple[str, ...] | None = None) -> Corpus:
    """The product domain of an Amazon review, of all 14 or of some."""
    found = records("amazon-multidomain.jsonl.xz")
    return _labelled([r for r in found if among is None or r["domain"] in among], "domain")


def sentiment() -> Corpus:
    """Sentiment of Amazon reviews of 14 domains, tokenised by their publishers."""
    return _labelled(records("amazon-multidomain.jsonl.xz"), "label")


def reviews() -> Corpus:
    """Sentiment of Amazon reviews of four domains, as they were written."""
    return _labelled(records("amazon-raw-4domains.jsonl.xz"), "label")


def reuters() -> Corpus:
    """R52: the ModApte split, one topic a text, topics that occur on both sides; TRAIN first."""
    found = records("reuters-21578.jsonl.xz")
    found = [r for r in found if r["has_topics"] == "YES" and len(r["topics"]) == 1]
    sides = [[r for r in found if r["lewissplit"] == side] for side in ("TRAIN", "TEST")]
    both = set.intersection(*({r["topics"][0] for r in side} for side in sides))
    kept = [r for side in sides for r in side if r["topics"][0] in both]
    return Corpus([r["text"] for r in kept], np.array([r["topics"][0] for r in kept]))


def sentiment140() -> Corpus:
    """Sentiment of tweets, by their emoticons: noisy labels."""
    return _labelled(records("sentiment140-100k.jsonl.xz"), "label")


def titles() -> Corpus:
    """The tag of a Stack Overflow question, from its title."""
    return _labelled(records("stackoverflow-titles.jsonl.xz"), "label")


def docstrings() -> Corpus:
    """The sub-package of a docstring; its texts change a little with the installed versions."""
    return Corpus(*load_docstrings(return_X_y=True))


TEXTS: dict[str, Callable[[], Corpus]] = {
    "20 Newsgroups": newsgroups,
    "Amazon books": partial(acl, "books"),
    "Amazon dvd": partial(acl, "dvd"),
    "Amazon electronics": partial(acl, "electronics"),
    "Amazon kitchen": partial(acl, "kitchen"),
    "Amazon domains": domains,
    "Amazon 7": partial(domains, AMAZON_7),
    "Amazon 3": partial(domains, AMAZON_3),
    "Amazon sentiment": sentiment,
    "Amazon reviews": reviews,
    "Reuters R52": reuters,
    "Sentiment140": sentiment140,
    "Stack Overflow titles": titles,
    "docstrings": docstrings,
}

#: Already cut into tokens that hold more than letters: only blanks end one.
TOKENISED = frozenset(name for name, make in TEXTS.items() if getattr(make, "func", None) is acl)

DENSE: dict[str, Callable[..., Any]] = {
    "digits": load_digits,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
}


def texts(name: str) -> Corpus:
    """Raw texts and labels of a set."""
    return TEXTS[name]()


def dense(name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Features as they are measured, and labels."""
    X, y = DENSE[name](return_X_y=True)
    return X, y


def hashed(
    found: list[str], name: str = "", *, norm: str | None = "l2", pairs: bool = False
) -> Any:
    """Counts of lower-cased words in 2^20 columns, float32; rows of length 1 if `norm` is "l2".

    With `pairs` those of neighbouring words are counted too; tokenised sets have them already.
    """
    kept: dict[str, Any] = {"token_pattern": r"\w+", "ngram_range": (1, 1 + pairs)}
    words: dict[str, Any] = {"analyzer": str.split} if name in TOKENISED else kept
    vectorizer = HashingVectorizer(norm=norm, alternate_sign=False, dtype=np.float32, **words)
    return vectorizer.transform(found).sorted_indices()


def rows(name: str, *, norm: str | None = "l2") -> Rows:
    """A set as a matrix: hashed texts, or dense features that `standardised` is still to scale."""
    if name in DENSE:
        X, y = dense(name)
        return Rows(X, y, numbered([row.tobytes() for row in X]))
    corpus = texts(name)
    return Rows(hashed(corpus.texts, name, norm=norm), corpus.y, numbered(corpus.texts))


def standardised(learnt: NDArray[Any], *others: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Every feature with mean 0 and variance 1 on the rows that are learnt."""
    scaler = StandardScaler().fit(learnt)
    return tuple(scaler.transform(X) for X in (learnt, *others))


def sentences(name: str) -> list[list[tuple[str, ...]]]:
    """Sentences of a file with a token a line, its columns between blanks."""
    blocks = "".join(_lines(name)).split("\n\n")
    found = [[tuple(line.split()) for line in block.splitlines()] for block in blocks]
    return [tokens for tokens in found if tokens]


# ------------------------------------------------------------------------ folds


def numbered(found: list[Any]) -> NDArray[Any]:
    """The same number for equal texts."""
    numbers = {text: number for number, text in enumerate(dict.fromkeys(found))}
    return np.array([numbers[text] for text in found])


def folds(
    groups: NDArray[Any], n_folds: int, seed: int = 0
) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Places of rows to learn and to judge, shuffled, `n_folds` times; a group is never cut."""
    cut = GroupKFold(n_folds, shuffle=True, random_state=seed)
    random = np.random.default_rng(seed)
    for learn, judge in cut.split(groups, groups=groups):
        yield random.permutation(learn), judge


def cut(
    places: NDArray[Any], groups: NDArray[Any], share: float
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The places in two parts, the second with `share` of the groups."""
    splitter = GroupShuffleSplit(1, test_size=share, random_state=0)
    first, second = next(splitter.split(places, groups=groups))
    return places[first], places[second]


# ------------------------------------------------------------------------ files


def _lines(name: str) -> list[str]:
    with lzma.open(find(name), "rt", encoding="utf-8", newline="\n") as lines:
        return list(lines)


def records(name: str) -> list[dict[str, Any]]:
    """The records of a file of JSON lines."""
    return [json.loads(line) for line in _lines(name)]


def _labelled(found: list[dict[str, Any]], label: str) -> Corpus:
    return Corpus([r["text"] for r in found], np.array([r[label] for r in found]))


def _counted(line: str) -> tuple[str, str]:
    """A line of ``feature:count ... #label#:positive``; a feature may hold colons."""
    *pairs, (_, label) = (pair.rsplit(":", 1) for pair in line.split())
    counts = Counter({feature: int(count) for feature, count in pairs})
    return " ".join(counts.elements()), label

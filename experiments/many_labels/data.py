"""Sentences of Reuters articles, whose labels are the headlines: thousands of classes with names.

An article counts if its headline is no other's and its body has three sentences of six words at
least. One sentence of each, drawn at random, is judged; of the others every second one makes the
article's profile and the rest are learnt.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from experiments.sets import records
from surelearn.text import HashingVectorizer

#: Words are hashed to so many places.
N_FEATURES = 2**18

_END = re.compile(r"(?<=[a-z)][.])\s+(?=[A-Z\"(])")


class Sentences(NamedTuple):
    """Hashed sentences and the number of the article of each."""

    X: Any
    y: np.ndarray


class Articles(NamedTuple):
    """Headlines and sentences; topics are those that Reuters gave."""

    headlines: list[str]
    topics: list[frozenset[str]]
    profile: Sentences
    learnt: Sentences
    judged: Sentences
    names: Any  # the hashed headlines


def articles(*, new: float = 0.0) -> Articles:
    """The articles; of a share of them, the last ones, nothing but the headline is known."""
    found = list(_bodies())
    random = np.random.default_rng(0)
    order = random.permutation(len(found))
    found = [found[i] for i in order]
    known = len(found) - int(new * len(found))
    parts: tuple[list[tuple[str, int]], ...] = ([], [], [])
    for label, (_, _, sentences) in enumerate(found):
        held = int(random.integers(len(sentences)))
        parts[2].append((sentences.pop(held), label))
        for place, sentence in enumerate(sentences if label < known else []):
            parts[place % 2].append((sentence, label))
    headlines = [headline for headline, _, _ in found]
    topics = [topics for _, topics, _ in found]
    return Articles(headlines, topics, *map(_hashed, parts), names=_words(headlines))


def profiles(of: Articles, *parts: Sentences) -> Any:
    """For each article, the words of its headline and of its sentences in these parts."""
    total = of.names
    for X, y in parts:
        place = sparse.csr_array(
            (np.ones(len(y)), (y, np.arange(len(y)))), (total.shape[0], len(y))
        )
        total = total + place @ X
    return sparse.csr_array(total > 0, dtype=np.float32)


def rarity(Z: Any) -> np.ndarray:
    """log(n / n_j) of each word, n_j of the n labels having it."""
    count = np.bincount(Z.indices, minlength=Z.shape[1])
    return np.log(Z.shape[0] / np.maximum(count, 1))


def _bodies() -> Any:
    seen: set[str] = set()
    for record in records("reuters-21578.jsonl.xz"):
        headline = record["title"].strip()
        body = record["text"].removeprefix(record["title"])
        sentences = [part.strip() for part in _END.split(body) if len(part.split()) >= 6]
        if headline and headline not in seen and len(sentences) >= 3:
            seen.add(headline)
            yield headline, frozenset(record["topics"]), sentences


def _hashed(part: list[tuple[str, int]]) -> Sentences:
    return Sentences(_words([text for text, _ in part]), np.array([label for _, label in part]))


def _words(texts: list[str]) -> Any:
    vectorizer = HashingVectorizer(
        n_features=N_FEATURES, norm=None, alternate_sign=False, binary=True
    )
    return sparse.csr_array(vectorizer.transform(texts))

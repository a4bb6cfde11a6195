"""The twelve tasks of table 2, or what stands in for them; must not know learners."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer

from experiments import sets

#: Error % in table 2, in the order of `LEARNERS`.
LEARNERS = ("PA", "Variance", "Variance-Exact", "SVM", "Maxent", "SGD")
PAPER: dict[str, tuple[float, ...]] = {
    "comp": (8.90, 6.33, 9.63, 7.67, 7.62, 7.36),
    "sci": (4.22, 1.78, 3.3, 3.51, 3.55, 4.77),
    "talk": (1.57, 1.09, 2.21, 0.91, 0.91, 1.36),
    "Business": (17.80, 17.65, 17.70, 15.64, 15.10, 15.85),
    "Insurance": (9.76, 8.45, 9.49, 9.19, 8.59, 9.05),
    "Retail": (15.41, 11.05, 14.14, 12.80, 12.30, 14.31),
    "books": (19.55, 17.40, 20.45, 20.45, 19.91, 19.41),
    "dvds": (19.71, 19.11, 19.91, 20.09, 19.26, 20.20),
    "electronics": (17.40, 14.10, 17.44, 16.80, 16.21, 16.81),
    "kitchen": (15.64, 14.24, 16.35, 15.20, 14.94, 15.60),
    "music": (20.05, 18.10, 19.66, 19.35, 19.45, 18.81),
    "videos": (19.86, 17.20, 19.85, 20.70, 19.45, 19.65),
}
NEWSGROUPS = ("comp", "sci", "talk")
SENTIMENT = ("books", "dvds", "electronics", "kitchen", "music", "videos")
#: What stands in for the industries of RCV1: topics of Reuters-21578.
STAND_INS = {
    "Business": ("money-fx", "interest"),
    "Insurance": ("earn", "acq"),
    "Retail": ("trade", "money-fx"),
}
#: A few of each kind, for quick runs.
QUICK = ("talk", "Retail", "books", "kitchen")


def shown(task: str) -> str:
    """The name of a task, with what stands in for it."""
    return f"{task}: {' / '.join(STAND_INS[task])}" if task in STAND_INS else task


class Texts(NamedTuple):
    """Texts of two classes."""

    texts: list[str]
    y: NDArray[Any]


def _newsgroups(first: str, second: str) -> Texts:
    """Messages of two groups."""
    corpus = _all_newsgroups()
    kept = np.flatnonzero(np.isin(corpus.y, (first, second)))
    return Texts([corpus.texts[place] for place in kept], corpus.y[kept] == first)


def _topics(first: str, second: str) -> Texts:
    """Stories with one of two topics, and not the other."""
    found = [
        r for r in _records("reuters-21578.jsonl.xz") if len({first, second} & {*r["topics"]}) == 1
    ]
    return Texts([r["text"] for r in found], np.array([first in r["topics"] for r in found]))


def _reviews(domain: str) -> Texts:
    """Reviews of a domain, and whether they are positive."""
    found = [r for r in _records("amazon-multidomain.jsonl.xz") if r["domain"] == domain]
    return Texts([r["text"] for r in found], np.array([r["label"] == "positive" for r in found]))


_records = cache(sets.records)
_all_newsgroups = cache(sets.newsgroups)
TASKS: dict[str, Callable[[], Texts]] = {
    "comp": partial(_newsgroups, "comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"),
    "sci": partial(_newsgroups, "sci.electronics", "sci.med"),
    "talk": partial(_newsgroups, "talk.politics.guns", "talk.politics.mideast"),
    **{name: partial(_topics, *pair) for name, pair in STAND_INS.items()},
    "books": partial(_reviews, "books"),
    "dvds": partial(_reviews, "dvd"),
    "electronics": partial(_reviews, "electronics"),
    "kitchen": partial(_reviews, "kitchen_housewares"),
    "music": partial(_reviews, "music"),
    "videos": partial(_reviews, "video"),
}


@cache
def task(name: str) -> sets.Rows:
    """A task as in the paper: as many rows of each class, every text once.

    Reviews have counts of words and pairs of words, the others have words that occur or do not.
    """
    found = TASKS[name]()
    places = balanced(found, 900 if name in NEWSGROUPS else 1000)
    X = counted([found.texts[place] for place in places], is_review=name in SENTIMENT)
    return sets.Rows(X, found.y[places], np.arange(len(places)))


def balanced(found: Texts, most: int) -> NDArray[Any]:
    """Random places with as many rows of either class, at most `most`, and no text twice."""
    random = np.random.default_rng(0)
    _, first = np.unique(sets.numbered(found.texts), return_index=True)
    sides = [first[found.y[first] == side] for side in (False, True)]
    n = min(most, *map(len, sides))
    return random.permutation(
        np.concatenate([random.choice(side, n, replace=False) for side in sides])
    )


def counted(texts: list[str], *, is_review: bool) -> Any:
    """Counts of the words and pairs between blanks of reviews, presence of words otherwise."""
    settings: dict[str, Any] = (
        {"token_pattern": r"\S+", "ngram_range": (1, 2)}
        if is_review
        else {"token_pattern": r"\w+", "binary": True}
    )
    return CountVectorizer(dtype=np.float32, **settings).fit_transform(texts).sorted_indices()

"""The two-class tasks of Dredze & Crammer 2008; must not know learners.

Ten of the paper's thirteen: pairs of topics of Reuters-21578 stand in for those of RCV1, and the
three tasks of spam have no stand-in.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np

from experiments import sets

#: Rows of a task in the paper; larger pairs are cut down to as many, half of each class.
MOST = 2000


@cache
def _corpus(name: str) -> sets.Corpus:
    return sets.texts(name)


def pair(name: str, *labels: str) -> sets.Rows:
    """Two classes of a set, every word once: binary unigrams."""
    corpus = _corpus(name)
    random = np.random.default_rng(0)
    places = []
    for label in labels:
        found = np.flatnonzero(corpus.y == label)
        places.append(random.permutation(found)[: MOST // 2])
    kept = np.sort(np.concatenate(places))
    texts = [corpus.texts[i] for i in kept]
    X = sets.hashed(texts, norm=None)
    X.data[:] = 1.0
    return sets.Rows(X, corpus.y[kept], sets.numbered(texts))


def review(name: str) -> sets.Rows:
    """Sentiment: words and pairs of words, counted by their publishers (Blitzer et al. 2007)."""
    return sets.rows(name, norm=None)


TASKS: dict[str, Callable[[], sets.Rows]] = {
    "computers": partial(
        pair, "20 Newsgroups", "comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"
    ),
    "science": partial(pair, "20 Newsgroups", "sci.electronics", "sci.med"),
    "talk": partial(pair, "20 Newsgroups", "talk.politics.guns", "talk.politics.mideast"),
    "acq, earn": partial(pair, "Reuters R52", "acq", "earn"),
    "money-fx, interest": partial(pair, "Reuters R52", "money-fx", "interest"),
    "crude, trade": partial(pair, "Reuters R52", "crude", "trade"),
    "books": partial(review, "Amazon books"),
    "dvd": partial(review, "Amazon dvd"),
    "electronics": partial(review, "Amazon electronics"),
    "kitchen": partial(review, "Amazon kitchen"),
}
_NAMES = tuple(TASKS)
#: What the paper calls a task: several problems of one corpus.
CORPORA = {"20 Newsgroups": _NAMES[:3], "Reuters": _NAMES[3:6], "Amazon": _NAMES[6:]}
#: Curves that are the mean of several tasks, and the case that compares two criteria.
SOME, ALL = "20 Newsgroups, mean curve", "all tasks, mean curve"
CRITERIA = "criteria"

"""The sets of the experiments on deciding, each shuffled and cut once for each seed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments import sets


class Parts(NamedTuple):
    """Texts to learn from, and a population that calibration rows and answers are drawn from."""

    learnt: list[str]
    y: NDArray[Any]
    population: list[str]
    truth: NDArray[Any]


def clinc() -> sets.Corpus:
    """The questions of CLINC150 that have one of its 150 intents."""
    found = [r for r in sets.records("clinc150.jsonl.xz") if r["label"] != "oos"]
    return sets.Corpus([r["text"] for r in found], np.array([r["label"] for r in found]))


def isear() -> sets.Corpus:
    """Emotions of situations that people describe; many are ambiguous."""
    found = sets.records("isear-llm.jsonl.xz")
    return sets.Corpus([r["text"] for r in found], np.array([r["label"] for r in found]))


CORPORA = {
    "20 Newsgroups": sets.newsgroups,
    "Amazon reviews": sets.reviews,
    "Amazon domains": sets.domains,
    "Reuters R52": sets.reuters,
    "Sentiment140": sets.sentiment140,
    "Stack Overflow titles": sets.titles,
    "CLINC150": clinc,
    "ISEAR": isear,
}

#: The most texts to learn from, and of the population.
N_LEARNT, N_POPULATION = 3_000, 8_000


def parts(name: str, seed: int) -> Parts:
    """Equal texts are on one side."""
    corpus = CORPORA[name]()
    groups = sets.numbered(corpus.texts)
    random = np.random.default_rng(seed)
    rank = random.permutation(groups.max() + 1)[groups]
    order = np.argsort(rank, kind="stable")
    n = min(N_LEARNT, len(order) // 2)
    while n < len(order) and rank[order[n]] == rank[order[n - 1]]:
        n += 1
    learnt = random.permutation(order[:n])
    others = random.permutation(order[n:])[:N_POPULATION]
    return Parts(
        [corpus.texts[i] for i in learnt],
        corpus.y[learnt],
        [corpus.texts[i] for i in others],
        corpus.y[others],
    )

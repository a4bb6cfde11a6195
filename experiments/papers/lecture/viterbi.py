"""Viterbi's best paths against the best of all paths, listed."""

from __future__ import annotations

from functools import partial

import numpy as np

from experiments.papers.entry import Case, Claim, Entry, Row, Rows
from experiments.papers.lecture.enumeration import Enumerated, path_edges
from experiments.papers.lecture.identity import identity
from surelearn.decode import Chain

#: How many of the best paths are compared.
BEST = 5


def cases(quick: bool) -> dict[str, Case]:
    """Chains of some lengths and numbers of labels."""
    sizes = ((3, 2), (5, 4), (8, 3)) if quick else ((3, 2), (5, 4), (8, 3), (12, 2), (6, 6))
    n_chains = 20 if quick else 200
    return {f"{T} x {K}": partial(_compared, T, K, n_chains) for T, K in sizes}


def _compared(length: int, n_labels: int, n_chains: int) -> Rows:
    """The largest differences over random chains, each with its own scores."""
    random = np.random.default_rng(length)
    found = [_one(length, n_labels, random) for _ in range(n_chains)]
    return [
        {
            "length": length,
            "labels": n_labels,
            "chains": n_chains,
            **{name: max(one[name] for one in found) for name in found[0]},
        }
    ]


def _one(length: int, n_labels: int, random: np.random.Generator) -> Row:
    U = random.normal(size=(length, n_labels))
    A = random.normal(size=(n_labels, n_labels))
    y = random.integers(n_labels, size=length)
    steps = np.broadcast_to(A, (length - 1, n_labels, n_labels))
    every = Enumerated.of(U, steps, path_edges(length))
    chain = Chain(U, A)
    costs = np.mean(every.labels != y, axis=1)  # the lecture's: the share of wrong labels
    worst = chain.augmented(y, cost=1 / length).best()
    k = min(BEST, len(every.scores))
    best = [chain.score(path) for path in chain.k_best(k)]
    return {
        "best": float(abs(every.scores.max() - chain.score(chain.best()))),
        "k best": float(np.abs(np.sort(every.scores)[::-1][:k] - best).max()),
        "worst": float(
            abs((costs + every.scores).max() - np.mean(worst != y) - chain.score(worst))
        ),
        "features": float(abs(_by_features(U, A, y) - chain.score(y))),
    }


def _by_features(U: np.ndarray, A: np.ndarray, y: np.ndarray) -> float:
    """The score as one product of weights and features of the whole sequence (eq. 23)."""
    unary, pairs = np.zeros_like(U), np.zeros_like(A)
    unary[np.arange(len(y)), y] = 1
    np.add.at(pairs, (y[:-1], y[1:]), 1)
    weights, features = (
        np.concatenate([u.ravel(), a.ravel()]) for u, a in ((U, A), (unary, pairs))
    )
    return float(weights @ features)


def tables(rows: Rows) -> dict[str, Rows]:
    """The largest difference in score, by size."""
    return {
        "Largest difference to the list of all paths": [
            {
                "length": row["length"],
                "labels": row["labels"],
                "chains": row["chains"],
                "paths of a chain": f"{row['labels'] ** row['length']:,}",
                "steps of Viterbi, T K²": row["length"] * row["labels"] ** 2,
                "best path": f"{row['best']:.1e}",
                f"{BEST} best paths": f"{row['k best']:.1e}",
                "best path with costs": f"{row['worst']:.1e}",
                "score by features": f"{row['features']:.1e}",
            }
            for row in rows
        ]
    }


def claims(rows: Rows) -> tuple[Claim, ...]:
    """Dynamic programming solves the argmax; the score is the sum of local scores."""
    where = f"{sum(row['chains'] for row in rows)} chains"
    texts = {
        "best": "Dynamic programming finds the best of exponentially many paths.",
        "worst": "So it does with the Hamming cost of the structured hinge added.",
        "features": "The score of a sequence is one product with features summed over positions.",
    }
    return tuple(
        identity(text, max(row[name] for row in rows), where) for name, text in texts.items()
    )


ENTRY = Entry(
    name="lecture-viterbi",
    title="Viterbi against all paths",
    cases=cases,
    tables=tables,
    claims=claims,
    notes="Random scores of labels and of pairs of labels. The lecture asks for the running time: "
    "Viterbi takes T K² steps for T positions and K labels, and there are K^T paths.",
)

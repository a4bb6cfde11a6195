"""All label paths of a short linear chain, one by one; knows scores only.

A path y has the score sum_t U[t, y_t] + sum_{t>=1} A[y_{t-1}, y_t], or A[t-1, y_{t-1}, y_t] where
every step has a table of its own. Start and end weights are part of the first and last row of U.
With T tokens and K labels there are K^T paths, so T and K must be small.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

Path = tuple[int, ...]


class Paths:
    """Every path of a chain with its score, the best first.

    Where scores are the same the path that is smaller when read from its end comes first. That is
    the order of a Viterbi search that runs forward and, of labels that tie, takes the lowest: it
    settles the last label first, then the one before it.

    Parameters
    ----------
    U : array of shape (T, K)
        Scores of the labels of each token.
    A : array of shape (K, K) or (T - 1, K, K)
        Scores of the steps, previous label first.
    """

    def __init__(self, U: np.ndarray, A: np.ndarray) -> None:
        self.U = np.asarray(U, np.float64)
        self.length, self.n_labels = self.U.shape
        steps = (self.length - 1, self.n_labels, self.n_labels)
        self.A = np.broadcast_to(np.asarray(A, np.float64), steps)
        every = itertools.product(range(self.n_labels), repeat=self.length)
        scored = {path: self.score(path) for path in every}
        self.ranked = sorted(scored, key=lambda path: (-scored[path], path[::-1]))
        self.scores = np.array([scored[path] for path in self.ranked])

    def score(self, path: Path) -> float:
        """Score of one path."""
        tokens = [self.U[t, label] for t, label in enumerate(path)]
        steps = [self.A[t, i, j] for t, (i, j) in enumerate(itertools.pairwise(path))]
        return math.fsum(tokens + steps)

    def best(self) -> Path:
        """The path of the highest score."""
        return self.ranked[0]

    def k_best(self, k: int) -> list[Path]:
        """The k best paths in order; all if there are fewer."""
        return self.ranked[:k]

    def k_best_wrong(self, y: Path, k: int) -> list[Path]:
        """The k best paths that are not y, in order."""
        return [path for path in self.ranked if path != tuple(y)][:k]

    def best_wrong(self, y: Path) -> Path | None:
        """The best path that is not y; None if there is no other.

        Where y is the best, of those that tie the one that leaves it first, for the lowest label.
        """
        wrong = self.k_best_wrong(y, len(self.ranked))
        if not wrong or self.best() != tuple(y):
            return next(iter(wrong), None)
        tied = [path for path in wrong if self.score(path) == self.score(wrong[0])]
        return min(tied, key=lambda path: (leaves(y, path), path))

    def log_partition(self) -> float:
        """Logarithm of the sum of exp(score) over all paths."""
        top = self.scores[0]
        return float(top + math.log(math.fsum(np.exp(self.scores - top))))

    def distribution(self) -> dict[Path, float]:
        """Probability exp(score - log Z) of every path."""
        chances = np.exp(self.scores - self.log_partition())
        return dict(zip(self.ranked, chances.tolist(), strict=True))

    def marginals(self) -> np.ndarray:
        """P(y_t = j), of shape (T, K)."""
        table = np.zeros(self.U.shape)
        for path, p in self.distribution().items():
            for t, label in enumerate(path):
                table[t, label] += p
        return table

    def pair_marginals(self) -> np.ndarray:
        """P(y_{t-1} = i, y_t = j), of shape (T - 1, K, K)."""
        table = np.zeros(self.A.shape)
        for path, p in self.distribution().items():
            for t, (i, j) in enumerate(itertools.pairwise(path)):
                table[t, i, j] += p
        return table


def hamming(y: Path, path: Path) -> int:
    """Number of tokens with another label."""
    return sum(a != b for a, b in zip(y, path, strict=True))


def leaves(y: Path, path: Path) -> int:
    """The first token with another label."""
    return next(t for t, (a, b) in enumerate(zip(y, path, strict=True)) if a != b)


def augmented(U: np.ndarray, y: Path) -> np.ndarray:
    """Scores of the labels with 1 added to each wrong one: a path then scores its cost more."""
    cost = np.ones(np.shape(U))
    cost[np.arange(len(y)), list(y)] = 0.0
    return U + cost

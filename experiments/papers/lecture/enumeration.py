"""Every labelling of a few nodes, listed: the slow truth that messages are compared with."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

Array = NDArray[np.float64]


class Enumerated(NamedTuple):
    """All labellings of nodes with the same labels, and the score of each.

    Scores are those of labels, `U[node, label]`, and of pairs of labels at the ends of each edge,
    `A[edge, label, label]`.
    """

    labels: NDArray[Any]
    scores: Array
    edges: NDArray[Any]

    @classmethod
    def of(cls, U: Array, A: Array, edges: NDArray[Any]) -> Enumerated:
        """List the labellings of a graph, the last node changing first."""
        n, K = U.shape
        labels = np.indices((K,) * n).reshape(n, -1).T
        own = U[np.arange(n), labels].sum(axis=1)
        ends = labels[:, edges]
        pairs = A[np.arange(len(edges)), ends[:, :, 0], ends[:, :, 1]].sum(axis=1)
        return cls(labels, own + pairs, edges)

    @property
    def log_partition(self) -> float:
        """log Z."""
        return float(logsumexp(self.scores))

    @property
    def probabilities(self) -> Array:
        """Of each labelling."""
        return np.asarray(np.exp(self.scores - self.log_partition))

    def marginals(self) -> Array:
        """The probability of each label of each node."""
        K = int(self.labels.max()) + 1
        hot = self.labels[:, :, None] == np.arange(K)
        return np.asarray(np.einsum("y,yik->ik", self.probabilities, hot))

    def pair_marginals(self) -> Array:
        """The probability of each pair of labels of each edge."""
        K = int(self.labels.max()) + 1
        hot = (self.labels[:, :, None] == np.arange(K)).astype(float)
        first, second = (hot[:, self.edges[:, end]] for end in (0, 1))
        return np.asarray(np.einsum("y,yek,yel->ekl", self.probabilities, first, second))


def path_edges(length: int) -> NDArray[Any]:
    """The edges of a chain."""
    return np.stack([np.arange(length - 1), np.arange(1, length)], axis=1)

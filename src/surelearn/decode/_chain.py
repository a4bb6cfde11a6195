"""Label paths of one sequence: the best ones, and sums over all; must not know features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surelearn import _check, _core


class Chain:
    r"""Scores of all label paths of one sequence.

    .. math:: s(y) = \sum_{t=1}^T U_{t, y_t} + \sum_{t=2}^T A_{y_{t-1}, y_t}, \qquad
        Pr[y] = \exp(s(y)) / Z

    Labels are numbers from 0 to K - 1. Ties go to the first label.

    Parameters
    ----------
    U : array of shape (length, n_labels)
        Score of each label of each token. Scores for starting and ending with a label belong in
        the first and last row.
    A : array of shape (n_labels, n_labels) or (length - 1, n_labels, n_labels)
        Score of each transition from one label to the next: one matrix for all steps, or one for
        each. One for all may have shape (1, n_labels, n_labels), the shape of the attribute `A`.

    Examples
    --------
    >>> from surelearn.decode import Chain
    >>> chain = Chain([[1.0, 0.0], [0.0, 0.5]], [[0.0, -1.0], [0.0, 0.0]])
    >>> chain.best()
    array([0, 0], dtype=int32)
    >>> chain.k_best(2)
    array([[0, 0],
           [0, 1]], dtype=int32)
    >>> chain.marginals().round(2)
    array([[0.62, 0.38],
           [0.53, 0.47]])
    """

    def __init__(self, U: ArrayLike, A: ArrayLike) -> None:
        self.U, self.A = _fitting(_check.numbers("U", U), _check.numbers("A", A))
        self._core = _core.Chain(self.U, self.A)

    def score(self, path: ArrayLike) -> float:
        """The score of one path."""
        y = self._path(path)
        steps = np.broadcast_to(self.A, (max(len(y) - 1, 0), *self.A.shape[1:]))
        places = np.arange(len(y))
        return float(self.U[places, y].sum() + steps[places[:-1], y[:-1], y[1:]].sum())

    def best(self) -> NDArray[np.int32]:
        """The path with the largest score, by the Viterbi algorithm."""
        path: NDArray[np.int32] = self._core.best()[0]
        return path

    def k_best(self, k: int) -> NDArray[np.int32]:
        """The k best paths, best first, of shape (k, length); all paths if there are fewer."""
        return self._core.k_best(_check.count("k", k))

    def best_other(self, y: ArrayLike) -> NDArray[np.int32] | None:
        """The best path other than y; None if there is no other."""
        found = self._core.best_other(self._path(y))
        return found[0] if len(found) else None

    def augmented(self, y: ArrayLike, cost: float = 1.0) -> Chain:
        """The same chain with `cost` added to the score of every label that differs from y."""
        path = self._path(y)
        U = self.U + _check.number("cost", cost, "[0, inf)", low=0.0)
        places = np.arange(len(path))
        U[places, path] = self.U[places, path]
        return Chain(U, self.A)

    def log_partition(self) -> float:
        """log Z, the logarithm of the sum of exp(score) over all paths."""
        return self._core.log_partition()

    def marginals(self) -> NDArray[np.float64]:
        """Probability of each label of each token, of shape (length, n_labels)."""
        return self._core.marginals(False)

    def pair_marginals(self) -> NDArray[np.float64]:
        """Probability of each pair of adjacent labels: (length - 1, n_labels, n_labels)."""
        return self._core.marginals(True)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> NDArray[np.int32]:
        """Paths drawn from their probabilities, of shape (n_samples, length)."""
        n = _check.count("n_samples", n_samples)
        uniform = np.random.default_rng(random_state).random((n, len(self.U)))
        return self._core.sample(uniform)

    def _path(self, path: ArrayLike) -> NDArray[np.int32]:
        length, n_labels = self.U.shape
        found = np.asarray(path)
        inside = found.shape == (length,) and (length == 0 or found.dtype.kind in "iu")
        if not inside or (length and not (found.min() >= 0 and found.max() < n_labels)):
            raise ValueError(
                f"path must have {length} labels from 0 to {n_labels - 1}, got "
                f"{_check.shown(path)}."
            )
        return found.astype(np.int32)


def _fitting(
    U: NDArray[np.float64], A: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Check that scores of labels and of transitions fit; A may be one matrix or one a step."""
    if U.ndim != 2 or U.shape[1] == 0:
        raise ValueError(f"U must be of shape (length, n_labels), got shape {U.shape}.")
    T, K = U.shape
    if A.shape not in ((K, K), (1, K, K), (max(T - 1, 0), K, K)):
        raise ValueError(
            f"A must be of shape ({K}, {K}) or ({max(T - 1, 0)}, {K}, {K}) as U has {T} tokens and "
            f"{K} labels, got shape {A.shape}."
        )
    if A.ndim == 2 or len(A) == 0:  # without a transition, any matrix will do
        A = A.reshape(1, K, K) if A.size else np.zeros((1, K, K))
    return U, A

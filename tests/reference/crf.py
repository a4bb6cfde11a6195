"""The loss of a conditional random field by recursion over its tokens; lists no paths.

    al_t(j) = U[t, j] + log sum_i exp(al_{t-1}(i) + A[i, j])
    be_t(i) = log sum_j exp(A[i, j] + U[t+1, j] + be_{t+1}(j))

give log Z = log sum_j exp(al_T(j)) and the probability of each label and of each pair of labels;
the gradient of log Z is the features weighted with these (eq. 30).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import logsumexp

from .losses import Chain


def forward_backward(U: np.ndarray, A: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Marginals of labels and pairs, and log Z; A is one table or one for each step."""
    A = np.broadcast_to(A, (len(U) - 1, U.shape[1], U.shape[1]))
    al, be = [U[0]], [np.zeros(U.shape[1])]
    for u, a in zip(U[1:], A, strict=True):
        al.append(u + logsumexp(al[-1][:, np.newaxis] + a, axis=0))
    for u, a in zip(U[:0:-1], A[::-1], strict=True):
        be.insert(0, logsumexp(a + u + be[0], axis=1))
    Z = logsumexp(al[-1])
    pairs = [np.exp(al[t][:, np.newaxis] + A[t] + U[t + 1] + be[t + 1] - Z) for t in range(len(A))]
    return np.exp(np.add(al, be) - Z), np.reshape(pairs, A.shape), Z


def log_loss(chains: Sequence[Chain], table: np.ndarray) -> tuple[float, np.ndarray]:
    """Sum of log Z - score(y), and its gradient, in the shape of the table."""
    value, gradient = 0.0, np.zeros(table.shape)
    for chain in chains:
        if len(chain.y):
            loss, slope = _of_one(chain, table)
            value += chain.weight * loss
            gradient += chain.weight * slope
    return value, gradient


def _of_one(chain: Chain, table: np.ndarray) -> tuple[float, np.ndarray]:
    U, A = scores(chain, table)
    marginals, pairs, log_z = forward_backward(U, A)
    y = np.asarray(chain.y)
    score = U[np.arange(len(y)), y].sum() + A[np.arange(len(y) - 1), y[:-1], y[1:]].sum()
    marginals[np.arange(len(y)), y] -= 1.0
    pairs[np.arange(len(y) - 1), y[:-1], y[1:]] -= 1.0
    steps = np.einsum("tp,tij->pij", _steps(chain), pairs).reshape(-1, table.shape[1])
    slope = np.vstack([marginals[:1], marginals[-1:], steps, chain.tokens.T @ marginals])
    return float(log_z - score), slope


def scores(chain: Chain, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """U, with the weights of start and end, and a table A for each step."""
    n_labels, n_features = table.shape[1], chain.tokens.shape[1]
    U = chain.tokens @ table[len(table) - n_features :]
    U[0] += table[0]
    U[-1] += table[1]
    steps = table[2 : len(table) - n_features].reshape(-1, n_labels, n_labels)
    return U, np.einsum("tp,pij->tij", _steps(chain), steps)


def _steps(chain: Chain) -> np.ndarray:
    """Pair features of every step but the first, which is to the first token; the constant one
    leads."""
    return np.hstack([np.ones((len(chain.pairs), 1)), chain.pairs])[1:]

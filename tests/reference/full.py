"""Gaussian weights with a whole covariance matrix: margins, variances, moves; knows no rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .diagonal import Move, exact_sum

# Below this part of the terms it is summed from, a difference is taken to be rounding.
BLUR = 1e-10


@dataclass(frozen=True)
class Full:
    """Means and covariance in float64; every move gives new weights.

        mu <- mu + alpha Sigma g,   Sigma <- Sigma - beta (Sigma g)(Sigma g)',
        beta = gain / (1 + gain v)

    Parameters
    ----------
    mu : ndarray of shape (n_columns, D)
        Means of the weights.
    sigma : ndarray of shape (n_columns * D, n_columns * D)
        Covariance, the entries of one weight vector side by side.

    References
    ----------
    Crammer, Dredze & Pereira 2008, eq. 9, 10 and 22.
    """

    mu: np.ndarray
    sigma: np.ndarray

    def scores(self, x: np.ndarray) -> np.ndarray:
        """Mean score of a row for each weight vector."""
        return np.array([exact_sum(row) for row in self.mu * x])

    def score_covariance(self, x: np.ndarray) -> np.ndarray:
        """Covariance F Sigma F' of the scores, F the stack of the joint features of a row."""
        features = np.kron(np.eye(len(self.mu)), x)
        return features @ self.sigma @ features.T

    def margin(self, g: np.ndarray) -> float:
        """m = mu.g, as a difference of two scores."""
        return float(sum(exact_sum(row) for row in self.mu * g))

    def variance(self, g: np.ndarray) -> float:
        """v = g' Sigma g."""
        return exact_sum(self._terms(g))

    def shares(self, g: np.ndarray) -> np.ndarray:
        """The one share v: with a whole covariance the constraint is met exactly."""
        return np.array([self.variance(g)])

    def is_blurred(self, g: np.ndarray) -> bool:
        """Whether so much cancels in v that rounding decides about it."""
        terms = self._terms(g)
        return bool(exact_sum(terms) <= BLUR * np.abs(terms).sum()) and bool(np.any(g))

    def moved(self, move: Move) -> Full:
        """The weights after one move."""
        with np.errstate(all="ignore"):
            reach = self.sigma @ move.g.ravel()
            v = self.variance(move.g)
            beta = move.gain / (1 + move.gain * v)
            mu = self.mu + move.alpha * reach.reshape(self.mu.shape)
            return Full(mu, self.sigma - beta * np.outer(reach, reach))

    def moved_at_once(self, moves: Sequence[Move]) -> Full:
        """The weights after all moves from here: means and precisions take the sum of the steps.

        By Woodbury, with E = [sqrt(gain_r) g_r]: Sigma - Sigma E (I + E' Sigma E)^-1 E' Sigma.
        """
        with np.errstate(all="ignore"):
            E = np.stack([np.sqrt(move.gain) * move.g.ravel() for move in moves], axis=1)
            reach = self.sigma @ E
            inner = np.eye(len(moves)) + E.T @ reach
            if not np.isfinite(inner).all():
                return Full(self.mu, np.full_like(self.sigma, np.nan))
            # A half on each side keeps the matrix symmetric to the last bit.
            half = np.linalg.solve(np.linalg.cholesky(inner), reach.T)
            step = sum(move.alpha * move.g for move in moves)
            mu = self.mu + (self.sigma @ step.ravel()).reshape(self.mu.shape)
            return Full(mu, self.sigma - half.T @ half)

    def mixed(self, moves: Sequence[Move], mixing: Sequence[float]) -> Full:
        """Averages of the means and of the precisions after each single move."""
        pairs = zip(mixing, moves, strict=True)
        return self.moved_at_once([Move(g, p * alpha, p * gain) for p, (g, alpha, gain) in pairs])

    def is_sound(self) -> bool:
        """Whether all is finite and every variance positive."""
        finite = np.isfinite(self.mu).all() and np.isfinite(self.sigma).all()
        return bool(finite and (np.diag(self.sigma) > 0).all())

    def rounded(self, dtype: np.dtype) -> Full:
        """The weights in the type they are stored in."""
        with np.errstate(all="ignore"):
            return Full(self.mu.astype(dtype), self.sigma.astype(dtype))

    def split(self, initial_variance: float) -> np.ndarray:
        """Covariance of three vectors made from one: half, half, and half of the start."""
        n = len(self.sigma)
        sigma = np.diag(np.full(3 * n, initial_variance / 2))
        sigma[:n, :n] = sigma[n : 2 * n, n : 2 * n] = self.sigma / 2
        return sigma

    def _terms(self, g: np.ndarray) -> np.ndarray:
        """The products g_i Sigma_ij g_j, of which v is the sum."""
        return (self.sigma * np.outer(g, g)).ravel()

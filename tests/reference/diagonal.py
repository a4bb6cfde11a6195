"""Gaussian weights with independent entries: margins, variances, moves; knows no rule or label."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class Move(NamedTuple):
    """A step along a difference vector: mu += alpha sigma g, sigma^-1 += gain g g'."""

    g: np.ndarray
    alpha: float
    gain: float


@dataclass(frozen=True)
class Diagonal:
    """Means and variances in float64; every move gives new weights.

    Parameters
    ----------
    mu, sigma : ndarray of shape (n_columns, D)
        Means and variances of the weights.
    projection : {"precision", "covariance"}
        Which off-diagonal part a single move drops, a_j = sigma_j g_j^2, v = sum_j a_j:

            precision:   sigma_j <- sigma_j / (1 + gain a_j)
            covariance:  sigma_j <- sigma_j (1 - beta a_j),  beta = gain / (1 + gain v)

    References
    ----------
    Dredze, Crammer & Pereira 2008, eq. 11 and 17; Crammer, Dredze & Pereira 2008, eq. 15.
    """

    mu: np.ndarray
    sigma: np.ndarray
    projection: str

    def scores(self, x: np.ndarray) -> np.ndarray:
        """Mean score of a row for each weight vector."""
        return np.array([exact_sum(row) for row in self.mu * x])

    def score_covariance(self, x: np.ndarray) -> np.ndarray:
        """Covariance of the scores of a row, of shape (n_columns, n_columns)."""
        return np.diag([exact_sum(row) for row in self.sigma * x**2])

    def margin(self, g: np.ndarray) -> float:
        """m = mu.g, as a difference of two scores."""
        return float(sum(exact_sum(row) for row in self.mu * g))

    def variance(self, g: np.ndarray) -> float:
        """v = sum_j sigma_j g_j^2."""
        return float(sum(exact_sum(row) for row in self.sigma * g**2))

    def shares(self, g: np.ndarray) -> np.ndarray:
        """Shares a_j of the variance that are not zero."""
        return (self.sigma * g**2)[g != 0]

    def is_blurred(self, g: np.ndarray) -> bool:
        """Whether v is lost in rounding: never, as it is a sum of positive terms."""
        return False

    def moved(self, move: Move) -> Diagonal:
        """The weights after one move, with the off-diagonal part dropped."""
        shares = self.sigma * move.g**2
        with np.errstate(all="ignore"):
            mu = self.mu + move.alpha * self.sigma * move.g
            return Diagonal(mu, self.sigma * self._shrink(shares, move.gain), self.projection)

    def moved_at_once(self, moves: Sequence[Move]) -> Diagonal:
        """The weights after all moves from here: means and precisions take the sum of the steps."""
        with np.errstate(all="ignore"):
            mu = self.mu + sum(move.alpha * self.sigma * move.g for move in moves)
            growth = sum(move.gain * self.sigma * move.g**2 for move in moves)
            return Diagonal(mu, self.sigma / (1 + growth), self.projection)

    def mixed(self, moves: Sequence[Move], mixing: Sequence[float]) -> Diagonal:
        """Averages of the means and of the precisions after each single move."""
        # Written as a change of mu and of sigma^-1, so that what no move touches stays as it is.
        with np.errstate(all="ignore"):
            pairs = list(zip(mixing, moves, strict=True))
            mu = self.mu + sum(part * move.alpha * self.sigma * move.g for part, move in pairs)
            growth = sum(part * self._growth(move) for part, move in pairs)
            return Diagonal(mu, self.sigma / (1 + growth), self.projection)

    def is_sound(self) -> bool:
        """Whether all is finite and every variance positive."""
        finite = np.isfinite(self.mu).all() and np.isfinite(self.sigma).all()
        return bool(finite and (self.sigma > 0).all())

    def rounded(self, dtype: np.dtype) -> Diagonal:
        """The weights in the type they are stored in."""
        with np.errstate(all="ignore"):
            return Diagonal(self.mu.astype(dtype), self.sigma.astype(dtype), self.projection)

    def split(self, initial_variance: float) -> np.ndarray:
        """Variances of three vectors made from one: half, half, and half of the start."""
        new = np.full_like(self.sigma[0], initial_variance / 2)
        return np.stack([self.sigma[0] / 2, self.sigma[0] / 2, new])

    def _shrink(self, shares: np.ndarray, gain: float) -> np.ndarray:
        """Factor on each variance."""
        if self.projection == "precision":
            return 1 / (1 + gain * shares)
        # 1 - beta a_j = (1 + gain (v - a_j)) / (1 + gain v). The left side cancels when one feature
        # holds nearly all of v and gain v is large, so v - a_j is summed from the other features.
        return (1 + gain * _others(shares)) / (1 + gain * exact_sum(shares.ravel()))

    def _growth(self, move: Move) -> np.ndarray:
        """What each precision grows by, as a part of itself: 1 / shrink - 1."""
        shares = self.sigma * move.g**2
        if self.projection == "precision":
            return move.gain * shares
        return move.gain * shares / (1 + move.gain * _others(shares))


def _others(shares: np.ndarray) -> np.ndarray:
    """v - a_j for every j, without cancellation."""
    sums = [exact_sum(np.delete(shares, j)) for j in range(shares.size)]
    return np.reshape(sums, shares.shape)


def exact_sum(terms: np.ndarray) -> float:
    """Correctly rounded sum, so that no order of summation is preferred."""
    total = float(np.sum(terms))
    return math.fsum(terms) if math.isfinite(total) else total

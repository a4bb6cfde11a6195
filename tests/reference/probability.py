"""Probability that each of K normal scores is the largest; knows no weights."""

from __future__ import annotations

import itertools

import numpy as np
from scipy import integrate, special

# A normal deviate is beyond these many standard deviations with probability 4e-33.
REACH = 12.0


def label_probabilities(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Pr[y] = integral pdf_y(t) prod_{z != y} cdf_z(t) dt, for independent scores.

    A score of variance 0 is certain: the best of these bounds the others from below, and equal
    ones share their probability.

    Parameters
    ----------
    mean, variance : ndarray of shape (K,)
        Moments of the scores.

    Returns
    -------
    ndarray of shape (K,)
        Probabilities, to about 1e-12. They are not made to sum to 1.

    References
    ----------
    Crammer, Dredze & Kulesza 2009, sec. 4.
    """
    mean, sd = np.asarray(mean, np.float64), np.sqrt(np.asarray(variance, np.float64))
    certain = sd == 0
    floor = np.max(mean[certain], initial=-np.inf)
    probability = np.array([_largest(y, mean, sd, floor) for y in range(len(mean))])
    best = certain & (mean == floor)
    others = special.ndtr((floor - mean[~certain]) / sd[~certain])
    probability[best] = np.prod(others) / max(1, best.sum())
    return probability


def _largest(y: int, mean: np.ndarray, sd: np.ndarray, floor: float) -> float:
    """Probability that an uncertain score is over the floor and over all other uncertain ones."""
    if sd[y] == 0:
        return 0.0
    other = (sd > 0) & (np.arange(len(mean)) != y)
    # In deviations of y from its mean, so that a tiny sd beside a large mean keeps its digits.
    gap, spread = (mean[other] - mean[y]) / sd[y], sd[other] / sd[y]
    low = max(-REACH, (floor - mean[y]) / sd[y])

    def density(t: float) -> float:
        pdf = np.exp(-(t**2) / 2) / np.sqrt(2 * np.pi)
        return float(pdf * np.prod(special.ndtr((t - gap) / spread)))

    # Each factor bends within a few of its own deviations, and nowhere else.
    deviations = np.array([-REACH, -8, -5, -3, -1.5, 0, 1.5, 3, 5, 8, REACH])
    bends = np.append(gap[:, np.newaxis] + spread[:, np.newaxis] * deviations, deviations)
    cuts = np.unique(np.concatenate([[low, REACH], bends[(bends > low) & (bends < REACH)]]))
    pieces = itertools.pairwise(cuts) if low < REACH else ()
    return sum(integrate.quad(density, a, b, epsabs=1e-15, epsrel=1e-12)[0] for a, b in pieces)


def label_probabilities_full(
    mean: np.ndarray, covariance: np.ndarray, n: int, seed: int
) -> np.ndarray:
    """Share of ``n`` draws of dependent scores in which each is the largest; equals share.

    Parameters
    ----------
    mean : ndarray of shape (K,)
        Means of the scores.
    covariance : ndarray of shape (K, K)
        Their covariance, which may be singular.
    n, seed : int
        Number of draws, and where they start.

    Returns
    -------
    ndarray of shape (K,)
        Shares, with a standard error of at most 0.5 / sqrt(n).

    References
    ----------
    Crammer, Dredze & Kulesza 2009, sec. 7.
    """
    size, axes = np.linalg.eigh(np.asarray(covariance, np.float64))
    root = axes * np.sqrt(np.maximum(size, 0.0))
    draws = mean + np.random.default_rng(seed).standard_normal((n, len(mean))) @ root.T
    best = draws == draws.max(axis=1, keepdims=True)
    return (best / best.sum(axis=1, keepdims=True)).mean(axis=0)

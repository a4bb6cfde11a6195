"""A plain learner with diagonal covariance, fed one dense row at a time; knows no estimator."""

from __future__ import annotations

import math

import numpy as np

from .rules import FIRST_ORDER, weighted


class Learner:
    """Gaussian weights learnt row by row, with the single best rival as the one constraint.

    Every row is turned into a difference vector g with margin m = mu.g and variance
    v = sum_j sigma_j g_j^2; the rule's (alpha, gain) then moves

        mu_j <- mu_j + alpha sigma_j g_j            (sigma before the update)

    and shrinks the variances by one of the two diagonals (a_j = sigma_j g_j^2):

        precision:   sigma_j <- sigma_j / (1 + gain a_j)
        covariance:  sigma_j <- sigma_j (1 - beta a_j),  beta = gain / (1 + gain v)

    Parameters
    ----------
    n_features, n_classes : int
        Two classes share one weight vector; three or more have one each.
    rule : str
        A name of ``rules.REGISTRY``.
    params : dict
        The rule's parameters.
    projection : {"precision", "covariance"}
        Which off-diagonal part is dropped: that of the new precision or of the new covariance.
    initial_variance : float
        Variance of every weight at the start; first-order rules stay at 1.
    fit_intercept : bool
        Whether a constant feature 1 is added as the last one.
    average : bool
        Whether ``mean`` gives the average over all rounds.
    dtype : numpy dtype
        Type of the stored state. All arithmetic is in float64 and rounded once to this type.

    Attributes
    ----------
    mu, sigma : ndarray of shape (1, D) or (n_classes, D)
        Means and variances of the weights, the intercept last.
    mistakes : int
        Rounds whose margin was not positive, or not a number, before the update.
    updates : int
        Rounds with alpha > 0 or gain > 0.
    close_calls : int
        Rounds in which rounding may decide whether the rule moves or the row is a mistake.

    References
    ----------
    Dredze, Crammer & Pereira 2008, eq. 11 and 17; Crammer, Dredze & Pereira 2008, eq. 15; several
    classes: Crammer, Dredze & Kulesza 2009, sec. 5.1, eq. 7 and 8.
    """

    def __init__(
        self,
        n_features: int,
        n_classes: int,
        rule: str,
        params: dict[str, float],
        *,
        projection: str = "precision",
        initial_variance: float = 1.0,
        fit_intercept: bool = True,
        average: bool = False,
        dtype: type = np.float64,
    ) -> None:
        self.n_features = n_features
        self.n_classes = n_classes
        self.rule = rule
        self.params = dict(params)
        self.projection = projection
        self.initial_variance = 1.0 if rule in FIRST_ORDER else initial_variance
        self.fit_intercept = fit_intercept
        self.average = average
        self.dtype = np.dtype(dtype)

        shape = (1 if n_classes == 2 else n_classes, n_features + fit_intercept)
        self.mu = np.zeros(shape, self.dtype)
        self.sigma = np.full(shape, self.initial_variance, self.dtype)
        self.mistakes = 0
        self.updates = 0
        self.close_calls = 0
        # Sum over the zero start and the mean after each round.
        self._total = np.zeros(shape)
        self._count = 1

    def learn(self, x: np.ndarray, y: int, weight: float = 1.0) -> None:
        """Learn one row; one of weight 0 is as if it had never come.

        Raises
        ------
        FloatingPointError
            If the update would make a variance zero or any number non-finite. Nothing is changed.
        """
        if weight == 0:
            return
        g, m, v = self._difference(self._row(x), y)
        shares = self.sigma.astype(np.float64) * g**2
        alpha, gain = weighted(self.rule, m, v, weight, shares[g != 0], **self.params)
        self.close_calls += self._is_close_call(g, m, v)
        if alpha > 0 or gain > 0:
            self.mu, self.sigma = self._updated(g, shares, alpha, gain)
            self.updates += 1
        # A comparison m <= 0 would pass over a margin that is not a number.
        if not (math.isfinite(m) and m > 0):
            self.mistakes += 1
        self._total = self._total + self.mu
        self._count += 1

    def mean(self) -> np.ndarray:
        """Mean of the weights; with ``average`` its average over the zero start and all rounds."""
        return self._total / self._count if self.average else self.mu

    def margin(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of the class scores of a row; for two classes of the one margin."""
        return self._scores(self.mean(), self._row(x))

    def split(self) -> None:
        """Go from two classes to three, so that a class first seen now becomes index 2.

        The one vector becomes two of half its mean and half its variance, which leaves the margin
        between the old classes and its variance as they were.
        """
        if self.n_classes != 2:
            raise ValueError(f"split needs a learner of 2 classes, got {self.n_classes}.")
        mu, sigma, total = self.mu[0], self.sigma[0], self._total[0]
        self.n_classes = 3
        self.mu = np.stack([-mu / 2, mu / 2, np.zeros_like(mu)])
        self._total = np.stack([-total / 2, total / 2, np.zeros_like(total)])
        if self.rule in FIRST_ORDER:
            self.sigma = np.ones_like(self.mu)
        else:
            new = np.full_like(sigma, self.initial_variance / 2)
            self.sigma = np.stack([sigma / 2, sigma / 2, new])

    def _row(self, x: np.ndarray) -> np.ndarray:
        """The row in float64, with the constant feature last."""
        x = np.asarray(x, np.float64)
        return np.append(x, 1.0) if self.fit_intercept else x

    def _scores(self, mu: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of each weight vector's score of a row."""
        means = np.array([_sum(row) for row in mu.astype(np.float64) * x])
        variances = np.array([_sum(row) for row in self.sigma.astype(np.float64) * x**2])
        return means, variances

    def _difference(self, x: np.ndarray, y: int) -> tuple[np.ndarray, float, float]:
        """The difference vector g of a row, one line for each weight vector, with its m and v."""
        means, variances = self._scores(self.mu, x)
        if self.n_classes == 2:
            sign = 1.0 if y == 1 else -1.0
            return sign * x[np.newaxis], sign * means[0], variances[0]
        # max keeps the first of equals, so ties go to the lowest class index.
        rival = max((z for z in range(self.n_classes) if z != y), key=lambda z: means[z])
        g = np.zeros(self.mu.shape)
        g[y], g[rival] = x, -x
        return g, means[y] - means[rival], variances[y] + variances[rival]

    def _is_close_call(self, g: np.ndarray, m: float, v: float) -> bool:
        """Whether m is within rounding of where a rule begins to move, or of a mistake.

        A CW update ends exactly there, so the same row seen again is one.
        """
        size = float(np.abs(self.mu * g).sum())
        phi = self.params.get("phi", 0.0)
        edges = (0.0, 1.0, phi * v, phi * math.sqrt(v))
        return size > 0 and any(abs(m - edge) <= 1e-6 * (size + edge) for edge in edges)

    def _updated(
        self, g: np.ndarray, shares: np.ndarray, alpha: float, gain: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """New mu and sigma, rounded once to the stored type."""
        mu, sigma = self.mu.astype(np.float64), self.sigma.astype(np.float64)
        with np.errstate(all="ignore"):
            mu = (mu + alpha * sigma * g).astype(self.dtype)
            sigma = (sigma * self._shrink(shares, gain)).astype(self.dtype)
        if not (np.isfinite(mu).all() and np.isfinite(sigma).all() and (sigma > 0).all()):
            raise FloatingPointError(
                f"{self.rule} with projection {self.projection!r} left a weight without a variance."
            )
        return mu, sigma

    def _shrink(self, shares: np.ndarray, gain: float) -> np.ndarray:
        """Factor on each variance."""
        if self.projection == "precision":
            return 1 / (1 + gain * shares)
        # 1 - beta a_j = (1 + gain (v - a_j)) / (1 + gain v). The left side cancels when one feature
        # holds nearly all of v and gain v is large, so v - a_j is summed from the other features.
        others = [_sum(np.delete(shares, j)) for j in range(shares.size)]
        return (1 + gain * np.reshape(others, shares.shape)) / (1 + gain * _sum(shares.ravel()))


def _sum(terms: np.ndarray) -> float:
    """Correctly rounded sum, so that no order of summation is preferred."""
    total = float(np.sum(terms))
    return math.fsum(terms) if math.isfinite(total) else total

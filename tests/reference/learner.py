"""A plain learner, fed one dense row at a time; knows no estimator."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from .costs import at_cost
from .diagonal import Diagonal
from .full import BLUR, Full
from .rules import FIRST_ORDER
from .schemes import EXACT, NEAR, Constraint, Round, Task, exactly, parallel, sequential, single


class Learner:
    """Gaussian weights learnt row by row.

    Every row is turned into a difference vector g for each rival label taken, with margin m = mu.g
    and variance v = g' sigma g; the rule's (alpha, gain) then moves

        mu <- mu + alpha sigma g,   sigma^-1 <- sigma^-1 + gain g g'      (sigma before the update)

    and a diagonal sigma drops what lies off the diagonal (``Diagonal``).

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
        The exact scheme and a full covariance know no such choice.
    initial_variance : float
        Variance of every weight at the start; first-order rules stay at 1.
    fit_intercept : bool
        Whether a constant feature 1 is added as the last one.
    average : bool
        Whether ``mean`` gives the average over all rounds.
    dtype : numpy dtype
        Type of the stored state. All arithmetic of a round is in float64 and rounded once to it.
    covariance : {"diagonal", "full"}
        Whether weights are independent or share one covariance matrix.
    constraints : {"single", "sequential", "parallel", "exact"}
        How the constraints of one row are met: the first alone, one after another, all from the
        start of the round and averaged, or all at once by the nearest Gaussian.
    k : int or None
        Rivals taken, in the order of their mean scores at the start of the round; None is all.
    mixing : list of float or None
        Weights of the parallel scheme by rank, made to sum to 1 over the rivals there are; None is
        the same for all.
    cost : ndarray of shape (n_classes, n_classes) or None
        cost[y, rival] takes the place of the margin 1, or is a factor on phi.

    Attributes
    ----------
    mu : ndarray of shape (1, D) or (n_classes, D)
        Means of the weights, the intercept last.
    sigma : ndarray
        Variances in the shape of ``mu``, or the covariance of ``mu.ravel()``.
    mistakes : int
        Rounds whose margin was not positive, or not a number, before the update.
    updates : int
        Rounds with alpha > 0 or gain > 0.
    close_calls : int
        Rounds in which rounding may decide whether the rule moves or the row is a mistake, for any
        constraint looked at; with several constraints also those counted in ``ties``.
    ties : int
        Rounds in which rounding may decide which rivals are taken, or in which order if it matters.

    References
    ----------
    Dredze, Crammer & Pereira 2008, eq. 11 and 17; Crammer, Dredze & Pereira 2008, eq. 15; several
    classes: Crammer, Dredze & Kulesza 2009, sec. 5, eq. 7 and 8.
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
        covariance: str = "diagonal",
        constraints: str = "single",
        k: int | None = None,
        mixing: Sequence[float] | None = None,
        cost: np.ndarray | None = None,
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
        self.covariance = covariance
        self.constraints = constraints
        self.mixing = None if mixing is None else np.array(mixing, np.float64)
        self.k = 1 if constraints == "single" else k
        if k is None and mixing is not None:
            self.k = len(mixing)
        self.cost = cost
        self._check()

        shape = (1 if n_classes == 2 else n_classes, n_features + fit_intercept)
        self.mu = np.zeros(shape, self.dtype)
        self.sigma = np.full(shape, self.initial_variance, self.dtype)
        if covariance == "full":
            self.sigma = np.diag(self.sigma.ravel())
        self.mistakes = 0
        self.updates = 0
        self.close_calls = 0
        self.ties = 0
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
        row = self._row(x)
        before = self._weights()
        rivals, tie = self._rivals(row, y)
        done = self._round(row, y, rivals, Task(self.rule, weight))
        after = done.weights.rounded(self.dtype)
        self.ties += tie
        several = self.constraints != "single"
        self.close_calls += done.close or (several and tie) or _is_collapsing(before, done.weights)
        if done.moved:
            if not (done.weights.is_sound() and after.is_sound()):
                raise FloatingPointError(f"{self._name()} left a weight without a variance.")
            self.mu, self.sigma = after.mu, after.sigma
            self.updates += 1
        m = before.margin(self._difference(row, y, rivals[0]))
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
        means, covariance = self.score_moments(x)
        return means, np.diag(covariance)

    def score_moments(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means and covariance of the class scores of a row; for two classes of the one margin."""
        weights = self._weights(self.mean())
        row = self._row(x)
        return weights.scores(row), weights.score_covariance(row)

    def split(self) -> None:
        """Go from two classes to three, so that a class first seen now becomes index 2.

        The one vector becomes two of half its mean and half its variance, which leaves the margin
        between the old classes and its variance as they were.
        """
        if self.n_classes != 2:
            raise ValueError(f"split needs a learner of 2 classes, got {self.n_classes}.")
        mu, total = self.mu[0], self._total[0]
        sigma = self._weights().split(self.initial_variance).astype(self.dtype)
        self.n_classes = 3
        self.mu = np.stack([-mu / 2, mu / 2, np.zeros_like(mu)])
        self._total = np.stack([-total / 2, total / 2, np.zeros_like(total)])
        self.sigma = np.ones_like(self.mu) if self.rule in FIRST_ORDER else sigma

    def _check(self) -> None:
        """Refuse options that do not go together."""
        if self.covariance not in ("diagonal", "full"):
            raise ValueError(f"covariance must be 'diagonal' or 'full', got {self.covariance!r}.")
        if self.covariance == "full" and self.rule in FIRST_ORDER:
            raise ValueError(f"covariance must be 'diagonal' for rule {self.rule!r}, got 'full'.")
        if self.constraints not in ("single", "sequential", "parallel", "exact"):
            raise ValueError(f"constraints must be one of the schemes, got {self.constraints!r}.")
        if self.constraints == "exact" and self.rule not in EXACT:
            raise ValueError(f"constraints must not be 'exact' for rule {self.rule!r}.")
        if self.mixing is not None and (len(self.mixing) != self.k or not self.mixing[0] > 0):
            raise ValueError(f"mixing must be k weights, the first positive, got {self.mixing}.")
        if self.cost is not None:
            at_cost(self.rule, self.params, 1.0)

    def _name(self) -> str:
        """What to call the update in an error."""
        if self.covariance == "full":
            return f"{self.rule} with covariance 'full'"
        return f"{self.rule} with projection {self.projection!r}"

    def _weights(self, mu: np.ndarray | None = None) -> Diagonal | Full:
        """The state in float64."""
        mu = (self.mu if mu is None else mu).astype(np.float64)
        sigma = self.sigma.astype(np.float64)
        return (
            Full(mu, sigma) if self.covariance == "full" else Diagonal(mu, sigma, self.projection)
        )

    def _row(self, x: np.ndarray) -> np.ndarray:
        """The row in float64, with the constant feature last."""
        x = np.asarray(x, np.float64)
        return np.append(x, 1.0) if self.fit_intercept else x

    def _rivals(self, x: np.ndarray, y: int) -> tuple[list[int], bool]:
        """The k best rivals, and whether rounding may have a say in which or in what order."""
        if self.n_classes == 2:
            return [1 - y], False
        scores = self._weights().scores(x)
        # sorted is stable, so ties go to the lowest class index.
        ranked = sorted((z for z in range(self.n_classes) if z != y), key=lambda z: -scores[z])
        k = len(ranked) if self.k is None else min(self.k, len(ranked))
        in_order = self.constraints == "sequential" or self.mixing is not None
        pairs = list(itertools.pairwise(ranked))[0 if in_order else k - 1 : k]
        return ranked[:k], any(self._is_tie(x, z, q) for z, q in pairs)

    def _is_tie(self, x: np.ndarray, z: int, q: int) -> bool:
        """Whether two scores are the same to within rounding.

        Sums of the same terms are the same anyhow, unless a linear system had a part in the terms.
        """
        left, right = self._weights().mu[[z, q]] * x
        size = np.abs(left).sum() + np.abs(right).sum()
        if np.array_equal(left, right):
            return bool(size > 0 and (self.constraints == "exact" or self.covariance == "full"))
        return bool(abs(left.sum() - right.sum()) <= NEAR * size)

    def _difference(self, x: np.ndarray, y: int, rival: int) -> np.ndarray:
        """The difference vector g of a row and a rival, one line for each weight vector."""
        if self.n_classes == 2:
            return (1.0 if y == 1 else -1.0) * x[np.newaxis]
        g = np.zeros(self.mu.shape)
        g[y], g[rival] = x, -x
        return g

    def _round(self, x: np.ndarray, y: int, rivals: list[int], task: Task) -> Round:
        """The weights after the round, not yet rounded."""
        constraints = [
            Constraint(self._difference(x, y, rival), self._params_for(y, rival))
            for rival in rivals
        ]
        if self.constraints == "parallel":
            parts = np.ones(len(rivals)) if self.mixing is None else self.mixing[: len(rivals)]
            return parallel(self._weights(), constraints, task, parts / math.fsum(parts))
        scheme = {"single": single, "sequential": sequential, "exact": exactly}[self.constraints]
        return scheme(self._weights(), constraints, task)

    def _params_for(self, y: int, rival: int) -> dict[str, float]:
        """The rule's parameters at the cost of taking ``rival`` for ``y``."""
        if self.cost is None:
            return self.params
        return at_cost(self.rule, self.params, float(self.cost[y][rival]))


def _is_collapsing(before: Diagonal | Full, after: Diagonal | Full) -> bool:
    """Whether rounding may decide if a whole covariance keeps its variances."""
    if isinstance(before, Diagonal) or not np.isfinite(after.sigma).all():
        return False
    return bool((np.diag(after.sigma) <= BLUR * np.diag(before.sigma)).any())

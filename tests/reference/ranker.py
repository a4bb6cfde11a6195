"""A plain learner of rankings, fed one group of dense candidates at a time; knows no estimator."""

from __future__ import annotations

import itertools

import numpy as np

from .costs import MARGIN, at_cost
from .diagonal import Diagonal
from .rules import FIRST_ORDER
from .schemes import NEAR, Constraint, Task, is_close, moves


class ReferenceRanker:
    """Gaussian weights learnt group by group.

    The candidates of the smallest cost are right, all others wrong. The k wrong ones of the largest
    mean scores are taken one after another; for margin rules the cost is added to the score. Each
    is compared with one of the candidates that cost less, the lowest scored (``right="all"``) or
    the highest scored one (``right="any"``):

        g = x_partner - x_wrong,   delta = cost_wrong - cost_partner

    and the rule's (alpha, gain) moves the weights as in ``Learner``. Margin rules ask for a margin
    of delta; for all others delta multiplies the weight of the group. The perceptron leaves a group
    alone in which a right candidate leads all wrong ones.

    Parameters
    ----------
    n_features : int
    rule : str
        A name of ``rules.REGISTRY``.
    params : dict
        The rule's parameters.
    k : int
        Wrong candidates taken, in the order of their mean scores at the start of the round.
    right : {"all", "any"}
    projection : {"precision", "covariance"}
    initial_variance : float
        Variance of every weight at the start; first-order rules stay at 1.
    average : bool
        Whether ``mean`` gives the average over the zero start and all rounds.

    Attributes
    ----------
    weights : Diagonal
        Mean and variance of every weight, in one row.
    mistakes : int
        Groups in which no right candidate led all wrong ones before the update.
    updates : int
        Groups that moved anything.
    close_calls : int
        Groups in which rounding may decide whether the rule moves, or which candidates are taken.
    """

    def __init__(
        self,
        n_features: int,
        rule: str,
        params: dict[str, float],
        *,
        k: int = 1,
        right: str = "all",
        projection: str = "precision",
        initial_variance: float = 1.0,
        average: bool = False,
    ) -> None:
        prior = 1.0 if rule in FIRST_ORDER else initial_variance
        shape = (1, n_features)
        self.rule = rule
        self.params = dict(params)
        self.k = k
        self.right = right
        self.average = average
        self.weights = Diagonal(np.zeros(shape), np.full(shape, prior), projection)
        self.mistakes = self.updates = self.close_calls = 0
        self._total = np.zeros(shape)
        self._count = 1

    def learn(self, X: np.ndarray, cost: np.ndarray, weight: float = 1.0) -> None:
        """Learn one group; one of equal costs, or of weight 0, is as if it had never come.

        Raises
        ------
        FloatingPointError
            If the update would make a variance zero or any number non-finite. Nothing is changed.
        """
        if weight == 0 or len(cost) == 0 or cost.min() == cost.max():
            return
        scores = np.array([float(self.weights.scores(x)[0]) for x in X])
        wrong = [int(i) for i in np.flatnonzero(cost > cost.min())]
        # sorted is stable, so the first of equal scores is taken.
        seen = scores + (cost - cost.min()) * (self.rule in MARGIN)
        best_right = max(scores[i] for i in np.flatnonzero(cost == cost.min()))
        mistake = not best_right > max(scores[i] for i in wrong)
        k = self.k if mistake or self.rule != "perceptron" else 0
        ranked = sorted(wrong, key=lambda i: -seen[i])[:k]
        after, moved, close = self.weights, False, self._is_near(X, cost)
        for i in ranked:
            j = self._partner(seen, cost, i)
            constraint, task = self._task(X[j] - X[i], float(cost[i] - cost[j]), weight)
            close |= is_close(after, constraint)
            step = task.move(after, constraint)
            if moves([step]):
                after, moved = after.moved(step), True
        if not after.is_sound():
            raise FloatingPointError(f"{self.rule} left a weight without a variance.")
        self.mistakes += mistake
        self.weights = after
        self.updates += moved
        self.close_calls += close
        self._total = self._total + self.weights.mu
        self._count += 1

    def mean(self) -> np.ndarray:
        """Mean of the weights; with ``average`` over the zero start and all rounds."""
        return (self._total / self._count if self.average else self.weights.mu)[0]

    @property
    def sigma(self) -> np.ndarray:
        """Variance of every weight."""
        return self.weights.sigma[0]

    def _partner(self, scores: np.ndarray, cost: np.ndarray, wrong: int) -> int:
        """The candidate that must beat a wrong one; the first of equal scores."""
        better = [int(i) for i in np.flatnonzero(cost < cost[wrong])]
        sign = 1.0 if self.right == "all" else -1.0
        return min(better, key=lambda i: sign * scores[i])

    def _task(self, g: np.ndarray, delta: float, weight: float) -> tuple[Constraint, Task]:
        """A constraint, and the rule with the weight that it counts with."""
        if self.rule in MARGIN:
            return Constraint(g[None], at_cost(self.rule, self.params, delta)), Task(
                self.rule, weight
            )
        return Constraint(g[None], self.params), Task(self.rule, weight * delta)

    def _is_near(self, X: np.ndarray, cost: np.ndarray) -> bool:
        """Whether rounding may decide the order of two candidates.

        Sums of the same terms in the same order are the same anyhow.
        """
        costs = cost if self.rule in MARGIN else np.zeros(len(cost))
        terms = [np.append(self.weights.mu[0] * x, c) for x, c in zip(X, costs, strict=True)]
        return any(
            abs(a.sum() - b.sum()) <= NEAR * float(np.abs(a).sum() + np.abs(b).sum())
            and not np.array_equal(a, b)
            for a, b in itertools.combinations(terms, 2)
        )

"""MulticlassSVM: the generalised hinge of rows, minimised by block-coordinate Frank-Wolfe."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, _core
from surelearn.learners.batch import NOISE, loss_factors
from surelearn.learners.batch_classifier import BatchClassifier, Problem, gaussian
from surelearn.learners.scoring import Scorer
from surelearn.learners.tasks.row_settings import RowSettings
from surelearn.solvers import Prior, Solution, frank_wolfe, stochastic
from surelearn.weights import Diagonal

Array = NDArray[np.float64]


class MulticlassSVM(BatchClassifier):
    r"""Multi-class support vector machine with costs that keeps a Gaussian over its weights.

    .. math:: \min_w \tfrac12 \lVert w \rVert^2 + C \sum_i weight_i
        \max_z (\Delta(y_i, z) + w_z \cdot x_i - w_{y_i} \cdot x_i)

    With :math:`\Delta(y, z) = 1` for :math:`z \ne y` this is the machine of Crammer & Singer. Two
    classes share one vector, as in scikit-learn's `LinearSVC` with the hinge loss. The intercept is
    a feature that is 1 in every row, and penalised like the others. As C grows, the margin becomes
    hard.

    Divided by C, this is the objective of losses of weight 1 and a Gaussian prior of variance C. A
    hinge has no curvature, so the variances are those of a `SoftmaxClassifier` with this prior and
    these scores: :math:`\Sigma^{-1} = I / C + H`, with H the diagonal of the Hessian of the log
    loss.

    Parameters
    ----------
    C : float > 0, default 1
        Factor of the losses.
    cost : array of shape (n_classes, n_classes), optional
        :math:`\Delta(y, z)`: how bad it is to take class y for z, both in the order of `classes_`;
        not negative, and 0 on the diagonal. Default: 1 for every wrong class.
    solver : {"frank-wolfe", "sgd"}, default "frank-wolfe"
        Block-coordinate Frank-Wolfe, which knows its distance to the optimum; or the stochastic
        sub-gradient method with an averaged result.
    fit_intercept : bool, default True
    class_weight : None, "balanced" or dict, default None
        As in `SureClassifier`.
    tol : float, default 1e-3
        Stop when the duality gap is at most this share of the objective; for SGD by an estimate.
    max_iter : int, default 1000
        Most passes over the rows.
    random_state : int, RandomState or None, default None
        Order of the rows in each pass.
    n_jobs : int or None, default None
        Threads for predictions and values of the objective, as in `SureClassifier`. Changes no
        result.
    verbose : int, default 0
        1 prints objective, gap and seconds each time they are computed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Known labels, sorted.
    coef_, sigma_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Means and variances of the weights, one row for two classes.
    intercept_, intercept_sigma_ : ndarray of shape (1,) or (n_classes,)
        Mean and variance of the intercept.
    objective_ : float
        Value of the objective; after `partial_fit` with the prior of that call.
    gap_ : float or None
        Duality gap: the optimum is at most so much lower. None after SGD.
    n_iter_ : int
        Passes.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X had names.
    temperature_ : float
        After `calibrate`: what every standard deviation is multiplied by.

    Notes
    -----
    `predict_proba` is that of a `SureClassifier` with this Gaussian and the rule
    ``Probit(noise=2.9)``: the probability that a label has the highest score under the Gaussian and
    the noise of a label. Call `calibrate` where it matters.

    References
    ----------
    Crammer & Singer 2001, On the algorithmic implementation of multiclass kernel-based vector
    machines. Tsochantaridis, Joachims, Hofmann & Altun 2005, Large margin methods for structured
    and interdependent output variables (costs, by rescaled margins). Lacoste-Julien, Jaggi, Schmidt
    & Pletscher 2013, Block-coordinate Frank-Wolfe optimization for structural SVMs. The generalised
    hinge is eq. 20 of the lecture [NYU] (see docs/theory/losses.md).

    Examples
    --------
    >>> from surelearn import MulticlassSVM
    >>> svm = MulticlassSVM(random_state=0).fit([[0.0], [1.0], [3.0]], ["low", "mid", "high"])
    >>> svm.predict([[0.1], [4.0]])
    array(['low', 'high'], dtype='<U4')
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        cost: Any = None,
        solver: str = "frank-wolfe",
        fit_intercept: bool = True,
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.cost = cost
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _solver(
        self, settings: RowSettings, problem: Problem, *, start: Array | None
    ) -> Callable[[], Solution]:
        if settings.solver == "frank-wolfe":
            weights = gaussian(problem.weights, np.zeros(problem.loss.n_weights))
            return self._machine(settings, problem, weights)
        order = self._orders(len(problem.y))
        shape = problem.weights.n_columns, settings.fit_intercept
        loss = _core.RowLoss(problem.block.rows, problem.y, _bound(settings, problem), *shape)
        return partial(
            stochastic, loss, "hinge", Prior(None, 1.0), order=order, cost=settings.cost,
            threads=settings.n_jobs, **settings.limits(),
        )  # fmt: skip

    def _updater(self, settings: RowSettings, problem: Problem) -> Callable[[], Solution]:
        mean = problem.prior.start(problem.loss.n_weights)
        # The objective is C times that of the Gaussian: all its precisions have this factor.
        metric = np.full_like(mean, 1.0 / settings.C) / problem.prior.precision
        return self._machine(settings, problem, gaussian(problem.weights, mean, metric))

    def _machine(
        self, settings: RowSettings, problem: Problem, weights: Diagonal
    ) -> Callable[[], Solution]:
        """Frank-Wolfe from these weights, which are the prior and are moved."""
        bound, rows = _bound(settings, problem), problem.block.rows
        machine = _core.RowFrankWolfe(rows, problem.y, bound, settings.cost, weights.core)
        order = self._orders(len(problem.y))
        return partial(frank_wolfe, machine, weights, order=order, **settings.limits())

    def _scorer(self) -> Scorer:
        return Scorer(
            self._fitted(),
            NOISE,
            temperature=self.__dict__.get("temperature_", 1.0),
            threads=_check.threads("n_jobs", self.n_jobs),
        )


def _bound(settings: RowSettings, problem: Problem) -> Array:
    """C times the weight of each row."""
    return loss_factors(settings.C, problem.block.weight, len(problem.y))

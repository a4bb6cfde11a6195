"""SoftmaxClassifier: the log loss of rows, minimised by L-BFGS."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, _core
from surelearn.learners.batch import NOISE
from surelearn.learners.batch_classifier import BatchClassifier, Problem
from surelearn.learners.scoring import SoftmaxScorer
from surelearn.learners.tasks.row_settings import RowSettings
from surelearn.rows import rows_of
from surelearn.solvers import Joined, Prior, Solution, lbfgs, stochastic

Array = NDArray[np.float64]


class SoftmaxClassifier(BatchClassifier):
    r"""Multinomial logistic regression that keeps a Gaussian over its weights.

    .. math:: \min_w \sum_i weight_i \, (\log \sum_z e^{w_z \cdot x_i} - w_{y_i} \cdot x_i)
        + \tfrac{l_2}{2} \lVert w \rVert_2^2 + l_1 \lVert w \rVert_1

    This is the objective of scikit-learn's `LogisticRegression` with ``C = 1 / l2``: the intercept
    is not penalised, and two classes share one vector with
    :math:`\Pr[classes\_[1] \mid x] = 1 / (1 + e^{-w \cdot x})`. Variances are those of Laplace's
    approximation with a diagonal Hessian H at the optimum, :math:`\Sigma^{-1} = l_2 I + H`.

    Parameters
    ----------
    l2 : float > 0, default 1
        Precision of the Gaussian prior of the weights.
    l1 : float >= 0, default 0
        With it, some weights are exactly 0. Only for `fit` with ``solver="lbfgs"``.
    solver : {"lbfgs", "sgd"}, default "lbfgs"
        ``"sgd"``: stochastic gradient descent with an averaged result, which comes near the optimum
        after few passes.
    fit_intercept : bool, default True
    class_weight : None, "balanced" or dict, default None
        As in `SureClassifier`.
    moderated : bool, default False
        Whether `predict_proba` averages over the Gaussian of the weights, see there.
    tol : float, default 1e-4
        Stop when the objective is within this share of its value of the optimum: for L-BFGS by a
        bound, for SGD by an estimate.
    max_iter : int, default 1000
        Most iterations of L-BFGS, or passes of SGD.
    warm_start : bool, default False
        Whether `fit` starts from the present weights. The labels must be the same.
    random_state : int, RandomState or None, default None
        Order of the rows in SGD.
    n_jobs : int or None, default None
        Threads, as in `SureClassifier`. Changes no result.
    verbose : int, default 0
        1 prints a line for each iteration: objective, gap and seconds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Known labels, sorted.
    coef_, sigma_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Means and variances of the weights, one row for two classes.
    intercept_, intercept_sigma_ : ndarray of shape (1,) or (n_classes,)
        Mean and variance of the intercept. The variance counts the prior as well, so that models
        can be merged.
    objective_ : float
        Value of the objective; after `partial_fit` with the prior of that call.
    gap_ : float or None
        The optimum is at most so much lower. None after SGD.
    n_iter_ : int
        Iterations or passes.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X had names.
    temperature_ : float
        After `calibrate`: what scores are divided by before they become probabilities.

    See Also
    --------
    SureClassifier : learns from a stream; `online` makes one of this model.

    References
    ----------
    Berger, Della Pietra & Della Pietra 1996, A maximum entropy approach to natural language
    processing. MacKay 1992, The evidence framework applied to classification networks.

    Examples
    --------
    >>> from surelearn import SoftmaxClassifier
    >>> clf = SoftmaxClassifier().fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"])
    >>> clf.predict_proba([[3.0, 1.0]]).round(2)
    array([[0.31, 0.69]])
    """

    def __init__(
        self,
        l2: float = 1.0,
        *,
        l1: float = 0.0,
        solver: str = "lbfgs",
        fit_intercept: bool = True,
        class_weight: Any = None,
        moderated: bool = False,
        tol: float = 1e-4,
        max_iter: int = 1000,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.l2 = l2
        self.l1 = l1
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.moderated = moderated
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def predict_proba(self, X: Any) -> Array:
        r"""Probability of each label: the softmax of the scores.

        .. math:: \Pr[y \mid x] = \frac{e^{s_y}}{\sum_z e^{s_z}}, \qquad
            s_z = \frac{\mu_z \cdot x}{\sqrt{1 + \pi v_z / 8}} \text{ if moderated}, \quad
            v_z = x' \Sigma_z x

        With `moderated`, uncertain scores are drawn to zero: for two classes that is nearly the
        average of the probability over the Gaussian of the weights. With more classes each score is
        scaled by its variance, and the most probable label may differ from that of `predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)

        References
        ----------
        MacKay 1992, The evidence framework applied to classification networks, eq. 10.
        """
        return super().predict_proba(X)

    def _start(self, settings: Any, classes: NDArray[Any], n_features: int) -> Array | None:
        if not self.warm_start or self._fresh or self._model.weights is None:
            return None
        _check.same_labels(self._model.classes, classes)
        _check.n_features(self._model.layout.n_features, n_features, "X")
        _check.same("fit_intercept", self._model.layout.intercept, settings.fit_intercept)
        return np.asarray(self._model.weights.means.T.ravel())

    def _solver(
        self, settings: RowSettings, problem: Problem, *, start: Array | None
    ) -> Callable[[], Solution]:
        loss, K = problem.loss, problem.weights.n_columns
        l2, l1 = settings.l2, settings.l1
        free = K if settings.fit_intercept else 0
        common = {"threads": settings.n_jobs, **settings.limits()}
        if settings.solver == "sgd":
            prior = Prior(None, _but_last(l2, loss.n_weights, free))
            order = self._orders(len(problem.y))
            return partial(stochastic, loss, "log", prior, order=order, **common)
        joined = None if l1 or not problem.block.is_sparse else Joined.of(problem.block.X)
        if joined is not None:
            rows, start = rows_of(joined.X), joined.short(start, K)
            loss = _core.RowLoss(rows, problem.y, problem.block.weight, K, settings.fit_intercept)
        prior = Prior(None, _but_last(l2, loss.n_weights, free))
        l1 = _but_last(l1, loss.n_weights, free)
        solver = partial(lbfgs, loss, prior, l1=l1, start=start, **common)
        return solver if joined is None else partial(joined.solve, solver, K)

    def _updater(self, settings: RowSettings, problem: Problem) -> Callable[[], Solution]:
        l1 = settings.l1
        _check.left_alone("l1", l1, 0.0, where="for partial_fit", use="fit, which counts it once")
        common = {"threads": settings.n_jobs, **settings.limits()}
        return partial(lbfgs, problem.loss, problem.prior, **common)

    def _scorer(self) -> SoftmaxScorer:
        return SoftmaxScorer(
            self._fitted(),
            NOISE,
            temperature=self.__dict__.get("temperature_", 1.0),
            threads=_check.threads("n_jobs", self.n_jobs),
            moderated=_check.flag("moderated", self.moderated),
        )


def _but_last(value: float, n: int, free: int) -> float | Array:
    """One number for each of n weights, 0 for the last ones: the intercept is not penalised."""
    if not free or not value:
        return value
    numbers = np.full(n, value)
    numbers[-free:] = 0.0
    return numbers

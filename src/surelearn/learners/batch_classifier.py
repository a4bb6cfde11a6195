"""The base class of batch classifiers: rows to a loss, its solution to a model; knows no loss."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, _core
from surelearn.learners.answers.linear import Linear, put_rows_model, whole_block
from surelearn.learners.base import put_model, settings_of
from surelearn.learners.batch import NOISE, BatchEstimator
from surelearn.learners.deciding import fit_certified
from surelearn.learners.row_input import known_classes
from surelearn.learners.tasks.row_block import RowBlock
from surelearn.learners.tasks.row_settings import RowSettings, balanced_weights, given_weight
from surelearn.learners.tasks.row_task import ROWS
from surelearn.learners.tasks.rows import RowModel, union_of_labels
from surelearn.solvers import Prior, Solution, laplace
from surelearn.weights import Diagonal

Array = NDArray[np.float64]


class Problem(NamedTuple):
    """A loss over rows, and the Gaussian that is the prior of its weights."""

    model: RowModel
    block: RowBlock
    y: NDArray[np.int32]  # the place of each label among the classes
    prior: Prior
    loss: _core.RowLoss

    @classmethod
    def of(cls, model: RowModel, block: RowBlock, *, is_new: bool) -> Problem:
        """The problem of some rows; a new model has the same prior for all its weights."""
        y = block.labels.codes_in(model.classes)
        weights = _check.trained(model.weights, "learning")
        intercept = model.layout.intercept
        loss = _core.RowLoss(block.rows, y, block.weight, weights.n_columns, intercept)
        prior = Prior(None, 1.0 / weights.prior)
        if not is_new:
            prior = Prior(weights.means.T.ravel(), 1.0 / weights.variances.T.ravel())
        return cls(model, block, y, prior, loss)

    @property
    def weights(self) -> Diagonal:
        """The weights of the prior."""
        assert isinstance(self.model.weights, Diagonal)
        return self.model.weights

    def solved(self, w: Array, threads: int) -> RowModel:
        """The model with a solution as means, and variances by Laplace's approximation."""
        variance = laplace(self.loss, self.prior, _check.finite_loss(w), threads)
        counts = self.model.counts + np.bincount(self.y, minlength=len(self.model.classes))
        return replace(self.model, weights=gaussian(self.weights, w, variance), counts=counts)


def gaussian(like: Diagonal, mean: Array, variance: Array | None = None) -> Diagonal:
    """Weights in the shape of others, with these means; of first order without variances."""
    layout = replace(like.layout, second_order=variance is not None)
    parts = [mean] if variance is None else [mean, variance]
    cells = np.hstack([part.reshape(layout.n_rows, like.n_columns) for part in parts])
    state = {"n_columns": like.n_columns, "prior": like.prior, "rounds": 0}
    features = np.arange(layout.n_rows)
    return Diagonal.from_state(
        {"layout": asdict(layout), "features": features, "cells": cells, **state}
    )


class BatchClassifier(Linear, BatchEstimator[RowModel]):
    """A classifier that minimises a loss over all its rows at once."""

    task = ROWS

    fit_intercept: bool

    @abstractmethod
    def _solver(
        self, settings: Any, problem: Problem, *, start: Array | None
    ) -> Callable[[], Solution]:
        """What minimises the loss of `fit`; it begins at `start`, if there is one."""

    @abstractmethod
    def _updater(self, settings: Any, problem: Problem) -> Callable[[], Solution]:
        """What minimises the loss of `partial_fit`, whose prior was learnt."""

    def _start(self, settings: Any, classes: NDArray[Any], n_features: int) -> Array | None:
        """The weights that `fit` begins at; None: zeros."""
        return None

    # ----------------------------------------------------------------- learning

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        risk: Any = None,
        delta: float = 0.1,
        novel: float | None = None,
    ) -> Self:
        """Minimise the objective over these rows.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features), or list of dicts
            Read in place where it is C-ordered float32 or float64. Dicts of {name: value} as in
            `SureClassifier.learn_one`.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Factors of the losses. Rows of weight 0 are left out before anything else.
        risk, delta, novel : optional
            Keep a fifth of the rows back, at random, to certify that at most a share `risk` of
            the answers of ``predict(X, abstain=True)`` is wrong; see `choose_abstention`. These
            rows are never learnt. `predict_set` uses them as well. Other steps of a Pipeline, and a
            search, do see them: call `choose_abstention` there, with rows that none has seen.

        Returns
        -------
        self
            On an error the model is as it was before the call. At Ctrl-C it is the best that was
            found so far, and KeyboardInterrupt is raised.

        Warns
        -----
        ConvergenceWarning
            If `max_iter` iterations do not reach `tol`. The model is kept.
        """
        if risk is not None or novel is not None:
            how: dict[str, Any] = {"risk": risk, "delta": delta, "novel": novel}
            return fit_certified(self, X, y, sample_weight, **how)
        settings, shell = self._settings_for(), self._blank()
        block = whole_block(shell, X, y, sample_weight, who="fit")
        n_features, classes = shell.n_features_in_, block.labels.values
        start = self._start(settings, classes, n_features)
        model = settings.untrained(n_features, is_sparse=block.is_sparse)
        settings.check_classes(classes, model)
        problem = Problem.of(model.with_classes(classes), block, is_new=True)
        self._learn(settings, problem, self._solver(settings, problem, start=start), shell)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        r"""Continue training on more rows, with the current Gaussian as their prior.

        .. math:: \mu \leftarrow \arg\min_w \sum_i loss_i(w)
            + \tfrac12 (w - \mu)' \Sigma^{-1} (w - \mu), \qquad
            \Sigma^{-1} \leftarrow \Sigma^{-1} + H

        with H the diagonal of the Hessian of the log loss at the new :math:`\mu`. Only these rows
        are in memory. In the first call every weight, the intercept as well, has the prior of the
        objective; so have the weights of classes that appear later.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features), or list of dicts
        y : array of shape (n_samples,)
        classes : array, optional
            Labels to know from now on.
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        self
            As from `fit`. Rows are only counted while one class is known.

        References
        ----------
        Spiegelhalter & Lauritzen 1990, Sequential updating of conditional probabilities on directed
        graphical structures (recursive Laplace approximation).
        """
        is_new, settings = self._fresh, self._settings_for()
        shell, block = self._read(X, y, sample_weight)
        model = settings.untrained(shell.n_features_in_, is_sparse=block.is_sparse)
        if not is_new:
            settings.check_fits(self._model)
            model = self._model
        seen = block.labels.seen
        known = known_classes(model.classes, seen, classes, settings.class_weight)
        known = union_of_labels(known, seen)
        settings.check_classes(known, model)
        if not block.size and classes is None:
            return self
        model = model.with_classes(known)
        if model.weights is None or not block.size:
            counts = np.bincount(block.labels.codes_in(known), minlength=len(known))
            put_model(shell, replace(model, counts=model.counts + counts))
            self._adopt(shell)
            self._remember(block)
        else:
            block = _rebalanced(settings, model, block)
            problem = Problem.of(model, block, is_new=is_new)
            self._learn(settings, problem, self._updater(settings, problem), shell)
        return self

    def _learn(
        self, settings: Any, problem: Problem, solve: Callable[[], Solution], shell: Self
    ) -> None:
        """Solve; the shell, which has read the rows, takes the solution and is adopted."""

        def take(solution: Solution) -> None:
            put_model(shell, problem.solved(solution.w, settings.n_jobs))
            self._adopt(shell)
            self._remember(problem.block)

        self._minimise(solve, take, settings.max_iter)

    def online(self, rule: Any = None, **params: Any) -> Any:
        """A `SureClassifier` that starts from this model, and goes on with a stream.

        It has a copy of the means and variances, so `partial_fit`, `learn_one` and `fit_stream`
        with ``resume=True`` go on from the optimum. A parameter of its constructor could not do
        this: `sklearn.base.clone` copies parameters only.

        Parameters
        ----------
        rule : str, rule or function, optional
            One that keeps variances. Default: ``Probit(noise=2.9)``, since logistic noise is nearly
            normal with a variance of 1.7 squared.
        **params
            Other parameters of `SureClassifier`. Those of the weights stay as they are: dtype
            "float64", `fit_intercept`, and the initial variance of the prior.

        Returns
        -------
        SureClassifier
        """
        from surelearn.learners import SureClassifier

        model = self._fitted()
        own = ("fit_intercept", "class_weight", "n_jobs", "random_state")
        weights = {"initial_variance": model.initial_variance, "dtype": model.layout.dtype}
        # More than one rival would move an optimum further away than a row is worth.
        weights["constraints"] = "single"
        given = {**{name: getattr(self, name) for name in own}, **weights, **params}
        clf = SureClassifier(NOISE if rule is None else rule, **given)
        settings_of(clf).check_fits(model)
        put_rows_model(clf, model.copy(), self._own_reader().words())
        if hasattr(self, "feature_names_in_"):
            clf.feature_names_in_ = self.feature_names_in_
        return clf


def _rebalanced(settings: RowSettings, model: RowModel, block: RowBlock) -> RowBlock:
    """A block with balanced weights from all counts so far, where these are asked for."""
    if settings.class_weight != "balanced":
        return block
    codes = block.labels.codes_in(model.classes)
    counts = model.counts + np.bincount(codes, minlength=len(model.classes))
    of_class = balanced_weights(model.classes, counts)
    return block._replace(weight=given_weight(of_class, block.labels, block.weight))

"""Predictions of a classifier: labels, margins, probabilities and their calibration."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from surelearn import _check, probability, rules
from surelearn.estimators.base import Estimator, second_order
from surelearn.estimators.labels import as_labels
from surelearn.estimators.linear import Linear
from surelearn.models.rows import RowModel
from surelearn.models.scoring import ScoredModel, Scorer, one_or_many

Array = NDArray[np.float64]
M = TypeVar("M", bound=ScoredModel)


class Probabilistic(Estimator[M]):
    """A classifier of rows that gives the probability of each label."""

    n_jobs: int | None
    temperature_: float

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Mean scores; for two classes, the score of the second.

        With a reduction, `decoding` turns the margins of its problems into class scores.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            With many labels per row always the second.
        """
        asked = self._scorer()
        rows = self._rows(X)
        if asked.model.many_labels:
            return asked.class_scores(rows)
        _check.trained(asked.model.weights, "decision_function")
        return one_or_many(asked.class_scores(rows))

    def predict(self, X: Any) -> NDArray[Any]:
        """The label with the largest score; the first one wins a tie."""
        asked = self._scorer()
        rows, classes = self._rows(X), asked.model.classes
        if asked.model.weights is None:
            return np.repeat(classes[_check.only_class(classes)], len(rows))
        return np.asarray(classes[asked.winners(rows)])

    @available_if(second_order)
    def margin(self, X: Any) -> tuple[Array, Array]:
        """Mean and variance of each class score; for two classes, of the margin.

        With a reduction, mean and variance of the margin of each problem, as `surelearn.decode`
        takes them. With many labels per row, of the margin of each label.

        Returns
        -------
        mean, variance : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, \
n_problems)
        """
        asked = self._scorer()
        return asked.margin(self._rows(X))

    @available_if(second_order)
    def predict_proba(self, X: Any) -> Array:
        r"""Probability of each label under the distribution of the weights.

        .. math:: \Pr[y \mid x] = \Pr_w[\, y = \arg\max_z w \cdot f(x, z)\,], \qquad
            \Pr[classes\_[1] \mid x] = \Phi(M / \sqrt{V}) \text{ for two classes}

        Probabilities are exact to 1e-9. The exception is full covariance with three or more
        classes, which uses 10,000 draws, the same ones in every call. `Probit` adds its noise to V.
        After `calibrate`, V is multiplied by the square of ``temperature_``. A row without features
        and intercept is a tie. With a reduction, the problems are taken as independent: the
        probability of a class is that of its code word, given that the answer is some class's code
        word; see `decode.label_probabilities`. With many labels per row, each label has the
        probability :math:`\Phi(M / \sqrt{V})` of its margin, and they do not sum to one.

        `predict` uses the mean scores, so the most probable label may differ from it. With CW rules
        and `Probit` this happens on a few rows in a hundred, where the best scores are close. Rules
        with a fixed target margin, such as `AROW`, leave variances on a scale unrelated to that
        margin: with such a rule and many classes, call `calibrate` first.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._scorer().probabilities(self._rows(X))

    @available_if(second_order)
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of `predict_proba`, accurate even where that rounds to 0.

        The exception is full covariance with three or more classes, which is sampled.
        """
        return self._scorer().probabilities(self._rows(X), log=True)

    @available_if(second_order)
    def entropy(self, X: Any) -> Array:
        """Normalised entropy of `predict_proba`: 0 for a certain label, 1 for a uniform one.

        With many labels per row, the mean over the labels.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        asked = self._scorer()
        return asked.entropy(self._rows(X))

    @available_if(second_order)
    def calibrate(self, X: Any, y: Any) -> Self:
        r"""Fit ``temperature_`` on rows that the model was not trained on.

        .. math:: \tau = \arg\min_\tau -\sum_i \log \Pr[y_i \mid x_i; \tau^2 V]

        It is one number that scales all standard deviations; `predict` does not change.
        `partial_fit` keeps it, `fit` resets it.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,), or an indicator matrix or lists for many labels per row
            Known labels.

        Returns
        -------
        self
        """
        asked = self._scorer()
        rows = self._rows(X)
        places = self._places(asked.model, y, len(rows))
        self.temperature_ = asked.fitted_temperature(rows, places)
        return self

    @available_if(second_order)
    def reliability(self, X: Any, y: Any, *, bins: int = 10) -> probability.Reliability:
        """Compare predicted probabilities with actual errors, in bins of probability.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,), or an indicator matrix or lists for many labels per row
            Known labels.
        bins : int, default 10

        Returns
        -------
        surelearn.probability.Reliability
            Count, contribution to the error and conditional error of each bin, as in Crammer,
            Dredze & Kulesza 2009, sec. 7. Predictions are those of `predict`.
        """
        asked = self._scorer()
        rows = self._rows(X)
        return asked.reliability(rows, self._places(asked.model, y, len(rows)), bins=bins)

    def _places(self, model: ScoredModel, y: Any, n_rows: int) -> NDArray[Any]:
        """The position of each label among the known classes."""
        labels = as_labels(y)
        _check.one_label_a_row(len(labels), n_rows)
        _check.one_kind(model.classes, labels)
        return _check.known_labels(labels, model.classes, n_rows, "y")

    @abstractmethod
    def _rows(self, X: Any) -> Any:
        """The checked rows of X, as the weights of the model read them."""

    @abstractmethod
    def _scorer(self) -> Scorer:
        """The current model with the settings of prediction; one model for the whole call, even if
        another thread adds classes."""


class RuleScored(Probabilistic[M]):
    """A classifier learnt by a rule: its label noise and its decoding are those of the scores."""

    rule: Any
    decoding: str

    def _scorer(self) -> Scorer:
        return Scorer(
            self._fitted(),
            rules.get(self.rule),
            self.decoding,
            self.__dict__.get("temperature_", 1.0),
            _check.threads("n_jobs", self.n_jobs),
        )


class ProbabilisticLinear(Linear, Probabilistic[RowModel]):
    """A linear classifier that gives the probability of each label."""

    def predict_one(self, x: Any) -> Any:
        """The label of one row: an array, a sparse row or a dict of {feature: value}."""
        model = self._fitted()
        row, _, _ = self._one(x)
        if model.weights is None:
            return model.classes[_check.only_class(model.classes)]
        if model.code is None:
            return model.classes[model.weights.winner(row)]
        return model.classes[self._scorer().winners(row)[0]]

    @available_if(second_order)
    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """Probability of each label of one row: an array, a sparse row or a dict.

        Returns
        -------
        dict of {label: float}
            In the order of ``classes_``. If only one class is known, its probability is 1.
        """
        model = self._fitted()
        row, _, _ = self._one(x)
        labels = model.classes.tolist()
        if model.weights is None and not model.many_labels:
            return {labels[_check.only_class(model.classes)]: 1.0}
        return dict(zip(labels, self._scorer().probabilities(row)[0].tolist(), strict=True))

    @available_if(second_order)
    def sample_proba(self, X: Any, n_samples: int = 1000, random_state: Any = None) -> Array:
        """Estimate `predict_proba`: the share of draws of the weights in which each label wins.

        This is the method of the papers, kept for comparison; `predict_proba` is exact.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
        n_samples : int, default 1000
            Number of draws; a probability p has the standard error ``sqrt(p (1 - p) / n_samples)``.
        random_state : int, RandomState or None

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        asked = self._scorer()
        if asked.model.many_labels:
            raise ValueError(
                "sample_proba needs one label per row, got many. predict_proba needs no draws."
            )
        if asked.model.code is not None:
            raise ValueError(
                f"sample_proba needs multiclass='joint', got {asked.model.multiclass!r}. "
                "predict_proba needs no draws."
            )
        rows = self._rows(X)
        seed = check_random_state(random_state).randint(2**31)
        return asked.sampled(rows, n_samples, np.random.default_rng(seed))


def scorer(estimator: Probabilistic[Any]) -> Scorer:
    """The scorer of a fitted estimator, for callers that score the same rows more than once."""
    return estimator._scorer()


def scored_rows(estimator: Probabilistic[Any], X: Any) -> Any:
    """The checked rows that a scorer takes, of X in any form that the fitted estimator takes."""
    return estimator._rows(X)

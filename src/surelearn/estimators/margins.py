"""All that a model says of rows from one reading of them; must not know where they come from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from surelearn import _check, _core, rules
from surelearn.estimators.probabilistic import Array, ProbabilisticLinear, moments, probabilities
from surelearn.models.rows import RowModel
from surelearn.weights import Leads


class Judgement(NamedTuple):
    """The label of each row, and how sure the model is of it where it knows."""

    labels: NDArray[Any]
    probabilities: Array | None  # of every class
    sureness: Array | None


def check_fitted(name: str, model: Any) -> None:
    """Refuse what is no classifier, and one that has learnt nothing."""
    _check.classifier(name, model)
    if not hasattr(model, "classes_"):
        raise NotFittedError(f"{name} must be a fitted classifier, got {model!r}.")


def check_fitted_tagger(name: str, model: Any) -> None:
    """Refuse what is no tagger, and one that has learnt nothing."""
    _check.tagger(name, model)
    if not hasattr(model, "classes_"):
        raise NotFittedError(f"{name} must be a fitted tagger, got {model!r}.")


def judge(estimator: Any, X: Any) -> Judgement:
    """What `predict` and `predict_proba` give, without reading texts twice.

    Classifiers that are not ours are asked by these methods.
    """
    if not isinstance(estimator, ProbabilisticLinear):
        known = hasattr(estimator, "predict_proba")
        p = np.asarray(estimator.predict_proba(X), dtype=np.float64) if known else None
        return Judgement(np.asarray(estimator.predict(X)), p, None)
    model = estimator._fitted()
    if model.weights is None:
        return Judgement(estimator.predict(X), None, None)
    rows = estimator._rows(X)
    if not model.layout.second_order:
        return Judgement(model.classes[estimator._winners(model, rows)], None, None)
    mean, spread = moments(model, rows)
    if model.code is not None:
        found = _coded(estimator, model, mean, spread)
    elif spread.ndim == 2:
        found = _noisy(estimator, _top_two(mean, spread), np.ones(1))
    else:  # the core knows how much of a difference of covariances is rounding
        found = lead(estimator, model, rows)
    p = probabilities(model.code, *estimator._noisy(model, mean, spread))
    return Judgement(model.classes[found.best], p, found.sureness)


def why_unsure(estimator: Any) -> str:
    """Why a model gives no probabilities; nothing where it does."""
    if not isinstance(estimator, ProbabilisticLinear):
        known = hasattr(estimator, "predict_proba")
        return "" if known else f"{type(estimator).__name__} has no predict_proba"
    model = estimator._fitted()
    if not model.layout.second_order:
        return f"the rule {estimator.rule!r} is of first order and keeps no variances"
    return "" if model.weights is not None else "the model knows one class only"


class TopTwoMargin(NamedTuple):
    """How far each row's label lies before the next best one.

    With g the difference between the two in the code, the gap is ``g.mean`` and its variance
    ``g' spread g``: of the weights alone, and with the noise of the labels and the temperature of
    the probabilities.
    """

    best: NDArray[np.int64]
    next: NDArray[np.int64]
    gap: Array
    own: Array  # variance of the weights alone; 0: a row without any feature
    variance: Array

    @property
    def sureness(self) -> Array:
        """The gap in its standard deviations; a row without any feature is a tie."""
        none = self.variance <= 0
        sure: Array = np.where(none, 0.0, self.gap / np.sqrt(np.where(none, 1.0, self.variance)))
        return sure


def lead(
    estimator: ProbabilisticLinear,
    model: RowModel,
    rows: _core.Rows,
    numbers: NDArray[np.int64] | None = None,
    *,
    places: NDArray[np.int64] | None = None,
) -> TopTwoMargin:
    """The lead of the labels that `predict` gives, or of those in these places.

    Of the rows of these `numbers`, where there are some.
    """
    weights = _check.trained(model.weights, "sureness")
    if model.code is None:
        threads = _check.threads("n_jobs", estimator.n_jobs)
        found = weights.leads(rows, numbers, threads=threads)
        return _noisy(estimator, found, np.ones(1))
    return _coded(estimator, model, *weights.margin(rows, numbers), places=places)


def _top_two(mean: Array, own: Array) -> Leads:
    """The two best of the scores of classes, as the core has them; of one margin by its sign."""
    row = np.arange(len(mean))
    if mean.shape[1] == 1:
        best = (mean[:, 0] > 0).astype(np.int64)
        return Leads(best, 1 - best, np.abs(mean[:, 0]), own[:, 0])
    best = mean.argmax(axis=1)
    others = mean.copy()
    others[row, best] = -np.inf
    next_ = others.argmax(axis=1)
    gap = mean[row, best] - mean[row, next_]
    return Leads(best, next_, gap, own[row, best] + own[row, next_])


def _coded(
    estimator: ProbabilisticLinear,
    model: RowModel,
    mean: Array,
    own: Array,
    *,
    places: NDArray[np.int64] | None = None,
) -> TopTwoMargin:
    """The lead of labels that were learnt as problems."""
    assert model.code is not None
    if places is None:
        places = estimator._decoded(model, mean, own).argmax(axis=1)
    code = model.code.matrix.astype(np.float64)
    scores = np.where(np.arange(len(code)) == places[:, None], -np.inf, mean @ code.T)
    others = scores.argmax(axis=1)
    g = code[places] - code[others]
    gap, variance = (g * mean).sum(axis=1), (g * g * own).sum(axis=1)
    return _noisy(estimator, Leads(places, others, gap, variance), (g * g).sum(axis=1))


def _noisy(estimator: ProbabilisticLinear, found: Leads, problems: Array) -> TopTwoMargin:
    """With the noise of the labels, once for each problem, and the temperature."""
    noise = problems * rules.get(estimator.rule).label_noise
    scale = estimator.__dict__.get("temperature_", 1.0) ** 2
    variance = np.minimum((found.variance + noise) * scale, np.finfo(np.float64).max)
    return TopTwoMargin(*found, variance)

"""All that a model says of rows from one reading of them; must not know where they come from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _core, rules
from surelearn.estimators._model import Model
from surelearn.estimators._proba import Array, Certain, probabilities


class Judgement(NamedTuple):
    """The label of each row, and how sure the model is of it where it knows."""

    labels: NDArray[Any]
    probabilities: Array | None  # of every class
    sureness: Array | None


def judge(estimator: Any, X: Any) -> Judgement:
    """What `predict` and `predict_proba` give, without reading texts twice.

    Classifiers that are not ours are asked by these methods.
    """
    if not isinstance(estimator, Certain):
        found = hasattr(estimator, "predict_proba")
        p = np.asarray(estimator.predict_proba(X), dtype=np.float64) if found else None
        return Judgement(np.asarray(estimator.predict(X)), p, None)
    model = estimator._fitted()
    if model.weights is None:
        return Judgement(estimator.predict(X), None, None)
    rows = estimator._rows(X)
    places = estimator._winners(model, rows)
    if not model.layout.second_order:
        return Judgement(model.classes[places], None, None)
    p = probabilities(model.code, *estimator._spread(model, rows))
    return Judgement(model.classes[places], p, lead(estimator, model, rows, places).sureness)


def why_unsure(estimator: Any) -> str:
    """Why a model gives no probabilities; nothing where it does."""
    if not isinstance(estimator, Certain):
        known = hasattr(estimator, "predict_proba")
        return "" if known else f"{type(estimator).__name__} has no predict_proba"
    model = estimator._fitted()
    if not model.layout.second_order:
        return f"the rule {estimator.rule!r} is of first order and keeps no variances"
    return "" if model.weights is not None else "the model knows one class only"


class Lead(NamedTuple):
    """How far each row's label lies before the next best one.

    With g the difference between the two in the code, the gap is ``g.mean`` and its variance
    ``g' spread g``: what the weights leave open, and with the noise of the labels and the
    temperature of the probabilities.
    """

    gap: Array
    own: Array  # variance of the weights alone; 0: a row without any feature
    variance: Array

    @property
    def sureness(self) -> Array:
        """The gap in its standard deviations; a row without any feature is a tie."""
        none = self.variance <= 0
        sure: Array = np.where(none, 0.0, self.gap / np.sqrt(np.where(none, 1.0, self.variance)))
        return sure


def lead(estimator: Certain, model: Model, rows: _core.Rows, places: NDArray[np.int64]) -> Lead:
    """The lead of the labels in these places; second-order rules only."""
    mean, spread = estimator._spread(model, rows)
    noise = rules.get(estimator.rule).label_noise
    scale = estimator.__dict__.get("temperature_", 1.0) ** 2
    if mean.ndim == 1:
        return Lead(np.abs(mean), spread / scale - noise, spread)
    code = np.eye(mean.shape[1]) if model.code is None else model.code.matrix.astype(np.float64)
    scores = mean if model.code is None else mean @ code.T
    others = np.where(np.arange(len(code)) == places[:, None], -np.inf, scores)
    g = code[places] - code[others.argmax(axis=1)]
    gap = (g * mean).sum(axis=1)
    turned = g * spread if spread.ndim == 2 else (spread @ g[:, :, None])[:, :, 0]
    variance = (turned * g).sum(axis=1)
    added = noise * (g * g).sum(axis=1) * (0.5 if model.code is None else 1.0)
    return Lead(gap, variance / scale - added, variance)

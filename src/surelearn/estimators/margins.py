"""What any classifier says of rows from one reading of them; must not know where they come from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from surelearn import _check
from surelearn.estimators.linear import core_rows
from surelearn.estimators.probabilistic import ProbabilisticLinear, scorer

Array = NDArray[np.float64]


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
    asked = scorer(estimator)
    if asked.model.weights is None:
        return Judgement(estimator.predict(X), None, None)
    found = asked.score(core_rows(estimator, X))
    return Judgement(asked.model.classes[found.best], found.probabilities, found.sureness)


def why_unsure(estimator: Any) -> str:
    """Why a model gives no probabilities; nothing where it does."""
    if not isinstance(estimator, ProbabilisticLinear):
        known = hasattr(estimator, "predict_proba")
        return "" if known else f"{type(estimator).__name__} has no predict_proba"
    model = scorer(estimator).model
    if not model.layout.second_order:
        return f"the rule {estimator.rule!r} is of first order and keeps no variances"
    return "" if model.weights is not None else "the model knows one class only"

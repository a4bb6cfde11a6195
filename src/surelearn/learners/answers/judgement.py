"""Labels and probabilities of rows from any classifier; must not know where rows come from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from surelearn.learners.answers.classifier import Probabilistic, scored_rows, scorer
from surelearn.learners.answers.many_labels import label_lists
from surelearn.learners.answers.views import log_odds
from surelearn.learners.deciding import DecisionOptions, Given, given

Array = NDArray[np.float64]


class Judgement(NamedTuple):
    """The label of each row, and how sure the model is, if it can tell."""

    labels: Any  # an array; of many labels per row, a list of tuples
    probabilities: Array | None  # of every class
    sureness: Array | None  # of many labels per row, that of the least sure one
    has: NDArray[np.bool_] | None = None  # whether each row has each of many labels
    given: Given | None = None  # what is decided, if that was asked for


def judge(estimator: Any, X: Any) -> Judgement:
    """The results of `predict` and `predict_proba`, without reading texts twice.

    Classifiers of other libraries are called by these methods.
    """
    if not isinstance(estimator, Probabilistic):
        known = hasattr(estimator, "predict_proba")
        p = np.asarray(estimator.predict_proba(X), dtype=np.float64) if known else None
        y = estimator.predict(X)
        if not many_labels(estimator):
            return Judgement(np.asarray(y), p, None)
        has = (y.toarray() if issparse(y) else np.asarray(y)) > 0
        return Judgement(label_lists(has, np.asarray(estimator.classes_)), p, None, has)
    asked = scorer(estimator)
    if asked.model.weights is None and not asked.model.many_labels:
        return Judgement(estimator.predict(X), None, None)
    found = asked.score(scored_rows(estimator, X))
    if asked.model.many_labels:
        labels = label_lists(found.best, asked.model.classes)
        return Judgement(labels, found.probabilities, found.sureness, found.best)
    return Judgement(asked.model.classes[found.best], found.probabilities, found.sureness)


def sureness_of(estimator: Any, judged: Judgement) -> Array | None:
    """How sure a model is of each of its answers; None if it cannot tell.

    It is the score that decisions take by default; for models of other libraries the odds of the
    probability of the answer, which rank as it does, but are precise near 1 as well.
    """
    p = judged.probabilities
    if p is None:
        return None
    if judged.has is not None:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.where(judged.has, p, 1.0 - p)).sum(axis=1))
    places = np.searchsorted(np.asarray(estimator.classes_), judged.labels)
    if isinstance(estimator, Probabilistic):
        sure = log_odds(p, places)
    else:
        own, others = (np.arange(len(p)), places), p.copy()
        others[own] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            sure = np.asarray(np.log(p[own]) - np.log(others.sum(axis=1)))
    return np.where(np.isnan(sure), -np.inf, sure)


def judge_decided(estimator: Any, X: Any, *, options: DecisionOptions) -> Judgement:
    """The same with what is decided, for an estimator of this package; None is no answer."""
    found = given(estimator, X, options)
    view: Any = found.view  # of rows
    has = found.answers if found.answers.ndim == 2 else None
    return Judgement(found.shown, view.probabilities(), view.deviations(), has, found)


def judge_nothing(model: Any, X: Any) -> Judgement:
    """The predictions for a batch without rows."""
    if many_labels(model):
        return Judgement([], None, None, np.zeros((0, len(model.classes_)), bool))
    return Judgement(model.classes_[:0], None, None)


def of_label(model: Any, judged: Judgement) -> NDArray[np.float64] | None:
    """The probability of each predicted label; None if rows have many labels."""
    p = judged.probabilities
    if p is None or judged.has is not None:
        return None
    if judged.given is None:
        places = np.searchsorted(model.classes_, judged.labels)
    else:  # of no answer, the probability of the label that is most probable
        places = judged.given.answers
        places = np.where(places < p.shape[1], places, p.argmax(axis=1))
    of_own: NDArray[np.float64] = p[np.arange(len(p)), places]
    return of_own


def many_labels(estimator: Any) -> bool:
    """Whether the rows of a fitted classifier have any number of labels."""
    if isinstance(estimator, Probabilistic):
        return scorer(estimator).model.many_labels
    return bool(getattr(estimator, "multilabel_", False))  # scikit-learn's OneVsRestClassifier


def why_unsure(estimator: Any) -> str:
    """The reason why a model gives no probabilities; ``""`` if it does."""
    if not isinstance(estimator, Probabilistic):
        known = hasattr(estimator, "predict_proba")
        return "" if known else f"{type(estimator).__name__} has no predict_proba"
    model = scorer(estimator).model
    if not model.layout.second_order:
        rule = getattr(estimator, "rule", None)
        return f"the rule {rule!r} is of first order and keeps no variances"
    if model.weights is None:
        return "the model knows " + ("no label" if model.many_labels else "one class only")
    return ""

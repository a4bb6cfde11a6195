"""Fitted models and rows to ask about, and their scores from public attributes."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import make_classification

from reference.diagonal import Diagonal
from reference.full import Full
from surelearn import SureClassifier, rules

SECOND_ORDER = [name for name, rule in rules.RULES.items() if not rule().first_order]


def problem(n_classes: int, seed: int = 0, n: int = 240):
    X, y = make_classification(
        n,
        8,
        n_informative=6,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        random_state=seed,
    )
    X[np.abs(X) < 0.4] = 0.0
    return X, y


def fitted(n_classes: int, seed: int = 0, **params):
    X, y = problem(n_classes, seed)
    clf = SureClassifier(dtype="float64", passes=1, random_state=0, **params, scale=False)
    return clf.fit(X[:120], y[:120]), X[120:]


def plain(clf: SureClassifier):
    """The weights of a classifier for the reference."""
    mu = np.column_stack([clf.coef_, clf.intercept_])
    if clf.covariance == "full":
        return Full(mu, np.array(clf.sigma_))
    sigma = np.column_stack([clf.sigma_, clf.intercept_sigma_])
    return Diagonal(mu, sigma, clf.projection_)


def code_of(clf: SureClassifier) -> np.ndarray | None:
    joint = clf.multiclass == "joint" or len(clf.classes_) == 2
    return None if joint else clf.code_.astype(float)


def with_ones(X: np.ndarray) -> np.ndarray:
    return np.column_stack([X, np.ones(len(X))])

"""What tests of kernel classifiers share: rows, and the primal classifiers they are judged by."""

from __future__ import annotations

import numpy as np

from surelearn import SureClassifier, rules
from surelearn.dual import Dual, DualForm, DualTargets, DualTraining, KernelRows
from surelearn.kernels import Linear

SECOND_ORDER = [name for name, rule in rules.RULES.items() if not rule().first_order]
FIRST_ORDER = [name for name, rule in rules.RULES.items() if rule().first_order]


def rows(n=60, n_features=5, n_classes=2, seed=0):
    """Rows whose classes overlap."""
    random = np.random.default_rng(seed)
    y = random.integers(0, n_classes, n)
    return random.normal(size=(n, n_features)) + 0.8 * np.eye(n_classes, n_features)[y], y


def unfitted(rule, **params):
    """The linear classifier of which a kernel classifier is the dual form."""
    covariance = "diagonal" if rules.get(rule).first_order else "full"
    params |= {"dtype": "float64", "probability": "exact", "constraints": "single"}
    return SureClassifier(rule, covariance=covariance, **params, scale=False)


def form(kernel=None, **options):
    options = {"intercept": True, "second_order": True, "prior": 1.0, "budget": 0, **options}
    return DualForm(kernel or Linear(), **options)


def untrained(form, n_problems=1):
    return Dual(form, None, tuple(form.untrained() for _ in range(n_problems)))


def trained(start, X, sides, *, rule="arow", passes=1, weight=None, threads=1):
    """Dual weights that have learnt rows in their order."""
    training = DualTraining(start, KernelRows(X))
    sides = np.asarray(sides, np.int8).reshape(X.shape[0], -1)
    targets = DualTargets(rules.get(rule).core(), sides, weight, threads)
    for _ in range(passes):
        for _ in training.learn(targets, np.arange(X.shape[0])):
            pass
    return training.result()[0]

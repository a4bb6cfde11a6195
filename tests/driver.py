"""What tests of the core share: weights made, taught, and the reference taught the same; trees."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from reference.learner import Learner
from reference.rules import FIRST_ORDER
from surelearn import constraints, rules
from surelearn.rows import rows_of
from surelearn.weights import Layout, Method, Targets, weights_of


def make(n_features, n_classes, name, **options):
    layout = Layout(
        n_features,
        intercept=options.get("fit_intercept", True),
        second_order=name not in FIRST_ORDER,
        averaged=options.get("average", False),
        dtype=np.dtype(options.get("dtype", np.float64)).name,
        covariance=options.get("covariance", "diagonal"),
    )
    columns = 1 if n_classes == 2 else n_classes
    return weights_of(layout, columns, options.get("initial_variance", 1.0))


def learn(weights, rule, X, y, *, weight=None, n_classes=2, order=None, **how):
    kept = np.ones(len(y), bool) if weight is None else weight > 0
    cost = how.get("cost")
    targets = Targets(
        np.asarray(y[kept], np.int32),
        None if weight is None else np.ascontiguousarray(weight[kept], np.float64),
        order,
        np.ones(n_classes, np.uint8),
        None if cost is None else np.ravel(cost).astype(np.float64),
    )
    rows = rows_of(np.ascontiguousarray(X[kept]) if isinstance(X, np.ndarray) else X[kept])
    assert rows.fault is None
    return Learnt(weights, method(rule, **how), rows, targets)


def method(rule, *, projection="precision", scheme=None, cost=None):
    name, params = rule
    core = rules.RULES[name](**params).core()
    scheme = scheme or constraints.Single()
    return Method(core, scheme.core(), projection == "covariance")


class Learnt:
    """What learning all the rows did."""

    def __init__(self, weights, method, rows, targets):
        done = np.zeros(3, np.uint64)
        self.refused = weights.learn(method, rows, targets, span=(0, len(rows)), done=done)
        self.rows, self.mistakes, self.updates = done.tolist()


def expected(problem, rule, **options):
    """The reference after all rows, or after those before the one it refuses."""
    learner = Learner(problem.X.shape[1], problem.n_classes, *rule, **options)
    for x, y, w in zip(problem.X, problem.y, problem.sample_weight, strict=True):
        try:
            learner.learn(x, y, w)
        except FloatingPointError:
            return learner, True
    return learner, False


def grouped(items, draw):
    """The items added up in a tree of any form."""
    items = list(items)
    while len(items) > 1:
        i = draw(st.integers(0, len(items) - 2))
        items[i : i + 2] = [items[i] + items[i + 1]]
    return items[0]

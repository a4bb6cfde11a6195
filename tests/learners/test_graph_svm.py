"""GraphSVM: its objective and gap against all labellings, and against MulticlassSVM."""

from __future__ import annotations

import numpy as np
import pytest

from batch_graphed import examples, flat, forests
from reference.losses import curvature, hinge_loss
from surelearn import GraphSVM, MulticlassSVM
from surelearn.graph import Graph

EXACT = {"dtype": "float64", "tol": 1e-5, "max_iter": 100_000, "random_state": 0}
COST = np.array([[0.0, 1.0, 3.0], [2.0, 0.0, 1.0], [1.0, 0.5, 0.0]])


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("cost", [None, COST], ids=["hamming", "cost"])
def test_objective_and_gap_are_those_of_all_labellings(directed, cost):
    X, y = forests()
    weight = np.array([1.0, 0.5, 2.0, 1.0, 0.25, 3.0])
    svm = GraphSVM(C=0.3, cost=cost, directed=directed, **{**EXACT, "tol": 1e-3})
    svm.fit(X, y, sample_weight=weight)
    listed = examples(svm, X, y, weight=weight, cost=cost)

    def objective(w):
        return 0.5 * w @ w + 0.3 * hinge_loss(listed, w)[0]

    best = flat(svm)
    assert svm.objective_ == pytest.approx(objective(best), rel=1e-9)
    assert 0 <= svm.gap_ <= 1e-3 * svm.objective_
    random = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 0.1):
        for step in size * random.normal(size=(20, len(best))):
            assert objective(best + step) >= svm.objective_ - svm.gap_
    variance = 1.0 / (1.0 / 0.3 + curvature(listed, best))
    np.testing.assert_allclose(flat(svm, "variances"), variance, rtol=1e-9)


def test_single_nodes_are_rows():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(30, 3)), random.integers(3, size=30)
    none = np.zeros((0, 2), int)
    graphs, labels = [Graph(x[None], none) for x in X], [[label] for label in y]
    svm = GraphSVM(C=0.5, fit_intercept=False, **EXACT).fit(graphs, labels)
    rows = MulticlassSVM(C=0.5, fit_intercept=False, tol=1e-5, max_iter=100_000).fit(X, y)
    assert svm.objective_ == pytest.approx(rows.objective_, rel=1e-4)
    np.testing.assert_allclose(svm.coef_, rows.coef_, atol=0.02)


def test_bad_costs_are_refused():
    X, y = forests()
    with pytest.raises(ValueError, match=r"cost must be a \(3, 3\) matrix for classes"):
        GraphSVM(cost=np.zeros((2, 2))).fit(X, y)
    with pytest.raises(ValueError, match="C must be"):
        GraphSVM(C=-1.0).fit(X, y)
    svm = GraphSVM(random_state=0).fit(X, y).set_params(C=2.0)
    with pytest.raises(ValueError, match=r"C must stay 1\.0 in a fitted model, got 2\.0"):
        svm.save("unused.sure")

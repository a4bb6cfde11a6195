"""GraphCRF against scipy's optimum over all labellings, CRFTagger and SoftmaxClassifier."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from batch_graphed import examples, flat, forests
from reference.losses import curvature, log_loss
from surelearn import CRFTagger, GraphCRF, SoftmaxClassifier
from surelearn.graph import Graph, tree

EXACT = {"dtype": "float64", "tol": 1e-10}


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_optimum_is_that_of_scipy_over_all_labellings(directed, fit_intercept):
    X, y = forests()
    weight = np.array([1.0, 0.5, 2.0, 1.0, 0.25, 3.0])
    crf = GraphCRF(l2=0.3, directed=directed, fit_intercept=fit_intercept, **EXACT)
    crf.fit(X, y, sample_weight=weight)
    listed = examples(crf, X, y, weight=weight)

    def objective(w):
        value, gradient = log_loss(listed, w)
        return value + 0.15 * w @ w, gradient + 0.3 * w

    found = minimize(objective, np.zeros(len(flat(crf))), jac=True, tol=1e-12)
    assert crf.objective_ == pytest.approx(found.fun, rel=1e-8)
    assert 0 <= crf.gap_ <= 1e-9 * crf.objective_
    np.testing.assert_allclose(flat(crf), found.x, atol=1e-4)
    variance = 1.0 / (0.3 + curvature(listed, flat(crf)))
    np.testing.assert_allclose(flat(crf, "variances"), variance, rtol=1e-9)


def test_a_chain_is_that_of_the_tagger():
    """The tagger's weights of the first and the last token are features of nodes here."""
    words = [["x", "y", "x"], ["y", "z"], ["x"], ["z", "z", "y", "x"]]
    tags = [["A", "B", "B"], ["C", "A"], ["B"], ["A", "C", "B", "A"]]
    graphs = []
    for own in words:
        nodes = np.array([[word == one for one in "xyz"] + [False, False] for word in own], float)
        nodes[0, 3] = nodes[-1, 4] = 1.0
        graphs.append(Graph(nodes, tree(range(-1, len(own) - 1))))
    crf = GraphCRF(l2=0.5, fit_intercept=False, **EXACT).fit(graphs, tags)
    tagger = CRFTagger(l2=0.5, templates=["w[0]"], cells="all", **EXACT).fit(words, tags)
    assert crf.objective_ == pytest.approx(tagger.objective_, rel=1e-9)
    np.testing.assert_allclose(crf.pairwise_[0], tagger.transitions_, atol=1e-4)
    np.testing.assert_allclose(crf.pairwise_sigma_[0], tagger.transitions_sigma_, rtol=1e-4)
    np.testing.assert_allclose(crf.coef_[:, 3], tagger.start_, atol=1e-4)
    told = [[list(one.values()) for one in own] for own in tagger.predict_marginals(words)]
    for own, other in zip(crf.predict_proba(graphs), told, strict=True):
        np.testing.assert_allclose(own, other, atol=1e-4)


def test_nodes_without_edges_are_rows():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(30, 3)), random.integers(3, size=30)
    none = np.zeros((0, 2), int)
    graphs = [Graph(X[:10], none), Graph(X[10:], none)]
    crf = GraphCRF(l2=0.5, fit_intercept=False, **EXACT).fit(graphs, [y[:10], y[10:]])
    softmax = SoftmaxClassifier(l2=0.5, fit_intercept=False, tol=1e-10).fit(X, y)
    assert crf.objective_ == pytest.approx(softmax.objective_, rel=1e-6)
    np.testing.assert_allclose(crf.coef_, softmax.coef_, atol=1e-4)
    np.testing.assert_allclose(crf.sigma_, softmax.sigma_, rtol=1e-4)


def test_a_changed_penalty_is_refused():
    X, y = forests()
    crf = GraphCRF().fit(X, y).set_params(l2=2.0)
    with pytest.raises(ValueError, match=r"l2 must stay 1\.0 in a fitted model, got 2\.0"):
        crf.save("unused.sure")
    with pytest.raises(ValueError, match="l2 must be"):
        GraphCRF(l2=0.0).fit(X, y)

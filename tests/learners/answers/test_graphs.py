"""What a classifier of graphs answers: labels, probabilities, margins, reports, known labels."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from networks import pictures, threads, typed
from surelearn import SureGraphClassifier
from surelearn.graph import FactorGraph, Graph, GraphReport


@pytest.fixture(scope="module")
def fitted():
    return SureGraphClassifier(random_state=0).fit(*threads(60))


@pytest.fixture(scope="module")
def unsettled():
    """A classifier of grids whose messages have no time to converge."""
    return SureGraphClassifier(random_state=0, max_sweeps=1, tol=1e-9).fit(*pictures(6))


def test_labels_come_as_arrays_of_the_users_kind(fitted):
    X, y = threads(5, seed=1)
    found = fitted.predict(X)
    assert [own.shape for own in found] == [own.shape for own in y]
    assert set(np.concatenate(found)) <= {"a", "b", "c"}
    numbers = SureGraphClassifier(random_state=0).fit(*typed())
    assert numbers.predict(typed(3)[0])[0].dtype.kind == "i"


def test_probabilities_sum_to_one_and_follow_the_scores(fitted):
    X, _ = threads(5, seed=1)
    for graph, p in zip(X, fitted.predict_proba(X), strict=True):
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        found = fitted.factor_graph(graph).sum_product()
        np.testing.assert_allclose(p, found.marginals, rtol=1e-9)


def test_a_factor_graph_has_the_scores_of_the_model(fitted):
    graph = threads(1, seed=2)[0][0]
    factors = fitted.factor_graph(graph)
    assert isinstance(factors, FactorGraph)
    y = np.arange(graph.n_nodes) % 3
    nodes = graph.nodes.toarray() @ fitted.coef_.T + fitted.intercept_
    a, b = graph.edges.T
    want = nodes[np.arange(len(y)), y].sum() + fitted.pairwise_[0][y[a], y[b]].sum()
    assert factors.score(y) == pytest.approx(want, rel=1e-6)
    best = fitted.classes_[factors.max_product().labels]
    assert best.tolist() == fitted.predict([graph])[0].tolist()


def test_margins_lead_and_variances_are_positive(fitted):
    X, _ = threads(20, seed=1)
    mean, variance = fitted.margin(X)
    assert all((own >= 0).all() for own in mean)
    assert all((own > 0).all() for own in variance)
    first = SureGraphClassifier("pa1", random_state=0).fit(*threads(20))
    assert not hasattr(first, "margin")
    with pytest.raises(AttributeError, match="rule must keep variances"):
        _ = first.sigma_
    with pytest.raises(AttributeError, match="rule must keep variances"):
        _ = first.pairwise_sigma_


def test_sure_nodes_are_right_more_often(fitted):
    X, y = threads(100, seed=3)
    mean, variance = (np.concatenate(own) for own in fitted.margin(X))
    right = np.concatenate(fitted.predict(X)) == np.concatenate(y)
    sure = mean / np.sqrt(variance)
    assert right[sure > np.median(sure)].mean() > right[sure <= np.median(sure)].mean() + 0.1


# ------------------------------------------------------------------- known labels


def test_known_labels_are_kept_and_help_their_neighbours(fitted):
    X, y = threads(100, seed=4)
    fixed = [{0: own[0]} for own in y]
    found = fitted.predict(X, fixed=fixed)
    assert all(own[0] == right[0] for own, right in zip(found, y, strict=True))
    others = [np.concatenate([own[1:] for own in lists]) for lists in (fitted.predict(X), found, y)]
    assert (others[1] == others[2]).mean() > (others[0] == others[2]).mean() + 0.01
    for p, own in zip(fitted.predict_proba(X, fixed=fixed), y, strict=True):
        assert p[0].max() == p[0][list(fitted.classes_).index(own[0])] == 1.0
    mean, variance = fitted.margin(X, fixed=fixed)
    assert all(own[0] == np.inf for own in mean)
    assert all(own[0] == 0 for own in variance)


def test_all_labels_known_and_none(fitted):
    X, y = threads(3, seed=5)
    fixed = [dict(enumerate(own)) for own in y]
    assert all(map(np.array_equal, fitted.predict(X, fixed=fixed), y))
    plain = fitted.predict(X)
    for none in ([None] * 3, [{}, None, {}]):
        assert all(map(np.array_equal, fitted.predict(X, fixed=none), plain))


@pytest.mark.parametrize(
    ("fixed", "kind", "message"),
    [
        ({0: "a"}, TypeError, "fixed must be a list of dicts, one for each graph, got one dict"),
        ([{0: "a"}], ValueError, "fixed must have 2 dicts like X, got 1"),
        ([{0: "a"}, "b"], TypeError, r"fixed\[1\] must be a dict of \{node: label\} or None"),
        ([{8: "a"}, None], ValueError, r"fixed\[0\] must have nodes from 0 to 7 as keys, got 8"),
        ([None, {0: "d"}], ValueError, r"fixed\[1\]\[0\] must be one of 'a', 'b', 'c', got 'd'"),
        ([None, {0: ["a"]}], ValueError, r"fixed\[1\]\[0\] must be one of .* got \['a'\]"),
        ([None, {0: None}], ValueError, r"fixed\[1\]\[0\] must be one of .* got None"),
        ([None, {"x": "a"}], TypeError, r"fixed\[1\] must have numbers of nodes as keys"),
        (7, TypeError, "fixed must be a list of dicts of"),
    ],
)
def test_known_labels_that_make_no_sense(fitted, fixed, kind, message):
    X, _ = threads(2)
    for method in (fitted.predict, fitted.predict_proba, fitted.margin):
        with pytest.raises(kind, match=message):
            method(X, fixed=fixed)


# -------------------------------------------------------------------- convergence


def test_trees_always_converge(fitted):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels, report = fitted.predict(threads(3)[0], report=True)
    assert len(labels) == 3
    assert isinstance(report, GraphReport)
    assert report.converged.tolist() == [True] * 3
    assert report.residual.tolist() == [0.0] * 3


def test_one_warning_tells_how_many_graphs_have_not_converged(unsettled):
    X, _ = pictures(4, seed=1)
    tree = Graph([[0.5], [1.5]], [[0, 1]])
    message = r"messages on 4 of 5 graphs must converge to a residual of 1e-09 within max_sweeps=1"
    for method in (unsettled.predict, unsettled.predict_proba, unsettled.margin):
        with pytest.warns(ConvergenceWarning, match=message) as caught:
            method([*X, tree])
        assert len(caught) == 1
        assert caught[0].filename == __file__
    with pytest.warns(ConvergenceWarning, match="messages on 4 of 5"):
        _, report = unsettled.predict([tree, *X], report=True)
    assert report.converged.tolist() == [True] + [False] * 4
    assert (report.residual[1:] > 1e-9).all()


def test_calibration_warns_of_messages_that_have_not_converged(unsettled):
    X, y = pictures(5, seed=1)
    fresh = copy.deepcopy(unsettled)
    with pytest.warns(ConvergenceWarning, match="messages on 5 of 5 graphs must conv") as caught:
        fresh.calibrate(X, y)
    assert caught[0].filename == __file__
    assert len(caught) == 1
    assert fresh.temperature_ > 0


def test_labels_without_a_graph_in_training():
    declared = SureGraphClassifier().partial_fit([], [], classes=["a", "b"])
    assert declared.predict([]) == []
    message = (
        r"X\[0\].nodes must have features that training has seen, got 1 column before any graph"
    )
    for method in (declared.predict, declared.predict_proba, declared.margin):
        with pytest.raises(ValueError, match=message):
            method([Graph([[1.0]], [])])


def test_grids_converge_with_more_sweeps():
    X, y = pictures(6)
    classifier = SureGraphClassifier(random_state=0, directed=False, max_sweeps=500).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, report = classifier.predict(X, report=True)
    assert report.converged.all()
    assert (report.residual <= classifier.tol).all()


# --------------------------------------------------------------------- calibration


def test_calibration_lowers_the_log_loss_and_leaves_labels():
    X, y = threads(40)
    kept, right = threads(60, seed=6)
    classifier = SureGraphClassifier(random_state=0).fit(X, y)
    places = np.searchsorted(classifier.classes_, np.concatenate(right))

    def loss():
        p = np.concatenate(classifier.predict_proba(kept))
        return -np.log(p[np.arange(len(places)), places]).mean()

    before, labels = loss(), np.concatenate(classifier.predict(kept))
    classifier.calibrate(kept, right)
    assert loss() < before
    assert np.array_equal(np.concatenate(classifier.predict(kept)), labels)
    temperature = classifier.temperature_
    assert classifier.partial_fit(X, y).temperature_ == temperature
    assert not hasattr(classifier.fit(X, y), "temperature_")


def test_calibration_needs_nodes_with_known_labels(fitted):
    with pytest.raises(ValueError, match="calibrate needs at least one node"):
        fitted.calibrate([], [])
    X, _ = threads(1)
    with pytest.raises(ValueError, match="y must hold labels that the model knows"):
        fitted.calibrate(X, [["z"] * 8])


# --------------------------------------------------------------------------- score


def test_score_is_the_share_of_nodes():
    X, y = threads(20)
    classifier = SureGraphClassifier(random_state=0).fit(X, y)
    right = np.concatenate(classifier.predict(X)) == np.concatenate(y)
    assert classifier.score(X, y) == pytest.approx(right.mean())
    only = classifier.score(X, y, sample_weight=[1.0] + [0.0] * 19)
    assert only == pytest.approx(right[:8].mean())
    assert np.isnan(classifier.score([], []))


# --------------------------------------------------------------------------- input


@pytest.mark.parametrize(
    ("X", "kind", "message"),
    [
        (Graph([[1.0] * 3], []), TypeError, r"X must be a list of graphs, got one graph"),
        ([[1.0, 2.0]], TypeError, r"X\[0\] must be a surelearn.graph.Graph, got \[1.0, 2.0\]"),
        (7, TypeError, "X must be a list of graphs, got 7"),
        ([Graph([[1.0]], [])], ValueError, r"X\[0\].nodes must have 3 columns as in fit, got 1"),
        (
            [Graph(np.zeros((2, 3)), [[0, 1]], edge_types=["x"])],
            ValueError,
            r"X\[0\] must have edges with no features as in fit, got types",
        ),
        (
            [Graph(np.zeros((2, 3)), [[0, 1]], edge_features=[[1.0]])],
            ValueError,
            r"X\[0\] must have edges with no features as in fit, got features",
        ),
    ],
)
def test_graphs_that_do_not_fit_the_model(fitted, X, kind, message):
    for method in (fitted.predict, fitted.predict_proba, fitted.margin):
        with pytest.raises(kind, match=message):
            method(X)


def test_types_of_edges_that_the_model_does_not_know():
    classifier = SureGraphClassifier(random_state=0).fit(*typed())
    nodes = [[0.0], [0.0]]
    new = Graph(nodes, [[0, 1]], edge_types=["new"])
    message = r"X\[0\].edge_types must be among 'other', 'same' as in fit, got 'new'"
    with pytest.raises(ValueError, match=message):
        classifier.predict([new])
    with pytest.raises(TypeError, match=r"edge_types must be of the same kind as before, such as"):
        classifier.predict([Graph(nodes, [[0, 1]], edge_types=[1])])
    with pytest.raises(ValueError, match=r"edges with types as in fit, got no features"):
        classifier.predict([Graph(nodes, [[0, 1]])])
    assert len(classifier.predict([Graph(nodes, [])])[0]) == 2  # without edges there is no type


@pytest.mark.parametrize(
    ("y", "kind", "message"),
    [
        ([["a"] * 8], ValueError, "y must have 2 lists of labels like X, got 1"),
        ([["a"] * 8, ["b"]], ValueError, r"y\[1\] must have 8 labels, one for each node of X\[1\]"),
        ("ab", TypeError, "y must be a list of lists of labels, got 'ab'"),
        ([["a"] * 8, [1] * 8], TypeError, "y must hold labels of one type"),
        ([["a"] * 8, [None] * 8], TypeError, r"y\[1\]\[0\] must be a label, got None"),
        ([[0.5] * 8] * 2, ValueError, r"y\[0\] must hold classes, got 0.5 at row 0"),
    ],
)
def test_labels_that_make_no_sense(y, kind, message):
    X, _ = threads(2)
    with pytest.raises(kind, match=message):
        SureGraphClassifier().fit(X, y)
    with pytest.raises(kind, match=message):
        SureGraphClassifier().partial_fit(X, y)


def test_nothing_is_answered_before_training():
    X, _ = threads(1)
    classifier = SureGraphClassifier()
    for method in (classifier.predict, classifier.predict_proba, classifier.margin):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            method(X)
    with pytest.raises(NotFittedError, match="coef_ must be learnt first"):
        _ = classifier.coef_


def test_a_graph_too_large_for_memory_says_how_much_it_needs(fitted, monkeypatch):
    from surelearn import weights

    monkeypatch.setattr(weights, "MEMORY_LIMIT", 100_000)
    n = 100
    edges = np.argwhere(np.triu(np.ones((n, n)), 1))
    message = r"X must have messages and tables that fit in memory .* got 4,950 edges, which need"
    with pytest.raises(MemoryError, match=message):
        fitted.predict([Graph(np.zeros((n, 3)), edges)])


def test_fitted_arrays_are_not_to_be_changed(fitted):
    assert fitted.coef_.shape == fitted.sigma_.shape == (3, 3)
    assert fitted.intercept_.shape == fitted.intercept_sigma_.shape == (3,)
    assert fitted.pairwise_.shape == fitted.pairwise_sigma_.shape == (1, 3, 3)
    with pytest.raises(ValueError, match="read-only"):
        fitted.coef_[0, 0] = 1.0

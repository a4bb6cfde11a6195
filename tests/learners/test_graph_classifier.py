"""SureGraphClassifier in all its ways: laws, late labels, shards, merging, as an estimator."""

from __future__ import annotations

import copy
import pickle
import threading
import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from networks import as_features, pictures, threads, typed
from surelearn import (
    SureClassifier,
    SureGraphClassifier,
    SureTagger,
    active,
    constraints,
    evaluate,
    merge,
    predict,
)
from surelearn.graph import Graph, tree
from surelearn.merging import MergeState
from surelearn.rules import RULES


def made(**params):
    return SureGraphClassifier(**{"random_state": 0, **params})


def remade(graph, nodes=None, edges=None, **more):
    """A graph with other nodes or edges; nodes stay dense."""
    nodes = graph.nodes.toarray() if nodes is None else nodes
    return Graph(nodes, graph.edges if edges is None else edges, **more)


def bits(classifier):
    return classifier.coef_.tobytes(), classifier.pairwise_.tobytes()


# ------------------------------------------------------------------------- learning


@pytest.mark.parametrize("rule", sorted(RULES))
def test_edges_help_on_trees(rule):
    """Labels follow those of the parent, which a classifier of nodes alone cannot know."""
    X, y = threads(150)
    new, right = threads(80, seed=1)
    both = made(rule=rule).fit(X, y).score(new, right)
    alone, others = ([remade(graph, edges=[]) for graph in graphs] for graphs in (X, new))
    apart = made(rule=rule).fit(alone, y).score(others, right)
    assert both > apart + 0.05
    assert both > 0.6


def test_edges_help_on_grids():
    X, y = pictures(20)
    new, right = pictures(10, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        both = made(directed=False).fit(X, y).score(new, right)
    pixels = np.concatenate([graph.nodes.toarray() for graph in X])
    apart = SureClassifier(random_state=0, scale=False).fit(pixels, np.concatenate(y))
    seen = np.concatenate([graph.nodes.toarray() for graph in new])
    assert both > apart.score(seen, np.concatenate(right)) + 0.04


def test_nodes_without_edges_are_rows_of_a_classifier():
    """One node a graph: the joint multiclass update of rows, with the intercept as a feature."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(80, 4)).astype(np.float32), random.integers(0, 3, 80)
    how = {"shuffle": False, "passes": 2, "dtype": "float64", "projection": "precision"}
    how["constraints"] = "single"
    for rule in ("perceptron", "pa1", "arow", "scw1", "probit"):
        rows = SureClassifier(rule, fit_intercept=True, average=True, **how, scale=False).fit(X, y)
        graphs = [Graph(row[None], []) for row in X]
        nodes = SureGraphClassifier(rule, **how).fit(graphs, y[:, None])
        np.testing.assert_allclose(nodes.coef_, rows.coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(nodes.intercept_, rows.intercept_, rtol=1e-9, atol=1e-12)


def test_types_are_columns_of_zero_and_one():
    X, y = typed()
    one = made().fit(X, y)
    other = made().fit([as_features(graph) for graph in X], y)
    assert one.edge_types_.tolist() == ["other", "same"]
    assert one.pairwise_.shape == (3, 2, 2)
    assert bits(one) == bits(other)
    assert one.score(X, y) == 1.0
    with pytest.raises(AttributeError, match="edge_types_ needs edges with types"):
        _ = other.edge_types_


def test_without_directions_the_order_of_ends_changes_nothing():
    X, y = threads()
    turned = [remade(graph, edges=graph.edges[:, ::-1]) for graph in X]
    one, other = (made(directed=False).fit(graphs, y) for graphs in (X, turned))
    assert bits(one) == bits(other)
    assert np.array_equal(one.pairwise_[0], one.pairwise_[0].T)
    assert np.array_equal(one.pairwise_sigma_[0], one.pairwise_sigma_[0].T)
    directed = made().fit(X, y)
    assert not np.array_equal(directed.pairwise_[0], directed.pairwise_[0].T)


def test_sparse_nodes_are_dense_nodes():
    X, y = threads()
    matrices = [remade(graph, nodes=sparse.csr_matrix(graph.nodes)) for graph in X]
    dense = made(projection="precision").fit(X, y)
    other = made().fit(matrices, y)
    assert other.projection_ == "precision"
    assert made().fit(X, y).projection_ == "covariance"
    assert bits(dense) == bits(other)


def test_without_intercept():
    X, y = threads()
    classifier = made(fit_intercept=False).fit(X, y)
    assert classifier.intercept_.tolist() == [0.0] * 3
    assert classifier.coef_.shape == (3, 3)
    same = made().fit(X, y)
    ones = [Graph(np.hstack([g.nodes.toarray(), np.ones((g.n_nodes, 1))]), g.edges) for g in X]
    other = made(fit_intercept=False).fit(ones, y)
    assert np.array_equal(same.intercept_, other.coef_[:, -1])


def test_mistakes_are_counted_and_reported(capsys):
    X, y = threads(30)
    classifier = made(passes=3, verbose=1).fit(X, y)
    assert "pass 3/3: 30 of 30 graphs" in capsys.readouterr().out
    assert len(classifier.mistakes_) == classifier.n_iter_ == 3
    assert 0 < classifier.mistakes_[0] <= 30
    assert classifier.n_updates_ > 0


def test_sequential_learns_from_several_labellings():
    X, y = threads(40)
    one = made().fit(X, y)
    other = made(constraints=constraints.Sequential(3)).fit(X, y)
    assert bits(one) != bits(other)
    assert other.score(X, y) > 0.6


# ----------------------------------------------------------------------------- laws


@settings(deadline=None, max_examples=10)
@given(st.lists(st.integers(1, 29), max_size=4))
def test_one_pass_in_order_is_partial_fit_in_any_pieces(cuts):
    X, y = threads(30)
    whole = made(passes=1, shuffle=False, projection="precision").fit(X, y)
    pieces = made(projection="precision")
    ends = [0, *sorted(set(cuts)), 30]
    for a, b in pairwise(ends):
        pieces.partial_fit(X[a:b], y[a:b], classes=["a", "b", "c"])
    assert bits(pieces) == bits(whole)
    assert pieces.mistakes_.tolist() == whole.mistakes_.tolist()


def test_a_weight_of_zero_is_as_if_the_graph_had_never_come():
    X, y = threads(20)
    one = made(shuffle=False).fit(X[:15], y[:15])
    other = made(shuffle=False).fit(X, y, sample_weight=[1.0] * 15 + [0.0] * 5)
    assert bits(one) == bits(other)


def test_a_weight_of_zero_everywhere_is_named():
    X, y = threads(5)
    message = "sample_weight must have a positive entry, got zero weight in every graph"
    with pytest.raises(ValueError, match=message):
        made().fit(X, y, sample_weight=[0] * 5)
    with pytest.raises(ValueError, match="at least two classes"):
        made().fit([], [])


def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads():
    X, y = threads(40)
    first, again = (made(n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert bits(first) == bits(again)
    assert bits(made(random_state=1).fit(X, y)) != bits(first)
    for one, other in zip(first.margin(X), again.margin(X), strict=True):
        assert all(map(np.array_equal, one, other))


def test_a_late_label_and_a_late_type():
    X, y = typed(20)
    classifier = made().partial_fit(X, y)
    late = Graph([[0.0], [5.0]], [[0, 1]], edge_types=["across"])
    classifier.partial_fit([late], [[0, 2]])
    assert classifier.classes_.tolist() == [0, 1, 2]
    assert classifier.edge_types_.tolist() == ["across", "other", "same"]
    assert classifier.pairwise_.shape == (4, 3, 3)
    for _ in range(20):
        classifier.partial_fit([late, *X], [[0, 2], *y])
    assert classifier.predict([late])[0].tolist() == [0, 2]
    assert classifier.score(X, y) == 1.0


def test_a_label_declared_first_is_as_one_met_first():
    X, y = threads(20)
    one = made(projection="precision").partial_fit([], [], classes=["a", "b", "c"])
    assert one.classes_.tolist() == ["a", "b", "c"]
    one.partial_fit(X, y)
    other = made(projection="precision").partial_fit(X, y, classes=["c", "b", "a"])
    assert bits(one) == bits(other)


def test_what_was_learnt_stays_where_labels_and_types_are_new():
    X, y = typed(20)
    classifier = made(average=False).partial_fit(X, y)
    coef, pairs = classifier.coef_.copy(), classifier.pairwise_.copy()
    classifier.partial_fit([], [], classes=[-1])
    assert np.array_equal(classifier.coef_[1:], coef)
    assert np.array_equal(classifier.pairwise_[:, 1:, 1:], pairs)
    assert not classifier.coef_[0].any()
    assert not classifier.pairwise_[:, 0].any()
    assert (classifier.pairwise_sigma_[:, 0] == 1.0).all()


def test_graphs_without_nodes_and_without_edges():
    empty = Graph(np.zeros((0, 3)), [])
    X, y = threads(10)
    classifier = made().fit([empty, *X], [[], *y])
    assert classifier.predict([empty])[0].shape == (0,)
    assert classifier.predict_proba([empty])[0].shape == (0, 3)
    assert classifier.predict([]) == []
    lone = Graph([[3.0, 0.0, 0.0]], [])
    assert classifier.predict([lone])[0].tolist() == ["a"]


def test_a_refused_graph_is_named_and_leaves_what_was_learnt():
    X, y = threads(5)
    X[3] = remade(X[3], nodes=X[3].nodes.toarray() * 1e30)
    classifier = made(rule="arow", projection="precision", shuffle=False)
    with pytest.raises(ValueError, match="graph 3 must leave finite weights"):
        classifier.fit(X, y)
    assert not hasattr(classifier, "coef_")
    for seed in range(3):
        shuffled = clone(classifier).set_params(shuffle=True, random_state=seed)
        with pytest.raises(ValueError, match="graph 3 must leave finite weights"):
            shuffled.fit(X, y)
    with pytest.raises(ValueError, match="graph 4 must leave finite weights"):
        clone(classifier).fit([X[0], *X], [y[0], *y], sample_weight=[0, 1, 1, 1, 1, 1])
    with pytest.raises(ValueError, match="graph 3 must leave finite weights"):
        classifier.partial_fit(X, y)
    assert classifier.n_updates_ <= 3
    assert np.isfinite(classifier.coef_).all()


def test_a_call_that_is_refused_changes_nothing():
    X, y = threads(10)
    classifier = made().fit(X, y)
    before = bits(classifier)
    wide = Graph(np.zeros((2, 4)), [])
    message = r"X\[1\].nodes must have 3 columns like the graphs before it, got 4"
    with pytest.raises(ValueError, match=message):
        classifier.partial_fit([X[0], wide], [y[0], ["a", "new"]])
    assert bits(classifier) == before
    assert classifier.classes_.tolist() == ["a", "b", "c"]


# --------------------------------------------------------------------- as estimator


def test_it_is_an_estimator():
    classifier = made(rule=RULES["arow"](r=2.0), passes=2)
    assert clone(classifier).get_params() == classifier.get_params()
    assert classifier.set_params(rule__r=3.0).rule.r == 3.0
    X, y = threads(30)
    fitted = classifier.fit(X, y)
    for other in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        assert bits(other) == bits(fitted)
        other.partial_fit(X, y)
        assert bits(other) != bits(fitted)
    assert fitted.n_features_in_ == 3


def test_it_is_searched_and_validated():
    X, y = threads(30)
    scores = cross_val_score(made(), X, y, cv=3)
    assert (scores > 0.5).all()
    search = GridSearchCV(made(), {"rule": ["arow", "pa1"], "directed": [True, False]}, cv=2)
    assert search.fit(X, y).best_score_ > 0.5


@pytest.mark.parametrize(
    ("params", "kind", "message"),
    [
        ({"constraints": "sequential"}, ValueError, "with a number k for labellings"),
        ({"constraints": "exact"}, ValueError, "with a number k for labellings"),
        ({"projection": "both"}, ValueError, "projection must be one of 'auto'"),
        ({"directed": 1}, TypeError, "directed must be True or False, got 1"),
        ({"damping": 1.0}, ValueError, r"damping must be in \[0, 1\), got 1.0"),
        ({"tol": 0}, ValueError, r"tol must be in \(0, inf\), got 0"),
        ({"max_sweeps": 0}, ValueError, "max_sweeps must be at least 1, got 0"),
        ({"passes": 0}, ValueError, "passes must be at least 1"),
        ({"rule": "pa", "combine": "bayes", "n_shards": 2}, ValueError, "combine must be"),
    ],
)
def test_parameters_that_make_no_sense(params, kind, message):
    X, y = threads(5)
    with pytest.raises(kind, match=message):
        made(**params).fit(X, y)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"dtype": "float64"}, "dtype must"),
        ({"average": False}, "average must"),
        ({"directed": False}, "directed must"),
        ({"fit_intercept": False}, "fit_intercept must"),
        ({"initial_variance": 2.0}, "initial_variance must"),
        ({"projection": "precision"}, "projection must"),
        ({"rule": "pa"}, "rule must"),
    ],
)
def test_what_a_fitted_classifier_cannot_change(changed, message):
    X, y = threads(5)
    classifier = made().fit(X, y).set_params(**changed)
    with pytest.raises(ValueError, match=message):
        classifier.partial_fit(X, y)


def test_one_label_is_not_enough_to_fit():
    X, _ = threads(3)
    with pytest.raises(ValueError, match="fit needs at least two classes, got 1 class: 'a'"):
        made().fit(X, [["a"] * 8] * 3)


# ----------------------------------------------------------------- shards and merging


def test_shards_learn_about_the_same_and_threads_change_no_bit():
    X, y = threads(200)
    new, right = threads(60, seed=1)
    whole = made().fit(X, y)
    apart = [made(n_shards=3, n_jobs=jobs).fit(X, y) for jobs in (1, 2)]
    assert bits(apart[0]) == bits(apart[1])
    assert apart[0].score(new, right) > whole.score(new, right) - 0.05
    assert len(apart[0].mistakes_) == 5


@pytest.mark.parametrize("how", ["evidence", "bayes", "weighted", "kl", "uniform"])
def test_merging_ignores_the_order(how):
    parts = [threads(30, seed=seed) for seed in range(3)]
    models = [made().fit(*part) for part in parts]
    merged = merge(models, how)
    assert bits(merged) == bits(merge(models[::-1], how))
    assert merged.n_updates_ == sum(model.n_updates_ for model in models)
    assert merged.score(*parts[0]) > 0.5
    merged.partial_fit(*parts[0])


def test_merged_models_know_all_labels_and_types():
    X, y = typed(20)
    same = np.array([graph.edge_types[0] == "same" for graph in X])
    parts = [[(X[i], y[i]) for i in np.flatnonzero(own)] for own in (same, ~same)]
    some, others = (
        made(average=False).fit([graph for graph, _ in part], [np.add(own, k) for _, own in part])
        for k, part in enumerate(parts)
    )
    merged = merge([some, others])
    assert merged.classes_.tolist() == [0, 1, 2]
    assert merged.edge_types_.tolist() == ["other", "same"]
    assert merged.pairwise_.shape == (3, 3, 3)
    # Only one of the two has moved the weights of its type.
    np.testing.assert_array_equal(merged.pairwise_[2][:2, :2], some.pairwise_[1])
    np.testing.assert_array_equal(merged.pairwise_[1][1:, 1:], others.pairwise_[1])


def test_one_model_merged_is_itself_and_an_untrained_one_adds_nothing():
    X, y = threads(30)
    classifier = made().fit(X, y).calibrate(X, y)
    for models in ([classifier], [classifier, made()], [made(), classifier]):
        merged = merge(models)
        assert bits(merged) == bits(classifier)
        assert merged.projection_ == classifier.projection_
        assert merged.temperature_ == classifier.temperature_
    chosen = merge([classifier, classifier], X_val=X, y_val=y)
    assert chosen.score(X, y) > 0.6
    state = MergeState.of(classifier, "evidence")
    assert bits(state.result()) == bits(classifier)


def test_classifiers_that_do_not_go_together():
    X, y = threads(10)
    classifier = made().fit(X, y)
    with pytest.raises(ValueError, match="directed"):
        merge([classifier, made(directed=False).fit(X, y)])
    with pytest.raises(ValueError, match="n_features_in_"):
        merge([classifier, made().fit([remade(g, g.nodes.toarray()[:, :2]) for g in X], y)])
    with pytest.raises(ValueError, match="projection_"):
        merge([classifier, made().fit([remade(g, g.nodes) for g in X], y)])
    named = [remade(graph, edge_types=["x"] * graph.n_edges) for graph in X]
    with pytest.raises(ValueError, match="kind of edges"):
        merge([classifier, made().fit(named, y)])
    with pytest.raises(ValueError, match="kind"):
        merge([classifier, SureTagger().fit([["a", "b"]], [["A", "B"]])])


def test_what_is_for_classifiers_of_rows_says_so(tmp_path):
    X, y = threads(5)
    classifier = made().fit(X, y)
    message = r"must be a classifier of rows, got SureGraphClassifier\(.*\), which takes graphs"
    for call in (predict, evaluate):
        with pytest.raises(TypeError, match=message):
            call(classifier, tmp_path / "a.jsonl")
    with pytest.raises(TypeError, match=message):
        active.query(classifier, np.zeros((2, 3)))


# ------------------------------------------------------------------------- threads


def test_a_reader_sees_a_sound_model_while_another_thread_learns():
    X, y = typed(40)
    classifier = made().partial_fit(X, y)
    stop, failed = threading.Event(), []

    def learn():
        for label in range(2, 40):
            late = Graph([[0.0], [1.0]], [[0, 1]], edge_types=[f"type {label}"])
            classifier.partial_fit([*X, late], [*y, [0, label]])
        stop.set()

    def read():
        while not stop.is_set():
            p = classifier.predict_proba(X[:5])
            failed.extend(not np.allclose(own.sum(axis=1), 1.0) for own in p)

    workers = [threading.Thread(target=work) for work in (learn, read, read)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failed
    assert not any(failed)


def test_a_function_is_a_rule():
    X, y = threads(20)
    own = made(rule=lambda m, v: (max(0.0, 1 - m) / (v + 1), 1 / (v + 1) if m < 1 else 0.0))
    assert own.fit(X, y).score(X, y) > 0.5


def test_parents_first_or_children_first():
    """A tree is the same graph whichever node is called the root."""
    X, y = threads(20)
    classifier = made(directed=False).fit(X, y)
    chain = tree([-1, 0, 1, 2])
    nodes = np.random.default_rng(0).normal(size=(4, 3))
    one = classifier.predict_proba([Graph(nodes, chain)])[0]
    other = classifier.predict_proba([Graph(nodes, tree([1, 2, 3, -1]))])[0]
    np.testing.assert_allclose(one, other, rtol=1e-12)

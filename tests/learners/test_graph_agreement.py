"""SureGraphClassifier against the plain reference, and against the tagger on chains."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import strategies
from reference.graphs import Example, Labellings, ReferenceGraphLearner
from reference.rules import FIRST_ORDER, REGISTRY
from reference.test_reference import PARAMS
from surelearn import SureGraphClassifier, SureTagger, rules
from surelearn.constraints import Sequential
from surelearn.graph import Graph, tree
from surelearn.learners.base import put_model, settings_of
from surelearn.learners.tasks.graph_features import GraphFeatures

TOLERANCE = 1e-9


def random_corpus(seed=0, n_graphs=10, n_labels=3):
    """Small forests of few features, whose values float32 holds."""
    rng = np.random.default_rng(seed)
    corpus = []
    for n in rng.integers(1, 5, n_graphs):
        parents = [int(rng.integers(-1, i)) for i in range(n)]
        edges = [(parent, i) for i, parent in enumerate(parents) if parent >= 0]
        corpus.append(
            strategies.Network(
                nodes=rng.normal(size=(n, 3)).astype(np.float32).astype(float),
                edges=edges,
                pairs=rng.normal(size=(len(edges), 2)).astype(np.float32).astype(float),
                y=tuple(rng.integers(0, n_labels, n).tolist()),
                weight=float(rng.choice([0.25, 1.0, 3.0])),
            )
        )
    return corpus


def expected(corpus, n_labels, rule, *, start=None, **options):
    """The reference after all graphs, and whether it refused one."""
    learner = ReferenceGraphLearner(*rule, n_labels, **options)
    learner.mu |= start or {}
    for one in corpus:
        try:
            learner.learn(Example(one.nodes, one.edges, one.pairs), one.y, one.weight)
        except FloatingPointError:
            return learner, True
    return learner, False


def as_graph(one):
    return Graph(one.nodes, one.edges, edge_features=one.pairs if one.edges else None)


def made(rule, *, k=1, **options):
    name, params = rule
    return SureGraphClassifier(
        rules.RULES[name](**params),
        constraints="single" if k == 1 else Sequential(k),
        dtype="float64",
        **options,
    )


def teach(classifier, corpus, n_labels):
    return classifier.partial_fit(
        [as_graph(one) for one in corpus],
        [one.y for one in corpus],
        classes=np.arange(n_labels),
        sample_weight=[one.weight for one in corpus],
    )


def begin(classifier, corpus, n_labels):
    """Put a classifier at random means, with which no two labellings tie; the same by cells."""
    _, n_features = corpus[0].nodes.shape
    features = GraphFeatures(True, n_features, corpus[0].pairs.shape[1])
    model = settings_of(classifier).untrained().fitting(np.arange(n_labels), features)
    rows = np.arange(model.layout.n_features)
    means = np.random.default_rng(0).normal(size=(len(rows), n_labels))
    if not classifier.directed:
        i, j = np.tril_indices(n_labels, -1)  # these cells are not used
        means[: model.first].reshape(-1, n_labels, n_labels)[:, i, j] = 0.0
    spread = [np.full_like(means, model.initial_variance)] * model.layout.second_order
    runs = np.concatenate([means, *spread], axis=1)
    model.weights.put_features({"features": rows, "cells": runs, "rounds": 0})
    put_model(classifier, model)
    return {cell: float(mean) for cell, mean in cells(classifier).items()}


def cells(classifier, what=""):
    """Means, or variances, by the reference's names of the cells."""
    nodes = getattr(classifier, {"": "coef_", "_sigma": "sigma_"}[what])
    found = {("node", f, label): value for (label, f), value in np.ndenumerate(nodes)}
    intercept = getattr(classifier, f"intercept{what}_")
    found |= {("node", None, label): value for label, value in enumerate(intercept)}
    for (p, i, j), value in np.ndenumerate(getattr(classifier, f"pairwise{what}_")):
        if classifier.directed or i <= j:
            found["pair", p - 1 if p else None, i, j] = value
    return found


def assert_cells(got, want, *, rest, scale=0.0):
    """Every cell the reference touched is the same, every other one is at its start."""
    assert set(want) <= set(got)
    both = sorted(got, key=repr)
    np.testing.assert_allclose(
        [got[cell] for cell in both],
        [want.get(cell, rest) for cell in both],
        rtol=TOLERANCE,
        atol=TOLERANCE * scale,
    )


def agree(classifier, want):
    mean = want.mean()
    scale = max(map(abs, mean.values()), default=1e-3)
    assert_cells(cells(classifier), mean, rest=0.0, scale=scale)
    if want.rule not in FIRST_ORDER:
        assert_cells(cells(classifier, "_sigma"), want.sigma, rest=want.initial_variance)
    assert classifier.mistakes_[-1] == want.mistakes
    assert classifier.n_updates_ == want.updates


@pytest.mark.parametrize("projection", ["precision", "covariance"])
@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_learning_agrees_with_the_reference(name, projection):
    rule, corpus = (name, PARAMS[name]), random_corpus()
    options = {"projection": projection, "average": True, "initial_variance": 1.5}
    want, refused = expected(corpus, 3, rule, **options)
    assert not refused
    agree(teach(made(rule, **options), corpus, 3), want)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_learning_from_several_rivals_agrees_with_the_reference(name, k, directed):
    rule, corpus = (name, PARAMS[name]), random_corpus(1)
    options = {"projection": "precision", "average": False, "directed": directed, "k": k}
    classifier = made(rule, **options)
    start = begin(classifier, corpus, 3)
    want, refused = expected(corpus, 3, rule, start=start, **options)
    assert not refused
    assert want.ties == 0
    agree(teach(classifier, corpus, 3), want)


@settings(deadline=None)
@given(
    strategies.corpora_of_networks(),
    strategies.rules(),
    st.sampled_from([1, 2]),
    st.sampled_from(["precision", "covariance"]),
    st.booleans(),
)
def test_any_small_forests_are_learnt_as_the_reference_does(corpus, rule, k, projection, directed):
    graphs, n_labels = corpus
    options = {"projection": projection, "directed": directed, "average": False, "k": k}
    classifier = made(rule, **options)
    start = begin(classifier, graphs, n_labels)
    want, refused = expected(graphs, n_labels, rule, start=start, **options)
    assume(not refused and want.ties == 0 and want.close_calls == 0)
    mean = want.mean()
    got = teach(classifier, graphs, n_labels)
    assert_cells(cells(got), mean, rest=0.0, scale=max(map(abs, mean.values())))
    assert got.mistakes_.sum() == want.mistakes  # no entry if all weights are 0


@pytest.mark.parametrize("directed", [True, False])
def test_answers_agree_with_the_reference(directed):
    corpus = random_corpus()
    options = {"directed": directed, "projection": "precision", "average": True}
    want, _ = expected(corpus, 3, ("arow", {"r": 1.0}), **options)
    got = teach(made(("arow", {"r": 1.0}), **options), corpus, 3)
    graphs = [as_graph(one) for one in corpus]
    examples = [Example(one.nodes, one.edges, one.pairs) for one in corpus]
    assert [tuple(own.tolist()) for own in got.predict(graphs)] == list(map(want.predict, examples))
    mean, variance = got.margin(graphs)
    every = [want.labellings(x, want.mean()) for x in examples]
    for i, x in enumerate(examples):
        leads = np.array(want.margin(x))
        np.testing.assert_allclose(mean[i], leads[:, 0], rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(variance[i], leads[:, 1], rtol=1e-8)
        np.testing.assert_allclose(got.predict_proba(graphs)[i], every[i].marginals(), atol=1e-10)
        factors = got.factor_graph(graphs[i])
        best = [tuple(own.tolist()) for own in factors.k_best(3)]
        assert best == every[i].k_best(3)
        assert factors.score(best[0]) == pytest.approx(every[i].scores[0])


def test_known_labels_agree_with_the_reference():
    corpus = random_corpus()
    want, _ = expected(corpus, 3, ("arow", {"r": 1.0}), projection="precision", average=True)
    got = teach(made(("arow", {"r": 1.0}), projection="precision", average=True), corpus, 3)
    for i, one in enumerate(corpus):
        plain = want.labellings(Example(one.nodes, one.edges, one.pairs), want.mean())
        fixed = {len(one.y) - 1: i % 3}
        every = Labellings(plain.unary, plain.edges, plain.tables, fixed)
        graph = as_graph(one)
        assert tuple(got.predict([graph], fixed=[fixed])[0].tolist()) == every.best()
        p = got.predict_proba([graph], fixed=[fixed])[0]
        np.testing.assert_allclose(p, every.marginals(), atol=1e-10)
        mean, variance = got.margin([graph], fixed=[fixed])
        assert mean[0][-1] == np.inf
        assert variance[0][-1] == 0.0
        if len(one.y) > 1:
            other = every.best_without(0, every.best()[0])
            assert mean[0][0] == pytest.approx(every.scores[0] - every.score(other), abs=1e-9)


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_a_chain_is_learnt_as_the_tagger_learns_it(name):
    """The tagger has weights for the first and the last token: here they are features of both."""
    rng = np.random.default_rng(0)
    X, y, graphs = [], [], []
    for n in rng.integers(2, 6, 25):
        values = rng.normal(size=(n, 3)).astype(np.float32).astype(float)
        X.append([{f"f{j}": v for j, v in enumerate(row)} for row in values.tolist()])
        y.append(rng.integers(0, 3, n).tolist())
        ends = np.zeros((n, 2))
        ends[0, 0] = ends[-1, 1] = 1.0
        graphs.append(Graph(np.hstack([values, ends]), tree(np.arange(n) - 1)))
    rule = rules.RULES[name](**PARAMS[name])
    how = {"dtype": "float64", "shuffle": False, "passes": 2, "projection": "precision"}
    tagger = SureTagger(rule, **how).fit(X, y)
    classifier = SureGraphClassifier(rule, fit_intercept=False, **how).fit(graphs, y)
    order = [tagger.features_.names.index(f"f{j}") for j in range(3)]
    np.testing.assert_allclose(classifier.coef_[:, :3], tagger.coef_[:, order], atol=1e-12)
    np.testing.assert_allclose(classifier.pairwise_[0], tagger.transitions_, atol=1e-12)
    np.testing.assert_allclose(classifier.coef_[:, 3], tagger.start_, atol=1e-12)
    np.testing.assert_allclose(classifier.coef_[:, 4], tagger.end_, atol=1e-12)
    assert classifier.mistakes_.tolist() == tagger.mistakes_.tolist()
    assert [own.tolist() for own in classifier.predict(graphs)] == tagger.predict(X)
    for own, other in zip(
        classifier.predict_proba(graphs), tagger.predict_marginals(X), strict=True
    ):
        np.testing.assert_allclose(own, [list(p.values()) for p in other], atol=1e-12)

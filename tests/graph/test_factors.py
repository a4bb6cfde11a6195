"""Factor graphs against the enumeration of their labellings: best, k best, marginals, log Z."""

from __future__ import annotations

import pickle
import re
import threading
import warnings
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import strategies
from reference.graphs import Labellings
from surelearn.decode import Chain
from surelearn.graph import BestLabelling, FactorGraph, GraphReport, Marginals, grid, tree

# Scores further apart than this are told apart by any order of summation.
APART = 1e-9


def labelling(labels):
    return tuple(int(label) for label in labels)


def assert_lists(got, want, atol=1e-11):
    assert len(got) == len(want)
    for own, other in zip(got, want, strict=True):
        np.testing.assert_allclose(own, other, rtol=0, atol=atol)


def random_factors(edges, n, seed=0, n_labels=3, coupling=1.0):
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=(n, n_labels)),
        np.asarray(edges),
        coupling * rng.normal(size=(len(edges), n_labels, n_labels)),
    )


LOOPS = {
    "triangle": (3, [[0, 1], [1, 2], [2, 0]]),
    "square": (4, [[0, 1], [1, 2], [2, 3], [3, 0]]),
    "grid": (9, grid(3, 3)),
    "complete": (5, np.argwhere(np.triu(np.ones((5, 5)), 1))),
}


# -------------------------------------------------------------------- forests


@given(strategies.factor_graphs(forbidden=True))
def test_sums_on_forests_are_those_of_enumeration(factors):
    every, found = Labellings(*factors), FactorGraph(*factors).sum_product()
    assert found.log_partition == pytest.approx(every.log_partition(), rel=1e-12, abs=1e-11)
    assert_lists(found.marginals, every.marginals())
    assert_lists(found.pair_marginals, every.pair_marginals())
    assert found.converged
    assert found.is_exact
    assert found.residual == 0


@given(strategies.factor_graphs(forbidden=True))
def test_the_best_labelling_of_a_forest_is_that_of_enumeration(factors):
    every, found = Labellings(*factors), FactorGraph(*factors).max_product()
    assert found.score == pytest.approx(every.scores[0], rel=1e-12, abs=1e-12)
    assert every.score(labelling(found.labels)) == pytest.approx(found.score, abs=APART)
    assert_lists(found.max_marginals, every.max_marginals(), atol=1e-10)
    if len(every.scores) == 1 or every.scores[0] - every.scores[1] > APART:
        assert labelling(found.labels) == every.best()


@given(strategies.factor_graphs(forbidden=True), st.integers(1, 12))
def test_the_k_best_labellings_of_a_forest_are_those_of_enumeration(factors, k):
    every = Labellings(*factors)
    found = [labelling(own) for own in FactorGraph(*factors).k_best(k)]
    assert len(set(found)) == len(found) == min(k, len(every.ranked))
    scores = [every.score(own) for own in found]
    np.testing.assert_allclose(scores, every.scores[:k], rtol=0, atol=APART)
    gaps = -np.diff(every.scores)
    apart = np.append(gaps, np.inf) > APART
    apart[1:] &= gaps > APART
    for rank, own in enumerate(found):
        assert not apart[rank] or own == every.ranked[rank]


@given(strategies.factor_graphs(whole=True))
def test_ties_are_broken_into_one_labelling(factors):
    """Max-marginals tie at each node for itself; the labels found must fit each other."""
    every, found = Labellings(*factors), FactorGraph(*factors).max_product()
    assert every.score(labelling(found.labels)) == every.scores[0]


@given(strategies.factor_graphs(forbidden=True), st.data())
def test_scores_are_sums_of_factors(factors, data):
    sizes = [len(own) for own in factors.unary]
    y = [data.draw(st.integers(0, size - 1)) for size in sizes]
    want = Labellings(*factors).score(tuple(y))
    assert FactorGraph(*factors).score(y) == pytest.approx(want, rel=1e-12, abs=1e-12)


@given(strategies.factor_graphs(), st.data())
def test_damping_changes_nothing_on_a_forest(factors, data):
    damping = data.draw(st.floats(0.0, 0.99))
    one = FactorGraph(*factors).sum_product()
    other = FactorGraph(*factors).sum_product(damping=damping, max_sweeps=1)
    assert one.log_partition == other.log_partition
    assert all(map(np.array_equal, one.marginals, other.marginals))


@given(strategies.chains())
def test_a_chain_is_a_graph(scores):
    chain = Chain(*scores)
    n = len(chain.U)
    steps = np.broadcast_to(chain.A, (n - 1, *chain.A.shape[1:]))
    factors = FactorGraph(chain.U, tree(np.arange(n) - 1), np.ascontiguousarray(steps))
    found = factors.sum_product()
    assert found.log_partition == pytest.approx(chain.log_partition(), rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(found.marginals, chain.marginals(), rtol=0, atol=1e-12)
    if n > 1:
        np.testing.assert_allclose(found.pair_marginals, chain.pair_marginals(), atol=1e-12)
    best = factors.max_product()
    assert best.score == pytest.approx(chain.score(chain.best()), rel=1e-12, abs=1e-12)


def test_a_graph_that_is_a_chain_has_the_labels_of_the_chain():
    rng = np.random.default_rng(0)
    U, A = rng.normal(size=(200, 5)), rng.normal(size=(5, 5))
    factors = FactorGraph(U, tree(np.arange(200) - 1), A)
    np.testing.assert_array_equal(factors.max_product().labels, Chain(U, A).best())
    np.testing.assert_array_equal(factors.k_best(4), Chain(U, A).k_best(4))


@pytest.mark.parametrize("scale", [1e-3, 1.0, 100.0, 1e5])
def test_marginals_sum_to_one_at_any_scale(scale):
    rng = np.random.default_rng(1)
    parents = [-1, *(int(rng.integers(0, i)) for i in range(1, 60))]
    unary, edges, tables = random_factors(tree(parents), 60, seed=1)
    found = FactorGraph(scale * unary, edges, scale * tables).sum_product()
    assert np.isfinite(found.log_partition)
    np.testing.assert_allclose(found.marginals.sum(axis=1), 1.0, rtol=1e-8)
    a, b = edges.T
    np.testing.assert_allclose(found.pair_marginals.sum(axis=2), found.marginals[a], atol=1e-8)
    np.testing.assert_allclose(found.pair_marginals.sum(axis=1), found.marginals[b], atol=1e-8)


def test_a_star_of_many_nodes_and_a_long_chain():
    """A node with many neighbours, and recursion that would end a stack."""
    n = 5_000
    for parents in (np.minimum(np.arange(n) - 1, 0), np.arange(n) - 1):
        factors = FactorGraph(np.tile([0.0, 0.1], (n, 1)), tree(parents), np.eye(2))
        found = factors.sum_product()
        np.testing.assert_allclose(found.marginals.sum(axis=1), 1.0, rtol=1e-9)
        assert (factors.max_product().labels == 1).all()


# ---------------------------------------------------------------------- forms


def test_one_table_for_all_edges_or_one_for_each():
    unary, edges, tables = random_factors([[0, 1], [1, 2], [1, 3]], 4)
    one = FactorGraph(unary, edges, tables[0]).sum_product()
    forms = (np.stack([tables[0]] * 3), [tables[0]] * 3, tables[0].tolist())
    for form in forms:
        other = FactorGraph(unary.tolist(), edges.tolist(), form).sum_product()
        assert np.array_equal(one.marginals, other.marginals)
        assert one.log_partition == other.log_partition


def test_results_are_tables_where_sizes_are_equal_and_lists_where_they_differ():
    unary, edges, tables = random_factors([[0, 1], [1, 2]], 3)
    found = FactorGraph(unary, edges, tables).sum_product()
    assert found.marginals.shape == (3, 3)
    assert found.pair_marginals.shape == (2, 3, 3)
    mixed = FactorGraph([[0.0], [0.0, 1.0]], [[0, 1]], [[[0.0, 1.0]]])
    assert [own.shape for own in mixed.sum_product().marginals] == [(1,), (2,)]
    assert [own.shape for own in mixed.max_product().max_marginals] == [(1,), (2,)]
    assert mixed.sum_product().pair_marginals.shape == (1, 1, 2)


def test_the_direction_of_an_edge_turns_its_table():
    unary, edges, tables = random_factors([[0, 1], [1, 2], [1, 3]], 4)
    one = FactorGraph(unary, edges, tables).sum_product()
    other = FactorGraph(unary, edges[:, ::-1], tables.transpose(0, 2, 1)).sum_product()
    np.testing.assert_allclose(one.marginals, other.marginals, rtol=1e-12)
    np.testing.assert_allclose(
        one.pair_marginals, other.pair_marginals.transpose(0, 2, 1), rtol=1e-10
    )


def test_nodes_alone():
    factors = FactorGraph([[0.0, np.log(3.0)], [2.0]], [], [])
    found = factors.sum_product()
    np.testing.assert_allclose(found.marginals[0], [0.25, 0.75])
    assert found.log_partition == pytest.approx(np.log(4.0) + 2.0)
    assert factors.max_product().labels.tolist() == [1, 0]
    assert factors.k_best(5).tolist() == [[1, 0], [0, 0]]


def test_a_graph_without_nodes():
    factors = FactorGraph([], [], [])
    assert factors.sum_product().log_partition == 0.0
    assert factors.max_product().score == 0.0
    assert len(factors.max_product().labels) == 0
    assert factors.k_best(2).shape == (1, 0)


def test_what_it_is_is_said():
    unary, edges, tables = random_factors(*LOOPS["triangle"][::-1])
    loopy, forest = FactorGraph(unary, edges, tables), FactorGraph(unary, edges[:2], tables[:2])
    assert (forest.is_forest, loopy.is_forest) == (True, False)
    assert (loopy.n_nodes, loopy.n_edges) == (3, 3)
    assert repr(loopy) == "FactorGraph(n_nodes=3, n_edges=3)"


def test_what_no_labelling_allows():
    never = np.full((2, 2), -np.inf)
    factors = FactorGraph(np.zeros((2, 2)), [[0, 1]], never)
    for method in (factors.max_product, factors.sum_product, lambda: factors.k_best(2)):
        with pytest.raises(ValueError, match="must allow a labelling of all nodes, got -inf"):
            method()
    apart = [[-np.inf, 0.0], [0.0, -np.inf]]  # neighbours must differ: no way around a triangle
    triangle = FactorGraph(np.zeros((3, 2)), LOOPS["triangle"][1], apart)
    with pytest.raises(ValueError, match="allow a labelling of all nodes, got -inf"):
        triangle.sum_product(evidence={0: 0, 1: 0})


# ------------------------------------------------------------------- evidence


@given(strategies.factor_graphs(forbidden=True), st.data())
def test_known_labels_on_forests_are_those_of_enumeration(factors, data):
    every = Labellings(*factors)
    sure = data.draw(st.sampled_from(every.ranked))
    nodes = data.draw(st.sets(st.integers(0, len(sure) - 1)))
    evidence = {node: sure[node] for node in nodes}
    every, graph = Labellings(*factors, evidence), FactorGraph(*factors)
    sums, best = graph.sum_product(evidence=evidence), graph.max_product(evidence=evidence)
    assert sums.log_partition == pytest.approx(every.log_partition(), rel=1e-11, abs=1e-10)
    assert_lists(sums.marginals, every.marginals(), atol=1e-10)
    assert_lists(sums.pair_marginals, every.pair_marginals(), atol=1e-10)
    assert best.score == pytest.approx(every.scores[0], rel=1e-12, abs=1e-12)
    assert_lists(best.max_marginals, every.max_marginals(), atol=1e-10)
    assert all(best.labels[node] == label for node, label in evidence.items())
    k_best = graph.k_best(3, evidence=evidence)
    assert [every.score(labelling(y)) for y in k_best] == pytest.approx(
        every.scores[:3].tolist(), abs=APART
    )


@pytest.mark.parametrize("name", sorted(LOOPS))
def test_a_known_label_cuts_the_loops_through_its_node(name):
    n, edges = LOOPS[name]
    factors = random_factors(edges, n)
    known = {node: node % 3 for node in range(n) if name != "grid" or node in (1, 4, 7)}
    known = dict(list(known.items())[: 3 if name in ("grid", "complete") else 1])
    every, graph = Labellings(*factors, known), FactorGraph(*factors)
    found = graph.sum_product(evidence=known)
    assert found.is_exact
    assert found.log_partition == pytest.approx(every.log_partition(), rel=1e-11)
    assert_lists(found.marginals, every.marginals())
    assert_lists(found.pair_marginals, every.pair_marginals())
    best = graph.max_product(evidence=known)
    assert labelling(best.labels) == every.best()


# ---------------------------------------------------------------------- loops


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", sorted(LOOPS))
def test_weak_couplings_with_loops_are_near_enumeration(name, seed):
    """A third of the coupling leaves less than a tenth of the error."""
    n, edges = LOOPS[name]
    bounds = {0.3: (0.01, 0.03, 0.02), 0.1: (0.0005, 0.003, 0.001)}
    for coupling, (marginal, pair, partition) in bounds.items():
        factors = random_factors(edges, n, seed, coupling=coupling)
        every, found = Labellings(*factors), FactorGraph(*factors).sum_product()
        assert found.converged
        assert not found.is_exact
        assert found.residual <= 1e-6
        assert_lists(found.marginals, every.marginals(), atol=marginal)
        assert_lists(found.pair_marginals, every.pair_marginals(), atol=pair)
        assert found.log_partition == pytest.approx(every.log_partition(), abs=partition)
        best = FactorGraph(*factors).max_product()
        assert every.score(labelling(best.labels)) > every.scores[0] - 0.1


@given(strategies.factor_graphs(loops=True, scale=0.25))
def test_any_small_graph_with_weak_couplings(factors):
    every, graph = Labellings(*factors), FactorGraph(*factors)
    found, best = graph.sum_product(), graph.max_product()
    assert found.converged
    assert_lists(found.marginals, every.marginals(), atol=0.05)
    assert best.score == pytest.approx(every.scores[0], abs=0.5)
    assert every.score(labelling(best.labels)) == pytest.approx(best.score, abs=APART)


APART_IF_JOINED = np.where(np.eye(3, dtype=bool), -np.inf, 0.0)  # a colouring


@pytest.mark.parametrize("seed", range(20))
def test_a_colouring_that_messages_miss_is_not_called_impossible(seed):
    rng = np.random.default_rng(seed)
    right = rng.integers(0, 3, 14)
    edges = [(a, b) for a in range(14) for b in range(a) if right[a] != right[b]]
    some = np.array(edges)[rng.random(len(edges)) < 0.5]
    factors = FactorGraph(np.zeros((14, 3)), some, APART_IF_JOINED)
    assert factors.score(right) == 0.0
    try:
        found = factors.max_product().score
    except ValueError as error:
        found = str(error)
    assert found == 0.0 or re.search("got none by messages .* may still exist", found)


def test_what_is_impossible_is_said_with_and_without_loops():
    apart = APART_IF_JOINED[:2, :2]
    triangle = FactorGraph(np.zeros((3, 2)), [[0, 1], [1, 2], [2, 0]], apart)
    for method in (triangle.max_product, lambda: triangle.k_best(2)):
        with pytest.raises(ValueError, match="got none by messages on a graph with loops"):
            method()
    pair = FactorGraph(np.zeros((2, 1)), [[0, 1]], [[-np.inf]])
    for method in (pair.max_product, pair.sum_product, lambda: pair.k_best(2)):
        with pytest.raises(ValueError, match="unary and pairwise must allow a labelling of all"):
            method()


def test_evidence_that_is_impossible_is_named():
    apart = APART_IF_JOINED[:2, :2]
    chain = FactorGraph(np.zeros((4, 2)), tree([-1, 0, 1, 2]), apart)
    forbidden = FactorGraph([[0.0, -np.inf], [0.0, 0.0]], [[0, 1]], np.zeros((2, 2)))
    for kind in ("max_product", "sum_product"):
        with pytest.raises(ValueError, match=r"evidence must .* got label 1 for node 0, of score"):
            getattr(forbidden, kind)(evidence={0: 1})
        for known in ({0: 0, 2: 1}, {0: 0, 1: 0}, {0: 0, 3: 0}):
            with pytest.raises(ValueError, match=r"^evidence, unary and pairwise must together"):
                getattr(chain, kind)(evidence=known)


def test_pairs_at_known_labels_agree_with_the_nodes():
    sizes = [2, 3, 2, 4]
    rng = np.random.default_rng(0)
    edges = [[0, 1], [1, 2], [2, 3], [0, 3]]
    factors = (
        [rng.normal(size=n) for n in sizes],
        edges,
        [rng.normal(size=(sizes[a], sizes[b])) for a, b in edges],
    )
    found = FactorGraph(*factors).sum_product(evidence={1: 2})
    for (a, b), pair in zip(edges, found.pair_marginals, strict=True):
        np.testing.assert_allclose(pair.sum(axis=1), found.marginals[a], atol=1e-12)
        np.testing.assert_allclose(pair.sum(axis=0), found.marginals[b], atol=1e-12)


def test_a_graph_is_copied_after_use():
    factors = FactorGraph(*random_factors(grid(2, 2), 4))
    want = factors.is_forest, factors.score([0, 1, 2, 0])
    twin = pickle.loads(pickle.dumps(factors))
    assert (twin.is_forest, twin.score([0, 1, 2, 0])) == want
    assert twin.max_product().score == factors.score(twin.max_product().labels)


def test_damping_leads_to_the_same_messages_where_both_converge():
    factors = FactorGraph(*random_factors(grid(6, 6), 36, coupling=0.4))
    one, other = (factors.sum_product(tol=1e-10, damping=own) for own in (0.0, 0.5))
    np.testing.assert_allclose(one.marginals, other.marginals, atol=1e-8)
    assert one.log_partition == pytest.approx(other.log_partition, abs=1e-7)


def test_what_has_not_converged_is_marked_and_warned_of():
    rng = np.random.default_rng(0)
    unary = 0.1 * rng.normal(size=(25, 2))
    spins = 4.0 * rng.normal(size=(40, 1, 1)) * np.array([[1.0, -1.0], [-1.0, 1.0]])
    factors = FactorGraph(unary, grid(5, 5), spins)
    message = r"sum_product must converge to a residual of 1e-06 within max_sweeps=3, got \d"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        found = factors.sum_product(max_sweeps=3)
    assert caught[0].filename == __file__
    assert not found.converged
    assert found.residual > 1e-6
    assert 2 <= found.n_sweeps <= 4
    assert "NOT CONVERGED: residual" in repr(found)
    np.testing.assert_allclose(found.marginals.sum(axis=1), 1.0)
    with pytest.warns(ConvergenceWarning, match="max_product must converge"):
        best = factors.max_product(max_sweeps=1)
    assert "NOT CONVERGED" in repr(best)
    assert best.score == factors.score(best.labels)


def test_what_has_converged_says_so():
    loopy = FactorGraph(*random_factors(*LOOPS["triangle"][::-1], coupling=0.1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = loopy.sum_product()
    assert ", converged: residual" in repr(found)
    assert repr(loopy.sum_product(evidence={0: 0})).endswith(", exact)")


def test_one_graph_in_many_threads():
    factors = FactorGraph(*random_factors(grid(12, 12), 144, coupling=0.3))
    want = factors.sum_product().marginals, factors.max_product().labels
    wrong = []

    def work():
        for _ in range(5):
            wrong.append(not np.array_equal(factors.sum_product().marginals, want[0]))
            wrong.append(not np.array_equal(factors.max_product().labels, want[1]))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(wrong) == 40
    assert not any(wrong)


LABELS, TABLE = np.array([0, 1], np.int32), np.array([[0.0, -1.0], [-2.0, 0.0]])


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ((True, 0.0, 0.0, True), "exact"),
        ((True, 2e-7, 12.0, False), "converged: residual 2e-07 after 12 sweeps"),
        ((False, 0.25, 200.0, False), "NOT CONVERGED: residual 0.25 after 200 sweeps"),
    ],
)
def test_the_state_is_said(state, said):
    best = BestLabelling(*state, LABELS, 1.5, TABLE)
    assert repr(best) == f"BestLabelling(n_nodes=2, score=1.5, {said})"
    sums = Marginals(*state, np.exp(TABLE), [], 2.25)
    assert repr(sums) == f"Marginals(n_nodes=2, log_partition=2.25, {said})"
    assert (sums.converged, sums.residual, sums.n_sweeps, sums.is_exact) == state


def test_results_do_not_change():
    best = BestLabelling(True, 0.0, 0.0, True, LABELS, 1.5, TABLE)
    with pytest.raises(FrozenInstanceError, match="score"):
        best.score = 2.0


def test_results_are_compared_by_identity():
    one, other = (BestLabelling(True, 0.0, 0.0, True, LABELS, 1.5, TABLE) for _ in range(2))
    assert one != other
    assert one == one
    assert len({one, other}) == 2
    sums = Marginals(True, 0.0, 0.0, True, np.exp(TABLE), [], 2.25)
    assert sums in [one, sums]


def test_a_report_has_a_line_for_each_graph():
    report = GraphReport(np.array([True, False]), np.array([0.0, 0.5]))
    assert report.converged.tolist() == [True, False]
    assert report.residual.tolist() == [0.0, 0.5]

"""The core's batch losses of graphs against all labellings, and against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import batches
import strategies
from native_losses import curvature_of, graph_arrays, graph_loss, log_of, tags
from reference.losses import curvature, hinge_loss, log_loss, of_graphs
from surelearn import _core
from surelearn.solvers import frank_wolfe
from surelearn.weights import Diagonal, Layout

K = 3
RING = [(0, 1), (1, 2), (3, 2), (3, 0), (0, 2)]


def some_graphs(edges, n_graphs=5, n_pairs=2, seed=0):
    """Graphs of four nodes with these edges, whose features float32 holds exactly."""
    random = np.random.default_rng(seed)
    return [
        strategies.Network(
            nodes=random.integers(-16, 17, size=(4, 3)) / 8,
            edges=edges,
            pairs=random.integers(-16, 17, size=(len(edges), n_pairs)) / 8,
            y=tuple(random.integers(K, size=4).tolist()),
            weight=float(random.uniform(0.5, 2.0)),
        )
        for _ in range(n_graphs)
    ]


def near(examples, w):
    """What rounding may change: a share of the largest score."""
    return 1e-12 * (1 + max(np.abs(e.weight * e.psi * w).sum(axis=1).max() for e in examples))


# ------------------------------------------------------------------------------ trees


@pytest.mark.parametrize("directed", [True, False])
@given(drawn=strategies.corpora_of_networks(), data=st.data())
def test_losses_of_trees_are_those_of_all_labellings(drawn, directed, data):
    graphs, n_labels = drawn
    cost = data.draw(batches.costs(n_labels))
    loss = graph_loss(graphs, n_labels, directed=directed)
    examples = of_graphs(graphs, n_labels, directed=directed, cost=cost)
    assert loss.n_weights == examples[0].psi.shape[1]
    w = data.draw(batches.weights(loss.n_weights))
    value, gradient = log_of(loss, w)
    expected, slope = log_loss(examples, w)
    slack = near(examples, w)
    assert value == pytest.approx(expected, rel=1e-12, abs=slack)
    np.testing.assert_allclose(gradient, slope, rtol=1e-10, atol=64 * slack)
    spread = curvature(examples, w)
    np.testing.assert_allclose(curvature_of(loss, w), spread, rtol=1e-9, atol=4096 * slack)
    worst = hinge_loss(examples, w)[0]
    assert loss.hinge_loss(w, cost, 1) == pytest.approx(worst, rel=1e-12, abs=slack)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("edges", [[(0, 1), (2, 1), (1, 3)], RING], ids=["tree", "loops"])
def test_gradients_are_finite_differences(edges, directed):
    """With loops, of the approximation of log Z that messages give."""
    loss = graph_loss(some_graphs(edges), K, directed=directed)
    w = 0.3 * np.random.default_rng(1).normal(size=loss.n_weights)
    _, gradient = log_of(loss, w)
    slope = batches.differences(lambda at: log_of(loss, at)[0], w, 1e-3)
    np.testing.assert_allclose(gradient, slope, atol=1e-7)


def test_an_undirected_edge_has_one_weight_for_a_pair_of_labels():
    graphs = some_graphs(RING[:3], n_pairs=0)
    loss = graph_loss(graphs, K, directed=False)
    w = np.random.default_rng(1).normal(size=loss.n_weights)
    unused = log_of(loss, w)[1].reshape(-1, K)[:K][np.tril_indices(K, -1)]
    assert not unused.any()
    turned = [
        strategies.Network(g.nodes, [(b, a) for a, b in g.edges], g.pairs, g.y, g.weight)
        for g in graphs
    ]
    assert log_of(graph_loss(turned, K, directed=False), w)[0] == pytest.approx(log_of(loss, w)[0])


# ------------------------------------------------------------------------------ loops


def test_losses_of_graphs_with_loops_are_close_where_edges_are_weak():
    graphs = some_graphs(RING)
    loss, examples = graph_loss(graphs, K), of_graphs(graphs, K)
    w = 0.05 * np.random.default_rng(1).normal(size=loss.n_weights)
    value, gradient = log_of(loss, w)
    expected, slope = log_loss(examples, w)
    assert value == pytest.approx(expected, rel=1e-4)
    np.testing.assert_allclose(gradient, slope, atol=1e-2)
    assert loss.hinge_loss(w, None, 1) == pytest.approx(hinge_loss(examples, w)[0], rel=1e-9)


@pytest.mark.parametrize("edges", [RING[:3], RING], ids=["tree", "loops"])
def test_any_number_of_threads_gives_the_same_bits(edges):
    loss = graph_loss(some_graphs(edges, n_graphs=300), K)
    w = np.random.default_rng(1).normal(size=loss.n_weights)
    one = log_of(loss, w), curvature_of(loss, w), loss.hinge_loss(w, None, 1)
    for threads in (2, 3):
        value, gradient = log_of(loss, w, threads)
        assert value == one[0][0]
        np.testing.assert_array_equal(gradient, one[0][1])
        np.testing.assert_array_equal(curvature_of(loss, w, threads), one[1])
        assert loss.hinge_loss(w, None, threads) == one[2]


# ------------------------------------------------------------------------ Frank-Wolfe


def dual_of(graphs, **how):
    """The dual variables of a support vector machine, and the weights that they move."""
    layout = Layout((1 + 2) * K + 3, False, False, averaged=False, dtype="float64")
    weights, bound = Diagonal(layout, K, 1.0), np.array([graph.weight for graph in graphs])
    arrays = graph_arrays(graphs, **how)
    return _core.GraphFrankWolfe(arrays, tags(graphs), bound, None, weights.core), weights


@pytest.mark.parametrize("directed", [True, False])
def test_the_dual_never_falls(directed):
    graphs, duals = some_graphs(RING[:3]), []
    machine, weights = dual_of(graphs, directed=directed)
    for _ in range(30):
        machine.visit(np.arange(len(graphs)))
        duals.append(machine.values()[1] - 0.5 * float((weights.means**2).sum()))
    assert duals[0] > 0
    assert np.all(np.diff(duals) >= -1e-12)


@pytest.mark.parametrize("directed", [True, False])
def test_the_gap_closes_at_the_hinge_of_all_labellings(directed):
    graphs = some_graphs(RING[:3])
    machine, weights = dual_of(graphs, directed=directed)
    order = np.arange(len(graphs))
    found = frank_wolfe(machine, weights, order=lambda _: order, tol=1e-4, max_iter=20_000)
    assert found.converged
    assert found.gap <= 1e-4 * found.value
    hinge = hinge_loss(of_graphs(graphs, K, directed=directed), found.w)[0]
    assert found.value == pytest.approx(0.5 * found.w @ found.w + hinge)

"""Graphs with features, grids and trees."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from surelearn.graph import FactorGraph, Graph, grid, tree


@given(st.integers(0, 5), st.integers(0, 5))
def test_a_grid_joins_neighbours(height, width):
    edges = {(int(a), int(b)) for a, b in grid(height, width)}
    places = [(i, j) for i in range(height) for j in range(width)]
    near = {
        (a, b)
        for a, (i, j) in enumerate(places)
        for b, (k, l) in enumerate(places)
        if (k - i, l - j) in ((0, 1), (1, 0))
    }
    assert edges == near
    assert len(grid(height, width)) == len(near)


@given(st.integers(1, 12).flatmap(lambda n: st.tuples(*(st.integers(-1, i - 1) for i in range(n)))))
def test_a_tree_has_an_edge_from_each_parent(parents):
    edges = tree(parents)
    assert [(int(a), int(b)) for a, b in edges] == [
        (parent, i) for i, parent in enumerate(parents) if parent >= 0
    ]
    assert FactorGraph(np.zeros((len(parents), 2)), edges, np.eye(2)).is_forest


def test_parents_may_come_after_their_children():
    assert tree([2, 2, -1]).tolist() == [[2, 0], [2, 1]]
    assert tree([]).shape == (0, 2)


def test_a_grid_has_loops():
    assert not FactorGraph(np.zeros((4, 2)), grid(2, 2), np.eye(2)).is_forest


def test_features_are_kept_in_single_precision_without_zeros():
    graph = Graph([[0.1, 0.0], [0.0, 2.0]], [[0, 1]], edge_features=[[3.0]])
    assert graph.nodes.dtype == np.float32
    assert graph.nodes.nnz == 2
    assert graph.edge_features.toarray().tolist() == [[3.0]]
    assert (graph.n_nodes, graph.n_edges) == (2, 1)
    assert repr(graph) == "Graph(n_nodes=2, n_edges=1, n_features=2)"


def test_the_users_matrix_stays_as_it_is():
    X = sparse.csr_array(
        (np.array([1.0, 2.0, 0.0], np.float32), np.array([0, 0, 1]), np.array([0, 3])),
        shape=(1, 2),
    )
    graph = Graph(X, [])
    assert graph.nodes.toarray().tolist() == [[3.0, 0.0]]
    assert X.nnz == 3
    assert graph.is_sparse
    assert not Graph(X.toarray(), []).is_sparse


@pytest.mark.parametrize(
    ("types", "kind"), [(["a", "b"], "O"), ([3, 1], "i"), (np.array(["a", "b"]), "O")]
)
def test_types_are_texts_or_whole_numbers(types, kind):
    graph = Graph(np.zeros((3, 1)), [[0, 1], [1, 2]], edge_types=types)
    assert graph.edge_types.dtype.kind == kind
    assert graph.edge_types.tolist() == list(types)


def test_a_graph_can_be_sent_elsewhere():
    graph = Graph([[1.0], [2.0]], [[0, 1]], edge_types=["a"])
    other = pickle.loads(pickle.dumps(graph))
    assert np.array_equal(other.edges, graph.edges)
    assert other.edge_types.tolist() == ["a"]

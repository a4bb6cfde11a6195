"""Nodes, edges and scores of graphs: all that can be wrong with them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from surelearn.graph import FactorGraph, Graph, _factors, grid, tree

U = np.zeros((3, 2))
EDGES = [[0, 1], [1, 2]]
TABLE = np.zeros((2, 2))


@pytest.mark.parametrize(
    ("edges", "kind", "message"),
    [
        ([[0, 3]], ValueError, r"nodes that are there, got \(0, 3\) as edge 0 .* from 0 to 2\."),
        ([[0, 1], [-1, 2]], ValueError, r"nodes that are there, got \(-1, 2\) as edge 1"),
        (
            [[0, 1], [2, 2]],
            ValueError,
            r"two different nodes, got the self loop \(2, 2\) as edge 1",
        ),
        ([[0, 1], [1, 2], [0, 1]], ValueError, r"got \(0, 1\) as edge 0 and \(0, 1\) as edge 2"),
        ([[0, 1], [1, 0]], ValueError, r"distinct, got \(0, 1\) as edge 0 and \(1, 0\) as edge 1"),
        ([0, 1], ValueError, r"edges must be of shape \(n_edges, 2\), got shape \(2,\)"),
        ([[0, 1, 2]], ValueError, r"edges must be of shape \(n_edges, 2\), got shape \(1, 3\)"),
        ([[0.0, 1.0]], TypeError, "edges must be pairs of whole numbers, got"),
        ([["a", "b"]], TypeError, "edges must be pairs of whole numbers, got"),
        (
            [[0, 1], [1]],
            TypeError,
            r"edges must be pairs of whole numbers, got \[\[0, 1\], \[1\]\]",
        ),
    ],
)
def test_edges_that_make_no_sense(edges, kind, message):
    with pytest.raises(kind, match=message):
        FactorGraph(U, edges, TABLE)
    with pytest.raises(kind, match=message):
        Graph(U, edges)


def test_an_edge_in_a_graph_without_nodes():
    with pytest.raises(ValueError, match=r"got \(0, 1\) as edge 0 of a graph that has no node"):
        FactorGraph([], [[0, 1]], TABLE)


@pytest.mark.parametrize("none", [[], np.zeros((0, 2), np.int64), np.zeros((0, 2))])
def test_a_graph_may_have_no_edges(none):
    assert FactorGraph(U, none, TABLE).n_edges == 0
    assert Graph(U, none).n_edges == 0


@pytest.mark.parametrize(
    ("unary", "kind", "message"),
    [
        (
            np.zeros(3),
            ValueError,
            r"unary must be of shape \(n_nodes, n_labels\), got shape \(3,\)",
        ),
        (np.zeros((3, 0)), ValueError, r"unary must be of shape .*, got shape \(3, 0\)"),
        ([[0.0], [], [1.0]], ValueError, r"unary\[1\] must have one score for each label"),
        ([[0.0], [[1.0]]], ValueError, r"unary\[1\] must have one score .* got shape \(1, 1\)"),
        ([[0.0, 1.0], [0.0, np.nan]], ValueError, r"unary\[1\] must be finite or -inf, got nan"),
        (np.array([[0.0, np.inf]]), ValueError, "unary must be finite or -inf, got inf"),
        (np.array([[0.0, 1.0], [-np.inf] * 2]), ValueError, r"unary\[1\] must allow a label"),
        ([[0.0, 1.0], [-np.inf]], ValueError, r"unary\[1\] must allow a label, got -inf for all"),
        ([["a"]], TypeError, r"unary\[0\] must be an array of numbers, got \['a'\]"),
        (np.zeros((1, 2)) + 1j, TypeError, "unary must be real, got complex numbers"),
        ([np.zeros(2) + 1j], TypeError, r"unary\[0\] must be real, got complex numbers"),
        (
            [[0.0, 1e308]],
            ValueError,
            r"unary\[0\] must be at most 1e\+300 in size or -inf, got 1e\+308",
        ),
        (np.array([[0.0, -1e301]]), ValueError, r"at most 1e\+300 in size or -inf, got -1e\+301"),
        (7, TypeError, "unary must be a list of arrays, one for each node, got 7"),
        ("ab", TypeError, "unary must be a list of arrays, one for each node, got 'ab'"),
    ],
)
def test_scores_of_nodes_that_make_no_sense(unary, kind, message):
    with pytest.raises(kind, match=message):
        FactorGraph(unary, [], TABLE)


@pytest.mark.parametrize(
    ("pairwise", "kind", "message"),
    [
        (
            np.zeros((2, 3)),
            ValueError,
            r"a table of shape \(2, 2\) for edge 0.* got shape \(2, 3\)",
        ),
        (np.zeros((2, 3, 2)), ValueError, r"shape \(2, 2\) for edge 0, .* got shape \(3, 2\)"),
        (np.zeros((3, 2, 2)), ValueError, "as many tables as there are edges, 2, got 3"),
        (np.zeros(2), ValueError, r"of two or three dimensions, got shape \(2,\)"),
        ([TABLE], ValueError, "as many tables as there are edges, 2, got 1"),
        ([TABLE, np.zeros((2, 1))], ValueError, r"\(2, 2\) for edge 1, .* got shape \(2, 1\)"),
        ([TABLE, TABLE + np.nan], ValueError, r"pairwise\[1\] must be finite or -inf, got nan"),
        (TABLE + np.inf, ValueError, "pairwise must be finite or -inf, got inf"),
        ([[0.0, 1.0], [2.0]], TypeError, "pairwise must be tables of numbers, got"),
        (
            TABLE + 2e300,
            ValueError,
            r"pairwise must be at most 1e\+300 in size or -inf, got 2e\+300",
        ),
        (TABLE + 1j, TypeError, "pairwise must be real, got complex numbers"),
        (None, TypeError, "pairwise must be a list of tables, got None"),
    ],
)
def test_scores_of_edges_that_make_no_sense(pairwise, kind, message):
    with pytest.raises(kind, match=message):
        FactorGraph(U, EDGES, pairwise)


def test_a_table_has_the_labels_of_the_first_node_as_rows():
    unary = [[0.0, 0.0], [0.0, 0.0, 0.0]]
    FactorGraph(unary, [[0, 1]], [np.zeros((2, 3))])
    with pytest.raises(ValueError, match=r"a table of shape \(3, 2\) for edge 0"):
        FactorGraph(unary, [[1, 0]], [np.zeros((2, 3))])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1], r"labels must be one whole number for each of 3 nodes, got \[0, 1\]"),
        ([0.0, 1.0, 0.0], "labels must be one whole number for each of 3 nodes"),
        ([0, 1, 2], "labels must be within the labels of each node, from 0 to 1 for node 2, got 2"),
        ([0, -1, 0], "from 0 to 1 for node 1, got -1"),
    ],
)
def test_labellings_that_make_no_sense(labels, message):
    with pytest.raises(ValueError, match=message):
        FactorGraph(U, EDGES, TABLE).score(labels)


def test_labels_of_lists_of_any_lengths():
    with pytest.raises(TypeError, match="labels must be one whole number for each of 3 nodes"):
        FactorGraph(U, EDGES, TABLE).score([[0], [1, 0], 0])


@pytest.mark.parametrize(
    ("evidence", "kind", "message"),
    [
        ({3: 0}, ValueError, "evidence must have nodes from 0 to 2 as keys, got 3"),
        ({"a": 0}, TypeError, "evidence must have numbers of nodes as keys, got 'a'"),
        ({True: 0}, TypeError, "evidence must have numbers of nodes as keys, got True"),
        ({0: 2}, ValueError, "evidence must be within the labels .* 0 to 1 for node 0, got 2"),
        ({0: "x"}, TypeError, "evidence must have the number of a label for node 0, got 'x'"),
        ([0, 1], TypeError, r"evidence must be a dict of \{node: label\} or None, got \[0, 1\]"),
    ],
)
def test_evidence_that_makes_no_sense(evidence, kind, message):
    factors = FactorGraph(U, EDGES, TABLE)
    for method in (factors.max_product, factors.sum_product):
        with pytest.raises(kind, match=message):
            method(evidence=evidence)


@pytest.mark.parametrize(
    ("limits", "kind", "message"),
    [
        ({"damping": 1.0}, ValueError, r"damping must be in \[0, 1\), got 1.0"),
        ({"damping": -0.1}, ValueError, r"damping must be in \[0, 1\), got -0.1"),
        ({"tol": 0.0}, ValueError, r"tol must be in \(0, inf\), got 0.0"),
        ({"tol": float("nan")}, ValueError, r"tol must be in \(0, inf\), got nan"),
        ({"max_sweeps": 0}, ValueError, "max_sweeps must be at least 1, got 0"),
        ({"max_sweeps": 2.5}, TypeError, "max_sweeps must be a whole number, got 2.5"),
    ],
)
def test_settings_that_make_no_sense(limits, kind, message):
    factors = FactorGraph(U, EDGES, TABLE)
    for method in (factors.max_product, factors.sum_product):
        with pytest.raises(kind, match=message):
            method(**limits)
    with pytest.raises(kind, match=message):
        factors.k_best(2, **limits)


def test_a_graph_that_does_not_fit_in_memory_says_how_much_it_needs(monkeypatch):
    monkeypatch.setattr(_factors, "MEMORY_LIMIT", 10**6)
    n = 300
    edges = np.argwhere(np.triu(np.ones((n, n)), 1))
    factors = FactorGraph(np.zeros((n, 5)), edges, np.zeros((5, 5)))
    message = r"fit in memory \(1.0 MB available\), got 44,850 edges, which need 1\d\.\d MB"
    with pytest.raises(MemoryError, match=message):
        factors.sum_product()


def test_pairs_at_known_labels_count_as_memory(monkeypatch):
    monkeypatch.setattr(_factors, "MEMORY_LIMIT", 10**6)
    star = FactorGraph(np.zeros((51, 60)), [[0, i] for i in range(1, 51)], np.zeros((60, 60)))
    star.max_product(evidence={0: 0})
    with pytest.raises(MemoryError, match=r"got 50 edges, which need \d\.\d MB"):
        star.sum_product(evidence={0: 0})


@pytest.mark.parametrize(
    ("more", "kind", "message"),
    [
        (
            {"edge_features": [[1.0]]},
            ValueError,
            "edge_features must have as many rows as there are edges, 2, got 1",
        ),
        ({"edge_features": [1.0, 2.0]}, ValueError, "edge_features must have two dimensions"),
        ({"edge_features": [[1.0], [np.nan]]}, ValueError, "edge_features must be finite, got nan"),
        (
            {"edge_types": ["a"]},
            ValueError,
            "edge_types must have as many rows as there are edges, 2",
        ),
        ({"edge_types": ["a", 1]}, TypeError, "edge_types must be of one kind, got texts and"),
        ({"edge_types": ["a", 1.5]}, TypeError, "must be texts or whole numbers, got 1.5"),
        ({"edge_types": ["a", None]}, TypeError, "must be texts or whole numbers, got None"),
        ({"edge_types": [1, 2**70]}, ValueError, "edge_types must fit in 64 bits, got 1180591620"),
        ({"edge_types": "ab"}, TypeError, "edge_types must be a list of types, one for each edge"),
        (
            {"edge_types": ["a", "b"], "edge_features": [[1.0], [2.0]]},
            TypeError,
            "edge_features and edge_types must not be given together, got both",
        ),
    ],
)
def test_features_of_edges_that_make_no_sense(more, kind, message):
    with pytest.raises(kind, match=message):
        Graph(U, EDGES, **more)


@pytest.mark.parametrize(
    ("nodes", "kind", "message"),
    [
        (np.zeros(3), ValueError, r"nodes must have two dimensions, got shape \(3,\)"),
        ([[1.0, np.nan]], ValueError, "nodes must be finite, got nan"),
        (
            np.array([[1.0, np.inf]]),
            ValueError,
            "nodes must be finite, got NaN or infinity in row 0",
        ),
        (sparse.csr_array([[np.nan]]), ValueError, "nodes must be finite, got NaN or infinity in"),
        ([[1e39]], ValueError, r"nodes must be finite in single precision, got 1e\+39"),
        ([["a"]], TypeError, "nodes must be an array of numbers, got"),
        (None, TypeError, "nodes must be an array of numbers, got None"),
        (np.array([[1j]]), TypeError, "nodes must be real, got complex numbers"),
        (sparse.csr_array([[1j]]), TypeError, "nodes must be real, got complex numbers"),
        (np.array([["a"]]), TypeError, "nodes must be an array of numbers, got"),
    ],
)
def test_features_of_nodes_that_make_no_sense(nodes, kind, message):
    with pytest.raises(kind, match=message):
        Graph(nodes, [])


@pytest.mark.parametrize(
    ("parents", "kind", "message"),
    [
        ([-1, 2], ValueError, "nodes from 0 to 1, or -1 for a root, got 2 for node 1"),
        ([-2], ValueError, "or -1 for a root, got -2 for node 0"),
        ([1, 0], ValueError, "parents must lead to a root, got a cycle above node 0"),
        ([-1, 1], ValueError, "got a cycle above node 1"),
        ([-1, 0, 4, 2, 3, 4], ValueError, "got a cycle above node 2"),
        ([[0], [1, 2]], TypeError, "parents must be a list of whole numbers, got"),
        ([0.0], TypeError, r"parents must be a list of whole numbers, got \[0\.0\]"),
        (3, TypeError, "parents must be a list of whole numbers, got 3"),
    ],
)
def test_parents_that_make_no_sense(parents, kind, message):
    with pytest.raises(kind, match=message):
        tree(parents)


def test_sizes_of_a_grid_that_make_no_sense():
    with pytest.raises(ValueError, match="height must be at least 0, got -1"):
        grid(-1, 2)
    with pytest.raises(TypeError, match=r"width must be a whole number, got 2\.0"):
        grid(2, 2.0)
    with pytest.raises(ValueError, match="height times width must be at most 2147483647, got"):
        grid(2**16, 2**16)


def test_types_of_edges_are_numbers_of_64_bits():
    graph = Graph(U, EDGES, edge_types=[-(2**63), 2**63 - 1])
    assert graph.edge_types.tolist() == [-(2**63), 2**63 - 1]
    for large in (2**63, -(2**63) - 1):
        with pytest.raises(ValueError, match=f"edge_types must fit in 64 bits, got {large}"):
            Graph(U, EDGES, edge_types=[0, large])

"""Features of nodes and edges in one table each; types of edges, which may grow."""

from __future__ import annotations

import numpy as np
import pytest

from networks import threads
from surelearn.graph import Graph
from surelearn.learners.tasks.graph_features import GraphFeatures

PLAIN = Graph([[1.0, 2.0], [0.0, 3.0]], [[0, 1]])
FEATURED = Graph([[1.0, 2.0], [0.0, 3.0]], [[1, 0]], edge_features=[[5.0, 0.0, 7.0]])
TYPED = Graph([[1.0, 2.0], [0.0, 3.0], [4.0, 0.0]], [[0, 1], [1, 2]], edge_types=["b", "a"])
ALONE = Graph([[9.0, 9.0]], [])


def test_graphs_are_stacked_and_edges_keep_their_own_numbers():
    features = GraphFeatures(True).register([PLAIN, ALONE, PLAIN])
    table = features.table([PLAIN, ALONE, PLAIN])
    assert table.size == 3
    assert table.nodes.toarray().tolist() == [
        [1, 2, 1], [0, 3, 1], [9, 9, 1], [1, 2, 1], [0, 3, 1]
    ]  # fmt: skip
    assert table.node_bounds.tolist() == [0, 2, 3, 5]
    assert table.edge_bounds.tolist() == [0, 1, 1, 2]
    assert table.ends.tolist() == [[0, 1], [0, 1]]
    assert table.pairs.shape == (2, 0)
    assert (features.n_nodes, features.n_pairs, features.edges) == (3, 0, "no features")


def test_a_forest_is_told_from_loops():
    ring = Graph(np.zeros((3, 2)), [[0, 1], [1, 2], [2, 0]])
    features = GraphFeatures(True).register([PLAIN])
    assert features.table([PLAIN, ALONE, PLAIN]).is_forest
    table = features.table([PLAIN, ring, ALONE, PLAIN])
    assert not table.is_forest
    assert table.part(2, 4).is_forest
    assert not table.part(1, 2).is_forest


def test_types_are_sorted_columns_of_one():
    features = GraphFeatures(False).register([TYPED])
    assert features.edge_types.tolist() == ["a", "b"]
    table = features.table([TYPED, ALONE])
    assert table.pairs.toarray().tolist() == [[0, 1], [1, 0]]
    assert table.nodes.shape == (4, 2)
    more = features.register([Graph(np.zeros((2, 2)), [[0, 1]], edge_types=["aa"])])
    assert more.edge_types.tolist() == ["a", "aa", "b"]
    assert more.n_pairs == 3
    assert features.places_in(more).tolist() == [0, 2]


def test_features_of_edges_are_stacked():
    features = GraphFeatures(True).register([ALONE, FEATURED])
    assert features.edges == "features"
    assert features.table([FEATURED, ALONE]).pairs.toarray().tolist() == [[5, 0, 7]]


def test_a_part_has_some_of_the_graphs_and_all_of_the_nodes():
    X, _ = threads(5)
    table = GraphFeatures(True).register(X).table(X)
    part = table.part(2, 4)
    assert part.size == 2
    assert part.node_bounds.tolist() == [16, 24, 32]
    assert part.nodes is table.nodes


def test_the_largest_graph_decides_how_much_memory_is_needed():
    X, _ = threads(3)
    table = GraphFeatures(True).register(X).table(X)
    n_edges, needed = table.n_bytes(3)
    assert n_edges == 7
    assert needed >= 8 * (8 * 3 + 2 * 7 * 3)
    many = 1000  # labels: the table that all edges share is most of it
    assert table.n_bytes(many)[1] >= 2 * 8 * many**2
    types = [Graph(graph.nodes, graph.edges, edge_types=["x"] * 7) for graph in X]
    assert GraphFeatures(True).register(types).table(types).n_bytes(3)[1] >= needed + 8 * 7 * 9
    assert table.part(0, 0).n_bytes(3) == (0, 0)


@pytest.mark.parametrize(
    ("known", "other", "kind", "message"),
    [
        (PLAIN, Graph([[1.0]], []), ValueError, r"X\[0\].nodes must have 2 columns as in fit"),
        (PLAIN, FEATURED, ValueError, r"edges with no features as in fit, got features"),
        (TYPED, PLAIN, ValueError, r"edges with types as in fit, got no features"),
        (FEATURED, TYPED, ValueError, r"edges with features as in fit, got types"),
        (
            FEATURED,
            Graph(np.zeros((2, 2)), [[0, 1]], edge_features=[[1.0]]),
            ValueError,
            r"X\[0\].edge_features must have 3 columns as in fit, got 1",
        ),
        (
            TYPED,
            Graph(np.zeros((2, 2)), [[0, 1]], edge_types=[1]),
            TypeError,
            r"X\[0\].edge_types must be of the same kind as before, such as 'a', got 1",
        ),
    ],
)
def test_graphs_with_other_features_are_refused(known, other, kind, message):
    features = GraphFeatures(True).register([known])
    with pytest.raises(kind, match=message):
        features.check([other])
    with pytest.raises(kind, match=message.replace("as in fit", "like the graphs before it")):
        features.register([other])


@pytest.mark.parametrize(("other", "got"), [(FEATURED, "features"), (TYPED, "types")])
def test_edges_after_training_without_any_must_have_no_features(other, got):
    features = GraphFeatures(True).register([ALONE])
    features.check([ALONE, PLAIN])
    message = rf"X\[1\] must have edges with no features, as fit has seen no edge, got {got}"
    with pytest.raises(ValueError, match=message):
        features.check([PLAIN, other])
    assert features.register([other]).edges == got


def test_a_graph_without_edges_fits_all():
    for graph in (PLAIN, FEATURED, TYPED):
        features = GraphFeatures(True).register([graph])
        features.check([ALONE])
        assert features.register([ALONE]).n_edge_features == features.n_edge_features


def test_features_of_two_models():
    none, alone = GraphFeatures(True), GraphFeatures(True).register([ALONE])
    typed = GraphFeatures(True).register([TYPED])
    for one, other in ((none, typed), (typed, none), (alone, typed), (typed, alone)):
        both = one.united(other)
        assert (both.n_features, both.n_pairs) == (2, 2)
        assert both.edge_types.tolist() == ["a", "b"]
    wide = GraphFeatures(True).register([Graph([[1.0]], [])])
    with pytest.raises(ValueError, match="same n_features_in_ to be merged, got 2 and 1"):
        typed.united(wide)
    with pytest.raises(ValueError, match="same kind of edges to be merged"):
        typed.united(GraphFeatures(True).register([PLAIN]))
    narrow = Graph(np.zeros((2, 2)), [[0, 1]], edge_features=[[1.0]])
    with pytest.raises(ValueError, match="same n_edge_features_ to be merged, got 3 and 1"):
        GraphFeatures(True).register([FEATURED]).united(GraphFeatures(True).register([narrow]))

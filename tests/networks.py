"""Graphs with features that tests of classifiers of graphs share."""

from __future__ import annotations

import numpy as np

from surelearn.graph import Graph, grid, tree

LABELS = np.array(["a", "b", "c"])


def thread(random, n_nodes, **more):
    """A random tree whose nodes tend to have the label of their parent; features tell little."""
    parents = [-1, *(int(random.integers(0, i)) for i in range(1, n_nodes))]
    y = [int(random.integers(0, 3))]
    for parent in parents[1:]:
        y.append(y[parent] if random.random() < 0.8 else int(random.integers(0, 3)))
    nodes = 0.7 * np.eye(3)[y] + random.normal(size=(n_nodes, 3))
    return Graph(nodes, tree(parents), **more), LABELS[y]


def threads(n_graphs=60, seed=0, n_nodes=8):
    """Trees and their labels."""
    random = np.random.default_rng(seed)
    pairs = [thread(random, n_nodes) for _ in range(n_graphs)]
    return [graph for graph, _ in pairs], [y for _, y in pairs]


def pictures(n_graphs=20, seed=0, side=8):
    """Grids with a square of ones on zeros, seen through noise."""
    random = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n_graphs):
        at, size = random.integers(0, side // 2, 2), random.integers(3, side // 2 + 1)
        picture = np.zeros((side, side), np.int64)
        picture[at[0] : at[0] + size, at[1] : at[1] + size] = 1
        seen = picture.ravel() + random.normal(scale=0.8, size=side * side)
        X.append(Graph(seen[:, None], grid(side, side)))
        y.append(picture.ravel())
    return X, y


def typed(n_graphs=40, seed=0):
    """Pairs of nodes whose labels agree where the edge says so, and differ where it does not."""
    random = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n_graphs):
        first, alike = int(random.integers(0, 2)), bool(random.integers(0, 2))
        nodes = [[1.0 if first else -1.0], [0.0]]
        X.append(Graph(nodes, [[0, 1]], edge_types=["same" if alike else "other"]))
        y.append([first, first if alike else 1 - first])
    return X, y


def as_features(graph, types=("other", "same")):
    """A graph whose types of edges are columns of 0 and 1."""
    columns = np.asarray(graph.edge_types)[:, None] == np.asarray(types)
    return Graph(graph.nodes.toarray(), graph.edges, edge_features=columns.astype(float))

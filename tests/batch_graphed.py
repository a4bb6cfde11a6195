"""Batch classifiers of graphs next to the slow losses of the reference, for their tests."""

from __future__ import annotations

import numpy as np

from reference import losses
from strategies import Network
from surelearn.graph import Graph


def forests(n_graphs=6, n_pairs=1, seed=0):
    """Small trees with features of nodes and edges that float32 holds exactly, and labels."""
    random = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n_graphs):
        edges = [(0, 1), (2, 1), (1, 3)][: int(random.integers(1, 4))]
        nodes = random.integers(-16, 17, size=(len(edges) + 1, 2)) / 8
        pairs = random.integers(-16, 17, size=(len(edges), n_pairs)) / 8
        X.append(Graph(nodes, edges, edge_features=pairs))
        y.append([["a", "b", "c"][label] for label in random.integers(3, size=len(nodes))])
    return X, y


def examples(model, X, y, *, weight=None, cost=None):
    """All labellings of each graph, as the reference lists them."""
    weight = np.ones(len(X)) if weight is None else weight
    graphs = [_network(model, *one) for one in zip(X, y, weight, strict=True)]
    K = len(model.classes_)
    return losses.of_graphs(graphs, K, directed=model.directed, cost=cost)


def _network(model, x, labels, weight):
    nodes = x.nodes.toarray()
    if model.fit_intercept:
        nodes = np.hstack([nodes, np.ones((len(nodes), 1))])
    pairs = np.zeros((x.n_edges, 0)) if x.edge_features is None else x.edge_features.toarray()
    places = [model.classes_.tolist().index(label) for label in labels]
    return Network(nodes, [tuple(edge) for edge in x.edges.tolist()], pairs, places, weight)


def flat(model, what="means"):
    """Means or variances of a model, as the reference numbers its weights."""
    return getattr(model.model_.weights, what).T.astype(float).ravel()

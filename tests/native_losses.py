"""The core's batch losses of arrays: rows, chains and graphs, for the tests that judge them."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from reference.losses import Chain
from surelearn import _core
from surelearn.graph import Graph
from surelearn.learners.tasks.graph_features import GraphFeatures
from surelearn.rows import rows_of


def row_loss(X, y, n_classes, weight=None, intercept=True):
    columns = 1 if n_classes == 2 else n_classes
    y = np.asarray(y, np.int32)
    return _core.RowLoss(rows_of(X), y, weight, columns, intercept)


def chain_rows(chains):
    """Tokens, pair features and bounds as the core reads them: float32, and int32 for indices."""
    tokens, pairs = (
        rows_of(sparse.csr_array(np.vstack([getattr(chain, name) for chain in chains], dtype="f4")))
        for name in ("tokens", "pairs")
    )
    bounds = np.cumsum([0, *(len(chain.y) for chain in chains)])
    return tokens, pairs, bounds.astype(np.int64)


def tags(chains):
    return np.concatenate([np.asarray(chain.y, np.int32) for chain in chains])


def chain_loss(chains, n_labels, cells=(None, None)):
    weight = np.array([chain.weight for chain in chains])
    return _core.SequenceLoss(*chain_rows(chains), tags(chains), weight, n_labels, *cells)


def graph_arrays(graphs, *, directed=True, damping=0.3, tol=1e-12, max_sweeps=1000):
    """Graphs of `strategies.Network` as the core reads them."""
    features = GraphFeatures(False, graphs[0].nodes.shape[1], graphs[0].pairs.shape[1])
    listed = [Graph(g.nodes, g.edges, edge_features=g.pairs if g.edges else None) for g in graphs]
    how = {"damping": damping, "tol": tol, "max_sweeps": max_sweeps}
    return features.table(listed).core(directed=directed, **how)


def graph_loss(graphs, n_labels, **how):
    weight = np.array([graph.weight for graph in graphs])
    return _core.GraphLoss(graph_arrays(graphs, **how), tags(graphs), weight, n_labels)


def log_of(loss, w, threads=1):
    gradient = np.full(loss.n_weights, np.nan)
    return loss.log_loss(w, gradient, threads), gradient


def curvature_of(loss, w, threads=1):
    out = np.full(loss.n_weights, np.nan)
    loss.curvature(w, out, threads)
    return out


def some_rows(n, n_classes, seed=0):
    random = np.random.default_rng(seed)
    X = sparse.random_array((n, 12), density=0.4, rng=random, format="csr")
    return X, random.integers(n_classes, size=n), random.uniform(0.5, 2.0, size=n)


def some_chains(n, n_labels, n_pairs=1, seed=0):
    """Chains of up to six tokens, whose features float32 holds exactly."""
    random = np.random.default_rng(seed)
    lengths = random.integers(0, 7, size=n)
    return [
        Chain(
            random.integers(-16, 17, size=(length, 3)) / 8,
            random.integers(-16, 17, size=(length, n_pairs)) / 8,
            random.integers(n_labels, size=length),
            random.uniform(0.5, 2.0),
        )
        for length in lengths
    ]

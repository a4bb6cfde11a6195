"""The lecture's batch losses by listing all outputs; knows joint features only.

An output z of an example has the score w.Psi(x, z) and costs Delta(y, z). The losses:

    log:    log sum_z exp(w.Psi(x, z)) - w.Psi(x, y)
    hinge:  max_z Delta(y, z) - w.(Psi(x, y) - Psi(x, z))          (eq. 20)

The outputs of a row are its classes, those of a chain all its paths (K^T of them). A weight has the
place that the core gives it: table row times columns plus column. The table of a chain has the rows
start, end, one for each pair feature (the constant one first) and previous label, then the tokens'.
That of a graph has one for each edge feature (the constant one first) and label of the edge's first
node, then the nodes'.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np


class Example(NamedTuple):
    """All outputs of an example: Psi(x, z) is the sum of its parts."""

    parts: np.ndarray  # of shape (n_parts, n_outputs, n_weights)
    delta: np.ndarray  # Delta(y, z) of each output
    y: int  # the right one among the outputs
    weight: float = 1.0

    @property
    def psi(self) -> np.ndarray:
        return self.parts.sum(axis=0)

    @property
    def differences(self) -> np.ndarray:
        """g = Psi(x, y) - Psi(x, z) of each output z."""
        return self.psi[self.y] - self.psi

    def predicted(self, w: np.ndarray) -> int:
        """The output of the highest score (eq. 17)."""
        return int(np.argmax(self.psi @ w))


class Chain(NamedTuple):
    """A sequence: features of its tokens and of the step to each; the first step is not used."""

    tokens: np.ndarray  # of shape (T, n_features)
    pairs: np.ndarray  # of shape (T, n_pair_features)
    y: Sequence[int]
    weight: float = 1.0


# ------------------------------------------------------------------------- losses


def log_loss(examples: Sequence[Example], w: np.ndarray) -> tuple[float, np.ndarray]:
    """Sum of the log losses, and its gradient: expected minus observed features (eq. 25 to 30)."""
    value, gradient = [], np.zeros(len(w))
    for example in examples:
        scores = example.psi @ w
        top = scores.max()
        log_z = top + math.log(math.fsum(np.exp(scores - top)))
        value.append(example.weight * (log_z - scores[example.y]))
        expected = np.exp(scores - log_z) @ example.psi
        gradient += example.weight * (expected - example.psi[example.y])
    return math.fsum(value), gradient


def curvature(examples: Sequence[Example], w: np.ndarray) -> np.ndarray:
    """The variance of each feature, summed over parts: the Hessian's diagonal if parts are
    independent. A row has one part, so there it is exact."""
    found = np.zeros(len(w))
    for example in examples:
        scores = example.psi @ w
        p = np.exp(scores - scores.max())
        p /= p.sum()
        for part in example.parts:
            found += example.weight * (p @ (part - p @ part) ** 2)
    return found


def hinge_loss(examples: Sequence[Example], w: np.ndarray) -> tuple[float, np.ndarray]:
    """Sum of the hinge losses and a sub-gradient."""
    value, gradient = [], np.zeros(len(w))
    for example in examples:
        g = example.differences
        losses = example.delta - g @ w
        worst = int(losses.argmax())
        value.append(example.weight * losses[worst])
        gradient -= example.weight * g[worst]
    return math.fsum(value), gradient


# ----------------------------------------------------------------------- examples


def of_rows(
    X: np.ndarray,
    y: Sequence[int],
    n_classes: int,
    *,
    weight: Sequence[float] | None = None,
    intercept: bool = True,
    cost: np.ndarray | None = None,
) -> list[Example]:
    """An example for each row: Psi(x, z) has x in the column of z (eq. 5, the multivector form).

    Two classes have one column, which is that of the second: its score is w.x, the other's is 0.
    """
    X = np.hstack([X, np.ones((len(X), 1))]) if intercept else np.asarray(X)
    column = np.eye(n_classes) if n_classes > 2 else np.array([[0.0], [1.0]])
    cost = zero_one(n_classes) if cost is None else cost
    weights = np.ones(len(X)) if weight is None else weight
    return [
        Example((x[:, None] * column[:, None]).reshape(1, n_classes, -1), cost[label], label, v)
        for x, label, v in zip(X, y, weights, strict=True)
    ]


def of_chains(
    chains: Sequence[Chain],
    n_labels: int,
    *,
    cells: np.ndarray | None = None,
    cost: np.ndarray | None = None,
) -> list[Example]:
    """An example for each chain; only `cells` (places in the whole table) have a weight."""
    cost = zero_one(n_labels) if cost is None else cost
    return [_of_chain(chain, n_labels, cells, cost) for chain in chains]


def _of_chain(chain: Chain, n_labels: int, cells: np.ndarray | None, cost: np.ndarray) -> Example:
    paths = list(itertools.product(range(n_labels), repeat=len(chain.y)))
    n_rows = 2 + (chain.pairs.shape[1] + 1) * n_labels + chain.tokens.shape[1]
    parts = np.zeros((len(chain.y), len(paths), n_rows, n_labels))
    for number, path in enumerate(paths):
        for t in range(len(path)):
            _add_token(parts[t, number], chain, path, t)
    flat = parts.reshape(*parts.shape[:2], n_rows * n_labels)
    delta = np.array([sum(cost[a, b] for a, b in zip(chain.y, p, strict=True)) for p in paths])
    kept = flat if cells is None else flat[:, :, cells]
    return Example(kept, delta.astype(float), paths.index(tuple(chain.y)), chain.weight)


def _add_token(table: np.ndarray, chain: Chain, path: Sequence[int], t: int) -> None:
    """Add Psi_t (eq. 23): what token t and the step to it touch."""
    n_labels, label = table.shape[1], path[t]
    n_chain_rows = len(table) - chain.tokens.shape[1]
    table[n_chain_rows:, label] += chain.tokens[t]
    if t == 0:
        table[0, label] += 1.0
    else:
        steps = np.concatenate([[1.0], chain.pairs[t]])
        table[2 + path[t - 1] : n_chain_rows : n_labels, label] += steps
    if t == len(path) - 1:
        table[1, label] += 1.0


def of_graphs(
    graphs: Sequence[Any], n_labels: int, *, directed: bool = True, cost: np.ndarray | None = None
) -> list[Example]:
    """An example for each graph, which has nodes, edges, pairs, y and weight; its parts are nodes
    and edges. If not directed, the two labels of an edge are sorted."""
    cost = zero_one(n_labels) if cost is None else cost
    return [_of_graph(graph, n_labels, directed, cost) for graph in graphs]


def _of_graph(graph: Any, n_labels: int, directed: bool, cost: np.ndarray) -> Example:
    n_nodes, first = len(graph.y), (graph.pairs.shape[1] + 1) * n_labels
    every = list(itertools.product(range(n_labels), repeat=n_nodes))
    shape = n_nodes + len(graph.edges), len(every), first + graph.nodes.shape[1], n_labels
    parts = np.zeros(shape)
    for number, z in enumerate(every):
        for i, label in enumerate(z):
            parts[i, number, first:, label] = graph.nodes[i]
        for e, (a, b) in enumerate(graph.edges):
            i, j = (z[a], z[b]) if directed else sorted((z[a], z[b]))
            parts[n_nodes + e, number, i:first:n_labels, j] = [1.0, *graph.pairs[e]]
    delta = np.array([sum(cost[a, b] for a, b in zip(graph.y, z, strict=True)) for z in every])
    flat = parts.reshape(*shape[:2], shape[2] * n_labels)
    return Example(flat, delta.astype(float), every.index(tuple(graph.y)), graph.weight)


def zero_one(n_labels: int) -> np.ndarray:
    """The cost 1 of every mistake (eq. 16); over chains it adds up to the Hamming distance."""
    return 1.0 - np.eye(n_labels)


def observed(chains: Sequence[Chain], n_labels: int) -> np.ndarray:
    """Places of the table that the right paths touch, in order."""
    examples = of_chains(chains, n_labels)
    touched = np.any([(e.parts[:, e.y] != 0).any(axis=0) for e in examples], axis=0)
    return np.flatnonzero(touched)

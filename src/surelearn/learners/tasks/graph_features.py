"""Graphs as numbers: the features of nodes and edges in one table each; learns nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check, _core
from surelearn.graph import Graph
from surelearn.learners.tasks.structures import known_places
from surelearn.merging import merged_classes
from surelearn.rows import rows_of


class GraphTable(NamedTuple):
    """Many graphs: graph i has the nodes ``node_bounds[i]`` to ``node_bounds[i + 1]``.

    The bounds may be those of some of the graphs: nodes and edges are those of all.
    """

    nodes: sparse.csr_array  # features of all nodes
    pairs: sparse.csr_array  # features of all edges, without the constant one
    node_bounds: NDArray[np.int64]
    edge_bounds: NDArray[np.int64]
    ends: NDArray[np.int32]  # of the edges: numbers of nodes within their graph

    @property
    def size(self) -> int:
        return len(self.node_bounds) - 1

    @property
    def is_forest(self) -> bool:
        """Whether no graph has a loop: an edge each joins two trees."""
        from scipy.sparse.csgraph import connected_components  # slow to import

        first = np.repeat(self.node_bounds[:-1], np.diff(self.edge_bounds))
        begin, end = self.edge_bounds[[0, -1]]
        ends = (self.ends[begin:end] + first[:, None]).T
        n = int(self.node_bounds[-1])
        joined = sparse.coo_array((np.ones(end - begin), ends), shape=(n, n))
        return bool(connected_components(joined)[0] == n - (end - begin))

    def part(self, begin: int, end: int) -> GraphTable:
        """Some of the graphs."""
        return self._replace(
            node_bounds=self.node_bounds[begin : end + 1],
            edge_bounds=self.edge_bounds[begin : end + 1],
        )

    def core(self, **how: Any) -> _core.GraphArrays:
        """The same in the form of the core; `how` says how messages are sent."""
        rows = rows_of(self.nodes), rows_of(self.pairs)
        return _core.GraphArrays(*rows, self.node_bounds, self.edge_bounds, self.ends, **how)

    def n_bytes(self, n_labels: int) -> tuple[int, int]:
        """Edges of the largest graph, and the bytes that its scores and messages take."""
        if not self.size:
            return 0, 0
        K, shared = n_labels, self.pairs.shape[1] == 0  # without features edges share a table
        nodes, edges = np.diff(self.node_bounds), np.diff(self.edge_bounds)
        tables = 1 if shared else edges
        each = 8 * (4 * K * nodes + (2 * K + 12) * edges + 2 * K**2 * tables)
        largest = int(each.argmax())
        return int(edges[largest]), int(each[largest])


@dataclass(frozen=True, eq=False)
class GraphFeatures:
    """Which features nodes and edges have.

    Parameters
    ----------
    intercept : bool
        Whether nodes have a last feature that is 1.
    n_features : int or None
        Features of a node, without the intercept; None: no graph is known yet.
    n_edge_features : int or None
        Features of an edge, or the number of types; None: no edge is known yet.
    edge_types : ndarray or None
        The types of edges, sorted; None: edges have no types.
    """

    intercept: bool
    n_features: int | None = None
    n_edge_features: int | None = None
    edge_types: NDArray[Any] | None = None

    @property
    def n_pairs(self) -> int:
        """Features of an edge that have weights, without the constant one."""
        return self.n_edge_features or 0

    @property
    def n_nodes(self) -> int:
        """Features of a node that have weights."""
        return (self.n_features or 0) + self.intercept

    @property
    def edges(self) -> str:
        """What edges have, in words."""
        if self.edge_types is not None:
            return "types"
        return "features" if self.n_edge_features else "no features"

    def register(self, graphs: Sequence[Graph]) -> GraphFeatures:
        """These features with those of more graphs; only types may be new."""
        found = self
        for i, graph in enumerate(graphs):
            found = found._with(graph, i, "like the graphs before it")
        return found

    def _with(self, graph: Graph, i: int, like: str) -> GraphFeatures:
        """These features with those of one graph; `like` tells what it must be like."""
        found, width = self, graph.nodes.shape[1]
        if found.n_features is None:
            found = replace(found, n_features=width)
        assert found.n_features is not None
        _same_width("nodes", found.n_features, width, i, like=like)
        if not graph.n_edges:
            return found
        if found.n_edge_features is None:
            found = replace(found, **_edges_of(graph))
        got = GraphFeatures(False, **_edges_of(graph)).edges
        if found.edges != got:
            raise ValueError(f"X[{i}] must have edges with {found.edges} {like}, got {got}.")
        if graph.edge_features is not None:
            width = graph.edge_features.shape[1]
            _same_width("edge_features", found.n_pairs, width, i, like=like)
        return found._with_types(graph, i)

    def _with_types(self, graph: Graph, i: int) -> GraphFeatures:
        if graph.edge_types is None or self.edge_types is None:
            return self
        known, new = self.edge_types, graph.edge_types
        if len(known) and len(new) and _check.kind_of(known[0]) != _check.kind_of(new[0]):
            raise TypeError(
                f"X[{i}].edge_types must be of the same kind as before, such as "
                f"{known.tolist()[0]!r}, got {new.tolist()[0]!r}."
            )
        if np.isin(graph.edge_types, self.edge_types).all():
            return self
        types = merged_classes(self.edge_types, np.unique(graph.edge_types))
        return replace(self, edge_types=types, n_edge_features=len(types))

    def check(self, graphs: Sequence[Graph]) -> None:
        """Refuse graphs with other features, or with other types of edges."""
        for i, graph in enumerate(graphs):
            if self.n_features is None:
                width = graph.nodes.shape[1]
                columns = "1 column" if width == 1 else f"{width} columns"
                raise ValueError(
                    f"X[{i}].nodes must have features that training has seen, got {columns} before "
                    "any graph. Call fit, or partial_fit with graphs."
                )
            self._with(graph, i, "as in fit")
            if graph.n_edges and self.n_edge_features is None:
                got = GraphFeatures(False, **_edges_of(graph)).edges
                if got != "no features":
                    raise ValueError(
                        f"X[{i}] must have edges with no features, as fit has seen no edge, got "
                        f"{got}."
                    )
            if graph.edge_types is not None and self.edge_types is not None:
                strange = graph.edge_types[~np.isin(graph.edge_types, self.edge_types)]
                if len(strange):
                    known = _check.listing(self.edge_types.tolist())
                    raise ValueError(
                        f"X[{i}].edge_types must be among {known} as in fit, got "
                        f"{strange.tolist()[0]!r}."
                    )

    def table(self, graphs: Sequence[Graph]) -> GraphTable:
        """The features of graphs, which have been met or checked."""
        n_nodes = [graph.n_nodes for graph in graphs]
        n_edges = [graph.n_edges for graph in graphs]
        nodes = _stacked([graph.nodes for graph in graphs], self.n_features or 0)
        if self.intercept:
            one = sparse.csr_array(np.ones((nodes.shape[0], 1), np.float32))
            nodes = sparse.csr_array(sparse.hstack([nodes, one], format="csr"))
        pairs = _stacked([self._pairs(graph) for graph in graphs], self.n_pairs)
        ends = np.concatenate([np.zeros((0, 2), np.int32), *(graph.edges for graph in graphs)])
        return GraphTable(_narrow(nodes), _narrow(pairs), _bounds(n_nodes), _bounds(n_edges), ends)

    def _pairs(self, graph: Graph) -> sparse.csr_array:
        """The features of a graph's edges."""
        if graph.edge_features is not None and self.n_edge_features is not None:
            return graph.edge_features
        m = graph.n_edges
        if graph.edge_types is None or self.edge_types is None:
            return sparse.csr_array((m, self.n_pairs), dtype=np.float32)
        places = np.searchsorted(self.edge_types, graph.edge_types)
        parts = np.ones(m, np.float32), places, np.arange(m + 1)
        return sparse.csr_array(parts, shape=(m, self.n_pairs))

    # ------------------------------------------------------------------ merging

    def united(self, other: GraphFeatures) -> GraphFeatures:
        """The features of two models, which must agree except for types."""
        n_features = other.n_features if self.n_features is None else self.n_features
        if other.n_features is not None:
            _check.agree("n_features_in_", n_features, other.n_features)
        if self.n_edge_features is None or other.n_edge_features is None:
            known = other if self.n_edge_features is None else self
            return replace(known, n_features=n_features)
        _check.agree("kind of edges", self.edges, other.edges)
        if self.edge_types is None or other.edge_types is None:
            _check.agree("n_edge_features_", self.n_edge_features, other.n_edge_features)
            return replace(self, n_features=n_features)
        types = merged_classes(self.edge_types, other.edge_types)
        return replace(self, n_features=n_features, edge_types=types, n_edge_features=len(types))

    def places_in(self, other: GraphFeatures) -> NDArray[np.int64]:
        """The numbers of these features of edges among the other's."""
        if self.edge_types is None or other.edge_types is None:
            return np.arange(self.n_pairs, dtype=np.int64)
        return known_places(other.edge_types, self.edge_types)


def _edges_of(graph: Graph) -> dict[str, Any]:
    """What the edges of a graph have."""
    if graph.edge_types is not None:
        types = np.unique(graph.edge_types)
        return {"n_edge_features": len(types), "edge_types": types}
    features = graph.edge_features
    return {"n_edge_features": 0 if features is None else features.shape[1]}


def _stacked(tables: list[sparse.csr_array], width: int) -> sparse.csr_array:
    empty = sparse.csr_array((0, width), dtype=np.float32)
    kept = [table for table in tables if table.shape[0]]
    return sparse.csr_array(sparse.vstack([empty, *kept], format="csr"), dtype=np.float32)


def _narrow(table: sparse.csr_array) -> sparse.csr_array:
    """A table with 32-bit indices, as the core takes features of structures."""
    parts = table.data, table.indices.astype(np.int32), table.indptr.astype(np.int32)
    return sparse.csr_array(parts, shape=table.shape)


def _bounds(sizes: list[int]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def _same_width(name: str, known: int, got: int, graph: int, *, like: str) -> None:
    """Refuse a graph with other features than those before."""
    if known != got:
        raise ValueError(f"X[{graph}].{name} must have {known} columns {like}, got {got}.")

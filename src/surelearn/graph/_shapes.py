"""Graphs with features of nodes and edges, and the edges of common shapes; must not know scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from surelearn import _check
from surelearn.graph import _checks
from surelearn.rows import checked_matrix


class Graph:
    """One example of `SureGraphClassifier`: nodes and edges with features.

    Parameters
    ----------
    nodes : array or CSR matrix of shape (n_nodes, n_features)
        Features of the nodes. They are kept in single precision.
    edges : array of int of shape (n_edges, 2)
        Pairs of nodes that are joined, each pair once. The order within a pair matters if the
        classifier is ``directed``: from cause to effect, from parent to child, from left to right.
    edge_features : array or CSR matrix of shape (n_edges, n_edge_features), optional
        Features of the edges.
    edge_types : list of str or int of length n_edges, optional
        In place of features: the type of each edge.

    Attributes
    ----------
    nodes : csr_array of shape (n_nodes, n_features)
        The features as they are kept. A graph made from it counts as sparse, even if these nodes
        came as a dense array: pass ``nodes.toarray()`` for the same ``projection="auto"``.
    is_sparse : bool
        Whether the features of nodes came as a sparse matrix.

    Examples
    --------
    >>> from surelearn.graph import Graph, tree
    >>> Graph([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], tree([-1, 0, 0]))
    Graph(n_nodes=3, n_edges=2, n_features=2)
    """

    def __init__(
        self,
        nodes: Any,
        edges: ArrayLike,
        *,
        edge_features: Any = None,
        edge_types: Any = None,
    ) -> None:
        self.is_sparse = sparse.issparse(nodes)
        self.nodes = _single("nodes", nodes)
        self.edges = _checks.edges(edges, self.n_nodes)
        self.edge_features: sparse.csr_array | None = None
        self.edge_types: NDArray[Any] | None = None
        if edge_features is not None and edge_types is not None:
            raise TypeError(
                "edge_features and edge_types must not be given together, got both. Write the "
                "types as columns of 0 and 1 beside the features."
            )
        if edge_features is not None:
            self.edge_features = _single("edge_features", edge_features)
            _checks.one_for_each_edge("edge_features", self.edge_features.shape[0], self.n_edges)
        if edge_types is not None:
            self.edge_types = _checks.edge_types(edge_types, self.n_edges)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.nodes.shape[0])

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self.edges)

    def __repr__(self) -> str:
        return (
            f"Graph(n_nodes={self.n_nodes}, n_edges={self.n_edges}, "
            f"n_features={self.nodes.shape[1]})"
        )


def grid(height: int, width: int) -> NDArray[np.int32]:
    """The edges of a grid, such as the pixels of an image; node ``i * width + j`` is in row i.

    Parameters
    ----------
    height, width : int

    Returns
    -------
    ndarray of int of shape (n_edges, 2)
        First the edges from left to right, then those from top to bottom.

    Examples
    --------
    >>> from surelearn.graph import grid
    >>> grid(2, 2).tolist()
    [[0, 1], [2, 3], [0, 2], [1, 3]]
    """
    shape = _check.count("height", height, least=0), _check.count("width", width, least=0)
    n_nodes, most = shape[0] * shape[1], 2**31 - 1  # what an edge can name
    if n_nodes > most:
        raise ValueError(f"height times width must be at most {most}, got {n_nodes} nodes.")
    number = np.arange(n_nodes, dtype=np.int32).reshape(shape)
    across = np.stack([number[:, :-1], number[:, 1:]], axis=-1).reshape(-1, 2)
    down = np.stack([number[:-1], number[1:]], axis=-1).reshape(-1, 2)
    return np.concatenate([across, down])


def tree(parents: ArrayLike) -> NDArray[np.int32]:
    """The edges of a tree, or of several: from the parent of each node to the node.

    Parameters
    ----------
    parents : list of int of length n_nodes
        The parent of each node; -1 for a root.

    Returns
    -------
    ndarray of int of shape (n_edges, 2)

    Examples
    --------
    >>> from surelearn.graph import tree
    >>> tree([-1, 0, 0, 1]).tolist()
    [[0, 1], [0, 2], [1, 3]]
    """
    found = _checks.parents(parents)
    children = np.flatnonzero(found >= 0)
    return np.stack([found[children], children], axis=1).astype(np.int32)


def _single(name: str, value: Any) -> sparse.csr_array:
    """Checked features in single precision, with sorted indices of 32 bits and no duplicates."""
    matrix = checked_matrix(name, value)
    too_large = matrix.data[np.abs(matrix.data) > np.finfo(np.float32).max]
    if len(too_large):
        raise ValueError(f"{name} must be finite in single precision, got {too_large[0]}.")
    single = sparse.csr_array(matrix, dtype=np.float32, copy=True)
    single.sum_duplicates()
    single.eliminate_zeros()
    return single

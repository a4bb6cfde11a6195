"""What messages on graphs have found, and whether they have converged; computes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: One array where all nodes, or edges, have the same number of labels; else a list of arrays.
PerNode = NDArray[np.float64] | list[NDArray[np.float64]]


@dataclass(frozen=True, repr=False, eq=False)
class Convergence:
    """How far messages have come.

    Attributes
    ----------
    converged : bool
        Whether the residual is at most `tol`; always on a forest.
    residual : float
        The largest change that a message would still make; 0 on a forest.
    n_sweeps : float
        Messages sent, divided by the number of all messages; a residual schedule sends some of them
        more often than others.
    is_exact : bool
        Whether the graph, without the nodes of known labels, is a forest: then the answer is exact.
        On a graph with loops it is an approximation, even after convergence.
    """

    converged: bool
    residual: float
    n_sweeps: float
    is_exact: bool

    def _state(self) -> str:
        """The state in words, for the repr."""
        if self.is_exact:
            return "exact"
        state = "converged" if self.converged else "NOT CONVERGED"
        return f"{state}: residual {self.residual:.3g} after {self.n_sweeps:.3g} sweeps"


@dataclass(frozen=True, repr=False, eq=False)
class BestLabelling(Convergence):
    """The labelling of the largest score; see `FactorGraph.max_product`.

    Attributes
    ----------
    labels : ndarray of int of shape (n_nodes,)
    score : float
        The score of these labels.
    max_marginals : ndarray of shape (n_nodes, n_labels), or list of arrays
        For each label of each node the score of the best labelling with it, minus that of the best
        of all: 0 for the best label. The next best entry of a node tells by how much it leads.

    Examples
    --------
    >>> from surelearn.graph import FactorGraph
    >>> factors = FactorGraph([[0.0, 1.0], [0.5, 0.0]], [[0, 1]], [[1.0, 0.0], [0.0, 1.0]])
    >>> best = factors.max_product()
    >>> best.labels, best.score, best.is_exact
    (array([1, 1], dtype=int32), 2.0, True)
    """

    labels: NDArray[np.int32]
    score: float
    max_marginals: PerNode

    def __repr__(self) -> str:
        return f"BestLabelling(n_nodes={len(self.labels)}, score={self.score:.6g}, {self._state()})"


@dataclass(frozen=True, repr=False, eq=False)
class Marginals(Convergence):
    """The probabilities of labels; see `FactorGraph.sum_product`.

    Attributes
    ----------
    marginals : ndarray of shape (n_nodes, n_labels), or list of arrays
        The probability of each label of each node.
    pair_marginals : ndarray of shape (n_edges, n_labels, n_labels), or list of arrays
        The probability of each pair of labels of each edge.
    log_partition : float
        log Z, the logarithm of the sum of exp(score) over all labellings; with loops that of Bethe.

    Examples
    --------
    >>> from surelearn.graph import FactorGraph
    >>> factors = FactorGraph([[0.0, 1.0], [0.5, 0.0]], [[0, 1]], [[1.0, 0.0], [0.0, 1.0]])
    >>> factors.sum_product().marginals.round(3)
    array([[0.316, 0.684],
           [0.517, 0.483]])
    """

    marginals: PerNode
    pair_marginals: PerNode
    log_partition: float

    def __repr__(self) -> str:
        return (
            f"Marginals(n_nodes={len(self.marginals)}, log_partition={self.log_partition:.6g}, "
            f"{self._state()})"
        )


class GraphReport(NamedTuple):
    """Which answers of a model to trust; see `SureGraphClassifier.predict`.

    Attributes
    ----------
    converged : ndarray of bool of shape (n_graphs,)
        Whether the messages on each graph have converged; always on a forest.
    residual : ndarray of shape (n_graphs,)
        The largest change that a message would still make; 0 on a forest.

    Examples
    --------
    >>> from surelearn import SureGraphClassifier
    >>> from surelearn.graph import Graph, tree
    >>> X = [Graph([[1.0], [1.0]], tree([-1, 0])), Graph([[-1.0], [-1.0]], tree([-1, 0]))]
    >>> clf = SureGraphClassifier(random_state=0).fit(X, [["a", "a"], ["b", "b"]])
    >>> labels, report = clf.predict(X, report=True)
    >>> report.converged
    array([ True,  True])
    """

    converged: NDArray[np.bool_]
    residual: NDArray[np.float64]

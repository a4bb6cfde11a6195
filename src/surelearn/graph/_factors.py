"""Scores of labels on a graph, messages over them, and what the messages have found."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surelearn import _check, _core
from surelearn.graph import _checks

Array = NDArray[np.float64]

#: The most bytes that messages and tables may take; None means the memory available at that time.
MEMORY_LIMIT: int | None = None


class FactorGraph:
    r"""Scores of all labellings of a graph.

    .. math:: s(y) = \sum_i u_i(y_i) + \sum_{(a, b) \in E} t_{ab}(y_a, y_b), \qquad
        Pr[y] = \exp(s(y)) / Z

    A label is a number, from 0 and below the number of the node's labels. A score of -inf forbids a
    label or a pair of labels. On a graph with loops messages may miss a labelling that is possible:
    `max_product` and `k_best` then say that they have found none. They may also miss that none is
    possible: `sum_product` then returns probabilities all the same. The graph does not change:
    every method may be called from many threads.

    Parameters
    ----------
    unary : array of shape (n_nodes, n_labels), or list of arrays
        Score of each label of each node. Arrays in a list may have any lengths.
    edges : array of int of shape (n_edges, 2)
        Pairs of nodes that are joined, each pair once.
    pairwise : array of shape (n_labels, n_labels) or (n_edges, n_labels, n_labels), or list of them
        Score of each pair of labels: one table for all edges, or one for each. A table has a row
        for each label of the first node of the edge, and a column for each of the second.

    References
    ----------
    Pearl 1988, Probabilistic reasoning in intelligent systems (trees). Kschischang, Frey & Loeliger
    2001, Factor graphs and the sum-product algorithm. Elidan, McGraw & Koller 2006, Residual belief
    propagation. Yedidia, Freeman & Weiss 2005, Constructing free energy approximations (Bethe).

    Examples
    --------
    >>> from surelearn.graph import FactorGraph
    >>> factors = FactorGraph([[0.0, 1.0], [0.5, 0.0, 0.2]], [[0, 1]], [[[0, 0, 0], [0, 2, 0]]])
    >>> factors.max_product()
    BestLabelling(n_nodes=2, score=3, exact)
    >>> factors.max_product(evidence={0: 0}).labels
    array([0, 0], dtype=int32)
    >>> factors.k_best(2)
    array([[1, 1],
           [1, 0]], dtype=int32)
    """

    def __init__(self, unary: Any, edges: ArrayLike, pairwise: Any) -> None:
        sizes, scores = _checks.unary_scores(unary)
        ends = _checks.edges(edges, len(sizes))
        tables, table_of = _checks.pairwise_scores(pairwise, sizes, ends)
        self._factors = _Factors(sizes, scores, ends, tables, table_of)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self._factors.sizes)

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self._factors.edges)

    @cached_property
    def is_forest(self) -> bool:
        """Whether the graph has no loop: answers are then exact."""
        forest: bool = _core.Graph(*self._factors).is_forest
        return forest

    def __repr__(self) -> str:
        return f"FactorGraph(n_nodes={self.n_nodes}, n_edges={self.n_edges})"

    def max_product(
        self,
        *,
        evidence: Mapping[int, int] | None = None,
        damping: float = 0.3,
        tol: float = 1e-6,
        max_sweeps: int = 200,
    ) -> BestLabelling:
        """The labelling of the largest score: exact on a forest, in two sweeps.

        With loops, messages are sent again while they change by more than `tol`, those that change
        most first. The labels found are then good ones, not always the best.

        Parameters
        ----------
        evidence : dict of {node: label}, optional
            Labels that are known. A loop through such a node is cut.
        damping : float in [0, 1), default 0.3
            How much of the old message is kept where a new one is sent; on loops only.
        tol : float, default 1e-6
            Messages that would change by no more are not sent.
        max_sweeps : int, default 200
            How often each message may be sent, on average. A `ConvergenceWarning` tells if they
            still change then, and the result is marked.

        Returns
        -------
        BestLabelling
        """
        solved = self._solve("max", evidence, _check.message_limits(damping, tol, max_sweeps))
        labels = solved.core.best()
        score = solved.possible(self._factors.score(labels))
        beliefs = _cut_by_node(solved.core.beliefs("max"), self._factors.sizes)
        return BestLabelling(*solved.state, labels, score, beliefs)

    def sum_product(
        self,
        *,
        evidence: Mapping[int, int] | None = None,
        damping: float = 0.3,
        tol: float = 1e-6,
        max_sweeps: int = 200,
    ) -> Marginals:
        """The probability of each label, and log Z: exact on a forest, in two sweeps.

        With loops they are the approximations of loopy belief propagation and of Bethe.

        Parameters
        ----------
        evidence, damping, tol, max_sweeps
            As in `max_product`.

        Returns
        -------
        Marginals
        """
        solved = self._solve("sum", evidence, _check.message_limits(damping, tol, max_sweeps))
        log_partition = solved.possible(solved.core.log_partition())
        flat, sizes = solved.core.beliefs("sum"), self._factors.sizes
        pairs = solved.pairs(self._factors, flat)
        return Marginals(*solved.state, _cut_by_node(flat, sizes), pairs, log_partition)

    def k_best(
        self,
        k: int,
        *,
        evidence: Mapping[int, int] | None = None,
        damping: float = 0.3,
        tol: float = 1e-6,
        max_sweeps: int = 200,
    ) -> NDArray[np.int32]:
        """The k labellings of the largest scores, best first; exact on a forest.

        Parameters
        ----------
        k : int
        evidence, damping, tol, max_sweeps
            As in `max_product`.

        Returns
        -------
        ndarray of int of shape (k, n_nodes)
            All possible labellings where there are fewer.

        References
        ----------
        Yanover & Weiss 2003, Finding the M most probable configurations using loopy belief
        propagation.
        """
        number = _check.count("k", k)
        solved = self._solve("max", evidence, _check.message_limits(damping, tol, max_sweeps))
        solved.possible(self._factors.score(solved.core.best()))
        found: NDArray[np.int32] = solved.core.k_best(number)
        return found

    def score(self, labels: ArrayLike) -> float:
        """The score of one labelling.

        Parameters
        ----------
        labels : array of int of shape (n_nodes,)

        Returns
        -------
        float
        """
        return self._factors.score(_checks.labelling(labels, self._factors.sizes))

    def _solve(
        self, kind: str, evidence: Mapping[int, int] | None, limits: tuple[float, float, int]
    ) -> _Solved:
        known = _checks.evidence(evidence, self._factors.sizes)
        factors, kept = _given(self._factors, known)
        needed = factors.n_bytes() + (self._factors.pair_bytes(kept) if kind == "sum" else 0)
        _check.graph_fits(len(kept), needed, MEMORY_LIMIT)
        core = _core.Graph(*factors)
        converged, residual, n_sweeps = core.solve(kind, *limits)
        if not converged:
            _warn(f"{kind}_product", residual, limits)
        state = converged, residual, n_sweeps, core.is_forest
        return _Solved(core, kept, state, given=bool(known))


class _Factors(NamedTuple):
    """Scores as the core takes them."""

    sizes: NDArray[np.int64]  # labels of each node
    unary: Array  # node after node
    edges: NDArray[np.int32]
    tables: Array  # in C order, one after the other
    table_of: NDArray[np.int64]  # where the table of each edge begins

    def starts(self) -> NDArray[np.int64]:
        """Where the scores of each node begin, and where those of the last end."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    def table(self, e: int) -> Array:
        """The table of one edge."""
        shape = self.sizes[self.edges[e]]
        begin = self.table_of[e]
        return self.tables[begin : begin + int(shape.prod())].reshape(shape)

    def score(self, labels: NDArray[np.int32]) -> float:
        """The score of one labelling."""
        a, b = labels[self.edges].T
        own = self.unary[self.starts()[:-1] + labels].sum()
        pairs = self.tables[self.table_of + a * self.sizes[self.edges[:, 1]] + b].sum()
        return float(own + pairs)

    def n_bytes(self) -> int:
        """What scores, messages in both directions and beliefs take."""
        ends = self.sizes[self.edges]
        messages = int(ends.sum()) + 12 * len(ends)  # with their places and residuals
        return 8 * (4 * len(self.unary) + 2 * len(self.tables) + messages)

    def pair_bytes(self, kept: NDArray[np.bool_]) -> int:
        """What probabilities of pairs take; where labels are known, those of the core are copied
        among those of all edges, with a mark for each."""
        cells = self.sizes[self.edges].prod(axis=1)
        core = 8 * int(cells[kept].sum())
        return core if kept.all() else core + 9 * int(cells.sum())


class _Solved(NamedTuple):
    """A graph after its messages have been sent."""

    core: _core.Graph
    kept: NDArray[np.bool_]  # the edges that are in it
    state: tuple[bool, float, float, bool]  # converged, residual, n_sweeps, is_exact
    given: bool  # whether some labels are known

    def possible(self, score: float) -> float:
        """The score, of the best labelling or of all; raises if there is none."""
        return _checks.possible(score, is_exact=self.state[-1], given=self.given)

    def pairs(self, factors: _Factors, flat: Array) -> PerNode:
        """The probability of each pair of labels; at a known label, the node's other labels are
        impossible, so that the two ends are independent."""
        shapes = factors.sizes[factors.edges]
        if self.kept.all():
            return _cut_tables(self.core.pair_beliefs(), shapes)
        cells, starts = shapes.prod(axis=1), factors.starts()
        found = np.empty(int(cells.sum()))
        found[np.repeat(self.kept, cells)] = self.core.pair_beliefs()
        ends = np.cumsum(cells)
        for e in np.flatnonzero(~self.kept):
            a, b = (flat[starts[v] : starts[v + 1]] for v in factors.edges[e])
            np.outer(a, b, out=found[ends[e] - cells[e] : ends[e]].reshape(len(a), len(b)))
        return _cut_tables(found, shapes)


def _given(factors: _Factors, known: Mapping[int, int]) -> tuple[_Factors, NDArray[np.bool_]]:
    """The factors given the labels of some nodes, and which edges are left.

    An edge at a known node becomes a score of its other node.
    """
    if not known:
        return factors, np.ones(len(factors.edges), dtype=bool)
    starts, unary = factors.starts(), factors.unary.copy()
    label = np.full(len(factors.sizes), -1)
    label[list(known)] = list(known.values())
    for node, own in known.items():
        score = unary[starts[node] + own]
        if score == -np.inf:
            raise ValueError(
                f"evidence must be possible labels, got label {own} for node {node}, of score -inf."
            )
        unary[starts[node] : starts[node + 1]] = -np.inf
        unary[starts[node] + own] = score
    touched = (label[factors.edges] >= 0).any(axis=1)
    for e in np.flatnonzero(touched):
        # The other end of an edge gets the scores of the end that is known.
        a, b = factors.edges[e].tolist()
        table = factors.table(int(e))
        node, scores = (b, table[label[a]]) if label[a] >= 0 else (a, table[:, label[b]])
        unary[starts[node] : starts[node + 1]] += scores
    best = float(np.maximum.reduceat(unary, starts[:-1]).min())
    _checks.possible(best, is_exact=True, given=True)
    kept: NDArray[np.bool_] = np.logical_not(touched)
    left = factors._replace(unary=unary, edges=factors.edges[kept], table_of=factors.table_of[kept])
    return left, kept


def _warn(what: str, residual: float, limits: tuple[float, float, int]) -> None:
    from sklearn.exceptions import ConvergenceWarning  # takes a second, and is rarely needed

    _, tol, max_sweeps = limits
    said = _check.not_converged(what, residual, tol=tol, max_sweeps=max_sweeps)
    warnings.warn(said, ConvergenceWarning, stacklevel=4)


def _cut_by_node(flat: Array, sizes: NDArray[np.int64]) -> PerNode:
    """One part for each node, as one array where all have the same number of labels."""
    if len(sizes) and (sizes == sizes[0]).all():
        return flat.reshape(len(sizes), sizes[0])
    return np.split(flat, np.cumsum(sizes)[:-1]) if len(sizes) else np.zeros((0, 0))


def _cut_tables(flat: Array, shapes: NDArray[np.int64]) -> PerNode:
    """One table for each edge, as one array where all have the same shape."""
    if not len(shapes):
        return np.zeros((0, 0, 0))
    if (shapes == shapes[0]).all():
        return flat.reshape(len(shapes), *shapes[0])
    parts = np.split(flat, np.cumsum(shapes.prod(axis=1))[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


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

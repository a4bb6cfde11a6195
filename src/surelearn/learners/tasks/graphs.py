"""The state of a classifier of graphs: labels and one table of weights; knows no scikit-learn.

The first rows of the table belong to edges: one row for each edge feature (the constant one first)
and label of the edge's first node. The features of nodes follow. A column belongs to a label: of a
node, or of an edge's second node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, _core, weights
from surelearn.graph import Graph
from surelearn.learners.settings import (
    PARAMETERS,
    Parameter,
    Params,
    Settings,
    checked,
    few_rivals,
    resolved,
)
from surelearn.learners.snapshot import copied
from surelearn.learners.tasks.graph_features import GraphFeatures, GraphTable
from surelearn.learners.tasks.structures import (
    StructureTrainable,
    all_classes,
    check_fit,
    known_places,
    learn_in_turns,
    places_of,
    weighted,
    with_labels,
)
from surelearn.training.protocol import Order, Report, UpdateMethod
from surelearn.weights import Diagonal, Layout, Tally

Array = NDArray[np.float64]


class Messages(NamedTuple):
    """How messages are sent on graphs with loops."""

    damping: float
    tol: float
    max_sweeps: int


class GraphLeads(NamedTuple):
    """The best label of each node, and its lead over the best labelling without it."""

    labels: NDArray[np.int32]
    mean: Array
    variance: Array
    residual: Array  # of each graph


class LabelledGraphs(NamedTuple):
    """Graphs with labels, checked except for their features; those of weight 0 are dropped."""

    X: list[Graph]
    y: list[list[Any]]
    weight: Array | None
    numbers: NDArray[np.int64] | None  # numbers in the user's X, if graphs were dropped
    labels: NDArray[Any]  # the distinct labels, sorted

    @property
    def size(self) -> int:
        return len(self.X)

    @property
    def is_sparse(self) -> bool:
        """Whether the features of nodes came as sparse matrices."""
        return any(graph.is_sparse for graph in self.X)

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any = None) -> LabelledGraphs:
        graphs = _check.graphs(X, Graph)
        sizes = [graph.n_nodes for graph in graphs]
        labels = _check.label_lists(y, sizes, of="lists", unit="node")
        graphs, labels, weight, numbers = weighted(graphs, labels, sample_weight)
        return cls(graphs, labels, weight, numbers, _check.tags_in(labels))

    def check_fit(self) -> None:
        """Refuse graphs that a classifier cannot be fitted to."""
        check_fit(self, "graph")


class EncodedGraphs(NamedTuple):
    """Graphs as numbers, with labels as positions in `classes`."""

    table: GraphTable
    y: NDArray[np.int32]  # of all nodes of the table
    classes: NDArray[Any]
    weight: Array | None = None  # of each graph
    numbers: NDArray[np.int64] | None = None

    @property
    def size(self) -> int:
        return self.table.size

    def part(self, begin: int, end: int) -> EncodedGraphs:
        """Some of the graphs, which keep their numbers."""
        numbers = np.arange(self.size) if self.numbers is None else self.numbers
        weight = None if self.weight is None else self.weight[begin:end]
        return self._replace(
            table=self.table.part(begin, end), weight=weight, numbers=numbers[begin:end]
        )


@dataclass
class GraphModel:
    """Labels, features, weights and counters of training so far.

    When the rows or columns of the weights get a new meaning, a new model is made: a reader in
    another thread that holds the old one sees features and weights that belong together.
    """

    layout: Layout  # its n_features counts the rows of edges and of nodes
    initial_variance: float
    projection: str
    directed: bool
    features: GraphFeatures
    classes: NDArray[Any] = field(default_factory=lambda: np.zeros(0, np.int64))
    weights: Diagonal | None = None  # None: no label is known
    mistakes: list[int] = field(default_factory=list)
    updates: int = 0
    records_learnt: int = 0  # since the model was made or loaded, in all passes

    @property
    def first(self) -> int:
        """The row of the first feature of nodes."""
        return (1 + self.features.n_pairs) * len(self.classes)

    # ------------------------------------------------------------------- growth

    def fitting(self, classes: NDArray[Any], features: GraphFeatures) -> GraphModel:
        """A model with these labels (sorted) and features."""
        other = replace(self, classes=classes, features=features)
        layout = replace(self.layout, n_features=other.first + features.n_nodes)
        other.layout = layout
        same = np.array_equal(classes, self.classes) and layout == self.layout
        if (same and self.weights is not None) or not len(classes):
            return other
        if self.weights is None:
            weights.fits(layout, len(classes))
            other.weights = Diagonal(layout, len(classes), self.initial_variance)
            return other
        places = known_places(self.classes, classes)
        rows = self.rows_for(other, places, self.features.places_in(features))
        other.weights = self.weights.with_features(rows).with_columns(places.tolist())
        return other

    def rows_for(
        self, other: GraphModel, places: NDArray[np.int64], pairs: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """For each row of the other model's weights, the matching row here; -1: there is none.

        `places` are the positions of the other's labels here. `pairs` are the numbers of this
        model's edge features in the other.
        """
        K, known = len(self.classes), places >= 0
        edges = np.full((other.features.n_pairs + 1, len(places)), -1, np.int64)
        there = np.concatenate([[0], 1 + pairs])  # the constant one first
        edges[np.ix_(there, known)] = K * np.arange(len(there))[:, None] + places[known]
        n_nodes = self.features.n_nodes if self.features.n_features is not None else 0
        nodes = np.full(other.features.n_nodes, -1, np.int64)
        nodes[:n_nodes] = self.first + np.arange(n_nodes)
        return np.concatenate([edges.ravel(), nodes])

    # ----------------------------------------------------------------- learning

    def learn(
        self,
        method: UpdateMethod,
        block: EncodedGraphs,
        messages: Messages,
        *,
        order: NDArray[np.int64] | None = None,
        report: Callable[[Tally], None] | None = None,
    ) -> None:
        """Learn the graphs, all or those in `order`; a bad one raises `Refused` in its turn."""
        core_method = method.core(self.projection)
        own = _check.trained(self.weights, "learning")
        y = block.y
        if len(block.classes) < len(self.classes):
            y = np.searchsorted(self.classes, block.classes)[y].astype(np.int32)
        data = self.data(block.table, messages), y, block.weight, order

        def learn(span: tuple[int, int], done: NDArray[np.uint64]) -> bool:
            return own.learn_structures(_core.learn_graphs, core_method, data, span=span, done=done)

        def name(place: int) -> tuple[int, int]:
            number = place if order is None else int(order[place])
            return number if block.numbers is None else int(block.numbers[number]), place

        size = block.size if order is None else len(order)
        learn_in_turns(self, size, learn, name=name, unit="graph", report=report)

    # --------------------------------------------------------------- prediction

    def labels(
        self, table: GraphTable, messages: Messages, fixed: NDArray[np.int32], threads: int
    ) -> tuple[NDArray[np.int32], Array]:
        """The position of the best label of each node, and the residual of each graph."""
        data = self.data(table, messages, threads)
        return _core.graph_labels(self._table, data, fixed, threads)

    def leads(
        self, table: GraphTable, messages: Messages, fixed: NDArray[np.int32], threads: int
    ) -> GraphLeads:
        """The best labels, and by how much each leads."""
        data = self.data(table, messages, threads)
        return GraphLeads(*_core.graph_leads(self._table, data, fixed, threads))

    def marginals(
        self,
        table: GraphTable,
        messages: Messages,
        fixed: NDArray[np.int32],
        *,
        temperature: float,
        threads: int,
    ) -> tuple[Array, Array]:
        """The probability of each label of each node, and the residual of each graph."""
        data = self.data(table, messages, threads)
        return _core.graph_marginals(self._table, data, fixed, temperature, threads)

    def scores(self, table: GraphTable, messages: Messages) -> tuple[Array, Array]:
        """The scores of one graph: of labels, and of pairs of labels."""
        return _core.graph_scores(self._table, self.data(table, messages))

    def places(self, y: list[list[Any]]) -> NDArray[np.int32]:
        """The position of each node's label among the classes."""
        return places_of(y, self.classes)

    @property
    def _table(self) -> Any:
        return _check.trained(self.weights, "predict").core

    def data(self, table: GraphTable, messages: Messages, threads: int = 1) -> _core.GraphArrays:
        """What the core takes; raises if the largest graph does not fit in memory."""
        n_edges, needed = table.n_bytes(len(self.classes))
        threads = min(threads, max(table.size, 1))
        _check.graph_fits(n_edges, threads * needed, weights.MEMORY_LIMIT, what="X")
        return table.core(directed=self.directed, **messages._asdict())

    # ------------------------------------------------------------------ weights

    def nodes(self, *, variances: bool = False) -> NDArray[Any]:
        """Means or variances of the features of nodes, of shape (n_labels, n_features); the
        intercept is the last one."""
        own = _check.trained(self.weights, "learning")
        found = (own.variances if variances else own.means)[:, self.first :]
        found.flags.writeable = False
        return found

    def pairs(self, *, variances: bool = False) -> NDArray[Any]:
        """Means or variances of the features of edges, of shape (1 + n_edge_features, n_labels,
        n_labels): the constant feature first; the label of an edge's first node, then of its
        second."""
        own, K = _check.trained(self.weights, "learning"), len(self.classes)
        table = (own.variances if variances else own.means)[:, : self.first]
        found = table.T.reshape(-1, K, K).copy()
        if not self.directed:  # the pair (i, j) has the weight of (j, i) if i > j
            i, j = np.tril_indices(K, -1)
            found[:, i, j] = found[:, j, i]
        return found

    # ------------------------------------------------------------------ merging

    @staticmethod
    def united(
        models: Sequence[GraphModel],
    ) -> tuple[GraphModel, list[tuple[NDArray[np.int64]]]]:
        """A model that has learnt nothing but knows all labels and features, and where the edge
        features of each model stand in it."""
        first = models[0]
        features = first.features
        for model in models[1:]:
            features = features.united(model.features)
        blank = replace(first, classes=first.classes[:0], weights=None, mistakes=[], updates=0)
        whole = blank.fitting(all_classes(models), features)
        return whole, [(model.features.places_in(features),) for model in models]

    def copy(self) -> GraphModel:
        """An independent copy: training it does not change this model."""
        return replace(self, weights=copied(self.weights), mistakes=list(self.mistakes))


def _as_given(name: str, params: Params) -> Any:
    return params[name]


def _tol(name: str, params: Params) -> Any:
    return (PARAMETERS[name].check if "max_iter" in params else _as_given)(name, params)


class GraphSettings(Settings):
    """The checked parameters of a classifier of graphs, by a rule or by a solver."""

    own: ClassVar = {
        "constraints": Parameter(few_rivals("labellings"), shared=True),
        "fit_intercept": Parameter(
            checked(_check.flag), lambda model: model.features.intercept, shared=True
        ),
        # Checked together, as limits of messages; by a rule `tol` is that of messages.
        **{name: Parameter(_as_given) for name in ("damping", "message_tol", "max_sweeps")},
        "tol": Parameter(_tol),
    }

    def complete(self) -> None:
        super().complete()
        by_solver = "message_tol" in vars(self)
        tol = "message_tol" if by_solver else "tol"
        limits = self.damping, getattr(self, tol), self.max_sweeps
        self.messages = Messages(*_check.message_limits(*limits, tol_name=tol))

    def untrained(self, *, is_sparse: bool = True) -> GraphModel:
        """An untrained model that knows no graph."""
        features = GraphFeatures(self.fit_intercept)
        layout, projection = self.layout(features.n_nodes), self.projection
        how = resolved(projection, is_sparse=is_sparse)
        return GraphModel(layout, self.initial_variance, how, self.directed, features)


def encode_block(
    settings: GraphSettings,
    before: GraphModel | None,
    block: LabelledGraphs,
    *,
    declared: NDArray[Any] | None = None,
) -> tuple[GraphModel, EncodedGraphs]:
    """A model that knows the labels and features of a block, and the block as numbers.

    Parameters
    ----------
    settings : GraphSettings
    before : GraphModel or None
        The model that meets them; None: an untrained one.
    block : LabelledGraphs
    declared : ndarray or None
        More labels to know.
    """
    if before is None:
        before = settings.untrained(is_sparse=block.is_sparse)
    classes = with_labels(before.classes, block.labels, declared)
    features = before.features.register(block.X)
    model = before.fitting(classes, features)
    encoded = EncodedGraphs(
        features.table(block.X), model.places(block.y), classes, block.weight, block.numbers
    )
    return model, encoded


class GraphTrainable(StructureTrainable):
    """A classifier of graphs in training."""

    def register(self, block: LabelledGraphs | EncodedGraphs) -> EncodedGraphs:
        if isinstance(block, EncodedGraphs):
            return block
        model, encoded = encode_block(self.settings, self.model, block, declared=self._declared)
        self._publish(model)
        return encoded

    def _learn(self, encoded: EncodedGraphs, order: Order, report: Report | None) -> None:
        settings = self.settings
        self.model.learn(settings.method, encoded, settings.messages, order=order, report=report)

    def _right(self, encoded: EncodedGraphs) -> NDArray[np.bool_]:
        free = np.full(len(encoded.y), -1, dtype=np.int32)
        best, _ = self.model.labels(encoded.table, self.settings.messages, free, threads=1)
        some = slice(*encoded.table.node_bounds[[0, -1]])
        return np.asarray(best[some] == encoded.y[some])

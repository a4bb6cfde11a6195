"""The predictions of a classifier of graphs; must not know how it learns."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.graph import FactorGraph, Graph, GraphReport
from surelearn.learners.answers.views import GraphView
from surelearn.learners.base import Estimator, put_model, require_variances, with_variances
from surelearn.learners.deciding import decided
from surelearn.learners.scoring import in_deviations
from surelearn.learners.tasks.graph_features import GraphTable
from surelearn.learners.tasks.graph_task import GRAPHS
from surelearn.learners.tasks.graphs import GraphModel, LabelledGraphs, Messages
from surelearn.learners.tasks.sequences import cut
from surelearn.learners.tasks.structures import StructureMergeState, fitted_temperature, share_right
from surelearn.merging import Way, way_of
from surelearn.parameters import untrained

Array = NDArray[np.float64]


class GraphAnswers(Estimator[GraphModel]):
    """A classifier of graphs: its fitted attributes and all that it answers."""

    task = GRAPHS

    n_jobs: int | None
    temperature_: float

    # --------------------------------------------------------------- prediction

    @overload
    def predict(
        self,
        X: Any,
        *,
        fixed: Any = None,
        report: Literal[False] = False,
        abstain: bool = False,
        cost: Any = None,
        abstain_label: Any = None,
    ) -> list[NDArray[Any]]: ...

    @overload
    def predict(
        self, X: Any, *, fixed: Any = None, report: Literal[True]
    ) -> tuple[list[NDArray[Any]], GraphReport]: ...

    def predict(
        self,
        X: Any,
        *,
        fixed: Any = None,
        report: bool = False,
        abstain: bool = False,
        cost: Any = None,
        abstain_label: Any = None,
    ) -> Any:
        """The labelling of the largest mean score of each graph.

        It is exact on forests. On graphs with loops it is the one that max-product finds; a
        `ConvergenceWarning` tells how many graphs have not converged.

        Parameters
        ----------
        X : list of graph.Graph
        fixed : list of dicts of {node: label}, optional
            Labels that are known, for each graph; None for a graph without any.
        report : bool, default False
            Whether to return as well which graphs have converged.
        abstain : bool, default False
            Whether to answer only graphs that `choose_abstention` has certified; `fixed` must be
            given there for graphs like these.
        cost : array of shape (n_labels, n_labels) or dict, optional
            Give each node the label of the least expected cost under `predict_proba`; rows are true
            labels.
        abstain_label : optional
            What stands for the labels of a graph without an answer; default None.

        Returns
        -------
        list of ndarray
            For each graph the labels of its nodes.
        GraphReport
            Only with `report`.
        """
        if abstain or cost is not None:
            _check.left_alone(
                "report", report, False, where="where answers may be missing", use="predict alone"
            )
            return decided(self, X, abstain_label, abstain=abstain, cost=cost, fixed=fixed)
        model, table, known = self._read(X, fixed)
        best, residual = model.labels(table, self._messages(), known, self._threads())
        found = self._reported(residual)
        labels = cut(model.classes[best], table.node_bounds)  # type: ignore[arg-type]
        return (labels, found) if _check.flag("report", report) else labels

    def predict_proba(self, X: Any, *, fixed: Any = None) -> list[Array]:
        r"""Probability of every label of every node.

        .. math:: Pr[y_i = j] = \sum_{y: y_i = j} \exp(\mu \cdot \Psi(x, y) / \tau) / Z

        by sum-product, with :math:`\tau` the `temperature_`, 1 before `calibrate`.

        Parameters
        ----------
        X, fixed
            As in `predict`.

        Returns
        -------
        list of ndarray of shape (n_nodes, n_labels)
            Labels in the order of `classes_`.
        """
        model, table, known = self._read(X, fixed)
        p, residual = model.marginals(
            table,
            self._messages(),
            known,
            temperature=self.__dict__.get("temperature_", 1.0),
            threads=self._threads(),
        )
        self._reported(residual)
        return cut(p, table.node_bounds)  # type: ignore[arg-type]

    @with_variances
    def margin(self, X: Any, *, fixed: Any = None) -> tuple[list[Array], list[Array]]:
        r"""Mean and variance of the lead of each node's label.

        .. math:: \mu \cdot g_i, \quad g_i^\top \Sigma g_i, \qquad
            g_i = \Psi(x, \hat y) - \Psi(x, \hat y^{(i)})

        with :math:`\hat y` the labels of `predict` and :math:`\hat y^{(i)}` the best labelling with
        another label at node i.

        Parameters
        ----------
        X, fixed
            As in `predict`.

        Returns
        -------
        mean, variance : list of ndarray of shape (n_nodes,)
            Infinity and 0 for a node whose label is known.
        """
        model, table, known = self._read(X, fixed)
        found = model.leads(table, self._messages(), known, self._threads())
        self._reported(found.residual)
        return (
            cut(found.mean, table.node_bounds),  # type: ignore[arg-type]
            cut(found.variance, table.node_bounds),  # type: ignore[arg-type]
        )

    def factor_graph(self, x: Graph) -> FactorGraph:
        """One graph's scores: for its k best labellings, pairs of labels, and known labels.

        Parameters
        ----------
        x : graph.Graph

        Returns
        -------
        graph.FactorGraph
            Labels in it are places in `classes_`.
        """
        model, table, _ = self._read([x], None)
        unary, tables = model.scores(table, self._messages())
        return FactorGraph(unary, x.edges, tables)

    def calibrate(self, X: Any, y: Any) -> Self:
        """Fit `temperature_`, so that the marginals of held-out nodes have the least log loss.

        If nodes are few, it is shrunk towards 1.

        Parameters
        ----------
        X : list of graph.Graph
            Not learnt from.
        y : list of lists of labels

        Returns
        -------
        self
        """
        given = LabelledGraphs.of(X, y)
        model, table, known = self._read(given.X, None)
        _check.some_judged(len(known), "node", "calibrate")
        _check.known_tags(given.labels, model.classes)
        messages, threads = self._messages(), self._threads()
        residuals: dict[float, Array] = {}

        def marginals(temperature: float) -> Array:
            p, residuals[temperature] = model.marginals(
                table, messages, known, temperature=temperature, threads=threads
            )
            return p

        found = fitted_temperature(marginals, model.places(given.y))
        self._reported(residuals[found])
        self.temperature_ = found
        return self

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of nodes with the right label.

        Parameters
        ----------
        X : list of graph.Graph
        y : list of lists of labels
        sample_weight : array of shape (n_graphs,), optional

        Returns
        -------
        float
        """
        given = LabelledGraphs.of(X, y, sample_weight)
        predicted = [own.tolist() for own in self.predict(given.X)]
        return share_right(given.y, predicted, given.weight)

    # ------------------------------------------------------------------ merging

    def __merge_state__(self, how: Way, start: GraphAnswers | None = None) -> StructureMergeState:
        """What merging has to know of this classifier: all of it, whatever it started from."""
        model = self._fitted()
        self._settings_for().check_fits(model)
        blank: GraphAnswers = untrained(self)
        return StructureMergeState(way_of(how), (model.copy(),), make=blank._merged)

    def _merged(self, total: StructureMergeState, prior: StructureMergeState | None = None) -> Self:
        """A twin of this classifier, which has learnt nothing, with what was merged."""
        twin: Self = untrained(self)
        put_model(twin, total.merged(prior))
        return twin

    # -------------------------------------------------------------------- input

    def _read(self, X: Any, fixed: Any) -> tuple[GraphModel, GraphTable, NDArray[np.int32]]:
        """The model, the features of graphs, and the known label of each node; -1: none."""
        model, graphs = self._fitted(), _check.graphs(X, Graph)
        model.features.check(graphs)
        table = model.features.table(graphs)
        known = _fixed_labels(fixed, [g.n_nodes for g in graphs], model.classes.tolist())
        return model, table, known

    def __view__(self, X: Any, *, fixed: Any = None, **records: Any) -> GraphView:
        (model, table, known), threads = self._read(X, fixed), self._threads()
        messages, temperature = self._messages(), self.__dict__.get("temperature_", 1.0)

        def marginals() -> Array:
            p, residual = model.marginals(
                table, messages, known, temperature=temperature, threads=threads
            )
            self._reported(residual)
            return p

        def leads() -> Array:
            found = model.leads(table, messages, known, threads)
            return np.where(
                np.isinf(found.mean), found.mean, in_deviations(found.mean, found.variance)
            )

        return GraphView(
            lambda: model.labels(table, messages, known, threads)[0],
            marginals,
            bounds=table.node_bounds,
            classes=model.classes,
            places=lambda y: model.places(LabelledGraphs.of(X, y).y),
            leads=leads,
        )

    def _messages(self) -> Messages:
        messages: Messages = self._settings_for().messages
        return messages

    def _reported(self, residual: Array) -> GraphReport:
        """Which graphs have converged; warns of the others."""
        tol, max_sweeps = self._messages()[1:]
        report = GraphReport(residual <= tol, residual)
        n = int(np.count_nonzero(~report.converged))
        if n:
            from sklearn.exceptions import ConvergenceWarning

            what = f"messages on {n:,} of {len(residual):,} graphs"
            said = _check.not_converged(what, float(residual.max()), tol=tol, max_sweeps=max_sweeps)
            warnings.warn(said, ConvergenceWarning, stacklevel=3)
        return report

    def _threads(self) -> int:
        return _check.threads("n_jobs", self.n_jobs)

    # ------------------------------------------------------------------- fitted

    @property
    def n_features_in_(self) -> int:
        found = self._attribute("n_features_in_").features.n_features
        if found is None:
            raise AttributeError("n_features_in_ needs a graph in training, got none yet.")
        return found

    @property
    def edge_types_(self) -> NDArray[Any]:
        types = self._attribute("edge_types_").features.edge_types
        if types is None:
            raise AttributeError("edge_types_ needs edges with types, got none in training.")
        return types

    @property
    def coef_(self) -> NDArray[Any]:
        return self._nodes("coef_")[:, : self.n_features_in_]

    @property
    def sigma_(self) -> NDArray[Any]:
        return self._nodes("sigma_", variances=True)[:, : self.n_features_in_]

    @property
    def intercept_(self) -> NDArray[Any]:
        return self._intercept(self._nodes("intercept_"))

    @property
    def intercept_sigma_(self) -> NDArray[Any]:
        return self._intercept(self._nodes("intercept_sigma_", variances=True))

    @property
    def pairwise_(self) -> NDArray[Any]:
        return self._attribute("pairwise_").pairs()

    @property
    def pairwise_sigma_(self) -> NDArray[Any]:
        model = self._attribute("pairwise_sigma_")
        require_variances(self)
        return model.pairs(variances=True)

    def _nodes(self, name: str, *, variances: bool = False) -> NDArray[Any]:
        model = self._attribute(name)
        if variances:
            require_variances(self)
        return model.nodes(variances=variances)

    def _intercept(self, nodes: NDArray[Any]) -> NDArray[Any]:
        """The last column; zeros without an intercept."""
        if not self._model.features.intercept:
            return np.zeros(len(nodes), nodes.dtype)
        return nodes[:, -1]


def _fixed_labels(value: Any, sizes: Sequence[int], classes: Sequence[Any]) -> NDArray[np.int32]:
    """The place of the known label of each node of many graphs; -1 where there is none.

    Parameters
    ----------
    value : list of dicts of {node: label}, or None
    sizes : list of int
        Nodes of each graph.
    classes : list of labels
    """
    found = np.full(sum(sizes), -1, dtype=np.int32)
    if value is None:
        return found
    if isinstance(value, Mapping):
        raise TypeError("fixed must be a list of dicts, one for each graph, got one dict.")
    _check.listed("fixed", value, "dicts of {node: label}, one for each graph")
    dicts, places = list(value), {label: k for k, label in enumerate(classes)}
    if len(dicts) != len(sizes):
        raise ValueError(f"fixed must have {len(sizes)} dicts like X, got {len(dicts)}.")
    first = 0
    for i, (own, n_nodes) in enumerate(zip(dicts, sizes, strict=True)):
        for node, label in _check.known_nodes(f"fixed[{i}]", own, n_nodes).items():
            found[first + node] = _known_label(f"fixed[{i}][{node}]", label, places)
        first += n_nodes
    return found


def _known_label(name: str, label: Any, places: Mapping[Any, int]) -> int:
    """The index of a label that a model knows."""
    if _check.is_missing(label) or label.__hash__ is None or label not in places:
        raise ValueError(f"{name} must be one of {_check.listing(places)}, got {label!r}.")
    return places[label]

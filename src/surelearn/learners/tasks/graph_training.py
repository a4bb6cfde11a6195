"""Training a classifier of graphs, block by block; knows no sources."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.learners.settings import (
    PARAMETERS,
    Parameter,
    Params,
    Settings,
    checked,
    few_rivals,
    resolved,
)
from surelearn.learners.tasks.graph_features import GraphFeatures
from surelearn.learners.tasks.graphs import EncodedGraphs, GraphModel, LabelledGraphs, Messages
from surelearn.learners.tasks.structured import with_labels
from surelearn.learners.tasks.trainable import StructureTrainable
from surelearn.training.protocol import Order, Report


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

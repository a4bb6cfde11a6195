"""The parts of a model file that only classifiers of graphs have."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, files
from surelearn._check import FormatError
from surelearn.learners.answers.graphs import GraphAnswers
from surelearn.learners.base import put_model, settings_of
from surelearn.learners.file_parts import (
    diagonal_in,
    labels_in,
    labels_out,
    layout_in,
    weights_out,
)
from surelearn.learners.tasks.graph_features import GraphFeatures
from surelearn.learners.tasks.graphs import GraphModel
from surelearn.weights import Layout


def graph_params(estimator: GraphAnswers) -> dict[str, Any]:
    """Constructor parameters that a reader will accept; they must fit the model."""
    settings_of(estimator).check_fits(estimator.model_)
    params: dict[str, Any] = estimator.get_params(deep=False)
    return params


def graph_out(estimator: GraphAnswers) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The settings and tensors of a classifier of graphs."""
    model, features = estimator.model_, estimator.model_.features
    tensors: dict[str, NDArray[Any]] = {}
    graphs: dict[str, Any] = {"directed": model.directed, "fit_intercept": features.intercept}
    for name in ("n_features", "n_edge_features"):
        if getattr(features, name) is not None:
            graphs[name] = getattr(features, name)
    if features.edge_types is not None:
        graphs["edge_types"] = labels_out(features.edge_types)
    settings: dict[str, Any] = {"graphs": graphs, "classes": labels_out(model.classes)}
    if model.weights is not None:
        settings["weights"], tensors = weights_out(model.weights)
    return settings, tensors


def take_graphs(
    estimator: GraphAnswers, fields: files.Fields, tensors: files.Tensors, budget: int
) -> None:
    """Put the model of a file in a new classifier of graphs."""
    layout, graphs = layout_in(fields.inner("layout")), fields.inner("graphs")
    model = GraphModel(
        layout,
        _check.prior(fields.number("initial_variance"), np.dtype(layout.dtype)),
        fields.text("projection", ["precision", "covariance"]),
        graphs.flag("directed"),
        _features(graphs, budget),
        classes=labels_in(fields.inner("classes"), budget),
        mistakes=fields.naturals("mistakes"),
        updates=fields.integer("updates"),
    )
    _check_layout(layout, model, fields.where)
    settings_of(estimator).check_fits(model)
    if len(model.classes):
        model.weights = diagonal_in(
            fields.inner("weights"), tensors, layout, n_columns=len(model.classes), budget=budget
        )
    put_model(estimator, model)


def _features(graphs: files.Fields, budget: int) -> GraphFeatures:
    sizes = {
        name: graphs.integer(name) if graphs.has(name) else None
        for name in ("n_features", "n_edge_features")
    }
    types = labels_in(graphs.inner("edge_types"), budget) if graphs.has("edge_types") else None
    if types is not None and len(types) != sizes["n_edge_features"]:
        raise FormatError(f"{graphs.where}: n_edge_features must be the number of edge_types.")
    return GraphFeatures(graphs.flag("fit_intercept"), **sizes, edge_types=types)


def _check_layout(layout: Layout, model: GraphModel, where: str) -> None:
    expected = model.first + model.features.n_nodes
    if layout.intercept or layout.covariance != "diagonal" or layout.n_features != expected:
        raise FormatError(
            f"{where}: layout must be diagonal, without intercept, with {expected} features."
        )

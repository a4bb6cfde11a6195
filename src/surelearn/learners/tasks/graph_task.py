"""The task of classifiers of graphs: a label for each node, in files and merged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from surelearn import files
from surelearn._check import FormatError
from surelearn.learners.base import put_model, settings_of
from surelearn.learners.file_parts import (
    labels_in,
    labels_out,
    layout_in,
    prior_in,
    prior_out,
    weights_out,
)
from surelearn.learners.task import EvaluationOptions
from surelearn.learners.tasks.graph_features import GraphFeatures
from surelearn.learners.tasks.graphs import GraphModel, GraphSettings
from surelearn.learners.tasks.structures import StructureTask
from surelearn.read import Source


class GraphTask(StructureTask):
    """Classifiers of graphs: `SureGraphClassifier`, `GraphCRF` and `GraphSVM`."""

    settings = GraphSettings
    unit, noun = "graph", "classifier of graphs"
    not_rows = (
        "{name} must be a classifier of rows, got {model!r}, which takes graphs. Use its methods "
        "predict and score."
    )

    def opened(
        self, source: Any, reading: Mapping[str, Any], *, model: Any = None, labelled: bool = True
    ) -> Source:
        raise TypeError(self.not_rows.format(name="model", model=model))

    # ------------------------------------------------------------------- files

    def packed(self, estimator: Any) -> tuple[dict[str, Any], files.Tensors]:
        model, features = estimator.model_, estimator.model_.features
        tensors: files.Tensors = {}
        graphs: dict[str, Any] = {"directed": model.directed, "fit_intercept": features.intercept}
        for name in ("n_features", "n_edge_features"):
            if getattr(features, name) is not None:
                graphs[name] = getattr(features, name)
        if features.edge_types is not None:
            graphs["edge_types"] = labels_out(features.edge_types)
        settings: dict[str, Any] = {"graphs": graphs, "classes": labels_out(model.classes)}
        if model.weights is not None:
            settings["weights"], tensors = weights_out(model.weights)
        return settings | prior_out(model), tensors

    def put(
        self, estimator: Any, fields: files.Fields, tensors: files.Tensors, budget: int
    ) -> None:
        layout, graphs = layout_in(fields.inner("layout")), fields.inner("graphs")
        model = GraphModel(
            layout,
            *prior_in(fields, layout),
            graphs.flag("directed"),
            _features(graphs, budget),
            classes=labels_in(fields.inner("classes"), budget),
            mistakes=fields.naturals("mistakes"),
            updates=fields.integer("updates"),
        )
        n_rows = model.first + model.features.n_nodes
        settings_of(estimator).check_fits(model)
        self.put_weights(model, fields, tensors, budget, n_rows=n_rows)
        put_model(estimator, model)

    # ---------------------------------------------------------------- commands

    def evaluated(self, model: Any, X: Any, y: Any, options: EvaluationOptions, **how: Any) -> Any:
        raise TypeError(self.not_rows.format(name="model", model=model))

    def check_command(self, path: Any, model: Any, wanted: str) -> None:
        super().check_command(path, model, wanted)
        raise ValueError(self.not_rows.format(name=path, model=model))

    def facts(self, model: Any) -> dict[str, Any]:
        features = model.model_.features
        facts = {
            "features": features.n_features,
            "edge_features": features.n_edge_features,
            "edge_types": None if features.edge_types is None else features.edge_types.tolist(),
            "edges": "directed" if model.directed else "without direction",
            "classes": [{"label": label} for label in model.classes_.tolist()],
        }
        return {name: fact for name, fact in facts.items() if fact is not None}


#: The task of every classifier of graphs.
GRAPHS = GraphTask()


def _features(graphs: files.Fields, budget: int) -> GraphFeatures:
    sizes = {
        name: graphs.integer(name) if graphs.has(name) else None
        for name in ("n_features", "n_edge_features")
    }
    types = labels_in(graphs.inner("edge_types"), budget) if graphs.has("edge_types") else None
    if types is not None and len(types) != sizes["n_edge_features"]:
        raise FormatError(f"{graphs.where}: n_edge_features must be the number of edge_types.")
    return GraphFeatures(graphs.flag("fit_intercept"), **sizes, edge_types=types)

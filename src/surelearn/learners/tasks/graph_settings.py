"""Constructor parameters of a classifier of graphs, checked and converted for training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from surelearn import _check, constraints
from surelearn.learners.tasks.graph_features import GraphFeatures
from surelearn.learners.tasks.graphs import GraphModel, Messages
from surelearn.learners.tasks.learning_settings import (
    LearningSettings,
    check_learning,
    few_rivals,
    learning,
    resolved,
)
from surelearn.weights import Layout

#: Parameters that classifiers must share to be merged.
_MERGE_KEY = (
    "rule",
    "constraints",
    "directed",
    "fit_intercept",
    "projection",
    "dtype",
    "initial_variance",
)


def messages(params: Mapping[str, Any], tol: str = "tol") -> Messages:
    """The checked parameters of messages on graphs with loops; `tol` is the name of that one."""
    limits = params["damping"], params[tol], params["max_sweeps"]
    return Messages(*_check.message_limits(*limits, tol_name=tol))


@dataclass(frozen=True)
class ModelSettings:
    """The checked settings of every classifier of graphs: features, and how weights are kept."""

    dtype: str
    second_order: bool
    averaged: bool
    initial_variance: float
    messages: Messages
    directed: bool
    fit_intercept: bool
    projection: str

    def untrained(self, *, is_sparse: bool = True) -> GraphModel:
        """An untrained model that knows no graph."""
        features = GraphFeatures(self.fit_intercept)
        layout = Layout(
            n_features=features.n_nodes,
            intercept=False,
            second_order=self.second_order,
            averaged=self.averaged,
            dtype=self.dtype,
        )
        projection = resolved(self.projection, is_sparse=is_sparse)
        return GraphModel(layout, self.initial_variance, projection, self.directed, features)

    def check_fits(self, model: GraphModel) -> None:
        """Raise if a setting differs that a fitted model cannot change."""
        _check.same("dtype", model.layout.dtype, self.dtype)
        _check.same("directed", model.directed, self.directed)
        _check.same("fit_intercept", model.features.intercept, self.fit_intercept)
        if self.projection != "auto":
            _check.same("projection", model.projection, self.projection)


@dataclass(frozen=True)
class GraphSettings(ModelSettings, LearningSettings):
    """The checked settings of a classifier of graphs that learns by a rule."""

    constraints: constraints.Constraints

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> GraphSettings:
        """Check every parameter of a `SureGraphClassifier`."""
        scheme = few_rivals(params["constraints"], "labellings")
        return cls(
            **learning(params, scheme.core()),
            constraints=scheme,
            messages=messages(params),
            directed=_check.flag("directed", params["directed"]),
            fit_intercept=_check.flag("fit_intercept", params["fit_intercept"]),
            projection=_check.choice(
                "projection", params["projection"], ["auto", "precision", "covariance"]
            ),
        )

    def check_fits(self, model: GraphModel) -> None:
        check_learning(self, model)
        super().check_fits(model)

    def merge_key(self) -> dict[str, Any]:
        """The parameters that classifiers must share to be merged."""
        return {**{name: getattr(self, name) for name in _MERGE_KEY}, "average": self.averaged}

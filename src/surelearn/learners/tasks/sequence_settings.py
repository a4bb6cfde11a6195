"""Constructor parameters of a tagger, checked and converted for training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from surelearn import _check, constraints, rules
from surelearn.learners.tasks.learning_settings import check_learning, few_rivals, learning
from surelearn.learners.tasks.sequences import SequenceModel
from surelearn.templates import TokenFeatures
from surelearn.training.protocol import UpdateMethod
from surelearn.weights import Layout

#: Parameters that define the features; they cannot change in a fitted model.
FEATURES = ("templates", "columns", "n_features")

#: Other parameters that taggers must share to be merged.
_MERGE_KEY = ("rule", "constraints", "projection", "initial_variance")


def feature_settings(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of features, as plain values that can be compared."""
    found = {name: params[name] for name in FEATURES}
    for name, of in (("templates", "templates such as 'w[0]'"), ("columns", "names")):
        if found[name] is not None:
            _check.listed(name, found[name], of)
            found[name] = list(found[name])
    return found


@dataclass(frozen=True)
class TaggerSettings:
    """The checked settings of every tagger: its features, and how its weights are kept."""

    dtype: str
    second_order: bool
    averaged: bool
    initial_variance: float
    projection: str
    feature_params: dict[str, Any]

    def untrained(self) -> SequenceModel:
        """An untrained model."""
        layout = Layout(
            n_features=2,
            intercept=False,
            second_order=self.second_order,
            averaged=self.averaged,
            dtype=self.dtype,
        )
        made_by = feature_settings(self.feature_params)
        return SequenceModel(
            layout, self.initial_variance, self.projection, self.features(), made_by
        )

    def features(self, columns: Any = None) -> TokenFeatures:
        """A new feature extractor; `columns` are the default column names."""
        params = self.feature_params
        return TokenFeatures(**{**params, "columns": params["columns"] or columns})

    def check_fits(self, model: SequenceModel) -> None:
        """Raise if a setting differs that a fitted model cannot change."""
        _check.same("dtype", model.layout.dtype, self.dtype)
        asked = feature_settings(self.feature_params)
        for name, value in model.made_by.items():
            _check.same(name, value, asked[name])

    def merge_key(self) -> dict[str, Any]:
        """The parameters that taggers must share to be merged."""
        return {"dtype": self.dtype, **feature_settings(self.feature_params)}


@dataclass(frozen=True)
class SequenceSettings(TaggerSettings):
    """The checked settings of `fit` and `partial_fit` of a tagger that learns by a rule."""

    rule: rules.Rule
    constraints: constraints.Constraints
    method: UpdateMethod
    passes: int
    shuffle: bool
    verbose: int
    n_shards: int
    combine: str
    merge_every: int | None

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> SequenceSettings:
        scheme = few_rivals(params["constraints"], "paths")
        return cls(
            **learning(params, scheme.core()),
            constraints=scheme,
            projection=_check.choice(
                "projection", params["projection"], ["precision", "covariance"]
            ),
            feature_params={name: params[name] for name in FEATURES},
        )

    def check_fits(self, model: SequenceModel) -> None:
        check_learning(self, model)
        _check.same("projection", model.projection, self.projection)
        super().check_fits(model)

    def merge_key(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in _MERGE_KEY}
        return {**own, "average": self.averaged, **super().merge_key()}

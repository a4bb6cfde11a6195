"""Constructor parameters of a tagger, checked and converted for training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from surelearn import _check, constraints, rules
from surelearn.models.row_settings import sharding
from surelearn.models.rows import UpdateMethod
from surelearn.models.sequences import SequenceModel
from surelearn.templates import TokenFeatures
from surelearn.weights import Layout

#: Parameters that define the features; they cannot change in a fitted model.
FEATURES = ("templates", "columns", "n_features")

#: Other parameters that taggers must share to be merged.
_TAUGHT = ("rule", "constraints", "projection", "initial_variance")


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

    def taught(self) -> dict[str, Any]:
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
        scheme = constraints.get(params["constraints"])
        few = isinstance(scheme, constraints.Single)
        if not few and not (isinstance(scheme, constraints.Sequential) and scheme.k is not None):
            raise ValueError(
                "constraints must be 'single' or constraints.Sequential(k) with a number k for "
                f"paths, of which there are too many, got {params['constraints']!r}."
            )
        rule = rules.get(params["rule"])
        dtype = _check.storage(params["dtype"])
        threads = _check.threads("n_jobs", params["n_jobs"])
        method = UpdateMethod(rule.core(), scheme.core(), threads=threads)
        return cls(
            rule=rule,
            constraints=scheme,
            method=method,
            projection=_check.choice(
                "projection", params["projection"], ["precision", "covariance"]
            ),
            dtype=dtype.name,
            second_order=not method.rule.first_order,
            passes=_check.count("passes", params["passes"]),
            shuffle=_check.flag("shuffle", params["shuffle"]),
            averaged=_check.flag("average", params["average"]),
            initial_variance=_check.prior(params["initial_variance"], dtype),
            verbose=_check.verbosity(params["verbose"]),
            **sharding(params, rule),
            feature_params={name: params[name] for name in FEATURES},
        )

    def check_fits(self, model: SequenceModel) -> None:
        fitted = model.layout
        _check.same("average", fitted.averaged, self.averaged)
        _check.same("initial_variance", model.initial_variance, self.initial_variance)
        _check.same("projection", model.projection, self.projection)
        if fitted.second_order != self.second_order:
            _check.same_order(fitted.second_order, self.rule)
        super().check_fits(model)

    def taught(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in _TAUGHT}
        return {**own, "average": self.averaged, **super().taught()}

"""Constructor parameters of a tagger, checked and put in the form that learning needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from surelearn import _check, constraints, rules
from surelearn.models.rows import How
from surelearn.models.sequences import Given, TagBatch, TagModel
from surelearn.templates import TokenFeatures
from surelearn.weights import Layout

#: Parameters that say how features are made; they cannot change in a fitted model.
FEATURES = ("templates", "columns", "n_features")


def feature_settings(tagger: Any) -> dict[str, Any]:
    """How features are made, in plain values that can be compared."""
    found = {name: getattr(tagger, name) for name in FEATURES}
    for name in ("templates", "columns"):
        found[name] = None if found[name] is None else list(found[name])
    return found


@dataclass(frozen=True)
class TagPlan:
    """What `fit` and `partial_fit` of a tagger do, all of it checked."""

    rule: rules.Rule
    constraints: constraints.Constraints
    how: How
    projection: str
    dtype: str
    passes: int
    shuffle: bool
    averaged: bool
    initial_variance: float
    verbose: int

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> TagPlan:
        scheme = constraints.get(params["constraints"])
        few = isinstance(scheme, constraints.Single)
        if not few and not (isinstance(scheme, constraints.Sequential) and scheme.k is not None):
            raise ValueError(
                "constraints must be 'single' or constraints.Sequential(k) with a number k for "
                f"paths, of which there are too many, got {params['constraints']!r}."
            )
        rule = rules.get(params["rule"])
        dtype = _check.storage(params["dtype"])
        return cls(
            rule=rule,
            constraints=scheme,
            how=How(rule.core(), scheme.core(), None, _check.threads("n_jobs", params["n_jobs"])),
            projection=_check.choice(
                "projection", params["projection"], ["precision", "covariance"]
            ),
            dtype=dtype.name,
            passes=_check.count("passes", params["passes"]),
            shuffle=_check.flag("shuffle", params["shuffle"]),
            averaged=_check.flag("average", params["average"]),
            initial_variance=_check.prior(params["initial_variance"], dtype),
            verbose=_check.verbosity(params["verbose"]),
        )

    def blank(self, tagger: Any) -> TagModel:
        """A model that has seen nothing."""
        layout = Layout(
            n_features=2,
            intercept=False,
            second_order=not self.how.rule.first_order,
            averaged=self.averaged,
            dtype=self.dtype,
        )
        return TagModel(layout, self.initial_variance, self.projection, self.features(tagger))

    def features(self, tagger: Any, columns: Any = None) -> TokenFeatures:
        """Features that have seen nothing, of columns that are named by default as here."""
        params = {name: getattr(tagger, name) for name in FEATURES}
        return TokenFeatures(**{**params, "columns": params["columns"] or columns})

    def read(
        self, model: TagModel, given: Given, classes: NDArray[Any]
    ) -> tuple[TagModel, TagBatch]:
        """What is given as the core reads it, and a model with room for it."""
        sequences = model.features.learn(given.X)
        model = model.fitting(classes)
        return model, model.batch(given, sequences)

    def check_fits(self, tagger: Any, model: TagModel) -> None:
        """Refuse a change of what a fitted model cannot change."""
        fitted = model.layout
        _check.same("dtype", fitted.dtype, self.dtype)
        _check.same("average", fitted.averaged, self.averaged)
        _check.same("initial_variance", model.initial_variance, self.initial_variance)
        _check.same("projection", model.projection, self.projection)
        if fitted.second_order == self.how.rule.first_order:
            _check.same_order(fitted.second_order, self.rule)
        for name, value in tagger.__dict__.get("_settings", {}).items():
            _check.same(name, value, feature_settings(tagger)[name])

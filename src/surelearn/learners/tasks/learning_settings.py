"""Parameters that several learners share, checked and converted for training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from surelearn import _check, _core, constraints, rules
from surelearn.merging import HOWS
from surelearn.training.protocol import UpdateMethod


@dataclass(frozen=True)
class LearningSettings:
    """The checked settings of learning by a rule, as `learning` returns them."""

    rule: rules.Rule
    method: UpdateMethod
    dtype: str
    second_order: bool
    passes: int
    shuffle: bool
    averaged: bool
    initial_variance: float
    verbose: int
    n_shards: int
    combine: str
    merge_every: int | None


def learning(params: Mapping[str, Any], scheme: _core.Scheme) -> dict[str, Any]:
    """The checked parameters of learning by a rule, by the names of their settings."""
    rule = rules.get(params["rule"])
    dtype = _check.storage(params["dtype"])
    threads = _check.threads("n_jobs", params["n_jobs"])
    method = UpdateMethod(rule.core(), scheme, threads=threads)
    return {
        "rule": rule,
        "method": method,
        "dtype": dtype.name,
        "second_order": not method.rule.first_order,
        "passes": _check.count("passes", params["passes"]),
        "shuffle": _check.flag("shuffle", params["shuffle"]),
        "averaged": _check.flag("average", params["average"]),
        "initial_variance": _check.prior(params["initial_variance"], dtype),
        "verbose": _check.verbosity(params["verbose"]),
        **sharding(params, rule),
    }


def few_rivals(value: Any, what: str) -> constraints.Constraints:
    """A scheme that learns from few rivals, where there are as many as sequences of labels."""
    scheme = constraints.get(value)
    few = isinstance(scheme, constraints.Single)
    if not few and not (isinstance(scheme, constraints.Sequential) and scheme.k is not None):
        raise ValueError(
            "constraints must be 'single' or constraints.Sequential(k) with a number k for "
            f"{what}, of which there are too many, got {value!r}."
        )
    return scheme


def check_learning(settings: Any, model: Any) -> None:
    """Raise if a setting differs that a fitted model cannot change."""
    fitted = model.layout
    _check.same("average", fitted.averaged, settings.averaged)
    _check.same("initial_variance", model.initial_variance, settings.initial_variance)
    if fitted.second_order != settings.second_order:
        _check.same_order(fitted.second_order, settings.rule)


def resolved(projection: str, *, is_sparse: bool) -> str:
    """The projection for sparse or dense input.

    The precision form works better on sparse text. On dense correlated data it can drive all
    variances to zero; the covariance form cannot.
    """
    if projection != "auto":
        return projection
    return "precision" if is_sparse else "covariance"


def sharding(params: Mapping[str, Any], rule: rules.Rule) -> dict[str, Any]:
    """The checked parameters of sharding: how many shards, how and how often to merge them."""
    n_shards = _check.count("n_shards", params["n_shards"])
    combine = _check.choice("combine", params["combine"], list(HOWS))
    every = params["merge_every"]
    if n_shards > 1 and rule.first_order and combine not in ("evidence", "uniform"):
        raise ValueError(
            f"combine must be 'evidence' or 'uniform' for rule {rule!r}, which keeps no variances, "
            f"got {combine!r}."
        )
    return {
        "n_shards": n_shards,
        "combine": combine,
        "merge_every": None if every is None else _check.count("merge_every", every),
    }

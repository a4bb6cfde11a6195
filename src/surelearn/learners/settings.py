"""Parameters of constructors, in one table: what each must be, and what it is for a fitted model.

A parameter is added here, in one line; an estimator has it if its constructor does. Kinds of
learners add or replace lines where a name means something else to them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from surelearn import _check, constraints, rules
from surelearn.learners import reductions
from surelearn.merging import HOWS
from surelearn.training.protocol import UpdateMethod
from surelearn.weights import Layout

Params = Mapping[str, Any]

#: The forms of label probabilities: of the mean scores, or over the distribution of the weights.
PROBABILITIES = ("softmax", "exact")

#: Parameters that define the features of taggers.
FEATURES = ("templates", "columns", "n_features")


class Parameter(NamedTuple):
    """What a parameter must be, and what it is for a model that has learnt.

    Parameters
    ----------
    check : function
        Of its name and all parameters: the checked value.
    made : function, optional
        Of a fitted model: the value it was made with, which must stay.
    shared : bool, default False
        Whether models must share it to be merged.
    """

    check: Callable[[str, Params], Any]
    made: Callable[[Any], Any] | None = None
    shared: bool = False


def checked(check: Callable[..., Any], *more: Any, **how: Any) -> Callable[[str, Params], Any]:
    """A check of a parameter by itself."""
    return lambda name, params: check(name, params[name], *more, **how)


def converted(check: Callable[[Any], Any]) -> Callable[[str, Params], Any]:
    """A check that knows the name of its parameter."""
    return lambda name, params: check(params[name])


def optional(check: Callable[..., Any], *more: Any, **how: Any) -> Callable[[str, Params], Any]:
    """A check of a parameter that may be None."""
    return lambda name, params: (
        None if params[name] is None else check(name, params[name], *more, **how)
    )


def one_of(*names: str) -> Callable[[str, Params], Any]:
    """The check of a choice."""
    return checked(_check.choice, names)


def _prior(name: str, params: Params) -> float:
    return _check.prior(params[name], _check.storage(params.get("dtype", "float64")))


def _combine(name: str, params: Params) -> str:
    combine, rule = _check.choice(name, params[name], list(HOWS)), rules.get(params["rule"])
    if params["n_shards"] != 1 and rule.first_order and combine not in ("evidence", "uniform"):
        raise ValueError(
            f"combine must be 'evidence' or 'uniform' for rule {rule!r}, which keeps no variances, "
            f"got {combine!r}."
        )
    return combine


def _decoding(name: str, params: Params) -> str:
    first_order = rules.get(params["rule"]).first_order
    multiclass = reductions.multiclass(params["multiclass"])
    return reductions.decoding(params[name], multiclass, first_order=first_order)


def _listed(of: str) -> Callable[[str, Params], Any]:
    def check(name: str, params: Params) -> list[Any] | None:
        if params[name] is None:
            return None
        _check.listed(name, params[name], of)
        return list(params[name])

    return check


def _scale(name: str, params: Params) -> bool | str:
    value = params[name]
    if _check.is_auto(value):
        return "auto"
    if not isinstance(value, bool | np.bool_):
        raise ValueError(_check.must(name, "be True, False or 'auto'", value))
    return bool(value)


def _solver(name: str, params: Params) -> str:
    loss = ["lbfgs", "sgd"] if "l2" in params else ["frank-wolfe", "sgd"]
    return _check.choice(name, params[name], loss)


#: Every parameter of learning, in the order in which they are checked.
PARAMETERS: dict[str, Parameter] = {
    # How it learns.
    "rule": Parameter(converted(rules.get), shared=True),
    "covariance": Parameter(
        one_of("diagonal", "full"), lambda model: model.layout.covariance, shared=True
    ),
    "multiclass": Parameter(converted(reductions.multiclass), shared=True),
    "decoding": Parameter(_decoding),
    "constraints": Parameter(converted(constraints.get), shared=True),
    "right": Parameter(one_of("all", "any"), shared=True),
    "cost": Parameter(converted(_check.cost), shared=True),
    "class_weight": Parameter(converted(_check.class_weight)),
    "passes": Parameter(checked(_check.count)),
    "shuffle": Parameter(checked(_check.flag)),
    "calibrate": Parameter(checked(_check.flag)),
    # By a solver.
    "l2": Parameter(checked(_check.positive), shared=True),
    "l1": Parameter(checked(_check.number, "[0, inf)", low=0.0)),
    "C": Parameter(checked(_check.positive), shared=True),
    "solver": Parameter(_solver),
    "tol": Parameter(checked(_check.number, "[0, 1)", low=0.0, high=1.0)),
    "max_iter": Parameter(checked(_check.count)),
    "warm_start": Parameter(checked(_check.flag)),
    "cells": Parameter(one_of("observed", "all")),
    # What it keeps.
    "dtype": Parameter(
        lambda name, params: _check.storage(params[name]).name, lambda m: m.layout.dtype, True
    ),
    "average": Parameter(checked(_check.flag), lambda model: model.layout.averaged, shared=True),
    "fit_intercept": Parameter(
        checked(_check.flag), lambda model: model.layout.intercept, shared=True
    ),
    "initial_variance": Parameter(_prior, lambda model: model.initial_variance, shared=True),
    "projection": Parameter(
        one_of("auto", "precision", "covariance"), lambda model: model.projection, shared=True
    ),
    "scale": Parameter(_scale, shared=True),
    # What it reads and answers.
    "probability": Parameter(one_of(*PROBABILITIES)),
    "moderated": Parameter(checked(_check.flag)),
    "directed": Parameter(checked(_check.flag), lambda model: model.directed, shared=True),
    "templates": Parameter(
        _listed("templates such as 'w[0]'"), lambda model: model.made_by["templates"], shared=True
    ),
    "columns": Parameter(_listed("names"), lambda model: model.made_by["columns"], shared=True),
    # How it runs.
    "n_shards": Parameter(checked(_check.count)),
    "combine": Parameter(_combine),
    "merge_every": Parameter(optional(_check.count)),
    "n_jobs": Parameter(checked(_check.threads)),
    "verbose": Parameter(converted(_check.verbosity)),
}


class Settings:
    """The checked parameters of an estimator, by name, and what follows from them."""

    #: Lines of the table that this kind of learner adds or replaces.
    own: ClassVar[Mapping[str, Parameter]] = {}

    def __init__(self, **values: Any) -> None:
        vars(self).update(values)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{type(self).__name__} has no setting {name!r}.")

    @classmethod
    def of(cls, params: Params) -> Self:
        """Check the parameters of a constructor."""
        table = {**PARAMETERS, **cls.own}
        settings = cls(
            **{name: table[name].check(name, params) for name in table if name in params}
        )
        settings.complete()
        return settings

    def complete(self) -> None:
        """Check what parameters must be together, and add what follows from them."""
        own = vars(self)
        own.setdefault("average", False)
        own.setdefault("projection", "precision")
        self.second_order = "rule" not in own or not self.rule.first_order
        if "rule" in own and "constraints" in own:
            scheme, core = self.constraints.core(), self.rule.core()
            self.method = UpdateMethod(core, scheme, own.get("cost"), self.n_jobs)
        if "max_iter" in own:
            self._complete_solver()

    def _complete_solver(self) -> None:
        """The precision of the prior is l2, or its variance C."""
        from surelearn.solvers import printed  # not for the command that reads one model

        own = vars(self)
        self.precision = self.l2 if "l2" in own else 1.0 / self.C
        dtype = own.setdefault("dtype", "float64")
        self.initial_variance = _check.prior(1.0 / self.precision, np.dtype(dtype))
        self.report = printed(self.verbose)
        if own.get("solver") == "sgd" and "l2" in own:
            how = {"where": "with solver='sgd'", "use": "solver='lbfgs'"}
            _check.left_alone("l1", self.l1, 0.0, **how)
            _check.left_alone("warm_start", self.warm_start, False, **how)

    def but(self, **instead: Any) -> Self:
        """The same settings, some of them replaced by checked ones."""
        return type(self)(**{**vars(self), **instead})

    def limits(self) -> dict[str, Any]:
        """The keywords that every solver takes."""
        return {"tol": self.tol, "max_iter": self.max_iter, "report": self.report}

    def check_fits(self, model: Any) -> None:
        """Raise if a setting differs that a fitted model cannot change."""
        own = vars(self)
        if "max_iter" in own and model.initial_variance != self.initial_variance:
            # Say so by the name that users know.
            known = {"l2": 1.0 / model.initial_variance, "C": model.initial_variance}
            name = "l2" if "l2" in own else "C"
            _check.same(name, known[name], own[name])
        for name, parameter in {**PARAMETERS, **self.own}.items():
            if parameter.made is not None and name in own and not _check.is_auto(own[name]):
                _check.same(name, parameter.made(model), own[name])
        fitted = model.layout.second_order
        if "rule" not in own:
            _check.same("second_order", fitted, True)
        elif fitted != self.second_order:
            _check.same_order(fitted, self.rule)

    def merge_key(self) -> dict[str, Any]:
        """The parameters that models must share to be merged."""
        table, own = {**PARAMETERS, **self.own}, vars(self)
        shared = {name: own[name] for name in own if name in table and table[name].shared}
        if "cost" in shared and shared["cost"] is not None:
            shared["cost"] = shared["cost"].tolist()
        if "max_iter" in own:  # follows from l2 or C
            del shared["initial_variance"]
        return shared

    def layout(self, n_features: int) -> Layout:
        """What is stored for each feature of structures or candidates."""
        return Layout(
            n_features=n_features,
            intercept=False,
            second_order=self.second_order,
            averaged=self.average,
            dtype=self.dtype,
        )


def few_rivals(what: str) -> Callable[[str, Params], constraints.Constraints]:
    """The check of a scheme that learns from few rivals, where there are too many for all."""

    def check(name: str, params: Params) -> constraints.Constraints:
        scheme = constraints.get(params[name])
        few = isinstance(scheme, constraints.Single)
        if not few and not (isinstance(scheme, constraints.Sequential) and scheme.k is not None):
            raise ValueError(
                "constraints must be 'single' or constraints.Sequential(k) with a number k for "
                f"{what}, of which there are too many, got {params[name]!r}."
            )
        return scheme

    return check


def resolved(projection: str, *, is_sparse: bool) -> str:
    """The projection for sparse or dense input.

    The precision form works better on sparse text. On dense correlated data it can drive all
    variances to zero; the covariance form cannot.
    """
    if projection != "auto":
        return projection
    return "precision" if is_sparse else "covariance"

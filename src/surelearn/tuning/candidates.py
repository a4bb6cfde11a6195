"""The candidates of `tune`: the default list, and the checks of a user's list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from surelearn import _check
from surelearn.learners.classifier import SureClassifier
from surelearn.learners.tasks.row_settings import RowSettings
from surelearn.rules import AROW, NHERD, Probit, Rule, Stdev, Variance

Params = dict[str, Any]

#: Rules to try with the estimator's other settings, from bold to cautious; see docs/howto/tune.md.
#: All are second-order: the winner must have probabilities.
RULES: tuple[Rule, ...] = (
    *(Probit(noise=noise) for noise in (0.3, 1.0, 3.0, 10.0)),
    *(AROW(r=r) for r in (1.0, 10.0)),
    *(NHERD(C=C) for C in (0.1, 0.3)),
    Variance(phi=1.0),
    Stdev(phi=2.0),
)
#: Rules to try with averaging, which helps most on small dense data.
AVERAGED: tuple[Rule, ...] = (Probit(noise=1.0), AROW(r=10.0))
#: Rules to try with the other projection.
PROJECTED: tuple[Rule, ...] = (AROW(r=1.0),)

#: Parameters that candidates may set. The others define the task or how the work is done.
TUNABLE = (
    "rule",
    "covariance",
    "projection",
    "constraints",
    "multiclass",
    "fit_intercept",
    "initial_variance",
    "average",
    "dtype",
)


def default(is_sparse: bool) -> list[Params]:
    """The default candidates: the estimator as it is, other rules, averages and projections."""
    other = "covariance" if is_sparse else "precision"
    return [
        {},
        *({"rule": rule} for rule in RULES),
        *({"rule": rule, "average": True} for rule in AVERAGED),
        *({"rule": rule, "projection": other} for rule in PROJECTED),
    ]


def listed(candidates: Any) -> list[Params]:
    """The parameters of each candidate; a dict of lists stands for all combinations."""
    if isinstance(candidates, Mapping):
        candidates = list(_grid(candidates))
    if isinstance(candidates, str | bytes) or not isinstance(candidates, Iterable):
        raise TypeError(
            "candidates must be a list of dicts of parameters, or a dict of lists, got "
            f"{candidates!r}."
        )
    found = list(candidates)
    if not found:
        raise ValueError("candidates must hold at least one, got none.")
    for i, params in enumerate(found):
        _check_names(i, params)
    return [dict(params) for params in found]


def _grid(candidates: Mapping[str, Any]) -> Iterable[Params]:
    for name, values in candidates.items():
        if isinstance(values, str | bytes) or not isinstance(values, Iterable):
            raise TypeError(f"candidates[{name!r}] must be a list of values, got {values!r}.")
    for values in product(*candidates.values()):
        yield dict(zip(candidates, values, strict=True))


def _check_names(i: int, params: Any) -> None:
    if not isinstance(params, Mapping):
        raise TypeError(f"candidates[{i}] must be a dict of parameters, got {params!r}.")
    for name in params:
        if not (name in TUNABLE or str(name).startswith("rule__")):
            raise ValueError(
                f"candidates[{i}] must name parameters among {_check.listing(TUNABLE)} and "
                f"'rule__...', got {name!r}. Set others in the estimator."
            )


def alike(a: RowSettings, b: RowSettings, is_sparse: bool) -> bool:
    """Whether two settings would learn the same model."""
    if _projection(a, is_sparse) != _projection(b, is_sparse):
        return False
    names = vars(a).keys() - {"method", "projection"}
    return all(_equal(getattr(a, name), getattr(b, name)) for name in names)


def _projection(settings: RowSettings, is_sparse: bool) -> str | None:
    """The projection if it has an effect; it has none for full and for first-order weights."""
    counts = settings.covariance == "diagonal" and not settings.method.rule.first_order
    return settings.resolved(is_sparse) if counts else None


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return bool(a == b)


class Entrant(NamedTuple):
    """A candidate's parameters, and the checked settings they give."""

    params: Params
    settings: RowSettings


def entrants(estimator: SureClassifier, candidates: Any, is_sparse: bool) -> list[Entrant]:
    """All candidates, checked and without duplicates."""
    given = candidates is not None
    every = listed(candidates) if given else default(is_sparse)

    def entrant(params: Params) -> Entrant:
        if "scale" in params:
            raise ValueError(
                f"scale must be the same for all candidates, got {params['scale']!r}. Set it in "
                "the estimator."
            )
        full = clone(estimator).set_params(**params).get_params(deep=False)
        return Entrant(params, RowSettings.of(full))

    return _distinct(_sound(every, entrant, strict=given), is_sparse, strict=given)


def _sound(
    every: Sequence[Params], make: Callable[[Params], Entrant], *, strict: bool
) -> list[Entrant]:
    """The candidates that `make` accepts; `strict` raises for the first one that it refuses."""
    found, errors = [], []
    for i, params in enumerate(every):
        try:
            found.append(make(params))
        except (TypeError, ValueError, NotImplementedError) as error:
            if strict:
                raise type(error)(f"candidates[{i}], {described(params)}: {error}") from None
            errors.append(error)
    if not found:
        raise errors[0]
    return found


def _distinct(found: Iterable[Entrant], is_sparse: bool, *, strict: bool) -> list[Entrant]:
    kept: list[Entrant] = []
    for i, one in enumerate(found):
        twin = next((k for k in kept if alike(k.settings, one.settings, is_sparse)), None)
        if twin is None:
            kept.append(one)
        elif strict:
            raise ValueError(
                f"candidates must all differ, got candidates[{i}], {described(one.params)}, which "
                f"learns the same as {described(twin.params)}."
            )
    return kept


def fitting(
    found: Sequence[Entrant], n_features: int, classes: NDArray[Any], *, strict: bool
) -> list[Entrant]:
    """The candidates for which there are enough classes and memory."""
    every_settings = {id(one.params): one.settings for one in found}

    def checked(params: Params) -> Entrant:
        settings = every_settings[id(params)]
        settings.check_rivals(len(classes) - 1)
        settings.check_classes(classes, settings.untrained(n_features, is_sparse=True))
        return Entrant(params, settings)

    return _sound([one.params for one in found], checked, strict=strict)


def described(params: Params) -> str:
    """The parameters in one line; the rule comes first, without ``rule=``."""
    rest = [f"{name}={value!r}" for name, value in params.items() if name != "rule"]
    return ", ".join([*([str(params["rule"])] if "rule" in params else []), *rest]) or "as it is"

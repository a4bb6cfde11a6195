"""The candidates of `tune`: the default list, and the checks of a user's list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from itertools import product
from typing import Any

import numpy as np

from surelearn import _check
from surelearn.models.row_settings import RowSettings
from surelearn.rules import AROW, NHERD, PA1, SCW1, SCW2, Probit, Rule, Stdev, Variance

Params = dict[str, Any]

#: Rules to try with the estimator's other settings and the default projection for the input. They
#: lie around those that did best on real data sets; see docs/theory/defaults.md.
RULES: tuple[Rule, ...] = (
    *(AROW(r=r) for r in (0.3, 1.0, 3.0, 30.0)),
    *(Variance(phi=phi) for phi in (0.1, 0.3, 1.0, 3.0)),
    *(Stdev(phi=phi) for phi in (0.3, 1.0, 2.0)),
    *(Probit(noise=noise) for noise in (0.03, 0.1, 0.3, 1.0, 10.0)),
    SCW1(phi=1.0, C=1.0),
    SCW1(phi=3.0, C=0.3),
    SCW2(phi=3.0, C=0.1),
    SCW2(phi=3.0, C=0.3),
    *(NHERD(C=C) for C in (0.1, 0.3, 1.0)),
    *(PA1(C=C) for C in (0.1, 1.0)),
)
#: Rules to try with the other projection as well.
PROJECTED: tuple[Rule, ...] = (AROW(r=1.0), Variance(phi=3.0), Stdev(phi=2.0))
#: Rules to try with averaging. It seldom wins the first pass over sparse rows, but often wins on
#: small dense data.
AVERAGED: tuple[Rule, ...] = (Variance(phi=0.3), PA1(C=0.1))
AVERAGED_DENSE: tuple[Rule, ...] = (*AVERAGED, AROW(r=1.0), AROW(r=10.0), Probit(noise=1.0))

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
    """The default candidates: cautious to bold rules, both projections, averaging."""
    other = "covariance" if is_sparse else "precision"
    return [
        *({"rule": rule} for rule in RULES),
        *({"rule": rule, "projection": other} for rule in PROJECTED),
        *({"rule": rule, "average": True} for rule in (AVERAGED if is_sparse else AVERAGED_DENSE)),
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
    names = {one.name for one in fields(RowSettings)} - {"method", "projection"}
    return all(_equal(getattr(a, name), getattr(b, name)) for name in names)


def _projection(settings: RowSettings, is_sparse: bool) -> str | None:
    """The projection if it has an effect; it has none for full and for first-order weights."""
    counts = settings.covariance == "diagonal" and not settings.method.rule.first_order
    return settings.resolved(is_sparse) if counts else None


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return bool(a == b)

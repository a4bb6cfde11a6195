"""Keep records of `fit` back to certify a risk; knows no kind of record."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from surelearn import _check
from surelearn.decide import fewest_rows
from surelearn.learners.checks import random_numbers
from surelearn.learners.deciding.abstention import choose_abstention, risks_by_label
from surelearn.learners.deciding.sets import choose_sets
from surelearn.learners.deciding.view import Places

if TYPE_CHECKING:
    from surelearn.learners.base import Estimator

E = TypeVar("E", bound="Estimator[Any]")

#: One record of `fit` in so many certifies a risk, and so many at most.
_SHARE, _MOST = 5, 20_000


def fit_certified(
    self: E,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    risk: Any,
    delta: float,
    novel: float | None = None,
    records: dict[str, Any] | None = None,
    **how: Any,
) -> E:
    """`fit` on four fifths of the records, at random; the others certify a risk.

    They are used for nothing else, so they are never learnt. Where no threshold is certified, a
    warning says so, and the model is kept without a promise.
    """
    risks, given = risks_by_label(risk), records or {}
    least = fewest_rows(min(risks.values()), delta / len(risks))
    n = self._n_records(y, **given)
    weight = _check.sample_weight(sample_weight, n)
    kept, rest = _parts(self, np.arange(n) if weight is None else np.flatnonzero(weight), least)
    shell = self._shell()
    X_rest, y_rest, own = self._picked(X, y, rest, **given)
    shell.fit(X_rest, y_rest, sample_weight=None if weight is None else weight[rest], **own, **how)
    X_kept, y_kept, own = self._picked(X, y, kept, **given)
    try:
        choose_abstention(shell, X_kept, y_kept, risk=risk, delta=delta, novel=novel, **own)
    except ValueError as error:
        warnings.warn(f"{error} The model is kept, without a promise.", UserWarning, stacklevel=3)
    choose_sets(shell, X_kept, y_kept, **own)
    self._adopt(shell)
    return self


def _parts(estimator: Estimator[Any], numbers: Places, least: int) -> tuple[Places, Places]:
    """Two random parts of some records: those that certify a risk, and the others."""
    n, needed = len(numbers), 2 * math.ceil(least * 4 / 3)
    if n < needed:
        raise ValueError(
            f"X must have at least {needed:,} {estimator.task.unit}s to learn from and to show "
            f"this risk, got {n:,}. Use more of them, a larger risk or a larger delta."
        )
    random = random_numbers(getattr(estimator, "random_state", None))
    n_kept = min(max(n // _SHARE, needed // 2), _MOST)
    order = random.permutation(n)
    return numbers[np.sort(order[:n_kept])], numbers[np.sort(order[n_kept:])]

"""Keep records of `fit` and `fit_stream` back to certify a risk; knows no kind of record."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

import numpy as np

from surelearn import _check, rules
from surelearn.decide import Novelty, fewest_rows, fewest_to_split, too_few
from surelearn.learners.checks import n_rows, random_numbers, subscriptable
from surelearn.learners.deciding.abstention import (
    NotCertified,
    choose_abstention,
    risks_by_label,
)
from surelearn.learners.deciding.sets import choose_novelty, choose_sets
from surelearn.learners.deciding.state import Decisions, decisions_of, put_decisions
from surelearn.learners.deciding.view import Places
from surelearn.read import Withheld

if TYPE_CHECKING:
    from surelearn.learners.base import Estimator

E = TypeVar("E", bound="Estimator[Any]")

#: One record of `fit` in so many certifies a risk, and so many at most unless it takes more.
_SHARE, _MOST = 5, 20_000
#: Records whose answers lose a share of their parts, which takes more of them to show.
_WITH_PARTS = ("sentence", "graph")


class Wanted(NamedTuple):
    """A risk to be certified after training; see `choose_abstention`."""

    risk: Any
    delta: float
    novel: float | None
    least: int  # the fewest records that can show it

    @classmethod
    def of(
        cls,
        estimator: Estimator[Any],
        risk: Any,
        delta: float,
        novel: float | None = None,
        *,
        resume: bool = False,
    ) -> Self:
        """Check before training what can be checked then."""
        if resume:
            raise ValueError(
                f"risk must be None with resume=True, got {_check.shown(risk)}. Call "
                "choose_abstention after training, with records that the model has not learnt."
            )
        if risk is None:
            raise ValueError(f"novel must be None without a risk, got {novel!r}.")
        risks = risks_by_label(risk)
        delta = _check.number("delta", delta, "(0, 1)", low=0.0, high=1.0)
        if novel is not None:
            novel = _check.number("novel", novel, "(0, 1)", low=0.0, high=1.0)
            if estimator.task.unit != "row":
                raise ValueError(f"novel must be None for {estimator.task.unit}s, got {novel:g}.")
        rule = getattr(estimator, "rule", None)
        if rule is not None and rules.get(rule).first_order:
            raise ValueError(
                f"risk needs a rule that keeps variances, got {rule!r}. Use a second-order rule "
                "such as 'arow'."
            )
        binary = estimator.task.unit not in _WITH_PARTS
        least = fewest_rows(min(risks.values()), delta / len(risks), binary=binary)
        if novel is not None:  # by the records that choose thresholds
            least = max(least, fewest_to_split(Novelty.fewest(novel), f"novel={novel:g}"))
        return cls(risk, delta, novel, least)

    def parts(self, estimator: Estimator[Any], numbers: Places) -> tuple[Places, Places]:
        """Two random parts of some records: those that certify the risk, and the others."""
        n, needed = len(numbers), 2 * math.ceil(self.least * 4 / 3)
        if n < needed:
            raise ValueError(
                f"X must have at least {needed:,} {estimator.task.unit}s to learn from and to show "
                f"this risk, got {n:,}. Use more of them, a larger risk or a larger delta."
            )
        random = random_numbers(getattr(estimator, "random_state", None))
        n_kept = max(min(n // _SHARE, _MOST), needed // 2)
        order = random.permutation(n)
        return numbers[np.sort(order[:n_kept])], numbers[np.sort(order[n_kept:])]


def certify(
    self: Estimator[Any],
    wanted: Wanted,
    X: Any,
    y: Any,
    *,
    warned: type[ValueError] = NotCertified,
    **records: Any,
) -> None:
    """Certify a risk by records that were kept back, and learn from them how large sets must be.

    An error of the kind `warned` becomes a warning: the model is kept without a promise.
    """
    risk, delta, novel, _ = wanted
    try:
        choose_abstention(self, X, y, risk=risk, delta=delta, novel=novel, **records)
        if novel is not None:
            choose_novelty(self, X)
    except warned as error:
        _warn(error)
    choose_sets(self, X, y, **records)


def certify_stream(self: Estimator[Any], wanted: Wanted, source: Withheld) -> None:
    """The same by the records that a source has withheld."""
    kept = source.sample()
    if kept is None:
        risk, unit = min(risks_by_label(wanted.risk).values()), f"kept-back {self.task.unit}s"
        _warn(too_few(0, wanted.least, risk=risk, delta=wanted.delta, unit=unit))
        return
    twin = self._shell()  # rows of a source are read by the names of their columns
    vars(twin).pop("feature_names_in_", None)
    X, y, records = self._examples_of(kept)
    certify(twin, wanted, X, y, warned=ValueError, **records)
    _, *parts = decisions_of(twin)
    put_decisions(self, **dict(zip(Decisions._fields[1:], parts, strict=True)))


def _warn(why: ValueError) -> None:
    warnings.warn(f"{why} The model is kept, without a promise.", UserWarning, stacklevel=5)


def _n_records(estimator: Estimator[Any], X: Any, y: Any, **records: Any) -> int:
    """The number of labelled records; X and y must have as many rows."""
    if y is None:
        raise ValueError("y must be given with risk, got None.")
    rows, labels = n_rows(X), n_rows(y)
    if rows != labels:
        raise ValueError(f"y must have as many entries as X has rows, {rows:,}, got {labels:,}.")
    return estimator._n_records(y, **records)


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

    They are used for nothing else, so they are never learnt.
    """
    wanted, given = Wanted.of(self, risk, delta, novel), records or {}
    X, y = subscriptable(X), subscriptable(y)
    n = _n_records(self, X, y, **given)
    weight = _check.sample_weight(sample_weight, n, unit=self.task.unit)
    kept, rest = wanted.parts(self, np.arange(n) if weight is None else np.flatnonzero(weight))
    shell = self._shell()
    X_rest, y_rest, own = self._picked(X, y, rest, **given)
    shell.fit(X_rest, y_rest, sample_weight=None if weight is None else weight[rest], **own, **how)
    X_kept, y_kept, own = self._picked(X, y, kept, **given)
    certify(shell, wanted, X_kept, y_kept, **own)
    self._adopt(shell)
    return self

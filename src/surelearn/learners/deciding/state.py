"""What an estimator has from kept-back records, and the model that it holds for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn.decide import Certified, Novelty, SetEvidence
from surelearn.rules import Rule

if TYPE_CHECKING:
    from surelearn.learners.base import Estimator

Array = NDArray[np.float64]


class Abstention(NamedTuple):
    """A certified rule: which records are answered, and what was promised."""

    risk: Any  # a number, or {label: number}
    delta: float
    sureness: str
    rules: dict[Any, Certified]  # by label; None: for all labels
    novel: float | None = None
    known: Novelty | None = None
    cost: Array | None = None

    def reached(self, labels: NDArray[Any] | None, sureness: Array) -> NDArray[np.bool_]:
        """Whether each record is sure enough; those of labels without a rule are."""
        if None in self.rules:
            return sureness >= self.rules[None].threshold
        enough = np.ones(len(sureness), dtype=bool)
        for label, rule in self.rules.items():
            own = labels == label
            enough[own] = sureness[own] >= rule.threshold
        return enough


class Decisions(NamedTuple):
    """What an estimator has from kept-back records, and the state of the model it holds for."""

    stamp: tuple[Any, ...]
    abstention: Abstention | None = None
    sets: SetEvidence | None = None
    novelty: Novelty | None = None


def stamp_of(estimator: Estimator[Any]) -> tuple[Any, ...]:
    """What the answers of an estimator depend on, without its weights: these are counted."""
    model, own = estimator.model_, vars(estimator)
    counters = ("records_learnt", "updates", "mistakes", "counts")
    learnt = [np.sum(getattr(model, name, 0)).item() for name in counters]
    params = ["rule", "probability", "decoding", "moderated"]
    if "damping" in own:  # messages on graphs; elsewhere, `tol` is that of training
        params += ["damping", "max_sweeps", "message_tol" if "message_tol" in own else "tol"]
    return (
        *learnt,
        len(getattr(model, "classes", ())),
        *(own.get(name) for name in ("temperature_", "n_iter_", "objective_")),
        repr(own.get("_thresholds")),
        *(_said(own.get(name)) for name in params if name in own),
    )


def _said(value: Any) -> str:
    """A parameter as text that is the same in a copy, in another process as well."""
    if callable(value) and not isinstance(value, Rule):  # the address of a function tells nothing
        named = value if hasattr(value, "__qualname__") else type(value)
        return f"{named.__module__}.{named.__qualname__}"
    return repr(value)


def decisions_of(estimator: Estimator[Any]) -> Decisions:
    """What an estimator has from kept-back records, unless it has learnt since."""
    stamp, found = stamp_of(estimator), vars(estimator).get("_decisions")
    return found if found is not None and found.stamp == stamp else Decisions(stamp)


def put_decisions(estimator: Estimator[Any], **parts: Any) -> None:
    """Give an estimator what was found by kept-back records, beside what it has."""
    vars(estimator)["_decisions"] = decisions_of(estimator)._replace(**parts)


def part_of(estimator: Estimator[Any], name: str, doing: str, method: str) -> Any:
    """What an estimator has from kept-back records; `method` would have made it."""
    found = getattr(decisions_of(estimator), name)
    if found is not None:
        return found
    had = getattr(vars(estimator).get("_decisions"), name, None) is not None
    since = " since the model learnt, was calibrated or had its settings changed" if had else ""
    raise ValueError(
        f"{doing} needs rows that were kept back, got none{since}. Call {method} with labelled "
        "rows that the model has not learnt."
    )


def _promise(self: Estimator[Any], name: str) -> Abstention:
    from surelearn.learners.base import not_fitted

    self._attribute(name)
    found = decisions_of(self).abstention
    if found is None:
        not_fitted(f"{name} needs a certified risk, got none. Call choose_abstention first.")
    return found


def _told(self: Estimator[Any], name: str, field: str) -> Any:
    """A fitted attribute: one number, or one for each label that has a risk of its own."""
    rules = _promise(self, name).rules
    told = {label: getattr(rule, field) for label, rule in rules.items()}
    return told.get(None, told)


def promise_of(estimator: Estimator[Any]) -> dict[str, Any] | None:
    """What was certified, as plain values for reports; None if the model promises nothing."""
    found = decisions_of(estimator).abstention
    if found is None:
        return None
    novel = {} if found.novel is None else {"novel": found.novel}
    told = {"coverage": "coverage", "risk_bound": "bound", "certified_by": "n"}
    plain = {name: _told(estimator, name, field) for name, field in told.items()}
    return {"risk": found.risk, "delta": found.delta, **novel, **plain}


def coverage_(self: Estimator[Any]) -> Any:
    """The share of the certifying records that is answered, by label if so asked."""
    return _told(self, "coverage_", "coverage")


def risk_bound_(self: Estimator[Any]) -> Any:
    """The upper bound of the risk at the threshold that was chosen, by label if so asked.

    It describes the certifying records, which have chosen the threshold as well; what is promised
    is the risk that was asked for.
    """
    return _told(self, "risk_bound_", "bound")


def n_certified_(self: Estimator[Any]) -> Any:
    """How many kept-back records have certified the risk, by label if so asked."""
    return _told(self, "n_certified_", "n")

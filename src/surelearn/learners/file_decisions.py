"""What a file keeps of decisions: certified risks, evidence for sets, known novelty.

A file is untrusted input: all of it is checked before it is used.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, files
from surelearn._check import FormatError
from surelearn.decide import NOVELTY_SCORES, SET_SCORES, Certified, Novelty, SetEvidence
from surelearn.learners.base import Estimator, require_variances
from surelearn.learners.deciding import SURENESS, Abstention, decisions_of, put_decisions

Array = NDArray[np.float64]

#: Tensors: of the evidence for sets, of novelty, and of novelty as part of a certified rule.
_SETS = ("set_values", "set_shares", "set_labels")
_NOVELTY, _KNOWN = "novelty_values", "known_values"


def decisions_out(estimator: Estimator[Any]) -> tuple[dict[str, Any], files.Tensors]:
    """Settings and tensors of what still holds for the model."""
    found = decisions_of(estimator)
    settings: dict[str, Any] = {}
    tensors: dict[str, NDArray[Any]] = {}
    if found.abstention is not None:
        settings["abstention"] = _abstention_out(found.abstention)
        if found.abstention.known is not None:
            tensors[_KNOWN] = found.abstention.known.values
    if found.sets is not None:
        own = found.sets
        settings["sets"] = {"score": own.score, "n": own.n, "binary": own.binary}
        tensors |= dict(zip(_SETS, (own.values, own.share, own.label), strict=True))
    if found.novelty is not None:
        settings["novelty"] = {"score": found.novelty.score}
        tensors[_NOVELTY] = found.novelty.values
    return ({"decisions": settings} if settings else {}), tensors


def put_file_decisions(
    estimator: Estimator[Any], fields: files.Fields, tensors: files.Tensors
) -> None:
    """Give an estimator the decisions of a file, checked."""
    parts: dict[str, Any] = {}
    if fields.has("decisions"):
        _check_variances(estimator, fields.where)
        inner = fields.inner("decisions")
        if inner.has("abstention"):
            parts["abstention"] = _abstention_in(estimator, inner.inner("abstention"), tensors)
        if inner.has("sets"):
            parts["sets"] = _sets_in(estimator, inner.inner("sets"), tensors)
        if inner.has("novelty"):
            parts["novelty"] = _novelty_in(inner.inner("novelty"), _NOVELTY, tensors)
    if parts:
        put_decisions(estimator, **parts)


def _check_variances(estimator: Estimator[Any], where: str) -> None:
    try:
        require_variances(estimator)
    except AttributeError as error:
        raise FormatError(
            f"{where}: decisions must belong to a model with variances: {error}"
        ) from None


def _abstention_out(own: Abstention) -> dict[str, Any]:
    risks = own.risk.items() if isinstance(own.risk, dict) else [(None, own.risk)]
    rules = [_rule_out(label, risk, own.rules[label]) for label, risk in risks]
    found = {"delta": own.delta, "sureness": own.sureness, "rules": rules}
    if own.known is not None:
        found |= {"novel": own.novel, "score": own.known.score}
    if own.cost is not None:
        found["cost"] = own.cost.tolist()
    return found


def _rule_out(label: Any, risk: float, rule: Certified) -> dict[str, Any]:
    """A rule as plain JSON; all records are answered without a threshold."""
    found = {"risk": risk, "bound": rule.bound, "coverage": rule.coverage, "n": rule.n}
    if label is not None:
        found["label"] = label.item() if isinstance(label, np.generic) else label
    if math.isfinite(rule.threshold):
        found["threshold"] = rule.threshold
    return found


def _abstention_in(
    estimator: Estimator[Any], fields: files.Fields, tensors: files.Tensors
) -> Abstention:
    rules: dict[Any, Certified] = {}
    risks: dict[Any, float] = {}
    for plain in fields.list("rules"):
        rule = files.Fields(plain, f"{fields.where}: rules")
        label = plain.get("label")
        if label is not None and label not in _classes(estimator):
            raise FormatError(f"{rule.where}: label must be one of the model, got {label!r:.60}.")
        if label in rules:
            raise FormatError(f"{rule.where}: label must differ in each, got {label!r:.60} again.")
        risks[label] = _inner_share(rule, "risk")
        threshold = rule.number("threshold") if rule.has("threshold") else -math.inf
        bound, coverage = _share(rule, "bound"), _share(rule, "coverage")
        rules[label] = Certified(threshold, bound, coverage, rule.integer("n", low=1))
    if not rules or (None in rules and len(rules) > 1):
        raise FormatError(f"{fields.where}: rules must be one for all labels, or one a label.")
    novel = known = None
    if fields.has("novel"):
        novel, known = _inner_share(fields, "novel"), _novelty_in(fields, _KNOWN, tensors)
        least = Novelty.fewest(novel)
        if len(known.values) < least:
            raise FormatError(f"{fields.where}: {_KNOWN} must be {least} numbers or more.")
    cost = _cost_in(estimator, fields)
    risk: Any = risks.get(None, risks)
    sureness = fields.text("sureness", SURENESS)
    delta = _inner_share(fields, "delta")
    return Abstention(risk, delta, sureness, rules, novel, known, cost)


def _classes(estimator: Estimator[Any]) -> list[Any]:
    """The labels of the model; a ranker has none."""
    found: list[Any] = getattr(estimator, "classes_", np.zeros(0)).tolist()
    return found


def _share(fields: files.Fields, name: str) -> float:
    """A number from 0 to 1."""
    value = fields.number(name)
    if not 0.0 <= value <= 1.0:
        raise FormatError(f"{fields.where}: {name} must be in [0, 1], got {value}.")
    return value


def _inner_share(fields: files.Fields, name: str) -> float:
    """A number between 0 and 1."""
    value = _share(fields, name)
    if value in (0.0, 1.0):
        raise FormatError(f"{fields.where}: {name} must be in (0, 1), got {value}.")
    return value


def _cost_in(estimator: Estimator[Any], fields: files.Fields) -> Array | None:
    if not fields.has("cost"):
        return None
    K, cost = len(_classes(estimator)), _check.numbers("cost", fields.list("cost"))
    if cost.shape not in ((K, K), (K, K + 1)):
        raise FormatError(f"{fields.where}: cost must fit the classes, got shape {cost.shape}.")
    return cost


def _sets_in(
    estimator: Estimator[Any], fields: files.Fields, tensors: files.Tensors
) -> SetEvidence:
    share, label = (np.ascontiguousarray(tensors[name]) for name in _SETS[1:])
    values = _ascending(_SETS[0], tensors[_SETS[0]])
    if share.dtype != np.float64 or share.shape != values.shape:
        raise ValueError(f"{_SETS[1]} must have one number for each value.")
    if not ((share > 0).all() and (share <= 1).all()):
        raise ValueError(f"{_SETS[1]} must be above 0 and at most 1.")
    if label.dtype != np.int64 or label.shape != values.shape or (label < -1).any():
        raise ValueError(f"{_SETS[2]} must have the place of a label for each value.")
    n = fields.integer("n", low=1, high=2**53)
    score = fields.text("score", SET_SCORES)
    binary = fields.flag("binary")
    if n != len(values) if binary else share.sum() > n * (1 + 1e-9):
        raise FormatError(f"{fields.where}: n must fit the tensors, got {n}.")
    if binary and (share != 1).any():
        raise FormatError(f"{fields.where}: binary must be false where shares are below 1.")
    if _classes(estimator) and (label >= len(_classes(estimator))).any():
        raise FormatError(f"{fields.where}: labels must be among those of the model.")
    return SetEvidence(score, values, share, label, n, binary)


def _novelty_in(fields: files.Fields, name: str, tensors: files.Tensors) -> Novelty:
    values = _ascending(name, tensors[name])
    if not len(values):
        raise FormatError(f"{fields.where}: {name} must have numbers.")
    return Novelty(values, fields.text("score", list(NOVELTY_SCORES)))


def _ascending(name: str, values: NDArray[Any]) -> Array:
    """Checked numbers in ascending order."""
    if values.dtype != np.float64 or values.ndim != 1:
        raise ValueError(f"{name} must be one row of 64-bit numbers.")
    if np.isnan(values).any() or (values[1:] < values[:-1]).any():
        raise ValueError(f"{name} must ascend.")
    return np.ascontiguousarray(values)

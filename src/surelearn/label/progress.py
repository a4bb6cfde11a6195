"""How far the labelling is: errors, curves, histogram, agreement; must not know how it looks."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from surelearn.label.learner import agreement
from surelearn.label.ledger import Ledger, Step
from surelearn.label.session import Session

#: Answers that a point of the curves averages, and bars of the histogram.
_WINDOW, _BARS = 20, 10
#: Random questions without which no error is estimated.
FEWEST = 20


class Share(NamedTuple):
    """A share of n trials with the interval of Clopper and Pearson at 95 %."""

    value: float
    low: float
    high: float
    n: int


class Report(NamedTuple):
    """What the panel shows.

    `counts`: texts of each label, and `places` its place in the palette. `error`: progressive
    validation error of all questions, and `at_random` of those drawn at random, None without any.
    `explore`: how often one is drawn. `curve`, `random_curve`: pairs of the number of labels and
    the error of the last answers up to it. `histogram`: shares of what is left of the
    pool's sample by the probability of its best label. `stop`: why to stop, or "".
    """

    n_labels: int
    n_items: int
    n_skipped: int
    counts: list[tuple[str, int]]
    places: list[int | None]
    error: Share | None
    at_random: Share | None
    explore: float
    curve: list[tuple[int, float]]
    random_curve: list[tuple[int, float]]
    histogram: list[float]
    lowest: float
    stop: str

    @property
    def is_done(self) -> bool:
        """Whether every item is labelled or skipped."""
        return self.n_labels + self.n_skipped >= self.n_items


class Goal(NamedTuple):
    """When to suggest to stop: after so many labels, or at an error as low as this."""

    budget: int | None = None
    error: float | None = None


class Agreement(NamedTuple):
    """How often two people gave the same label, and Cohen's kappa."""

    one: str
    other: str
    n: int
    same: float
    kappa: float


def report(session: Session, goal: Goal = Goal()) -> Report:  # noqa: B008  (a tuple)
    """The state of a session in numbers."""
    with session.lock:
        ledger, learner = session.ledger, session.learner
        label_steps = list(session.label_steps())
        # Of those it has learnt it is sure, which says nothing of the others.
        is_open = ~np.isin(learner.sample, list(ledger.closed))
        sure = learner.sureness()
        sure = sure[is_open[: len(sure)]]
        stable = learner.stable()
    judged = [(i + 1, step) for i, step in enumerate(label_steps) if step.predicted is not None]
    drawn = [(i, step) for i, step in judged if step.at_random]
    wrong = [(i, _error_of(step, session.kind)) for i, step in judged]
    wrong_drawn = [(i, _error_of(step, session.kind)) for i, step in drawn]
    counts = _counts(ledger, label_steps)
    lowest = 1 / max(2, len(ledger.labels)) if session.kind == "texts" else 0.5
    found = Report(
        len(label_steps),
        len(session.items),
        len(ledger.skipped),
        counts,
        [session.place_of(name) for name, _ in counts],
        _share([missed for _, missed in wrong]),
        _share([missed for _, missed in wrong_drawn]),
        session.explore,
        _curve(wrong),
        _curve(wrong_drawn),
        _histogram(sure, lowest),
        lowest,
        "",
    )
    return found._replace(stop=_stop(found, goal, stable))


def agreements(ledger: Ledger, kind: str = "texts") -> list[Agreement]:
    """Every two people who labelled the same items: kappa of labels, of sets of them, of tags."""
    found = []
    for (one, other), pairs in sorted(ledger.pairs().items()):
        a, b = (_flat([pair[side] for pair in pairs], kind) for side in (0, 1))
        same = float(np.mean([x == y for x, y in pairs]))
        found.append(Agreement(one, other, len(pairs), same, agreement(a, b)))
    return found


def _flat(labels: list[Any], kind: str) -> list[str]:
    """Labels to compare: tags one by one, a set of labels as one."""
    if kind == "tags":
        return [name for tags in labels for name in tags]
    return ["; ".join(label) for label in labels] if kind == "many" else labels


def _counts(ledger: Ledger, label_steps: list[Step]) -> list[tuple[str, int]]:
    found: Counter[str] = Counter()
    for step in label_steps:
        found.update([step.label] if isinstance(step.label, str) else step.label)
    spans = [name for name in ledger.labels if name.startswith("B-")]
    if spans:  # of spans their number, not that of their tokens
        return [(name[2:], found[name]) for name in spans]
    return [(name, found[name]) for name in ledger.labels]


def _error_of(step: Step, kind: str = "texts") -> float:
    """How wrong a prediction was: 0 or 1, for a sentence the share of its tags."""
    if kind == "tags":
        return float(np.mean([a != b for a, b in zip(step.label, step.predicted, strict=True)]))
    return float(step.label != step.predicted)


def _share(missed: list[float]) -> Share | None:
    from surelearn.evaluation import share_interval

    n, total = len(missed), math.fsum(missed)
    if not n:
        return None
    # A sentence may be wrong in part: the bounds are those of the whole numbers around the sum.
    low, high = share_interval(math.floor(total), n)[0], share_interval(math.ceil(total), n)[1]
    return Share(total / n, low, high, n)


def _curve(wrong: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """The mean error of the last answers, at up to 60 points."""
    missed = np.array([share for _, share in wrong])
    if len(missed) < 6:  # one point is no line
        return []
    at = np.unique(np.linspace(4, len(missed) - 1, 60).astype(int))
    return [(wrong[i][0], float(missed[max(0, i + 1 - _WINDOW) : i + 1].mean())) for i in at]


def _histogram(sure: np.ndarray[Any, Any], lowest: float) -> list[float]:
    if not len(sure):
        return []
    counts, _ = np.histogram(np.clip(sure, lowest, 1.0), bins=_BARS, range=(lowest, 1.0))
    return [float(count) / len(sure) for count in counts]


def _stop(found: Report, goal: Goal, stable: str) -> str:
    if found.is_done:
        return "nothing is left to label"
    if goal.budget is not None and found.n_labels >= goal.budget:
        return f"{found.n_labels:,} labels reach the budget of {goal.budget:,}"
    drawn = found.at_random
    if goal.error is not None and drawn and drawn.n >= FEWEST and drawn.high <= goal.error:
        return f"the error is at most {drawn.high:.1%} on texts drawn at random"
    return stable

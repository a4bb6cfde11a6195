"""From the constraints of a round to new weights: one, one after another, all mixed, all at once.

A scheme knows difference vectors and a rule, but no label. It takes the weights at the start of the
round and gives those at its end, in float64; the learner rounds them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from . import exact
from .diagonal import Diagonal, Move
from .full import Full
from .rules import weighted

Weights = Diagonal | Full

# Rules with a solution for many constraints at once.
EXACT = frozenset({"variance", "stdev", "pa", "pa1", "pa2"})

# Those of them that know no slack.
HARD = frozenset({"variance", "stdev", "pa"})

# How near two numbers are, as a part of the terms they are summed from, for rounding to decide.
NEAR = 1e-6


class Constraint(NamedTuple):
    """A difference vector and the rule's parameters for it."""

    g: np.ndarray
    params: dict[str, float]


@dataclass(frozen=True)
class Round:
    """What a round did: the weights after it, whether anything moved, whether it was close."""

    weights: Weights
    moved: bool
    close: bool


@dataclass(frozen=True)
class Task:
    """A rule and the weight of the row."""

    rule: str
    weight: float

    def move(self, weights: Weights, constraint: Constraint) -> Move:
        """The rule's step for one constraint."""
        g, params = constraint
        m, v = weights.margin(g), weights.variance(g)
        return Move(g, *weighted(self.rule, m, v, self.weight, weights.shares(g), **params))


def single(weights: Weights, constraints: Sequence[Constraint], task: Task) -> Round:
    """Only the first constraint.

    References
    ----------
    Crammer, Dredze & Kulesza 2009, sec. 5.1.
    """
    return sequential(weights, constraints[:1], task)


def sequential(weights: Weights, constraints: Sequence[Constraint], task: Task) -> Round:
    """One constraint after another, each from the weights the last one left.

    References
    ----------
    Crammer, Dredze & Kulesza 2009, sec. 5.2.
    """
    moved = close = False
    for constraint in constraints:
        close |= is_close(weights, constraint)
        move = task.move(weights, constraint)
        if moves([move]):
            weights = weights.moved(move)
            moved = True
        if not weights.is_sound():
            break
    return Round(weights, moved, close)


def parallel(
    weights: Weights, constraints: Sequence[Constraint], task: Task, mixing: Sequence[float]
) -> Round:
    """Every constraint from the start of the round; then means and precisions are averaged.

    References
    ----------
    Crammer, Dredze & Kulesza 2009, sec. 5.2.
    """
    close = any(is_close(weights, constraint) for constraint in constraints)
    steps = [task.move(weights, constraint) for constraint in constraints]
    if not moves([step for step, part in zip(steps, mixing, strict=True) if part > 0]):
        return Round(weights, False, close)
    return Round(weights.mixed(steps, mixing), True, close)


def exactly(weights: Weights, constraints: Sequence[Constraint], task: Task) -> Round:
    """The nearest weights that meet all constraints.

    References
    ----------
    Crammer, Dredze & Kulesza 2009, sec. 5 and 6.3.
    """
    close = any(is_close(weights, constraint) for constraint in constraints)
    usable = [c for c in constraints if _is_usable(weights, c)]
    if not usable:
        return Round(weights, False, close)
    alphas, gains = _SOLVERS[task.rule](weights, usable, task)
    steps = [Move(c.g, *step) for c, *step in zip(usable, alphas, gains, strict=True)]
    if not moves(steps):
        return Round(weights, False, close)
    close |= _is_half_active(weights, usable, steps)
    # A hard rule has no trade-off, so its whole step is scaled by the weight.
    scale = min(1.0, task.weight) if task.rule in HARD else 1.0
    scaled = [Move(g, scale * alpha, scale * gain) for g, alpha, gain in steps]
    return Round(weights.moved_at_once(scaled), True, close)


def moves(steps: Sequence[Move]) -> bool:
    """Whether any step is one."""
    return any(step.alpha > 0 or step.gain > 0 for step in steps)


def is_close(weights: Weights, constraint: Constraint) -> bool:
    """Whether m is within rounding of where a rule begins to move, or of a mistake.

    A CW update ends exactly there, so the same row seen again is one.
    """
    g, params = constraint
    m, v = weights.margin(g), max(0.0, weights.variance(g))
    size = float(np.abs(weights.mu * g).sum())
    phi = params.get("phi", 0.0)
    edges = (0.0, params.get("margin", 1.0), phi * v, phi * math.sqrt(v))
    near = size > 0 and any(abs(m - edge) <= NEAR * (size + edge) for edge in edges)
    # Asked for m >= 0 alone, where m is 0: the core's solver asks for a grain more.
    on_the_edge = params.get("phi") == 0 and m == 0 and v > 0
    return near or on_the_edge or weights.is_blurred(g)


def _is_usable(weights: Weights, constraint: Constraint) -> bool:
    """Whether the margin has a variance and both are finite; else no rule moves."""
    m, v = weights.margin(constraint.g), weights.variance(constraint.g)
    return math.isfinite(m) and math.isfinite(v) and v > 0


def _is_half_active(weights: Weights, constraints: Sequence[Constraint], steps: list[Move]) -> bool:
    """Whether a constraint is met by the others' moves to within rounding of having to move too."""
    after = weights.moved_at_once(steps)
    for (g, params), step in zip(constraints, steps, strict=True):
        m, v = after.margin(g), max(0.0, after.variance(g))
        size = NEAR * float(np.abs(after.mu * g).sum())
        phi = params.get("phi", 0.0)
        edges = (params.get("margin", 1.0), phi * v, phi * math.sqrt(v))
        if step.alpha * weights.variance(g) <= size and any(abs(m - e) <= size for e in edges):
            return True
    return False


def _variance(weights: Weights, constraints: Sequence[Constraint], task: Task) -> exact.Steps:
    phis = [params["phi"] for _, params in constraints]
    return exact.variance_steps(weights, [g for g, _ in constraints], phis)


def _stdev(weights: Weights, constraints: Sequence[Constraint], task: Task) -> exact.Steps:
    phis = [params["phi"] for _, params in constraints]
    return exact.stdev_steps(weights, [g for g, _ in constraints], phis)


def _passive_aggressive(
    weights: Weights, constraints: Sequence[Constraint], task: Task
) -> exact.Steps:
    """The soft ones scale C by the weight of the row."""
    asked = [params.get("margin", 1.0) for _, params in constraints]
    C = constraints[0].params.get("C", math.inf) * task.weight
    slack = {"pa": {}, "pa1": {"box": C}, "pa2": {"ridge": 1 / (2 * C)}}[task.rule]
    return exact.pa_steps(weights, [g for g, _ in constraints], asked, **slack)


_SOLVERS: dict[str, Callable[[Weights, Sequence[Constraint], Task], exact.Steps]] = {
    "variance": _variance,
    "stdev": _stdev,
    "pa": _passive_aggressive,
    "pa1": _passive_aggressive,
    "pa2": _passive_aggressive,
}

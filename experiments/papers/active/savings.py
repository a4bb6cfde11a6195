"""Labels that asking saves, read off simulations; must not know tables or claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from experiments.papers.active.tasks import ALL, SOME

if TYPE_CHECKING:
    from surelearn.active import Simulation

Pair = tuple[str, str]
#: Labels needed for a share of the accuracy with all labels: by task, then by learner and strategy.
Needed = Mapping[str, Mapping[Pair, Any]]

PA_RANDOM, PA_MARGIN = ("PA", "random"), ("PA", "margin")
CW_RANDOM, CW_MARGIN, ACL = ("CW", "random"), ("CW", "margin"), ("CW", "acl")
ASKING = {PA_MARGIN: "PA margin", CW_MARGIN: "CW margin", ACL: "ACL"}
EVERY = {PA_RANDOM: "PA random", CW_RANDOM: "CW random", **ASKING}
#: Labels for 80 % of the accuracy with all labels, in per cent of random order (section 4).
PAPER = {PA_MARGIN: 93, CW_MARGIN: 73, ACL: 63}


def needed(found: Mapping[str, Simulation], share: float, against: str = "random") -> Needed:
    """What `Simulation.labels_needed` says of each task and mean."""
    return {
        task: {line[:2]: line for line in one.labels_needed(share, against=against)}
        for task, one in found.items()
    }


def of_tasks(found: Mapping[str, Any]) -> dict[str, Any]:
    """Tasks alone, without the means of several."""
    return {task: one for task, one in found.items() if task not in (SOME, ALL)}


def ratios(lines: Needed, pair: Pair) -> list[float]:
    """Labels in per cent of random order, for each task."""
    return [100 * one[pair].ratio for one in of_tasks(lines).values()]


def wins(lines: Needed, first: Pair, second: Pair) -> tuple[int, int, int]:
    """Tasks on which the first needs fewer labels than the second, more, and as many."""
    tasks = of_tasks(lines).values()
    fewer = sum(one[first].labels < one[second].labels for one in tasks)
    more = sum(one[first].labels > one[second].labels for one in tasks)
    return fewer, more, len(tasks) - fewer - more


def apart(lines: Needed) -> list[str]:
    """Tasks on which ACL and CW margin differ by more than two standard errors.

    `lines` are relative to margin.
    """
    acl = {task: one[ACL] for task, one in of_tasks(lines).items()}
    return [task for task, one in acl.items() if abs(one.ratio - 1) > 2 * one.ratio_error]


def ahead(one: Simulation, first: Pair, second: Pair) -> NDArray[Any]:
    """Points of accuracy by which the first is ahead: each run, after each label."""
    return np.asarray(100 * (one.curves[first] - one.curves[second]))

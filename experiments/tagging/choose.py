"""The setting that serves all tasks best, early and late; must not know how it was measured."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np

EARLY, LATE = (1, 3), (10,)
#: Errors above those of the averaged perceptron that are borne, in percent.
BORNE = 10.0
Key = tuple[str, str, str]
Cell = tuple[str, int]

BASE: Key = ("Perceptron()", "yes", "precision")


def by_setting(lines: Sequence[Mapping[str, Any]]) -> dict[Key, dict[Cell, float]]:
    """Scores by (rule, averaged, projection), of each task after each number of passes."""
    found: dict[Key, dict[Cell, float]] = defaultdict(dict)
    for line in lines:
        key = line["rule"], line["averaged"], line["projection"]
        found[key][line["task"], int(line["passes"])] = float(line["score %"])
    return dict(found)


def excess(scores: dict[Key, dict[Cell, float]]) -> dict[Key, dict[Cell, float]]:
    """By how many percent a setting makes more errors than the best of the same task and passes.

    So that tasks count alike: 2 points are little where the best is wrong in ten, and much where it
    is wrong in three.
    """
    best = {cell: max(mine[cell] for mine in scores.values()) for cell in scores[BASE]}
    return {
        key: {cell: 100 * (best[cell] - s) / (100 - best[cell]) for cell, s in mine.items()}
        for key, mine in scores.items()
    }


def chosen(
    lines: Sequence[Mapping[str, Any]], refusing: Set[Key] = frozenset()
) -> list[dict[str, str]]:
    """Every setting with its mean excess, early and late, and its worst; the best first.

    `behind` has by how many percent its errors are at most above those of the averaged perceptron.
    Settings where that is over `BORNE`, and those that refuse random labels, come last.
    """
    scores = by_setting(lines)
    rows = []
    for key, mine in excess(scores).items():
        early, late = (
            float(np.mean([e for (_, passes), e in mine.items() if passes in some]))
            for some in (EARLY, LATE)
        )
        base = scores[BASE]
        behind = max(100 * (base[cell] - s) / (100 - base[cell]) for cell, s in scores[key].items())
        figures = ((early + late) / 2, early, late, max(mine.values()), behind)
        rows.append((key, figures, "refuses" if key in refusing else "learns"))
    rows.sort(key=lambda row: (row[2] == "refuses" or row[1][-1] > BORNE, row[1][0]))
    names = ("rule", "averaged", "projection", "mean", "early", "late", "worst", "behind", "random")
    return [
        dict(zip(names, (*key, *(f"{x:.1f}" for x in figures), random), strict=True))
        for key, figures, random in rows
    ]

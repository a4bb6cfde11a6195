"""The tables of README.md from refit.csv; must not know how it was made.

    python -m experiments.active.refit_page

puts them between the marks of the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from experiments import tables

HERE = Path(__file__).parent
RESULT, PAGE = HERE / "refit.csv", HERE / "README.md"
POOL, REFITTED = "Pool", "LogisticRegression"
EVERY = 10
SHARES = (0.9, 0.95)
AT = (50, 100, 200, 500)
SAME = 200


class Run(NamedTuple):
    """One curve: accuracy with all labels, after every ten, and of another model of 200."""

    full: float
    accuracy: np.ndarray
    same: float

    def needed(self, target: float) -> float:
        """Labels until the curve, smoothed over three points, reaches a target; inf if never."""
        padded = np.pad(self.accuracy, 1, mode="edge")
        there = np.flatnonzero(np.convolve(padded, np.ones(3) / 3, "valid") >= target)
        return float(EVERY * (there[0] + 1)) if len(there) else float("inf")

    def after(self, n: int) -> float:
        return float(self.accuracy[n // EVERY - 1])


#: Runs by set and learner, in the order of their numbers.
Found = dict[str, dict[str, list[Run]]]


def results(path: Path = RESULT) -> Found:
    out: Found = {}
    for line in tables.lines(path):
        accuracy = np.array(line["accuracy"].split(), dtype=float)
        run = Run(float(line["full"]), accuracy, float(line["same"]))
        out.setdefault(line["set"], {}).setdefault(line["learner"], []).append(run)
    return out


def needed(learners: dict[str, list[Run]], who: str, share: float) -> np.ndarray:
    """Labels of each run until it has a share of the better of both accuracies with all labels."""
    both = zip(learners[POOL], learners[REFITTED], strict=True)
    targets = [share * max(ours.full, theirs.full) for ours, theirs in both]
    return np.array([run.needed(goal) for run, goal in zip(learners[who], targets, strict=True)])


def ratio(learners: dict[str, list[Run]], share: float) -> tuple[float, float]:
    """Labels of the pool relative to those of LogisticRegression, with the error over runs.

    A target that is not reached counts as reached with the last label.
    """
    last = EVERY * min(len(run.accuracy) for runs in learners.values() for run in runs)
    ours, theirs = (np.minimum(needed(learners, who, share), last) for who in (POOL, REFITTED))
    each = ours / theirs
    return float(each.mean()), float(each.std(ddof=1) / np.sqrt(len(each)))


def lost(found: Found, share: float) -> list[str]:
    """Sets on which the pool needs more labels."""
    return [name for name, learners in found.items() if ratio(learners, share)[0] > 1]


def _labels(counts: np.ndarray) -> str:
    """Mean and standard error over runs; how many of them never got there."""
    reached = counts[np.isfinite(counts)]
    if not len(reached):
        return "never"
    if len(reached) < len(counts):
        return f"{reached.mean():.0f}, {len(counts) - len(reached)} never"
    return f"{counts.mean():.0f} ± {counts.std(ddof=1) / np.sqrt(len(counts)):.0f}"


def _marks(found: Found, share: float) -> Iterator[list[str]]:
    for name, learners in found.items():
        full = [f"{100 * np.mean([run.full for run in learners[who]]):.1f}"
                for who in (POOL, REFITTED)]  # fmt: skip
        cells = [_labels(needed(learners, who, share)) for who in (POOL, REFITTED)]
        if cells[0] == cells[1] == "never":
            yield [name, *full, *cells, ""]
        else:
            mean, error = ratio(learners, share)
            bound = "" if np.isfinite(needed(learners, REFITTED, share)).all() else "< "
            yield [name, *full, *cells, f"{bound}{100 * mean:.0f} ± {100 * error:.0f} %"]


def _accuracies(found: Found) -> Iterator[list[str]]:
    for name, learners in found.items():
        cells = [_lead(learners, n) for n in AT]
        same = [run.same for run in learners[POOL]]
        yield [name, *cells, _points([run.after(SAME) for run in learners[POOL]], same)]


def _lead(learners: dict[str, list[Run]], n: int) -> str:
    ours, theirs = ([run.after(n) for run in learners[who]] for who in (POOL, REFITTED))
    return f"{100 * np.mean(ours):.1f} ({_points(ours, theirs)})"


def _points(ours: Sequence[float], theirs: Sequence[float]) -> str:
    """The lead in points, with its standard error over runs."""
    lead = 100 * (np.array(ours) - theirs)
    return f"{lead.mean():+.1f} ± {lead.std(ddof=1) / np.sqrt(len(lead)):.1f}"


def made(found: Found) -> list[str]:
    """What stands between the marks."""
    head = ("set", "Pool, all", "LogisticRegression, all", "Pool", "LogisticRegression",
            "Pool to LogisticRegression")  # fmt: skip
    out = []
    for share in SHARES:
        out += [
            f"Labels to {100 * share:g} % of the better of both accuracies with all labels:\n",
            *tables.table(head, _marks(found, share)),
        ]
    return [
        *out,
        "Accuracy of the pool's model in per cent (and its lead over LogisticRegression, in "
        f"points); last, its lead over LogisticRegression on tf-idf of the same {SAME} answers:\n",
        *tables.table(("set", *(f"{n} labels" for n in AT), "the same answers"),
                      _accuracies(found)),
    ]  # fmt: skip


def renewed(page: str) -> str:
    """The page with its tables made anew."""
    return tables.placed(page, "experiments/active/refit_page.py", made(results()))


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

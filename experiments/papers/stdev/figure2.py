"""Figure 2 (a) and (b): mistakes of one pass, and test error, on a long, thin cloud."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from experiments.papers.charts import Curve, Panel, draw_bars, draw_curves
from experiments.papers.entry import Case, Entry, Row, Rows
from experiments.papers.statistics import mean
from experiments.papers.stdev import figure2_claims
from experiments.papers.stdev.clouds import (
    CLOUDS,
    LONG,
    POINTS,
    Cloud,
    error_rate,
    is_collapse,
    model,
    points,
)
from experiments.papers.stdev.learners import LEARNERS, best, tried

STEP = 50  # rounds between two points of a curve
RUNS, TUNED_ON = 300, 60
SEEDS = 300  # seeds of reported runs are below, those of tuning runs from here on
#: Mistakes on the longest cloud, by an independent implementation with its tuning.
EXPECTED = {
    "perceptron": 226, "PA": 167, "SOP": 76, "Var diag, precision": 138,
    "Var diag, covariance": 120, "Stdev diag, precision": 120, "Stdev diag, covariance": 113,
    "Var full": 53.1, "Stdev full": 49.2, "VarianceExact diag": 132, "AROW full": 61,
}  # fmt: skip
#: The seven of the paper's figure, with the diagonal that loses no runs.
SEVEN = ("perceptron", "PA", "SOP", "Stdev diag, covariance", "Stdev full",
         "Var diag, covariance", "Var full")  # fmt: skip


def _path(how: dict[str, Any], cloud: Cloud, seed: int) -> tuple[list[float], float]:
    """Mistakes so far after every `STEP` points, and test error; empty if the run is lost."""
    X, y = points(cloud, seed)
    clf, out = model(**how), []
    for start in range(0, POINTS, STEP):
        rows = slice(start, start + STEP)
        try:
            clf.partial_fit(X[rows], y[rows], classes=[-1, 1])
        except ValueError as error:
            if is_collapse(error):
                return [], np.nan
            raise
        out.append(float(clf.mistakes_[-1]))
    return out, error_rate(cloud, clf.coef_[0])


def _run(cloud: Cloud, name: str, *, runs: int, tuned_on: int) -> Rows:
    """A learner, tuned on other runs than those reported."""
    learner = LEARNERS[name]
    grid = tried(learner, cloud, range(SEEDS, SEEDS + tuned_on)) if learner.parameter else []
    value = best(grid) if grid else 0.0
    found = [_path(learner.make(value), cloud, seed) for seed in range(runs)]
    paths = np.array([path for path, _ in found if path])
    return [
        {
            "cloud": str(cloud),
            "learner": name,
            "parameter": f"{learner.parameter} = {value:.3g}" if learner.parameter else "",
            "mistakes": [path[-1] if path else None for path, _ in found],
            "test error": [error if path else None for path, error in found],
            "path": paths.mean(axis=0).tolist(),
            "deviation": paths.std(axis=0, ddof=1).tolist(),
            "tried": [{**one._asdict(), "runs": tuned_on} for one in grid],
        }
    ]


def cases(quick: bool) -> dict[str, Case]:
    """Each learner on each cloud."""
    clouds = CLOUDS[::2] if quick else CLOUDS
    size = {"runs": 30, "tuned_on": 4} if quick else {"runs": RUNS, "tuned_on": TUNED_ON}
    return {
        f"{cloud}; {name}": partial(_run, cloud, name, **size)
        for cloud in clouds
        for name in LEARNERS
    }


def tables(rows: Rows) -> dict[str, Rows]:
    """Mistakes and test error on each cloud, and what the tuning of diagonal learners met."""
    out = {}
    for cloud in dict.fromkeys(row["cloud"] for row in rows):
        lines = [_line(row) for row in rows if row["cloud"] == cloud]
        if cloud != str(LONG):
            lines = [{k: v for k, v in line.items() if k != "expected"} for line in lines]
        out[f"Mistakes in one pass and test error (%), {cloud}"] = lines
    forms = [row for row in rows if "diag" in row["learner"]]
    lost = [{"cloud": r["cloud"], "learner": r["learner"], **_lost(r)} for r in forms]
    return {**out, "Runs lost to a variance of zero while tuning, in percent, by phi": lost}


def _line(row: Row) -> Row:
    kept = [value for value in row["mistakes"] if value is not None]
    errors = [value for value in row["test error"] if value is not None]
    return {
        "learner": row["learner"],
        "parameter": row["parameter"],
        "mistakes": f"{mean(kept).value:.1f}",
        "standard error": f"{mean(kept).error:.1f}",
        "deviation": f"{np.std(kept, ddof=1):.1f}",
        "expected": EXPECTED.get(row["learner"], ""),
        "test error": f"{mean(errors).value:.2f}",
        "its standard error": f"{mean(errors).error:.2f}",
        "its deviation": f"{np.std(errors, ddof=1):.2f}",
        "lost runs": len(row["mistakes"]) - len(kept),
    }


def _lost(row: Row) -> Row:
    shown = [one for one in row["tried"] if 0.4 < one["value"] < 4]
    return {f"{one['value']:.2g}": f"{100 * one['lost'] / one['runs']:.0f}" for one in shown}


def draw(rows: Rows, folder: Path) -> None:
    """Mistakes by rounds, and bars of the test error, each with one deviation."""
    clouds = list(dict.fromkeys(row["cloud"] for row in rows))
    panels = []
    for cloud in clouds:
        found = {row["learner"]: row for row in rows if row["cloud"] == cloud}
        curves = {name: _curve(found[name]) for name in SEVEN}
        panels.append(Panel(f"(a) {cloud}", "points seen", "mistakes so far", curves))
    draw_curves(panels, folder / "figure2a.png")
    bars = {
        cloud: {row["learner"]: row["test error"] for row in rows if row["cloud"] == cloud}
        for cloud in clouds
    }
    names = [name for name in LEARNERS if name not in ("VarianceExact diag", "AROW full")]
    kept = {
        cloud: [[e for e in bars[cloud][name] if e is not None] for name in names]
        for cloud in clouds
    }
    draw_bars(
        names,
        {cloud: [float(np.mean(errors)) for errors in found] for cloud, found in kept.items()},
        folder / "figure2b.png",
        title="(b) Test error after one pass, mean and deviation over runs",
        y="test error (%)",
        errors={cloud: [float(np.std(e, ddof=1)) for e in found] for cloud, found in kept.items()},
    )


def _curve(row: Row) -> Curve:
    rounds = [STEP * (place + 1) for place in range(len(row["path"]))]
    return Curve([0, *rounds], [0.0, *row["path"]], [0.0, *row["deviation"]])


NOTES = """
1,000 points in 20 dimensions. Two features are drawn from a Gaussian turned by 45 degrees, with
deviation 1 across its long axis; 18 are noise. The label is the side of the long axis. The paper
states neither the length of the axis nor whether its N(0, 2) means the variance, so its counts
cannot be rebuilt to the digit. The ticks of its figure 3 reach from -25 to 30, which speaks for a
deviation near 10 along the axis; the counts of its figure 2 are nearest with deviation 2 and noise
of variance 4, which were picked from 17 settings for that reason. Claims on the order of learners
are decided by the setting and pair that speak least for them, claims on sizes by the setting that
comes nearest.

Every learner makes one pass over each of 300 data sets (`--quick`: 30, and two settings). Its
parameter is the one with the fewest mistakes on 60 (4) other data sets, over a logarithmic grid;
averaged learners make the same mistakes as the plain ones and differ in test error. The test
error is the exact probability of a wrong answer; the paper counts on 10,000 points. Its figures
are in plots only. PA is PA-I. *Expected* are the counts of an independent implementation, tuned
separately, on data of the same kind (standard errors 0.3 to 1.2).

The order of the paper holds: first-order learners make the most mistakes, diagonal ones fewer, full
ones the fewest. Its sizes hold in part: only on the short cloud do the diagonal learners come near
its 80 mistakes, and Variance is nowhere 17 % behind Stdev with a full covariance.

The paper says that a diagonal covariance comes of dropping the off-diagonal entries of Sigma, but
prints (15), which drops those of its inverse. These are two updates. *Covariance* is the first,
*precision* the second. With precision on such dense rows the best phi of Stdev is just below the
value where variances fall to zero within tens of rounds, which the library refuses with an error.
Such *lost* runs count as 1,000 mistakes in the tuning, and are left out of the means: do not
compare a line with many lost runs with others. The covariance form, the default for dense rows,
loses none.
"""

ENTRY = Entry(
    name="stdev-figure2",
    title="Figure 2 (a, b): mistakes and test error on a long, thin cloud",
    cases=cases,
    tables=tables,
    claims=figure2_claims.claims,
    draw=draw,
    notes=NOTES,
)

"""Section 5: the label of the mean, of sampled weights, or with the largest probability."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.papers.entry import Case, Claim, Entry, Row, Rows
from experiments.papers.multiclass.learners import trained
from experiments.papers.multiclass.tasks import Split, Task, load, names, splits
from experiments.papers.statistics import mean
from surelearn import SureClassifier, rules
from surelearn.constraints import Single

PASSES, DRAWS, FOLDS = 5, 1000, 2
#: Set by hand: nothing is tuned.
RULES: dict[str, rules.Rule] = {
    "Variance": rules.Variance(phi=0.3),
    "Stdev": rules.Stdev(phi=0.5),
    "AROW": rules.AROW(r=1.0),
    "Probit": rules.Probit(noise=1.0),
}


def cases(quick: bool) -> dict[str, Case]:
    """Every task with every rule."""
    return {
        f"{task}, {rule}": partial(_predicted, task, rule, quick)
        for task, rule in product(names(quick), RULES)
    }


def _predicted(name: str, rule: str, quick: bool) -> Rows:
    task = load(name, quick)
    rows = []
    for fold, split in enumerate(splits(task, FOLDS)):
        model = SureClassifier(RULES[rule], constraints=Single(), probability="exact", scale=False)
        *_, last = trained(model, task, split.learn, passes=PASSES, seed=fold)
        about = {"task": name, "classes": len(last.classes_), "rule": rule, "fold": fold}
        rows.append({**about, **_labels(last, task, split, seed=fold)})
    return rows


def _labels(model: Any, task: Task, split: Split, *, seed: int) -> Row:
    """Accuracies of three ways to choose the label, before and after calibration."""
    judge, choose = (at[np.isin(task.y[at], model.classes_)] for at in (split.judge, split.choose))
    X, y = task.X[judge], task.y[judge]
    by_mean = model.predict(X)
    sampled = model.classes_[model.sample_proba(X, DRAWS, random_state=seed).argmax(axis=1)]
    row = {"mean": _percent(by_mean == y), "sampled": _percent(sampled == y)}
    row |= {"sampled differ": _percent(sampled != by_mean)}
    row |= _by_probability(model, X, y, by_mean)
    model.calibrate(task.X[choose], task.y[choose])
    after = _by_probability(model, X, y, by_mean)
    return {**row, **{f"{name}, calibrated": value for name, value in after.items()}}


def _by_probability(model: Any, X: Any, y: NDArray[Any], by_mean: NDArray[Any]) -> Row:
    p = model.predict_proba(X)
    likely = model.classes_[p.argmax(axis=1)]
    of_right = p[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return {
        "probability": _percent(likely == y),
        "differ": _percent(likely != by_mean),
        "log loss": -float(np.log(np.maximum(of_right, 1e-6)).mean()),
    }


def _percent(found: NDArray[Any]) -> float:
    return 100 * float(np.mean(found))


# ------------------------------------------------------------------------ tables and claims


def tables(rows: Rows) -> dict[str, Rows]:
    """Accuracy by each way, and how often they differ from the mean."""
    pairs = dict.fromkeys((row["task"], row["rule"]) for row in rows)
    return {"Labels after five passes": [_line(_of(rows, *pair)) for pair in pairs]}


def _of(rows: Rows, task: str, rule: str) -> Rows:
    return [row for row in rows if (row["task"], row["rule"]) == (task, rule)]


def _line(folds: Rows) -> Row:
    shown = {
        "accuracy by mean (%)": "mean",
        "by sampled weights": "sampled",
        "by probability": "probability",
        "sampled differ (%)": "sampled differ",
        "most probable differ (%)": "differ",
        "differ, calibrated (%)": "differ, calibrated",
        "log loss": "log loss",
        "log loss, calibrated": "log loss, calibrated",
    }
    about = {"task (classes)": f"{folds[0]['task']} ({folds[0]['classes']})"}
    values = {name: f"{np.mean([row[one] for row in folds]):.2f}" for name, one in shown.items()}
    return {**about, "rule": folds[0]["rule"], **values}


def claims(rows: Rows) -> tuple[Claim, ...]:
    """Neither sampling nor the largest probability makes CW better."""
    return (
        _no_better(rows, "Prediction by sampled weights", "sampled"),
        _no_better(rows, "Prediction by the largest probability", "probability"),
    )


def _no_better(rows: Rows, name: str, way: str) -> Claim:
    tasks = dict.fromkeys(row["task"] for row in rows)
    gains = [np.mean([row[way] - row["mean"] for row in _of(rows, task, "Variance")])
             for task in tasks]  # fmt: skip
    gain = mean(gains)
    return Claim(
        text=f"{name} is no better than by the mean: less than 0.1 points.",
        theirs="no improvement",
        ours=f"{gain.value:+.2f} points, better on {np.sum(np.array(gains) > 0)} of {len(gains)} "
        "sets",
        lead=0.1 - gain.value,
        error=gain.error,
    )


ENTRY = Entry(
    name="multiclass-sampling",
    title="Section 5: labels of the mean, of sampled weights, and of the largest probability",
    cases=cases,
    tables=tables,
    claims=claims,
    notes="""
`predict` returns the class with the largest mean score, as the paper does. Of two close scores, the
one with the larger variance is the largest in more draws of the weights. The table counts how often
the label changes if it is the most frequent one in 1,000 draws, or the most probable one (the limit
of many draws). Constraints: k=1; five passes; Variance phi = 0.3, Stdev 0.5, AROW r = 1, Probit
noise 1: nothing is tuned. Two of ten folds of nine tenths of the rows; the last tenth calibrates.
Claims are on Variance, the rule of the paper, with errors of the mean over sets.

- Variance, Stdev and Probit: the two labels rarely differ, and even less after calibration.
- **Calibrate AROW before you use its exact probabilities.** AROW asks for a margin of 1, whatever
  its variance. In a text of 100 words with variances near 1, scores have a deviation of 10: the
  means hardly count, and the class with the largest variance wins, which is the one with the fewest
  updates. The integral is correct (draws agree); it is what the model says. One temperature repairs
  it.
- Exact probabilities are mostly too unsure before `calibrate`, which lowers the log loss.
""",
)

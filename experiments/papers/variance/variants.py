"""Averaging, TF-IDF and unbalanced labels, of which section 5.2 speaks without figures."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer

from experiments import sets
from experiments.papers.entry import Case, Claim, Entry, Row, Rows
from experiments.papers.statistics import difference, mean
from experiments.papers.variance import tasks
from experiments.papers.variance.learners import LEARNERS, judged

PLAIN, AVERAGED, TFIDF, UNBALANCED = "as it is", "averaged", "TF-IDF", "unbalanced labels"
#: The share of positive rows that unbalanced labels keep.
KEPT = 0.25
FOLDS = 4
ONLINE, BATCH = ("PA", "Variance"), ("SVM", "Maxent")


def changed(variant: str, data: sets.Rows) -> sets.Rows:
    """The rows of a task with other values, or with fewer positive ones."""
    if variant == TFIDF:
        return data._replace(X=tfidf(data.X))
    if variant == UNBALANCED:
        kept = ~data.y | (np.random.default_rng(0).random(len(data.y)) < KEPT)
        return sets.Rows(data.X[kept], data.y[kept], data.groups[kept])
    return data


def tfidf(X: Any) -> Any:
    """TF-IDF in rows of one length: that of before, so that parameters keep their scale."""
    length = np.sqrt(X.multiply(X).sum() / X.shape[0])
    return (TfidfTransformer().fit_transform(X) * length).astype(X.dtype)


def _case(task: str, learner: str, variant: str, n_runs: int) -> Rows:
    name = f"averaged {learner}" if variant == AVERAGED else learner
    found = judged(LEARNERS[name], changed(variant, tasks.task(task)), FOLDS, n_runs)
    about = {"task": task, "learner": learner, "variant": variant}
    return [{**about, "error": found["errors"][-1]}]


def cases(quick: bool) -> dict[str, Case]:
    """Every task with every variant of four learners; only online learners are averaged."""
    names, n_runs = (tasks.QUICK[:3], 1) if quick else (tuple(tasks.TASKS), 2)
    return {
        f"{task}, {learner}, {variant}": partial(_case, task, learner, variant, n_runs)
        for task in names
        for learner in (*ONLINE, *BATCH)
        for variant in (PLAIN, AVERAGED, TFIDF, UNBALANCED)
        if learner in ONLINE or variant != AVERAGED
    }


def errors(rows: Rows, learner: str, variant: str) -> list[float]:
    """Error % by task."""
    return [row["error"] for row in rows if (row["learner"], row["variant"]) == (learner, variant)]


def tables(rows: Rows) -> dict[str, Rows]:
    """Mean errors over tasks, and what each variant changes."""
    lines = [_line(rows, learner) for learner in (*ONLINE, *BATCH)]
    return {"Mean error % over all tasks, and its change (standard error over tasks)": lines}


def _line(rows: Rows, learner: str) -> Row:
    plain = errors(rows, learner, PLAIN)
    line: Row = {"learner": learner, "tasks": len(plain), PLAIN: f"{np.mean(plain):.2f}"}
    for variant in (AVERAGED, TFIDF):
        found = errors(rows, learner, variant)
        line[variant] = f"{np.mean(found):.2f}" if found else ""
        line[f"change, {variant}"] = str(difference(found, plain)) if found else ""
    line[UNBALANCED] = f"{np.mean(errors(rows, learner, UNBALANCED)):.2f}"
    return line


def claims(rows: Rows) -> tuple[Claim, ...]:
    """What the last paragraph of section 5.2 says."""
    return (
        *(_no_better(rows, learner, AVERAGED) for learner in ONLINE),
        *(_no_better(rows, learner, TFIDF) for learner in (*ONLINE, *BATCH)),
        _unbalanced(rows),
    )


def _no_better(rows: Rows, learner: str, variant: str) -> Claim:
    change = difference(errors(rows, learner, variant), errors(rows, learner, PLAIN))
    what = "Averaging" if variant == AVERAGED else variant
    return Claim(
        text=f"{what} does not improve the accuracy of {learner}.",
        theirs="no improvement",
        ours=f"error {change.value:+.2f} points",
        lead=change.value,
        error=change.error,
    )


def _unbalanced(rows: Rows) -> Claim:
    pa, variance = (errors(rows, learner, UNBALANCED) for learner in ("PA", "Variance"))
    lead = difference(pa, variance)
    before = difference(errors(rows, "PA", PLAIN), errors(rows, "Variance", PLAIN))
    return Claim(
        text="With unbalanced labels Variance still has a lower error than PA.",
        theirs="similar benefits",
        ours=f"{mean(variance).value:.2f} % against {mean(pa).value:.2f} %",
        lead=lead.value,
        error=lead.error,
        note=f"With balanced labels the lead is {before.value:+.2f} points.",
    )


ENTRY = Entry(
    name="variance-variants",
    title="Section 5.2: averaging, TF-IDF and unbalanced labels",
    cases=cases,
    tables=tables,
    claims=claims,
    notes="""
The tasks of [table 2](variance-table2) in two runs of four folds, with parameters
chosen anew for each variant. *Averaged*: predictions by the mean of all weight vectors. *TF-IDF*:
rows of one length; document frequencies are those of all rows of a task. *Unbalanced labels*: a
quarter of the positive rows is kept, a fifth of all. The paper gives no figures, and does not say
how it made features unbalanced, which is not rebuilt.
""",
)

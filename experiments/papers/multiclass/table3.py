"""Table 3: confidence-weighted learning beside online and batch baselines."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np

from experiments.papers.entry import Case, Claim, Entry, Row, Rows
from experiments.papers.multiclass.learners import BATCH, found
from experiments.papers.multiclass.results import Results, better, fewer, first_pass
from experiments.papers.multiclass.tasks import TASKS, names
from experiments.papers.statistics import mean

ONLINE_BASELINES = ("perceptron", "PA k=1", "PA k=5")
CW = ("CW k=1", "CW k=5", "CW all")
LEARNERS = (*ONLINE_BASELINES, *CW, *BATCH)
BASELINES = (*ONLINE_BASELINES, *BATCH)
#: Columns of the paper, in its order.
COLUMNS = (*ONLINE_BASELINES, *CW, "SVM 1 vs 1", "SVM MC", "maxent")
PAPER = {
    "20 Newsgroups": (81.07, 88.59, 88.60, 92.90, 92.78, 92.16, 85.18, 90.33, 88.94),
    "Amazon 7": (74.93, 76.55, 76.72, 78.70, 78.04, 77.98, 75.11, 76.60, 76.40),
    "Amazon 3": (92.26, 92.47, 93.29, 94.01, 94.29, 93.54, 92.83, 93.60, 93.60),
    "Enron A": (74.23, 79.27, 80.77, 83.83, 82.23, 82.40, 80.23, 82.60, 82.80),
    "Enron B": (66.30, 69.93, 68.90, 73.57, 72.27, 71.80, 65.97, 71.87, 69.47),
    "NYTD": (80.67, 83.12, 81.31, 84.57, 83.94, 83.43, 82.95, 82.00, 83.54),
    "NYTO": (78.47, 81.93, 81.22, 82.72, 82.55, 82.02, 82.13, 81.01, 82.53),
    "NYTS": (50.80, 56.19, 55.04, 54.67, 54.26, 52.96, 55.81, 56.74, 53.82),
    "Reuters (RCV1)": (92.10, 93.12, 93.30, 93.60, 93.67, 93.60, 92.97, 93.32, 93.40),
}
#: Iterations to converge, on average over all sets.
PASSES = {"CW k=1": 6.67, "CW k=5": 2.22, "CW all": 4.33}


def cases(quick: bool) -> dict[str, Case]:
    """Every task with every learner."""
    return {
        f"{task}, {learner}": partial(found, task, learner, quick)
        for task, learner in product(names(quick), LEARNERS)
    }


# ------------------------------------------------------------------------ tables


def tables(rows: Rows) -> dict[str, Rows]:
    """Accuracy as in the paper, then what was chosen and how sure the differences are."""
    results = Results(rows)
    return {
        "Accuracy (%)": [line for task in results.tasks for line in _lines(results, task)],
        "Parameters, and each learner against CW k=1 on the same rows": [
            _compared(results, task, learner) for task in results.tasks for learner in LEARNERS
        ],
    }


def _lines(results: Results, task: str) -> Iterator[Row]:
    if task in PAPER:
        theirs = dict(zip(COLUMNS, PAPER[task], strict=True))
        yield {"task": task, "of": "paper", **{one: theirs.get(one, "") for one in LEARNERS}}
    ours = {one: f"{results.mean(task, one).value:.2f}" for one in LEARNERS}
    for one in CW:
        ours[one] += _mark(results, task, one)
    about = "ours" if task in PAPER else f"ours, {TASKS[task].about}"
    yield {"task": task, "of": about, **ours}


def _mark(results: Results, task: str, learner: str) -> str:
    """The paper's signs: better than all baselines, or than all online ones, by McNemar's test."""
    for among, signs in ((BASELINES, ("\\*\\*", "\\*")), (ONLINE_BASELINES, ("††", "†"))):
        tests = [results.compared(task, learner, rival) for rival in among]
        if all(test.difference > 0 for test in tests):
            worst = max(test.p_value for test in tests)
            for sign, level in zip(signs, (0.001, 0.05), strict=True):
                if worst < level:
                    return sign
    return ""


def _compared(results: Results, task: str, learner: str) -> Row:
    first = results.folds(task, learner)[0]
    test = results.compared(task, learner, "CW k=1")
    error = 100 * test.difference_error
    return {
        "task": task,
        "learner": learner,
        "parameter": f"{first['value']:g}",
        "passes": first["passes"] or "",
        "folds": len(results.folds(task, learner)),
        "accuracy": str(results.mean(task, learner)),
        "to CW k=1": f"{100 * test.difference:+.2f} ± {error:.2f}" if error else "",
        "p": f"{test.p_value:.2g}" if error else "",
    }


# ------------------------------------------------------------------------ claims


def claims(rows: Rows) -> tuple[Claim, ...]:
    """What sections 6.2 and 6.3 say of the table."""
    results, paper = Results(rows), np.array(list(PAPER.values())).T
    column = dict(zip(COLUMNS, paper, strict=True))
    strongest = [column[one] for one in COLUMNS if one in BASELINES]
    return (
        better(
            "CW k=1 is better than every baseline.",
            column["CW k=1"] - np.max(strongest, axis=0),
            _over_baselines(results, "CW k=1", BASELINES),
            note="The lead is over the best baseline of each set.",
        ),
        *(_on_one(results, task) for task in results.tasks if task in PAPER),
        *_rivals(results, column),
        *_passes(results),
    )


def _over_baselines(results: Results, learner: str, among: tuple[str, ...]) -> list[float]:
    """The lead over the best baseline, one number a task."""
    return [min(results.lead(task, learner, rival) for rival in among) for task in results.tasks]


def _on_one(results: Results, task: str) -> Claim:
    """Against the best baseline of one set, by rows."""
    tests = [results.compared(task, "CW k=1", rival) for rival in BASELINES]
    worst = min(tests, key=lambda test: test.difference)
    theirs = dict(zip(COLUMNS, PAPER[task], strict=True))
    lead = theirs["CW k=1"] - max(theirs[one] for one in COLUMNS if one in BASELINES)
    return Claim(
        text=f"{task}: CW k=1 is better than every baseline.",
        theirs=f"{lead:+.2f} points",
        ours=f"{100 * worst.difference:+.2f} points over {worst.names[1]}, p = {worst.p_value:.1g}",
        lead=100 * worst.difference,
        error=100 * worst.difference_error,
    )


def _rivals(results: Results, column: dict[str, np.ndarray]) -> tuple[Claim, ...]:
    """One, five or all constraints."""
    many = np.array([task != "Amazon 3" for task in results.tasks])
    return (
        better(
            "Five constraints are better than all.",
            column["CW k=5"] - column["CW all"],
            results.leads("CW k=5", "CW all")[many],
            note="Without Amazon 3, whose three classes have two constraints: k=5 is all of them. "
            "The paper has different figures for the two there (94.29 and 93.54).",
        ),
        better(
            "One constraint is better than five, after the passes that were chosen.",
            column["CW k=1"] - column["CW k=5"],
            results.leads("CW k=1", "CW k=5"),
        ),
        _first(results),
    )


def _first(results: Results) -> Claim:
    leads = results.leads("CW k=5", "CW k=1", first_pass)
    lead = mean(leads)
    return Claim(
        text="After one pass, five constraints are better than one.",
        theirs="8 of 9 sets",
        ours=f"{lead.value:+.2f} points, {np.sum(leads > 0)} of {len(leads)} sets",
        lead=lead.value,
        error=lead.error,
        note="phi is chosen for up to ten passes.",
    )


def _passes(results: Results) -> Iterator[Claim]:
    for rival, name in (("CW k=1", "one"), ("CW all", "all")):
        yield fewer(
            f"Five constraints converge in fewer passes than {name}.",
            (PASSES["CW k=5"], PASSES[rival]),
            (results.passes("CW k=5"), results.passes(rival)),
        )


ENTRY = Entry(
    name="multiclass-table3",
    title="Table 3: CW beside online and batch baselines",
    cases=cases,
    tables=tables,
    claims=claims,
    notes="""
One parameter and, online, the number of passes (up to 10) are chosen by one run on a tenth of the
rows, which no fold judges. The other nine tenths are cut into ten folds. Online learners are
judged on all ten; batch learners, which are slower, on the first few, as the second table says.
All comparisons are made on the rows that both have judged. Signs as in the paper, by McNemar's
test: \\*\\* and \\* better than all baselines at 0.001 and 0.05, †† and † better than all online
baselines.

PA is PA-I, and k=5 solves its five constraints together. *SVM 1 vs 1* is LIBLINEAR's SVM with the
hinge loss for each pair of classes, *SVM MC* LIBLINEAR's machine of Crammer & Singer, *maxent*
scikit-learn's `LogisticRegression` with at most 100 iterations; LIBLINEAR stops at a tolerance of
0.1 or after 200 iterations. *SVM MC, ours* is `MulticlassSVM` and *maxent, ours*
`SoftmaxClassifier`: they minimise the same objectives, to 1 % of the optimum or for at most 200
passes and 100 iterations. Ours is tuned, and the peer takes over its parameter. R52 is not RCV1:
its figures are not compared with the paper's. The New York Times and Enron sets are not rebuilt
(table 1).
""",
)

"""Table 3: claims and signs follow accuracies of all learners."""

from __future__ import annotations

from experiments.papers.multiclass import table3
from fold_rows import folds

TASKS = ("20 Newsgroups", "Amazon 7", "Amazon 3", "Stack Overflow")


def _rows(instead=None, passes=None):
    accuracies = {**dict.fromkeys(table3.LEARNERS, 80.0), "PA k=1": 85.0}
    accuracies |= {"CW k=1": 92.0, "CW k=5": 91.0, "CW all": 90.0, **(instead or {})}
    chosen = {"CW k=1": 7, "CW k=5": 2, "CW all": 4, **(passes or {})}
    return [
        row
        for place, task in enumerate(TASKS)
        for name, accuracy in accuracies.items()
        for row in folds(task, name, accuracy - place / 5, passes=chosen.get(name, 3))
    ]


def _verdicts(*rows, **more):
    return [claim.verdict for claim in table3.claims(_rows(*rows, **more))]


def test_claims_hold_on_rows_like_those_of_the_paper():
    assert _verdicts() == ["held"] * 9


def test_a_better_baseline_speaks_against_cw():
    found = table3.claims(_rows({"maxent": 94.0}))
    assert [claim.verdict for claim in found[:4]] == ["did not hold"] * 4
    assert "over maxent" in found[1].ours


def test_claims_on_constraints_flip_with_the_rows():
    assert _verdicts({"CW all": 91.5})[4] == "did not hold"
    assert _verdicts({"CW k=5": 92.5})[5] == "did not hold"
    assert _verdicts(passes={"CW k=1": 1})[6] == "did not hold"
    assert _verdicts(passes={"CW k=5": 9})[7:] == ["did not hold"] * 2


def test_signs_are_those_of_the_paper():
    lines = table3.tables(_rows())["Accuracy (%)"]
    assert lines[0]["CW k=1"] == 92.90
    assert lines[1]["CW k=1"] == "92.10\\*\\*"
    assert lines[-1]["of"] == "ours, one more open set"
    online_only = table3.tables(_rows({"maxent": 94.0}))["Accuracy (%)"]
    assert online_only[1]["CW k=1"] == "92.10††"
    none = table3.tables(_rows({"PA k=1": 94.0}))["Accuracy (%)"]
    assert none[1]["CW k=1"] == "92.10"


def test_every_learner_is_compared_with_one_constraint():
    lines = table3.tables(_rows())
    (_, compared) = lines.values()
    assert len(compared) == len(TASKS) * len(table3.LEARNERS)
    by_learner = {line["learner"]: line for line in compared[: len(table3.LEARNERS)]}
    assert by_learner["PA k=1"]["to CW k=1"].startswith("-7.00 ± ")
    assert by_learner["CW k=1"]["to CW k=1"] == ""
    assert by_learner["maxent"]["passes"] == 3


def test_all_learners_of_the_paper_have_a_case():
    cases = table3.cases(False)
    assert set(table3.COLUMNS) <= set(table3.LEARNERS)
    assert {f"20 Newsgroups, {one}" for one in table3.LEARNERS} <= set(cases)

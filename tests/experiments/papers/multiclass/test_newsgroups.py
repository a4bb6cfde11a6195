"""The figure of 20 Newsgroups is judged by its distance from the paper's."""

from __future__ import annotations

import pytest

from experiments.papers.multiclass import newsgroups
from fold_rows import folds


@pytest.mark.parametrize(
    ("accuracy", "verdicts"),
    [(92.7, ["held", "held"]), (94.0, ["held", "did not hold"]), (91.5, ["did not hold"] * 2)],
)
def test_claims_follow_the_accuracy(accuracy, verdicts):
    rows = folds("20 Newsgroups", "CW k=1", accuracy, passes=4)
    assert [claim.verdict for claim in newsgroups.claims(rows)] == verdicts


def test_the_chosen_pass_is_marked():
    (lines,) = newsgroups.tables(folds("20 Newsgroups", "CW k=1", 92.7, passes=4)).values()
    assert [line["passes"] for line in lines if line["chosen"]] == [4]
    assert lines[3]["accuracy"] == "92.80 ± 0.06"
    assert lines[3]["paper"] == 92.90


def test_a_quick_run_takes_all_rows(monkeypatch):
    asked = []
    monkeypatch.setattr(newsgroups, "found", lambda *_, quick: asked.append(quick))
    for case in newsgroups.cases(True).values():
        case()
    assert asked == [False]

"""Probabilities of right and wrong predictions, beside the paper's."""

from __future__ import annotations

from confidence_rows import confident
from experiments.papers.multiclass import probabilities

TASKS = ("Amazon 10", "Amazon 3")


def _rows(maxent):
    return [row for place, task in enumerate(TASKS)
            for row in confident(task, maxent=maxent + 0.01 * place)]  # fmt: skip


def test_claims_flip_where_maxent_is_less_sure():
    assert [claim.verdict for claim in probabilities.claims(_rows(0.85))] == ["held"] * 2
    assert [claim.verdict for claim in probabilities.claims(_rows(0.6))] == ["did not hold"] * 2


def test_the_paper_stands_above_ours():
    (lines,) = probabilities.tables(_rows(0.85)).values()
    assert [line["task"] for line in lines] == ["Enron B, paper", *TASKS]
    assert lines[0]["maxent, wrong"] == "0.56"
    assert (lines[1]["CW, right"], lines[1]["CW, wrong"]) == ("0.75", "0.45")
    assert set(probabilities.cases(True)) == set(probabilities.names(True))

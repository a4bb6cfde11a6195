"""Figure 1: reductions by passes, and who is ahead after the first."""

from __future__ import annotations

import pytest

from experiments.papers.variance import figure1

ERRORS = {"PA": [20, 18, 17, 16, 15], "Variance": [10, 10, 10, 9.5, 9], "Variance-Exact": [12] * 5}


@pytest.fixture
def rows():
    """Two tasks; the second has half the errors, and Variance gains a little more there."""
    found = []
    for task, scale in (("talk", 1.0), ("books", 0.5)):
        for learner, errors in ERRORS.items():
            scaled = [scale * error for error in errors]
            scaled[-1] *= 0.99 if (task, learner) == ("books", "Variance") else 1
            found.append({"task": task, "learner": learner, "rows": 400, "errors": scaled})
    return found


def test_claims_hold_where_curves_are_as_in_the_paper(rows):
    claims = figure1.claims(rows)
    assert [claim.verdict for claim in claims] == ["held"] * 4
    assert claims[0].ours == "25.0 % against 10.4 %"
    assert claims[0].theirs == "12.4 % against 3.7 %"
    assert claims[3].ours == "on 2 of 2; +6.00 points"


def test_claims_fall_where_pa_is_as_variance_was(rows):
    swap = {"PA": "Variance", "Variance": "PA"}
    swapped = [{**row, "learner": swap.get(row["learner"], row["learner"])} for row in rows]
    verdicts = [claim.verdict for claim in figure1.claims(swapped)]
    assert verdicts == ["did not hold", "held", "did not hold", "did not hold"]


def test_tables_have_each_pass(rows):
    overall, by_task = figure1.tables(rows).values()
    assert [overall[0][f"pass {n}"] for n in (1, 5)] == ["15.00", "11.25"]
    assert overall[0]["reduction %, paper"] == "12.4"
    assert overall[2]["reduction %, paper"] == ""
    assert overall[2]["reduction %, mean of tasks"] == "0.00 ± 0.00"
    assert by_task[0]["pass 1"] == "20.00 ± 2.00"
    assert len(by_task) == 6


def test_the_picture_is_written(rows, tmp_path):
    figure1.draw(rows, tmp_path)
    assert (tmp_path / "figure1.png").stat().st_size > 10_000


def test_cases_are_the_online_learners():
    assert list(figure1.cases(True))[:3] == [f"talk, {learner}" for learner in ERRORS]

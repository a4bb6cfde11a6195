"""Stdev against Variance: counts, and what is significant."""

from __future__ import annotations

import numpy as np
import pytest

from experiments import sets
from experiments.papers.stdev import figure2c
from experiments.papers.variance import tasks


def rows(lead, only=0):
    """Stdev has `lead` fewer wrong rows of 1,000 on every task, on the first `only` more."""
    out = []
    for place, task in enumerate(tasks.TASKS):
        fewer = lead + (100 if place < only else 0)
        for learner, wrong in ((figure2c.STDEV, 200 - fewer), (figure2c.VARIANCE, 200)):
            out.append(
                {
                    "task": task, "learner": learner, "rows": 1000, "wrong": list(range(wrong)),
                    "accuracy": [99.9 - wrong / 10, 100.1 - wrong / 10], "chosen": [4, 3, 4],
                }
            )  # fmt: skip
    return out


@pytest.mark.parametrize(
    ("lead", "only", "expected"),
    [
        (2, 0, ["held", "held"]),
        (-2, 0, ["did not hold", "held"]),
        (2, 1, ["not decided", "did not hold"]),
    ],
)
def test_claims_turn_with_the_rows(lead, only, expected):
    assert [claim.verdict for claim in figure2c.claims(rows(lead, only))] == expected


@pytest.mark.parametrize(("lead", "better", "worse"), [(2, 0, 0), (30, 12, 0), (-30, 0, 12)])
def test_single_tasks_are_counted_at_the_usual_level(lead, better, worse):
    note = f"Singly, CW-Stdev is better at p < .05 on {better} tasks, CW-Var on {worse}."
    assert figure2c.claims(rows(lead))[1].note == note


def test_the_table_has_both_accuracies():
    (lines,) = figure2c.tables(rows(10)).values()
    assert len(lines) == 12
    assert (lines[0]["Stdev"], lines[0]["Variance"]) == ("81.00", "80.00")
    assert lines[0]["lead of Stdev"].startswith("1.00")
    assert lines[0]["phi of Stdev"] == "0.1, 0.3"


def test_the_picture_is_drawn(tmp_path):
    figure2c.draw(rows(10), tmp_path)
    assert (tmp_path / "figure2c.png").stat().st_size > 10_000


def test_both_learners_see_the_same_folds(monkeypatch):
    seen = []

    def judged(made, data, n_folds, **how):
        assert how == {"runs": 1, "calibrate": False}
        seen.append((len(made), data, n_folds))
        return {}

    data = sets.Rows(np.eye(3), np.array([True, False, True]), np.arange(3))
    monkeypatch.setattr(tasks, "task", lambda name: data)
    monkeypatch.setattr(figure2c, "judged", judged)
    for name, case in figure2c.cases(True).items():
        task, learner = name.split("; ")
        assert case() == [{"task": task, "learner": learner, "rows": 3}]
    assert len(seen) == 2 * len(tasks.QUICK)
    assert all(
        (n, given is data, n_folds) == (len(figure2c.PHIS), True, 4) for n, given, n_folds in seen
    )

"""Seconds are compared as ratios."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from experiments.papers.multiclass import seconds
from experiments.papers.multiclass.tasks import Task


def _rows(**instead):
    times = {
        "k = 1": 3,
        "k = 5, sequential": 10,
        "all, sequential": 11,
        "all, parallel": 12,
        "all, exact": 300,
        seconds.MEAN: 1,
        seconds.SAMPLED: 9,
        **instead,
    }
    return [
        {"what": name, "seconds": [one * (1 + 0.01 * at) for at in range(3)]}
        for name, one in times.items()
    ]


def test_claims_follow_the_seconds():
    assert [claim.verdict for claim in seconds.claims(_rows())] == ["held"] * 5
    slow = {"k = 5, sequential": 50, "all, sequential": 60, "all, parallel": 200}
    other = {"all, exact": 20, seconds.SAMPLED: 1}
    found = [claim.verdict for claim in seconds.claims(_rows(**slow, **other))]
    assert found == ["did not hold"] * 5


def test_figures_of_the_paper_stand_beside_ours():
    passes, predictions = seconds.tables(_rows()).values()
    by_name = {line["update"]: line for line in passes}
    assert by_name["k = 5, sequential"]["ours, times k = 1"] == "3.33 ± 0.00"
    assert by_name["all, exact"]["paper"] == "over 240"
    assert by_name["all, parallel"]["paper"] == ""
    assert len(predictions) == 2


def test_everything_is_timed_on_a_small_task(monkeypatch):
    X = sparse.random_array((60, 9), density=0.4, format="csr", rng=0, dtype=np.float32)
    task = Task(sparse.csr_matrix(X), np.repeat(["a", "b", "c"], 20), np.arange(60))
    monkeypatch.setattr(seconds, "load", lambda name, quick: task)
    rows = [row for case in seconds.cases(True).values() for row in case()]
    assert {row["what"] for row in rows} == {*seconds.LEARNERS, seconds.MEAN, seconds.SAMPLED}
    assert all(len(row["seconds"]) == seconds.REPEATS for row in rows)

"""Three ways to choose a label, on a small task and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from experiments.papers.multiclass import sampling
from experiments.papers.multiclass.tasks import Task


def _rows(sampled, probability):
    return [
        {
            "task": task,
            "classes": 3,
            "rule": rule,
            "fold": fold,
            "mean": 90.0,
            "sampled": sampled + 0.01 * place,
            "probability": probability + 0.01 * place,
            **dict.fromkeys(("sampled differ", "differ", "differ, calibrated"), 1.0),
            **dict.fromkeys(("log loss", "log loss, calibrated"), 0.5),
        }
        for place, task in enumerate(("20 Newsgroups", "Amazon 7", "Amazon 3"))
        for rule in ("Variance", "AROW")
        for fold in range(2)
    ]


def test_claims_flip_where_sampling_helps():
    worse = sampling.claims(_rows(89.0, 89.9))
    assert [claim.verdict for claim in worse] == ["held", "held"]
    better = sampling.claims(_rows(91.0, 90.5))
    assert [claim.verdict for claim in better] == ["did not hold", "did not hold"]
    assert better[0].ours == "+1.01 points, better on 3 of 3 sets"


def test_other_rules_do_not_decide_claims():
    rows = _rows(89.0, 89.9)
    for row in rows:
        if row["rule"] == "AROW":
            row["sampled"] = row["probability"] = 100.0
    assert [claim.verdict for claim in sampling.claims(rows)] == ["held", "held"]


def test_every_task_and_rule_has_a_line():
    (lines,) = sampling.tables(_rows(89.0, 89.9)).values()
    assert len(lines) == 6
    assert lines[0]["task (classes)"] == "20 Newsgroups (3)"
    assert lines[0]["by sampled weights"] == "89.00"


@pytest.mark.parametrize("rule", sampling.RULES)
def test_labels_of_a_small_task(monkeypatch, rule):
    y = np.repeat(["a", "b", "c"], 100)
    X = np.random.default_rng(0).random((300, 5), dtype=np.float32)
    X[np.arange(300), np.searchsorted(["a", "b", "c"], y)] += 1
    task = Task(sparse.csr_matrix(X), y, np.arange(300))
    monkeypatch.setattr(sampling, "load", lambda name, quick: task)
    rows = sampling.cases(True)[f"Amazon 3, {rule}"]()
    assert [row["fold"] for row in rows] == [0, 1]
    for row in rows:
        assert row["classes"] == 3
        assert row["mean"] > 80
        assert abs(row["mean"] - row["probability"]) <= row["differ"]
        assert abs(row["mean"] - row["sampled"]) <= row["sampled differ"]
        assert row["log loss, calibrated"] <= row["log loss"] + 0.1

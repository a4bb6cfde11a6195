"""Probabilities of models are counted in bins, fold by fold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from confidence_rows import confident
from experiments.papers.multiclass import confidence, learners
from experiments.papers.multiclass.tasks import Task


def test_every_pass_and_fold_is_measured(monkeypatch):
    y = np.repeat(["a", "b", "c"], 40)
    y[-1] = "rare"  # in some fold a label that no model has learnt
    X = np.random.default_rng(0).random((120, 5), dtype=np.float32)
    X[np.arange(119), np.searchsorted(["a", "b", "c"], y[:-1])] += 1
    task = Task(sparse.csr_matrix(X), y, np.arange(120))
    monkeypatch.setattr(confidence, "load", lambda name, quick: task)
    monkeypatch.setattr(confidence, "choice", lambda *_: learners.Choice(0.5, 3))
    rows = confidence.measured("a task", False)
    confidence.measured.cache_clear()
    assert len(rows) == 10 * (confidence.PASSES + 1)
    for row in rows:
        assert sum(row["count"]) in (10, 11)
        assert sum(row["wrong"]) <= sum(row["count"])
    last = confidence.of(rows, "a task", confidence.CW, confidence.PASSES)
    assert sum(sum(row["count"]) for row in last) in (107, 108)


def test_folds_are_pooled():
    folds = confidence.of(confident("t"), "t", confidence.MAXENT)
    one = confidence.pooled(folds)
    assert one.count.sum() == 300
    assert one.error == pytest.approx((2 + 3 + 4 + 15 + 30) / 300)
    assert one.error_share.sum() == pytest.approx(one.error)
    assert one.conditional_error[9] == pytest.approx(15 / 120)
    assert one.mean_probability[9] == pytest.approx(0.95)
    assert np.isnan(one.conditional_error[0])
    assert one.entropy == pytest.approx(0.3)

"""Learners are tuned on their own rows, and judged on folds that they share."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from experiments.papers.multiclass import learners, tasks
from experiments.papers.multiclass.results import unpacked


@pytest.fixture
def task(monkeypatch):
    """A hundred rows of three classes that one feature each tells apart."""
    y = np.repeat(["a", "b", "c"], 40)[:100]
    X = np.random.default_rng(0).random((100, 5), dtype=np.float32)
    X[np.arange(100), np.searchsorted(["a", "b", "c"], y)] += 1
    made = tasks.Task(sparse.csr_matrix(X), y, np.arange(100))
    monkeypatch.setattr(learners, "load", lambda name, quick: made)
    cached = (learners.choice, learners.found)  # a test may replace them
    yield made
    for one in cached:
        one.cache_clear()


@pytest.mark.parametrize("name", [*learners.ONLINE, *learners.BATCH])
def test_every_learner_learns(task, name):
    rows = learners.found("a task", name, True)
    assert [row["fold"] for row in rows] == [0, 1]
    assert np.mean([row["accuracy"] for row in rows]) > 70
    for row in rows:
        assert unpacked(row).mean() * 100 == pytest.approx(row["accuracy"])
        assert len(row["curve"]) == (learners.PASSES if name in learners.ONLINE else 1)


def test_the_judged_accuracy_is_that_of_the_chosen_pass(task, monkeypatch):
    curve = [np.arange(10) < at for at in range(1, 11)]
    monkeypatch.setattr(learners, "_judged", lambda *_, seed: curve)
    monkeypatch.setattr(learners, "choice", lambda *_: learners.Choice(0.001, 2))
    (row, _) = learners.found("a task", "CW k=1", True)
    assert row["curve"] == [10.0 * at for at in range(1, 11)]
    assert (row["passes"], row["accuracy"], unpacked(row).sum()) == (2, 20.0, 2)


def test_the_best_on_the_choosing_rows_is_chosen(task, monkeypatch):
    too_strong = learners.Batch(learners.softmax, (1e9, 1.0, 1e8))
    monkeypatch.setitem(learners.BATCH, "a learner", too_strong)
    assert learners.choice("a task", "a learner", False) == learners.Choice(1.0, 0)


@pytest.mark.parametrize("peer", ["SVM MC", "maxent"])
def test_a_peer_takes_over_the_parameter_of_ours(task, monkeypatch, peer):
    values = {f"{peer}, ours": 0.03}
    monkeypatch.setattr(learners, "choice", lambda _, name, __: learners.Choice(values[name], 0))
    assert [row["value"] for row in learners.found("a task", peer, True)] == [0.03, 0.03]


def test_models_have_what_the_paper_has():
    model = learners.online(learners.ONLINE["CW k=5"], 0.5)
    assert model.probability == "exact"
    assert repr(model.constraints) == "Sequential(k=5)"
    assert model.rule.params()["phi"] == 0.5

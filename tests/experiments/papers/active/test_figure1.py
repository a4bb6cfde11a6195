"""Simulations become rows and rows simulations; means are taken run by run."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

from experiments import sets
from experiments.papers.active import figure1
from rising import rows
from surelearn.active import Simulation


@pytest.fixture
def task(monkeypatch):
    """A small task in place of one of the paper's."""
    random = np.random.default_rng(0)
    y = np.array(["a", "a", "b", "b"] * 60)
    X = (random.random((240, 30)) < 0.2).astype(np.float32)
    X[y == "a", 0] = 1.0
    task = sets.Rows(sparse.csr_array(X), y, np.arange(240))
    name = "money-fx, interest"
    monkeypatch.setitem(figure1.TASKS, name, lambda: task)
    return name


def test_rows_give_the_simulation_back(task):
    found_rows = [
        row
        for learner in figure1.LEARNERS
        for row in figure1._simulated(task, learner, n_runs=3, n_labels=10)
    ]
    assert json.loads(json.dumps(found_rows)) == found_rows
    found = figure1._joined(found_rows)
    assert list(found.curves) == [
        (learner, how) for learner, some in figure1.STRATEGIES.items() for how in some
    ]
    assert found.curves["CW", "acl"].shape == (3, 9)
    held = 240 - found.pool
    for curve in found.curves.values():
        assert curve * held[:, None] == pytest.approx(np.rint(curve * held[:, None]))
    packed = figure1.packed(found, task=task, learner="CW", n_rows=240)
    assert packed["curves"] == found_rows[1]["curves"]
    assert packed["full"] == found_rows[1]["full"]


def test_both_forms_of_the_criterion_order_rows_alike(task):
    (row,) = figure1._criteria()
    assert row == {"task": figure1.CRITERIA, "rows": 120, "wrong": 0}


def test_an_order_by_margin_alone_is_not_that_of_probability(task, monkeypatch):
    monkeypatch.setattr(figure1, "scores", lambda model, X, how: np.abs(model.decision_function(X)))
    assert figure1._criteria()[0]["wrong"] > 0


def test_the_mean_of_tasks_is_run_by_run():
    one = Simulation([2, 3, 4], {("CW", "acl"): [[0.5, 0.6, 0.7]]}, {"CW": [0.8]}, pool=[10])
    other = Simulation([2, 3], {("CW", "acl"): [[0.7, 0.8]]}, {"CW": [0.9]}, pool=[20])
    mean = figure1.averaged([one, other])
    assert mean.labels.tolist() == [2, 3]
    assert mean.curves["CW", "acl"] == pytest.approx(np.array([[0.6, 0.7]]))
    assert mean.full["CW"] == pytest.approx([0.85])
    assert mean.pool.tolist() == [15]


def test_quick_cases_are_the_same_tasks():
    assert list(figure1.cases(True)) == list(figure1.cases(False))
    assert len(figure1.cases(True)) == 2 * len(figure1.TASKS) + 1


@pytest.mark.slow
def test_the_entry_hands_simulations_to_its_pages(tmp_path):
    found = rows()
    assert len(figure1.ENTRY.tables(found)) == 4
    assert len(figure1.ENTRY.claims(found)) == 12
    figure1.ENTRY.draw(found, tmp_path)
    assert (tmp_path / "figure1.png").exists()

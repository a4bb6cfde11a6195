"""Tasks are cut so that no row that chooses a parameter is judged."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from experiments import sets
from experiments.papers.multiclass import tasks


@pytest.fixture
def corpus(monkeypatch):
    """Sixty texts of four classes, of which one is rare."""
    y = np.array(["a", "b", "c", "d"])[np.minimum(np.arange(60) % 7 // 2, 3)]
    texts = [f"the {label} Word_{n} Word_{n}" for n, label in enumerate(y)]
    monkeypatch.setattr(sets, "texts", lambda name: sets.Corpus(texts, y))
    tasks.load.cache_clear()
    yield
    tasks.load.cache_clear()


def test_a_binary_task_counts_a_word_once(corpus):
    task = tasks.load("20 Newsgroups", False)
    assert task.X.shape[0] == 60
    assert set(task.X.data) == {1.0}
    pairs = tasks.load("Amazon 3", False)
    assert set(pairs.X.data) == {1.0, 2.0}
    assert pairs.X.shape[1] > task.X.shape[1]


def test_a_quick_run_has_fewer_rows(corpus, monkeypatch):
    monkeypatch.setattr(tasks, "QUICK_ROWS", 20)
    assert tasks.load("20 Newsgroups", True).X.shape[0] == 20
    assert set(tasks.names(True)) < set(tasks.names(False))


def test_only_the_most_frequent_classes_are_kept(corpus, monkeypatch):
    source = tasks.TASKS["Newsgroups 10"]._replace(n_classes=3, n_rows=30)
    monkeypatch.setitem(tasks.TASKS, "Newsgroups 10", source)
    task = tasks.load("Newsgroups 10", False)
    assert set(task.y) == {"a", "b", "c"}
    assert len(task.y) == 30


def test_rows_that_choose_are_never_judged():
    groups = np.arange(200) // 2
    task = tasks.Task(sparse.csr_array((200, 1)), np.zeros(200), groups)
    found = list(tasks.splits(task, 10))
    judged = np.concatenate([split.judge for split in found])
    assert len(judged) == len(set(judged)) == 180
    for split in found:
        assert not set(groups[split.choose]) & set(groups[judged])
        assert not set(groups[split.learn]) & set(groups[split.judge])
        assert len(split.learn) + len(split.choose) + len(split.judge) == 200

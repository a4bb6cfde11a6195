"""Tasks are pairs of classes with every word once, cut down to the paper's size."""

from __future__ import annotations

import numpy as np
import pytest

from experiments import sets
from experiments.papers.active import tasks


@pytest.fixture
def corpus(monkeypatch):
    """Three classes of texts whose words repeat."""
    texts = [f"w{i} w{i} same" for i in range(30)]
    found = sets.Corpus(texts, np.array(["a", "b", "c"] * 10))
    monkeypatch.setattr(sets, "TEXTS", {"small": lambda: found})
    tasks._corpus.cache_clear()
    yield found
    tasks._corpus.cache_clear()


@pytest.mark.usefixtures("corpus")
def test_a_pair_has_two_classes_and_binary_words():
    rows = tasks.pair("small", "a", "c")
    assert rows.y.tolist() == ["a", "c"] * 10
    assert set(rows.X.data.tolist()) == {1.0}
    assert rows.X.nnz == 40  # a repeated word counts once


@pytest.mark.usefixtures("corpus")
def test_larger_pairs_are_cut_to_half_of_each_class(monkeypatch):
    monkeypatch.setattr(tasks, "MOST", 6)
    assert sorted(tasks.pair("small", "a", "b").y.tolist()) == ["a"] * 3 + ["b"] * 3


def test_corpora_have_all_tasks_once():
    listed = [task for some in tasks.CORPORA.values() for task in some]
    assert listed == list(tasks.TASKS)


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
def test_tasks_have_the_sizes_of_the_notes():
    assert {name: make().X.shape[0] for name, make in tasks.TASKS.items()} == {
        "computers": 1943, "science": 1971, "talk": 1850, "acq, earn": 2000,
        "money-fx, interest": 564, "crude, trade": 700, "books": 2000, "dvd": 2000,
        "electronics": 2000, "kitchen": 2000,
    }  # fmt: skip

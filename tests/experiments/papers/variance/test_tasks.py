"""Tasks are balanced, have each text once, and are named with what stands in for them."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.papers.variance import tasks


@pytest.fixture
def texts(monkeypatch):
    """A task of 5 positive and 7 negative texts, one of them thrice, in place of `books`."""
    found = [f"good book {n}" for n in range(5)] + [f"bad book {n}" for n in range(5)]
    found += ["bad book 0", "bad book 0"]
    made = tasks.Texts(found, np.array([text.startswith("good") for text in found]))
    monkeypatch.setitem(tasks.TASKS, "books", lambda: made)
    tasks.task.cache_clear()
    yield made
    tasks.task.cache_clear()


def test_both_classes_have_as_many_rows_and_no_text_occurs_twice(texts):
    places = tasks.balanced(texts, 1000)
    chosen = [texts.texts[place] for place in places]
    assert len(set(chosen)) == len(chosen) == 10
    assert texts.y[places].sum() == 5
    assert len(tasks.balanced(texts, 3)) == 6


def test_reviews_have_counts_of_words_and_pairs(texts):
    X, y, groups = tasks.task("books")
    assert X.shape == (10, 3 + 5 + 2 + 5)  # words and numbers; good book, bad book, book n
    assert y.sum() == 5
    assert len(set(groups)) == 10


def test_words_of_others_occur_or_do_not():
    assert tasks.counted(["a a b"], is_review=False).toarray().tolist() == [[1, 1]]
    assert tasks.counted(["a a b"], is_review=True).toarray().tolist() == [[2, 1, 1, 1]]


def test_every_task_has_the_papers_figures_and_quick_ones_are_tasks():
    assert list(tasks.PAPER) == list(tasks.TASKS)
    assert {len(figures) for figures in tasks.PAPER.values()} == {len(tasks.LEARNERS)}
    assert set(tasks.QUICK) <= set(tasks.TASKS)
    assert "talk" in tasks.QUICK  # figure 1 draws it


def test_a_stand_in_is_named():
    assert tasks.shown("Retail") == "Retail: trade / money-fx"
    assert tasks.shown("books") == "books"

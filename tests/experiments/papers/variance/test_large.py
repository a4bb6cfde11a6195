"""Large sets: splits keep rows apart, and a parameter is chosen on rows that are learnt."""

from __future__ import annotations

import numpy as np
import pytest

from experiments import sets
from experiments.papers.variance import large
from experiments.papers.variance.large import Part
from experiments.papers.variance.learners import Learner


@pytest.fixture
def data():
    return Part(np.arange(100)[:, None], np.arange(100) % 2 == 0)


def test_splits_are_disjoint_and_differ(data):
    learn, judge = large.split(data, 30, 0)
    assert len(judge.y) == 30
    assert sorted(np.concatenate([learn.X[:, 0], judge.X[:, 0]])) == list(range(100))
    assert sorted(large.split(data, 30, 1)[1].X[:, 0]) != sorted(judge.X[:, 0])


def test_companies_are_earnings_and_acquisitions_and_no_text_occurs_twice(monkeypatch):
    topics = {"a": ["earn"], "b": ["corn", "acq"], "c": ["corn"], "d": []}
    records = [{"text": text, "topics": topics[text]} for text in "abcda"]
    monkeypatch.setattr(sets, "records", lambda name: records)
    large.corpus.cache_clear()
    try:
        found = large.corpus(large.REUTERS)
    finally:
        large.corpus.cache_clear()
    assert found.texts == ["a", "b", "c"]
    assert found.y.tolist() == [True, True, False]


def test_pairs_of_words_are_counted_in_tweets_only():
    for name, n in ((large.REUTERS, 2), (large.SENTIMENT, 3)):
        assert large.vectorizer(name).transform(["good good day"]).nnz == n + (n == 3)


class Seen:
    """A model whose score is its parameter, and that notes the rows it is given."""

    def __init__(self, parameter, notes):
        self.parameter, self.notes = parameter, notes

    def partial_fit(self, X, y, classes):
        self.notes.append(("learnt", X[:, 0].tolist()))
        return self

    def score(self, X, y):
        self.notes.append(("judged", X[:, 0].tolist()))
        return self.parameter


def test_a_parameter_is_learnt_on_some_rows_and_judged_on_the_next(data, monkeypatch):
    monkeypatch.setattr(large, "CHOICE", (20, 30))
    notes = []
    learner = Learner(lambda parameter: Seen(parameter, notes), (0.1, 0.9, 0.3))
    assert large.chosen(learner, data) == 0.9
    assert notes == [("learnt", list(range(20))), ("judged", list(range(20, 50)))] * 3

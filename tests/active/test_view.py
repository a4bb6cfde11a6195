"""Rows as a model sees them: means that count, and what a model lacks."""

from __future__ import annotations

import weakref

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.naive_bayes import MultinomialNB

from asked import digits, teach, texts
from queried import fitted, problem
from surelearn import SureClassifier, SureTextClassifier
from surelearn.active import Pool, query, scores
from surelearn.active._view import ReadRows


def test_averaged_means_are_the_ones_that_count():
    X, y = problem(3)
    clf = SureClassifier("arow", average=True, passes=2).fit(X[:100], y[:100])
    mean, variance = clf.margin(X[100:])
    for row, found in enumerate(scores(clf, X[100:])):
        b, a = np.argsort(mean[row])[-2:]
        gap = mean[row, a] - mean[row, b]
        assert found == pytest.approx(gap / np.sqrt(variance[row, a] + variance[row, b]))


@pytest.mark.parametrize("how", ["joint", "ovr"])
@pytest.mark.parametrize("rule", ["arow", "pa1"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_margin_is_the_gap_of_the_mean_scores(rule, n_classes, how):
    clf, X = fitted(n_classes, rule=rule, multiclass=how)
    s = clf.decision_function(X)
    want = np.abs(s) if s.ndim == 1 else np.diff(np.sort(s, axis=1)[:, -2:]).ravel()
    np.testing.assert_allclose(scores(clf, X, "margin"), want, rtol=1e-12)


@pytest.mark.parametrize("model", [LogisticRegression(), Perceptron(), MultinomialNB()], ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classifiers_of_scikit_learn_take_what_needs_no_variance(model, n_classes):
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    model = model.fit(X[:100], y[:100])
    if hasattr(model, "decision_function"):
        s = model.decision_function(X)
        want = np.abs(s) if s.ndim == 1 else np.diff(np.sort(s, axis=1)[:, -2:]).ravel()
        np.testing.assert_allclose(scores(model, X, "margin"), want)
    if hasattr(model, "predict_proba"):
        p = model.predict_proba(X).max(axis=1)
        np.testing.assert_allclose(scores(model, X, "least-confident"), p)
        assert query(model, X, 2, "entropy").shape == (2,)
    assert query(model, X, 3, "random", random_state=0).shape == (3,)


@pytest.mark.parametrize("strategy", ["acl", "entropy"])
def test_first_order_rules_have_no_variances(strategy):
    clf, X = fitted(2, rule="pa")
    needs = "variances" if strategy == "acl" else "probabilities"
    with pytest.raises(ValueError, match=f"needs no {needs}, got '{strategy}': the rule 'pa'"):
        query(clf, X, 1, strategy)


def test_what_a_model_lacks_is_named():
    X, y = problem(2)
    model = Perceptron().fit(X, y)
    with pytest.raises(ValueError, match="needs no variances, got 'acl': Perceptron keeps none"):
        query(model, X)
    with pytest.raises(ValueError, match="needs no variances, got 'acl': Perceptron keeps none"):
        query(model, X, 2, batch=True)
    with pytest.raises(ValueError, match="got 'entropy': Perceptron has no predict_proba"):
        scores(model, X, "entropy")
    bayes = MultinomialNB().fit(np.abs(X), y)
    with pytest.raises(ValueError, match="got 'margin': MultinomialNB has no decision_function"):
        scores(bayes, X, "margin")


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr("surelearn.active._view._MOST", 50)


def test_questions_of_a_large_pool_come_from_parts_in_turn(small_parts):
    X, y = digits(3, 240)
    pool = Pool(SureClassifier(), X, labels={0: y[0], 1: y[1], 2: y[2]}, random_state=0)
    parts = [set(part.tolist()) for part in pool._rows._parts]
    assert [len(part) for part in parts] == [48] * 5
    assert set.union(*parts) == set(range(240))
    for turn in range(3, 40):
        left = sorted(parts[turn % 5] - {answer.row for answer in pool.answers})
        (row,) = pool.ask()
        assert row == left[query(pool.model, X[left])[0]]
        pool.tell(row, y[row])


@pytest.mark.parametrize("batch", [False, True])
def test_a_large_pool_gives_as_many_rows_as_are_asked_for(small_parts, batch):
    X, _ = digits(2, 240)
    pool = Pool(SureClassifier(), X, labels={0: 0, 1: 1}, batch=batch, random_state=0)
    pool.tell([2, 3], [0, 1])
    asked = pool.ask(120)
    assert len(set(asked.tolist()) - {0, 1, 2, 3}) == 120
    assert sorted(pool.ask(500).tolist()) == list(range(4, 240))


@pytest.mark.parametrize("n", [1, 49, 50, 51, 237])
def test_all_rows_of_a_large_pool_are_asked_about(small_parts, n):
    X, y = texts(n)
    pool = Pool(SureTextClassifier(), X, random_state=0, passes=1)
    assert sorted(teach(pool, y, n)) == list(range(n))


def test_other_classifiers_score_parts_as_well(small_parts):
    X, y = digits(3, 240)
    pool = Pool(SGDClassifier(random_state=0), X, strategy="margin", random_state=0)
    teach(pool, y, 10)
    part = pool._rows._parts[10 % 5]
    left = np.setdiff1d(part, [answer.row for answer in pool.answers])
    assert pool.ask()[0] == left[query(pool.model, X[left], strategy="margin")[0]]


@pytest.mark.parametrize("idf", [False, True])
def test_parts_of_a_column_of_texts(small_parts, idf):
    X, y = texts(120)
    model = SureTextClassifier(idf=idf)
    as_list, as_column = (
        Pool(model, rows, random_state=0) for model, rows in
        ((model, X), (SureTextClassifier(idf=idf), pd.Series(X)))
    )  # fmt: skip
    assert teach(as_list, y, 30) == teach(as_column, y, 30)


def test_texts_that_are_read_once_are_weighed_anew_each_time():
    X, y = texts(60)
    rows, clf = ReadRows(X), SureTextClassifier(idf=True, random_state=0)
    for n in (20, 20, 40):
        clf.fit(X[:n], y[:n])
        for _ in range(2):
            assert rows.view(clf).margin() == pytest.approx(query_margin(clf, X))


def query_margin(clf, X):
    """The best score minus the second best."""
    scores = clf.decision_function(X)
    return np.abs(scores) if scores.ndim == 1 else np.diff(np.sort(scores)[:, -2:]).ravel()


class Column:
    """Texts that are made anew each time, and counted while they are held."""

    def __init__(self, texts):
        self._texts = texts
        self.held = weakref.WeakSet()

    def __len__(self):
        return len(self._texts)

    def __getitem__(self, row):
        text = Held(self._texts[row])
        self.held.add(text)
        return text


class Held(str):
    """A text that can be referred to weakly."""

    __slots__ = ("__weakref__",)


@pytest.mark.parametrize("idf", [False, True])
def test_texts_are_not_kept_once_they_are_read(small_parts, idf):
    X, y = texts(240)
    column = Column(X)
    pool = Pool(SureTextClassifier(idf=idf), column, labels={0: y[0], 1: y[1]}, random_state=0)
    pool.tell(pool.ask(), [True])
    pool.ask()
    assert not column.held

"""Labels into a model, and out of it again: every byte as it was."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import MultinomialNB

from asked import bytes_of, digits, teach, texts
from surelearn import (
    MulticlassSVM,
    SoftmaxClassifier,
    SureClassifier,
    SureTextClassifier,
    rules,
)
from surelearn.active import Pool


@pytest.mark.parametrize(
    "model",
    [
        SureClassifier(),
        SureClassifier("pa"),
        SureClassifier(average=True),
        SureClassifier(covariance="full"),
        SureClassifier(multiclass="ovo"),
        SoftmaxClassifier(),
        MulticlassSVM(),
    ],
    ids=str,
)
def test_undo_restores_every_byte(model, tmp_path):
    X, y = digits(4)
    X = X[:, 20:32]
    strategy = "margin" if getattr(model, "rule", "") == "pa" else "acl"
    pool = Pool(clone(model), X, strategy=strategy, random_state=0)
    states = []
    for step in range(50):  # over copies that are made every 32 labels
        rows = pool.ask(1 + step % 2)
        fresh = pool.model.__sklearn_is_fitted__()
        states.append((rows, bytes_of(pool.model, tmp_path) if fresh else None))
        if step % 10 == 9:
            pool.skip(rows)
        else:
            pool.tell(rows, y[rows])
    answers, skipped = list(pool.answers), list(pool.skipped)
    for rows, state in reversed(states):
        assert pool.undo().tolist() == rows.tolist()
        assert (bytes_of(pool.model, tmp_path) == state) if state else pool.model._fresh
        assert (pool.ask(len(rows)) == rows).all()
    assert (pool.answers, pool.skipped, len(pool)) == ([], [], len(y))
    for step, (rows, _) in enumerate(states):  # and forward again
        if step % 10 == 9:
            pool.skip(rows)
        else:
            pool.tell(rows, y[rows])
    assert (pool.answers, pool.skipped) == (answers, skipped)


def test_undo_of_texts_restores_words_and_bytes(tmp_path):
    X, y = texts()
    start = {0: y[0], 1: y[1], 2: y[2]}
    pool = Pool(SureTextClassifier(), X, labels=start, random_state=0)
    before = bytes_of(pool.model, tmp_path)
    asked = teach(pool, y, 40)
    for row in reversed(asked):
        assert pool.undo().tolist() == [row]
    assert bytes_of(pool.model, tmp_path) == before
    with pytest.raises(ValueError, match="undo needs an answer or a skip to take back, got none"):
        pool.undo()  # the start stays
    assert len(pool.answers) == 3


def test_undo_where_all_weights_were_rescaled(tmp_path):
    """A rule free of scale multiplies every weight when the variances have become small."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = rng.integers(0, 2, 400)  # nothing but noise shrinks variances fast
    clf = SureClassifier("stdev", dtype="float32", projection="covariance")
    clf.set_params(rule__phi=4.0)
    pool = Pool(clf, X, strategy="random", random_state=0)
    teach(pool, y, 10)
    states = []
    for _ in range(100):
        states.append((bytes_of(pool.model, tmp_path), pool.model._model.weights.prior))
        teach(pool, y, 1)
    assert len({prior for _, prior in states}) > 1
    for state, _ in reversed(states):
        pool.undo()
        assert bytes_of(pool.model, tmp_path) == state


def test_whoever_holds_the_model_sees_what_is_undone():
    X, y = digits(2)
    clf = SureClassifier()
    pool = Pool(clf, X, random_state=0)
    teach(pool, y, 8)
    pool.undo()
    assert pool.model is clf
    assert clf._model.counts.sum() == 7


@pytest.mark.parametrize(
    ("model", "strategy"),
    [
        (RidgeClassifier(), "margin"),
        (SGDClassifier(random_state=0), "margin"),
        (MultinomialNB(), "least-confident"),
        (SureClassifier("pa1"), "margin"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_any_classifier_can_be_taught(model, strategy):
    X, y = digits(3)
    pool = Pool(model, X, strategy=strategy, random_state=0)
    asked = teach(pool, y, 9)
    at_nine = pool.model.predict(X)
    asked += teach(pool, y, 15)
    assert pool.model.score(X, y) > 0.8
    assert set(pool.model.classes_) == {0, 1, 2}
    for row in reversed(asked[9:]):
        assert pool.undo().tolist() == [row]
    assert (pool.model.predict(X) == at_nine).all()


def test_a_classifier_without_partial_fit_is_fitted_anew():
    X, y = digits(3)
    pool = Pool(RidgeClassifier(), X, strategy="margin", random_state=0)
    told = teach(pool, y, 12)
    plain = RidgeClassifier().fit(X[told], y[told])
    np.testing.assert_array_equal(pool.model.coef_, plain.coef_)


def test_a_classifier_with_partial_fit_learns_one_after_the_other():
    X, y = digits(3)
    pool = Pool(SGDClassifier(random_state=0), X, strategy="margin", classes=[0, 1, 2])
    told = teach(pool, y, 30)
    plain = SGDClassifier(random_state=0)
    for row in told:
        plain.partial_fit(X[[row]], y[[row]], classes=[0, 1, 2])
    np.testing.assert_array_equal(pool.model.coef_, plain.coef_)


@pytest.mark.parametrize("rule", [lambda m, v: (0.1, 0.1), rules.Custom(lambda m, v: (0.1, 0.1))])
def test_a_rule_that_cannot_be_pickled_is_undone_too(rule):
    X, y = digits(2)
    pool = Pool(SureClassifier(rule), X, random_state=0)
    teach(pool, y, 40)
    before = pool.model.coef_.copy()
    teach(pool, y, 1)
    assert (pool.model.coef_ != before).any()
    pool.undo()
    assert (pool.model.coef_ == before).all()
    assert pool.model.rule == rule


def test_a_row_that_another_classifier_refuses_leaves_it_as_it_was():
    """Also where its label is new and all would be learnt anew."""
    X = np.eye(4)
    X[3] = -1.0
    pool = Pool(MultinomialNB(), X, strategy="entropy", labels={0: "a", 1: "b"})
    before = pool.model.predict_proba(X[:3])
    with pytest.raises(ValueError, match="Negative values"):
        pool.tell(3, "c")
    assert pool.model.classes_.tolist() == ["a", "b"]
    assert (pool.model.predict_proba(X[:3]) == before).all()
    pool.tell(2, "b")
    assert [answer.row for answer in pool.answers] == [0, 1, 2]

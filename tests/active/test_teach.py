"""Labels into a model, and out of it again: every byte as it was."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits
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
from surelearn.active._teach import _same_start


@pytest.mark.slow
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
    for step in range(25):
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


# ------------------------------------------------------------------------------ replays


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("passes", [None, 3])
def test_after_each_answer_the_model_is_what_fit_gives(n_classes, passes, tmp_path):
    X, y = digits(n_classes)
    pool = Pool(SureClassifier(), X, passes=passes, random_state=7)
    told = []
    for _ in range(30):
        told += teach(pool, y, 1)
        if len(set(y[told])) > 1:
            given = {} if passes is None else {"passes": passes}
            plain = SureClassifier(random_state=7, **given)
            plain.fit(X[told], y[told], calibrate=False)
            plain.set_params(random_state=None, passes=SureClassifier().passes)
            assert bytes_of(pool.model, tmp_path) == bytes_of(plain, tmp_path)


@pytest.mark.parametrize("make", [SoftmaxClassifier, MulticlassSVM])
def test_a_batch_model_is_fitted_to_all_answers(make):
    X, y = digits(3)
    pool = Pool(make(), X, strategy="margin", random_state=0)
    told = teach(pool, y, 12)
    plain = make(random_state=0).fit(X[told], y[told])
    np.testing.assert_array_equal(pool.model.coef_, plain.coef_)


@pytest.mark.parametrize("make", [SureTextClassifier, SureClassifier])
def test_a_trained_model_starts_each_replay_from_a_copy(make, tmp_path):
    X, y = texts() if make is SureTextClassifier else digits(2)
    y = np.asarray(y)
    start = make(random_state=0).fit(X[:20], y[:20])
    before = bytes_of(start, tmp_path)
    twin = pickle.loads(pickle.dumps(start))
    pool = Pool(start, X, passes=3, random_state=5)
    pool.skip(range(20))
    told = np.array(teach(pool, y, 15))
    random = np.random.RandomState(5)
    for _ in range(3):
        rows = told[random.permutation(15)]
        twin.partial_fit([X[row] for row in rows], y[rows])
    assert bytes_of(pool.model, tmp_path) == bytes_of(twin, tmp_path)
    for _ in told:
        pool.undo()
    assert bytes_of(pool.model, tmp_path) == before


def test_many_answers_are_replayed_when_they_have_grown_by_a_fiftieth(monkeypatch):
    X, y = digits(2)
    pool = Pool(SureClassifier(), X, random_state=0)
    fitted = []
    whole = SureClassifier.fit
    monkeypatch.setattr(
        SureClassifier,
        "fit",
        lambda self, X, y, **how: fitted.append(len(y)) or whole(self, X, y, **how),
    )
    rows = pool.ask(210)
    pool.tell(rows, y[rows])
    due = [*range(90, 100), *range(100, 150, 2), *range(150, 200, 3), 200, 204, 208]
    assert [n for n in fitted if n >= 90] == due


def test_many_labels_to_start_from_are_learnt_together(monkeypatch, tmp_path):
    X, y = digits(3)
    fitted = []
    whole = SureClassifier.fit
    monkeypatch.setattr(
        SureClassifier,
        "fit",
        lambda self, X, y, **how: fitted.append(len(y)) or whole(self, X, y, **how),
    )
    start = {row: y[row] for row in range(201)}
    pool = Pool(SureClassifier(), X, labels=start, random_state=0)
    assert fitted == [200]
    told = Pool(SureClassifier(), X, random_state=0)
    told.tell(range(201), y[:201])
    assert bytes_of(pool.model, tmp_path) == bytes_of(told.model, tmp_path)


@given(n=st.integers(0, 130), more=st.integers(0, 20))
@settings(max_examples=6)
def test_the_model_depends_on_the_answers_alone(n, more):
    """Also between two replays, and after others were told and taken back."""
    X, y = digits(3, 240)
    X = X[:, 20:32]
    straight, back = (Pool(SureClassifier(passes=2), X, random_state=1) for _ in range(2))
    order = np.random.default_rng(2).permutation(240)
    straight.tell(order[:n], y[order[:n]])
    back.tell(order[:n], y[order[:n]])
    back.tell(order[n : n + more], y[order[n : n + more]])
    if more:
        back.undo()
    resumed = Pool(SureClassifier(passes=2), X, history=back.history)
    for other in (back, resumed):
        assert other._trainer.decides == straight._trainer.decides
        if straight._trainer.decides:
            np.testing.assert_array_equal(other.model.coef_, straight.model.coef_)
            np.testing.assert_array_equal(other.model.sigma_, straight.model.sigma_)


def test_a_replay_that_fails_leaves_the_model_as_it_was(monkeypatch, tmp_path):
    X, y = digits(2)
    pool = Pool(SureClassifier(), X, random_state=0)
    teach(pool, y, 10)
    before = bytes_of(pool.model, tmp_path)
    (row,) = pool.ask()

    def interrupted(self, X, y, **how):
        monkeypatch.undo()
        raise KeyboardInterrupt("stop")

    monkeypatch.setattr(SureClassifier, "fit", interrupted)
    with pytest.raises(KeyboardInterrupt, match="stop"):
        pool.tell(row, y[row])
    assert bytes_of(pool.model, tmp_path) == before
    assert (len(pool.answers), pool.ask().tolist()) == (10, [row])


def test_shards_and_messages_of_a_model_are_left_alone(capsys):
    X, y = digits(2)
    clf = SureClassifier(n_shards=4, verbose=1, random_state=3)
    teach(Pool(clf, X, random_state=0), y, 8)
    assert (clf.n_shards, clf.verbose, clf.random_state) == (4, 1, 3)
    assert clf.n_iter_ == 10
    assert capsys.readouterr().out == ""


def test_replays_teach_more_than_learning_once():
    X, y = load_digits(return_X_y=True)
    right = {}
    for passes in (1, 10):
        pool = Pool(SureClassifier(), X / 16, passes=passes, random_state=0)
        teach(pool, y, 100)
        right[passes] = pool.model.score(X / 16, y)
    assert right[10] > right[1] + 0.02


# --------------------------------------------------------------------------------- undo


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


@pytest.mark.parametrize(
    ("expected", "n_answers", "got"),
    [(0, 5, 0), (0, 5, 5), (0, 5, None), (3, 5, 3), (None, 5, None)],
)
def test_models_that_are_as_the_pool_found_or_left_them(expected, n_answers, got):
    _same_start(expected, n_answers, got)


@pytest.mark.parametrize(
    ("expected", "n_answers", "got", "message"),
    [
        (0, 5, 4, "learnt 0 rows, .* history, or 5 as after the last, got one that has learnt 4"),
        (3, 5, 8, "learnt 3 rows, as before the first answer of history, got .* learnt 8"),
        (3, 5, 0, "learnt 3 rows, .* got one that has learnt nothing"),
        (3, 5, None, "learnt 3 rows, .* got one that has learnt rows"),
        (None, 5, 0, "learnt rows, .* got one that has learnt nothing"),
    ],
)
def test_models_that_have_learnt_something_else(expected, n_answers, got, message):
    with pytest.raises(ValueError, match=f"model must have {message}"):
        _same_start(expected, n_answers, got)

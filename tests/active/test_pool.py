"""Ask, tell, skip, undo and stop."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits

from asked import bytes_of, digits, teach, texts
from labelled import data
from labelled import model as labelled
from surelearn import SureClassifier, SureTextClassifier, active, rules
from surelearn.active import Budget, EstimatedError, Pool, query
from surelearn.text import HashingVectorizer

# ---------------------------------------------------------------------- ask and tell


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_questions_are_those_of_query_and_the_model_that_of_partial_fit(
    n_classes, as_sparse, tmp_path
):
    X, y = digits(n_classes)
    X = sparse.csr_matrix(X) if as_sparse else X
    start = {int(np.flatnonzero(y == k)[0]): k for k in range(n_classes)}
    pool = Pool(SureClassifier(), X, labels=start, passes=1)
    told = list(start)
    for _ in range(20):
        left = np.setdiff1d(np.arange(len(y)), told)
        (row,) = pool.ask()
        assert row == left[query(pool.model, X[left])[0]]
        pool.tell(row, y[row])
        told.append(row)
    assert [answer.row for answer in pool.answers] == told
    assert len(pool) == len(y) - len(told)
    plain = SureClassifier().partial_fit(X[told], y[told])
    assert bytes_of(pool.model, tmp_path) == bytes_of(plain, tmp_path)


@pytest.mark.parametrize("labels", [np.int32, "U9", object])
def test_labels_keep_their_kind(labels, tmp_path):
    X, y = digits(3)
    y = y.astype(labels) if labels != "U9" else np.array(["a", "bcd", "efghijk"])[y]
    pool = Pool(SureClassifier(), X, passes=1, random_state=0)
    told = teach(pool, y, 30)
    plain = SureClassifier().partial_fit(X[told], y[told])
    assert bytes_of(pool.model, tmp_path) == bytes_of(plain, tmp_path)
    assert type(pool.answers[0].label) in (int, str)


def test_from_nothing_it_asks_at_random_until_two_classes_are_known():
    X, y = digits(2)
    y = np.zeros_like(y)
    y[100:] = 1
    pool = Pool(SureClassifier(), X, random_state=0)
    order = query(SureClassifier(), X, len(X), "random", random_state=0)
    asked = teach(pool, y, 1)
    while len({y[row] for row in asked}) < 2:
        asked += teach(pool, y, 1)
    assert asked == order[: len(asked)].tolist()
    left = np.setdiff1d(np.arange(len(y)), asked)
    assert pool.ask().tolist() == [left[query(pool.model, X[left])[0]]]


def test_one_question_may_follow_another_strategy():
    X, y = digits(3)
    pool = Pool(SureClassifier(), X, labels={int(np.flatnonzero(y == k)[0]): k for k in range(3)})
    teach(pool, y, 20)
    usual, left = pool.ask().tolist(), np.flatnonzero(~pool._closed)
    (new,) = pool.ask(strategy="novel")
    assert new == left[query(pool.model, X[left], strategy="novel")[0]]
    assert pool.ask().tolist() == usual != [new]
    with pytest.raises(ValueError, match=r"strategy must be one of 'random'.*got 'newest'"):
        pool.ask(strategy="newest")
    pool = Pool(SureClassifier(), X, batch=True)
    with pytest.raises(ValueError, match="batch needs strategy='acl', got 'novel'"):
        pool.ask(strategy="novel")


def test_asking_twice_gives_the_same_rows():
    X, y = digits(3)
    pool = Pool(SureClassifier(), X, random_state=0, explore=0.3)
    for _ in range(12):
        rows = pool.ask(4)
        assert len(set(rows.tolist())) == 4
        assert (pool.ask(4) == rows).all()
        pool.tell(rows[:2], y[rows[:2]])


def test_no_row_is_both_drawn_and_chosen():
    X, y = digits(3, n=60)
    pool = Pool(SureClassifier(), X, random_state=0, explore=0.5)
    teach(pool, y, 10)
    assert sorted(pool.ask(50).tolist()) == [row for row in range(60) if not pool._closed[row]]


@pytest.mark.parametrize("strategy", active.STRATEGIES)
def test_the_same_seed_asks_the_same(strategy):
    X, y = digits(3)

    def asked(seed):
        return teach(Pool(SureClassifier(), X, strategy=strategy, random_state=seed), y, 25)

    assert asked(5) == asked(5)
    assert asked(5) != asked(6)


def test_no_row_is_asked_about_twice_and_the_last_ones_too():
    X, y = digits(2, n=40)
    pool = Pool(SureClassifier(), X, random_state=0)
    pool.skip([3, 7])
    asked = teach(pool, y, 9, at_once=5)
    assert sorted([*asked, 3, 7]) == list(range(40))
    assert pool.ask(3).tolist() == []
    assert pool.should_stop() == "no rows left"


def test_several_rows_at_once_can_differ():
    X, y = digits(3)
    X = sparse.csr_matrix(np.vstack([X, X, X]))
    y = np.tile(y, 3)
    start = {int(np.flatnonzero(y == k)[0]): k for k in range(3)}
    rule = rules.AROW(r=1.0)
    same = Pool(SureClassifier(rule), X, labels=start, passes=1).ask(9)
    apart = Pool(SureClassifier(rule), X, labels=start, batch=True, passes=1).ask(9)
    assert len(set((same % 300).tolist())) < 9
    assert len(set((apart % 300).tolist())) == 9
    left = np.setdiff1d(np.arange(len(y)), list(start))
    model = SureClassifier(rule).partial_fit(X[list(start)], list(start.values()))
    assert apart.tolist() == left[query(model, X[left], 9, batch=True)].tolist()


@pytest.mark.parametrize("idf", [False, True])
def test_texts_are_scored_by_the_words_learnt_so_far(idf):
    X, y = texts()
    pool = Pool(SureTextClassifier(idf=idf), X, labels={0: y[0], 1: y[1], 2: y[2]}, random_state=0)
    for _ in range(20):
        left = np.setdiff1d(np.arange(len(y)), [answer.row for answer in pool.answers])
        (row,) = pool.ask()
        assert row == left[query(pool.model, [X[i] for i in left])[0]]
        pool.tell(row, y[row])


@pytest.mark.parametrize("idf", [False, True])
def test_texts_are_read_once_for_all_questions(monkeypatch, idf):
    X, y = texts()
    pool = Pool(SureTextClassifier(idf=idf), X, random_state=0)
    teach(pool, y, 10)
    read = []
    whole = HashingVectorizer.unweighed
    monkeypatch.setattr(
        HashingVectorizer, "unweighed", lambda self, X: read.append(len(X)) or whole(self, X)
    )
    teach(pool, y, 10)
    assert max(read) == 20  # the answers


# ------------------------------------------------------------------- other classifiers


def test_codes_need_their_classes():
    X, y = digits(4)
    pool = Pool(SureClassifier(multiclass="ecoc"), X, classes=range(4), random_state=0)
    teach(pool, y, 20)
    assert pool.model.classes_.tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="Declare all classes"):
        teach(Pool(SureClassifier(multiclass="ecoc"), X, random_state=0), y, 20)


# ---------------------------------------------------------------------------- stopping


def test_chosen_questions_are_harder_than_random_ones():
    """So the estimate by them is too high, which `explore` puts right."""
    X, y = load_digits(n_class=4, return_X_y=True)
    flip = np.random.default_rng(0).random(len(y)) < 0.1
    y = np.where(flip, (y + 1) % 4, y)
    pool = Pool(SureClassifier("arow"), X / 16, explore=0.5, random_state=0)
    teach(pool, y, 300)
    judged = [answer for answer in pool.answers[50:] if answer.predicted is not None]
    missed = {
        kind: np.mean([a.predicted != a.label for a in judged if a.at_random == kind])
        for kind in (True, False)
    }
    assert missed[False] > missed[True] + 0.05
    rest = np.setdiff1d(np.arange(len(y)), [answer.row for answer in pool.answers])
    error = 1 - pool.model.score(X[rest] / 16, y[rest])
    assert abs(missed[True] - error) < 0.07


# ------------------------------------------------------------------------------ errors


def test_errors_leave_the_pool_as_it_was(tmp_path):
    X, y = digits(2)
    pool = Pool(SureClassifier(), X, labels={0: y[0]}, random_state=0)
    teach(pool, y, 20)
    pool.skip(next(row for row in range(len(y)) if not pool._closed[row]))
    before = bytes_of(pool.model, tmp_path)
    row = int(pool.ask()[0])
    for rows, labels, message in [
        (0, 0, "rows must not be answered or skipped before, got 0"),
        (pool.skipped[0], 0, "rows must not be answered or skipped before"),
        (300, 0, r"rows must be in \[0, 300\), got 300"),
        (-1, 0, r"rows must be in \[0, 300\), got -1"),
        ([row, row], [0, 1], "rows must differ"),
        ([row], [0, 1], r"labels must be one for each of 1 rows, got \[0, 1\]"),
        (row, float("nan"), "labels must have no missing labels, got nan"),
        (pool.ask(2), [0, None], "labels must have no missing labels, got None at row 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            pool.tell(rows, labels)
    with pytest.raises(TypeError, match="rows must be row numbers, got 'a'"):
        pool.tell("a", 0)
    assert bytes_of(pool.model, tmp_path) == before
    assert (len(pool.answers), pool.ask()[0]) == (21, row)


def test_what_was_told_before_a_bad_label_can_be_undone(tmp_path):
    X, y = digits(3)
    model = SureClassifier(multiclass="ecoc", random_state=0)
    pool = Pool(model, X, classes=[0, 1, 2], random_state=0)
    teach(pool, y, 10)
    before = bytes_of(pool.model, tmp_path)
    rows = pool.ask(3)
    with pytest.raises(ValueError, match="must know all classes"):
        pool.tell(rows, [0, 1, 7])
    assert len(pool.answers) == 12
    assert pool.undo().tolist() == rows[:2].tolist()
    assert bytes_of(pool.model, tmp_path) == before


def test_what_a_pool_is_made_of():
    X, _ = digits(2)
    with pytest.raises(ValueError, match="strategy must be one of"):
        Pool(SureClassifier(), X, strategy="best")
    with pytest.raises(ValueError, match="batch needs strategy='acl', got 'random'"):
        Pool(SureClassifier(), X, strategy="random", batch=True)
    with pytest.raises(ValueError, match=r"explore must be in \[0, 1\), got 1"):
        Pool(SureClassifier(), X, explore=1)
    with pytest.raises(ValueError, match=r"passes must be at least 1, got 0"):
        Pool(SureClassifier(), X, passes=0)
    with pytest.raises(TypeError, match="labels must be a dict of rows and labels, got \\[1\\]"):
        Pool(SureClassifier(), X, labels=[1])
    with pytest.raises(TypeError, match="stop must be Budget, Stable or EstimatedError, got 5"):
        Pool(SureClassifier(), X, stop=[Budget(3), 5])


# ------------------------------------------------------------------------- odd input


def test_undo_of_a_skip_of_nothing_takes_nothing_back():
    pool = Pool(SureClassifier(), digits(2)[0])
    pool.skip([3, 4])
    pool.skip([])
    assert pool.undo().tolist() == [3, 4]
    assert pool.skipped == []


def test_labels_of_two_kinds_are_refused_before_any_is_learnt():
    pool = Pool(SureClassifier(), digits(2)[0])
    with pytest.raises(TypeError, match="labels must hold labels of one type, got int and str"):
        pool.tell([0, 1], ["a", 1])
    assert pool.answers == []


@pytest.mark.parametrize("form", ["csc", "bsr"])
def test_any_sparse_matrix_is_a_pool(form):
    X, y = digits(2)
    pools = [Pool(SureClassifier(), as_it_is(X), random_state=0)
             for as_it_is in (sparse.csr_matrix, getattr(sparse, f"{form}_matrix"))]  # fmt: skip
    assert teach(pools[0], y, 10) == teach(pools[1], y, 10)


def test_a_copy_of_a_pool_goes_its_own_way():
    X, y = digits(2)
    pool = Pool(SureClassifier(), X, random_state=0)
    teach(pool, y, 10)
    copy = pickle.loads(pickle.dumps(pool))
    asked = teach(copy, y, 5)
    assert len(pool.answers) == 10
    assert teach(pool, y, 5) == asked


def test_questions_of_the_random_strategy_are_random_ones():
    X, y = digits(2)
    rule = EstimatedError(0.3, window=30)
    pool = Pool(SureClassifier(), X, strategy="random", stop=rule, random_state=0)
    while not pool.should_stop():
        teach(pool, y, 1)
    assert "last 30 random questions" in pool.should_stop()


def test_many_labels_per_row_are_refused():
    X, Y = data()
    with pytest.raises(ValueError, match="must have one label per row in a Pool, got many"):
        Pool(labelled().fit(X, Y), X)
    with pytest.raises(ValueError, match="labels must be a list of labels, got"):
        Pool(labelled(), X).tell([0], [["a", "b"]])

"""Ask, tell, skip, undo and stop."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import MultinomialNB

from surelearn import SureClassifier, SureTextClassifier, active, rules
from surelearn.active import Budget, EstimatedError, Pool, Progress, Stable, query
from surelearn.active._stopping import kappa

WORDS = ["great", "dull", "odd", "film", "new", "plot", "fine", "poor", "cast", "long"]


def digits(n_classes: int, n: int = 300):
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))[:n]
    return X[order] / 16, y[order]


def texts(n: int = 60):
    words = np.random.default_rng(1).choice(WORDS, (n, 4))
    return [" ".join(row) for row in words], ["fine" in row or "great" in row for row in words]


def bytes_of(model, tmp_path):
    path = tmp_path / "model"
    model.save(path)
    return path.read_bytes()


def teach(pool: Pool, y, n: int, at_once: int = 1) -> list[int]:
    asked: list[int] = []
    for _ in range(n):
        rows = pool.ask(at_once)
        pool.tell(rows, np.asarray(y)[rows])
        asked += rows.tolist()
    return asked


# ---------------------------------------------------------------------- ask and tell


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_questions_are_those_of_query_and_the_model_that_of_partial_fit(
    n_classes, as_sparse, tmp_path
):
    X, y = digits(n_classes)
    X = sparse.csr_matrix(X) if as_sparse else X
    start = {int(np.flatnonzero(y == k)[0]): k for k in range(n_classes)}
    pool = Pool(SureClassifier(), X, labels=start)
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
    pool = Pool(SureClassifier(), X, random_state=0)
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
    same = Pool(SureClassifier(rule), X, labels=start).ask(9)
    apart = Pool(SureClassifier(rule), X, labels=start, batch=True).ask(9)
    assert len(set((same % 300).tolist())) < 9
    assert len(set((apart % 300).tolist())) == 9
    left = np.setdiff1d(np.arange(len(y)), list(start))
    model = SureClassifier(rule).partial_fit(X[list(start)], list(start.values()))
    assert apart.tolist() == left[query(model, X[left], 9, batch=True)].tolist()


def test_texts_are_hashed_once(monkeypatch, tmp_path):
    X, y = texts()
    pool = Pool(SureTextClassifier(), X, random_state=0)
    told = teach(pool, y, 10)
    monkeypatch.setattr(pool.model, "_rows", None)  # would be called to read texts again
    told += teach_without_predicting(pool, y, 10)
    plain = SureTextClassifier().partial_fit([X[row] for row in told], [y[row] for row in told])
    assert bytes_of(pool.model, tmp_path) == bytes_of(plain, tmp_path)


def teach_without_predicting(pool, y, n):
    """With labels of the start, which are not judged."""
    asked = []
    for _ in range(n):
        (row,) = pool.ask()
        pool._learn(int(row), y[row], judged=False)
        asked.append(int(row))
    return asked


# -------------------------------------------------------------------------------- undo


@pytest.mark.parametrize(
    "params",
    [{}, {"rule": "pa"}, {"average": True}, {"covariance": "full"}, {"multiclass": "ovo"}],
    ids=str,
)
def test_undo_restores_every_byte(params, tmp_path):
    X, y = digits(4)
    X = X[:, 20:32]
    strategy = "margin" if params.get("rule") == "pa" else "acl"
    pool = Pool(SureClassifier(**params), X, strategy=strategy, random_state=0)
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


# ------------------------------------------------------------------- other classifiers


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


def test_codes_need_their_classes():
    X, y = digits(4)
    pool = Pool(SureClassifier(multiclass="ecoc"), X, classes=range(4), random_state=0)
    teach(pool, y, 20)
    assert pool.model.classes_.tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="Declare all classes"):
        teach(Pool(SureClassifier(multiclass="ecoc"), X, random_state=0), y, 20)


# ---------------------------------------------------------------------------- stopping


def curve(pool: Pool, y, most: int) -> tuple[int, str]:
    """Labels until it stops, and why."""
    for n in range(most):
        if reason := pool.should_stop():
            return n, reason
        teach(pool, y, 1)
    return most, ""


def test_a_budget_stops_at_its_end():
    X, y = digits(3)
    start = {int(np.flatnonzero(y == k)[0]): k for k in range(3)}
    pool = Pool(SureClassifier(), X, labels=start, stop=Budget(20))
    assert curve(pool, y, 100) == (17, "20 labels of 20")
    pool.undo()
    assert pool.should_stop() == ""


def test_stable_predictions_stop_an_easy_pool_and_not_at_once():
    X, y = digits(2, n=360)
    pool = Pool(SureClassifier(), X, stop=Stable(window=10, times=2, watch=200), random_state=0)
    n, reason = curve(pool, y, 300)
    assert 20 < n < 200
    assert reason.startswith("predictions stable: kappa")
    assert "last 20 labels" in reason
    assert pool.model.score(X, y) > 0.97


def test_predictions_of_noise_are_not_stable():
    X, _ = digits(2, n=300)
    y = np.random.default_rng(0).integers(0, 2, 300)
    clf = SureClassifier("pa")
    pool = Pool(clf, X, strategy="random", stop=Stable(window=10, times=2), random_state=0)
    assert curve(pool, y, 150) == (150, "")


def test_one_label_for_all_is_no_decision():
    looks = [np.zeros(50, np.int32)] * 100
    none = np.zeros(0, bool)
    assert Stable(window=10).reason(Progress(100, none, none, looks)) == ""
    looks = [np.arange(50, dtype=np.int32) % 2] * 61
    assert "kappa 1.000" in Stable().reason(Progress(61, none, none, looks))
    assert Stable().reason(Progress(60, none, none, looks[:60])) == ""
    assert Stable().reason(Progress(61, none, none, [None, *looks[1:]])) == ""


def test_kappa_by_hand():
    """Agreement 3/4; by chance 1/2 1/4 + 1/2 3/4."""
    a, b = np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 1, 1], np.int32)
    assert kappa(a, b) == pytest.approx(0.5)
    assert kappa(a, a) == 1.0
    assert kappa(a, 1 - a) == -1.0


def test_what_is_undone_does_not_count_as_stable():
    X, y = digits(2)
    pool = Pool(SureClassifier(), X, stop=Stable(window=5, times=2), random_state=0)
    teach(pool, y, 30)
    before = list(pool._predictions)
    teach(pool, y, 3)
    for _ in range(3):
        pool.undo()
    assert len(pool._predictions) == len(before) == 30


@pytest.mark.parametrize("explore", [0.0, 0.5])
def test_estimated_error_stops_where_the_error_is_low(explore):
    X, y = digits(3, n=500)
    rule = EstimatedError(0.1, window=30)
    pool = Pool(SureClassifier(), X, stop=rule, explore=explore, random_state=0)
    n, reason = curve(pool, y, 450)
    assert 30 < n < 450
    assert f"last 30 {'random' if explore else 'chosen'} questions" in reason
    assert 1 - pool.model.score(X, y) < 0.1


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


def test_estimated_error_counts_the_last_questions_before_they_are_learnt():
    missed = np.array([True] * 50 + [False] * 100)
    none = np.zeros(150, bool)
    rule = EstimatedError(0.02, window=100, z=1.0)
    assert "error at most 0.010" in rule.reason(Progress(150, missed, none, []))
    assert rule.reason(Progress(149, missed[:-3], none[:-3], [])) == ""
    assert rule.reason(Progress(150, np.ones(150, bool), none, [])) == ""
    odd = np.arange(150) % 2 == 1
    few = EstimatedError(0.02, window=50, z=0.0)
    assert "random questions" in few.reason(Progress(150, ~odd, odd, []))
    assert few.reason(Progress(150, odd, odd, [])) == ""


def test_the_first_reason_counts():
    X, y = digits(2)
    pool = Pool(SureClassifier(), X, stop=[Budget(5), Budget(3)], random_state=0)
    teach(pool, y, 3)
    assert pool.should_stop() == "3 labels of 3"


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
    with pytest.raises(TypeError, match="labels must be a dict of rows and labels, got \\[1\\]"):
        Pool(SureClassifier(), X, labels=[1])
    with pytest.raises(TypeError, match="stop must be Budget, Stable or EstimatedError, got 5"):
        Pool(SureClassifier(), X, stop=[Budget(3), 5])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Budget(0), "n must be at least 1, got 0"),
        (lambda: Stable(threshold=1.5), r"threshold must be in \(0, 1\], got 1.5"),
        (lambda: Stable(window=0), "window must be at least 1, got 0"),
        (lambda: EstimatedError(0.0), r"error must be in \(0, 1\), got 0.0"),
        (lambda: EstimatedError(0.1, z=-1.0), r"z must be in \[0, inf\), got -1.0"),
    ],
)
def test_stopping_rules_check_themselves(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# ------------------------------------------------------------------------- odd input


def test_undo_of_a_skip_of_nothing_takes_nothing_back():
    pool = Pool(SureClassifier(), digits(2)[0])
    pool.skip([3, 4])
    pool.skip([])
    assert pool.undo().tolist() == [3, 4]
    assert pool.skipped == []


def test_labels_of_two_kinds_are_refused_before_any_is_learnt():
    pool = Pool(SureClassifier(), digits(2)[0])
    with pytest.raises(TypeError, match="labels must hold labels of one kind, got int and str"):
        pool.tell([0, 1], ["a", 1])
    assert pool.answers == []


@pytest.mark.parametrize("form", ["csc", "bsr"])
def test_any_sparse_matrix_is_a_pool(form):
    X, y = digits(2)
    pools = [Pool(SureClassifier(), as_it_is(X), random_state=0)
             for as_it_is in (sparse.csr_matrix, getattr(sparse, f"{form}_matrix"))]  # fmt: skip
    assert teach(pools[0], y, 10) == teach(pools[1], y, 10)


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


def test_a_copy_of_a_pool_goes_its_own_way():
    X, y = digits(2)
    pool = Pool(SureClassifier(), X, random_state=0)
    teach(pool, y, 10)
    copy = pickle.loads(pickle.dumps(pool))
    asked = teach(copy, y, 5)
    assert len(pool.answers) == 10
    assert teach(pool, y, 5) == asked


def test_a_stopping_rule_must_be_one():
    with pytest.raises(TypeError, match="stop must be Budget, Stable or EstimatedError, got 3"):
        Pool(SureClassifier(), digits(2)[0], stop=3)


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


def test_questions_of_the_random_strategy_are_random_ones():
    X, y = digits(2)
    rule = EstimatedError(0.3, window=30)
    pool = Pool(SureClassifier(), X, strategy="random", stop=rule, random_state=0)
    while not pool.should_stop():
        teach(pool, y, 1)
    assert "last 30 random questions" in pool.should_stop()

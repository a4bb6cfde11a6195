"""Classes that come one by one: the same bits as in one batch, and weights rarely copied."""

from __future__ import annotations

import copy
import itertools
import pickle
import threading

import numpy as np
import pytest
from hypothesis import assume, given

import strategies
from classifiers import fingerprint
from surelearn import SureClassifier, load, rules, weights
from surelearn.active import Pool
from surelearn.constraints import Exact, Parallel, Sequential
from surelearn.rows import rows_of
from surelearn.training.protocol import Refused

WAYS = [
    {"rule": "arow"},
    {"rule": "probit", "multiclass": "ovr", "average": True},
    {"rule": "scw1", "multiclass": "ovo"},
    {"rule": "arow", "constraints": Sequential(2), "average": True, "dtype": "float64"},
    {"rule": "scw2", "constraints": Parallel(), "projection": "precision"},
    {"rule": rules.Stdev(phi=0.1), "constraints": Exact()},
    {"rule": rules.Stdev(phi=3.0), "initial_variance": 1e-14},  # is rescaled now and then
    {"rule": "pa1", "multiclass": "ovr"},
    {"rule": "perceptron", "average": True},
    {"rule": "arow", "covariance": "full"},  # is copied for each class
]
each_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: " ".join(map(str, way.values())))


def unsorted(n_classes):
    """Labels in an order in which new ones come before, between and after those known."""
    return np.random.default_rng(n_classes).permutation(n_classes)


def one_row_a_class(n_classes, **options):
    """A model that has met its classes one by one; feature k speaks for class k alone."""
    clf = SureClassifier(**{"rule": "arow", "fit_intercept": False, **options}, scale=False)
    clf.partial_fit(np.zeros((1, n_classes)), [0])
    for k in unsorted(n_classes).tolist():
        clf.learn_one({k: 1.0}, k)
    return clf


@each_way
@given(problem=strategies.problems(max_rows=16, max_classes=12))
def test_one_by_one_is_the_same_as_in_one_batch(way, problem):
    X, y = problem.X, problem.y
    options = {"projection": "covariance", **way}
    whole, single, pairs = (SureClassifier(**options, scale=False) for _ in range(3))
    try:
        whole.partial_fit(X, y)
        for x, label in zip(X, y, strict=True):
            single.learn_one(x, label)
        for i in range(0, len(y), 2):
            pairs.partial_fit(X[i : i + 2], y[i : i + 2])
    except Refused:
        assume(False)
    assert fingerprint(whole) == fingerprint(single) == fingerprint(pairs)
    if len(whole.classes_) > 1:
        check_same_answers(single, whole, X)


def check_same_answers(clf, other, X):
    """Every way of asking, ties too."""
    np.testing.assert_array_equal(clf.classes_, other.classes_)
    np.testing.assert_array_equal(clf.predict(X), other.predict(X))
    assert [clf.predict_one(x) for x in X] == other.predict(X).tolist()
    np.testing.assert_array_equal(clf.decision_function(X), other.decision_function(X))
    np.testing.assert_array_equal(clf.coef_, other.coef_)
    np.testing.assert_array_equal(clf.intercept_, other.intercept_)
    for mine, others in zip(
        *(c._model.weights.leads(rows_of(X)) for c in (clf, other)), strict=True
    ):
        np.testing.assert_array_equal(mine, others)
    if clf._model.layout.second_order:
        np.testing.assert_array_equal(clf.sigma_, other.sigma_)
        np.testing.assert_array_equal(clf.margin(X), other.margin(X))


@each_way
def test_grown_models_go_on_as_their_copies_do(way, tmp_path):
    """Copies and files hold the columns in the order of the labels, and no room."""
    X = np.random.default_rng(0).normal(size=(60, 5))
    y = np.random.default_rng(1).integers(0, 12, size=60)
    clf = SureClassifier(**way, scale=False)
    for x, label in zip(X[:40], y[:40], strict=True):
        clf.learn_one(x, label)
    clf.save(tmp_path / "m.sure")
    twins = [copy.deepcopy(clf), pickle.loads(pickle.dumps(clf)), load(tmp_path / "m.sure")]
    check_same_answers(clf, twins[0], X)
    for twin in twins:
        if "covariance" not in way:
            assert twin._model.weights.capacity == twin._model.weights.n_columns
    for each in (clf, *twins):
        each.partial_fit(X[40:], y[40:])
    assert all(fingerprint(twin) == fingerprint(clf) for twin in twins)
    files = []
    for i, each in enumerate((clf, *twins)):
        each.save(tmp_path / f"{i}.sure")
        files.append((tmp_path / f"{i}.sure").read_bytes())
    assert len(set(files)) == 1


def test_the_room_is_that_of_the_classes_where_they_are_known():
    """Not one byte more for `fit`, declared classes, and a first batch that has all of them."""
    X, y = np.eye(20), np.arange(20)
    fitted = SureClassifier(scale=False).fit(X, y)
    declared = SureClassifier(scale=False).partial_fit(X[:3], y[:3], classes=y)
    first = SureClassifier(scale=False).partial_fit(X, y)
    for clf in (fitted, declared, first):
        assert clf._model.weights.capacity == 20


def test_without_memory_to_spare_a_class_takes_no_room(monkeypatch):
    clf = SureClassifier("arow", scale=False).fit(np.eye(8), np.arange(8))
    monkeypatch.setattr(weights, "MEMORY_LIMIT", clf._model.layout.nbytes(10))
    for k in (8, 9):
        clf.learn_one({0: 1.0}, k)
        assert clf._model.weights.capacity == k + 1
    before = fingerprint(clf)
    with pytest.raises(MemoryError, match="11"):
        clf.learn_one({0: 1.0}, 10)
    assert fingerprint(clf) == before


@pytest.mark.parametrize("multiclass", ["joint", "ovr", "ovo"])
def test_new_classes_copy_the_weights_now_and_then(multiclass):
    """Counted in columns: each is copied thrice at most, and a third of the room is spare."""
    n = 60 if multiclass == "ovo" else 300
    clf = SureClassifier("arow", multiclass=multiclass, scale=False).partial_fit(
        np.zeros((1, 3)), [0]
    )
    rooms, copied = [], 0
    for k in unsorted(n).tolist():
        before = clf._model.weights
        clf.learn_one({0: 1.0}, k)
        after = clf._model.weights
        if before is None or after is before:
            continue
        if not rooms or after.capacity != rooms[-1]:
            rooms.append(after.capacity)
            copied += before.n_columns
    columns = clf._model.weights.n_columns
    assert columns == (n * (n - 1) // 2 if multiclass == "ovo" else n)
    assert len(rooms) <= 20
    assert copied <= 3 * columns
    assert rooms[-1] <= 1.5 * columns


def test_a_new_class_in_the_room_copies_nothing():
    """Labels that come in order are columns in order, which are views of one memory."""
    clf = SureClassifier("arow", scale=False).partial_fit(np.eye(100), np.arange(100))
    clf.learn_one({0: 1.0}, 100)  # makes room
    view = clf.coef_
    for k in range(101, 150):
        clf.learn_one({0: 1.0}, k)
        assert np.shares_memory(view, clf.coef_)
    assert not np.shares_memory(view, clf.learn_one({0: 1.0}, 151).coef_)


def test_views_are_read_only_also_where_columns_are_out_of_order():
    clf = one_row_a_class(7)
    np.testing.assert_array_equal(clf.coef_.argmax(axis=1), np.arange(7))
    with pytest.raises(ValueError, match="read-only"):
        clf.coef_[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        clf.sigma_[0, 0] = 1.0


def test_a_refused_first_row_of_a_class_leaves_the_model_as_it_was():
    """The class after it then takes another column, and gets the same bits."""
    clf, other = one_row_a_class(9), one_row_a_class(9)
    before = fingerprint(clf)
    with pytest.raises(Refused, match="row 0"):
        clf.learn_one({1: 1e300}, 40)
    assert fingerprint(clf) == before
    for each in (clf, other):
        each.learn_one({2: 1.0}, 30).learn_one({3: 1.0}, 40).learn_one({4: 1.0}, 5)
    assert fingerprint(clf) == fingerprint(other)


def test_a_model_of_a_moment_ago_knows_its_own_classes():
    """What a reader has in hand while another thread meets a class: its labels, their weights."""
    clf = one_row_a_class(7)
    shell = clf._shell()
    clf.learn_one({0: 3.0, 4: 1.0}, -1)  # there is room for it
    assert clf.classes_.tolist() == list(range(-1, 7))
    assert shell.classes_.tolist() == list(range(7))
    np.testing.assert_array_equal(shell.predict(np.eye(7)[1:4]), [1, 2, 3])
    scores = clf.decision_function(np.eye(7))[:, 1:]
    np.testing.assert_array_equal(shell.decision_function(np.eye(7)), scores)


@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
def test_one_row_is_predicted_by_one_model(multiclass, monkeypatch):
    """Even if another thread adds a class while the row is predicted."""
    clf = SureClassifier("arow", fit_intercept=False, multiclass=multiclass, scale=False)
    clf.partial_fit(np.eye(5)[:3], [1, 2, 3])
    before = clf.model_
    clf.learn_one({4: 1.0}, 0)
    models = itertools.chain([before], itertools.repeat(clf.model_))
    monkeypatch.setattr(clf, "_fitted", lambda: next(models))
    assert clf.predict_one({1: 1.0}) == 2
    models = itertools.chain([before], itertools.repeat(clf.model_))
    assert max(clf.predict_proba_one({1: 1.0}).items(), key=lambda item: item[1])[0] == 2


@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
def test_readers_see_labels_and_weights_that_belong_together(multiclass):
    """Feature k speaks for class k alone, so from its first row on k is predicted for it."""
    n = 100
    clf = SureClassifier("arow", fit_intercept=False, multiclass=multiclass, scale=False)
    clf.partial_fit(np.eye(n)[:3], [0, 1, 2])
    wrong, seen, done = [], [], threading.Event()

    def look():
        while not done.is_set():
            known = clf.classes_
            found = clf.predict(np.eye(n)[known])
            one = int(known[len(seen) % len(known)])
            if (found != known).any() or clf.predict_one({one: 1.0}) != one:
                wrong.append((known, found))
            seen.append(len(known))

    readers = [threading.Thread(target=look) for _ in range(3)]
    for reader in readers:
        reader.start()
    for k in unsorted(n).tolist():
        clf.learn_one({k: 1.0}, k)
    while len(seen) < 3:
        pass
    done.set()
    for reader in readers:
        reader.join()
    assert not wrong
    assert clf.classes_.tolist() == list(range(n))


def test_copies_while_classes_come_are_of_one_moment():
    """Each copy predicts every class it knows, whatever was met while it was made."""
    n = 60
    clf = SureClassifier("arow", fit_intercept=False, scale=False).partial_fit(
        np.eye(n)[:3], [0, 1, 2]
    )
    learner = threading.Thread(
        target=lambda: [clf.learn_one({k: 1.0}, k) for k in unsorted(n).tolist()]
    )
    learner.start()
    copies = []
    while learner.is_alive():
        copies.append(pickle.loads(pickle.dumps(clf)))
    learner.join()
    assert copies
    clf.learn_one({0: 1.0}, 0)
    # What is cached meanwhile would be added while it is written: it is left out.
    assert "places" in vars(clf._model)
    assert "places" not in vars(pickle.loads(pickle.dumps(clf._model)))
    for twin in copies:
        np.testing.assert_array_equal(twin.predict(np.eye(n)[twin.classes_]), twin.classes_)


def test_undo_takes_new_classes_back():
    X = np.eye(12)
    pool = Pool(SureClassifier("arow", scale=False), X, random_state=0)
    prints = []
    for k in unsorted(12).tolist():
        prints.append(None if pool.model._fresh else copy.deepcopy(fingerprint(pool.model)))
        pool.tell([k], [k])
    for before in prints[:0:-1]:
        pool.undo()
        assert fingerprint(pool.model) == before

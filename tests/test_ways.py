"""The classifier with many constraints, full covariance, costs: streams, late classes, limits."""

from __future__ import annotations

import copy
import pickle
import threading

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.model_selection import GridSearchCV

import strategies
from classifiers import fingerprint, spread
from reference.learner import Learner
from surelearn import SureClassifier, constraints, rules, weights
from surelearn.constraints import Exact, Parallel, Sequential
from surelearn.training.protocol import Refused

WAYS = [
    {"rule": "arow", "constraints": Sequential()},
    {"rule": "scw1", "constraints": Parallel(mixing=[2, 1])},
    {"rule": rules.Variance(phi=0.1), "constraints": Exact()},
    {"rule": rules.Stdev(phi=0.1), "constraints": Exact(2)},
    {"rule": "pa1", "constraints": Exact()},
    {"rule": "stdev", "covariance": "full", "dtype": "float64"},
    {"rule": "arow", "covariance": "full", "constraints": Sequential(2)},
    {"rule": rules.Variance(phi=0.1), "covariance": "full", "constraints": Exact()},
]
each_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: str(list(way.values())))


@each_way
@given(problem=strategies.problems(max_classes=4), data=st.data())
def test_any_chunking_gives_the_same_bits(way, problem, data):
    """Promise 1: CSR, dense or dict, in pieces down to single rows."""
    kept = problem.sample_weight > 0
    X, y, w = problem.X[kept], problem.y[kept], problem.sample_weight[kept]
    cut = data.draw(st.integers(0, len(y)))
    made = [SureClassifier(**way, projection="precision", scale=False) for _ in range(3)]
    classes = np.arange(problem.n_classes)
    try:
        made[0].partial_fit(X, y, classes, w)
        for part in (slice(0, cut), slice(cut, None)):
            if len(y[part]):
                rows = sparse.csr_matrix(X[part])
                made[1].partial_fit(rows, y[part], classes, w[part])
        made[2].partial_fit(X[:1], y[:1], classes, w[:1])
        for x, label, weight in zip(X[1:], y[1:], w[1:], strict=True):
            made[2].learn_one({i: v for i, v in enumerate(x) if v}, label, weight)
    except Refused:
        assume(False)
    assert fingerprint(made[0]) == fingerprint(made[1]) == fingerprint(made[2])


@each_way
def test_late_classes_are_rivals_from_their_first_row(way):
    """A stream in which classes appear gives what the same rows give one by one."""
    X, y = spread(n_classes=4)
    order = np.argsort(y[:60], kind="stable")  # one class after the other
    whole = SureClassifier(**way, projection="precision", scale=False).partial_fit(
        X[order], y[order]
    )
    single = SureClassifier(**way, projection="precision", scale=False)
    for x, label in zip(X[order], y[order], strict=True):
        single.learn_one(x, label)
    assert fingerprint(whole) == fingerprint(single)
    assert whole.classes_.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_a_split_leaves_margins_as_they_were(covariance):
    X, y = spread(n_classes=2)
    clf = SureClassifier("stdev", covariance=covariance, dtype="float64", scale=False).partial_fit(
        X, y
    )
    mean, variance = clf.margin(X[:5])
    clf._model = clf._model.with_classes(np.arange(3))
    means = clf.decision_function(X[:5])
    np.testing.assert_allclose(means[:, 1] - means[:, 0], mean, rtol=1e-12)
    variances = clf.margin(X[:5])[1]
    np.testing.assert_allclose(variances[:, 0] + variances[:, 1], variance, rtol=1e-9)
    assert clf.sigma_.shape == ((21, 21) if covariance == "full" else (3, 6))


def test_full_attributes_have_the_documented_shapes():
    X, y = spread(d=4)
    clf = SureClassifier("arow", covariance="full", random_state=0, scale=False).fit(X, y)
    assert clf.coef_.shape == (3, 4)
    assert clf.sigma_.shape == (15, 15)  # the intercept as a last feature of each class
    assert clf.intercept_sigma_.shape == (3,)
    np.testing.assert_array_equal(clf.intercept_sigma_, np.diagonal(clf.sigma_)[4::5])
    np.testing.assert_array_equal(clf.sigma_, clf.sigma_.T)
    assert np.linalg.eigvalsh(clf.sigma_.astype(float)).min() > 0
    with pytest.raises(ValueError, match="read-only"):
        clf.sigma_[0, 0] = 1.0
    two = SureClassifier("arow", covariance="full", fit_intercept=False, scale=False).fit(X, y % 2)
    assert two.sigma_.shape == (4, 4)
    for twin in (pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf)):
        assert fingerprint(twin.partial_fit(X, y)) == fingerprint(
            copy.deepcopy(clf).partial_fit(X, y)
        )


def test_a_covariance_that_is_too_large_is_refused_with_its_size(monkeypatch):
    X = sparse.csr_matrix((2, 100_000))
    clf = SureClassifier("arow", covariance="full", scale=False)
    with pytest.raises(ValueError, match=r"at most 4\.3 GB, got 100,001 weights, .*40\.0 GB"):
        clf.fit(X, [0, 1])
    assert not hasattr(clf, "classes_")
    # A class that comes late makes the matrix larger: nothing of its batch is learnt.
    X, y = spread(d=50, n_classes=3)
    monkeypatch.setattr(weights, "FULL_LIMIT", 50_000)
    clf.partial_fit(X[y < 2], y[y < 2])
    before = fingerprint(clf)
    with pytest.raises(ValueError, match="covariance='full' must need at most"):
        clf.partial_fit(X, y)
    with pytest.raises(ValueError, match="covariance='full' must need at most"):
        clf.learn_one(X[0], 2)
    assert fingerprint(clf) == before


@pytest.mark.parametrize("name", ["pa", "pa1", "pa2", "arow", "nherd"])
def test_a_margin_rule_asks_for_the_margin_that_is_the_cost(name):
    """PA ends exactly there; the others agree with the reference."""
    X, y = np.array([[1.0, 2.0]]), np.array([1])
    cost = np.array([[0, 1, 1], [3.0, 0, 5.0], [1, 1, 0]])
    clf = SureClassifier(name, cost=cost, dtype="float64", constraints="sequential", scale=False)
    clf.partial_fit(X, y, classes=[0, 1, 2])
    params = rules.get(name).params()
    want = Learner(2, 3, name, params, constraints="sequential", cost=cost, projection="covariance")
    want.learn(X[0], 1)
    np.testing.assert_allclose(clf.coef_, want.mu[:, :2], rtol=1e-12)
    if name == "pa":
        exact = SureClassifier("pa", cost=cost, dtype="float64", constraints=Exact(), scale=False)
        scores = exact.partial_fit(X, y, classes=[0, 1, 2]).decision_function(X)[0]
        assert scores[1] - scores[0] == pytest.approx(3.0)
        assert scores[1] - scores[2] == pytest.approx(5.0)


def test_a_cost_shifts_mistakes_to_where_they_are_cheap():
    X, y = spread(600, n_classes=3, seed=3)
    X += np.random.default_rng(0).normal(size=X.shape) * 3
    dear = 1 - np.eye(3)
    dear[0, 1:] = 20.0  # class 0 must not be missed
    plain = SureClassifier("pa1", random_state=0, average=True, scale=False).fit(X, y)
    costly = SureClassifier("pa1", random_state=0, average=True, cost=dear, scale=False).fit(X, y)
    missed = [np.mean(clf.predict(X)[y == 0] != 0) for clf in (plain, costly)]
    assert missed[1] < 0.7 * missed[0]


def test_all_costs_of_one_change_nothing():
    X, y = spread()
    for rule in ("arow", "stdev", "pa"):
        plain = SureClassifier(rule, random_state=0, scale=False).fit(X, y)
        same = SureClassifier(rule, random_state=0, cost=1 - np.eye(3), scale=False).fit(X, y)
        assert fingerprint(plain) == fingerprint(same)


def test_a_cost_in_a_stream_needs_all_classes_declared():
    X, y = spread()
    cost = 1 - np.eye(3)
    clf = SureClassifier("arow", cost=cost, scale=False)
    clf.learn_one(X[0], 0)  # one class teaches nothing, so needs no cost
    with pytest.raises(ValueError, match=r"cost must be a \(2, 2\) matrix for classes 0, 1, got s"):
        clf.learn_one(X[0], 1)
    clf.partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    clf.learn_one(X[1], int(y[1]))
    before = fingerprint(clf)
    with pytest.raises(ValueError, match=r"cost must be a \(4, 4\) matrix for classes 0, 1, 2, 3"):
        clf.partial_fit(X, np.where(y == 2, 3, y))
    assert fingerprint(clf) == before


def test_rival_ranks_are_ties_by_class_order():
    """From zero every rival is as good: the first ones are taken."""
    X = np.array([[1.0, 1.0]])
    clf = SureClassifier("pa", constraints=Sequential(2), fit_intercept=False, scale=False)
    clf.partial_fit(X, ["c"], classes=list("abcde"))
    moved = np.abs(clf.coef_).sum(axis=1) > 0
    assert moved.tolist() == [True, True, True, False, False]


def test_grid_search_goes_over_schemes():
    X, y = spread()
    grid = {
        "constraints": ["single", Sequential(2), Parallel()],
        "covariance": ["diagonal", "full"],
    }
    search = GridSearchCV(SureClassifier("arow", random_state=0, scale=False), grid, cv=2).fit(X, y)
    assert search.best_score_ > 0.8
    assert isinstance(search.best_params_["constraints"], str | constraints.Constraints)


@each_way
def test_predictions_go_on_while_it_learns(way):
    X, y = spread(400)
    clf = SureClassifier(**way, scale=False).partial_fit(X, y)
    errors, done = [], threading.Event()

    def read():
        try:
            while not done.is_set():
                assert np.isfinite(clf.decision_function(X[:5])).all()
        except Exception as error:
            errors.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(5):
        clf.partial_fit(X, y)
    done.set()
    reader.join()
    assert not errors


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"rule": rules.Stdev(phi=1e6), "projection": "precision"},
            "collapse with projection='precision'. Use projection='covariance', scale",
        ),
        ({"rule": rules.Variance(phi=1e6), "constraints": Exact()}, "exact scheme. Use Sequential"),
        (
            {"rule": rules.NHERD(C=1e25), "covariance": "full"},
            "dtype='float32'. Use dtype='float64'",
        ),
        (
            {"rule": rules.NHERD(C=1e25), "covariance": "full", "dtype": "float64"},
            "dtype='float64'. Scale the features",
        ),
    ],
)
def test_a_collapse_names_the_remedy(params, message):
    X, y = spread(300)
    X[:, 0] *= 1e6
    clf = SureClassifier(**params, shuffle=False, scale=False)
    with pytest.raises(ValueError, match=message):
        clf.fit(X, y)


def noise(n_classes=3, n=60, d=4):
    random = np.random.default_rng(2)
    return random.normal(size=(n, d)), random.integers(0, n_classes, n)


@pytest.mark.parametrize("rule", ["stdev", "variance", "sop"])
def test_late_classes_give_the_same_bits_in_any_chunking_with_full_covariance(rule):
    for seed in range(20):
        random = np.random.default_rng(seed)
        X = random.normal(size=(60, 3)) * (random.random((60, 3)) < 0.4)
        y = np.concatenate([random.integers(0, k, n) for k, n in ((2, 15), (3, 15), (5, 30))])
        whole = SureClassifier(rule, covariance="full", dtype="float64", scale=False).partial_fit(
            X, y
        )
        parts = SureClassifier(rule, covariance="full", dtype="float64", scale=False)
        for part in np.split(np.arange(60), [7, 16, 33, 40]):
            parts.partial_fit(X[part], y[part])
        np.testing.assert_array_equal(whole.sigma_, parts.sigma_)
        np.testing.assert_array_equal(whole.coef_, parts.coef_)


def test_learn_one_hears_of_costs_changed_in_place():
    X, y = noise(2)
    cost = np.array([[0.0, 1.0], [1.0, 0.0]])
    clf = SureClassifier("arow", cost=cost, scale=False).partial_fit(X[:10], y[:10])
    twin = SureClassifier("arow", cost=cost, scale=False).partial_fit(X[:10], y[:10])
    clf.learn_one(X[10], y[10])
    twin.learn_one(X[10], y[10])
    cost *= 9
    twin.set_params(cost=cost.copy())
    clf.learn_one(X[11], y[11])
    twin.learn_one(X[11], y[11])
    np.testing.assert_array_equal(clf.coef_, twin.coef_)


def test_a_cost_for_two_classes_lets_a_stream_begin_with_one_row():
    X, _ = noise()
    clf = (
        SureClassifier("arow", cost=[[0, 1], [2, 0]], scale=False)
        .learn_one(X[0], 0)
        .learn_one(X[1], 1)
    )
    assert list(clf.classes_) == [0, 1]

"""The core's weights against the plain reference, and the laws they obey."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import strategies
from driver import expected, learn, make
from reference.learner import Learner
from reference.rules import FIRST_ORDER
from surelearn import SureClassifier, _core, constraints, rules
from surelearn.rows import rows_of
from surelearn.weights import Diagonal, Full, Layout, Method, Targets

PROJECTIONS = ["precision", "covariance"]


@given(
    problem=strategies.problems(),
    rule=strategies.rules(),
    options=st.fixed_dictionaries(
        {
            "projection": st.sampled_from(PROJECTIONS),
            "fit_intercept": st.booleans(),
            "average": st.booleans(),
            "initial_variance": st.sampled_from([1.0, 0.125, 9.0]),
            "dtype": st.sampled_from([np.float64, np.float32]),
        }
    ),
)
def test_learning_agrees_with_the_reference(problem, rule, options):
    want, refused = expected(problem, rule, **options)
    weights = make(problem.X.shape[1], problem.n_classes, rule[0], **options)
    tally = learn(
        weights,
        rule,
        problem.X,
        problem.y,
        weight=problem.sample_weight,
        n_classes=problem.n_classes,
        projection=options["projection"],
    )
    tolerance = 1e-9 if options["dtype"] == np.float64 else 1e-4
    assert tally.refused == refused
    assert abs(tally.mistakes - want.mistakes) <= want.close_calls
    assert abs(tally.updates - want.updates) <= want.close_calls
    # Averaged means may cancel: they are as exact as the means they are made of.
    scale = np.abs([want.mean(), want.mu]).max(initial=1e-9)
    np.testing.assert_allclose(weights.means, want.mean(), rtol=tolerance, atol=tolerance * scale)
    if rule[0] not in FIRST_ORDER:
        np.testing.assert_allclose(weights.variances, want.sigma, rtol=tolerance)
        mean, variance = weights.margin(rows_of(problem.X))
        for i, x in enumerate(problem.X):
            m, v = want.margin(x)
            size = 1e-6 + np.abs(x).sum() * scale
            np.testing.assert_allclose(mean[i], m, rtol=tolerance, atol=tolerance * size)
            np.testing.assert_allclose(variance[i], v, rtol=tolerance)


@given(
    problem=strategies.problems(),
    rule=strategies.rules(),
    two_sided=st.booleans(),
    options=st.fixed_dictionaries(
        {
            "fit_intercept": st.booleans(),
            "average": st.booleans(),
            "dtype": st.sampled_from([np.float64, np.float32]),
        }
    ),
)
def test_the_surest_margin_has_the_bits_of_all_margins(problem, rule, two_sided, options):
    assume(rule[0] not in FIRST_ORDER)
    weights = make(problem.X.shape[1], problem.n_classes, rule[0], **options)
    learn(weights, rule, problem.X, problem.y, n_classes=problem.n_classes)
    check_surest_margin(weights, problem.X, two_sided)


def check_surest_margin(weights, X, two_sided):
    rows = rows_of(X)
    mean, variance = weights.margin(rows)
    found, own = weights.surest_margin(rows, two_sided=two_sided)
    assert found.tobytes() == mean.tobytes() == weights.scores(rows).tobytes()
    surest = (np.abs(mean) if two_sided else mean).argmax(axis=1)
    assert own.tobytes() == variance[np.arange(len(mean)), surest].tobytes()


@pytest.mark.parametrize("n_columns", [1, 4])
def test_the_surest_margin_of_a_covariance_has_the_bits_of_all_margins(n_columns):
    random = np.random.default_rng(0)
    layout = Layout(5, intercept=True, second_order=True, averaged=False, dtype="float64",
                    covariance="full")  # fmt: skip
    weights = Full(layout, n_columns, 0.7)
    X = random.normal(size=(30, 5))
    y = random.integers(0, max(2, n_columns), 30)
    learn(weights, ("arow", {"r": 1.0}), X, y, n_classes=max(2, n_columns))
    check_surest_margin(weights, X, two_sided=False)
    assert len(set(weights.winners(rows_of(X)))) > 1
    check_surest_margin(weights, X, two_sided=True)


def test_the_surest_margin_is_in_the_units_of_the_weights():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3)) * [1.0, 1e3, 1e-3] + [0.0, 5e3, 0.0]
    clf = SureClassifier(random_state=0, scale=True).fit(X, np.arange(60) % 3)
    weights = clf._model.weights
    assert weights.units is not None
    check_surest_margin(weights, X, two_sided=False)
    assert weights.surest_margin(rows_of(X[:0]), two_sided=False)[1].shape == (0,)


@given(problem=strategies.problems(), rule=strategies.rules(), two=st.sampled_from(PROJECTIONS))
def test_float32_is_the_double_step_rounded_once(problem, rule, two):
    """One row from the start: both know the same state, so only the rounding may differ."""
    options = {"projection": two, "dtype": np.float32}
    x, y = problem.X[:1], problem.y[:1]
    want = Learner(x.shape[1], problem.n_classes, *rule, **options)
    want.learn(x[0], y[0])
    weights = make(x.shape[1], problem.n_classes, rule[0], **options)
    learn(weights, rule, x, y, n_classes=problem.n_classes, projection=two)
    np.testing.assert_array_max_ulp(weights.means, want.mu, 1)
    if rule[0] not in FIRST_ORDER:
        np.testing.assert_array_max_ulp(weights.variances, want.sigma, 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("projection", PROJECTIONS)
@given(problem=strategies.problems(), rule=strategies.rules())
def test_variances_stay_positive_and_never_grow(problem, rule, projection, dtype):
    assume(rule[0] not in FIRST_ORDER)
    weights = make(problem.X.shape[1], problem.n_classes, rule[0], dtype=dtype)
    before = np.array(weights.variances)
    for x, y in zip(problem.X, problem.y, strict=True):
        learn(
            weights,
            rule,
            x[np.newaxis],
            np.array([y]),
            n_classes=problem.n_classes,
            projection=projection,
        )
        after = np.array(weights.variances)
        assert (after > 0).all()
        assert (after <= before).all()
        before = after


@given(problem=strategies.problems(max_classes=2), rule=strategies.rules())
def test_a_row_and_its_mirror_teach_the_same(problem, rule):
    """Without intercept (x, y) and (-x, -y) are one constraint."""
    d = problem.X.shape[1]
    one = make(d, 2, rule[0], fit_intercept=False)
    other = make(d, 2, rule[0], fit_intercept=False)
    learn(one, rule, problem.X, problem.y)
    learn(other, rule, -problem.X, 1 - problem.y)
    np.testing.assert_array_equal(one.means, other.means)


@given(problem=strategies.problems(max_classes=2), rule=strategies.rules(), average=st.booleans())
def test_splitting_keeps_the_margin_and_its_variance(problem, rule, average):
    d = problem.X.shape[1]
    weights = make(d, 2, rule[0], average=average)
    learn(weights, rule, problem.X, problem.y)
    want = Learner(d, 2, *rule, average=average)
    for x, y in zip(problem.X, problem.y, strict=True):
        want.learn(x, y)
    want.split()
    three = weights.split().with_columns([0, 1, -1])
    rows = rows_of(problem.X)
    np.testing.assert_allclose(three.means, want.mean(), rtol=1e-9, atol=1e-9)
    scores = three.scores(rows)
    size = 1e-9 * (1 + np.abs(scores).max())
    np.testing.assert_allclose(
        scores[:, 1] - scores[:, 0], weights.scores(rows)[:, 0], rtol=1e-9, atol=size
    )
    if rule[0] not in FIRST_ORDER:
        np.testing.assert_allclose(three.variances, want.sigma, rtol=1e-9)
        v = three.margin(rows)[1]
        np.testing.assert_allclose(v[:, 0] + v[:, 1], weights.margin(rows)[1][:, 0], rtol=1e-12)
        assert three.prior == weights.prior / 2


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("projection", PROJECTIONS)
def test_a_collapsing_row_changes_nothing(projection, n_classes):
    weights = make(2, n_classes, "arow", dtype=np.float32)
    rule, how = ("arow", {"r": 1.0}), {"n_classes": n_classes, "projection": projection}
    learn(weights, rule, np.array([[1.0, 0.5]]), np.array([1]), **how)
    before = weights.state()
    # The covariance form leaves each of two blocks half of its variance, so there v must overflow.
    size = 1e200 if (projection, n_classes) == ("covariance", 3) else 1e25
    tally = learn(weights, rule, np.array([[size, 1.0]]), np.array([0]), **how)
    assert tally.refused
    assert tally.updates == 0
    after = weights.state()
    np.testing.assert_array_equal(before["cells"], after["cells"])
    assert before["rounds"] == after["rounds"]


def test_stdev_is_rescaled_when_every_variance_is_tiny():
    """Flipping labels halve the variances again and again: without rescaling float32 is left."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3))
    y = rng.integers(0, 2, size=4000)
    rule = ("stdev", {"phi": 0.5})
    weights = make(3, 2, "stdev", dtype=np.float32, fit_intercept=False)
    wide = make(3, 2, "stdev", dtype=np.float64, fit_intercept=False)
    assert not learn(weights, rule, X, y).refused
    assert not learn(wide, rule, X, y).refused
    assert np.max(wide.variances) < 1e-15  # it had to be rescaled
    assert np.max(weights.variances) > 1e-15
    assert weights.prior > 1.0
    rows = rows_of(X[:20])
    m, v = weights.margin(rows)
    m64, v64 = wide.margin(rows)
    np.testing.assert_allclose(m / np.sqrt(v), m64 / np.sqrt(v64), rtol=2e-3, atol=2e-3)


@given(problem=strategies.problems(), rule=strategies.rules(), average=st.booleans())
def test_state_holds_all_there_is(problem, rule, average):
    weights = make(
        problem.X.shape[1] + 3, problem.n_classes, rule[0], average=average, dtype=np.float32
    )
    X = np.pad(problem.X, ((0, 0), (0, 3)))
    learn(weights, rule, X, problem.y, n_classes=problem.n_classes)
    for twin in (
        Diagonal.from_state(weights.state()),
        pickle.loads(pickle.dumps(weights)),
        copy.deepcopy(weights),
    ):
        learn(twin, rule, X, problem.y, n_classes=problem.n_classes)
    learn(weights, rule, X, problem.y, n_classes=problem.n_classes)
    assert np.array(weights.means).tobytes() == np.array(twin.means).tobytes()
    assert len(weights.state()["features"]) <= problem.X.shape[1] + 1


def test_views_are_read_only_and_outlive_the_model():
    weights = make(3, 3, "arow")
    means = weights.means
    with pytest.raises(ValueError, match="read-only"):
        means[0, 0] = 1.0
    learn(weights, ("arow", {"r": 1.0}), np.eye(3), np.arange(3), n_classes=3)
    assert means[0, 0] != 0  # a view, not a copy
    kept = np.array(means)
    del weights
    np.testing.assert_array_equal(means, kept)


def dense_and_sparse_rows(n, d, n_classes):
    """Every third row has few features: then an update waits for a row that may not need it."""
    rng = np.random.default_rng(d)
    X = rng.normal(size=(n, d))
    X[2::3] *= rng.random((len(X[2::3]), d)) < 0.1
    return X, rng.integers(0, n_classes, n).astype(np.int32)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_features", [3, 4, 63, 66, 130, 270])
def test_a_covariance_of_any_size_agrees_with_the_reference(n_features, n_classes):
    """The core goes through it in panels, blocks and tiles, some of them cut short."""
    X, y = dense_and_sparse_rows(12, n_features, n_classes)
    rule, options = ("probit", {"noise": 1.0}), {"covariance": "full", "dtype": np.float64}
    want = Learner(n_features, n_classes, *rule, projection="precision", **options)
    weights = make(n_features, n_classes, rule[0], **options)
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        want.learn(x, label)
        if i % 4 == 3:
            part = slice(i - 3, i + 1)
            assert not learn(weights, rule, X[part], y[part], n_classes=n_classes).refused
            np.testing.assert_allclose(weights.variances, want.sigma, rtol=1e-8, atol=1e-10)
    assert want.updates == len(y)
    np.testing.assert_allclose(weights.means, want.mu, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_readers_of_a_covariance_see_all_that_was_learnt(n_classes, dtype):
    """An update is finished when the next row needs it, or a reader; neither changes a bit."""
    X, y = dense_and_sparse_rows(30, 90, n_classes)
    rule, options = ("arow", {"r": 1.0}), {"covariance": "full", "dtype": dtype}
    whole, watched = (make(90, n_classes, "arow", **options) for _ in range(2))
    learn(whole, rule, X, y, n_classes=n_classes)
    for i in range(len(y)):
        learn(watched, rule, X[i : i + 1], y[i : i + 1], n_classes=n_classes)
        if i % 2 == 0:
            continue
        state = watched.state()["sigma"]
        sigma = watched.variances
        assert sigma.tobytes() == state.tobytes() == np.ascontiguousarray(sigma.T).tobytes()
        assert pickle.loads(pickle.dumps(watched)).variances.tobytes() == state.tobytes()
        spread = np.kron(np.eye(watched.n_columns), np.append(X[0], 1.0)[:, np.newaxis])
        want = np.diag(spread.T @ sigma.astype(np.float64) @ spread)
        np.testing.assert_allclose(watched.margin(rows_of(X[:1]))[1][0], want, rtol=1e-5)
    for array in whole.arrays:
        assert whole.state()[array].tobytes() == watched.state()[array].tobytes()


def test_too_large_a_covariance_is_refused_with_its_size(monkeypatch):
    monkeypatch.setattr("surelearn.weights.FULL_LIMIT", 2**30)
    with pytest.raises(ValueError, match=r"at most 1\.1 GB, got 20,000 weights, .* 1\.6 GB"):
        make(20_000, 2, "arow", covariance="full", fit_intercept=False, dtype=np.float32)


@pytest.mark.parametrize("n_labels", [1, 2, 6])
@pytest.mark.parametrize("rule", ["arow", "probit", "variance-exact", "pa1"])
def test_every_label_of_many_is_learnt_as_a_problem_of_its_own(rule, n_labels):
    rng = np.random.default_rng(n_labels)
    X = rng.normal(size=(80, 10)) * (rng.random((80, 10)) < 0.5)
    has = X @ rng.normal(size=(10, n_labels)) > 0.5
    core, rows = rules.get(rule).core(), rows_of(X)
    layout = Layout(10, intercept=True, second_order=not core.first_order, averaged=False,
                    dtype="float64")  # fmt: skip
    method = Method(core, constraints.get("single").core(), False)

    def learnt(y, n_columns, **more):
        weights, done = Diagonal(layout, n_columns, 1.0), np.zeros(3, np.uint64)
        known = np.ones(max(n_columns, 2 - len(more)), np.uint8)
        targets = Targets(y.astype(np.int32), None, None, known, **more)
        assert not weights.learn(method, rows, targets, span=(0, 80), done=done)
        return weights.means if core.first_order else np.stack([weights.means, weights.variances])

    starts = np.append(0, has.sum(axis=1).cumsum())
    found = learnt(np.nonzero(has)[1], n_labels, starts=starts)
    alone = [learnt(has[:, k], 1) for k in range(n_labels)]
    np.testing.assert_allclose(found, np.concatenate(alone, axis=-2), rtol=0, atol=1e-14)


def test_columns_of_others_are_put_side_by_side():
    parts = [make(3, n, "arow") for n in (3, 4)]
    rows, y = rows_of(np.eye(3)), np.array([0, 1, 1], np.int32)
    for part in parts:
        assert not learn(part, ("arow", {"r": 1.0}), np.eye(3), y).refused
    whole = make(3, 7, "arow")
    whole.put_columns(parts, threads=2)
    np.testing.assert_array_equal(whole.means, np.vstack([part.means for part in parts]))
    np.testing.assert_array_equal(whole.variances, np.vstack([part.variances for part in parts]))
    assert whole.state()["rounds"] == 3
    np.testing.assert_array_equal(whole.scores(rows)[:, :3], parts[0].scores(rows))
    with pytest.raises(ValueError, match="columns do not fit the weights"):
        whole.put_columns(parts[:1])
    with pytest.raises(ValueError, match="weights do not fit each other"):
        whole.put_columns([make(2, 7, "arow")])


def test_mistakes_of_a_code_are_those_of_its_best_label():
    code = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]], np.int8)
    scores = np.array([[0.2, -0.1, 0.1], [0.3, 0.3, 0.0], [-0.5, -0.4, -0.3]])
    y = np.array([0, 0, 2], np.int32)
    assert _core.mistakes_of_code(code.ravel(), y, scores.ravel(), 3) == 1  # a tie is none right
    with pytest.raises(ValueError, match="do not fit each other"):
        _core.mistakes_of_code(code.ravel(), y, scores.ravel()[:8], 3)
    with pytest.raises(ValueError, match="must hold numbers of classes"):
        _core.mistakes_of_code(code.ravel(), y + 1, scores.ravel(), 3)

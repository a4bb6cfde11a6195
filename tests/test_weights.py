"""The core's diagonal weights against the plain reference, and the laws they obey."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse

import strategies
from driver import Learnt, expected, learn, make, method
from reference.learner import Learner
from reference.rules import FIRST_ORDER
from surelearn.weights import Diagonal, Targets, rows_of, rows_of_dict

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
    scale = np.abs(want.mean()).max(initial=1e-9)
    np.testing.assert_allclose(weights.means, want.mean(), rtol=tolerance, atol=tolerance * scale)
    if rule[0] not in FIRST_ORDER:
        np.testing.assert_allclose(weights.variances, want.sigma, rtol=tolerance)
        mean, variance = weights.margin(rows_of(problem.X))
        for i, x in enumerate(problem.X):
            m, v = want.margin(x)
            size = 1e-6 + np.abs(x).sum() * scale
            np.testing.assert_allclose(mean[i], m, rtol=tolerance, atol=tolerance * size)
            np.testing.assert_allclose(variance[i], v, rtol=tolerance)


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


@given(problem=strategies.problems(), rule=strategies.rules(), value=st.sampled_from("fd"))
def test_every_form_of_a_row_gives_the_same_bits(problem, rule, value):
    """Dense, CSR with 32- and 64-bit indices, with zeros stored, unsorted, repeated, as a dict."""
    X, d = problem.X, problem.X.shape[1]
    kept = problem.sample_weight > 0
    X, y, w = X[kept], problem.y[kept], problem.sample_weight[kept]

    def trained(rows_list):
        weights = make(d, problem.n_classes, rule[0], dtype=np.float32)
        begin = 0
        for rows in rows_list:
            span = slice(begin, begin + len(rows))
            targets = Targets(
                np.asarray(y[span], np.int32),
                np.ascontiguousarray(w[span]),
                None,
                np.ones(problem.n_classes, np.uint8),
            )
            begin += len(rows)
            if Learnt(weights, method(rule), rows, targets).refused:
                break
        return (
            np.array(weights.means).tobytes()
            + np.array(weights.variances if rule[0] not in FIRST_ORDER else 0).tobytes()
        )

    csr = sparse.csr_matrix(X.astype(value))
    wide = csr.copy()
    wide.indptr, wide.indices = wide.indptr.astype(np.int64), wide.indices.astype(np.int64)
    forms = {
        "csr": [rows_of(csr)],
        "64-bit": [rows_of(wide)],
        "unsorted": [rows_of(_unsorted(csr))],
        "repeated": [rows_of(_repeated(csr.astype("d")))],
        "zeros": [rows_of(_with_zeros(X.astype(value)))],
        "row by row": [rows_of(csr[i]) for i in range(len(y))],
        "dict": [rows_of_dict(_as_dict(x), d) for x in X],
    }
    want = trained([rows_of(np.ascontiguousarray(X.astype(value)))])
    for name, rows_list in forms.items():
        assert trained(rows_list) == want, name


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("n_features", [300, 70_000, 2**30])
def test_long_rows_are_put_in_order(n_features, index):
    """Rows of all lengths, in any order, with entries twice: as sorted and summed by scipy."""
    rng = np.random.default_rng(0)
    lengths = [0, 1, 47, 48, 49, 200, 3000]
    indices = np.concatenate([rng.integers(0, n_features, n) for n in lengths])
    data = rng.integers(-3, 4, len(indices)).astype(np.float64)
    start = np.concatenate([[0], np.cumsum(lengths)])
    untidy = sparse.csr_array(
        (data, indices.astype(index), start.astype(index)), shape=(7, n_features)
    )
    tidy = untidy.copy()
    tidy.sum_duplicates()
    tidy.eliminate_zeros()
    small = {int(j): k for k, j in enumerate(np.unique(indices))}

    def scores(matrix):
        matrix = sparse.csr_array(
            (matrix.data, np.array([small[int(j)] for j in matrix.indices], index), matrix.indptr),
            shape=(7, len(small)),
        )
        weights = make(len(small), 2, "arow")
        learn(weights, ("arow", {"r": 1.0}), matrix, np.array([0, 1, 0, 1, 1, 0, 1]))
        return np.array(weights.means)

    assert rows_of(untidy).fault is None
    np.testing.assert_array_equal(scores(untidy), scores(tidy))


def _unsorted(csr):
    out = csr.copy()
    for a, b in zip(out.indptr[:-1], out.indptr[1:], strict=True):
        out.indices[a:b] = out.indices[a:b][::-1].copy()
        out.data[a:b] = out.data[a:b][::-1].copy()
    out.has_sorted_indices = False
    return out


def _repeated(csr):
    """Every entry as two halves, which sum to it exactly."""
    return sparse.csr_matrix(
        (np.repeat(csr.data / 2, 2), np.repeat(csr.indices, 2), 2 * csr.indptr), shape=csr.shape
    )


def _with_zeros(X):
    n, d = X.shape
    return sparse.csr_matrix(
        (X.ravel(), np.tile(np.arange(d), n), np.arange(0, n * d + 1, d)), shape=X.shape
    )


def _as_dict(x):
    """In falling order of the features: a dict has no order to rely on."""
    return {int(j): float(x[j]) for j in np.flatnonzero(x)[::-1]}


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


@pytest.mark.parametrize(
    ("x", "error"),
    [({"a": 1.0}, TypeError), ({0: "b"}, TypeError), ({2**70: 1.0}, OverflowError)],
)
def test_a_dict_of_the_wrong_kind_is_refused(x, error):
    with pytest.raises(error):
        rows_of_dict(x, 3)


def test_misaligned_arrays_are_read_from_a_copy():
    def misaligned(array):
        raw = np.zeros(array.nbytes + 1, np.uint8)
        view = raw[1:].view(array.dtype).reshape(array.shape)
        view[:] = array
        assert not view.flags.aligned
        return view

    X = np.arange(6.0).reshape(2, 3)
    csr = sparse.csr_matrix(X)
    odd = csr.copy()
    odd.data, odd.indices, odd.indptr = map(misaligned, (csr.data, csr.indices, csr.indptr))
    weights = make(3, 2, "arow")
    learn(weights, ("arow", {"r": 1.0}), X, np.array([0, 1]))
    want = weights.scores(rows_of(X))
    np.testing.assert_array_equal(weights.scores(rows_of(misaligned(X))), want)
    np.testing.assert_array_equal(weights.scores(rows_of(odd)), want)


def test_a_dict_that_changes_while_it_is_read_is_refused():
    class Value:
        def __float__(self):
            x.clear()
            return 1.0

    x = {0: Value(), 1: 2.0}
    with pytest.raises(TypeError, match="changed while it was read"):
        rows_of_dict(x, 3)


def test_faults_are_found_and_placed():
    good = sparse.csr_matrix(np.eye(3))
    assert rows_of(good).fault is None
    for change, kind in [
        (lambda m: m.data.__setitem__(1, np.nan), "not finite"),
        (lambda m: m.data.__setitem__(1, -np.inf), "not finite"),
        (lambda m: m.indices.__setitem__(1, 3), "bad index"),
        (lambda m: m.indices.__setitem__(1, -1), "bad index"),
    ]:
        bad = good.copy()
        change(bad)
        assert rows_of(bad).fault == (kind, 1)
    bad = good.copy()
    bad.indptr = np.array([0, 2, 1, 3], np.int32)
    assert rows_of(bad).fault == ("bad start", 1)
    assert rows_of_dict({0: np.nan}, 3).fault == ("not finite", 0)
    assert rows_of_dict({3: 1.0}, 3).fault == ("bad index", 0)
    huge = sparse.csr_matrix(
        (np.full(2, 3e38, np.float32), np.zeros(2, np.int32), np.array([0, 2])), shape=(1, 1)
    )
    assert rows_of(huge).fault == ("not finite", 0)


def test_too_large_a_covariance_is_refused_with_its_size(monkeypatch):
    monkeypatch.setattr("surelearn.weights.FULL_LIMIT", 2**30)
    with pytest.raises(ValueError, match=r"at most 1\.1 GB, got 20,000 weights, .* 1\.6 GB"):
        make(20_000, 2, "arow", covariance="full", fit_intercept=False, dtype=np.float32)

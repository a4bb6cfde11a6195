"""Rows as the core reads them: any form gives the same, and faults are placed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import strategies
from driver import Learnt, learn, make, method
from reference.rules import FIRST_ORDER
from surelearn.rows import crossed, in_order, non_zeros, rows_of, rows_of_dict
from surelearn.weights import Targets


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


def test_features_that_are_not_zero_are_summed_as_the_core_sums_them():
    dense = np.array([0.0, 1.0, -2.0, 0.0, 0.5])
    values, features = [1.5, 3.0, -2.0, -0.5, 0.5, -3.0], [1, 3, 2, 1, 4, 3]
    for row in (
        dense,
        dense[np.newaxis],
        sparse.coo_array(dense),
        sparse.csr_array((values, features, [0, 6]), shape=(1, 5)),  # twice 1 and 3
        {4: 0.5, 1: 1.0, 2: -2.0, 0: 0.0},
    ):
        found = non_zeros(row)
        assert [part.tolist() for part in found] == [[1, 2, 4], [1.0, -2.0, 0.5]]
    close = sparse.csr_array((np.float32([1, 2**-24, 2**-24]), [0, 0, 0], [0, 3]), shape=(1, 1))
    assert non_zeros(close)[1].tolist() == [1 + 2**-23]  # in double, then rounded


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


def test_arrays_in_order_are_not_copied_and_others_are_put_in_order():
    table = np.arange(12.0).reshape(3, 4)
    assert in_order(table) is table
    shifted = np.zeros(8 * 12 + 1, np.uint8)[1:].view(np.float64).reshape(3, 4)
    shifted[:] = table
    for other in (np.asfortranarray(table), table[:, ::-1], shifted):
        found = in_order(other)
        assert found.flags.c_contiguous
        assert found.flags.aligned
        np.testing.assert_array_equal(found, other)


@given(seed=st.integers(0, 99), m=st.integers(0, 6))
def test_crossed_rows_are_outer_products(seed, m):
    random = np.random.default_rng(seed)
    A, B = (sparse.random_array((4, d), density=0.5, rng=random, format="csr") for d in (3, 5))
    of_a, of_b = random.integers(4, size=m), random.integers(4, size=m)
    outer = np.einsum("pi,pj->pij", A.toarray()[of_a], B.toarray()[of_b]).reshape(m, 15)
    exact = crossed(A, B, (of_a, of_b), 15, hashed=False)
    np.testing.assert_array_equal(exact.toarray(), outer.astype(np.float32))
    hashed = crossed(A, B, (of_a, of_b), 7, hashed=True)
    assert hashed.shape == (m, 7)
    np.testing.assert_allclose(hashed.sum(axis=1), outer.sum(axis=1), rtol=1e-5)


@given(st.data(), st.sampled_from("fd"), st.booleans())
def test_parts_and_copies_of_rows_are_those_of_the_matrix(data, value, dense):
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    n, d = data.draw(st.integers(0, 8)), data.draw(st.integers(1, 6))
    X = (rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)).astype(value)
    rows = rows_of(X if dense else sparse.csr_matrix(X))
    begin = data.draw(st.integers(0, n))
    end = data.draw(st.integers(begin, n))
    numbers = data.draw(st.lists(st.integers(0, max(0, n - 1)), max_size=5 * min(n, 1)))
    part, copies = rows.part(begin, end), rows.take(np.array(numbers, np.int64))
    both = part.part(0, len(part)), part.take(np.arange(len(part)))
    weights = make(d, 2, "arow")
    learn(weights, ("arow", {"r": 1.0}), np.diag(np.arange(1.0, d + 1)), np.ones(d, int))

    def scores(some):
        return weights.scores(some)[:, 0].tobytes()

    assert len(part) == end - begin
    assert scores(part) == scores(rows_of(np.ascontiguousarray(X[begin:end])))
    assert all(scores(some) == scores(part) for some in both)
    assert scores(copies) == scores(rows_of(np.ascontiguousarray(X[numbers].reshape(-1, d))))


def test_parts_of_rows_that_are_not_there_are_refused():
    rows = rows_of(np.eye(3))
    for begin, end in ((2, 1), (0, 4)):
        with pytest.raises(IndexError, match=r"^rows beyond the end$"):
            rows.part(begin, end)
    for number in (-1, 3):
        with pytest.raises(IndexError, match=r"^rows beyond the end$"):
            rows.take(np.array([number]))

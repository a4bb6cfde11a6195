"""Kernels against scikit-learn's, and the refusal of functions that are none."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import pairwise
from sklearn.svm import SVC

from surelearn import kernels, rules

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(7, 4)) * (RANDOM.random((7, 4)) < 0.7)
Z = RANDOM.normal(size=(5, 4)) * (RANDOM.random((5, 4)) < 0.7)

PEERS = {
    "linear": lambda X, Z: pairwise.linear_kernel(X, Z),
    "poly": lambda X, Z: pairwise.polynomial_kernel(X, Z, degree=2, gamma=0.3, coef0=0.5),
    "rbf": lambda X, Z: pairwise.rbf_kernel(X, Z, gamma=0.3),
    "cosine": lambda X, Z: pairwise.cosine_similarity(X, Z),
}


def smallest(X, Z):
    """The histogram intersection, which is a kernel for rows that are not negative."""
    return np.minimum(np.abs(X)[:, None], np.abs(Z)).sum(axis=2)


def of(name, X=X):
    return kernels.get(name, X, gamma=0.3, degree=2, coef0=0.5)


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize(
    ("left", "right"), [(np.asarray, np.asarray), (sparse.csr_array,) * 2,
                        (np.asarray, sparse.csr_matrix), (sparse.csr_matrix, np.asarray)]
)  # fmt: skip
def test_a_kernel_is_scikit_learns_for_dense_and_sparse_rows(name, left, right):
    gram = of(name).gram(left(X), right(Z))
    np.testing.assert_allclose(gram, PEERS[name](X, Z), rtol=1e-12, atol=1e-14)
    assert gram.flags.c_contiguous
    assert gram.dtype == np.float64


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", PEERS)
def test_the_diagonal_is_that_of_the_matrix(name, kind):
    kernel = of(name)
    np.testing.assert_allclose(
        kernel.diagonal(kind(X)), np.diagonal(kernel.gram(X, X)), rtol=1e-12, atol=1e-14
    )


def test_the_diagonal_of_a_function_is_computed_in_blocks():
    kernel, rows = kernels.get(smallest, X), np.tile(X, (20, 1))
    np.testing.assert_array_equal(kernel.diagonal(rows), np.abs(rows).sum(axis=1))
    assert kernel.diagonal(rows[:0]).shape == (0,)


def test_a_row_of_zeros_is_at_a_right_angle_to_all():
    rows = np.array([[0.0, 0.0], [3.0, 4.0]])
    cosine = kernels.Cosine()
    assert cosine.gram(rows, rows).tolist() == [[0.0, 0.0], [0.0, 1.0]]
    assert cosine.diagonal(rows).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.25])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_gamma_means_what_it_means_for_svc(gamma, kind):
    rows = kind(X)
    peer = SVC(gamma=gamma).fit(rows, [0, 1] * 3 + [0])
    assert kernels.get("rbf", rows, gamma=gamma).gamma == pytest.approx(peer._gamma, rel=1e-12)


def test_gamma_is_one_for_rows_without_variance():
    assert kernels.get("rbf", np.ones((3, 2))).gamma == 1.0


def test_kernels_are_values():
    assert of("poly") == kernels.Polynomial(gamma=0.3, coef0=0.5, degree=2)
    assert of("poly").params() == {"gamma": 0.3, "coef0": 0.5, "degree": 2}
    kernel = kernels.get(smallest, X)
    assert copy.deepcopy(kernel) == kernel == kernels.Custom(smallest)


def test_a_precomputed_matrix_gives_its_columns():
    gram = PEERS["rbf"](X, X)
    kernel = kernels.get("precomputed", gram)
    table, diagonal = kernel.of_training(gram)
    assert table.tolist() == list(range(7))
    np.testing.assert_array_equal(diagonal, np.ones(7))
    np.testing.assert_array_equal(kernel.gram(gram[:3], table[[2, 4]]), gram[:3, [2, 4]])


def test_a_precomputed_matrix_may_tell_the_kernel_of_rows_with_themselves():
    gram = PEERS["linear"](X, X)
    kernel, rows = kernels.get("precomputed", gram), PEERS["linear"](Z, X)
    own = (Z**2).sum(axis=1)
    np.testing.assert_array_equal(kernel.diagonal(np.column_stack([rows, own])), own)
    with pytest.raises(ValueError, match="Append a column with them"):
        kernel.diagonal(rows)
    same = kernels.get("precomputed", PEERS["rbf"](X, X))
    np.testing.assert_array_equal(same.diagonal(PEERS["rbf"](Z, X)), np.ones(5))


def test_a_registered_function_has_a_name():
    assert kernels.register("kernel of a test", smallest) is smallest
    assert kernels.get("kernel of a test", X) == kernels.Custom(smallest)
    assert kernels.Custom(smallest).name == "kernel of a test"
    assert kernels.Custom(np.dot).registered_name is None
    kernels.register("kernel of a test", smallest)
    with pytest.raises(ValueError, match="name must be a new one, got 'kernel of a test'"):
        kernels.register("kernel of a test", np.dot)
    with pytest.raises(ValueError, match="name must not be that of a built-in kernel"):
        kernels.register("rbf", smallest)
    with pytest.raises(TypeError, match="name must be a text, got 3"):
        kernels.register(3, smallest)
    with pytest.raises(TypeError, match="a function of \\(X, Z\\), got 3"):
        kernels.register("other", 3)


def test_a_registered_function_can_be_replaced():
    kernels.register("replaced", smallest)
    kernels.register("replaced", np.dot, replace=True)
    assert kernels.get("replaced", X) == kernels.Custom(np.dot)


@pytest.mark.parametrize(
    ("kernel", "error", "message"),
    [
        ("gauss", ValueError, "kernel must be one of 'linear', 'poly', 'rbf'.* got 'gauss'"),
        (3, TypeError, "kernel must be one of .* or a function of \\(X, Z\\), got 3"),
        (SVC, TypeError, "or a function of \\(X, Z\\), got <class"),
    ],
)
def test_unknown_kernels_are_refused(kernel, error, message):
    with pytest.raises(error, match=message):
        kernels.get(kernel, X)


@pytest.mark.parametrize("gamma", ["large", 0.0, np.inf, []])
def test_bad_gammas_are_refused(gamma):
    with pytest.raises((TypeError, ValueError), match="gamma must be"):
        kernels.get("rbf", X, gamma=gamma)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda X, Z: X @ Z.T + np.arange(len(Z)), "must be symmetric, got k\\(x, z\\) = "),
        (lambda X, Z: -(X @ Z.T), "must be positive semi-definite, got a matrix of 7 sampled rows"),
        (lambda X, Z: pairwise.euclidean_distances(X, Z), "A distance is no kernel"),
        (lambda X, Z: (X @ Z.T)[:, 1:], "must return an array of shape \\(7, 7\\)"),
        (lambda X, Z: np.full((len(X), len(Z)), np.nan), "must be finite, got nan"),
        (lambda X, Z: "values", "must be an array of numbers, got 'values'"),
    ],
)
def test_functions_that_are_no_kernels_are_refused(function, message):
    with pytest.raises((TypeError, ValueError), match=message):
        kernels.check_positive(kernels.get(function, X), X)


def test_a_sample_is_at_most_a_hundred_rows():
    sizes = []

    def product(X, Z):
        sizes.append(X.shape)
        return X @ Z.T

    kernels.check_positive(kernels.get(product, X), RANDOM.normal(size=(1000, 3)))
    assert sizes == [(100, 3)]


def test_a_matrix_that_is_no_kernel_is_refused():
    gram = PEERS["rbf"](X, X)
    kernels.check_positive(kernels.get("precomputed", gram), gram)
    gram[0, 1] += 0.1
    with pytest.raises(ValueError, match="kernel precomputed must be symmetric"):
        kernels.check_positive(kernels.get("precomputed", gram), gram)
    with pytest.raises(ValueError, match="X must be a square matrix for kernel='precomputed'"):
        kernels.get("precomputed", gram[:, 1:])


@pytest.mark.parametrize("register", [kernels.register, rules.register])
def test_replace_must_be_a_flag(register):
    with pytest.raises(TypeError, match="replace must be True or False, got 'yes'"):
        register("unheard of", smallest, replace="yes")


def test_an_empty_sample_is_a_kernel():
    kernels.check_positive(kernels.Custom(smallest), X[:0])


def test_rounding_does_not_make_a_kernel_negative():
    rows = np.random.default_rng(0).normal(size=(60, 2)) * 1e6
    kernels.check_positive(kernels.Custom(lambda X, Z: X @ Z.T), rows)


def test_a_kernel_that_is_zero_everywhere_is_one():
    kernels._refuse_negative("k", np.zeros((3, 3)))


def test_a_kernel_of_small_values_must_be_symmetric_too():
    small = 1e-12 * np.array([[1.0, 0.5], [0.2, 1.0]])
    with pytest.raises(ValueError, match="must be symmetric, got k"):
        kernels.check_positive(kernels.Custom(lambda X, Z: X @ small @ Z.T), np.eye(2))

"""The core's batch losses against listed outputs, finite differences and marginals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import batches
import strategies
from native_losses import (
    chain_loss,
    chain_rows,
    curvature_of,
    log_of,
    row_loss,
    some_chains,
    some_rows,
    tags,
)
from reference import crf
from reference.losses import Chain, curvature, hinge_loss, log_loss, observed, of_chains, of_rows
from surelearn import _core, solvers

#: Weights of usual size, and such that scores reach thousands: exp of those overflows.
SIZES = (2.0, 1e4)


# --------------------------------------------------------------------- both sides


class Pair:
    """A loss of the core and the listed outputs of the same examples."""

    def __init__(self, loss, examples):
        self.loss, self.examples = loss, examples
        assert loss.n_weights == examples[0].psi.shape[1]

    def near(self, w):
        """What rounding may change: a share of the largest score."""
        return 1e-12 * (
            1 + max(np.abs(e.weight * e.psi * w).sum(axis=1).max() for e in self.examples)
        )


@st.composite
def row_pairs(draw):
    problem = draw(strategies.problems(max_rows=6, max_features=3))
    intercept = draw(st.booleans())
    X = problem.X.astype(draw(st.sampled_from([np.float32, np.float64])))
    X = sparse.csr_array(X) if draw(st.booleans()) else X
    cost = draw(batches.costs(problem.n_classes))
    weight = problem.sample_weight
    loss = row_loss(X, problem.y, problem.n_classes, weight, intercept)
    options = {"weight": weight, "intercept": intercept, "cost": cost}
    return Pair(loss, of_rows(problem.X, problem.y, problem.n_classes, **options)), cost


@st.composite
def chain_pairs(draw):
    chains, n_labels = draw(batches.chain_sets())
    kept = observed(chains, n_labels) if draw(st.booleans()) else None
    cells = (None, None)
    if kept is not None:
        cells = _core.observed_cells(*chain_rows(chains), tags(chains), n_labels)
    cost = draw(batches.costs(n_labels))
    examples = of_chains(chains, n_labels, cells=kept, cost=cost)
    return Pair(chain_loss(chains, n_labels, cells), examples), cost


BOTH = st.one_of(row_pairs(), chain_pairs())


# ------------------------------------------------------------------------ agreement


@pytest.mark.parametrize("size", SIZES)
@given(drawn=BOTH, data=st.data())
def test_log_loss_and_gradient_are_those_of_all_outputs(drawn, size, data):
    pair, _ = drawn
    w = data.draw(batches.weights(pair.loss.n_weights, size))
    value, gradient = log_of(pair.loss, w)
    expected, slope = log_loss(pair.examples, w)
    assert value == pytest.approx(expected, rel=1e-12, abs=pair.near(w))
    np.testing.assert_allclose(gradient, slope, rtol=1e-10, atol=64 * pair.near(w))


@pytest.mark.parametrize("size", SIZES)
@given(drawn=BOTH, data=st.data())
def test_curvature_is_the_variance_of_each_feature(drawn, size, data):
    pair, _ = drawn
    w = data.draw(batches.weights(pair.loss.n_weights, size))
    found = curvature_of(pair.loss, w)
    assert np.all(found >= 0)
    expected = curvature(pair.examples, w)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=4096 * pair.near(w))


@pytest.mark.parametrize("size", SIZES)
@given(drawn=BOTH, data=st.data())
def test_hinge_loss_is_that_of_the_worst_output(drawn, size, data):
    pair, cost = drawn
    w = data.draw(batches.weights(pair.loss.n_weights, size))
    expected = hinge_loss(pair.examples, w)[0]
    assert pair.loss.hinge_loss(w, cost, 1) == pytest.approx(expected, rel=1e-12, abs=pair.near(w))


@given(batches.chain_sets())
def test_observed_cells_are_those_the_right_tags_touch(drawn):
    chains, n_labels = drawn
    offsets, labels = _core.observed_cells(*chain_rows(chains), tags(chains), n_labels)
    assert len(offsets) == batches.table_size(chains, n_labels) + 1
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    assert (rows * n_labels + labels).tolist() == observed(chains, n_labels).tolist()


# ------------------------------------------------------------------------------ laws


def losses(n):
    """Rows of two and more classes; chains with all cells and with the observed ones."""
    for n_classes in (2, 4):
        X, y, weight = some_rows(n, n_classes)
        yield row_loss(X, y, n_classes, weight)
    for n_pairs in (0, 1):
        chains = some_chains(n, 3, n_pairs)
        yield chain_loss(chains, 3)
        yield chain_loss(chains, 3, _core.observed_cells(*chain_rows(chains), tags(chains), 3))


def test_gradients_are_finite_differences():
    for loss in losses(9):
        w = np.random.default_rng(1).normal(size=loss.n_weights)
        _, gradient = log_of(loss, w)
        slope = batches.differences(lambda at, loss=loss: log_of(loss, at)[0], w, 1e-3)
        np.testing.assert_allclose(gradient, slope, atol=1e-8)


def test_the_curvature_of_rows_is_the_diagonal_of_the_hessian():
    for n_classes in (2, 4):
        X, y, weight = some_rows(9, n_classes)
        loss = row_loss(X, y, n_classes, weight)
        w = np.random.default_rng(1).normal(size=loss.n_weights)
        hessian = [
            batches.differences(lambda at, j=j, loss=loss: log_of(loss, at)[1][j], w, 1e-3)[j]
            for j in range(len(w))
        ]
        np.testing.assert_allclose(curvature_of(loss, w), hessian, atol=1e-8)


def test_no_curvature_is_negative():
    """A marginal that rounding leaves above 1 must not make one so."""
    for chain in some_chains(40, 3):
        loss = chain_loss([chain], 3)
        w = 10 * np.random.default_rng(1).normal(size=loss.n_weights)
        assert curvature_of(loss, w).min() >= 0


def test_variances_are_the_inverse_hessian_of_orthogonal_features():
    """Two classes, and no two features in one row: all other second derivatives are zero."""
    random = np.random.default_rng(0)
    X = np.eye(4)[random.integers(4, size=40)] * random.normal(size=(40, 1))
    loss = row_loss(X, random.integers(2, size=40), 2, random.uniform(0.5, 2.0, 40), False)
    prior = solvers.Prior(None, np.array([0.5, 1.0, 2.0, 4.0]))
    w = solvers.lbfgs(loss, prior, tol=1e-10).w
    hessian = np.diag(prior.precision) + [
        batches.differences(lambda at, j=j: log_of(loss, at)[1][j], w, 1e-3) for j in range(4)
    ]
    expected = np.diag(np.linalg.inv(hessian))
    np.testing.assert_allclose(solvers.laplace(loss, prior, w), expected, atol=1e-8)


def test_the_gradient_of_steps_is_the_pair_marginals():
    chains, K = some_chains(6, 3, n_pairs=0), 3
    loss = chain_loss(chains, K)
    w = np.random.default_rng(1).normal(size=loss.n_weights)
    expected = np.zeros((K, K))
    for chain in chains:
        for i, j in zip(chain.y[:-1], chain.y[1:], strict=True):
            expected[i, j] -= chain.weight
        if len(chain.y):
            _, pairs, _ = crf.forward_backward(*crf.scores(chain, w.reshape(-1, K)))
            expected += chain.weight * pairs.sum(axis=0)
    steps = log_of(loss, w)[1].reshape(-1, K)[2 : 2 + K]
    np.testing.assert_allclose(steps, expected, atol=1e-8)


def test_any_number_of_threads_gives_the_same_bits():
    for loss in losses(3000):
        w = np.random.default_rng(1).normal(size=loss.n_weights)
        one = log_of(loss, w), curvature_of(loss, w), loss.hinge_loss(w, None, 1)
        for threads in (2, 3, 7):
            value, gradient = log_of(loss, w, threads)
            assert value == one[0][0]
            np.testing.assert_array_equal(gradient, one[0][1])
            np.testing.assert_array_equal(curvature_of(loss, w, threads), one[1])
            assert loss.hinge_loss(w, None, threads) == one[2]


def test_scores_in_the_ten_thousands_stay_finite():
    for loss in losses(9):
        w = np.random.default_rng(1).choice([-1e4, 1e4], size=loss.n_weights)
        value, gradient = log_of(loss, w)
        assert np.isfinite(value)
        assert np.all(np.isfinite(gradient))
        assert np.all(np.isfinite(curvature_of(loss, w)))
        assert value >= 0


def test_chains_without_a_token_have_no_loss():
    empty = Chain(np.zeros((0, 2)), np.zeros((0, 1)), ())
    for chains in ([empty], [empty, empty]):
        loss = chain_loss(chains, 2)
        w = np.ones(loss.n_weights)
        value, gradient = log_of(loss, w)
        assert value == 0.0
        assert not gradient.any()
        assert not curvature_of(loss, w).any()
        assert loss.hinge_loss(w, None, 2) == 0.0


@given(drawn=BOTH, data=st.data())
def test_the_hinge_is_at_least_the_cost_of_what_is_predicted(drawn, data):
    pair, cost = drawn
    w = data.draw(batches.weights(pair.loss.n_weights))
    charged = sum(e.weight * e.delta[e.predicted(w)] for e in pair.examples)
    assert pair.loss.hinge_loss(w, cost, 1) >= charged - pair.near(w)


@given(drawn=BOTH)
def test_the_hinge_is_tight_where_all_outputs_tie(drawn):
    pair, cost = drawn
    dearest = sum(e.weight * e.delta.max() for e in pair.examples)
    found = pair.loss.hinge_loss(np.zeros(pair.loss.n_weights), cost, 1)
    assert found == pytest.approx(dearest)

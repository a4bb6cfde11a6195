"""The reference's batch losses: finite differences, recursions, bounds, solvers that agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

import batches
import strategies
from reference import crf
from reference.losses import Chain, curvature, hinge_loss, log_loss, observed, of_chains, of_rows
from reference.svm import Prior, by_solver, frank_wolfe, hard_margin, objective, pegasos


def examples_of(problem, **options):
    return of_rows(problem.X, problem.y, problem.n_classes, weight=problem.sample_weight, **options)


def drawn(data, examples, size=2.0):
    return data.draw(batches.weights(examples[0].psi.shape[1], size))


@st.composite
def listed(draw):
    """Rows or chains with all their outputs."""
    if draw(st.booleans()):
        problem = draw(strategies.problems(max_rows=5, max_features=3))
        cost = draw(batches.costs(problem.n_classes))
        return examples_of(problem, intercept=draw(st.booleans()), cost=cost)
    chains, n_labels = draw(batches.chain_sets(max_sequences=3))
    cells = observed(chains, n_labels) if draw(st.booleans()) else None
    return of_chains(chains, n_labels, cells=cells, cost=draw(batches.costs(n_labels)))


# ---------------------------------------------------------------------------- log loss


@given(listed(), st.data())
def test_the_gradient_is_that_of_finite_differences(examples, data):
    w = drawn(data, examples, 0.125)
    _, gradient = log_loss(examples, w)
    found = batches.differences(lambda at: log_loss(examples, at)[0], w, 1e-4)
    np.testing.assert_allclose(gradient, found, atol=1e-6, rtol=1e-6)


@given(strategies.problems(max_rows=5, max_features=3), st.data())
def test_the_curvature_of_rows_is_the_diagonal_of_the_hessian(problem, data):
    examples = examples_of(problem)
    w = drawn(data, examples, 0.125)
    for j, found in enumerate(curvature(examples, w)):
        e = np.eye(len(w))[j] * 1e-5
        up, down = (log_loss(examples, w + s * e)[1][j] for s in (1, -1))
        assert found == pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-4)


def test_the_curvature_of_chains_takes_tokens_as_independent():
    """Which they are where no step has a weight."""
    random = np.random.default_rng(0)
    chain = Chain(random.normal(size=(3, 2)), np.zeros((3, 0)), (0, 1, 1), 0.5)
    (example,) = of_chains([chain], 2)
    w = np.zeros(example.psi.shape[1])
    w[-4:] = random.normal(size=4)
    p = np.exp(chain.tokens @ w[-4:].reshape(2, 2))
    p /= p.sum(axis=1, keepdims=True)
    spread = 0.5 * np.einsum("tj,tk->jk", chain.tokens**2, p * (1 - p))
    np.testing.assert_allclose(curvature([example], w)[-4:], spread.ravel())


def test_two_classes_are_logistic_regression():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(20, 3)), random.integers(2, size=20)
    w = random.normal(size=4)
    p = expit((X @ w[:3] + w[3]) * (2 * y - 1))
    assert log_loss(of_rows(X, y, 2), w)[0] == pytest.approx(-np.log(p).sum())


def test_the_optimum_is_that_of_scikit_learn():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(40, 3)), random.integers(3, size=40)
    peer = LogisticRegression(C=2.0, tol=1e-10, max_iter=1000).fit(X, y)
    w = np.vstack([peer.coef_.T, peer.intercept_]).ravel()
    slope = log_loss(of_rows(X, y, 3), w)[1].reshape(4, 3)
    np.testing.assert_allclose(slope[:3], -peer.coef_.T / 2.0, atol=1e-6)
    np.testing.assert_allclose(slope[3], 0.0, atol=1e-6)


@given(batches.chain_sets(), st.data())
def test_forward_and_backward_agree_with_all_paths(drawn_chains, data):
    chains, n_labels = drawn_chains
    n_rows = batches.table_size(chains, n_labels)
    w = data.draw(batches.weights(n_rows * n_labels))
    value, gradient = log_loss(of_chains(chains, n_labels), w)
    found, slope = crf.log_loss(chains, w.reshape(n_rows, n_labels))
    assert found == pytest.approx(value, rel=1e-11, abs=1e-9)
    np.testing.assert_allclose(slope.ravel(), gradient, rtol=1e-10, atol=1e-8)


def test_the_gradient_of_a_step_is_its_pair_marginals():
    random = np.random.default_rng(0)
    chain = Chain(random.normal(size=(3, 2)), np.zeros((3, 0)), (0, 2, 1))
    table = random.normal(size=(2 + 3 + 2, 3))
    _, pairs, _ = crf.forward_backward(*crf.scores(chain, table))
    right = np.zeros((3, 3))
    right[0, 2] = right[2, 1] = 1.0
    np.testing.assert_allclose(crf.log_loss([chain], table)[1][2:5], pairs.sum(axis=0) - right)


# ------------------------------------------------------------------------------- hinge


@given(listed(), st.data())
def test_the_hinge_is_at_least_the_cost_of_the_prediction(examples, data):
    w = drawn(data, examples)
    for example in examples:
        loss = hinge_loss([example], w)[0]
        cost = example.weight * example.delta[example.predicted(w)]
        assert loss >= cost - 1e-9 * (1 + abs(loss))


@given(listed())
def test_the_hinge_is_tight_where_the_prediction_ties_with_the_truth(examples):
    """Eq. 19 is an equality where both score the same; all do with no weights at all."""
    w = np.zeros(examples[0].psi.shape[1])
    for example in examples:
        assert hinge_loss([example], w)[0] == example.weight * example.delta.max()


@given(listed(), st.data())
def test_the_hinge_is_zero_where_all_margins_reach_their_targets(examples, data):
    w = drawn(data, examples)
    for example in examples:
        reached = np.all(example.differences @ w >= example.delta)
        assert (hinge_loss([example], w)[0] == 0.0) == (reached or example.weight == 0.0)


@given(listed(), st.data())
def test_the_sub_gradient_supports_the_hinge(examples, data):
    w, other = drawn(data, examples), drawn(data, examples)
    value, slope = hinge_loss(examples, w)
    above = hinge_loss(examples, other)[0] - value - slope @ (other - w)
    assert above >= -1e-9 * (1 + abs(value))


# ----------------------------------------------------------------------------- solvers


def some_rows(seed, n_classes, separable=False):
    random = np.random.default_rng(seed)
    y = random.integers(n_classes, size=15)
    X = random.normal(size=(15, 4))
    if separable:
        X[:, :n_classes] += 6 * np.eye(n_classes)[y]
    cost = random.integers(1, 4, size=(n_classes, n_classes)) * (1.0 - np.eye(n_classes))
    return of_rows(X, y, n_classes, weight=random.uniform(0.5, 2, size=15), cost=cost)


def some_chains(seed):
    random = np.random.default_rng(seed)
    chains = [
        Chain(random.normal(size=(n, 3)), random.normal(size=(n, 1)), random.integers(3, size=n))
        for n in (3, 1, 0, 4, 2)
    ]
    return of_chains(chains, 3)


PROBLEMS = {
    "two classes": some_rows(0, 2),
    "three classes": some_rows(1, 3),
    "chains": some_chains(2),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("C", [0.1, 1.0])
def test_frank_wolfe_closes_the_gap_at_the_solution_of_the_convex_solver(name, C):
    examples = PROBLEMS[name]
    best = by_solver(examples, C)
    found = frank_wolfe(examples, C, 300)
    assert found.dual <= best.primal * (1 + 1e-9) <= found.primal * (1 + 2e-9)
    assert found.primal - found.dual < 2e-2 * best.primal


@pytest.mark.parametrize("name", PROBLEMS)
def test_frank_wolfe_in_another_metric_from_another_mean(name):
    examples = PROBLEMS[name]
    random = np.random.default_rng(0)
    n = examples[0].psi.shape[1]
    prior = Prior(random.normal(size=n), random.uniform(0.2, 2.0, size=n))
    best = by_solver(examples, 0.5, prior)
    found = frank_wolfe(examples, 0.5, 300, prior=prior)
    assert found.dual <= best.primal * (1 + 1e-9) <= found.primal * (1 + 2e-9)
    assert found.primal - found.dual < 2e-2 * best.primal


@pytest.mark.parametrize("name", PROBLEMS)
def test_pegasos_comes_to_the_same_objective(name):
    examples = PROBLEMS[name]
    found = objective(examples, 0.1, pegasos(examples, 0.1, 400))
    assert by_solver(examples, 0.1).primal == pytest.approx(found, rel=2e-2)


def test_the_margin_is_hard_as_c_grows():
    examples = some_rows(3, 3, separable=True)
    hard = hard_margin(examples)
    assert hinge_loss(examples, hard)[0] < 1e-8
    np.testing.assert_allclose(by_solver(examples, 1e4).w, hard, atol=1e-6)
    soft = by_solver(examples, 1e-3).w
    assert np.linalg.norm(soft) < np.linalg.norm(hard)

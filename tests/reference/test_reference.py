"""The reference meets what the papers promise of each rule; it knows nothing of the core."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from . import rules
from .learner import Learner

pytestmark = pytest.mark.slow  # the judge is judged where there is time

#: A value for each parameter that a rule may have.
VALUES = {"phi": 0.7, "r": 2.0, "noise": 3.0, "C": 0.2}
PARAMS = {name: {key: VALUES[key] for key in keys} for name, keys in rules.PARAMETERS.items()}
SECOND_ORDER = sorted(set(PARAMS) - rules.FIRST_ORDER)
MARGINS = [(0.0, 1.0), (-2.0, 0.5), (0.3, 4.0), (-1e-3, 1e-6), (5.0, 1e3), (1e-9, 1e-7)]
PHIS = [0.003, 0.5, 1.0, 10.0]


def random_rows(n_rows=60, n_features=5, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.6)
    return X, rng.integers(0, n_classes, n_rows)


def trained(rule, params, *, n_classes=2, n_rows=60, **options):
    X, y = random_rows(n_rows=n_rows, n_classes=n_classes)
    learner = Learner(X.shape[1], n_classes, rule, params, **options)
    for row, label in zip(X, y, strict=True):
        learner.learn(row, label)
    return learner


@pytest.mark.parametrize("phi", PHIS)
@pytest.mark.parametrize("name", ["variance", "stdev"])
def test_full_covariance_step_meets_its_constraint_with_equality(name, phi):
    rng = np.random.default_rng(1)
    for _ in range(5):
        root = rng.normal(size=(4, 4))
        sigma, mu, g = root @ root.T, rng.normal(size=4), rng.normal(size=4)
        m, v = mu @ g, g @ sigma @ g
        required = {"variance": lambda v: phi * v, "stdev": lambda v: phi * math.sqrt(v)}[name]
        alpha, gain = rules.REGISTRY[name](m, v, phi=phi)
        if m >= required(v):
            assert (alpha, gain) == (0.0, 0.0)
            continue
        after = np.linalg.inv(np.linalg.inv(sigma) + gain * np.outer(g, g))
        achieved = (mu + alpha * sigma @ g) @ g
        assert achieved == pytest.approx(required(g @ after @ g), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("phi", PHIS)
def test_variance_exact_meets_its_constraint_on_the_diagonal(phi):
    a = np.array([3.0, 1e-4, 0.5, 20.0])
    m, v = -0.4, a.sum()
    alpha, gain = rules.variance_exact(m, v, a, phi=phi)
    assert m + alpha * v == pytest.approx(phi * np.sum(a / (1 + gain * a)), rel=1e-12)
    assert alpha >= rules.variance(m, v, phi=phi)[0]


@pytest.mark.parametrize(("m", "v"), MARGINS)
def test_variance_exact_on_one_feature_is_variance(m, v):
    exact = rules.variance_exact(m, v, np.array([v]), phi=0.7)
    assert exact == pytest.approx(rules.variance(m, v, phi=0.7), rel=1e-15)


@pytest.mark.parametrize(("m", "v"), MARGINS)
@pytest.mark.parametrize("name", ["scw1", "scw2"])
def test_scw_without_slack_is_stdev(name, m, v):
    assert rules.REGISTRY[name](m, v, phi=0.7, C=math.inf) == rules.stdev(m, v, phi=0.7)


@pytest.mark.parametrize(("m", "v"), MARGINS)
def test_scw2_meets_its_optimality_condition(m, v):
    phi, C = 0.7, 0.2
    alpha, gain = rules.scw2(m, v, phi=phi, C=C)
    if alpha > 0:
        slack = phi * math.sqrt(v / (1 + gain * v)) - (m + alpha * v)
        assert alpha == pytest.approx(2 * C * slack, rel=1e-6)


@pytest.mark.parametrize(("m", "v"), [(0.0, 1.0), (-2.0, 0.5), (0.3, 4.0), (3.0, 2.0)])
def test_probit_matches_the_moments_of_the_posterior(m, v):
    noise = 1.5
    prior = stats.norm(m, math.sqrt(v))

    def moment(power):
        def density(s):
            return s**power * prior.pdf(s) * stats.norm.cdf(s / math.sqrt(noise))

        return integrate.quad(density, m - 12 * math.sqrt(v), m + 12 * math.sqrt(v), limit=200)[0]

    alpha, gain = rules.probit(m, v, noise=noise)
    mean = moment(1) / moment(0)
    assert m + alpha * v == pytest.approx(mean, rel=1e-7)
    assert v / (1 + gain * v) == pytest.approx(moment(2) / moment(0) - mean**2, rel=1e-6)


def test_probit_far_out_keeps_its_limits():
    alpha, gain = rules.probit(-1e100, 1.0, noise=1.0)
    assert (alpha, gain) == pytest.approx((0.5e100, 1.0), rel=1e-12)
    assert rules.probit(1e100, 1.0, noise=1.0) == (0.0, 0.0)


def test_nherd_gain_is_that_of_the_squared_shrink():
    C, v = 0.3, 2.5
    assert v / (1 + rules.nherd(0.0, v, C=C)[1] * v) == pytest.approx(v / (1 + C * v) ** 2)


@pytest.mark.parametrize(("m", "v"), [(-2.0, 0.5), (-1e-3, 1.0), (0.0, 1.0), (0.5, 1.0)])
@pytest.mark.parametrize("name", ["variance", "variance-exact", "stdev", "scw1", "scw2"])
def test_phi_zero_is_the_limit(name, m, v):
    params = {**PARAMS[name], "phi": 0.0}
    shares = (np.array([v]),) if name == "variance-exact" else ()
    alpha, gain = rules.REGISTRY[name](m, v, *shares, **params)
    near, _ = rules.REGISTRY[name](m, v, *shares, **{**params, "phi": 1e-12})
    hard = max(0.0, -m / v)
    C = VALUES["C"]
    soft = {"scw1": min(C, hard), "scw2": max(0.0, -m / (v + 1 / (2 * C)))}
    assert gain == 0.0
    assert alpha == pytest.approx(soft.get(name, hard), rel=1e-15)
    assert near == pytest.approx(alpha, rel=1e-6, abs=1e-11)


@pytest.mark.parametrize("name", sorted(PARAMS))
def test_no_variance_or_no_finite_margin_gives_no_step(name):
    shares = (np.zeros(2),) if name == "variance-exact" else ()
    for m, v in [(-1.0, 0.0), (math.nan, 1.0), (-math.inf, 1.0), (-1.0, math.inf)]:
        assert rules.REGISTRY[name](m, v, *shares, **PARAMS[name]) == (0.0, 0.0)


@pytest.mark.parametrize("name", sorted(PARAMS))
def test_weight_one_is_the_rule_itself_and_half_is_less(name):
    m, v, a = -0.5, 2.0, np.array([1.5, 0.5])
    shares = (a,) if name == "variance-exact" else ()
    plain = rules.REGISTRY[name](m, v, *shares, **PARAMS[name])
    assert rules.weighted(name, m, v, 1.0, a, **PARAMS[name]) == plain
    half = rules.weighted(name, m, v, 0.5, a, **PARAMS[name])
    assert half[0] < plain[0] or name == "pa1"
    assert half[1] <= plain[1]


def test_second_order_perceptron_is_the_stored_form():
    X, y = random_rows(n_rows=40)
    mu, sigma = np.zeros(5), np.eye(5)
    A, k = np.eye(5), np.zeros(5)
    for x, sign in zip(X, 2.0 * y - 1, strict=True):
        score = k @ np.linalg.solve(A + np.outer(x, x), x)
        v = x @ sigma @ x
        assert score * (1 + v) == pytest.approx(mu @ x, abs=1e-12)
        alpha, gain = rules.sop(sign * (mu @ x), v)
        mu, sigma = (
            mu + alpha * sign * sigma @ x,
            sigma - gain / (1 + gain * v) * np.outer(sigma @ x, sigma @ x),
        )
        if sign * score <= 0 and v > 0:
            A, k = A + np.outer(x, x), k + sign * x
    np.testing.assert_allclose(mu, np.linalg.solve(A, k), atol=1e-12)
    np.testing.assert_allclose(sigma, np.linalg.inv(A), atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_averaged_mean_is_the_cheap_form(n_classes):
    X, y = random_rows(n_classes=n_classes)
    learner = Learner(X.shape[1], n_classes, "arow", {"r": 2.0}, average=True)
    q, c = 0.0, 1
    for row, label in zip(X, y, strict=True):
        before = learner.mu
        learner.learn(row, label)
        q, c = q + c * (learner.mu - before), c + 1
    np.testing.assert_allclose(learner.mean(), learner.mu - q / c, atol=1e-14)


@pytest.mark.parametrize("projection", ["precision", "covariance"])
@pytest.mark.parametrize("name", SECOND_ORDER)
def test_variances_shrink_and_stay_positive(name, projection):
    learner = trained(name, PARAMS[name], n_classes=3, projection=projection)
    assert learner.updates > 0
    assert (learner.sigma > 0).all()
    assert (learner.sigma <= 1).all()


@pytest.mark.parametrize("name", SECOND_ORDER)
def test_covariance_keeps_more_variance_and_agrees_on_one_feature(name):
    x = np.array([2.0, 0.0, -0.5])
    both = {}
    for projection in ("precision", "covariance"):
        learner = Learner(3, 3, name, PARAMS[name], projection=projection)
        learner.learn(x, 2)
        both[projection] = learner
    np.testing.assert_array_equal(both["precision"].mu, both["covariance"].mu)
    assert (both["covariance"].sigma >= both["precision"].sigma).all()

    shrunk = []
    for projection in ("precision", "covariance"):
        learner = Learner(3, 2, name, PARAMS[name], projection=projection, fit_intercept=False)
        learner.learn(np.array([0.0, 3.0, 0.0]), 0)
        shrunk.append(learner.sigma)
    np.testing.assert_allclose(*shrunk, rtol=1e-15)


@pytest.mark.parametrize("projection", ["precision", "covariance"])
@pytest.mark.parametrize(
    ("name", "params", "scaled", "power"),
    [
        ("variance", {"phi": 0.5}, {"phi": 1.0}, 0.5),
        ("variance-exact", {"phi": 0.5}, {"phi": 1.0}, 0.5),
        ("stdev", {"phi": 0.5}, {"phi": 0.5}, 0.5),
        ("scw1", {"phi": 0.5, "C": 0.2}, {"phi": 0.5, "C": 0.4}, 0.5),
        ("scw2", {"phi": 0.5, "C": 0.2}, {"phi": 0.5, "C": 0.8}, 0.5),
        ("arow", {"r": 8.0}, {"r": 2.0}, 0.0),
        ("nherd", {"C": 0.2}, {"C": 0.8}, 0.0),
        ("probit", {"noise": 8.0}, {"noise": 2.0}, 0.5),
    ],
)
def test_initial_variance_four_is_a_change_of_parameter(name, params, scaled, power, projection):
    four = trained(name, params, projection=projection, initial_variance=4.0)
    one = trained(name, scaled, projection=projection)
    np.testing.assert_allclose(four.sigma, 4 * one.sigma, rtol=1e-10)
    np.testing.assert_allclose(four.mu, 4**power * one.mu, rtol=1e-9, atol=1e-12)
    assert (four.mistakes, four.updates) == (one.mistakes, one.updates)


def test_rows_of_weight_zero_leave_no_trace():
    learner = trained("arow", {"r": 1.0}, average=True)
    state = (learner.mu.copy(), learner.sigma.copy(), learner.mean().copy(), learner.mistakes)
    learner.learn(np.ones(5), 0, weight=0.0)
    for before, after in zip(
        state, (learner.mu, learner.sigma, learner.mean(), learner.mistakes), strict=True
    ):
        np.testing.assert_array_equal(before, after)


def test_ties_go_to_the_lowest_rival():
    learner = Learner(1, 4, "perceptron", {}, fit_intercept=False)
    learner.learn(np.array([2.0]), 1)
    np.testing.assert_array_equal(learner.mu.ravel(), [-2.0, 2.0, 0.0, 0.0])
    learner.learn(np.array([2.0]), 0)
    learner.learn(np.array([2.0]), 1)
    np.testing.assert_array_equal(learner.mu.ravel(), [-2.0, 2.0, 0.0, 0.0])
    assert learner.mistakes == learner.updates == 3


@pytest.mark.parametrize("name", sorted(PARAMS))
def test_split_keeps_the_margin_and_its_variance(name):
    learner = trained(name, PARAMS[name], initial_variance=3.0, average=True)
    x = np.array([1.0, -2.0, 0.0, 0.5, 0.0])
    (mean,), (variance,) = learner.margin(x)
    learner.split()
    means, variances = learner.margin(x)
    assert means[1] - means[0] == pytest.approx(mean, rel=1e-14)
    assert means[2] == 0.0
    if name in rules.FIRST_ORDER:
        assert (learner.sigma == 1.0).all()
    else:
        assert variances[1] + variances[0] == pytest.approx(variance, rel=1e-14)
        assert (learner.sigma[2] == 1.5).all()
    learner.learn(x, 2)
    assert learner.mu.shape == (3, 6)


def test_collapse_is_an_error_that_changes_nothing():
    learner = Learner(2, 2, "nherd", {"C": 1e18}, dtype=np.float32)
    learner.learn(np.array([1e-12, 0.0]), 1)
    state = (learner.mu.copy(), learner.sigma.copy(), learner.mistakes, learner.updates)
    with pytest.raises(FloatingPointError, match="projection 'precision'"):
        learner.learn(np.array([1e12, -1e12]), 0)
    for before, after in zip(
        state, (learner.mu, learner.sigma, learner.mistakes, learner.updates), strict=True
    ):
        np.testing.assert_array_equal(before, after)


def test_float32_is_the_float64_step_rounded_once():
    x = np.array([0.1, -0.7, 0.0])
    wide = Learner(3, 3, "stdev", {"phi": 0.7})
    narrow = Learner(3, 3, "stdev", {"phi": 0.7}, dtype=np.float32)
    wide.learn(x, 2)
    narrow.learn(x, 2)
    np.testing.assert_array_equal(narrow.mu, wide.mu.astype(np.float32))
    np.testing.assert_array_equal(narrow.sigma, wide.sigma.astype(np.float32))
    assert narrow.sigma.dtype == np.float32

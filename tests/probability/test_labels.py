"""Label probabilities against quadrature, closed forms, draws and 40-digit arithmetic."""

from __future__ import annotations

import warnings
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import IntegrationWarning, quad
from scipy.special import log_ndtr, ndtr

from surelearn.probability import (
    best_temperature,
    entropy,
    fit_temperature,
    label_probabilities,
    reliability,
    sample_probabilities,
)


def by_quadrature(mean, variance):
    """Adaptive quadrature, told where each score lies."""
    sd = np.sqrt(variance)
    low, high = (mean - 9 * sd).max(), (mean + 9 * sd).max()
    cuts = np.concatenate([mean + k * sd for k in (-8, -3, 0, 3, 8)])
    cuts = np.unique([low, high, *cuts[(cuts > low) & (cuts < high)]])

    def integrand(t, y):
        x = (t - mean) / sd
        others = np.delete(x, y)
        return np.exp(-0.5 * x[y] ** 2 + log_ndtr(others).sum()) / (sd[y] * np.sqrt(2 * np.pi))

    def integral(y):
        parts = pairwise(cuts)
        with warnings.catch_warnings():  # that it cannot do better than this
            warnings.simplefilter("ignore", IntegrationWarning)
            return sum(quad(integrand, a, b, (y,), epsabs=1e-12, limit=200)[0] for a, b in parts)

    return np.array([integral(y) for y in range(len(mean))])


@st.composite
def scores(draw, most=6):
    """Means and variances; deviations up to a factor of 1e4 apart, means at any of their scales."""
    n_classes = draw(st.integers(2, most))
    exponent = st.lists(st.floats(-4, 0), min_size=n_classes, max_size=n_classes)
    sd = 10.0 ** np.array(draw(exponent))
    scale = draw(st.sampled_from(["each its own", "the widest", "the narrowest"]))
    unit = {"each its own": sd, "the widest": sd.max(), "the narrowest": sd.min()}[scale]
    # Not the smallest numbers there are: the quadrature that judges complains of them.
    spot = st.floats(-4, 4).map(lambda x: x if abs(x) > 1e-9 else 0.0)
    place = st.lists(spot, min_size=n_classes, max_size=n_classes)
    return np.array(draw(place)) * unit, sd**2


@given(scores())
def test_probabilities_are_the_integral(problem):
    mean, variance = problem
    p = label_probabilities([mean], [variance])[0]
    np.testing.assert_allclose(p, by_quadrature(mean, variance), rtol=0, atol=1e-9)
    assert abs(p.sum() - 1) < 1e-14


@pytest.mark.parametrize("n_classes", [10, 50, 200])
@pytest.mark.parametrize("ratio", [1.0, 10.0, 1e4])
def test_many_labels(n_classes, ratio):
    """Panels of 24 points between all scores' deviations, in one shot for all labels."""
    random = np.random.default_rng(n_classes)
    mean = random.normal(size=n_classes)
    sd = ratio ** -random.random(n_classes)
    low, high = (mean - 9 * sd).max(), (mean + 9 * sd).max()
    cuts = np.unique(np.clip(mean + sd * np.arange(-9, 10)[:, None], low, high))
    node, weight = np.polynomial.legendre.leggauss(24)
    half = np.diff(cuts)[:, None] / 2
    t = (cuts[:-1, None] + half + half * node).ravel()
    x = (t[:, None] - mean) / sd
    log_cdf = log_ndtr(x)
    density = np.exp(-0.5 * x**2 + log_cdf.sum(1, keepdims=True) - log_cdf)
    want = (half * weight).ravel() @ density / (sd * np.sqrt(2 * np.pi))
    p = label_probabilities([mean], [sd**2])[0]
    np.testing.assert_allclose(p, want, rtol=0, atol=1e-9)


@given(scores(), st.randoms())
def test_order_of_labels_and_origin_do_not_matter(problem, random):
    mean, variance = problem
    order = list(range(len(mean)))
    random.shuffle(order)
    p = label_probabilities([mean], [variance])[0]
    np.testing.assert_allclose(
        label_probabilities([mean[order]], [variance[order]])[0], p[order], rtol=0, atol=1e-12
    )
    scaled = label_probabilities([mean * 2.0**70], [variance * 2.0**140])[0]
    np.testing.assert_allclose(scaled, p, rtol=0, atol=1e-15)


@given(st.floats(-30, 30), st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_two_labels_have_a_closed_form(m, v0, v1):
    want = ndtr(m / np.sqrt(v0 + v1))
    assert label_probabilities([[m, 0.0]], [[v0, v1]])[0, 0] == pytest.approx(want, rel=1e-13)
    assert label_probabilities([m], [v0 + v1])[0, 1] == pytest.approx(want, rel=1e-13)
    log_p = label_probabilities([m], [v0 + v1], log=True)[0]
    want = log_ndtr(np.array([-m, m]) / np.sqrt(v0 + v1))
    np.testing.assert_allclose(log_p, want, rtol=1e-12)


def test_scores_that_do_not_vary():
    def p(mean, variance):
        return label_probabilities([mean], [variance])[0].tolist()

    assert p([1.0, 2.0, 2.0], [0.0, 0.0, 0.0]) == [0.0, 0.5, 0.5]
    assert p([2.0, 2.0], [0.0, 0.0]) == [0.5, 0.5]
    assert p([1.0, 2.0], [0.0, 0.0]) == [0.0, 1.0]
    wins = ndtr(1.0)  # label 1 does not vary and beats label 2 if that stays below
    assert p([0.0, 1.0, 0.0], [0.0, 0.0, 1.0]) == pytest.approx([0.0, wins, 1 - wins], abs=1e-10)
    assert p([1.0, 1.0, 0.0], [0.0, 0.0, 1.0]) == pytest.approx(
        [wins / 2, wins / 2, 1 - wins], abs=1e-10
    )
    logs = label_probabilities([[0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0]], log=True)[0]
    assert logs.tolist() == pytest.approx([-np.inf, np.log(wins), np.log(1 - wins)], rel=1e-8)


@pytest.mark.parametrize("mean", [-1e200, -1.0, 0.0, 1e-300, 1e200])
@pytest.mark.parametrize("variance", [0.0, 1e-300, 1.0, 1e200])
def test_extremes_give_no_nan(mean, variance):
    m = np.array([[mean, 0.0, 1.0, -1e200]])
    v = np.array([[variance, 1.0, 1e-300, 1e200]])
    p = label_probabilities(m, v)
    assert p.sum() == pytest.approx(1, abs=1e-12)
    assert (p >= 0).all()
    log_p = label_probabilities(m, v, log=True)
    assert not np.isnan(log_p).any()
    np.testing.assert_allclose(np.exp(log_p), p, rtol=0, atol=1e-8)


def exact_log(mean, variance, y):
    """The integral in 30 digits, about its mode."""
    with mpmath.workdps(30):
        m = [mpmath.mpf(x) for x in mean]
        sd = [mpmath.sqrt(mpmath.mpf(x)) for x in variance]
        rivals = [z for z in range(len(m)) if z != y]

        def height(t):
            cdf = sum(mpmath.log(mpmath.ncdf((t - m[z]) / sd[z])) for z in rivals)
            return -(((t - m[y]) / sd[y]) ** 2) / 2 + cdf

        low, high = min(m) - 10 * max(sd), max(m) + 10 * max(sd)
        for _ in range(150):  # ternary search: the integrand is log-concave
            a, b = low + (high - low) / 3, high - (high - low) / 3
            low, high = (a, high) if height(a) < height(b) else (low, b)
        top = height(low)
        unit = 1 / mpmath.sqrt(sum(1 / s**2 for s in sd))
        cuts = [low + k * unit for k in (-40, -20, -10, -5, 0, 5, 10, 20, 40, 80)]
        total = mpmath.quad(lambda t: mpmath.exp(height(t) - top), cuts)
        return float(mpmath.log(total / sd[y] / mpmath.sqrt(2 * mpmath.pi)) + top)


@pytest.mark.parametrize(
    ("mean", "variance"),
    [
        ([0.0, 8.0, 7.0], [1.0, 1.0, 2.0]),
        ([0.0, 60.0, 58.0], [1.0, 1.0, 1.0]),
        ([0.0, 100.0, 90.0], [1.0, 0.01, 4.0]),
        ([-3000.0, 5.0, 3.0, 2.0], [1.0, 2.0, 3.0, 4.0]),
    ],
)
def test_logs_of_far_tails(mean, variance):
    log_p = label_probabilities([mean], [variance], log=True)[0]
    for y in range(len(mean)):
        if log_p[y] < -1e-3:
            assert log_p[y] == pytest.approx(exact_log(mean, variance, y), rel=1e-6)
    assert log_p[0] < -20


@given(scores())
def test_logs_agree_with_probabilities(problem):
    mean, variance = problem
    log_p = label_probabilities([mean], [variance], log=True)[0]
    p = label_probabilities([mean], [variance])[0]
    np.testing.assert_allclose(np.exp(log_p), p, rtol=0, atol=1e-9)


def test_the_log_of_a_sure_label_keeps_its_digits():
    log_p = label_probabilities([[9.0, 0.0, 0.0]], [[1.0, 1.0, 1.0]], log=True)[0]
    assert log_p[0] == pytest.approx(-np.exp(log_p[1:]).sum(), rel=1e-9)
    assert -1e-9 < log_p[0] < 0


def test_draws_agree_with_the_integral():
    random = np.random.default_rng(0)
    mean, variance = random.normal(size=(20, 5)), random.uniform(0.1, 2, size=(20, 5))
    n = 20_000
    p = label_probabilities(mean, variance)
    whole = variance[:, :, None] * np.eye(5)
    for covariance in (variance, whole):
        drawn = sample_probabilities(mean, covariance, n, random)
        assert (np.abs(drawn - p) < 5 * np.sqrt(p * (1 - p) / n) + 1 / n).all()
        np.testing.assert_allclose(drawn.sum(axis=1), 1)


def test_draws_of_dependent_scores():
    """Two scores of correlation r differ by a normal variable of variance 2 (1 - r)."""
    n = 50_000
    for r in (-1.0, 0.0, 0.8):
        covariance = np.array([[[1.0, r], [r, 1.0]]])
        drawn = sample_probabilities([[0.5, 0.0]], covariance, n, np.random.default_rng(1))
        want = ndtr(0.5 / np.sqrt(2 * (1 - r)))
        assert abs(drawn[0, 0] - want) < 5 * np.sqrt(want * (1 - want) / n)


def test_temperature_of_dependent_scores():
    """Independent ones handed in as matrices give what they give as variances."""
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(400, 3))
    variance = rng.uniform(0.5, 2.0, size=(400, 3))
    scores = mean + 2.0 * np.sqrt(variance) * rng.normal(size=mean.shape)
    y = scores.argmax(axis=1)
    exact = fit_temperature(mean, variance, y)
    sampled = fit_temperature(mean, variance[:, :, None] * np.eye(3), y)
    assert exact == pytest.approx(2.0, rel=0.3)

    def loss(tau):
        return -label_probabilities(mean, tau**2 * variance, log=True)[np.arange(400), y].mean()

    # The loss is flat near its least: draws find a place that is as good, not the same one.
    assert loss(sampled) < loss(exact) + 0.001
    assert loss(1.0) > loss(exact) + 0.05


def test_draws_in_blocks_are_all_counted(monkeypatch):
    """In whatever blocks, every draw counts, and a row's answer does not depend on the others."""
    mean = np.random.default_rng(1).normal(size=(7, 3))
    whole = sample_probabilities(mean, np.ones((7, 3)), 50, np.random.default_rng(0))
    alone = sample_probabilities(mean[4:5], np.ones((1, 3)), 50, np.random.default_rng(0))
    np.testing.assert_array_equal(whole[4:5], alone)
    for block in (60, 1):
        monkeypatch.setattr("surelearn.probability._labels._BLOCK", block)
        drawn = sample_probabilities(mean, np.ones((7, 3)), 50, np.random.default_rng(0))
        np.testing.assert_array_equal(drawn, whole)
    np.testing.assert_allclose(whole.sum(axis=1), 1)
    assert len(np.unique(whole[:, 0])) > 1


@given(scores())
def test_entropy_is_between_zero_and_one(problem):
    p = label_probabilities([problem[0]], [problem[1]])
    want = -sum(x * np.log(x) for x in p[0] if x > 0) / np.log(p.shape[1])
    assert entropy(p)[0] == pytest.approx(want, abs=1e-12)
    assert 0 <= entropy(p)[0] <= 1
    assert entropy([[1 / 3] * 3, [0.0, 1.0, 0.0]]).tolist() == pytest.approx([1.0, 0.0])


@pytest.mark.parametrize("tau", [0.05, 1.0, 30.0])
def test_temperature_is_found_again(tau):
    random = np.random.default_rng(5)
    n = 4000
    mean, variance = random.normal(size=(n, 4)), random.uniform(0.2, 2, size=(n, 4))
    mean *= tau
    y = (mean + tau * np.sqrt(variance) * random.normal(size=(n, 4))).argmax(axis=1)
    assert fit_temperature(mean, variance, y) == pytest.approx(tau, rel=0.1)
    m, v = mean[:, 1] - mean[:, 0], variance[:, 0] + variance[:, 1]
    y = (m + tau * np.sqrt(v) * random.normal(size=n) > 0).astype(int)
    assert fit_temperature(m, v, y) == pytest.approx(tau, rel=0.1)


def test_temperature_bears_labels_that_underflow():
    mean = np.array([[1000.0, 0.0, 0.0]] * 3)
    assert 100 < fit_temperature(mean, np.ones((3, 3)), [0, 0, 1]) <= 1e4
    assert fit_temperature([1.0], [0.0], [0]) == 1.0


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: label_probabilities([[0.0, np.nan]], [[1, 1]]), ValueError, "mean must be finite"),
        (lambda: label_probabilities([[0.0, 1]], [[1, -1]]), ValueError, "must not be negative"),
        (lambda: label_probabilities([[0.0, 1]], [1, 1]), ValueError, r"must have shape \(1, 2\)"),
        (lambda: label_probabilities([["a", "b"]], [[1, 1]]), TypeError, "array of numbers"),
        (lambda: label_probabilities([[0.0]], [[1.0]]), ValueError, "two or more classes"),
        (lambda: label_probabilities([0.0], [1.0], log=1), TypeError, "log must be True or False"),
        (lambda: entropy([[0.5, 0.6]]), ValueError, "p must sum to one"),
        (lambda: entropy([[1.5, -0.5]]), ValueError, "p must be within 0 and 1"),
        (lambda: reliability(["c"], [[0.5, 0.5]], ["a", "b"]), ValueError, "labels among 'a', 'b'"),
        (lambda: reliability(["a"], [[0.5, 0.5]], ["b", "a"]), ValueError, "must be sorted"),
        (lambda: fit_temperature([1.0], [1.0], [2]), ValueError, "y must hold labels among 0, 1"),
        (
            lambda: sample_probabilities([[0.0, 1.0]], [[1.0]], 9, np.random.default_rng(0)),
            ValueError,
            "covariance must have shape",
        ),
    ],
)
def test_bad_input_is_refused(call, error, match):
    with pytest.raises(error, match=match):
        call()


def test_random_must_be_a_generator():
    with pytest.raises(TypeError, match="random must be"):
        sample_probabilities([[0.0, 1.0]], [[1.0, 1.0]], 10, 0)


@pytest.mark.parametrize("shrunk", [False, True])
def test_a_shrunk_temperature_stays_near_one_if_all_labels_are_right(shrunk):
    tau = fit_temperature([1.0, 2.0, -1.0], [1.0, 1.0, 1.0], [1, 1, 0], shrink=shrunk)
    log_loss = -np.log(ndtr(np.array([1.0, 2.0, 1.0]) / tau)).sum()
    other = best_temperature(lambda t: np.log(ndtr(np.array([1.0, 2.0, 1.0]) / t)), shrink=shrunk)
    if not shrunk:
        assert tau < 0.2
        return
    assert 0.3 < tau < 1.0
    assert other == pytest.approx(tau, rel=1e-4)
    for near in (0.9 * tau, 1.1 * tau):  # the posterior's mode
        worse = -np.log(ndtr(np.array([1.0, 2.0, 1.0]) / near)).sum()
        assert log_loss + 0.5 * np.log(tau) ** 2 < worse + 0.5 * np.log(near) ** 2

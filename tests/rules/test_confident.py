"""Rules that ask for a confidence meet it, exactly."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

import strategies
from surelearn import rules


def step(name, params, m, v):
    return rules.RULES[name](**params).step(m, v)


@given(st.sampled_from(["variance", "stdev"]), st.floats(0.003, 10), strategies.margins())
def test_constraint_is_tight_after_a_full_update(name, phi, margin):
    """With the whole covariance u = v / (1 + gain v) and the new margin is m + alpha v."""
    m, v = margin
    alpha, gain = step(name, {"phi": phi}, m, v)
    if alpha == 0:
        return
    u = v / (1 + gain * v)
    need = phi * (u if name == "variance" else math.sqrt(u))
    assert math.isclose(m + alpha * v, need, rel_tol=1e-9, abs_tol=1e-12 * (abs(m) + alpha * v))


@given(
    phi=st.floats(0.003, 10),
    m=st.floats(-50, 50),
    a=st.lists(st.floats(1e-5, 10.0), min_size=1, max_size=8),
)
def test_variance_exact_meets_its_constraint_on_the_diagonal(phi, m, a):
    v = math.fsum(a)
    alpha, gain = rules.VarianceExact(phi=phi).step(m, v, a)
    after = math.fsum(share / (1 + gain * share) for share in a)
    if m >= phi * v:
        assert alpha == 0
    else:
        assert math.isclose(
            m + alpha * v, phi * after, rel_tol=1e-9, abs_tol=1e-11 * (abs(m) + alpha * v)
        )


@given(st.floats(0.5, 0.999999))
def test_eta_is_turned_into_phi(eta):
    assert math.isclose(rules.Variance(eta).phi, ndtri(eta), rel_tol=1e-13, abs_tol=1e-15)
    assert math.isclose(rules.Variance(eta).eta, eta, rel_tol=1e-14)

"""Rules that ask for a margin: how much of it they reach."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from reference import rules as reference
from surelearn import rules


def step(name, params, m, v):
    return rules.RULES[name](**params).step(m, v)


@pytest.mark.parametrize("name", sorted(reference.FIRST_ORDER))
@given(margin=strategies.margins())
def test_first_order_rules_have_no_gain(name, margin):
    assert step(name, {}, *margin).gain == 0


MARGINS = st.tuples(st.floats(-50, 0.999), st.floats(1e-3, 1e3))


@given(MARGINS, st.floats(1e-3, 1e3))
def test_how_much_of_the_margin_is_reached(margin, C):
    """PA reaches 1; PA-I moves by C at most; PA-II stays short by alpha / 2C."""
    m, v = margin
    assert m + rules.PA().step(m, v).alpha * v == pytest.approx(1.0)
    alpha = rules.PA1(C).step(m, v).alpha
    assert alpha == C or m + alpha * v == pytest.approx(1.0)
    assert alpha <= C
    alpha = rules.PA2(C).step(m, v).alpha
    assert m + alpha * v + alpha / (2 * C) == pytest.approx(1.0)


@given(MARGINS, st.floats(1e-3, 1e3))
def test_arow_is_short_of_its_margin_by_r_times_its_step(margin, r):
    m, v = margin
    alpha, gain = rules.AROW(r).step(m, v)
    assert m + alpha * v + r * alpha == pytest.approx(1.0)
    assert gain == pytest.approx(1 / r)


@given(st.floats(0.0, 50), st.floats(1e-3, 1e3))
def test_mistakes_alone_teach_perceptrons(m, v):
    for rule in (rules.Perceptron(), rules.SecondOrderPerceptron()):
        assert rule.step(m, v) == (0, 0) or m == 0
        assert rule.step(-m, v).alpha >= 1 / (1 + v)
    assert rules.SecondOrderPerceptron().step(-m, v) == rules.AROW(r=1.0).step(-m, v)


def test_the_noise_of_a_label_is_that_of_probit():
    assert rules.Probit(noise=0.7).label_noise == 0.7
    assert {cls().label_noise for cls in rules.RULES.values() if cls is not rules.Probit} == {0.0}

"""Each rule against its printed equation, the laws all rules obey, and their parameters."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import strategies
from reference import costs
from reference import rules as reference
from surelearn import _core, rules

SECOND_ORDER = sorted(set(rules.RULES) - reference.FIRST_ORDER)


def step(name, params, m, v):
    return rules.RULES[name](**params).step(m, v)


def close(got, want, tolerance=1e-11):
    return math.isclose(got, want, rel_tol=tolerance, abs_tol=1e-300)


def near_trigger(name, params, m, v):
    """Where m is within rounding of the point at which the rule begins to move."""
    phi = params.get("phi", 0.0)
    need = {"variance": phi * v, "variance-exact": phi * v}.get(name, phi * math.sqrt(v))
    if name in costs.MARGIN:
        need = 1.0
    return abs(m - need) <= 1e-4 * max(abs(m), abs(need))


def test_core_and_python_list_the_same_rules():
    listed = {name: tuple(cls().params()) for name, cls in rules.RULES.items()}
    assert listed == _core.rule_parameters()
    assert list(listed) == list(_core.rule_parameters())
    assert set(rules.RULES) == set(reference.REGISTRY)
    first_order = {name for name, cls in rules.RULES.items() if cls().first_order}
    assert first_order == reference.FIRST_ORDER


@given(strategies.rules(), strategies.margins())
@example(("variance", {"phi": 1e-3}), (-1e-9, 1e-6))
@example(("stdev", {"phi": 5.0}), (1e6, 1e12))
@example(("probit", {"noise": 0.1}), (-1e4, 1.0))
@example(("probit", {"noise": 0.1}), (1e6, 1e-9))
def test_step_agrees_with_the_printed_equation(rule, margin):
    name, params = rule
    m, v = margin
    shares = ([v],) if name == "variance-exact" else ()
    want = reference.REGISTRY[name](m, v, *shares, **params)
    got = step(name, params, m, v)
    if near_trigger(name, params, m, v):
        # The difference between need and margin has lost digits before any formula sees it.
        assert got.alpha >= 0
        return
    assert close(got.alpha, want[0])
    assert close(got.gain, want[1], 1e-9)


@given(strategies.rules(), strategies.margins())
def test_steps_are_never_negative(rule, margin):
    alpha, gain = step(*rule, *margin)
    assert alpha >= 0
    assert gain >= 0


@given(strategies.rules(), st.floats(-1e6, 1e6))
def test_nothing_is_learnt_from_nothing(rule, m):
    assert step(*rule, m, 0.0) == (0.0, 0.0)


@pytest.mark.parametrize("size", [1e-30, 1e30])
@pytest.mark.parametrize("name", sorted(_core.rule_parameters()))
@pytest.mark.parametrize("m", [-1e6, -1.0, 0.0, 0.5, 1e6])
def test_the_largest_and_smallest_parameters_give_a_step(name, size, m):
    params = {key: min(size, 1e6) if key == "phi" else size for key in rules.RULES[name]().params()}
    for v in (1e-12, 1.0, 1e12):
        alpha, gain = step(name, params, m, v)
        assert math.isfinite(alpha)
        assert math.isfinite(gain)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: rules.Stdev(eta=1.2), ValueError, r"eta must be in \[0.5, 1\), got 1.2"),
        (lambda: rules.Stdev(eta=0.4), ValueError, r"eta must be in \[0.5, 1\), got 0.4"),
        (lambda: rules.Stdev(eta=1.0), ValueError, r"eta must be in \[0.5, 1\), got 1.0"),
        (lambda: rules.Stdev(eta=math.nan), ValueError, "eta must be in"),
        (lambda: rules.Stdev(eta="0.9"), TypeError, "eta must be a number, got '0.9'"),
        (lambda: rules.Stdev(eta=0.9, phi=1), TypeError, "eta or phi must be given, got both"),
        (lambda: rules.Stdev(phi=-1), ValueError, r"phi must be in \[0, 1e6\], got -1"),
        (lambda: rules.AROW(r=0), ValueError, r"r must be in \[1e-30, 1e30\], got 0"),
        (lambda: rules.AROW(r=math.inf), ValueError, "r must be in"),
        (lambda: rules.AROW(r=1e-310), ValueError, "r must be in"),
        (lambda: rules.Variance(phi=1e200), ValueError, r"phi must be in \[0, 1e6\]"),
        (lambda: rules.PA1(C=-2), ValueError, r"C must be in \[1e-30, 1e30\], got -2"),
        (lambda: rules.SCW2(C=True), TypeError, "C must be a number, got True"),
        (lambda: rules.Probit(noise=0), ValueError, "noise must be in"),
        (lambda: rules.get("arrow"), ValueError, "rule must be one of 'variance', .*got 'arrow'"),
        (
            lambda: rules.get("cw"),
            ValueError,
            r"one of 'variance', 'variance-exact', 'stdev' \(the CW rules\), 'arow', .*'cw'",
        ),
        (lambda: rules.get(3), TypeError, "rule must be one of 'variance', .*got 3"),
        (lambda: rules.get(rules.AROW), TypeError, r"rule must be a value such as AROW\(\)"),
    ],
)
def test_wrong_parameters_are_named(make, error, message):
    with pytest.raises(error, match=message):
        make()

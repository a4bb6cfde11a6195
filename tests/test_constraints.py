"""Constraint schemes by name and as values, and what they ask for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surelearn import constraints, rules
from surelearn.constraints import Exact, Parallel, Sequential, Single, outer_eta


@pytest.mark.parametrize("scheme", [Single, Sequential, Parallel, Exact])
def test_a_scheme_is_a_value(scheme):
    assert constraints.get(scheme.name) == scheme()
    assert constraints.get(scheme()) == scheme()
    assert hash(scheme()) == hash(scheme())


@pytest.mark.parametrize("scheme", [Sequential, Parallel, Exact])
def test_k_is_a_number_of_rivals_or_all(scheme):
    assert scheme(k=3).k == 3
    assert scheme(3) == scheme(k=3) != scheme()
    with pytest.raises(ValueError, match="k must be at least 1, got 0"):
        scheme(k=0)
    with pytest.raises(TypeError, match=r"k must be a whole number, got 1\.5"):
        scheme(k=1.5)


@pytest.mark.parametrize("scheme", [Sequential, Parallel, Exact])
@pytest.mark.parametrize("k", [None, 1, 3])
def test_fewer_rivals_than_wanted_are_refused(scheme, k):
    for n_rivals in range(1, 6):
        if k is None or k <= n_rivals:
            scheme(k).check_rivals(n_rivals)
        else:
            said = f"needs at least {k + 1} classes for {k} rivals, got {n_rivals + 1}. Use"
            with pytest.raises(ValueError, match=said):
                scheme(k).check_rivals(n_rivals)


def test_weights_for_more_rivals_than_there_are_are_refused():
    Parallel(mixing=[1, 2]).check_rivals(2)
    with pytest.raises(ValueError, match="needs at least 3 classes for 2 rivals, got 2"):
        Parallel(mixing=[1, 2]).check_rivals(1)


def test_unknown_names_list_the_known_ones():
    with pytest.raises(ValueError, match=r"constraints must be one of 'single', .*got 'both'"):
        constraints.get("both")
    with pytest.raises(TypeError, match="constraints must be one of"):
        constraints.get(constraints.Constraints())


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=5).filter(sum))
def test_mixing_sums_to_one(given_weights):
    mixing = Parallel(mixing=given_weights).mixing
    assert sum(mixing) == pytest.approx(1.0, abs=1e-12)
    assert mixing[0] * sum(given_weights) == pytest.approx(given_weights[0])


@pytest.mark.parametrize("mixing", [[], [-1, 2], [0, 0], [float("nan")], [float("inf"), 1]])
def test_mixing_must_be_weights(mixing):
    with pytest.raises(ValueError, match="mixing must hold finite numbers >= 0, not all 0"):
        Parallel(mixing=mixing)


def test_mixing_has_an_entry_for_each_rival():
    with pytest.raises(ValueError, match="mixing must have k=3 entries, got 2"):
        Parallel(k=3, mixing=[0.5, 0.5])
    with pytest.raises(TypeError, match="mixing must be a list of numbers, got 'even'"):
        Parallel(mixing="even")


@given(st.floats(0.5, 1, exclude_max=True), st.integers(2, 1000))
def test_the_outer_bound_implies_the_inner_one(eta, n_classes):
    """Each of K - 1 rivals wins with probability at most 1 - outer, so all fail together less."""
    outer = outer_eta(eta, n_classes)
    assert eta <= outer < 1 or eta > 1 - 1e-13
    assert (n_classes - 1) * (1 - outer) == pytest.approx(1 - eta, abs=1e-12 * n_classes)


def test_the_outer_bound_as_printed():
    assert outer_eta(0.9, 2) == pytest.approx(0.9)
    assert outer_eta(0.8, 5) == pytest.approx(0.95)
    with pytest.raises(ValueError, match=r"eta must be in \[0.5, 1\), got 1\.5"):
        outer_eta(1.5, 3)
    with pytest.raises(ValueError, match="n_classes must be at least 2, got 1"):
        outer_eta(0.9, 1)


@pytest.mark.parametrize("mixing", ["12", {1: 2, 3: 4}])
def test_mixing_is_a_list_of_numbers(mixing):
    with pytest.raises(TypeError, match="mixing must be a list of numbers"):
        constraints.Parallel(mixing=mixing)


def test_numbers_too_large_for_the_core_are_refused_by_name():
    with pytest.raises(ValueError, match="k must be at most"):
        constraints.Sequential(2**64)


def test_the_outer_eta_is_one_that_rules_take():
    rules.Stdev(eta=constraints.outer_eta(1 - 1e-16, 1000))

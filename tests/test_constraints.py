"""Constraint schemes by name and as values."""

from __future__ import annotations

import pytest

from surelearn import constraints


def test_single_is_a_value():
    assert constraints.get("single") == constraints.Single()
    assert constraints.get(constraints.Single()) == constraints.Single()


@pytest.mark.parametrize("name", ["sequential", "parallel", "exact"])
def test_later_schemes_say_so(name):
    with pytest.raises(NotImplementedError, match=f"constraints='{name}' is not available yet"):
        constraints.get(name)


def test_unknown_names_list_the_known_ones():
    with pytest.raises(ValueError, match=r"constraints must be one of 'single', .*got 'both'"):
        constraints.get("both")

"""Means and paired differences have the errors of the textbooks."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.papers import statistics


def test_the_error_of_a_mean():
    found = statistics.mean([1.0, 2.0, 6.0])
    assert found.value == pytest.approx(3.0)
    assert found.error == pytest.approx(np.sqrt(7.0 / 3))
    assert np.isnan(statistics.mean([1.0]).error)


def test_a_difference_is_paired():
    found = statistics.difference([1.0, 11.0, 21.0], [0.0, 10.0, 20.0])
    assert found == (1.0, 0.0)


def test_mcnemar_counts_rows_that_one_has_right():
    found = statistics.mcnemar([1, 1, 1, 0, 0], [1, 0, 0, 1, 0], ("a", "b"))
    assert (found.both, found.model_only, found.rival_only, found.neither) == (1, 2, 1, 1)
    assert found.names == ("a", "b")

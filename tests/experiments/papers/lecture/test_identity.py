"""An identity holds up to rounding, or it does not."""

from __future__ import annotations

import pytest

from experiments.papers.lecture.identity import ROUNDING, identity


@pytest.mark.parametrize(
    ("apart", "within", "verdict"),
    [
        (0.0, ROUNDING, "held"),
        (1e-8, ROUNDING, "did not hold"),
        (1e-8, 1e-7, "held"),
        (float("nan"), 1.0, "did not hold"),
    ],
)
def test_the_largest_difference_decides(apart, within, verdict):
    assert identity("They agree.", apart, "3 draws", within=within).verdict == verdict

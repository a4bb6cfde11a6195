"""Verdicts are decided beyond two standard errors alone."""

from __future__ import annotations

import pytest

from experiments.papers import Claim


@pytest.mark.parametrize(
    ("lead", "error", "verdict"),
    [
        (2.1, 1.0, "held"),
        (2.0, 1.0, "not decided"),
        (-2.0, 1.0, "not decided"),
        (-2.1, 1.0, "did not hold"),
        (1e-9, 0.0, "held"),
        (-1e-9, 0.0, "did not hold"),
        (0.0, 0.0, "not decided"),
        (1.0, float("nan"), "not decided"),
        (float("nan"), 1.0, "not decided"),
    ],
)
def test_a_claim_is_decided_beyond_two_standard_errors(lead, error, verdict):
    assert Claim(text="", theirs="", ours="", lead=lead, error=error).verdict == verdict

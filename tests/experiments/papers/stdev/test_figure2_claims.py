"""Claims of figure 2 turn with the rows."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.papers.stdev import figure2_claims
from experiments.papers.stdev.clouds import CLOUDS, LONG
from experiments.papers.stdev.learners import LEARNERS

#: Mistakes as the paper has them.
MISTAKES = {
    "perceptron": 180, "PA": 140, "perceptron, averaged": 180, "PA, averaged": 140, "SOP": 70,
    "Var diag, precision": 76, "Var diag, covariance": 76, "Stdev diag, precision": 70,
    "Stdev diag, covariance": 70, "Var full": 48, "Stdev full": 40, "VarianceExact diag": 78,
    "AROW full": 60,
}  # fmt: skip
ERRORS = {name: count / 20 for name, count in MISTAKES.items()}
ERRORS |= {"perceptron, averaged": 5.0, "PA, averaged": 4.0}


def rows(*, lost=0, spread=0.1):
    random = np.random.default_rng(0)
    out = []
    for cloud in CLOUDS[::2]:
        for name in LEARNERS:
            wide = 1.0 if "diag" in name else spread
            out.append(
                {
                    "cloud": str(cloud),
                    "learner": name,
                    "mistakes": (MISTAKES[name] + random.normal(0, 1, 40)).tolist(),
                    "test error": (ERRORS[name] + random.normal(0, 0.1 * wide, 40)).tolist(),
                    "tried": [
                        {"value": 1.19, "lost": lost * (name == "Stdev diag, precision"), "runs": 4}
                    ],
                }
            )
    return out


def verdicts(found):
    return [claim.verdict for claim in figure2_claims.claims(found)]


def test_all_but_the_two_diagonals_hold_as_the_paper_has_it():
    found = verdicts(rows(lost=4))
    assert found[8] == "did not hold"
    assert {*found[:8], *found[9:]} == {"held"}


def swapped(found, one, other):
    names = {one: other, other: one}
    return [{**row, "learner": names.get(row["learner"], row["learner"])} for row in found]


@pytest.mark.parametrize(
    ("one", "other", "turned"),
    [
        ("PA", "Var full", {0, 4, 5, 9, 10, 11}),
        ("Var full", "Stdev full", {1, 6, 12}),
        ("Var diag, precision", "Stdev diag, precision", {2}),
        ("Var diag, covariance", "Stdev diag, covariance", {3}),
        ("PA, averaged", "PA", {9}),
        ("PA, averaged", "SOP", {0, 4, 11}),
    ],
)
def test_claims_turn_with_the_learners(one, other, turned):
    before, after = verdicts(rows(lost=4)), verdicts(swapped(rows(lost=4), one, other))
    assert {place for place in range(len(before)) if before[place] != after[place]} >= turned


def test_sizes_are_those_of_the_nearest_cloud():
    claim = figure2_claims.claims(rows())[6]
    assert claim.lead == pytest.approx(100 * 48 / 40 - 100 - 17, abs=1)
    assert claim.ours.count("%") == 2


def test_full_learners_that_vary_more_speak_against_the_claim():
    assert verdicts(rows(spread=5.0))[-1] == "did not hold"


def test_runs_that_one_of_two_has_lost_are_left_out():
    found = rows()
    var, stdev = (
        next(r for r in found if r["learner"] == f"{name} full" and r["cloud"] == str(LONG))
        for name in ("Var", "Stdev")
    )
    var["mistakes"][0] = stdev["mistakes"][1] = None
    one, other = figure2_claims.Found.of(found).both(
        "mistakes", str(LONG), ("Var full", "Stdev full")
    )
    assert len(one) == len(other) == 38

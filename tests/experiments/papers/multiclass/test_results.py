"""Learners are compared on the folds and rows that they share."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.papers.multiclass.results import (
    Results,
    better,
    fewer,
    first_pass,
    packed,
    unpacked,
)
from fold_rows import folds


def test_which_rows_are_right_survives_packing():
    right = np.random.default_rng(0).random(37) < 0.5
    assert unpacked({"right": packed(right), "n": 37}).tolist() == right.tolist()


def test_only_shared_folds_are_compared():
    rows = folds("t", "one", 90.0) + folds("t", "two", 85.0, n_folds=1)
    rows[-1]["accuracy"] = 80.0
    found = Results(rows)
    assert found.lead("t", "one", "two") == pytest.approx(10.0)
    assert found.compared("t", "one", "two").n == 1000
    assert found.mean("t", "one").value == pytest.approx(90.1)


def test_the_first_pass_can_be_compared():
    rows = folds("t", "one", 90.0, passes=5) + folds("t", "two", 90.0, passes=1)
    assert Results(rows).leads("one", "two", first_pass).tolist() == pytest.approx([-2.0])
    assert Results(rows).passes("one") == [5]
    assert Results(rows).curve("t", "one").shape == (3, 10)


def test_mcnemar_counts_rows_that_one_has_right():
    rows = folds("t", "one", 90.0, n_folds=1) + folds("t", "two", 85.0, n_folds=1)
    test = Results(rows).compared("t", "one", "two")
    assert (test.model_only, test.rival_only) == (50, 0)


def test_claims_flip_with_their_leads():
    held = better("It is better.", [1.0, -1.0, 3.0], [1.0, 1.1, 0.9])
    assert (held.verdict, held.theirs) == ("held", "+1.00 points, 2 of 3 sets")
    assert better("It is better.", [1.0], [-1.0, -1.1, -0.9]).verdict == "did not hold"
    quick = fewer("It is quicker.", (2.22, 6.67), ([1, 2, 1], [5, 6, 6]))
    assert (quick.verdict, quick.ours) == ("held", "1.33 against 5.67")
    assert fewer("It is quicker.", (2, 6), ([5, 6, 6], [1, 2, 1])).verdict == "did not hold"

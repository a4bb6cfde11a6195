"""What the lecture derives holds, what it misprints does not."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.papers.lecture import gradients


def found():
    return [row for case in gradients.cases(True).values() for row in case()]


def test_three_equations_are_misprinted():
    rows = found()
    claims = gradients.claims(rows)
    wrong = [row["name"] for row, claim in zip(rows, claims, strict=True) if claim.lead < 0]
    assert wrong == ["eq. 3", "eq. 25, 26", "eq. 30"]
    assert all(claim.note for claim in claims if claim.lead < 0)
    (lines,) = gradients.tables(rows).values()
    assert len(lines) == len(gradients.TRIALS)


def test_a_difference_turns_a_claim():
    rows = [{"name": "softmax", "draws": 3, "apart": 1e-3}]
    assert gradients.claims(rows)[0].verdict == "did not hold"


def test_slope_is_that_of_a_square():
    at = np.array([[1.0, -2.0], [0.5, 3.0]])
    assert gradients.slope(lambda w: float(np.sum(w * w)), at) == pytest.approx(2 * at)


def test_the_crf_counts_features_of_labels_and_pairs():
    crf = gradients.Crf(np.random.default_rng(0))
    observed = crf.observed()
    assert float(np.sum(observed * crf.w)) == pytest.approx(crf.chain(crf.w).score(crf.y))
    assert observed[:, crf.X.shape[1] :].sum() == len(crf.y) - 1

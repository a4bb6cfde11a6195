"""What messages have found says how far it can be trusted."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from surelearn.graph import BestLabelling, GraphReport, Marginals

LABELS, TABLE = np.array([0, 1], np.int32), np.array([[0.0, -1.0], [-2.0, 0.0]])


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ((True, 0.0, 0.0, True), "exact"),
        ((True, 2e-7, 12.0, False), "converged: residual 2e-07 after 12 sweeps"),
        ((False, 0.25, 200.0, False), "NOT CONVERGED: residual 0.25 after 200 sweeps"),
    ],
)
def test_the_state_is_said(state, said):
    best = BestLabelling(*state, LABELS, 1.5, TABLE)
    assert repr(best) == f"BestLabelling(n_nodes=2, score=1.5, {said})"
    sums = Marginals(*state, np.exp(TABLE), [], 2.25)
    assert repr(sums) == f"Marginals(n_nodes=2, log_partition=2.25, {said})"
    assert (sums.converged, sums.residual, sums.n_sweeps, sums.is_exact) == state


def test_results_do_not_change():
    best = BestLabelling(True, 0.0, 0.0, True, LABELS, 1.5, TABLE)
    with pytest.raises(FrozenInstanceError, match="score"):
        best.score = 2.0


def test_results_are_compared_by_identity():
    one, other = (BestLabelling(True, 0.0, 0.0, True, LABELS, 1.5, TABLE) for _ in range(2))
    assert one != other
    assert one == one
    assert len({one, other}) == 2
    sums = Marginals(True, 0.0, 0.0, True, np.exp(TABLE), [], 2.25)
    assert sums in [one, sums]


def test_a_report_has_a_line_for_each_graph():
    report = GraphReport(np.array([True, False]), np.array([0.0, 0.5]))
    assert report.converged.tolist() == [True, False]
    assert report.residual.tolist() == [0.0, 0.5]

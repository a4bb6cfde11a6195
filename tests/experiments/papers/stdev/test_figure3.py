"""Ellipses have the axes of their covariance; claims turn with the rows."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.papers.stdev import figure3


@pytest.mark.parametrize("degrees", [0.0, 30.0, -45.0, 80.0])
def test_an_ellipse_has_the_axes_of_its_covariance(degrees):
    turn = np.radians(degrees)
    Q = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    found = figure3.Ellipse.of(Q @ np.diag([9.0, 4.0]) @ Q.T)
    assert (found.long, found.short) == pytest.approx((3.0, 2.0))
    assert np.sin(np.radians(found.degrees) - turn) == pytest.approx(0, abs=1e-9)


@pytest.fixture(scope="module")
def rows():
    return figure3._run(range(4))


def test_the_claims_hold_on_a_few_runs(rows):
    assert [claim.verdict for claim in figure3.claims(rows)] == ["held"] * 4


def test_claims_turn_with_the_rows(rows):
    turned = [
        {
            **row,
            "angle": 90 - row["angle"],
            **{what: row[f"{what} of noise"] for what in ("short", "round", "center")},
            **{f"{what} of noise": row[what] for what in ("short", "round", "center")},
        }
        for row in rows
    ]
    assert [claim.verdict for claim in figure3.claims(turned)] == ["did not hold"] * 4


def test_table_and_picture_are_made(rows, tmp_path):
    (lines,) = figure3.tables(rows).values()
    assert len(lines) == 5
    figure3.draw(rows, tmp_path)
    assert (tmp_path / "figure3.png").stat().st_size > 10_000


def test_cases_are_blocks_of_other_runs():
    assert [*figure3.cases(True)] == ["from 0"]
    assert len(figure3.cases(False)) == 6


def test_rows_are_measures_of_the_pairs(rows):
    mu, sigma = figure3._weights(0)
    first, *noise = (figure3.Ellipse.of(sigma[pair, pair]) for pair in figure3._pairs())
    row = rows[0]
    assert row["short"] == first.short
    assert row["round"] == first.short / first.long < 1
    assert row["round of noise"] == pytest.approx(np.mean([e.short / e.long for e in noise]))
    assert row["short of noise"] == pytest.approx(np.mean([e.short for e in noise]))
    assert row["center"] == pytest.approx(np.sqrt(mu[0] ** 2 + mu[1] ** 2))
    assert row["across"] == pytest.approx(abs(mu[0] + mu[1]) / np.sqrt(2))

"""Losses by margin, and bounds of the generalised hinge."""

from __future__ import annotations

import pytest

from experiments.papers.lecture import losses


def found():
    return [row for case in losses.cases(True).values() for row in case()]


def test_all_claims_hold():
    rows = found()
    assert [claim.verdict for claim in losses.claims(rows)] == ["held"] * 4
    by_margin, slack = losses.tables(rows).values()
    hinge = next(line for line in by_margin if line["loss"] == "hinge")
    assert list(hinge.values()) == ["hinge", "2.000", "1.500", "1.000", "0.500", "0.000", "0.000"]
    assert [line["outputs"] for line in slack] == ["classes", "sequences"]
    assert all(float(line["where all scores tie"]) < 1e-9 for line in slack)


def test_they_turn_with_the_rows():
    rows = found()
    perceptron = next(row for row in rows if row.get("loss") == "perceptron")
    for row in rows:
        if row.get("loss") == "hinge":
            row["values"] = [-value for value in perceptron["values"]]
        if "kind" in row:
            row["least"] = -0.1
    assert [claim.verdict for claim in losses.claims(rows)] == ["did not hold"] * 4


def test_the_picture_is_written(tmp_path):
    pytest.importorskip("matplotlib")
    losses.draw(found(), tmp_path)
    assert (tmp_path / "losses.png").stat().st_size > 10_000

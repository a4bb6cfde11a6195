"""Messages agree with lists on trees and chains, and do not on grids."""

from __future__ import annotations

from experiments.papers.lecture import messages


def found():
    return [row for case in messages.cases(True).values() for row in case()]


def test_all_claims_hold():
    rows = found()
    claims = messages.claims(rows)
    assert [claim.verdict for claim in claims] == ["held"] * 5
    assert claims[1].ours.endswith("in 20 chains")
    (lines,) = messages.tables(rows).values()
    assert [line["graph"] for line in lines] == ["chain", "tree", "grid", "grid", "grid"]


def test_they_turn_with_the_rows():
    rows = found()
    for row in rows:
        row.update({"mean": 0.0, "log Z": 0.1, "apart": 0.1, "recursion": 0.1, "z": 3.0})
    assert [claim.verdict for claim in messages.claims(rows)] == ["did not hold"] * 5


def test_messages_on_grids_are_off():
    grids = [row for row in found() if row["graph"] == "grid"]
    assert all(1e-5 < row["marginals"] < 0.5 for row in grids)
    assert all(row["best"] > -1e-9 for row in grids)  # no score exceeds the best of the list

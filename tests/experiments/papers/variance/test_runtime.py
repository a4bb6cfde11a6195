"""Run times: the table has medians and ratios, and the claim flips with them."""

from __future__ import annotations

import pytest
from scipy import sparse

from experiments.papers.variance import runtime
from experiments.papers.variance.large import Part


def _row(factor):
    pa = [1.0, 1.01, 0.99]
    times = {"PA": pa, "Variance": [factor * one for one in pa]}
    return {"set": "Reuters", "source": "texts", "rows": 10, "seconds": times}


@pytest.mark.parametrize(
    ("factor", "verdict"), [(1.02, "held"), (1.5, "did not hold"), (0.5, "did not hold")]
)
def test_within_a_tenth(factor, verdict):
    (claim,) = runtime.claims([_row(factor)])
    assert claim.verdict == verdict
    assert claim.ours == f"{factor:.2f} times"


def test_the_table_has_medians_and_the_ratio():
    ((line,),) = runtime.tables([_row(1.5)]).values()
    assert (line["PA"], line["Variance"]) == ("1.0000", "1.5000")
    assert line["Variance / PA"] == "1.50 ± 0.00"


def test_a_case_takes_turns(monkeypatch):
    data = Part(sparse.eye_array(4, format="csr"), [True, False] * 2)
    monkeypatch.setattr(runtime, "rows_of", lambda name: data)
    calls = []
    monkeypatch.setattr(runtime, "timed", lambda learner, work: calls.append(learner) or len(calls))
    (row,) = runtime.cases(True)["Reuters, rows in memory"]()
    assert row["rows"] == 4
    assert calls == (["PA"] * runtime.TRIES + ["Variance"] * runtime.TRIES) * 3
    assert row["seconds"]["PA"][0] == 1
    assert row["seconds"]["Variance"][0] == 1 + runtime.TRIES


def test_time_includes_what_it_takes_to_get_rows():
    data = Part(sparse.eye_array(4, format="csr"), [True, False] * 2)
    asked = []
    assert runtime.timed("Variance", lambda: asked.append(1) or data) > 0
    assert asked == [1]

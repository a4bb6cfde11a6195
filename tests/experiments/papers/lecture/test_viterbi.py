"""Viterbi's paths are the best of all; one that is not would be seen."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.papers.lecture import viterbi


def found():
    return [row for case in viterbi.cases(True).values() for row in case()]


def test_all_claims_hold():
    rows = found()
    assert [claim.verdict for claim in viterbi.claims(rows)] == ["held"] * 3
    (lines,) = viterbi.tables(rows).values()
    assert [line["paths of a chain"] for line in lines] == ["8", "1,024", "6,561"]
    assert lines[2]["steps of Viterbi, T K²"] == 72


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_difference_speaks_against_one_claim(place):
    rows = found()
    rows[1][("best", "worst", "features")[place]] = 0.1
    verdicts = [claim.verdict for claim in viterbi.claims(rows)]
    assert verdicts == ["did not hold" if k == place else "held" for k in range(3)]


def test_a_path_of_best_labels_alone_is_not_the_best(monkeypatch):
    class Greedy(viterbi.Chain):
        def best(self):
            return self.U.argmax(axis=1).astype(np.int32)

    monkeypatch.setattr(viterbi, "Chain", Greedy)
    assert viterbi.claims(found())[0].verdict == "did not hold"


def test_longer_runs_have_more_chains():
    assert [*viterbi.cases(True)] == ["3 x 2", "5 x 4", "8 x 3"]
    assert [*viterbi.cases(False)] == ["3 x 2", "5 x 4", "8 x 3", "12 x 2", "6 x 6"]

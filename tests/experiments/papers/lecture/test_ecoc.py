"""The lecture's code decodes its word, and designed codes mend what they say."""

from __future__ import annotations

from experiments.papers.lecture import ecoc


def test_both_claims_hold():
    rows = [row for case in ecoc.cases(True).values() for row in case()]
    assert [claim.verdict for claim in ecoc.claims(rows)] == ["held", "held"]
    table = ecoc.tables(rows)["Codes"]
    assert [line["least distance"] for line in table] == [1, 8, 16]


def test_a_word_that_is_not_mended_speaks_against_the_claim():
    rows = [row for case in ecoc.cases(True).values() for row in case()]
    rows[-1]["mended"] = 0.999
    rows[0]["label"] = 2
    assert [claim.verdict for claim in ecoc.claims(rows)] == ["did not hold", "did not hold"]

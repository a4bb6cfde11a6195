"""Ways to learn many classes are compared over sets."""

from __future__ import annotations

import pytest

from experiments.papers.lecture import reductions
from experiments.papers.lecture.reductions import ALL, BITS, SVM_ALL, WAYS


def made(**less):
    """Accuracies of all ways on three sets: 90, or so much less on each set."""
    return [
        {"set": name, "way": way, "classes": 5, "accuracy": [90.0 - lost, 90.0 - lost]}
        for place, name in enumerate("abc")
        for way in WAYS
        for lost in (less.get(way, (0, 0, 0))[place],)
    ]


def test_claims_follow_the_rows():
    good = made(**{BITS: (5, 6, 7), ALL: (0.1, -0.1, 0.3)})
    assert [claim.verdict for claim in reductions.claims(good)] == ["held"] * 3
    bad = made(**{SVM_ALL: (3, 4, 3), ALL: (0, 3, -1), BITS: (-5, -6, -5)})
    assert [claim.verdict for claim in reductions.claims(bad)] == [
        "did not hold",
        "not decided",
        "did not hold",
    ]


def test_the_table_has_a_line_for_each_set():
    (lines,) = reductions.tables(made()).values()
    assert [line["set"] for line in lines] == ["a", "b", "c"]
    assert lines[0][ALL] == "90.00 ± 0.00"
    assert list(lines[0])[2:] == list(WAYS)


@pytest.mark.parametrize("way", WAYS)
def test_each_way_learns_wine(way):
    (row,) = reductions.cases(True)[f"wine: {way}"]()
    assert row["classes"] == 3
    assert len(row["accuracy"]) == reductions.FOLDS
    assert min(row["accuracy"]) > 85

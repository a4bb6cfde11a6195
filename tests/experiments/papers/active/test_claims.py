"""Claims of the active learning paper follow the curves."""

from __future__ import annotations

from experiments.papers.active.claims import claims
from rising import FAST, curves, rows

HELD, OPEN, NOT = "held", "not decided", "did not hold"
SLOW = {"PA": FAST["PA"], "CW": {"random": 60, "margin": 100, "acl": 120}}


def test_all_hold_where_asking_with_confidence_is_fastest():
    found = claims(curves(), rows())
    assert [claim.verdict for claim in found] == [
        HELD, HELD, HELD,  # each needs fewer labels than random order
        HELD,  # and fewer than 100
        HELD, HELD,  # CW saves more than PA, ACL more than CW margin
        HELD,  # on more tasks
        OPEN,  # asking never needs more than random order
        HELD, HELD,  # on every corpus, after almost every round
        HELD,  # CW is more accurate than PA
        HELD,  # the criterion
    ]  # fmt: skip
    assert found[6].ours == "10 to 0"
    assert not any("|" in claim.text for claim in found)  # they stand in a Markdown table
    assert [claim.theirs for claim in found[:3]] == ["93 %", "73 %", "63 %"]


def test_they_turn_with_the_curves():
    found = claims(curves(SLOW), rows(wrong=3))
    assert [claim.verdict for claim in found] == [
        HELD, NOT, NOT, NOT, NOT, NOT, NOT, OPEN, NOT, NOT, HELD, NOT,
    ]  # fmt: skip
    assert found[7].ours == "10 to 10"


def test_one_corpus_that_is_behind_is_enough():
    behind = {"CW": {"random": 100, "margin": 40, "acl": 60}, "PA": FAST["PA"]}
    tasks = dict.fromkeys(("books", "dvd", "electronics", "kitchen"), behind)
    found = claims(curves(of_task=tasks), rows())
    assert found[8].verdict == NOT
    assert found[8].ours.startswith("2 of 3; Amazon: -")
    assert found[6].ours == "6 to 4"
    assert found[6].verdict == OPEN

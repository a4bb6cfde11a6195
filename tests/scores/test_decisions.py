"""Scores of decisions as numbers, JSON and text, from made-up curves, promises and sets."""

from __future__ import annotations

import json

import numpy as np
import pytest

from surelearn.decide import risk_coverage
from surelearn.scores import DecisionScores, Kept, SetScores
from surelearn.scores._result import Scores

CURVE = risk_coverage(np.arange(10.0), np.array([1.0, 1.0, *[0.0] * 6, 1.0, 0.0]))


def kept(label=None, **changes):
    own = {"label": label, "risk": 0.05, "delta": 0.1, "coverage": 0.8, "bound": 0.04, "n": 200,
           "n_answered": 150, "observed": 0.02, "interval": (0.004, 0.057)}  # fmt: skip
    return Kept(**{**own, **changes})


def sets(n_classes=3):
    names = [f"c{k:03}" for k in range(n_classes)]
    support = np.arange(1, n_classes + 1)
    columns = {"coverage": np.full(n_classes, 0.9), "size": np.full(n_classes, 1.5)}
    table = Scores({"label": np.array(names), **columns, "support": support})
    return SetScores(0.95, 0.9, (0.85, 0.94), 1.5, n_classes, table)


def test_area_and_coverage_at_a_risk_are_those_of_the_curve():
    found = DecisionScores(CURVE, 0.2)
    assert found.area == CURVE.area
    assert found.coverage_at_risk == CURVE.coverage_at(0.2) == 0.8
    assert found.to_dict() == {
        "risk_coverage_area": CURVE.area, "risk": 0.2, "coverage_at_risk": 0.8,
    }  # fmt: skip
    assert DecisionScores(CURVE).coverage_at_risk is None
    assert DecisionScores(CURVE).area_difference is None


def test_the_difference_of_areas_is_printed_with_its_error():
    found = DecisionScores(CURVE, rival_area=CURVE.area + 0.01, area_error=0.002)
    assert found.area_difference == pytest.approx(-0.01)
    assert "area less rival's  -0.0100 +- 0.0020 (rival: " in str(found)
    told = found.to_dict()
    assert (told["area_difference"], told["area_error"]) == (found.area_difference, 0.002)


def test_a_promise_is_printed_beside_what_was_observed():
    text = str(DecisionScores(CURVE, 0.05, kept=(kept(),)))
    assert text.splitlines()[1:] == [
        "coverage at 5 %    0.1000 (seen here, not promised)",
        "promised risk      0.05, with probability 0.9",
        "answered           0.7500",
        "risk if answered   0.0200 (95 % interval: 0.0040 to 0.0570)",
    ]
    nothing = kept(n_answered=0, observed=None, interval=(0.0, 1.0))
    assert "risk if answered   none was answered" in str(DecisionScores(CURVE, kept=(nothing,)))


def test_promises_by_label_are_a_table():
    own = (kept("ham", delta=0.05), kept("spam", delta=0.05, n_answered=0, observed=None))
    found = DecisionScores(CURVE, kept=own)
    assert found.kept_table.label.tolist() == ["ham", "spam"]
    assert found.kept_table.answered.tolist() == [0.75, 0.0]
    assert "hold with probability 0.9:\nlabel  promised  answered  observed" in str(found)
    assert "promised risk" not in str(found)
    told = found.to_dict()["promises"]
    assert told[0]["answered"] == 0.75
    assert told[1]["observed"] is None


def test_sets_by_class_of_the_most_frequent_classes():
    found = DecisionScores(CURVE, sets=sets(25))
    text = str(found)
    assert "set coverage       0.9000 (95 % interval: 0.8500 to 0.9400); asked: 0.95" in text
    assert "set size           1.50 of 25 labels" in text
    assert "c024" in text
    assert "c004" not in text
    assert text.endswith("... and 5 more that occur less often")
    assert len(found.to_dict()["sets"]["by_class"]) == 25
    assert max(map(len, text.splitlines())) <= 80


def test_sets_of_candidates_have_no_classes():
    text = str(DecisionScores(CURVE, sets=SetScores(0.9, 1.0, (0.9, 1.0), 1.2, 4, None)))
    assert "1.20 of 4 candidates at most" in text
    assert "by class" not in text


def test_all_of_it_is_json_and_escaped_html():
    own = (kept(np.int64(3), observed=None), kept(np.int64(5)))
    found = DecisionScores(CURVE, 0.1, 0.3, 0.01, own, sets(), "No sets: <few>.")
    told = found.to_dict()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert told["promises"][0]["label"] == 3
    tables = found.tables(html=True)
    assert len(tables) == 2
    assert all("<table" in table for table in tables)
    assert list(found.notes()) == ["No sets: <few>."]

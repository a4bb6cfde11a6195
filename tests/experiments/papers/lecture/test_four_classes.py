"""Red cannot be separated from the rest by a line; each pair of classes can."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.papers.lecture import four_classes


def made(red):
    """Rows of all learners with these accuracies of red points, in three runs."""
    return [
        {"lines": 3, "rest": 0, "pairs": 3},
        *(
            {"learner": name, "way": way, "all": [90.0, 91.0, 92.0], "red": red[way]}
            for name in four_classes.LEARNERS
            for way in ("one-vs-all", "all pairs", "joint")
        ),
    ]


GOOD = {"one-vs-all": [50, 60, 55], "all pairs": [99, 98, 100], "joint": [100, 100, 99]}


def verdicts(rows):
    return [claim.verdict for claim in four_classes.claims(rows)]


def test_claims_follow_the_rows():
    rows = made(GOOD)
    assert verdicts(rows) == ["held"] * 4
    ((title, lines),) = four_classes.tables(rows).items()
    assert title.endswith("mean of 3 runs")
    assert lines[0]["one-vs-all, red class"] == "55.00 ± 2.89"
    rows = made({**GOOD, "one-vs-all": [100, 100, 100], "joint": [90, 80, 85]})
    rows[0].update(rest=1, pairs=2)
    assert verdicts(rows) == ["did not hold", "did not hold", "not decided", "did not hold"]


def test_lines_and_learners_of_a_small_run():
    assert four_classes._lines(2) == [{"lines": 2, "rest": 0, "pairs": 2}]
    rows = four_classes._learnt("SVM", 2)
    assert [row["way"] for row in rows] == ["one-vs-all", "all pairs", "joint"]
    assert min(rows[1]["red"]) > 95 > max(rows[0]["red"])


def test_separable_points_are_told_from_others():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    assert four_classes.is_separable(X, np.array([True, False, False]))
    assert not four_classes.is_separable(X, np.array([False, True, False]))


def test_the_picture_is_written(tmp_path):
    pytest.importorskip("matplotlib")
    four_classes.draw([], tmp_path)
    assert (tmp_path / "four_classes.png").stat().st_size > 10_000

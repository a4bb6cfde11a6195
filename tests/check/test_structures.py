"""Groups of candidates, and what each of them is worth: all that can be wrong with both."""

from __future__ import annotations

import numpy as np
import pytest

from surelearn import SureRanker, _check, candidates
from surelearn.evaluation import ranking_scores

X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [0.0, 3.0]]
Y = [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("groups", "kind", "message"),
    [
        ({}, TypeError, r"group or qid must be given, got neither\. Pass group=, the number of"),
        ({"group": [4], "qid": [1] * 4}, TypeError, "group and qid must not be given together"),
        ({"group": [2, 1]}, ValueError, r"add up to the 4 rows of X, got sizes that add up to 3\."),
        ({"group": [5, -1]}, ValueError, "group must not have negative sizes, got -1 at 1"),
        ({"group": [3, 0]}, ValueError, r"add up to the 4 rows of X, got sizes that add up to 3\."),
        ({"group": [2.0, 2.0]}, TypeError, r"group must be a list of whole numbers, got \[2\.0"),
        ({"group": 4}, TypeError, "group must be a list of whole numbers, got 4"),
        ({"qid": [1, 1, 2]}, ValueError, r"one id for each of 4 rows of X, got shape \(3,\)"),
        ({"qid": [7, 7, 2, 7]}, ValueError, r"got 7 again at row 3\. Sort the rows by qid"),
        ({"qid": ["a", "b", "a", "b"]}, ValueError, "got 'a' again at row 2"),
        ({"qid": [1, 1, None, "a"]}, ValueError, r"no missing ids, got None at row 2\."),
        ({"qid": [1.0, 1.0, np.nan, np.nan]}, ValueError, r"no missing ids, got nan at row 2\."),
        ({"qid": np.array([1, "1", "1", 1], object)}, ValueError, "got 1 again at row 3"),
    ],
)
def test_groups_that_make_no_sense(groups, kind, message):
    with pytest.raises(kind, match=message):
        SureRanker().fit(X, Y, **groups)
    with pytest.raises(kind, match=message):
        ranking_scores([1.0, 2.0, 3.0, 4.0], Y, **groups)
    fitted = SureRanker().fit(X, Y, group=[2, 2])
    if groups:
        with pytest.raises(kind, match=message):
            fitted.predict(X, **groups)


@pytest.mark.parametrize(
    ("worth", "kind", "message"),
    [
        ({}, TypeError, "y or cost must be given, got neither"),
        ({"y": Y, "cost": Y}, TypeError, "y or cost must be given, got both"),
        ({"y": [1, 0, 1]}, ValueError, r"y must have one number for each of 4 rows .* \(3,\)"),
        ({"y": [1, 0, -1, 0]}, ValueError, r"finite and not negative, got -1\.0 at row 2"),
        ({"y": [1, 0, np.nan, 0]}, ValueError, "y must be finite and not negative, got nan at row"),
        ({"cost": [1, 0, np.inf, 0]}, ValueError, r"cost must be finite, got inf at row 2\."),
        ({"y": ["a", "b", "c", "d"]}, TypeError, "y must be an array of numbers, got"),
        ({"y": [1, 1, 0, 0]}, ValueError, "got 2 groups without a right and a wrong candidate"),
        ({"y": Y, "sample_weight": [1]}, ValueError, r"shape \(2,\) like the groups, got shape"),
        ({"y": Y, "sample_weight": [1, -1]}, ValueError, r"not negative, got -1\.0 at group 1"),
        ({"y": Y, "sample_weight": [0, 0]}, ValueError, "got zero weight in every group"),
    ],
)
def test_worth_that_makes_no_sense(worth, kind, message):
    with pytest.raises(kind, match=message):
        SureRanker().fit(X, group=[2, 2], **worth)


def test_a_group_whose_covariance_does_not_fit_in_memory(monkeypatch):
    fitted = SureRanker().fit(X, Y, group=[2, 2])
    monkeypatch.setattr("surelearn.weights.MEMORY_LIMIT", 200)
    assert fitted.predict_proba(X, group=[2, 2]).shape == (4,)
    with pytest.raises(
        MemoryError, match=r"got 4 candidates, which need .* all rows are one group"
    ):
        fitted.predict_proba(X)


def test_ids_and_sizes_are_the_same_groups():
    qid = SureRanker(random_state=0).fit(X, Y, qid=["b", "b", "a", "a"])
    group = SureRanker(random_state=0).fit(X, Y, group=[2, 2])
    assert qid.coef_.tobytes() == group.coef_.tobytes()


def test_tables_must_be_tables():
    with pytest.raises(ValueError, match=r"X must have two dimensions, got shape \(3,\)"):
        candidates.cross(np.zeros(3), np.eye(3), [[0]])
    with pytest.raises(ValueError, match=r"scores must have one dimension, got shape \(1, 2\)"):
        ranking_scores([[1.0, 2.0]], [0, 1], group=[2])


def test_the_worth_of_candidates_is_a_cost():
    assert _check.candidate_costs([0.0, 0.5, 2.0], None, 3).tolist() == [0.0, -0.5, -2.0]
    assert _check.candidate_costs(None, [-1.0, 0.0, 2.0], 3).tolist() == [-1.0, 0.0, 2.0]

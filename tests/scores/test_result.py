"""Measures of an evaluation against scikit-learn's and sums by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from judged import Oracle, answered, rows
from surelearn import SureClassifier, evaluate
from surelearn.learners.tasks import row_task
from surelearn.probability import reliability


@given(answered(), st.integers(1, 50))
def test_scores_are_those_of_scikit_learn(case, block):
    names, y, answers, p = case
    before, row_task._BLOCK = row_task._BLOCK, block
    try:
        found = evaluate(Oracle(names, p, answers), rows(len(y)), y)
    finally:
        row_task._BLOCK = before
    predicted = np.array(names)[answers]
    labels = [*names, *sorted(set(y.tolist()) - set(names))]
    assert found.labels.tolist() == labels
    assert found.n == len(y)
    assert found.accuracy == pytest.approx(metrics.accuracy_score(y, predicted), abs=1e-12)
    whole = metrics.confusion_matrix(y, predicted, labels=labels)
    np.testing.assert_array_equal(found.confusion, whole[:, : len(names)])
    theirs = metrics.precision_recall_fscore_support(y, predicted, labels=labels, zero_division=0)
    for own, other in zip((found.precision, found.recall, found.f1, found.support), theirs,
                          strict=True):  # fmt: skip
        np.testing.assert_allclose(own, other, atol=1e-12)
    for average in ("macro", "weighted"):
        score = metrics.f1_score(y, predicted, average=average, zero_division=0)
        assert getattr(found, f"{average}_f1") == pytest.approx(score, abs=1e-12)


@given(answered(unknown=False))
def test_losses_are_those_of_scikit_learn(case):
    names, y, answers, p = case
    found = evaluate(Oracle(names, p, answers), rows(len(y)), y)
    assert found.log_loss == pytest.approx(metrics.log_loss(y, p, labels=names), abs=1e-9)
    column = p if len(names) > 2 else p[:, 1]
    extra = {"pos_label": names[1]} if len(names) == 2 else {}
    brier = metrics.brier_score_loss(y, column, labels=names, **extra)
    assert found.brier == pytest.approx(brier, abs=1e-9)


@given(answered(unknown=False), st.integers(1, 50))
def test_calibration_is_that_of_the_same_bins(case, block):
    names, y, answers, p = case
    before, row_task._BLOCK = row_task._BLOCK, block
    try:
        found = evaluate(Oracle(names, p, answers), rows(len(y)), y)
    finally:
        row_task._BLOCK = before
    whole = reliability(y, p, names, y_pred=np.array(names)[answers])
    for part in ("count", "mean_probability", "error_share", "conditional_error"):
        np.testing.assert_allclose(getattr(found.reliability, part), getattr(whole, part))
    for part in ("right_probability", "wrong_probability", "entropy", "error"):
        np.testing.assert_allclose(getattr(found.reliability, part), getattr(whole, part))
    confidence = p[np.arange(len(p)), answers]
    right = np.array(names)[answers] == y
    bins = np.minimum((confidence * 10).astype(int), 9)
    by_hand = sum(
        abs(right[bins == b].sum() - confidence[bins == b].sum()) / len(y) for b in range(10)
    )
    assert found.calibration_error == pytest.approx(by_hand, abs=1e-9)


def test_sums_by_hand():
    p = np.array([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3], [1.0, 0.0]])
    found = evaluate(Oracle(["a", "b"], p), rows(4), ["a", "b", "b", "c"])
    assert found.accuracy == 0.5
    assert found.standard_error == 0.25
    assert found.unknown.tolist() == ["c"]
    np.testing.assert_array_equal(found.confusion, [[1, 0], [1, 1], [1, 0]])
    expected = -(np.log(0.9) + np.log(0.6) + np.log(0.3) + np.log(2.0**-52)) / 4
    assert found.log_loss == pytest.approx(expected)
    # Half of (0.1, 0.1), (0.4, 0.4), (0.7, 0.7) squared; the last row has nothing right in it.
    assert found.brier == pytest.approx((0.01 + 0.16 + 0.49 + (1 + 1) / 2) / 4)


def test_many_unknown_labels(monkeypatch):
    monkeypatch.setattr(row_task, "_BLOCK", 7)
    y = np.random.default_rng(0).permutation(300)
    found = evaluate(Oracle([5, 7], answers=np.zeros(300, dtype=int)), rows(300), y)
    assert found.labels.tolist() == [5, 7, *(k for k in range(300) if k not in (5, 7))]
    np.testing.assert_array_equal(found.confusion[:, 0], np.ones(300))
    assert found.accuracy == pytest.approx(1 / 300)


def test_everything_fits_in_json():
    p = np.array([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]])
    model = Oracle(["a", "b"], p)
    found = evaluate(model, rows(3), ["a", "b", "c"], rival=model).to_dict()
    again = json.loads(json.dumps(found, allow_nan=False))
    assert again == found
    assert found["scores"][0] == {
        "label": "a", "precision": 0.5, "recall": 1.0, "f1": pytest.approx(2 / 3), "support": 1,
    }  # fmt: skip
    assert found["confusion"]["labels"] == ["a", "b", "c"]
    assert found["comparison"]["p_value"] == 1.0


@pytest.mark.parametrize("model", [SureClassifier("pa1"), SureClassifier(random_state=0)])
@pytest.mark.parametrize("y", [["a", "b", "a"], [["a"], ["a", "b"], []]])
def test_a_dict_has_decisions_or_says_why_there_are_none(model, y):
    X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    found = evaluate(model.fit(X, y), X, y)
    told = found.to_dict()
    assert told["accuracy_interval"] == list(found.accuracy_interval)
    assert [row["label"] for row in told["scores"]] == found.scores.to_dict()["label"]
    if model.rule == "pa1":
        assert told["no_probabilities"] == found.no_probabilities
        assert "first order" in found.no_probabilities
        assert "risk_coverage_area" not in told
    else:
        assert told.items() >= found.decisions.to_dict().items()
        assert "no_probabilities" not in told

"""Counts over rows with any number of labels, against scikit-learn's metrics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from surelearn.learners.answers.judgement import Judgement
from surelearn.read import Labels
from surelearn.scores._tally import LabelLines, LabelTally


def labels_of(lists):
    values = np.unique([label for own in lists for label in own])
    codes = [np.searchsorted(values, label) for own in lists for label in own]
    starts = np.cumsum([0, *map(len, lists)])
    return Labels(np.array(codes, np.int32), values, starts)


@st.composite
def answers(draw, unknown=0, fewest=1):
    """Tables of true labels, some of them unknown, and of predictions; and probabilities."""
    n_labels = draw(st.integers(fewest, 5))
    n = draw(st.integers(1, 30))
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    truth = random.random((n, n_labels + unknown)) < draw(st.sampled_from([0.0, 0.2, 0.7]))
    table = random.random((n, n_labels)) < draw(st.sampled_from([0.0, 0.3, 1.0]))
    return truth, table, random.random((n, n_labels))


def tallied(truth, table, p=None, block=7):
    tally = LabelTally(np.arange(table.shape[1]), "" if p is not None else "it is an oracle")
    right = []
    for first in range(0, len(truth), block):
        some = slice(first, first + block)
        lists = [np.flatnonzero(row).tolist() for row in truth[some]]
        judged = Judgement([], None if p is None else p[some], None, table[some])
        right += tally.add(labels_of(lists), judged).tolist()
    return tally.result(None, 3), np.array(right)


@given(answers(unknown=2, fewest=2), st.integers(1, 40))
def test_scores_are_those_of_scikit_learn(case, block):
    truth, table, _ = case
    found, right = tallied(truth, table, block=block)
    n_labels = len(found.labels)
    seen = np.r_[: table.shape[1], [k for k in range(table.shape[1], truth.shape[1])
                                    if truth[:, k].any()]].astype(int)  # fmt: skip
    assert found.labels.tolist() == seen.tolist()
    y, predicted = truth[:, seen], np.pad(table, ((0, 0), (0, n_labels - table.shape[1])))
    theirs = metrics.precision_recall_fscore_support(y, predicted, zero_division=0, average=None)
    for own, other in zip((found.precision, found.recall, found.f1, found.support), theirs,
                          strict=True):  # fmt: skip
        np.testing.assert_allclose(own, other, atol=1e-12)
    micro = metrics.precision_recall_fscore_support(y, predicted, zero_division=0, average="micro")
    own = found.micro_precision, found.micro_recall, found.micro_f1
    assert own == pytest.approx(micro[:3], abs=1e-12)
    assert found.hamming_loss == pytest.approx(metrics.hamming_loss(y, predicted), abs=1e-12)
    there = np.flatnonzero(y.any(axis=0) | predicted.any(axis=0))
    macro = metrics.f1_score(y, predicted, average=None, zero_division=0)[there]
    assert found.macro_f1 == pytest.approx(macro.mean() if len(there) else 0.0, abs=1e-12)
    exact = (y == predicted).all(axis=1)
    np.testing.assert_array_equal(right, exact)
    assert found.accuracy == exact.mean()
    assert (found.n, found.n_bad) == (len(truth), 3)


@given(answers())
def test_the_log_loss_is_the_mean_over_rows_and_labels(case):
    truth, table, p = case
    found, _ = tallied(truth, table, p)
    one_by_one = [
        metrics.log_loss(truth[:, k], np.stack([1 - p[:, k], p[:, k]], 1), labels=[False, True])
        for k in range(p.shape[1])
    ]
    assert found.log_loss == pytest.approx(np.mean(one_by_one), abs=1e-9)
    assert found.no_probabilities == ""
    without, _ = tallied(truth, table)
    assert (without.log_loss, without.no_probabilities) == (None, "it is an oracle")


def test_no_rows_are_refused():
    with pytest.raises(ValueError, match="at least one row"):
        LabelTally(np.array(["a"]), "").result(None, 0)


def test_labels_of_another_kind_are_refused():
    tally = LabelTally(np.array(["a", "b"]), "none")
    with pytest.raises(TypeError, match="y must hold labels of the same type as before"):
        tally.add(labels_of([[1]]), Judgement([], None, None, np.zeros((1, 2), bool)))


def test_new_labels_come_after_those_of_the_model_in_order():
    lines = LabelLines(np.array(["b", "d"]))
    assert lines.of(np.array(["z", "d", "a", "z"])).tolist() == [2, 1, 3, 2]
    labels, order = lines.in_order()
    assert labels.tolist() == ["b", "d", "a", "z"]
    assert order.tolist() == [0, 1, 3, 2]
    assert len(lines) == 4

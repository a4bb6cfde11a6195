"""Thresholds with the largest F1, against every threshold there is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import f1_score

from surelearn.learners.label_scoring import best_thresholds


def most(scores, has):
    """The largest F1 of any threshold: below, between and above the scores, and 0."""
    found = np.unique(scores)
    cuts = [0.0, *(found - 1e-9).tolist(), float(found[-1] + 1)]
    return max(f1(scores, has, cut, "micro") for cut in cuts)


def f1(scores, has, thresholds, average):
    said = scores > thresholds
    axis = None if average == "micro" else 0
    both = said.sum(axis=axis) + has.sum(axis=axis)
    return np.mean(2 * (said & has).sum(axis=axis) / np.maximum(1, both))


def test_f1_is_that_of_scikit_learn():
    random = np.random.default_rng(0)
    scores, has = random.normal(size=(50, 3)), random.random((50, 3)) < 0.3
    for average in ("micro", "macro"):
        expected = f1_score(has, scores > 0.2, average=average)
        assert f1(scores, has, 0.2, average) == pytest.approx(expected)


@st.composite
def tables(draw):
    shape = draw(st.tuples(st.integers(1, 9), st.integers(1, 3)))
    scores = draw(arrays(float, shape, elements=st.integers(-3, 3).map(lambda x: x / 2)))
    return scores, draw(arrays(bool, shape))


@given(tables())
def test_no_common_threshold_does_better(table):
    scores, has = table
    chosen = best_thresholds(scores, has, average="micro")
    assert len(set(chosen.tolist())) == 1
    assert f1(scores, has, chosen, "micro") == pytest.approx(most(scores, has))


@given(tables())
def test_no_threshold_of_a_label_does_better(table):
    scores, has = table
    chosen = best_thresholds(scores, has, average="macro")
    common = best_thresholds(scores, has, average="micro")
    for k in range(scores.shape[1]):
        if has[:, k].sum() < 3:
            assert chosen[k] == common[k]
        else:
            best = most(scores[:, [k]], has[:, [k]])
            assert f1(scores[:, [k]], has[:, [k]], chosen[k], "micro") == pytest.approx(best)


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_of_equal_thresholds_the_one_nearest_to_zero(average):
    scores = np.array([[-1.0, -3.0], [2.0, -2.0], [-0.5, -1.0]])
    has = np.array([[False, False], [True, False], [False, False]])
    assert best_thresholds(scores, has, average=average).tolist() == [0.0, 0.0]


def test_micro_and_macro_differ():
    """What suits the frequent label does not suit the rare one."""
    random = np.random.default_rng(0)
    has = random.random((500, 2)) < [0.5, 0.02]
    scores = has * [2.0, 2.0] + random.normal(size=(500, 2)) - [0.0, 2.0]
    micro, macro = (best_thresholds(scores, has, average=name) for name in ("micro", "macro"))
    assert f1(scores, has, micro, "micro") > f1(scores, has, macro, "micro")
    assert f1(scores, has, macro, "macro") > f1(scores, has, micro, "macro")


def test_equal_scores_are_not_cut_apart():
    scores = np.array([[0.5, 0.0]] * 6)
    has = np.array([[True, False], [False, True]] * 3)
    chosen = best_thresholds(scores, has, average="macro")
    assert chosen[0] == 0.0
    assert chosen[1] < 0.0


def test_no_labels_and_no_rows():
    assert best_thresholds(np.zeros((3, 0)), np.zeros((3, 0), bool), average="micro").shape == (0,)
    none = best_thresholds(np.zeros((0, 2)), np.zeros((0, 2), bool), average="macro")
    assert none.tolist() == [0.0, 0.0]

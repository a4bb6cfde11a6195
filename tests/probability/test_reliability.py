"""Bins of predicted probabilities against numbers made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from surelearn.probability import entropy, reliability


def test_reliability_of_numbers_made_by_hand():
    p = np.array([[0.9, 0.1], [0.7, 0.3], [0.25, 0.75], [1.0, 0.0], [0.4, 0.6]])
    r = reliability(["a", "b", "b", "a", "a"], p, ["a", "b"])
    assert r.count.tolist() == [0, 0, 0, 0, 0, 0, 1, 2, 0, 2]
    assert r.error_share.tolist() == [0, 0, 0, 0, 0, 0, 0.2, 0.2, 0, 0]
    assert r.conditional_error[[6, 7, 9]].tolist() == [1.0, 0.5, 0.0]
    assert np.isnan(r.conditional_error[[0, 8]]).all()
    assert r.mean_probability[[7, 9]].tolist() == pytest.approx([0.725, 0.95])
    assert r.right_probability == pytest.approx((0.9 + 0.75 + 1.0) / 3)
    assert r.wrong_probability == pytest.approx((0.7 + 0.6) / 2)
    assert r.entropy == pytest.approx(entropy(p).mean())
    table = str(r).splitlines()
    assert len(table) == 12
    assert table[8].split() == ["[0.700,", "0.800)", "2", "0.7250", "0.2000", "0.5000"]
    other = reliability(["a"] * 5, p, ["a", "b"], y_pred=["b"] * 5)
    assert other.count[:2].tolist() == [1, 1]
    assert other.error_share.sum() == pytest.approx(1)
    assert np.isnan(other.right_probability)


def test_one_row_and_none():
    one = reliability(["b"], np.array([[0.75, 0.25]]), ["a", "b"])
    assert one.error_share.tolist() == one.count.tolist() == [0, 0, 0, 0, 0, 0, 0, 1, 0, 0]
    assert one.wrong_probability == 0.75
    none = reliability([], np.zeros((0, 2)), ["a", "b"])
    assert none.error_share.tolist() == [0.0] * 10
    assert np.isnan([none.entropy, none.right_probability, none.wrong_probability]).all()

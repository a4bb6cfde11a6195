"""Parameters of a ranker, checked: which of them rankers must share, and how weights are made."""

from __future__ import annotations

import pytest

from surelearn import SureRanker
from surelearn.learners.tasks.ranking import RankSettings


def settings_of(**params):
    return RankSettings.of(SureRanker(**params).get_params(deep=False))


def test_one_column_without_intercept():
    model = settings_of(rule="arow", initial_variance=2.0).untrained(5, is_sparse=True)
    assert model.weights.n_columns == 1
    assert model.weights.prior == 2.0
    assert not model.layout.intercept
    assert model.layout.second_order
    assert not settings_of(rule="pa").untrained(5, is_sparse=True).layout.second_order


@pytest.mark.parametrize("is_sparse", [True, False])
def test_sparse_rows_drop_the_precision(is_sparse):
    assert settings_of().untrained(5, is_sparse=is_sparse).projection == (
        "precision" if is_sparse else "covariance"
    )
    given = settings_of(projection="covariance").untrained(5, is_sparse=is_sparse)
    assert given.projection == "covariance"


def test_what_rankers_must_share():
    taught = settings_of(right="any").merge_key()
    assert taught["right"] == "any"
    assert taught["average"] is False
    assert "passes" not in taught
    assert settings_of(right="any").all_right is False

"""Shards of rows: weights of their own features give what weights of all would."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from surelearn import SureClassifier
from surelearn.learners.base import settings_of
from surelearn.learners.tasks.row_block import RowBlock
from surelearn.learners.tasks.row_shards import OwnRows, with_weights
from surelearn.merging import Entries
from surelearn.read import Labels
from surelearn.rows import rows_of


def few(width=100):
    """Sparse rows: some have zeros or the same column twice."""
    X = sparse.csr_matrix(
        (
            np.array([1.0, 2.0, 0.0, 3.0, 1.0, 1.0, 5.0]),
            np.array([3, 90, 50, 7, 7, 2, 90]),
            np.array([0, 2, 4, 5, 7]),
        ),
        shape=(4, width),
    )
    return X, np.array(["a", "b", "a", "b"])


def block_of(X, y, span):
    return RowBlock(rows_of(X), Labels.of(y), np.arange(1.0, 5.0), X, span=span)


def started(fit_intercept=True, classes=2, width=100):
    settings = settings_of(SureClassifier(fit_intercept=fit_intercept, scale=False))
    return settings.start(width, np.array(list("abcdef"[:classes])), is_sparse=True)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_rows_have_the_numbers_of_their_own_features(fit_intercept):
    own = OwnRows.of(block_of(*few(), (1, 4)), started(fit_intercept))
    assert own.features.tolist() == [2, 7, 90] + [100] * fit_intercept
    assert own.block.size == 3
    assert own.block.weight.tolist() == [2.0, 3.0, 4.0]
    assert own.block.numbers.tolist() == [1, 2, 3]  # errors name the rows that the user has
    assert own.entries == Entries(3, 4)
    model = own.model(started(fit_intercept), None)
    assert model.layout.n_features == 3
    records, rows = own.last(2)
    assert records[0].shape == (2, 100)
    assert len(rows) == 2
    assert model.weights.scores(rows).shape == (2, 1)


def test_dense_rows_and_those_with_most_features_have_all():
    X, y = few()
    dense = OwnRows.of(block_of(X.toarray(), y, (1, 4)), started())
    assert (dense.features, dense.entries) == (None, None)
    assert dense.block is dense.given
    X, y = few()
    X = X[:, [2, 3, 7, 90]].tocsr()
    assert OwnRows.of(block_of(X, y, (0, 4)), started(width=4)).features is None
    none = OwnRows.of(block_of(X, y, (2, 2)), started(width=4))
    assert (none.features, none.entries) == (None, None)


@pytest.mark.parametrize("combine", ["evidence", "bayes"])
@pytest.mark.parametrize(
    "more", [{}, {"average": True}, {"rule": "pa1"}, {"rule": "stdev"}], ids=str
)
def test_sparse_shards_learn_what_dense_ones_do(more, combine):
    """Dense rows have weights of all features; merged once tau is the same."""
    if more.get("rule") == "pa1" and combine == "bayes":
        more = {}
    random = np.random.default_rng(0)
    X = sparse.random_array((80, 400), density=0.02, rng=random, format="csr")
    y = random.integers(3, size=80)
    params = {"n_shards": 4, "merge_every": None, "projection": "precision", "random_state": 0}
    params |= {"combine": combine, **more}
    one, other = (SureClassifier(**params, scale=False).fit(rows, y) for rows in (X, X.toarray()))
    assert one.coef_.tobytes() == other.coef_.tobytes()
    if more.get("rule") != "pa1":
        assert one.sigma_.tobytes() == other.sigma_.tobytes()
    assert one.mistakes_.tolist() == other.mistakes_.tolist()


@pytest.mark.parametrize("classes", [2, 3])
def test_a_model_without_weights_gets_those_of_its_classes(classes):
    from dataclasses import replace

    start = started(classes=classes)
    found = with_weights(replace(start, weights=None))
    assert found.weights.n_columns == start.weights.n_columns
    assert found.weights.prior == start.weights.prior
    assert with_weights(start) is start

"""The reader of tables: rows weighed in the order of learning, counts taken back."""

from __future__ import annotations

import numpy as np
import pytest

from surelearn.columns.cells import Table
from surelearn.columns.encoder import Encoder
from surelearn.columns.known import known_columns
from surelearn.learners.table_reader import TableReader

TABLE = {
    "title": ["a great film", "how very dull", "great fun again"],
    "brand": ["Acme", "Bell", "Acme"],
}


def reader():
    return TableReader(Encoder(known_columns(Table.of(TABLE), {})))


def test_blocks_are_read_and_counted():
    own = reader()
    features = own.read(TABLE, None)
    assert (features.n_features, features.is_sparse) == (own.n_features, True)
    own.register(features)
    own.weighed(features.rows(), counting=True)
    assert own.documents().n == 3
    own.forget(features.rows(), 1)
    assert own.documents().n == 1
    other = own.fork()
    assert (other.documents().n, len(other.words().features)) == (1, 0)
    other.know(own.words(), own.documents())
    assert other.words().text == own.words().text
    assert TableReader(own.known, is_shard=True).documents() is None


def test_a_row_that_is_refused_is_not_counted():
    own = reader()
    row = own.read(TABLE, None).rows().take(np.array([0]))
    with own.counted(row) as weighed:
        assert len(weighed) == 1
    with pytest.raises(KeyError), own.counted(row):
        raise KeyError
    assert own.documents().n == 1


def test_a_new_reader_knows_no_columns():
    assert TableReader(None).n_features is None

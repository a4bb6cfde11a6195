"""Names and counts of features survive as plain arrays."""

from __future__ import annotations

import pickle

import numpy as np

from surelearn.columns.cells import Table
from surelearn.columns.encoder import Encoder
from surelearn.columns.known import known_columns

TABLE = {
    "title": ["a great film", "how dull", "great fun", "one dull plot"],
    "body": ["great words", "no such word", "more words here", "the same words"],
    "brand": ["Acme", "Bell", None, "Acme"],
}


def learnt():
    one = Encoder(known_columns(Table.of(TABLE), {}))
    (starts, features, values), found = one.encode(Table.of(TABLE), learning=True)
    one.memory.register(found)
    one.memory.documents.count(starts, features, values)
    return one, np.unique(features).astype(np.int64)


def test_names_are_restored():
    one, features = learnt()
    other = one.like()
    assert set(other.memory[features]) == {f"#{feature}" for feature in features}
    other.memory.restore_words(one.memory.words())
    assert other.memory[features].tolist() == one.memory[features].tolist()
    assert {"title: great", "body: great", "brand=Bell", "brand missing"} <= {
        *one.memory[features].tolist()
    }
    again, words = other.memory.words(), one.memory.words()
    assert all(np.array_equal(a, b) for a, b in zip(again, words, strict=True))


def test_counts_are_restored():
    one, _ = learnt()
    other = one.like()
    other.memory.restore_documents(one.memory.documents_met())
    a, b = one.memory.documents_met(), other.memory.documents_met()
    assert a.n == b.n == 4
    assert np.array_equal(a.features, b.features)
    assert np.array_equal(a.counts, b.counts)


def test_encoders_are_pickled():
    one, features = learnt()
    other = pickle.loads(pickle.dumps(one))
    assert other.memory[features].tolist() == one.memory[features].tolist()
    assert other.memory.documents.n == 4

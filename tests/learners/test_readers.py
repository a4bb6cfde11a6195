"""Rows of what a stream holds: numbers of one width, texts whose words are met in order."""

from __future__ import annotations

import numpy as np
import pyarrow
import pytest
from scipy import sparse

from surelearn.learners.readers import NumberReader, TextReader
from surelearn.text import HashingVectorizer


def texts(**settings):
    settings = {"keep_names": True, **settings}
    return TextReader(HashingVectorizer(n_features=2**8, **settings).fit([]))


def test_the_first_block_decides_width_and_names():
    reader = NumberReader()
    found = reader.read(np.eye(2), ["a", "b"])
    assert (reader.n_features, reader.names) == (2, ["a", "b"])
    assert (found.n_features, found.is_sparse) == (2, False)
    reader.read(np.ones((1, 2)), ["c", "d"])
    assert reader.names == ["a", "b"]
    with pytest.raises(ValueError, match="X must have 2 features as in fit, got 3"):
        reader.read(np.eye(3), None)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.coo_array])
def test_rows_are_the_same_dense_and_sparse(make):
    X = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]])
    found = NumberReader(3).read(make(X), None)
    assert found.is_sparse == (make is not np.asarray)
    got = sparse.csr_array(found.arrays[::-1], (2, 3)).toarray() if found.is_sparse else None
    np.testing.assert_array_equal(found.arrays[0] if got is None else got, X)


def test_numbers_and_texts_are_not_mixed_up():
    with pytest.raises(ValueError, match="records must be rows of numbers, got texts"):
        NumberReader().read(["a text"], None)
    with pytest.raises(ValueError, match="records must have a text, got rows of numbers"):
        texts().read(np.eye(2), None)


def test_words_are_known_once_their_block_is_met():
    reader = texts()
    first, second = (reader.read(pyarrow.array([text]), None) for text in ("good film", "dull"))
    assert len(reader.words().features) == 0
    reader.register(second)
    reader.register(first)
    again = texts()
    again.know(reader.words())
    assert sorted(again.words().features) == sorted(reader.words().features)
    assert len(again.words().features) == 3
    row = sparse.csr_array(first.arrays[::-1], (1, 2**8))
    assert row.sum() == HashingVectorizer(n_features=2**8).transform(["good film"]).sum()


def test_a_fork_has_the_settings_and_has_met_nothing():
    reader = texts(ngram_range=(1, 2))
    reader.register(reader.read(["good film"], None))
    fork = reader.fork()
    fork.vectorizer.fit([])
    assert fork.vectorizer.get_params() == reader.vectorizer.get_params()
    assert len(fork.words().features) == 0
    numbers = NumberReader(4, ["a", "b", "c", "d"])
    assert (numbers.fork().n_features, numbers.fork().names) == (4, numbers.names)


def test_without_names_there_are_no_words():
    assert texts(keep_names=False).words() is None
    assert NumberReader(3).words() is None

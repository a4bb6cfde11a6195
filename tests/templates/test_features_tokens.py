"""Tokens: dicts have python-crfsuite's names, and what is no token is refused with its place."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pycrfsuite
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.utils import murmurhash3_32

from reference import templates as reference
from surelearn.templates import TokenFeatures
from tokens import WORDS, assert_same, assert_sound, names_in

# ------------------------------------------------------------------ tokens with features

VALUES = st.one_of(
    WORDS,
    st.booleans(),
    st.integers(-1000, 1000),
    st.floats(-1e30, 1e30),
    st.floats(-1e30, 1e30).map(np.float64),
    st.lists(WORDS, max_size=3, unique=True),
    st.sets(WORDS, max_size=3),
)
NESTED = st.dictionaries(WORDS, st.one_of(VALUES, st.dictionaries(WORDS, VALUES)))
DICTS = st.dictionaries(WORDS, st.one_of(VALUES, NESTED), max_size=5)


def without_nul(x):
    """Keys and strings as far as `ItemSequence.items` shows them: it stops at a NUL."""
    if isinstance(x, dict):
        return {without_nul(k): without_nul(v) for k, v in x.items()}
    if isinstance(x, list | set):
        return type(x)(map(without_nul, x))
    return x.replace("\0", "0") if isinstance(x, str) else x


def flat(token):
    """(name, value) of a dict of features, repeated names and all."""
    for key, value in token.items():
        if isinstance(value, dict):
            yield from ((f"{key}:{name}", x) for name, x in flat(value))
        elif isinstance(value, list | set):
            yield from ((f"{key}:{name}", 1.0) for name in value)
        else:
            yield (f"{key}:{value}", 1.0) if isinstance(value, str) else (key, float(value))


@given(st.lists(st.lists(DICTS.map(without_nul), max_size=4), max_size=3))
@example([[{"a": {"b": 2}, "a:b": 1, "bias": 1.0, "is": True, "not": False}]])
def test_dicts_have_the_names_and_values_of_python_crfsuite(X):
    features = TokenFeatures()
    got = features.learn(X)
    assert_sound(got.X)
    tokens = [token for sequence in X for token in sequence]
    theirs = [item for sequence in X for item in pycrfsuite.ItemSequence(sequence).items()]
    for token, wanted, row in zip(tokens, theirs, names_in(got.X, features.names), strict=True):
        assert set(row) == set(wanted)
        named = Counter(name for name, _ in flat(token))
        for name, value in wanted.items():
            if named[name] == 1:
                assert row[name] == np.float32(value)
        sums = {}
        for name, value in flat(token):
            sums[name] = sums.get(name, 0.0) + value
        assert row == {name: float(np.float32(x)) for name, x in sums.items()}
    assert_same(features.transform(X), got)


@given(st.lists(st.lists(st.lists(WORDS, max_size=6), max_size=4), max_size=3))
def test_lists_of_strings_are_counted(X):
    features = TokenFeatures()
    got = features.learn(X)
    assert_sound(got.X)
    tokens = [token for sequence in X for token in sequence]
    assert names_in(got.X, features.names) == [dict(Counter(token)) for token in tokens]
    assert features.names == list(reference.numbers(tokens))


def test_values_other_than_floats_and_bytes_as_names():
    token = {
        b"caf\xc3\xa9": "x",
        "b": b"y",
        "c": Fraction(1, 4),
        "d": np.True_,
        "e": {b"f": [b"g"]},
    }
    features = TokenFeatures()
    got = features.learn([[token]])
    assert names_in(got.X, features.names) == pycrfsuite.ItemSequence([token]).items()


def test_a_set_is_numbered_the_same_in_every_run():
    features = TokenFeatures()
    features.learn([[{"a": {"z", "y", "b", "c", "é"}}]])
    assert features.names == ["a:b", "a:c", "a:y", "a:z", "a:é"]


def test_a_dict_that_changes_while_it_is_read():
    class Sly(float):
        def __float__(self):
            token.clear()
            sequence.clear()
            return 2.0

    token = {"a": np.array(1.0), "b": 1.0}
    token["a"] = type("Sly", (), {"__float__": Sly.__float__})()
    sequence = [token, {"c": 1.0}]
    features = TokenFeatures()
    features.learn([sequence])
    assert features.names == ["a", "b", "c"]


def test_hashed_dicts_have_signs():
    X = [[{"a": 2.0, "b": "c"}], [{"d": -1}]]
    features = TokenFeatures(n_features=64)
    wanted = np.zeros((2, 64), np.float32)
    for i, name, value in ((0, "a", 2.0), (0, "b:c", 1.0), (1, "d", -1.0)):
        h = int(murmurhash3_32(name, seed=0))
        wanted[i, abs(h) % 64] += value if h >= 0 else -value
    np.testing.assert_array_equal(features.learn(X).X.toarray(), wanted)
    assert features.state()["names"].size == 0


@pytest.mark.parametrize("X", [[], [[]], [[], []]])
def test_no_tokens_are_no_rows(X):
    for features in (TokenFeatures(), TokenFeatures(n_features=8)):
        for method in (features.learn, features.transform):
            got = method(X)
            assert got.X.shape == (0, features.n_features)
            assert got.bounds.tolist() == [0] * (len(X) + 1)
    features.learn([["a"]])
    assert features.transform(X).X.shape == (0, 8)


def test_arrays_of_objects_are_sequences_too():
    X = np.empty(2, object)
    X[:] = [["a", "b"], ["c"]]
    lists = TokenFeatures().learn(list(X))
    assert_same(TokenFeatures().learn(X), lists)
    assert_same(TokenFeatures().learn([np.array(["a", "b"]), np.array(["c"])]), lists)

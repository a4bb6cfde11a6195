"""Templates: the slow reference, the language, and that learning in pieces is learning at once."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.utils import murmurhash3_32

from reference import templates as reference
from surelearn.templates import TokenFeatures
from tokens import assert_same, assert_sound, names_in, problems, texts_of

# ------------------------------------------------------------------ the reference


@given(problems())
def test_rows_are_those_of_the_reference(problem):
    columns, templates, X = problem
    features = TokenFeatures(templates=texts_of(templates, columns), columns=columns)
    got = features.learn(X)
    wanted = reference.rows(X, templates, columns)
    assert_sound(got.X)
    assert got.X.shape == (len(wanted), features.n_features)
    assert names_in(got.X, features.names) == [dict.fromkeys(row, 1.0) for row in wanted]
    assert features.names == list(reference.numbers(wanted))
    assert got.bounds.tolist() == np.cumsum([0, *map(len, X)]).tolist()
    assert got.pairs is None


@given(problems())
def test_pairs_are_those_of_the_reference(problem):
    columns, templates, X = problem
    texts = [f"B:{text}" for text in texts_of(templates, columns)]
    features = TokenFeatures(templates=["B:", *texts], columns=columns)
    got = features.learn(X)
    assert features.n_features == 0
    if not templates or not any(X):
        assert got.pairs is None
        return
    wanted = [[f"B:{n}" for n in row] for row in reference.rows(X, templates, columns, first=1)]
    assert_sound(got.pairs)
    assert names_in(got.pairs, features.pair_names) == [dict.fromkeys(row, 1) for row in wanted]
    assert features.pair_names == list(reference.numbers(wanted))


@given(problems(), st.integers(1, 2**31 - 1))
@example((("w",), [((0, 0, ()),), ((0, 1, ()),)], [[("a",), ("b",)] * 20]), 3)
def test_hashed_rows_are_hashes_of_the_names(problem, n_features):
    columns, templates, X = problem
    features = TokenFeatures(
        templates=texts_of(templates, columns), columns=columns, n_features=n_features
    )
    got = features.learn(X)
    assert_sound(got.X)
    assert got.X.shape[1] == features.n_features == n_features
    wanted = []
    for names in reference.rows(X, templates, columns):
        row = Counter()
        for name in names:
            h = murmurhash3_32(name, seed=0)
            row[abs(int(h)) % n_features] += 1 if h >= 0 else -1
        wanted.append(dict(row))
    assert names_in(got.X, range(n_features)) == wanted
    assert_same(features.transform(X), got)
    with pytest.raises(
        AttributeError, match=f"n_features must be None for names, got {n_features}"
    ):
        _ = features.names


@given(problems(), st.data())
def test_transform_leaves_out_what_was_not_learnt(problem, data):
    columns, templates, X = problem
    cut = data.draw(st.integers(0, len(X)))
    texts = texts_of(templates, columns)
    features = TokenFeatures(templates=[*texts, *(f"B:{t}" for t in texts)], columns=columns)
    features.learn(X[:cut])
    known = set(features.names)
    got = features.transform(X)
    assert features.names == list(reference.numbers(reference.rows(X[:cut], templates, columns)))
    wanted = [
        {name: 1.0 for name in row if name in known}
        for row in reference.rows(X, templates, columns)
    ]
    assert names_in(got.X, features.names) == wanted


@given(problems(), st.data())
def test_learning_in_pieces_gives_the_same_numbers(problem, data):
    columns, templates, X = problem
    cut = data.draw(st.integers(0, len(X)))
    texts = texts_of(templates, columns)
    settings = {"templates": [*texts, *(f"B:{t}" for t in texts)], "columns": columns}
    whole, parts = TokenFeatures(**settings), TokenFeatures(**settings)
    whole.learn(X)
    parts.learn(X[:cut])
    parts.learn(X[cut:])
    assert parts.names == whole.names
    assert parts.pair_names == whole.pair_names
    assert_same(parts.transform(X), whole.transform(X))


def test_many_tokens_are_numbered_as_few():
    """More than a block, and dictionaries that grow on the way."""
    random = np.random.default_rng(0)
    words = [f"w{i}" for i in range(3000)]
    X = [
        [(words[i],) for i in random.integers(3000, size=n)] for n in random.integers(400, size=60)
    ]
    templates = [((0, 0, ()),), ((0, -1, ()), (0, 0, ())), ((0, -1, ()), (0, 1, ()), (0, 5, ()))]
    features = TokenFeatures(templates=texts_of(templates, ("w",)))
    got = features.learn(X)
    wanted = reference.rows(X, templates, ("w",))
    table = reference.numbers(wanted)
    assert features.names == list(table)
    assert [sorted(table[name] for name in row) for row in wanted] == [
        list(row) for row in np.split(got.X.indices, got.X.indptr[1:-1])
    ]


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"templates": "w[0]"}, TypeError, "templates must be a list of templates such as"),
        ({"templates": [3], "columns": ["w"]}, TypeError, "templates[0] must be a str, got 3"),
        ({"columns": "w"}, TypeError, "columns must be a list of names, got 'w'"),
        ({"columns": ["w", "w"]}, ValueError, "columns must be different names, at least one"),
        ({"columns": []}, ValueError, "columns must be different names, at least one, got ()"),
        ({"columns": ["a b"]}, ValueError, "columns[0] must be a name, got 'a b'"),
        ({"n_features": 0}, ValueError, "n_features must be at least 1, got 0"),
        ({"n_features": 2**31}, ValueError, "n_features must be at most 2147483647"),
        ({"n_features": 2.0}, TypeError, "n_features must be a whole number, got 2.0"),
    ],
)
def test_settings_are_checked(settings, error, message):
    with pytest.raises(error, match=re.escape(message)):
        TokenFeatures(**settings)

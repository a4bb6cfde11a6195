"""What is known of tokens: copied, saved, merged, and shared by threads."""

from __future__ import annotations

import copy
import itertools
import pickle
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surelearn.templates import TokenFeatures
from tokens import assert_same, names_in, problems, texts_of

# ------------------------------------------------------------------ states


def made(kind, n_features=None):
    X = {
        "words": [[("a", "b"), ("é|", "d")], [], [("a", "")]],
        "strings": [[["a", "b", "a"], []]],
        "dicts": [[{"a": 1, "b": {"c": "\0"}}]],
        None: [],
    }[kind]
    templates = ["w[0]", "lower(w[-1])|pos[0]", "B:pos[0]"] if kind == "words" else None
    features = TokenFeatures(templates=templates, n_features=n_features)
    features.learn(X)
    return features, X


@pytest.mark.parametrize("kind", ["words", "strings", "dicts", None])
@pytest.mark.parametrize("n_features", [None, 100])
@pytest.mark.parametrize(
    "copied",
    [
        lambda f: TokenFeatures.from_state(f.state()),
        lambda f: pickle.loads(pickle.dumps(f)),
        copy.copy,
        copy.deepcopy,
    ],
)
def test_copies_are_the_same_and_apart(kind, n_features, copied):
    features, X = made(kind, n_features)
    other = copied(features)
    assert_same(other.transform(X), features.transform(X))
    for key, value in features.state().items():
        np.testing.assert_array_equal(other.state()[key], value)
    more = (
        [[("new", "new")] * 2]
        if kind == "words"
        else [[["new"]]]
        if kind != "dicts"
        else [[{"n": 1}]]
    )
    if kind is not None and n_features is None:
        other.learn(more)
        assert other.n_features > features.n_features
        assert other.names[: features.n_features] == features.names


def test_a_state_is_plain():
    state = made("words")[0].state()
    assert {key: type(value) for key, value in state.items()} == {
        "kind": str,
        "templates": list,
        "columns": list,
        "n_features": type(None),
        "names": np.ndarray,
        "name_offsets": np.ndarray,
        "pair_names": np.ndarray,
        "pair_name_offsets": np.ndarray,
    }
    assert state["names"].dtype == np.uint8
    assert state["name_offsets"].dtype == np.int64
    text, ends = state["names"].tobytes(), state["name_offsets"]
    names = [text[a:b].decode() for a, b in itertools.pairwise(ends)]
    assert names == made("words")[0].names


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"kind": "others"}, ValueError, "kind must be one of 'words', 'strings', 'dicts'"),
        ({"templates": ["w[0"]}, ValueError, "templates[0] must have ']'"),
        ({"names": b"abc"}, TypeError, "names must be bytes and their offsets, got b'abc'"),
        ({"name_offsets": np.array([0, 1])}, ValueError, "name_offsets must ascend from 0 to"),
        ({"name_offsets": np.array([], np.int64)}, ValueError, "name_offsets must ascend from 0"),
        ({"pair_name_offsets": np.array([0, 9, 3, 12])}, ValueError, "pair_name_offsets must asc"),
        ({"names": np.frombuffer(b"\xff", np.uint8), "name_offsets": np.array([0, 1])},
         ValueError, "can't decode byte 0xff"),
        ({"names": np.frombuffer("é".encode(), np.uint8), "name_offsets": np.array([0, 1, 2])},
         ValueError, "name_offsets must be where a character begins"),
        ({"names": np.frombuffer(b"aa", np.uint8), "name_offsets": np.array([0, 1, 2])},
         ValueError, "names must differ from each other, got one twice"),
    ],
)  # fmt: skip
def test_a_damaged_state_is_refused(change, error, message):
    with pytest.raises(error, match=re.escape(message)):
        TokenFeatures.from_state({**made("words")[0].state(), **change})


# ------------------------------------------------------------------ merging and threads


@given(problems(), st.data())
def test_absorbing_maps_the_numbers_of_the_other(problem, data):
    columns, templates, X = problem
    cut = data.draw(st.integers(0, len(X)))
    texts = texts_of(templates, columns)
    settings = {"templates": [*texts, *(f"B:{t}" for t in texts)], "columns": columns}
    one, other, whole = (TokenFeatures(**settings) for _ in range(3))
    one.learn(X[:cut])
    other.learn(X[cut:])
    whole.learn(X)
    numbers, pairs = one.absorb(other)
    assert numbers.dtype == pairs.dtype == np.int64
    assert one.names == whole.names
    assert one.pair_names == whole.pair_names
    assert [one.names[i] for i in numbers] == other.names
    assert [one.pair_names[i] for i in pairs] == other.pair_names


def test_absorbing_without_settings_takes_those_of_the_other():
    one, other = TokenFeatures(), TokenFeatures()
    other.learn([[("a", "b")]])
    one.absorb(other)
    assert one.names == other.names
    assert one.columns == ("w", "pos")
    numbers, _ = other.absorb(TokenFeatures())
    assert numbers.size == 0


def test_hashed_features_keep_their_numbers():
    one, other = (TokenFeatures(templates=["w[0]", "B:w[0]"], n_features=8) for _ in range(2))
    one.learn([["a", "b"]])
    other.learn([["a", "c", "b"]])
    numbers, pairs = one.absorb(other)
    assert numbers.tolist() == list(range(8))
    assert pairs.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("ours", "theirs", "message"),
    [
        (
            {"templates": ["w[0]"]},
            {"templates": ["w[1]"]},
            "same templates to be merged, got ['w[0]",
        ),
        (
            {"columns": ["a"]},
            {"columns": ["b"]},
            "same columns to be merged, got ('a',) and ('b',)",
        ),
        ({"n_features": 8}, {}, "same n_features to be merged, got 8 and None"),
    ],
)
@pytest.mark.parametrize("learnt", [False, True])
def test_others_are_not_absorbed(ours, theirs, message, learnt):
    one, other = TokenFeatures(**ours), TokenFeatures(**theirs)
    if learnt:
        one.learn([["a"]])
    other.learn([["b"]])
    before = one.n_features
    with pytest.raises(ValueError, match=re.escape(message)):
        one.absorb(other)
    assert one.n_features == before


def test_kinds_are_not_merged():
    one, other = TokenFeatures(), TokenFeatures()
    one.learn([["a"]])
    other.learn([[{"a": 1}]])
    with pytest.raises(ValueError, match="same kind to be merged, got 'words' and 'dicts'"):
        one.absorb(other)


def test_threads_may_share_one():
    features = TokenFeatures(templates=["w[0]", "w[-1]|w[0]", "B:w[0]"])
    X = [[[f"{k}-{i}" for i in range(200)] for k in range(n, n + 20)] for n in range(8)]
    features.learn(X[0])
    wanted = [
        names_in(TokenFeatures(templates=features.templates).learn(x).X, range(10**6)) for x in X
    ]
    with ThreadPoolExecutor(4) as pool:
        learnt = list(pool.map(features.learn, X))
        again = list(pool.map(features.transform, X))
    names = features.names
    assert len(set(names)) == len(names)
    for one, two, rows in zip(learnt, again, wanted, strict=True):
        assert len(names_in(one.X, names)) == len(rows)
        np.testing.assert_array_equal(one.X.indices, two.X.indices)

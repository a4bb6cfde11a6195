"""Tokens that no feature can be made of are refused by their place, and nothing is learnt."""

from __future__ import annotations

import re

import numpy as np
import pytest

from surelearn.templates import TokenFeatures


class Broken:
    def __float__(self):
        raise RuntimeError("no")


ROUND: dict[str, object] = {}
ROUND["a"] = ROUND

BAD_WORDS = [
    (3, TypeError, "X must be a list of sequences, got 3."),
    ("the cat", TypeError, "X must be a list of sequences, got 'the cat'."),
    ({"a": 1}, TypeError, "X must be a list of sequences, got {'a': 1}."),
    ([[("a", "b")], "the"], TypeError, "sequence 1 must be a list of tokens, got 'the'."),
    ([("a", "b")], TypeError, "sequence 0 must be a list of tokens, got ('a', 'b')."),
    ([[], [3]], TypeError, "sequence 1, token 0 must be a str, a tuple of str, a list of str or"),
    ([[("a", "b"), ["c"]]], TypeError, "sequence 0, token 1 must be a str or a tuple of str like"),
    ([[("a", "b"), {"c": 1}]], TypeError, "token 1 must be a str or a tuple of str like those bef"),
    (
        [[("a", "b")], [], [("a", "b", "c")]],
        ValueError,
        "sequence 2, token 0 must have 2 columns (w, pos), got 3.",
    ),
    ([[("a", "b"), "c"]], ValueError, "sequence 0, token 1 must have 2 columns (w, pos), got 1."),
    ([[("a", "b"), ("c", 4)]], TypeError, "sequence 0, token 1: pos must be a str, got 4."),
    ([[("a", b"b")]], TypeError, "sequence 0, token 0: pos must be a str, got b'b'."),
    (
        [[("a", "b")], [("é\ud800", "b")]],
        ValueError,
        "sequence 1, token 0: w must have no lone surrogate, got one at character 1.",
    ),
]


@pytest.mark.parametrize(("X", "error", "message"), BAD_WORDS)
@pytest.mark.parametrize("method", ["learn", "transform"])
@pytest.mark.parametrize("learnt", [False, True])
def test_what_is_no_word_is_refused_and_nothing_has_changed(X, error, message, method, learnt):
    features = TokenFeatures(templates=["w[0]", "B:pos[0]"])
    if learnt:
        features.learn([[("x", "y"), ("z", "y")]])
    before = features.names, features.pair_names, features.columns
    with pytest.raises(error, match=re.escape(message)):
        getattr(features, method)(X)
    assert (features.names, features.pair_names, features.columns) == before


BAD_FEATURES = [
    (
        [[{"a": 1.0}], [{"x": float("nan")}]],
        ValueError,
        "sequence 1, token 0: feature 'x' must be f",
    ),
    ([[{"x": np.inf}]], ValueError, "sequence 0, token 0: feature 'x' must be finite, got inf."),
    ([[{"x": 10**400}]], ValueError, "sequence 0, token 0: feature 'x' must be finite, got 1000"),
    ([[{"x": {"y": 1e39}}]], ValueError, "feature 'x:y' must be finite in single precision, got 1"),
    ([[{"x": 3e38, "y": 3e38}]], ValueError, "token 0 must have values that sum to less than 3.4e"),
    (
        [[{"x": None}]],
        TypeError,
        "feature 'x' must be a number, a str, a dict, or a list or set of",
    ),
    ([[{"x": ("a", "b")}]], TypeError, "feature 'x' must be a number, a str, a dict, or a list or"),
    (
        [[{"x": Broken()}]],
        TypeError,
        "feature 'x' must be a number, a str, a dict, or a list or set",
    ),
    ([[{"x": ["a", 1]}]], TypeError, "sequence 0, token 0: a feature in 'x' must be a str, got 1."),
    ([[{3: "a"}]], TypeError, "sequence 0, token 0: a feature must be a str, got 3."),
    ([[{"a\udfff": 1}]], ValueError, "must have no lone surrogate, got one at character 1."),
    (
        [[{"x": "\ud800"}]],
        ValueError,
        "feature 'x:\\ud800' must have no lone surrogate, got one at",
    ),
    ([[{b"\xff": 1}]], ValueError, "sequence 0, token 0: a feature must be UTF-8, got b'\\xff'."),
    ([[ROUND]], ValueError, "sequence 0, token 0: feature 'a' must be nested 100 deep at most."),
    ([[{"a": 1}, ["a"]]], TypeError, "sequence 0, token 1 must be a dict like those before, got"),
    ([[{"a": 1}, "a"]], TypeError, "sequence 0, token 1 must be a dict like those before, got 'a'"),
]


@pytest.mark.parametrize(("X", "error", "message"), BAD_FEATURES)
def test_what_is_no_feature_is_refused_and_nothing_has_changed(X, error, message):
    features = TokenFeatures()
    features.learn([[{"known": 1}]])
    with pytest.raises(error, match=re.escape(message)):
        features.learn([[{"new": 1}], *X] if message.startswith("feature") else X)
    with pytest.raises(error, match=re.escape(message)):
        TokenFeatures().learn(X)
    assert features.names == ["known"]


def test_lists_of_something_else_are_refused():
    with pytest.raises(TypeError, match="sequence 0, token 1: a feature must be a str, got 3"):
        TokenFeatures().learn([[["a"], ["b", 3]]])
    with pytest.raises(TypeError, match="token 1 must be a list of str like those before, got 'a'"):
        TokenFeatures().learn([[["a"], "a"]])


def test_kinds_are_not_mixed_over_calls():
    features = TokenFeatures()
    features.learn([["a"]])
    with pytest.raises(TypeError, match="tokens must be a str or a tuple of str as in training"):
        features.transform([[{"a": 1}]])
    with pytest.raises(ValueError, match=r"must have 1 column \(w\), got 2"):
        features.learn([[("a", "b")]])


@pytest.mark.parametrize("token", [{"a": 1}, ["a"]])
def test_templates_are_for_words(token):
    with pytest.raises(ValueError, match=r"templates must be None if tokens are .*, got \['w"):
        TokenFeatures(templates=["w[0]"]).learn([[token]])

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
from surelearn.templates import TokenFeatures, default_templates, read_crfpp
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


# ------------------------------------------------------------------ the language


def test_defaults_are_the_window_of_five():
    wanted = [f"w[{i}]" for i in range(-2, 3)] + ["w[-1]|w[0]", "w[0]|w[1]"]
    wanted += [f"pos[{i}]" for i in range(-2, 3)]
    wanted += [f"pos[{i}]|pos[{i + 1}]" for i in range(-2, 2)]
    wanted += [f"pos[{i}]|pos[{i + 1}]|pos[{i + 2}]" for i in range(-2, 1)]
    assert default_templates(["w", "pos"]) == wanted
    features = TokenFeatures()
    features.learn([[("a", "b")]])
    assert features.templates == wanted
    assert features.columns == ("w", "pos")


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_defaults_fit_any_number_of_columns(n):
    features = TokenFeatures()
    features.learn([[tuple("abcde"[:n])] * 2])
    assert len(features.columns) == n
    assert features.templates == default_templates(features.columns)


def test_names_read_well():
    features = TokenFeatures(templates=["bias", "w[-1] | w[+0]", "shape( w[0] )", "B:w[0]", "B"])
    features.learn([["the", "Cat"]])
    assert features.names == [
        "bias",
        "w[-1]|w[0]=<s-1>|the",
        "shape(w[0])=xxx",
        "w[-1]|w[0]=the|Cat",
        "shape(w[0])=Xxx",
    ]
    assert features.pair_names == ["B:w[0]=Cat"]
    assert features.templates == ["bias", "w[-1]|w[0]", "shape(w[0])", "B:w[0]", "B:"]


@given(problems(), problems())
def test_no_two_features_share_a_name(one, other):
    """Templates and values can be told from a name: as many names as there are of both."""
    columns, templates, X = one
    features = TokenFeatures(templates=texts_of(templates, columns), columns=columns)
    features.learn(X)
    met = set()
    for tokens in X:
        for t in range(len(tokens)):
            for k, template in enumerate(templates):
                values = []
                for column, offset, steps in template:
                    at = t + offset
                    inside = 0 <= at < len(tokens)
                    word = tokens[at][column] if inside else at - len(tokens) * (at > 0)
                    for name, argument in steps if inside else ():
                        word = reference.STEPS[name](word, argument)
                    values.append((inside, word))
                met.add((k, tuple(values)))
    assert len(set(features.names)) == features.n_features == len(met)


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("w[0", "must have ']' at character 3, got 'w[0'"),
        ("w", "must have '[' and an offset at character 1, got 'w'"),
        ("w[x]", "must have an offset at character 2"),
        ("w[101]", "must have an offset from -100 to 100 at character 2"),
        ("v[0]", "must have a column (w, pos) or a function at character 0"),
        ("w[0]|", "must have a column or a function at character 5"),
        ("w[0]w[1]", "must have '|' or the end at character 4"),
        ("w[0]]", "must have '|' or the end at character 4"),
        ("upper(w[0])", "must have one of lower, shape, capital, capitals, digits, match at"),
        ("lower(w[0]", "must have ')' at character 10"),
        ("w[0][3]", "must have a cut such as ':3]' or '-3:]' at character 5"),
        ("w[0][:0]", "must have a cut of at least one character at character 5"),
        ("match(w[0])", "must have ',' and a pattern at character 10"),
        ("match(w[0], x)", "must have a pattern in quotes at character 11"),
        ("match(w[0], '(')", "must have a regular expression (missing ), unterminated subpattern"),
        ("", "must have a column or a function at character 0, got ''"),
        ("bias|w[0]", "must have a column (w, pos) or a function at character 0"),
        ("B:|w[0]", "must have a column or a function at character 2"),
        ("w[0]\ud800", "must have no lone surrogate, got one at character 4"),
        (" w[ 0 ]", "must differ from templates[0], got ' w[ 0 ]' again"),
    ],
)
def test_what_is_no_template_is_refused_with_its_place(template, message):
    with pytest.raises(ValueError, match=re.escape(f"templates[1] {message}")):
        TokenFeatures(templates=["w[0]", template], columns=("w", "pos"))


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


# ------------------------------------------------------------------ template files of CRF++


def test_a_template_file_of_crfpp_is_read():
    lines = """# Unigram
U00:%x[-2,0]
U01:%x[0,0]

U05:%x[-1,0]/%x[0,0]
U10:word %x[0, 1] and %x[1,2]
U11:%x[0,0]
U
# Bigram
B
B01:%x[0,1]
""".splitlines(keepends=True)
    wanted = ["w[-2]", "w[0]", "w[-1]|w[0]", "pos[0]|c2[1]", "bias", "B:", "B:pos[0]"]
    assert read_crfpp(lines) == wanted
    assert read_crfpp(lines[1:3], ["form"]) == ["form[-2]", "form[0]"]
    features = TokenFeatures(templates=read_crfpp(lines))
    features.learn([[("a", "b", "c")]])
    assert features.templates == wanted


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("X01:%x[0,0]", "expected U or B, and places such as %x[-1,0], got 'X01:%x[0,0]'."),
        ("U01:%t[0,0]", "expected U or B, and places such as %x[-1,0], got 'U01:%t[0,0]'."),
        ("U01:%x[0]", "expected U or B, and places such as %x[-1,0], got 'U01:%x[0]'."),
        ("U01:%x[0,2]", "expected a column below 2, got 2."),
        ("U01:%x[-101,0]", "expected an offset from -100 to 100, got -101."),
    ],
)
def test_other_lines_are_refused_with_their_number(line, message):
    with pytest.raises(ValueError, match=re.escape(f"template, line 2: {message}")):
        read_crfpp(["U", line], ["w", "pos"])

"""The language of templates: its defaults, its names, and what is refused by its place."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from reference import templates as reference
from surelearn.templates import TokenFeatures, default_templates, read_crfpp
from tokens import problems, texts_of


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

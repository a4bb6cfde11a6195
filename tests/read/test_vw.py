"""Vowpal Wabbit text beside a slow reader, and FeatureHasher; a word for every bad line."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction import FeatureHasher

from reference import vw as reference
from surelearn._check import BadInput
from surelearn.read import _vw

PARTS = ("features", "values", "labels")
SIZES = st.sampled_from([1, 2, 7, 1000, 2**20, 2**31 - 1])


# ------------------------------------------------------------------ files

NUMBERS = st.one_of(
    st.sampled_from(["1", "0", "-1", "+.5", "2.", "1e-3", "1E2", "0.1000000000000000055511151231"]),
    st.floats(-1e30, 1e30).map(repr),
)
NAMES = st.one_of(
    st.sampled_from(
        ["a", "b", "f", "123", "a^b", "東京", "'", "#", "x" * 40, "\x0b", "\0", "é", ","]
    ),
    st.text(st.characters(exclude_characters=" \t\r\n|:", exclude_categories=["Cs"]), min_size=1),
)
#: Whatever may stand in the place of a value; most of it must not.
VALUES = st.one_of(
    NUMBERS, NAMES, st.sampled_from(["", "inf", "-NaN", "1x", "1e400", "1:2", "Info"])
)
BLANKS = st.text(" \t\r", min_size=1, max_size=2)


@st.composite
def heads(draw):
    """What stands before the first bar."""
    word = st.one_of(NUMBERS, NUMBERS, st.sampled_from(["x", "1:2", "1,2", "inf", "'tag", "\t1"]))
    words = draw(st.lists(word, max_size=5 if draw(st.integers(0, 4)) == 0 else 2))
    tag = draw(st.sampled_from(["", "", " ", "  ", " 'tag", " 'tag ", " tag"]))
    return draw(st.sampled_from(["", " "])) + " ".join(words) + tag


@st.composite
def lines(draw):
    """A line that Vowpal Wabbit would take, or nearly so."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from(["", " ", "\t", "1 good", "1", "|", "1 ||"]))
    line = draw(heads()) if draw(st.booleans()) else draw(st.sampled_from(["", "1 ", "-1 2.5 "]))
    doubtful = draw(st.integers(0, 2)) == 0
    for _ in range(draw(st.integers(1, 3))):
        line += "|" + draw(st.sampled_from(["", "", "f", "f", "g:2", "f:0.1"]))
        line += ":" + draw(VALUES) if draw(st.integers(0, 30)) == 0 else ""
        for _ in range(draw(st.integers(0, 4))):
            line += draw(BLANKS) + draw(NAMES)
            line += ":" + draw(VALUES if doubtful else NUMBERS) if draw(st.booleans()) else ""
        line += draw(st.sampled_from(["", "", " ", " \t"]))
    return line


def slow(text, *, n_features, alternate_sign, dtype):
    """What the reference makes of a file, in the order of `parse`; lines that are bad."""
    rows, bad = [], []
    for i, line in enumerate(text.split(b"\n")):
        try:
            row = reference.row_of(line, n_features, alternate_sign)
        except reference.Bad:
            bad.append(i + 1)
            continue
        if row is not None:
            with np.errstate(over="ignore"):
                values = {j: dtype(x) for j, x in row[2].items()}
            if not all(np.isfinite(x) for x in values.values()):
                bad.append(i + 1)
                continue
            rows.append((*row[:2], {j: x for j, x in values.items() if x != 0}))
    return rows, bad


# ------------------------------------------------------------------ agreement


@given(
    st.lists(lines(), max_size=6), SIZES, st.booleans(), st.sampled_from([np.float32, np.float64])
)
def test_rows_are_those_of_the_reference(rows, n_features, alternate_sign, dtype):
    text = "\n".join(rows).encode()
    options = {"n_features": n_features, "alternate_sign": alternate_sign, "dtype": dtype}
    ours = _vw.parse(text, skip_bad=True, **options)
    theirs, bad = slow(text, **options)
    assert [line.line for line in ours.bad] == bad
    assert ours.n_rows == len(theirs)
    labels = np.array([np.nan if row[0] is None else row[0] for row in theirs])
    np.testing.assert_array_equal(ours.labels, labels)
    if all(row[1] is None for row in theirs):
        assert ours.weights is None
    else:
        assert ours.weights.tolist() == [1.0 if row[1] is None else row[1] for row in theirs]
    assert np.diff(ours.starts).tolist() == [len(row[2]) for row in theirs]
    assert ours.features.tolist() == [j for row in theirs for j in row[2]]
    assert ours.values.dtype == dtype
    assert ours.values.tolist() == [x for row in theirs for x in row[2].values()]


@given(st.lists(st.dictionaries(NAMES, st.integers(-9, 9)), min_size=1), SIZES, st.booleans())
def test_features_are_those_of_feature_hasher(rows, n_features, alternate_sign):
    n_features = min(n_features, 2**31 - 2)
    text = "\n".join("1 |f " + " ".join(f"{k}:{v}" for k, v in row.items()) for row in rows)
    ours = _vw.parse(text.encode(), n_features=n_features, alternate_sign=alternate_sign)
    hasher = FeatureHasher(n_features, alternate_sign=alternate_sign)
    X = hasher.transform([{f"f^{k}": v for k, v in row.items()} for row in rows])
    X.sum_duplicates()
    X.eliminate_zeros()
    assert ours.starts.tolist() == X.indptr.tolist()
    assert ours.features.tolist() == X.indices.tolist()
    assert ours.values.tolist() == X.data.tolist()


@pytest.mark.parametrize(
    ("line", "label", "weight", "values"),
    [
        ("1 |f a b:2", 1, None, [1, 2]),
        ("1 2 |f a", 1, 2, [1]),
        ("1 2 0.5 'tag|f a", 1, 2, [1]),
        ("1 tag|f a", 1, None, [1]),
        ("1|f a", None, None, [1]),
        ("1 'tag |f a", 1, None, [1]),
        ("'tag |f a", None, None, [1]),
        ("|f a", None, None, [1]),
        (" |f a", None, None, [1]),
        ("1 |f:3 a city:paris b:2", 1, None, [1, 3, 6]),
        ("1 |f a|g b", 1, None, [1, 1]),
        ("1 | a:0 b", 1, None, [1]),
        ("1 || a", 1, None, [1]),
        ("1 |f a\tb:3 ", 1, None, [1, 3]),
        ("1 |", 1, None, []),
    ],
)
def test_lines_mean_what_they_mean_to_vowpal_wabbit(line, label, weight, values):
    """Labels, importances and values as version 9.11 gives them for these lines."""
    rows = _vw.parse(line.encode(), alternate_sign=False)
    np.testing.assert_array_equal(rows.labels, [np.nan if label is None else label])
    assert (rows.weights is None) == (weight is None)
    assert weight is None or rows.weights.tolist() == [weight]
    assert sorted(rows.values.tolist()) == values


def test_equal_features_are_summed():
    rows = _vw.parse(b"1 |f a a:2 |g x |f a:-0.5\n1 |f a a:-1", alternate_sign=False)
    assert sorted(rows.values[: rows.starts[1]].tolist()) == [1.0, 2.5]
    assert rows.starts.tolist() == [0, 2, 2]


def test_a_category_is_the_feature_it_spells():
    spelled, meant = _vw.parse(b"1 |f city:paris\n1 |f city^paris").features
    assert spelled == meant


# ------------------------------------------------------------------ blocks


@given(st.lists(lines(), max_size=8), st.data())
def test_any_cut_gives_the_same_rows(rows, data):
    text = "\r\n".join(rows).encode()
    whole = _vw.parse(text, skip_bad=True)
    all_lines = [line for line in re.split(rb"(?<=\n)", text) if line]
    cuts = sorted(data.draw(st.sets(st.integers(0, len(all_lines)))) | {0, len(all_lines)})
    pieces = [
        _vw.parse(b"".join(all_lines[a:b]), first_line=a + 1, skip_bad=True)
        for a, b in pairwise(cuts)
    ]
    for part in PARTS:
        joined = b"".join(getattr(piece, part).tobytes() for piece in pieces)
        assert joined == getattr(whole, part).tobytes()
    sizes = [size for piece in pieces for size in np.diff(piece.starts)]
    assert sizes == np.diff(whole.starts).tolist()
    weights = [np.ones(p.n_rows) if p.weights is None else p.weights for p in pieces]
    if whole.weights is not None:
        assert np.concatenate(weights).tolist() == whole.weights.tolist()
    assert [line for piece in pieces for line in piece.bad] == whole.bad


# ------------------------------------------------------------------ messages


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1 good", "expected '|' before the features, got '1 good'."),
        ("good |f a", "expected a label, got 'good'."),
        ("inf |f a", "expected a finite label, got 'inf'."),
        ("1e400 |f a", "expected a finite label, got '1e400'."),
        ("1,2 |f a", "expected one label, got '1,2'."),
        ("1:0.5 2:1 |f a", "expected one label, got '1:0.5'."),
        ("1 -1 |f a", "expected an importance of at least 0, got '-1'."),
        ("1 x |f a", "expected an importance of at least 0, got 'x'."),
        ("1 nan |f a", "expected an importance of at least 0, got 'nan'."),
        ("1 1 x |f a", "expected a number as base, got 'x'."),
        ("1 1 0 1 |f a", "expected '|' after label, importance and base, got '1'."),
        ("1 1 0 2 3 'tag |f a", "expected '|' after label, importance and base, got '2'."),
        ("1\t2 |f a", r"expected a label, got '1\t2'."),
        ("1 |:2 a", "expected namespace or namespace:scale, got ':2'."),
        ("1 |f:x a", "expected namespace or namespace:scale, got 'f:x'."),
        ("1 |f: a", "expected namespace or namespace:scale, got 'f:'."),
        ("1 |f :2", "expected a name before ':', got ':2'."),
        ("1 |f a:", "expected feature or feature:value, got 'a:'."),
        ("1 |f a:1x|g", "expected feature or feature:value, got 'a:1x'."),
        ("1 |f a:1:2", "expected feature or feature:value, got 'a:1:2'."),
        ("1 |f a:b:2", "expected feature or feature:value, got 'a:b:2'."),
        ("1 |f a:inf", "expected a finite value, got 'a:inf'."),
        ("1 |f a:-1e400", "expected a finite value, got 'a:-1e400'."),
        ("1 |f a:2e38 a:2e38", "expected features of finite sums, got '|f a:2e38 a:2e38'."),
        ("1 |f:1e300 a:1e300", "expected features of finite sums, got '|f:1e300 a:1e300'."),
        ("1 |f:1e400 a:0", "expected a finite scale, got 'f:1e400'."),
    ],
)
def test_a_bad_line_is_named(line, reason):
    text = f"1 |f a\n\n{line}\n1 | :3\n".encode()
    message = f"^{re.escape('reviews.vw, line 17: ' + reason)} With skip_bad=True such records are"
    with pytest.raises(BadInput, match=message):
        _vw.parse(text, first_line=15, name="reviews.vw")
    rows = _vw.parse(text, first_line=15, skip_bad=True)
    assert [bad.line for bad in rows.bad][1:] == [18]
    assert (rows.bad[0].line, rows.bad[0].reason) == (17, reason)
    assert rows.labels.tolist() == [1.0]


def test_candidates_are_told_from_shared_lines():
    text = b"\n\nshared |s a\n1:0.5 |f b\n07 'x|f\n\t\r\n\n|f c\n2 tag|f d\n***shared*** |s\n"
    found = _vw.parse_candidates(text, n_features=100)
    assert found.groups.tolist() == [0, 0, 0, 1, 1]
    assert found.shared.tolist() == [True, False, False, False, False]
    assert found.names.tolist() == [-1, 1, 7, -1, 2]
    np.testing.assert_array_equal(found.costs, [np.nan, 0.5, np.nan, np.nan, np.nan])
    assert np.diff(found.X.indptr).tolist() == [1, 1, 0, 1, 1]
    assert [bad.line for bad in found.bad] == [10]


@given(st.lists(lines(), max_size=6))
def test_features_of_candidates_are_those_of_rows(rows):
    """Whatever is behind the first bar is parsed as in other lines."""
    text = "".join("1:0 |" + row.partition("|")[2] + "\n" for row in rows).encode()
    ours = _vw.parse_candidates(text, n_features=1000)
    theirs = _vw.parse(
        text.replace(b"1:0 |", b"1 |"), n_features=1000, alternate_sign=False, skip_bad=True
    )
    assert [bad.line for bad in ours.bad] == [bad.line for bad in theirs.bad]
    assert ours.X.indptr.tolist() == theirs.starts.tolist()
    assert ours.X.indices.tolist() == theirs.features.tolist()
    assert ours.X.data.tolist() == theirs.values.tolist()

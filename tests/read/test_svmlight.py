"""svmlight text beside scikit-learn's reader: the same bits, and a word for every bad line."""

from __future__ import annotations

import io
import re
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from surelearn.read import BadInput, _svmlight
from surelearn.read._svmlight import bad_lines, bytes_of

PARTS = ("starts", "features", "values", "labels")


# ------------------------------------------------------------------ files


def spelled(x):
    """Ways to write a number that Python reads back."""
    ways = [repr(x), f"{x:.16g}", f"{x:.6g}", f"{x:e}", f"{x:.25g}", f"{x:+.3f}"]
    return st.sampled_from([way for way in ways if np.isfinite(np.float32(float(way)))])


NUMBERS = st.one_of(
    st.integers(-(10**25), 10**25).map(float),
    st.floats(-1e38, 1e38),
    st.floats(-1, 1),
    st.floats(-1e-300, 1e-300),
).flatmap(spelled)
BLANKS = st.text(" \t\r\x0b\x0c", min_size=1, max_size=2)
COMMENTS = st.sampled_from(["", "#", "# 1:2", " # 東京 # x"])


@st.composite
def lines(draw):
    """A line that scikit-learn reads too: its indices ascend."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from(["", " ", "\t", "\x0c"])) + draw(COMMENTS)
    indices = sorted(draw(st.sets(st.integers(1, 2**31 - 1), max_size=5)))
    words = [draw(NUMBERS)]
    words += [f"qid:{draw(st.integers(0, 10**30))}"] * draw(st.booleans())
    words += [f"{'0' * draw(st.integers(0, 2))}{j}:{draw(NUMBERS)}" for j in indices]
    blanks = [draw(BLANKS) for _ in words]
    return "".join(w + b for w, b in zip(words, blanks, strict=True)) + draw(COMMENTS)


@st.composite
def files(draw):
    rows = draw(st.lists(lines(), max_size=6))
    text = "".join(line + draw(st.sampled_from(["\n", "\r\n"])) for line in rows)
    return (text + draw(lines())).encode()


def same(a, b):
    return a.dtype == b.dtype and a.tobytes() == b.tobytes()


# ------------------------------------------------------------------ agreement


@given(files(), st.sampled_from([np.float32, np.float64]), st.booleans())
def test_rows_are_those_of_scikit_learn(text, dtype, zero_based):
    ours = _svmlight.parse(text, dtype=dtype, zero_based=zero_based)
    X, y = load_svmlight_file(io.BytesIO(text), dtype=dtype, zero_based=zero_based)
    counted = X.shape[1] if X.nnz else 0  # scikit-learn has one feature where it met none
    assert ours.n_features == counted
    X.eliminate_zeros()
    assert same(ours.values, X.data)
    assert same(ours.labels, y)
    assert np.array_equal(ours.starts, X.indptr)
    assert np.array_equal(ours.features, X.indices)
    assert ours.n_bad == 0
    assert ours.weights is None
    assert ours.n_rows == len(y)


def test_entries_keep_the_order_of_the_file():
    rows = _svmlight.parse(b"1 7:1 3:2 7:-1 3:0 3:-0.0 2:1e-60\n", dtype=np.float32)
    assert rows.features.tolist() == [6, 2, 6]
    assert rows.values.tolist() == [1.0, 2.0, -1.0]
    assert rows.n_features == 7


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, np.frombuffer], ids=repr)
def test_any_buffer_is_read_in_place(kind):
    block = kind(b"1 1:2\n-1 3:4") if kind is not np.frombuffer else kind(b"1 1:2\n-1 3:4", "u1")
    assert _svmlight.parse(block).labels.tolist() == [1.0, -1.0]


def test_a_block_may_be_empty():
    rows = _svmlight.parse(b"")
    assert rows.starts.tolist() == [0]
    assert [len(getattr(rows, part)) for part in PARTS] == [1, 0, 0, 0]


def test_arrays_outlive_the_block():
    rows = _svmlight.parse(b"1 1:2 5:3\n" * 1000)
    assert rows.values.sum() == 5000
    rows.values[:] = 0  # and are the caller's own


def test_threads_read_side_by_side():
    blocks = [f"{i} {i + 1}:{i}.5\n".encode() * 2000 for i in range(8)]
    with ThreadPoolExecutor(4) as pool:
        for i, rows in enumerate(pool.map(_svmlight.parse, blocks)):
            assert set(rows.labels) == {i}
            assert set(rows.values) == {i + 0.5}


# ------------------------------------------------------------------ blocks

BAD = ["good", "1 good", "1 0:1", "1,2 1:1", "nan", "1 1:inf", "1 1:1 2:x 3:1", "1 1", "\x00 1:1"]


@given(st.lists(st.one_of(lines(), st.sampled_from(BAD)), max_size=8), st.data())
def test_any_cut_gives_the_same_rows(rows, data):
    text = "\n".join(rows).encode()
    whole = _svmlight.parse(text, skip_bad=True)
    all_lines = [line for line in re.split(rb"(?<=\n)", text) if line]
    cuts = sorted(data.draw(st.sets(st.integers(0, len(all_lines)))) | {0, len(all_lines)})
    pieces = [
        _svmlight.parse(b"".join(all_lines[a:b]), first_line=a + 1, skip_bad=True)
        for a, b in pairwise(cuts)
    ]
    for part in PARTS[1:]:
        parts = [getattr(piece, part) for piece in pieces]
        assert np.concatenate(parts or [[]]).tolist() == getattr(whole, part).tolist()
    sizes = [np.diff(piece.starts) for piece in pieces]
    assert np.concatenate(sizes or [[]]).tolist() == np.diff(whole.starts).tolist()
    assert [line for piece in pieces for line in piece.bad] == whole.bad
    assert max([piece.n_features for piece in pieces], default=0) == whole.n_features


@given(st.lists(st.one_of(lines(), st.sampled_from(BAD)), max_size=8))
def test_bad_lines_are_left_out_whole(rows):
    found = _svmlight.parse("\n".join(rows).encode(), skip_bad=True)
    places = [i + 1 for i, row in enumerate(rows) if row in BAD]
    assert [line.line for line in found.bad] == places
    assert found.n_bad == len(places)
    good = _svmlight.parse("\n".join(row for row in rows if row not in BAD).encode())
    for part in PARTS:
        assert same(getattr(found, part), getattr(good, part))
    assert found.n_features == good.n_features


# ------------------------------------------------------------------ messages


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("good 1:1", "expected a label, got 'good'."),
        ("1:2 3:4", "expected a label, got '1:2'."),
        ("1_0 3:4", "expected a label, got '1_0'."),
        ("0x10 3:4", "expected a label, got '0x10'."),
        ("1,2 1:1", "expected one label, got '1,2'."),
        ("inf 1:1", "expected a finite label, got 'inf'."),
        ("-NaN 1:1", "expected a finite label, got '-NaN'."),
        ("1e400 1:1", "expected a finite label, got '1e400'."),
        ("1 good", "expected index:value, got 'good'."),
        ("1 1:1 2", "expected index:value, got '2'."),
        ("1 1:", "expected index:value, got '1:'."),
        ("1 :1", "expected index:value, got ':1'."),
        ("1 1:x#y", "expected index:value, got '1:x'."),
        ("1 1:1:1", "expected index:value, got '1:1:1'."),
        ("1 -1:1", "expected index:value, got '-1:1'."),
        ("1 1:1e", "expected index:value, got '1:1e'."),
        ("1 1:" + "1" * 5000, "expected index:value, got '1:" + "1" * 34 + " ...'."),
        ("1 2:1 0:5", "expected an index of at least 1, got '0:5'."),
        ("1 2147483648:1", "expected an index below 2147483648, got '2147483648:1'."),
        ("1 99999999999999999999:1", "expected an index below 2147483648, got '999"),
        ("1 18446744073709551617:1", "expected an index below 2147483648, got '18446744"),
        ("1 0000000000000000001:1", "expected an index of at most 18 digits, got '0000"),
        ("1 1:nan", "expected a finite value, got '1:nan'."),
        ("1 1:-Infinity", "expected a finite value, got '1:-Infinity'."),
        ("1 1:3.5e38", "expected a finite value, got '1:3.5e38'."),
        ("1 qid:x 1:1", "expected qid:number, got 'qid:x'."),
        ("1 qid: 1:1", "expected qid:number, got 'qid:'."),
        ("1 1:1 qid:3", "expected index:value, got 'qid:3'."),
        ("1 \udcff", "expected index:value, got '\ufffd'."),
        ("1 a\tb", "expected index:value, got 'a'."),
        ("1 \0", r"expected index:value, got '\x00'."),
    ],
)
def test_a_bad_line_is_named(line, reason):
    text = b"1 1:1\n# words\n" + line.encode(errors="surrogateescape") + b"\n1 good\n"
    with pytest.raises(BadInput, match=f"^{re.escape('reviews.svm, line 17: ' + reason)}"):
        _svmlight.parse(text, first_line=15, name="reviews.svm")
    first, last = _svmlight.parse(text, first_line=15, skip_bad=True).bad
    assert (first.line, last.line) == (17, 18)
    assert first.reason.startswith(reason)


def test_what_float32_cannot_hold_float64_can():
    assert _svmlight.parse(b"1 1:3.5e38", dtype=np.float64).values.tolist() == [3.5e38]


def test_zero_is_an_index_where_it_is_said_so():
    rows = _svmlight.parse(b"1 0:5 2147483647:1", zero_based=True)
    assert rows.features.tolist() == [0, 2**31 - 1]
    with pytest.raises(BadInput, match="line 1: expected an index below 2147483648, got"):
        _svmlight.parse(b"1 2147483648:1", zero_based=True)


def test_queries_are_kept_if_rows_are_grouped():
    found = _svmlight.parse(
        b"1 qid:7 1:1\n# x\n0 qid:007 2:1\n2 qid:999999999999999999#\n", grouped=True
    )
    assert found.queries.tolist() == [7, 7, 999999999999999999]
    assert _svmlight.parse(b"1 qid:7 1:1\n").queries is None
    long = b"1 qid:1234567890123456789 1:1\n"
    assert _svmlight.parse(long).n_rows == 1
    with pytest.raises(BadInput, match="expected a qid of at most 18 digits, got 'qid:12345678901"):
        _svmlight.parse(long, grouped=True)
    with pytest.raises(BadInput, match="line 1: expected qid:number, got '1:1'"):
        _svmlight.parse(b"1 1:1\n", grouped=True)


# -------------------------------------------------------------------- lists of labels

entry = st.tuples(st.integers(1, 20), st.floats(-9, 9, width=32)).map(lambda p: f"{p[0]}:{p[1]!r}")
blank = st.sampled_from([" ", "  ", "\t"])


@given(
    rows=st.lists(
        st.tuples(
            st.lists(st.integers(-(10**17), 10**17), max_size=3),
            st.lists(entry, min_size=1, max_size=4),
            st.sampled_from(["", " # 1,2 3:4", "#"]),
        ),
        max_size=8,
    ),
    gap=blank,
    between=st.sampled_from(["\n", "\r\n", "\n\n", "\n# 7,8\n"]),
)
def test_lists_of_labels_leave_the_features_as_they_are(rows, gap, between):
    def written(head):
        lines = [gap.join([head(labels), *entries]) + end for labels, entries, end in rows]
        return between.join(lines).encode()

    lists = _svmlight.parse_lists(written(lambda labels: ",".join(map(str, labels))))
    one = _svmlight.parse(written(lambda labels: "0"))
    assert lists.lists == [labels for labels, _, _ in rows]
    assert (lists.labels == 0).all()
    for own, other in zip(lists[:4], one[:4], strict=True):
        np.testing.assert_array_equal(own, other)


def test_a_line_that_begins_with_an_entry_has_no_labels():
    found = _svmlight.parse_lists(b"5:1\n qid:3 2:1\n3\n\n# none\n4,4 qid:1\n")
    assert found.lists == [[], [], [3], [4, 4]]


@pytest.mark.parametrize("head", ["1.5", "1,", ",1", "1,,2", "1;2", "a,b", "1e3", "1" * 19])
def test_a_bad_list_says_what_was_expected(head):
    found = _svmlight.parse_lists(f"1 1:1\n{head} 2:1\n3 3:1\n".encode())
    shown = repr(head)[:16]
    assert found.lists[::2] == [[1], [3]]
    assert found.lists[1].startswith(f"expected whole numbers separated by commas, got {shown}")
    assert np.isnan(found.labels).tolist() == [False, True, False]


TEXT = b"1 good 2:1\n0 bad\n"
#: Line, column, begin and size of what was found, what was expected.
FOUND = [(0, 2, 2, 4, "index:value"), (1, 2, 13, 3, "index:value")]


def test_every_bad_line_is_told_with_its_place_in_the_file():
    bad = bad_lines(FOUND, bytes_of(TEXT), first_line=10, name="a.svm", skip_bad=True)
    assert bad == [
        (10, "expected index:value, got 'good'."),
        (11, "expected index:value, got 'bad'."),
    ]


def test_the_first_bad_line_is_raised_with_the_lines_before_it():
    with pytest.raises(BadInput, match=r"a\.svm, line 11: .* got 'bad'\. With skip_bad") as caught:
        bad_lines(FOUND[1:], bytes_of(TEXT), first_line=10, name="a.svm", skip_bad=False)
    assert caught.value.n_before == 1


def test_no_bad_line_is_no_error():
    assert bad_lines([], bytes_of(TEXT), first_line=1, name="a.svm", skip_bad=False) == []


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, np.array])
def test_bytes_are_read_where_they_lie(kind):
    block = kind(np.frombuffer(TEXT, np.uint8)) if kind is np.array else kind(TEXT)
    found = bytes_of(block)
    assert found.tobytes() == TEXT
    assert np.shares_memory(found, np.frombuffer(block, np.uint8))

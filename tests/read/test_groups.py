"""Files of groups: found by their names, cut into blocks of whole groups."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import load_svmlight_file

from grouped import candidates, queries
from reading import blocks_of, check_going_on, grouped
from reference import groups as reference
from surelearn import read
from surelearn._check import BadInput
from surelearn.read import _groups
from surelearn.read._groups import CandidateReader, Candidates, QueryReader
from surelearn.read._vw import parse_candidates
from surelearn.rows import crossed

SVM = "2 qid:7 1:0.5 3:1\n0 qid:7 2:1 # note\n\n1 qid:9 1:2\n"
LDF = "shared |s red\n1:0 |l hot\n2:1.5 |l cold\n\n5:1 |l a\n6:0 |l b\n"


def whole(source, **settings):
    """All groups, and how many were left out."""
    found, n_bad = [], 0
    for batch in read.groups(source, **settings):
        found += grouped(batch)
        n_bad += batch.n_bad
    return found, n_bad


def test_queries_are_those_of_scikit_learn(tmp_path):
    path = tmp_path / "x.svm"
    path.write_text(queries(60))
    X, y, qid = load_svmlight_file(str(path), query_id=True)
    with blocks_of(700):
        assert len(list(read.groups(path))) > 5
        found = read.groups(path).first(10**6)
    np.testing.assert_array_equal(found.X.toarray(), X.toarray().astype(np.float32))
    np.testing.assert_array_equal(found.relevance, y)
    np.testing.assert_array_equal(np.repeat(found.ids, found.sizes), qid)
    assert len(found) == 60
    assert found.y is found.relevance


def test_candidates_have_names_and_costs(tmp_path):
    path = tmp_path / "x.ldf"
    path.write_text(LDF)
    found = read.groups(path, n_features=100).first(10)
    assert found.sizes.tolist() == [2, 2]
    assert found.cost.tolist() == [0, 1.5, 1, 0]
    assert found.names.tolist() == [1, 2, 5, 6]
    assert found.relevance is None
    assert found.ids is None
    assert np.diff(found.X.indptr).tolist() == [2, 2, 1, 1]  # a shared feature is added
    assert read.groups(path).first(1).X.shape == (2, 2**18)


@pytest.mark.parametrize(("ending", "text"), [("svm", queries(80)), ("vw", candidates(80))])
@pytest.mark.parametrize(
    ("packed", "pack"),
    [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)],
)
def test_reading_goes_on_from_any_block(tmp_path, ending, text, packed, pack):
    path = tmp_path / f"x.{ending}{packed}"
    path.write_bytes(pack(text.encode()))
    all_at_once = whole(path)
    assert len(all_at_once[0]) == 80
    with blocks_of(800):
        assert whole(path) == all_at_once
        assert check_going_on(read.groups(path)) > 5


@given(st.integers(1, 12), st.integers(0, 99), st.integers(1, 400))
def test_a_group_is_never_cut(tmp_path_factory, n, seed, size):
    folder = tmp_path_factory.mktemp("cut")
    for name, text in (("x.svm", queries(n, seed)), ("x.vw", candidates(n, seed))):
        (folder / name).write_text(text)
        all_at_once = whole(folder / name)
        with blocks_of(size):
            assert whole(folder / name) == all_at_once


def test_a_group_ends_with_its_file(tmp_path):
    (tmp_path / "a.svm").write_text("1 qid:1 1:1\n0 qid:1 2:1")
    (tmp_path / "b.svm").write_text("1 qid:1 3:1\n")
    found = read.groups(tmp_path).first(9)
    assert found.sizes.tolist() == [2, 1]
    assert found.ids.tolist() == [1, 1]
    (tmp_path / "c.svm").write_text("\n1 qid:1 1:1\n1 2:1\n")
    with pytest.raises(read.BadInput, match=r"c\.svm, line 3: expected qid:number, got '2:1'\. Wi"):
        whole(str(tmp_path / "*.svm"))
    assert whole(tmp_path, skip_bad=True)[1] == 1


def test_standard_input_gives_groups_as_they_are_whole(monkeypatch):
    parts = iter(
        [b"1 qid:1 1:1\n", b"0 qid:1 2:1\n1 qi", b"d:2 1:1\n", b"1 qid:3\n1 qid:3 1:", b"2"]
    )

    class Slow(io.RawIOBase):
        def read1(self, size):
            return next(parts, b"")

    monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": Slow()}))
    found = read.groups("-", n_features=2)
    assert [batch.sizes.tolist() for batch in found] == [[2], [1], [2]]
    parts = iter([b"1 qid:1 1:1\n"])
    with pytest.raises(read.BadInput, match="n_features must be given for svmlight from standard"):
        list(read.groups("-"))


def test_formats_are_told_by_names(tmp_path):
    for name, text in {"a.txt": SVM, "a.dat": SVM, "a.vw": LDF, "a.rank": LDF}.items():
        (tmp_path / name).write_text(text)
    assert whole(tmp_path / "a.txt") == whole(tmp_path / "a.dat")
    assert whole(tmp_path / "a.rank", format="vw") == whole(tmp_path / "a.vw")
    with pytest.raises(read.BadInput, match=r"extension .* such as \.svm, got '\.rank'\. Name the"):
        read.groups(tmp_path / "a.rank")
    with pytest.raises(read.BadInput, match="must have one format, got svmlight and vw"):
        read.groups([tmp_path / "a.txt", tmp_path / "a.vw"])
    with pytest.raises(ValueError, match="format must be one of 'svmlight', 'vw', got 'csv'"):
        read.groups(tmp_path / "a.txt", format="csv")


def test_settings(tmp_path):
    path, ldf = tmp_path / "a.svm", tmp_path / "a.vw"
    path.write_text("-1 qid:1 0:1\n")
    ldf.write_text(LDF)
    found = read.groups(path, zero_based=True, label=False)
    assert found.first(1).X.toarray().tolist() == [[1]]
    assert not found.first(1).is_labelled
    assert found.columns == {"zero_based": True, "format": "svmlight"}
    assert read.groups(found) is found
    with pytest.raises(ValueError, match="cross is for vw, got svmlight"):
        read.groups(path, cross=True)
    with pytest.raises(ValueError, match="zero_based is for svmlight, got vw"):
        read.groups(ldf, zero_based=True)
    with pytest.raises(TypeError, match="label must be None or False, got 'y'"):
        read.groups(path, label="y")
    with pytest.raises(ValueError, match="n_features must be at least 1, got 0"):
        read.groups(path, n_features=0)


def test_other_encodings(tmp_path):
    (tmp_path / "a.svm").write_text(SVM, encoding="utf-16")
    (tmp_path / "b.svm").write_text(SVM, encoding="utf-8-sig")
    assert whole(tmp_path / "a.svm", encoding="utf-16") == whole(tmp_path / "b.svm")


@pytest.mark.parametrize("name", ["a.svm", "a.vw"])
def test_empty_files(tmp_path, name):
    (tmp_path / name).write_text("\n\n")
    with pytest.raises(read.BadInput, match="must have at least one record, got an empty file"):
        whole(tmp_path / name)


def test_a_group_has_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr("surelearn.read._lines.LONGEST", 500)
    (tmp_path / "a.svm").write_text("1 qid:1 1:1\n" * 100)
    (tmp_path / "a.vw").write_text("1:1 |f a\n" * 100)
    for name, what in (("a.svm", "groups of one qid each"), ("a.vw", "groups with a blank line")):
        with blocks_of(64), pytest.raises(read.BadInput, match=f"must be made of {what}"):
            whole(tmp_path / name)


N = 50

QUERY_LINES = st.one_of(
    st.builds(
        "{} qid:{}{}".format,
        st.sampled_from(["0", "1", "2.5", "3"]),
        st.integers(0, 3),
        st.sampled_from(["", " 1:1", "\t3:0.5 7:-2 ", " 2:1 # note", "\r", " 50:1e3"]),
    ),
    st.sampled_from(["", "# note", "  ", "1 3:1", "x qid:1", "-1 qid:2 1:1", "1 qid: 1:1"])
    | st.sampled_from(["1 qid:2 51:1", "1 qid:01 1:1", "1 qid:1#x", "1 qid:2 0:1", "inf qid:3"])
    | st.just("1 qid:1234567890123456789"),
)
CANDIDATE_LINES = st.one_of(
    st.builds(
        "{}|{}".format,
        st.sampled_from(["1:0 ", "2:1.5 ", "3:-1 'tag ", "4:1 tag", "shared "]),
        st.sampled_from(["f a", "f a b:2 |g c", " x:0", "f:2 a", ""]),
    ),
    st.sampled_from(["", "", "", " \r", "1 |f a", "|f a", "x:1 |f a", "1:x |f", "1:inf |f"])
    | st.sampled_from(["1: |f", ":1 |f a", "1:2:3 |f", "1 2 |f", "1:0 2:1 |f a", "1:0 good"])
    | st.sampled_from(["***shared*** |s a", "shared:1 |s a", "1:1e400 |", "1234567890123456789 |f"])
    | st.sampled_from(["1:0 |f a:3e38 a:3e38", "shared |f a:3e38"]),
)


def texts(lines):
    return st.lists(lines, max_size=12).map(lambda rows: "\n".join(rows).encode())


def readers(**settings):
    return (
        QueryReader(N, zero_based=False, labelled=True, **settings),
        CandidateReader(N, cross=False, labelled=True, **settings),
    )


def nonzero(groups):
    """Without entries of value zero."""
    return [
        (query, [(y, name, {j: x for j, x in row.items() if x}) for y, name, row in rows])
        for query, rows in groups
    ]


@given(texts(QUERY_LINES))
@example(b"junk\n1 qid:1 1:1\n1 qid:2 1:1\njunk\n1 qid:3")
def test_queries_are_those_of_the_reference(data):
    ours = readers(skip_bad=True)[0](data, "x", 1)
    theirs, n_bad = reference.svmlight(data, N)
    assert (grouped(ours), ours.n_bad) == (nonzero(theirs), n_bad)
    check_strict(readers(skip_bad=False)[0], data, n_bad)


@given(texts(CANDIDATE_LINES))
@example(b"shared |f a:3e38\n1:0 |f a:3e38\n2:1 |f b")
def test_candidates_are_those_of_the_reference(data):
    ours = readers(skip_bad=True)[1](data, "x", 1)
    theirs, n_bad = reference.candidates(data, N)
    assert (grouped(ours), ours.n_bad) == (nonzero(theirs), n_bad)
    check_strict(readers(skip_bad=False)[1], data, n_bad)


def check_strict(reader, data, n_bad):
    if n_bad == 0:
        assert reader(data, "x", 1).n_bad == 0
        return
    with pytest.raises(BadInput, match=r"^x, line [0-9]+: expected .*With skip_bad=True such gro"):
        reader(data, "x", 1)


@given(texts(QUERY_LINES | CANDIDATE_LINES))
def test_groups_are_all_of_a_block(data):
    for reader in readers(skip_bad=True):
        found = list(reader.texts(data))
        assert all(first.end == second.begin for first, second in pairwise(found))
        assert not data[: found[0].begin].strip()
        assert found[-1].end == len(data)


@given(texts(QUERY_LINES | CANDIDATE_LINES), texts(QUERY_LINES | CANDIDATE_LINES))
def test_what_follows_does_not_move_a_border(data, more):
    """A block that ends at a border has the groups that the whole text has."""
    for reader in readers(skip_bad=True):
        cut = reader.last_end(data)
        assert 0 <= cut <= len(data)
        if cut:
            every = [*(text.begin for text in reader.texts(data + more)), len(data + more)]
            following = min(begin for begin in every if begin >= cut)
            assert not (data + more)[cut:following].strip()


@given(texts(QUERY_LINES), texts(QUERY_LINES))
def test_what_was_seen_before_need_not_be_looked_at_again(data, more):
    for reader in readers(skip_bad=True):
        if not reader.last_end(data):
            both = data + more
            assert reader.last_end(both, len(data)) == reader.last_end(both)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("1 qid:1 1:1\n\n1 1:1\n", r"line 3: expected qid:number, got '1:1'"),
        ("1 qid:1 1:1\n1 # x\n", r"line 2: expected qid:number after the label, got '1'"),
        ("1 qid:x 1:1\n", r"line 1: expected qid:number, got 'qid:x'"),
        ("1 qid:1234567890123456789\n", r"line 1: expected a qid of at most 18 digits, got 'qid:1"),
        ("1 qid:1 1:1\n-2 qid:1\n", r"line 2: expected a relevance of at least 0, got -2\."),
        ("1 qid:1 9:1\n1 qid:2 60:1\n", r"line 2: expected at most 50 features, got 60\."),
        (
            "1 qid:1\n1 qid:2\n1 qid:1\n",
            r"line 3: expected all lines of a query one .* qid:1 again",
        ),
        ("1 qid:1\n1 qid:1 x\n", r"line 2: expected index:value, got 'x'"),
    ],
)
def test_a_bad_query_is_named(data, message):
    with pytest.raises(BadInput, match=message):
        readers(skip_bad=False)[0](data.encode(), "x", 1)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("1:0 |f a\n\n\n1:0 |f a\n2 |f b\n", r"line 5: expected label:cost, since .*, got none"),
        ("\nshared |f a\n\n1:0 |f a\n", r"line 2: expected candidates after the shared .*none"),
        ("1:0 |f a\nshared |f a\n", r"line 2: expected 'shared' in the first line of a group, got"),
        ("shared |f a\nshared |f a\n1:0 |\n", r"line 2: expected 'shared' in the first line"),
        ("x:0 |f a\n", r"line 1: expected label:cost with a whole number as label, got 'x:0'"),
        ("1:0 2:1 |f a\n", r"line 1: expected '\|' after label:cost, got '2:1'"),
        ("1:a |f a\n", r"line 1: expected label:cost, got '1:a'"),
        ("1:nan |f a\n", r"line 1: expected a finite cost, got '1:nan'"),
        ("shared |f a:3e38\n1:0 |f a:3e38\n", r"line 1: expected features of finite sums"),
    ],
)
def test_a_bad_candidate_is_named(data, message):
    with pytest.raises(BadInput, match=message):
        readers(skip_bad=False)[1](data.encode(), "x", 1)


def test_lines_before_a_bad_group_can_be_kept():
    for reader, data in zip(
        readers(skip_bad=False),
        (b"1 qid:1\n1 qid:2\n1 qid:2 x\n", b"1:0 |a\n\n1:0 |a\n1:x |a\n"),
        strict=True,
    ):
        with pytest.raises(BadInput, match="line") as caught:
            reader(data, "x", 1)
        n = caught.value.n_before
        kept = b"".join(line + b"\n" for line in data.split(b"\n")[:n])
        assert len(reader(kept, "x", 1)) == 1
        assert caught.value.records == "groups"


def test_labels_may_be_left_out():
    queries = QueryReader(N, zero_based=False, labelled=False, skip_bad=False)
    found = queries(b"-1 qid:1 1:1\n2 qid:1\n", "x", 1)
    assert found.relevance is None
    assert not found.is_labelled
    candidates = CandidateReader(N, cross=False, labelled=False, skip_bad=False)
    assert candidates(b"1:0 |a\n2 |b\n", "x", 1).cost is None


N_CANDIDATES = 40
TEXT = b"""shared |s red:2 round
1:0 |l hot:3
2:1.5 |l cold warm:-1

5:1 |l a

shared |s blue
6:0 |l b
"""


def dense(line):
    return parse_candidates(line, n_features=N_CANDIDATES).X.toarray()


def test_shared_features_are_added_to_each_candidate():
    found = Candidates(parse_candidates(TEXT, n_features=N_CANDIDATES), cross=False)
    red, blue = dense(b"|s red:2 round\n"), dense(b"|s blue")
    hot, cold, a, b = (dense(x) for x in (b"|l hot:3", b"|l cold warm:-1", b"|l a", b"|l b"))
    np.testing.assert_array_equal(
        found.X.toarray(), np.vstack([hot + red, cold + red, a, b + blue])
    )
    assert found.costs.tolist() == [0, 1.5, 1, 0]
    assert found.names.tolist() == [1, 2, 5, 6]
    assert found.groups.tolist() == [0, 0, 1, 2]
    assert found.wrong is None


def test_shared_features_are_crossed_with_those_of_each_candidate():
    parsed = parse_candidates(TEXT, n_features=N_CANDIDATES)
    found = Candidates(parsed, cross=True).X - Candidates(parsed, cross=False).X
    rows = parsed.X.toarray()
    expected = np.zeros((4, N_CANDIDATES), np.float32)
    for i, (shared, own) in enumerate([(0, 1), (0, 2), (None, 3), (4, 5)]):
        if shared is not None:
            left, right = csr_array(rows[[shared]]), csr_array(rows[[own]])
            expected[i] = crossed(left, right, ([0], [0]), N_CANDIDATES, hashed=True).toarray()
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-6)
    assert np.count_nonzero(expected) >= 5


def test_candidates_that_share_nothing_are_not_copied():
    parsed = parse_candidates(b"1:0 |l a\n2:1 |l b\n", n_features=N_CANDIDATES)
    assert Candidates(parsed, cross=True).X is parsed.X


@pytest.mark.parametrize(("cross", "n"), [(False, 3 + 4), (True, 3 + 4 + 2 * 1 + 2 * 2)])
def test_the_entries_of_a_group_are_counted_before_they_are_made(monkeypatch, cross, n):
    parsed = parse_candidates(TEXT, n_features=2**20)
    monkeypatch.setattr(_groups, "MOST_ENTRIES", n)
    assert Candidates(parsed, cross).wrong is None
    monkeypatch.setattr(_groups, "MOST_ENTRIES", n - 1)
    assert Candidates(parsed, cross).wrong == (
        f"expected a group of at most {n - 1} entries with its shared features, got {n}. "
        "They are repeated for each candidate."
    )


@pytest.mark.parametrize("label", [True, "label", 0])
def test_labels_are_read_unless_they_are_switched_off(label, tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("1 qid:1 1:1\n")
    with pytest.raises(TypeError, match=f"label must be None or False, got {label!r}"):
        read.groups(path, label=label)

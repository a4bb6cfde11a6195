"""Blocks of groups beside a slow reader: the same groups, and whole groups left out."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reading import grouped
from reference import groups as reference
from surelearn._check import BadInput
from surelearn.read._group_readers import CandidateReader, QueryReader

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

"""Files of groups: found by their names, cut into blocks of whole groups."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from grouped import candidates, queries
from reading import blocks_of, check_going_on, grouped
from surelearn import read

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

"""Data sets as texts and rows, without their files where possible."""

from __future__ import annotations

import lzma

import numpy as np
import pytest

from experiments import sets


def test_equal_texts_share_a_number():
    assert sets.numbered(["a", "b", "a", "c"]).tolist() == [0, 1, 0, 2]


def test_folds_never_cut_a_group():
    groups = np.arange(40) // 2
    found = list(sets.folds(groups, 5))
    assert sorted(place for _, judge in found for place in judge) == list(range(40))
    for learn, judge in found:
        assert not set(groups[learn]) & set(groups[judge])
    first, second = sets.cut(np.arange(40), groups, 0.25)
    assert (len(first), len(second)) == (30, 10)
    assert not set(groups[first]) & set(groups[second])


def test_counts_of_reviews_become_tokens(tmp_path, monkeypatch):
    folder = tmp_path / "amazon-processed-acl"
    folder.mkdir()
    with lzma.open(folder / "books.txt.xz", "wt", encoding="utf-8") as file:
        file.write("the_book:2 a:b:1 #label#:positive\nbad:1 #label#:negative\n")
    monkeypatch.setenv("SURELEARN_DATA", str(tmp_path))
    corpus = sets.texts("Amazon books")
    assert corpus.texts == ["the_book the_book a:b", "bad"]
    assert corpus.y.tolist() == ["positive", "negative"]
    rows = sets.rows("Amazon books", norm=None)
    assert np.asarray(rows.X.sum(axis=1)).ravel().tolist() == [3, 1]


def test_dense_sets_need_no_files():
    rows = sets.rows("wine")
    assert rows.X.shape == (178, 13)
    (scaled,) = sets.standardised(rows.X)
    np.testing.assert_allclose(scaled.std(axis=0), 1.0)


def test_a_missing_file_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("SURELEARN_DATA", str(tmp_path))
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "cache"))
    with pytest.raises(FileNotFoundError, match=r"sentiment140-100k\.jsonl\.xz"):
        sets.texts("Sentiment140")

"""Texts from lists, columns and Arrow arrays."""

from __future__ import annotations

import numpy as np
import pytest

from surelearn.text._sources import ArrowTexts, all_str, narrow, sources_of

DOCS = ["one", "", "naïve", "drei"]


def test_lists_are_copied():
    found = sources_of(DOCS)
    assert found == DOCS
    assert found is not DOCS


def test_columns_of_text_are_read_in_place():
    pandas, polars, pyarrow = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    chunks = pyarrow.chunked_array([DOCS[:1], DOCS[1:]])
    for column in (
        polars.Series(DOCS),
        pyarrow.array(DOCS),
        chunks,
        pandas.Series(DOCS, dtype="category"),
    ):
        found = sources_of(column)
        assert [found[i] for i in range(len(found))] == DOCS
    assert isinstance(sources_of(chunks), ArrowTexts)
    assert len(sources_of(chunks).texts(lower=True)) == 4


def test_other_columns_become_lists():
    polars = pytest.importorskip("polars")
    assert sources_of(polars.Series([1, 2])) == [1, 2]
    assert sources_of(np.array(DOCS, dtype=object)) == DOCS
    assert sources_of(polars.Series([])) == []
    assert sources_of(text for text in DOCS) == DOCS


def test_places_are_as_narrow_as_they_fit():
    assert narrow(np.array([0, 2**31 - 1])).dtype == np.int32
    assert narrow(np.array([0, 2**31])).dtype == np.int64


def test_whether_all_are_str():
    assert all_str(DOCS)
    assert not all_str([*DOCS, b"bytes"])
    assert not all_str(tuple(DOCS))

"""Rows, scores and texts that do not fit what they are given for are refused by name."""

from __future__ import annotations

import re

import numpy as np
import pandas
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from classifiers import X4, Y4
from surelearn import SureClassifier, _check, evaluate


def test_rows_and_sources_are_told_apart(tmp_path):
    clf = SureClassifier().fit(X4, Y4)
    one = {"a": 1.0}
    for rows in (X4, sparse.csr_matrix(X4), [X4[0], X4[1]], X4.tolist(), [(0.0, 1.0)], [one]):
        with pytest.raises(TypeError, match="y must be given for rows in memory, got None"):
            evaluate(clf, rows)
    for path in ("test.jsonl", tmp_path / "test.jsonl"):
        with pytest.raises(TypeError, match=r"X must be rows if y is given, got .*test.jsonl"):
            evaluate(clf, path, Y4)
    with pytest.raises(TypeError, match=r"y must be an array of labels, got 'label'\. Use label="):
        evaluate(clf, X4, "label")


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (("not finite", 3), "Z must be finite, got NaN or infinity in row 3."),
        (("bad index", 0), "Z must have indices below its width, got another in row 0."),
        (("bad indptr", 7), "Z must be a valid CSR matrix, got a bad indptr at row 7."),
    ],
)
def test_a_fault_of_the_core_is_a_sentence(fault, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        _check.sound_rows(fault, "Z")
    _check.sound_rows(None)


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([0.5, 0.5], r"p must have shape (n, K) with K >= 2, got shape (2,)."),
        ([[1.0]], r"p must have shape (n, K) with K >= 2, got shape (1, 1)."),
        ([[0.5, 0.5], [-0.25, 1.25]], "p must be within 0 and 1, got -0.25."),
        ([[0.5, 0.5], [0.5, 0.25]], "p must sum to one in each row, got 0.75 in row 1."),
        ([[0.5, np.nan]], "p must be finite, got nan."),
    ],
)
def test_what_are_no_probabilities(p, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        _check.probabilities(p)


def test_probabilities_may_be_off_by_their_rounding():
    thirds = np.full((1, 3), 1 / 3, dtype=np.float32)
    np.testing.assert_array_equal(_check.probabilities(thirds), thirds.astype(float))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("a text", "Iterable over raw text documents expected, string object received"),
        (b"bytes", "Iterable over raw text documents expected, string object received"),
        (pandas.DataFrame({"a": ["x"]}), r"texts must be one column, got a frame .* \['a'\]"),
        (pyarrow.table({"a": ["x"]}), r"texts must be one column, got a frame .* \['a'\]"),
        (np.array([["a"], ["b"]]), r"texts must have one dimension, got shape \(2, 1\)"),
    ],
    ids=["str", "bytes", "pandas", "arrow", "array"],
)
def test_what_is_no_collection_of_texts(X, message):
    with pytest.raises(ValueError, match=message):
        _check.texts(X)


@given(st.text(max_size=10))
def test_a_text_can_be_written_unless_it_has_a_lone_surrogate(text):
    surrogates = any("\ud800" <= letter <= "\udfff" for letter in text)
    assert _check.is_utf8(text) == (not surrogates)
    assert _check.is_utf8(text.encode("utf-8", "surrogatepass")) == (not surrogates)
    assert not _check.is_utf8(text + "\udc80")

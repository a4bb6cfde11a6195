"""What is said of a line that cannot be read: where it is, what was expected, what helps."""

from __future__ import annotations

import ast
import pickle

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from surelearn import _check
from surelearn._check import BadInput, NoRecords


def test_a_bad_record_names_place_reason_and_remedy():
    error = _check.bad_record("a.conll, line 3", "expected a tag.", "sentences", n_before=2)
    assert str(error) == (
        "a.conll, line 3: expected a tag. With skip_bad=True such sentences are left out."
    )
    assert (error.records, error.n_before) == ("sentences", 2)


@pytest.mark.parametrize("n_before", [None, 0, 7])
def test_a_bad_record_of_another_process_says_how_many_were_before(n_before):
    error = _check.bad_record("a.csv, line 9", "expected two columns.", n_before=n_before)
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.records, copy.n_before) == (str(error), "records", n_before)


def test_a_source_without_records():
    assert str(NoRecords("a.csv")) == "a.csv must have at least one record, got none."
    error = NoRecords("a.conll", what="sentence", got="3 bad ones")
    assert str(error) == "a.conll must have at least one sentence, got 3 bad ones."
    assert isinstance(error, BadInput)


@given(st.binary(max_size=300))
@example(b"x" * 40)
@example(b"x" * 41)
def test_no_more_is_shown_than_fits_on_a_line(line):
    said = _check.unlike("a number", line)
    start = "expected a number, got "
    assert said.startswith(start)
    assert said.endswith(".")
    shown = ast.literal_eval(said[len(start) : -1])
    text = line.decode("utf-8", "replace")
    assert shown == text or (shown.endswith(" ...") and text.startswith(shown[:-4]))
    assert len(shown) <= 40


@given(st.text(max_size=10))
def test_a_text_can_be_written_unless_it_has_a_lone_surrogate(text):
    surrogates = any("\ud800" <= letter <= "\udfff" for letter in text)
    assert _check.is_utf8(text) == (not surrogates)
    assert _check.is_utf8(text.encode("utf-8", "surrogatepass")) == (not surrogates)
    assert not _check.is_utf8(text + "\udc80")

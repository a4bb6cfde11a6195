"""Sentences of errors: in the words of Python, and in those of the command."""

from __future__ import annotations

import ast
import pickle

import pytest
import typer
from hypothesis import example, given
from hypothesis import strategies as st

from surelearn import _check
from surelearn._check import BadInput, Keyword, Message, NoRecords
from surelearn.cli._app import app, in_options

COMMANDS = typer.main.get_command(app)


def test_sentences_of_sentences() -> None:
    inner = Message("With {it} more.", it=Keyword("skip_bad", True))
    said = Message("{who} stops. {rest}", who="It", rest=inner)
    assert said == "It stops. With skip_bad=True more."
    assert in_options(said, COMMANDS) == "It stops. With --skip-bad more."


def test_a_sentence_survives_another_process() -> None:
    error = ValueError(Message("Use {it}.", it=Keyword("text", "body")))
    back = pickle.loads(pickle.dumps(error))
    assert str(back) == str(error)
    assert in_options(back, COMMANDS) == "Use --text body."


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

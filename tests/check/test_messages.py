"""Sentences of errors: in the words of Python, and in those of the command."""

from __future__ import annotations

import pickle

import typer

from surelearn._check import Keyword, Message
from surelearn.cli._app import app
from surelearn.cli._wording import in_options

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

"""Sentences of errors: in the words of Python, and in those of the command."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
import typer

from surelearn._check import Keyword, Said
from surelearn.cli._app import app
from surelearn.cli._wording import in_options

COMMANDS = typer.main.get_command(app)


@pytest.mark.parametrize(
    ("keyword", "python", "option"),
    [
        (Keyword("text", "body"), "text='body'", "--text body"),
        (Keyword("text", "the body"), "text='the body'", "--text 'the body'"),
        (Keyword("features", ["a", "b"]), "features=['a', 'b']", "--features a,b"),
        (Keyword("n_features", 7), "n_features=7", "--n-features 7"),
        (Keyword("n_features"), "n_features", "--n-features"),
        (Keyword("skip_bad", True), "skip_bad=True", "--skip-bad"),
        (Keyword("cache_bytes", 0), "cache_bytes=0", "cache_bytes=0"),
        (Keyword("columns", ["w", "_"]), "columns=['w', '_']", "--columns w,_"),
    ],
)
def test_keywords_are_options_in_the_command(keyword: Keyword, python: str, option: str) -> None:
    error = ValueError(Said("{file} is bad: use {it}.", file="{a}.csv", it=keyword))
    assert str(error) == f"{{a}}.csv is bad: use {python}."
    assert in_options(error, COMMANDS) == f"{{a}}.csv is bad: use {option}."


def test_sentences_of_sentences() -> None:
    inner = Said("With {it} more.", it=Keyword("skip_bad", True))
    said = Said("{who} stops. {rest}", who="It", rest=inner)
    assert said == "It stops. With skip_bad=True more."
    assert in_options(said, COMMANDS) == "It stops. With --skip-bad more."


@pytest.mark.parametrize("error", [ValueError("a {text} b"), KeyError("a"), OSError(2, "no")])
def test_other_errors_are_told_as_they_are(error: Any) -> None:
    assert in_options(error, COMMANDS) == str(error)


def test_a_sentence_survives_another_process() -> None:
    error = ValueError(Said("Use {it}.", it=Keyword("text", "body")))
    back = pickle.loads(pickle.dumps(error))
    assert str(back) == str(error)
    assert in_options(back, COMMANDS) == "Use --text body."

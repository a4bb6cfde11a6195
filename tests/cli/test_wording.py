"""Errors in the words of the command: its options where the library names keywords."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from surelearn._check import Keyword, Message
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
    error = ValueError(Message("{file} is bad: use {it}.", file="{a}.csv", it=keyword))
    assert str(error) == f"{{a}}.csv is bad: use {python}."
    assert in_options(error, COMMANDS) == f"{{a}}.csv is bad: use {option}."


@pytest.mark.parametrize("error", [ValueError("a {text} b"), KeyError("a"), OSError(2, "no")])
def test_other_errors_are_told_as_they_are(error: Any) -> None:
    assert in_options(error, COMMANDS) == str(error)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "r.txt", "-o", "m.sure"], "Name the --format: jsonl, csv"),
        (["train", "r.jsonl", "--format", "xml", "-o", "m.sure"], "--format must be one of"),
        (["train", "r.jsonl", "--text", "text", "--features", "a", "-o", "m.sure"],
         "--text or --features must be named, not both"),
        (["train", "r.jsonl", "--rule", "foo", "-o", "m.sure"], "--rule must be one of"),
        (["train", "r.jsonl", "--checkpoint-every", "soon", "-o", "m.sure"],
         "--checkpoint-every must be rows or a time"),
        (["train", "r.jsonl", "--label", "label", "-o", "m.sure"], "must have a column 'label'"),
        (["train", "r.jsonl", "-o", "m.sure"], "must have labels, got none. Name their column by"),
        (["train", "r.jsonl", "--encoding", "klingon", "-o", "m.sure"], "--encoding must be one"),
        (["train", "r.jsonl", "--delimiter", ";", "-o", "m.sure"], "--delimiter is for csv"),
        (["train", "r.csv", "--quote", "ab", "-o", "m.sure"], "--quote must be one ASCII"),
        (["train", "r.csv", "--label-type", "x", "-o", "m.sure"], "--label-type must be str"),
        (["simulate", "r.jsonl"], "must have labels, got none. Name their column by --label."),
    ],
)  # fmt: skip
def test_errors_of_the_command_name_its_options(
    arguments: list[Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("r.jsonl", "r.txt"):
        Path(name).write_text('{"text": "a", "number": 1}\n' * 3)
    Path("r.csv").write_text("text,label\na,1\n")
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 1
    assert said in done.output
    assert not re.search(r"\b[a-z_]+=", done.output)


def test_a_width_beyond_all_is_named(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["train", "r.jsonl", "-o", "m.sure", "--n-features", str(2**40)])
    assert done.exit_code == 2
    assert "'--n-features'" in done.output


def test_the_largest_index_of_svmlight_has_a_width(tmp_path: Path) -> None:
    arguments = ["train", str(tmp_path / "r.svm"), "-o", "m.sure", "--n-features", str(2**31 - 1)]
    assert "No such file" in CliRunner().invoke(app, arguments).output


def test_rows_that_are_too_wide_name_the_width(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.svm").write_text("1 1:1\n2 2:1\n")
    Path("u.svm").write_text("1 1:1\n2 7:1\n")
    CliRunner().invoke(app, ["train", "t.svm", "-o", "m.sure"])
    for command in (["predict", "m.sure", "u.svm"], ["evaluate", "m.sure", "u.svm"],
                    ["train", "u.svm", "-o", "m.sure", "--resume"]):  # fmt: skip
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 1
        assert done.output == (
            "surelearn: u.svm, line 2: expected at most 2 features, got 7. Train with --n-features "
            "7 to have room. With --skip-bad such records are left out.\n"
        )

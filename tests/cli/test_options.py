"""What every command has: short help, completion, --json, --quiet, progress, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from surelearn import SureTagger, SureTextClassifier, predict
from surelearn.cli import _app
from surelearn.estimators import StreamProgress
from surelearn.prediction import predict_tags

COMMAND = [sys.executable, "-c", "from surelearn.cli import main; main()"]
TEXTS, LABELS = ["a great film", "how dull"] * 20, ["good", "bad"] * 20


def run(*words: object, **more: Any) -> Any:
    return CliRunner().invoke(_app.app, [*map(str, words)], **more)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    SureTextClassifier(random_state=0).fit(TEXTS, LABELS).save("m.sure")
    SureTagger(random_state=0).fit([["a", "b"]], [["A", "B"]]).save("t.sure")
    rows = [{"text": text, "label": label} for text, label in zip(TEXTS, LABELS, strict=True)]
    Path("r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("s.txt").write_text("a A\nb B\n\n")
    return tmp_path


def commands(
    group: Any = None, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """All commands and groups, with the words that call them."""
    group = group or typer.main.get_command(_app.app)
    yield path, group
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, (*path, name))


PATHS = [path for path, _ in commands()]
LEAVES = [path for path, command in commands() if not hasattr(command, "commands")]


# -------------------------------------------------------------------------- help


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_help_is_short_as_well(path: tuple[str, ...]) -> None:
    short, long = run(*path, "-h"), run(*path, "--help")
    assert short.exit_code == long.exit_code == 0
    assert short.output == long.output
    assert "-h, --help" in long.output


@pytest.mark.parametrize(
    ("typed", "found"),
    [("pre", {"predict"}), ("tag ", {"train", "predict", "evaluate"}),
     ("train --resu", {"--resume"}), ("merge --how we", {"weighted"})],
)  # fmt: skip
def test_shells_complete_what_was_begun(typed: str, found: set[str]) -> None:
    words = f"surelearn {typed}"
    code = "import sys; sys.argv = ['surelearn']; from surelearn.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "_SURELEARN_COMPLETE": "complete_bash", "COMP_WORDS": words,
             "COMP_CWORD": str(words.count(" "))},
    )  # fmt: skip
    assert set(done.stdout.split()) == found


def test_completion_can_be_installed() -> None:
    assert {"--install-completion", "--show-completion"} <= set(run("--help").output.split())


# -------------------------------------------------------------------------- json


def test_every_command_that_reports_can_do_so_in_json() -> None:
    for path, command in commands():
        options = {name for parameter in command.params for name in parameter.opts}
        if path in LEAVES and path[-1] != "predict":
            assert "--json" in options, path


def test_json_of_merging(folder: Path) -> None:
    done = run("merge", "m.sure", "m.sure", "-o", "w.sure", "--json", "--how", "kl")
    assert done.exit_code == 0, done.output
    assert json.loads(done.output) == {
        "model": "w.sure", "bytes": Path("w.sure").stat().st_size, "how": "kl",
        "merged": ["m.sure", "m.sure"], "classes": ["bad", "good"],
    }  # fmt: skip


# ---------------------------------------------------------------------- progress


def on_a_terminal(*words: str, stdout: bool = False) -> tuple[str, str]:
    """What a command prints, and what it shows on the terminal of standard error."""
    pty = pytest.importorskip("pty")
    leader, follower = pty.openpty()
    done = subprocess.run(
        [*COMMAND, *words], stderr=follower, stdout=follower if stdout else subprocess.PIPE,
        text=True, check=True, env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )  # fmt: skip
    os.write(follower, b"END")
    os.close(follower)
    shown = ""
    while not shown.endswith("END"):
        shown += os.read(leader, 100_000).decode()
    os.close(leader)
    return done.stdout, shown


BARS = {
    "predict m.sure r.jsonl": "Labelling",
    "predict m.sure r.jsonl --output out.jsonl": "Labelling",
    "tag predict t.sure s.txt": "Labelling",
    "evaluate m.sure r.jsonl": "Judging",
    "tag evaluate t.sure s.txt": "Judging",
}


@pytest.mark.parametrize("words", BARS)
def test_progress_is_shown_on_a_terminal(folder: Path, words: str) -> None:
    printed, shown = on_a_terminal(*words.split())
    assert BARS[words] in shown
    assert "rows/s" in shown
    assert ("wrong" in shown) == (BARS[words] == "Judging")
    assert BARS[words] not in printed
    _, quiet = on_a_terminal(*words.split(), "--quiet")
    assert quiet == "END"


def test_lines_on_a_terminal_have_no_bar_between_them(folder: Path) -> None:
    _, shown = on_a_terminal("predict", "m.sure", "r.jsonl", stdout=True)
    assert "rows/s" not in shown
    assert shown.count('{"label"') == 40


def test_nothing_is_shown_outside_a_terminal(folder: Path) -> None:
    for words in BARS:
        done = subprocess.run([*COMMAND, *words.split()], capture_output=True, check=True)
        assert done.stderr == b""


def test_predictions_report_how_far_they_have_come(folder: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("surelearn.read._lines.BLOCK", 300)
    clf = SureTextClassifier(random_state=0).fit(TEXTS, LABELS)
    seen: list[StreamProgress] = []
    with open("r.jsonl", "a") as file:
        file.write("bad\n")
    for _ in predict(clf, "r.jsonl", progress=seen.append, skip_bad=True):
        pass
    size = Path("r.jsonl").stat().st_size
    assert len(seen) > 3
    assert seen[-1] == StreamProgress(1, 1, 40, 0, size, size, 1)
    tagger = SureTagger(random_state=0).fit([["a", "b"]], [["A", "B"]])
    seen.clear()
    list(predict_tags(tagger, "s.txt", progress=seen.append, columns=["w"]))
    size = Path("s.txt").stat().st_size
    assert seen == [StreamProgress(1, 1, 1, 0, size, size, 0)]

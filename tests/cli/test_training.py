"""What commands that train say: of what was learnt, of Ctrl-C, of nothing new."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import surelearn
from command import COMMAND, line, run
from surelearn.cli import _training
from surelearn.cli._progress import share
from surelearn.learners import text_classifier


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.jsonl").write_text("".join(line(i) + "\n" for i in range(100)))
    return tmp_path


@pytest.mark.parametrize("passes", [1, 3])
def test_going_on_says_that_nothing_was_new(folder: Path, passes: int) -> None:
    more = ("-o", "m.sure", "--passes", passes)
    assert run("train", "r.jsonl", *more).exit_code == 0
    before = Path("m.sure").read_bytes()
    done = run("train", "r.jsonl", *more, "--resume")
    assert done.exit_code == 0, done.output
    first, last = done.output.splitlines()
    assert first == "No new rows in r.jsonl: the model is unchanged."
    assert last.startswith("The model is in m.sure (")
    assert Path("m.sure").read_bytes() == before
    report = json.loads(run("train", "r.jsonl", *more, "--resume", "--json").output)
    assert (report["learnt"], report["mistakes"]) == (0, [])


def test_an_empty_stream_brings_nothing_new(folder: Path) -> None:
    assert run("train", "-", "-o", "m.sure", input=Path("r.jsonl").read_text()).exit_code == 0
    done = run("train", "-", "-o", "m.sure", "--resume", input="")
    assert done.output.startswith("No new rows in standard input: the model is unchanged.\n")
    # As many rows as before, but others.
    for path in ("-", "/dev/stdin"):
        done = subprocess.run(
            [*COMMAND, "train", path, "-o", "m.sure", "--resume", "--json", "--format", "jsonl"],
            input=Path("r.jsonl").read_bytes(), stdout=subprocess.PIPE, check=True,
        )  # fmt: skip
        assert json.loads(done.stdout)["learnt"] == 100


def test_bad_rows_alone_are_nothing_new(folder: Path) -> None:
    more = ("-o", "m.sure", "--passes", 1, "--skip-bad")
    run("train", "r.jsonl", *more)
    with open("r.jsonl", "a") as file:
        file.write("no json\n")
    done = run("train", "r.jsonl", *more, "--resume")
    assert done.output.splitlines()[:2] == [
        "No new rows in r.jsonl: the model is unchanged.",
        "Skipped because they could not be parsed: 1 rows.",
    ]


def test_of_many_passes_the_first_and_the_last_are_told(folder: Path) -> None:
    def told(passes: int) -> list[str]:
        done = run("train", "r.jsonl", "-o", "m.sure", "--passes", passes)
        return [said for said in done.output.splitlines() if " error" in said]

    (one,) = told(1)
    assert re.fullmatch(r"Progressive validation error: [0-9.]+ %\.", one)
    assert told(2)[0] == one
    assert told(2)[1].startswith("Training error in pass 2: ")
    assert told(11)[1].count("%") == 10
    _, later = told(12)
    wrong = surelearn.load("m.sure").mistakes_.tolist()
    shares = [share(n, 100) for n in (*wrong[1:6], *wrong[-5:])]
    ends = ", ".join([*shares[:5], "...", *shares[5:]])
    assert later == f"Training error in passes 2 to 12: {ends}."


def test_a_bad_line_of_a_stream_says_what_was_learnt_before_it(folder: Path) -> None:
    text = Path("r.jsonl").read_text() + "oops\n" + line(1)
    done = run("train", "-", "-o", "m.sure", input=text)
    assert (done.exit_code, done.output) == (
        1, "surelearn: standard input, line 101: expected a JSON object, got 'oops'. With "
        "--skip-bad such records are left out. The 100 records before it were learnt; the model "
        "is saved in m.sure, and --resume continues.\n"
    )  # fmt: skip
    assert surelearn.load("m.sure").stream_.rows == 100
    done = run("train", "-", "-o", "m.sure", "--resume", input=line(1) + "\n")
    assert done.exit_code == 0, done.output
    assert surelearn.load("m.sure")._model.counts.sum() == 101


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_says_how_to_go_on(folder: Path, number: int) -> None:
    process = subprocess.Popen(
        [*COMMAND, "train", "-", "-o", "m.sure", "--checkpoint-every", "1"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(Path("r.jsonl").read_text())
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while not Path("m.sure").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.2)
    process.send_signal(number)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert out == ""
    assert errors == (
        "surelearn: interrupted after 100 rows of pass 1. The model so far is in m.sure; "
        "--resume continues.\n"
    )
    assert surelearn.load("m.sure").stream_.rows == 100


def test_ctrl_c_is_answered_when_the_bar_is_gone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def bar(*, quiet: bool) -> Any:
        try:
            yield None
        finally:
            print("bar gone", file=sys.stderr)

    def stopped(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(_training, "progress_bar", bar)
    monkeypatch.setattr(text_classifier.SureTextClassifier, "fit_stream", stopped)
    done = run("train", "r.jsonl", "-o", "m.sure")
    assert done.exit_code == 130
    assert done.stderr == "bar gone\nsurelearn: interrupted before anything was learnt.\n"

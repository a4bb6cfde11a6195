"""What is shown while work goes on: bars on a terminal, nothing elsewhere, warnings at once."""

from __future__ import annotations

import json
import os
import re
import subprocess
import warnings
from pathlib import Path
from typing import Any

import pytest

from command import COMMAND, run
from surelearn import SureTagger, SureTextClassifier, predict
from surelearn.cli._progress import _Shown, share
from surelearn.learners import StreamProgress, text_classifier
from surelearn.prediction import predict_tags

TEXTS, LABELS = ["a great film", "how dull"] * 20, ["good", "bad"] * 20


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    SureTextClassifier(random_state=0).fit(TEXTS, LABELS).save("m.sure")
    SureTagger(random_state=0).fit([["a", "b"]], [["A", "B"]]).save("t.sure")
    rows = [{"text": text, "label": label} for text, label in zip(TEXTS, LABELS, strict=True)]
    Path("r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("s.txt").write_text("a A\nb B\n\n")
    return tmp_path


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
    "predict m.sure r.jsonl": "Predicting",
    "predict m.sure r.jsonl --output out.jsonl": "Predicting",
    "tag predict t.sure s.txt": "Predicting",
    "evaluate m.sure r.jsonl": "Evaluating",
    "tag evaluate t.sure s.txt": "Evaluating",
    "train r.jsonl -o n.sure": "Pass 3/3",
}


#: One of them quickly; each starts a terminal twice.
SOME = [
    words if words.startswith("train") else pytest.param(words, marks=pytest.mark.slow)
    for words in BARS
]


@pytest.mark.parametrize("words", SOME)
def test_progress_is_shown_on_a_terminal(folder: Path, words: str) -> None:
    printed, shown = on_a_terminal(*words.split())
    assert BARS[words] in shown
    assert "rows/s" in shown
    assert ("wrong" in shown) == (BARS[words] != "Predicting")
    assert BARS[words] not in printed
    _, quiet = on_a_terminal(*words.split(), "--quiet")
    assert quiet == "END"


def test_solvers_show_their_objective_on_a_terminal(folder: Path) -> None:
    words = ["tag", "train", "s.txt", "--model", "crf", "-o", "n.sure"]
    printed, shown = on_a_terminal(*words)
    assert re.search(r"Iteration \d+: objective [\d.]+, gap [\d.e-]+, [\d.]+ s", shown)
    assert "Iteration" not in printed
    _, quiet = on_a_terminal(*words, "--quiet")
    assert quiet == "END"


def test_lines_on_a_terminal_have_no_bar_between_them(folder: Path) -> None:
    _, shown = on_a_terminal("predict", "m.sure", "r.jsonl", stdout=True)
    assert "rows/s" not in shown
    assert shown.count('{"label"') == 40


@pytest.mark.slow
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


def test_warnings_are_shown_when_they_come(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: Any, **__: Any) -> None:
        warnings.warn("the disk is full.", stacklevel=2)
        raise KeyboardInterrupt

    monkeypatch.setattr(text_classifier.SureTextClassifier, "fit_stream", stopped)
    done = run("train", "r.jsonl", "-o", "m.sure")
    assert done.stderr.startswith("surelearn: the disk is full.\nsurelearn: interrupted")


def test_the_bar_says_speed_and_mistakes() -> None:
    class Recorder:
        def __init__(self) -> None:
            self.calls: list[Any] = []

        def add_task(self, name: str, **fields: Any) -> int:
            self.calls.append(("add", name, fields["total"]))
            return len(self.calls)

        def remove_task(self, task: int) -> None:
            self.calls.append(("remove", task))

        def update(self, task: int, **fields: Any) -> None:
            self.calls.append(("update", task, fields["completed"], fields["mistakes"]))

    recorder = Recorder()
    shown = _Shown(recorder)  # type: ignore[arg-type]
    shown(StreamProgress(1, 2, 100, 20, 1000, 5000, 0))
    shown(StreamProgress(1, 2, 200, 30, 2000, 5000, 0))
    shown(StreamProgress(2, 2, 100, 5, 1000, 5000, 0))
    assert recorder.calls == [
        ("add", "Pass 1/2", 5000),
        ("update", 1, 1000, "20.0 % wrong"),
        ("update", 1, 2000, "15.0 % wrong"),
        ("remove", 1),
        ("add", "Pass 2/2", 5000),
        ("update", 5, 1000, "5.0 % wrong"),
    ]
    assert share(1, 0) == "100.0 %"

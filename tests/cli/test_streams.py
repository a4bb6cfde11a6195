"""Standard streams that are closed or full, in real processes: one line, no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import surelearn
from surelearn import SureTagger, SureTextClassifier

pytestmark = pytest.mark.skipif(os.name == "nt", reason="redirections of a POSIX shell")

COMMAND = [sys.executable, "-c", "from surelearn.cli import main; main()"]
TEXTS, LABELS = (
    ["a great film", "great fun", "a dull film", "how dull"],
    ["good", "good", "bad", "bad"],
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("streams")
    SureTextClassifier(random_state=0).fit(TEXTS, LABELS).save(path / "m.sure")
    SureTagger(random_state=0).fit([["a", "b"]], [["A", "B"]]).save(path / "t.sure")
    records = zip(TEXTS, LABELS, strict=True)
    (path / "r.jsonl").write_text(
        "".join(f'{{"text": "{t}", "label": "{y}"}}\n' for t, y in records)
    )
    (path / "s.txt").write_text("a A\nb B\n\n")
    return path


def redirected(folder: Path, words: str, redirection: str) -> subprocess.CompletedProcess[str]:
    """A command whose streams a shell has redirected."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirection}', "sh", *COMMAND, *words.split()],
        cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "words",
    ["predict m.sure -", "evaluate m.sure -", "train - -o x.sure", "simulate -",
     "tag train - -o x.sure", "predict m.sure - --format arrow"],
)  # fmt: skip
def test_closed_input_is_named(folder: Path, words: str) -> None:
    done = redirected(folder, words, "<&-")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "surelearn: standard input must be open, got a closed one.\n"
    assert not (folder / "x.sure").exists()


def test_closed_input_that_is_not_read_does_no_harm(folder: Path) -> None:
    done = redirected(folder, "predict m.sure r.jsonl", "<&-")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 4


@pytest.mark.parametrize(
    "words",
    ["predict m.sure r.jsonl", "evaluate m.sure r.jsonl", "info m.sure", "explain m.sure --json",
     "tag predict t.sure s.txt", "--help", "train --help", "--version"],
)  # fmt: skip
def test_closed_output_is_named(folder: Path, words: str) -> None:
    done = redirected(folder, words, ">&-")
    assert done.returncode == 1
    assert done.stderr == "surelearn: standard output: Bad file descriptor.\n"


def test_closed_output_does_not_lose_the_model(folder: Path) -> None:
    """Nor does what is printed land in a file that got the number of the closed stream."""
    done = redirected(folder, "train r.jsonl -o y.sure", ">&-")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert surelearn.load(folder / "y.sure").stream_.ended
    done = redirected(folder, "predict m.sure r.jsonl --output y.jsonl", "<&- >&- 2>&-")
    assert done.returncode == 0
    assert (folder / "y.jsonl").read_text().count('{"label"') == 4


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "words",
    ["--help", "train --help", "tag predict --help", "--version", "info m.sure",
     "predict m.sure r.jsonl", "tag predict t.sure s.txt", "evaluate m.sure r.jsonl --json"],
)  # fmt: skip
def test_full_output_is_one_line(folder: Path, words: str) -> None:
    done = redirected(folder, words, "> /dev/full")
    assert done.returncode == 1
    assert done.stderr.endswith("No space left on device.\n")
    assert done.stderr.startswith("surelearn: ")
    assert done.stderr.count("\n") == 1
    assert "Errno" not in done.stderr


@pytest.mark.parametrize(
    ("words", "status"), [("info nope.sure", 1), ("info --nope", 2), ("train r.jsonl -o z.sure", 0)]
)
def test_closed_errors_leave_output_alone(folder: Path, words: str, status: int) -> None:
    done = redirected(folder, words, "2>&-")
    assert done.returncode == status
    assert done.stdout == "" or status == 0
    assert done.stderr == ""

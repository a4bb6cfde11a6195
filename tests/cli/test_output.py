"""Output that cannot be written is found before the work, and lines in it are whole."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from surelearn import SureTagger, SureTextClassifier, files
from surelearn.cli import _app, demo
from surelearn.cli._output import WholeLines, is_shown

COMMAND = [sys.executable, "-c", "from surelearn.cli import main; main()"]
TEXTS, LABELS = ["a great film", "how dull"] * 20, ["good", "bad"] * 20

#: Folders that not even root can write to.
proc = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    SureTextClassifier(random_state=0).fit(TEXTS, LABELS).save("m.sure")
    SureTagger(random_state=0).fit([["a", "b"]], [["A", "B"]]).save("t.sure")
    rows = [{"text": text, "label": label} for text, label in zip(TEXTS, LABELS, strict=True)]
    Path("r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("s.txt").write_text("a A\nb B\n\n")
    Path("folder").mkdir()
    return tmp_path


@pytest.fixture(autouse=True)
def no_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "_load", lambda seed: pytest.fail("started to work"))


def run(command: str) -> Any:
    return CliRunner().invoke(_app.app, command.split())


#: Their inputs are not there: what is said of the output is said before they are looked for.
COMMANDS = [
    "train no.jsonl -o {}.sure",
    "train no.jsonl --tune -o {}.sure",
    "tag train no.txt -o {}.sure",
    "merge no.sure no.sure -o {}.sure",
    "predict no.sure no.jsonl --output {}.jsonl",
    "tag predict no.sure no.txt --output {}.txt",
    "evaluate no.sure no.jsonl --picture {}.png",
    "simulate no.jsonl -o {}.csv",
    "simulate no.jsonl --picture {}.png",
    "demo --output {}.png",
]


@proc
@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_that_cannot_be_written_to_is_found_first(folder: Path, command: str) -> None:
    done = run(command.format("/proc/x"))
    path = command.split()[-1].format("/proc/x")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == f"surelearn: {path}: No such file or directory.\n"


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("where", ["nowhere/x", "r.jsonl/x"])
def test_a_folder_that_is_none_is_wrong_use(folder: Path, command: str, where: str) -> None:
    done = run(command.format(where))
    assert (done.exit_code, done.stdout) == (2, "")
    assert "must be in a folder that exists, got" in " ".join(done.stderr.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_is_no_file(folder: Path, command: str) -> None:
    path = command.split()[-1].format("x")
    Path(path).mkdir()
    done = run(command.format("x"))
    assert (done.exit_code, done.stdout) == (2, "")
    assert "is a directory" in done.stderr


@pytest.mark.parametrize("command", [c for c in COMMANDS if ".sure" in c.split()[-1]])
def test_a_model_is_an_ordinary_file(folder: Path, command: str) -> None:
    done = run(command.replace("{}.sure", "/dev/null"))
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == (
        "surelearn: /dev/null must be an ordinary file, got a device or a pipe.\n"
    )
    assert not os.path.isfile("/dev/null")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_is_found_first(folder: Path, no_room: Any, command: str) -> None:
    """One on which not a single block can be written."""
    with no_room(0):
        done = run(command.format("x"))
    path = command.split()[-1].format("x")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == f"surelearn: {path}: File too large.\n"
    assert not Path(path).exists()


def test_looking_leaves_what_is_there_alone(folder: Path) -> None:
    before = os.listdir(".")
    files.check_writable("new.sure")
    files.check_appendable("new.jsonl")
    assert os.listdir(".") == before
    Path("old.jsonl").write_text("old")
    then = os.stat("old.jsonl")
    files.check_appendable("old.jsonl")
    files.check_writable("old.jsonl")
    now = os.stat("old.jsonl")
    assert (now.st_ino, now.st_mtime_ns, now.st_size) == (then.st_ino, then.st_mtime_ns, 3)
    files.check_appendable("/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@proc
@pytest.mark.parametrize("path", ["/proc/m.sure", "/dev/null", "folder"])
def test_checkpoints_are_looked_at_before_the_first_pass(folder: Path, path: str) -> None:
    message = "must be an ordinary file" if path == "/dev/null" else rf"\[Errno \d+\] .*'{path}'"
    for model, source in ((SureTextClassifier(), "r.jsonl"), (SureTagger(), "s.txt")):
        seen: list[Any] = []
        with pytest.raises(OSError, match=message):
            model.fit_stream(source, checkpoint=path, progress=seen.append)
        assert not seen
        assert not hasattr(model, "stream_")


def test_outputs_that_are_no_files_are_fine_for_lines(folder: Path) -> None:
    assert run("predict m.sure r.jsonl --output /dev/null").exit_code == 0
    os.mkfifo("pipe")
    reader = subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE)
    assert run("predict m.sure r.jsonl --output pipe").exit_code == 0
    out, _ = reader.communicate()
    assert out.count(b"\n") == 40


# ------------------------------------------------------------------- whole lines


@pytest.mark.parametrize("room", [600, 1777])
@pytest.mark.parametrize("redirected", [False, True])
def test_a_full_disk_leaves_whole_lines(
    folder: Path, no_room: Any, room: int, redirected: bool
) -> None:
    whole = run("predict m.sure r.jsonl").stdout
    words = "predict m.sure r.jsonl" + ("" if redirected else " --output out.jsonl")
    Path("out.jsonl").write_text("of before\n" * 100)
    with open("out.jsonl" if redirected else os.devnull, "wb") as out, no_room(room):
        done = subprocess.run(
            [*COMMAND, *words.split()], stdout=out, stderr=subprocess.PIPE, text=True, check=False
        )
    left = Path("out.jsonl").read_text()
    n = whole[:room].count("\n")
    assert left == "".join(whole.splitlines(keepends=True)[:n])
    name = "standard output" if redirected else "out.jsonl"
    assert done.returncode == 1
    assert done.stderr == f"surelearn: {name}: File too large; {n} whole lines were written.\n"


def test_lines_that_were_there_are_kept(tmp_path: Path, no_room: Any) -> None:
    """As with ``>>`` of a shell."""
    path = tmp_path / "out"
    path.write_bytes(b"before\n")
    with open(path, "ab", buffering=0) as file, no_room(20):
        lines = WholeLines(file, "out")
        lines.write(b"12345\n")
        with pytest.raises(OSError, match="File too large; 2 whole lines were written"):
            lines.write(b"67890\nabcdefghij\n")
    assert path.read_bytes() == b"before\n12345\n67890\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_device_is_named(folder: Path) -> None:
    done = run("predict m.sure r.jsonl --output /dev/full")
    assert (done.exit_code, done.stderr) == (
        1, "surelearn: /dev/full: No space left on device.\n"
    )  # fmt: skip


@pytest.mark.parametrize("terminal", [True, False])
def test_lines_are_shown_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, terminal: bool
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    assert is_shown(None) is terminal
    assert not is_shown(tmp_path / "out")


def test_a_line_too_long_for_a_pipe_is_written_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a signal cuts this line alone."""
    monkeypatch.setattr("surelearn.cli._output._AT_ONCE", 8)
    pieces: list[bytes] = []

    class Pipe:
        def write(self, piece: memoryview) -> int:
            pieces.append(bytes(piece))
            return len(piece)

    WholeLines(Pipe(), "a pipe").write(b"1\n2\n3456789\n1234567890\n\n1\n2\n3\n4\n5")
    assert pieces == [b"1\n2\n", b"3456789\n", b"1234567890\n", b"\n1\n2\n3\n", b"4\n5"]

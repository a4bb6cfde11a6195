"""Commands stopped from outside, by real signals: exit codes, whole lines, saved models."""

from __future__ import annotations

import _thread
import array
import contextlib
import fcntl
import io
import json
import os
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pytest

import surelearn
from surelearn import graph, read
from surelearn.read import _lines
from surelearn.training.prefetch import prefetch

#: The command, which tells when it first waits for something to be read.
NOTED = """
import select, sys
wait = select.select
def noted(*args):
    if args[-1]:
        print("waiting", file=sys.stderr, flush=True)
        select.select = wait
    return wait(*args)
select.select = noted
from surelearn.cli import main
main()
"""

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}


def rows(n: int) -> bytes:
    words = ("good", "bad")
    return b"".join(
        json.dumps({"text": f"w{i % 7} {words[i % 2]} {i}", "label": words[i % 2]}).encode() + b"\n"
        for i in range(n)
    )


def sentences(n: int) -> bytes:
    return b"".join(b"the%d D\ncat N\n\n" % (i % 5) for i in range(n))


#: What is asked for, and what it reads.
COMMANDS: dict[str, tuple[list[str], Any]] = {
    "train": (["train", "-", "-o", "new.sure"], rows),
    "predict": (["predict", "m.sure", "-"], rows),
    "evaluate": (["evaluate", "m.sure", "-"], rows),
    "tag train": (["tag", "train", "-", "-o", "new.sure"], sentences),
    "tag predict": (["tag", "predict", "t.sure", "-"], sentences),
    "tag evaluate": (["tag", "evaluate", "t.sure", "-"], sentences),
}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    (folder / "r.jsonl").write_bytes(rows(100))
    (folder / "t.conll").write_bytes(sentences(50))
    model = surelearn.SureTextClassifier(n_features=2**10, random_state=0)
    model.fit_stream(folder / "r.jsonl").save(folder / "m.sure")
    surelearn.SureTagger(random_state=0).fit_stream(folder / "t.conll").save(folder / "t.sure")
    return folder


@pytest.fixture
def folder(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("m.sure", "t.sure"):
        os.link(models / name, name)
    return tmp_path


class Running:
    """A command whose standard input stays open."""

    def __init__(self, *args: str, cwd: Path | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", NOTED, *args], cwd=cwd,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self._in, self._errors = self.process.stdin, self.process.stderr
        self.out = b""
        self._threads = [threading.Thread(target=self._read, args=(self.process.stdout,))]
        self._threads[0].start()

    def _read(self, stdout: IO[bytes]) -> None:
        with stdout:
            while part := os.read(stdout.fileno(), 1 << 16):
                self.out += part

    def wait_until_it_waits(self) -> None:
        too_late = threading.Timer(60, self.process.kill)
        too_late.start()
        assert self._errors.readline() == b"waiting\n"
        too_late.cancel()

    def send(self, data: bytes) -> None:
        os.write(self._in.fileno(), data)

    def keep_sending(self, data: bytes) -> None:
        """Until the other end is gone."""

        def work() -> None:
            with contextlib.suppress(BrokenPipeError):
                while True:
                    self.send(data)

        self._threads.append(threading.Thread(target=work))
        self._threads[-1].start()

    def stop(self, number: int) -> tuple[int, str]:
        """Exit code, and what was said on standard error."""
        self.process.send_signal(number)
        with self._in, self._errors:
            code = self.process.wait(timeout=60)
            said = self._errors.read().decode()
            for thread in self._threads:
                thread.join()
        return code, said


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def begun(name: str, how: str, cwd: Path) -> Running:
    """A command that has been sent nothing, some rows, or is being sent more and more."""
    args, made = COMMANDS[name]
    every = ["--checkpoint-every", "1"] if "train" in name else []
    running = Running(*args, *every, cwd=cwd)
    running.wait_until_it_waits()
    if how == "rows":
        running.send(made(60))
    elif how == "always":
        running.keep_sending(made(60))
    if how != "nothing" and "train" in name:
        until((cwd / "new.sure").exists)
    elif how != "nothing" and "predict" in name:
        until(lambda: running.out.count(b"\n") >= 60)
    return running


def check_stopped(running: Running, name: str, number: int, *, cwd: Path) -> None:
    code, said = running.stop(number)
    assert (name, code) == (name, CODES[number])
    assert running.out[-1:] in (b"", b"\n")
    if "train" not in name:
        assert said == ""
    elif (cwd / "new.sure").exists():
        learnt = surelearn.load(cwd / "new.sure").stream_.rows
        assert said.startswith(f"surelearn: interrupted after {learnt:,} rows of pass 1. The model")
        assert said.count("\n") == 1
    else:
        assert said == "surelearn: interrupted before anything was learnt.\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_reader_of_standard_input_is_stopped_while_it_waits(folder: Path, name: str) -> None:
    """Python aborted, since a thread held the lock of standard input."""
    number = signal.SIGTERM if "t" in name[-2:] else signal.SIGINT
    check_stopped(begun(name, "rows", folder), name, number, cwd=folder)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("number", CODES)
def test_a_reader_of_standard_input_is_stopped_at_any_moment(
    folder: Path, name: str, number: int
) -> None:
    for how in 3 * ["nothing", "rows", "always"]:
        Path("new.sure").unlink(missing_ok=True)
        check_stopped(begun(name, how, folder), name, number, cwd=folder)


#: The command, whose solver says so in its third iteration and waits.
SOLVING = """
import os, time
from surelearn.solvers import _objective
tell = _objective.Clock.tell
def noted(self, iteration, value, gap):
    tell(self, iteration, value, gap)
    if iteration == 3:
        os.write(2, b"waiting\\n")
        time.sleep(60)
_objective.Clock.tell = noted
from surelearn.cli import main
main()
"""


@pytest.mark.parametrize("kind", ["crf", "svm"])
@pytest.mark.parametrize("number", CODES)
def test_a_stopped_solver_leaves_the_best_so_far(folder: Path, kind: str, number: int) -> None:
    lines = sentences(50).decode() + "the1 N\ncat D\n\n" * 20
    Path("s.txt").write_text(lines)
    process = subprocess.Popen(
        [sys.executable, "-c", SOLVING, "tag", "train", "s.txt", "--model", kind, "-o", "new.sure"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with process.stdout, process.stderr:
        assert process.stderr.readline() == "waiting\n"
        process.send_signal(number)
        said = process.stderr.read()
    assert process.wait() == CODES[number]
    model = surelearn.load("new.sure")
    assert model.n_iter_ == 3
    assert model.stream_.rows == 70
    assert said == (
        f"surelearn: interrupted after 3 iterations at an objective of {model.objective_:,.6g}. "
        "The best model so far is in new.sure.\n"
    )
    assert model.score([["the0", "cat"]], [["D", "N"]]) == 1.0


def test_a_reader_of_a_stream_of_arrow_is_stopped(folder: Path) -> None:
    """Its bytes come in another way: as many as are asked for."""
    table = pa.table({"text": ["good", "bad"]})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
        begin = sink.getvalue()
    running = Running("predict", "m.sure", "-", "--format", "arrow", cwd=folder)
    running.wait_until_it_waits()
    running.send(begin)
    until(lambda: running.out.count(b"\n") == 2)
    assert running.stop(signal.SIGTERM) == (143, "")


def test_lines_are_whole_where_a_stalled_reader_is_given_up(folder: Path) -> None:
    """A pipe that is full takes the begin of a long write, and a signal ends it there."""
    Path("r.jsonl").write_bytes(rows(20_000))
    process = subprocess.Popen(
        [sys.executable, "-c", NOTED, "predict", "m.sure", "r.jsonl"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    with process.stdout, process.stderr:
        until(lambda: waiting(process.stdout.fileno()) > 2**15)
        time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 143
        assert process.stderr.read() == b""
        lines = process.stdout.read().splitlines(keepends=True)
    assert [json.loads(line)["label"] for line in lines[:2]] == ["good", "bad"]
    assert lines[-1].endswith(b"}\n")


def waiting(descriptor: int) -> int:
    """Bytes in a pipe."""
    size = array.array("i", [0])
    fcntl.ioctl(descriptor, termios.FIONREAD, size)
    return size[0]


def test_a_job_in_the_background_hears_sigterm_alone(folder: Path) -> None:
    """A shell lets it ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        running = begun("train", "rows", folder)
    finally:
        signal.signal(signal.SIGINT, before)
    running.process.send_signal(signal.SIGINT)
    running.send(rows(40))
    until(lambda: surelearn.load("new.sure").stream_.rows == 100)
    check_stopped(running, "train", signal.SIGTERM, cwd=folder)


# --------------------------------------------------------------------------- in Python


def test_what_handles_a_signal_is_called_between_two_blocks(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who does not raise there wants training to go on."""
    monkeypatch.setattr(_lines, "BLOCK", 700)
    Path("r.jsonl").write_bytes(rows(100))
    model = surelearn.SureTextClassifier(n_features=2**10, passes=1)
    heard: list[tuple[int, int]] = []
    before = [
        signal.signal(number, lambda n, _: heard.append((n, model.stream_.rows)))
        for number in CODES
    ]
    sent = []

    def progress(now: Any) -> None:
        if len(sent) < 2:
            sent.append((list(CODES)[len(sent)], now.rows))
            signal.raise_signal(sent[-1][0])

    try:
        model.fit_stream("r.jsonl", checkpoint="new.sure", progress=progress)
    finally:
        for number, handler in zip(CODES, before, strict=True):
            signal.signal(number, handler)
    assert heard == sent
    assert surelearn.load("new.sure").stream_.rows == 100


def test_ctrl_c_while_the_model_is_written_in_the_end_is_not_lost(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = surelearn.SureTextClassifier.save

    def interrupted(self: Any, path: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        save(self, path)

    monkeypatch.setattr(surelearn.SureTextClassifier, "save", interrupted)
    Path("r.jsonl").write_bytes(rows(20))
    model = surelearn.SureTextClassifier(n_features=2**10, passes=1)
    with pytest.raises(KeyboardInterrupt):
        model.fit_stream("r.jsonl", checkpoint="new.sure")
    assert surelearn.load("new.sure").stream_.ended


def test_what_is_not_read_any_more_is_left_in_a_pipe(folder: Path) -> None:
    """A thread that was left behind would take it from the next reader."""
    os.mkfifo("pipe.jsonl")
    keeper = os.open("pipe.jsonl", os.O_RDWR)  # the pipe has no end while it is open
    os.write(keeper, rows(2))
    model, before = surelearn.load("m.sure"), _thread._count()
    predictions = surelearn.predict(model, "pipe.jsonl")
    assert len(next(predictions).label) == 2
    predictions.close()
    until(lambda: _thread._count() == before)
    os.write(keeper, rows(3))
    more = surelearn.predict(model, "pipe.jsonl")
    assert len(next(more).label) == 3
    more.close()
    os.close(keeper)


def test_who_waits_for_a_writer_of_a_pipe_can_be_stopped(folder: Path) -> None:
    os.mkfifo("pipe.jsonl")
    source = read.batches("pipe.jsonl", text="text")
    failed: list[Exception] = []

    def work() -> None:
        try:
            list(source)
        except InterruptedError as error:
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        source.cancel()
        thread.join(0.01)
    assert str(failed[0]) == "pipe.jsonl is not read any further."


def test_bytes_in_the_buffer_of_standard_input_are_read_first() -> None:
    code = (
        "import sys\nfrom surelearn import read\n"
        "print(sys.stdin.buffer.readline())\n"
        "print([x for batch in read.batches('-') for x in batch.X.to_pylist()])\n"
    )
    lines = b"a line before\n" + rows(3000)
    done = subprocess.run(
        [sys.executable, "-c", code], input=lines, capture_output=True, check=True
    )
    first, texts = done.stdout.decode().splitlines()
    assert first == "b'a line before\\n'"
    assert texts == str([json.loads(line)["text"] for line in rows(3000).splitlines()])


def test_ctrl_c_ends_messages_that_do_not_settle() -> None:
    """It waited for the end of the call."""
    random = np.random.default_rng(0)
    edges = graph.grid(200, 200)
    tables = 4.0 * random.normal(size=(len(edges), 2, 2))  # contradict each other round loops
    factors = graph.FactorGraph(random.normal(size=(40_000, 2)), edges, tables)
    sender = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    sender.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        factors.max_product(damping=0.0, max_sweeps=10**6)
    assert time.monotonic() - begin < 30


#: A command in which a destructor swallows the first Ctrl-C, as any destructor may.
SWALLOWED = """
import os, signal, sys, time
from surelearn.cli._app import stoppable
class Deaf:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
sys.unraisablehook = lambda _: None
import typer
try:
    with stoppable():
        Deaf()
        time.sleep(30)
except typer.Exit as ended:
    sys.exit(ended.exit_code)
"""


#: The same while training waits for the next block: a checkpoint defers signals by its own handler.
SWALLOWED_IN_TRAINING = SWALLOWED.replace(
    "with stoppable():",
    "from surelearn.training.checkpoint import Checkpoint\n"
    "    checkpoint = Checkpoint(None, 'new.sure', '1h')\n"
    "    with stoppable(), checkpoint.watching(), checkpoint.waiting():",
)


@pytest.mark.parametrize("code", [SWALLOWED, SWALLOWED_IN_TRAINING])
def test_a_signal_that_a_destructor_swallows_is_raised_again(tmp_path: Path, code: str) -> None:
    assert "watching" in SWALLOWED_IN_TRAINING
    done = subprocess.run([sys.executable, "-c", code], timeout=25, cwd=tmp_path)
    assert done.returncode == 130


def test_a_signal_that_another_thread_receives_ends_a_wait_for_blocks() -> None:
    """The system may give a signal to any thread, and only the main one runs handlers."""
    waits, ends = threading.Event(), threading.Event()

    def items() -> Any:
        waits.set()
        ends.wait(30)
        yield 1

    def send() -> None:
        waits.wait(30)
        time.sleep(0.1)  # so that the main thread waits
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    sender = threading.Thread(target=send)
    sender.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        list(prefetch(items(), str, 1, ends.set))
    assert time.monotonic() - begin < 10
    sender.join()

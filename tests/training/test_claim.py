"""One model file, one writer: the second is refused, whatever became of one before."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from surelearn import SureTagger, SureTextClassifier, load
from surelearn.training import claim
from surelearn.training.claim import claimed

fcntl = pytest.importorskip("fcntl")

COMMAND = [sys.executable, "-c", "from surelearn.cli import main; main()"]
REFUSED = "must have one writer at a time, got a second one: process {} is training it"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"text": word, "label": word[0]} for word in ("good", "bad") * 20]
    Path("r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("t.txt").write_text("the D\ncat N\n\n" * 20)
    return tmp_path


def model():
    return SureTextClassifier(n_features=2**8, passes=1, random_state=0)


def test_a_second_training_to_a_file_is_refused_while_the_first_lasts(folder):
    refused = []

    def progress(_):
        with pytest.raises(BlockingIOError, match=REFUSED.format(os.getpid())) as caught:
            SureTagger().fit_stream("t.txt", checkpoint=Path("m.sure"))
        refused.append(caught.value)
        model().fit_stream("r.jsonl", checkpoint="other.sure")

    model().fit_stream("r.jsonl", checkpoint="m.sure", progress=progress)
    assert str(refused[0]).startswith("m.sure must have")
    assert isinstance(load("m.sure"), SureTextClassifier)
    SureTagger().fit_stream("t.txt", checkpoint="m.sure")
    assert sorted(os.listdir()) == ["m.sure", "other.sure", "r.jsonl", "t.txt"]


def test_a_training_that_fails_lets_the_file_go(folder):
    with pytest.raises(ZeroDivisionError):
        model().fit_stream("r.jsonl", checkpoint="m.sure", progress=lambda _: 1 // 0)
    model().fit_stream("r.jsonl", checkpoint="m.sure", resume=True)


def test_a_link_and_what_it_links_to_are_one_file(folder):
    Path("link.sure").symlink_to("m.sure")
    with claimed("link.sure"), pytest.raises(BlockingIOError, match=REFUSED.format(os.getpid())):
        claimed(folder / "m.sure").__enter__()


def test_a_claim_can_be_handed_on(folder):
    with claimed("m.sure") as claim:
        model().fit_stream("r.jsonl", checkpoint=claim)
        with pytest.raises(BlockingIOError, match="one writer at a time"):
            model().fit_stream("r.jsonl", checkpoint="m.sure")
    assert load("m.sure").stream_.ended


@pytest.mark.parametrize("second", [["train", "r.jsonl"], ["tag", "train", "t.txt"]])
def test_a_second_command_is_refused_and_a_killed_one_keeps_no_other_out(folder, second):
    first = subprocess.Popen(
        [*COMMAND, "train", "-", "-o", "m.sure"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    second = [*COMMAND, *second, "-o", "m.sure"]
    try:
        while not Path(".m.sure.lock").exists():
            assert first.poll() is None
            time.sleep(0.05)
        done = subprocess.run(second, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == (
            f"surelearn: m.sure {REFUSED.format(first.pid)}. Wait for its end, or name another "
            "file.\n"
        )
        assert not Path("m.sure").exists()
    finally:
        first.kill()
        first.communicate()
    assert Path(".m.sure.lock").exists()
    assert subprocess.run(second, capture_output=True).returncode == 0
    assert sorted(os.listdir()) == ["m.sure", "r.jsonl", "t.txt"]


def test_of_many_that_come_at_once_one_is_inside(folder):
    inside, most, entered = 0, 0, 0
    counting = threading.Lock()

    def work():
        nonlocal inside, most, entered
        for _ in range(200):
            try:
                with claimed("m.sure"):
                    with counting:
                        inside += 1
                        most, entered = max(most, inside), entered + 1
                    with counting:
                        inside -= 1
            except BlockingIOError:
                pass

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, inside) == (1, 0)
    assert entered > 6
    assert not Path(".m.sure.lock").exists()


def test_a_child_that_ends_does_not_let_the_file_go(folder):
    claim = claimed("m.sure")
    with claim:
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            claim.__exit__(None, None, None)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        with pytest.raises(BlockingIOError, match="one writer at a time"):
            claimed("m.sure").__enter__()
    with claimed("m.sure"):
        pass


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_without_locks_training_goes_on(folder, monkeypatch, number):
    def flock(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)
    with claimed("m.sure"):
        model().fit_stream("r.jsonl", checkpoint="m.sure")
    assert load("m.sure").stream_.ended
    assert not Path(".m.sure.lock").exists()
    monkeypatch.setattr(claim, "fcntl", None)
    with claimed("m.sure"), claimed("m.sure"):
        pass


def test_a_device_gets_no_lock_beside_it(folder):
    with claimed(os.devnull), claimed(os.devnull):
        assert not Path(os.path.dirname(os.devnull), ".null.lock").exists()


def test_a_link_in_place_of_the_lock_is_not_followed(folder):
    """Whoever may write to the folder could otherwise have any file emptied."""
    victim = folder / "victim.txt"
    victim.write_text("precious")
    (folder / ".m.sure.lock").symlink_to(victim)
    with claimed(folder / "m.sure"):
        pass
    assert victim.read_text() == "precious"

"""Checkpoints: when they are written, what a failure and a signal do to them."""

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

from streaming import model
from surelearn import SureTagger, SureTextClassifier, load
from surelearn.training import checkpoint
from surelearn.training.checkpoint import claimed


@pytest.mark.usefixtures("small_blocks")
def test_a_checkpoint_that_cannot_be_written_does_not_end_training(reviews, tmp_path, no_room):
    target = tmp_path / "m.sure"
    fitted = model().fit_stream(reviews, checkpoint=target)
    before = target.read_bytes()
    other = model(rule="arow")
    with (
        no_room(1000),
        pytest.warns(UserWarning, match="could not be written, training goes on"),
        pytest.raises(OSError, match="File too large"),
    ):
        other.fit_stream(reviews, checkpoint=target, checkpoint_every=50)
    assert target.read_bytes() == before
    assert other.stream_.rows == fitted.stream_.rows


@pytest.mark.usefixtures("small_blocks")
def test_a_second_ctrl_c_does_not_end_the_writing(reviews, tmp_path, monkeypatch):
    save = SureTextClassifier.save

    def interrupted(self, path):
        signal.raise_signal(signal.SIGINT)
        save(self, path)

    monkeypatch.setattr(SureTextClassifier, "save", interrupted)
    begun = model(passes=2)
    with pytest.raises(KeyboardInterrupt):
        begun.fit_stream(
            reviews,
            checkpoint=tmp_path / "m.sure",
            progress=lambda now: now.rows > 100 and signal.raise_signal(signal.SIGINT),
        )
    assert load(tmp_path / "m.sure").stream_ == begun.stream_
    assert 100 < begun.stream_.rows < 300


@pytest.mark.usefixtures("small_blocks")
def test_a_checkpoint_that_has_no_place_is_refused_before_the_work(reviews, tmp_path):
    with pytest.raises(FileNotFoundError, match="checkpoint must be in a folder that exists"):
        model().fit_stream(reviews, checkpoint=tmp_path / "no" / "m.sure")


@pytest.mark.usefixtures("small_blocks")
def test_a_link_to_a_model_stays_a_link(reviews, tmp_path):
    target, link = tmp_path / "m.sure", tmp_path / "link.sure"
    model().fit_stream(reviews, checkpoint=target)
    link.symlink_to(target)
    model(rule="arow").fit_stream(reviews, checkpoint=link)
    assert link.is_symlink()
    assert load(target).rule == "arow"


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


def small_model():
    return SureTextClassifier(n_features=2**8, passes=1, random_state=0)


def test_a_second_training_to_a_file_is_refused_while_the_first_lasts(folder):
    refused = []

    def progress(_):
        with pytest.raises(BlockingIOError, match=REFUSED.format(os.getpid())) as caught:
            SureTagger().fit_stream("t.txt", checkpoint=Path("m.sure"))
        refused.append(caught.value)
        small_model().fit_stream("r.jsonl", checkpoint="other.sure")

    small_model().fit_stream("r.jsonl", checkpoint="m.sure", progress=progress)
    assert str(refused[0]).startswith("m.sure must have")
    assert isinstance(load("m.sure"), SureTextClassifier)
    SureTagger().fit_stream("t.txt", checkpoint="m.sure")
    assert sorted(os.listdir()) == ["m.sure", "other.sure", "r.jsonl", "t.txt"]


def test_a_training_that_fails_lets_the_file_go(folder):
    with pytest.raises(ZeroDivisionError):
        small_model().fit_stream("r.jsonl", checkpoint="m.sure", progress=lambda _: 1 // 0)
    small_model().fit_stream("r.jsonl", checkpoint="m.sure", resume=True)


def test_a_link_and_what_it_links_to_are_one_file(folder):
    Path("link.sure").symlink_to("m.sure")
    with claimed("link.sure"), pytest.raises(BlockingIOError, match=REFUSED.format(os.getpid())):
        claimed(folder / "m.sure").__enter__()


def test_a_claim_can_be_handed_on(folder):
    with claimed("m.sure") as checkpoint:
        small_model().fit_stream("r.jsonl", checkpoint=checkpoint)
        with pytest.raises(BlockingIOError, match="one writer at a time"):
            small_model().fit_stream("r.jsonl", checkpoint="m.sure")
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
    checkpoint = claimed("m.sure")
    with checkpoint:
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            checkpoint.__exit__(None, None, None)
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
        small_model().fit_stream("r.jsonl", checkpoint="m.sure")
    assert load("m.sure").stream_.ended
    assert not Path(".m.sure.lock").exists()
    monkeypatch.setattr(checkpoint, "fcntl", None)
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

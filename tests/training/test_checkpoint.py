"""Checkpoints: when they are written, what a failure and a signal do to them."""

from __future__ import annotations

import signal

import pytest

from streaming import model
from surelearn import SureTextClassifier, load

pytestmark = pytest.mark.usefixtures("small_blocks")


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


def test_a_checkpoint_that_has_no_place_is_refused_before_the_work(reviews, tmp_path):
    with pytest.raises(FileNotFoundError, match="checkpoint must be in a folder that exists"):
        model().fit_stream(reviews, checkpoint=tmp_path / "no" / "m.sure")


def test_a_link_to_a_model_stays_a_link(reviews, tmp_path):
    target, link = tmp_path / "m.sure", tmp_path / "link.sure"
    model().fit_stream(reviews, checkpoint=target)
    link.symlink_to(target)
    model(rule="arow").fit_stream(reviews, checkpoint=link)
    assert link.is_symlink()
    assert load(target).rule == "arow"

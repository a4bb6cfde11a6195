"""Learning from sources: the same as from memory, for any threads, cache, interruption."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surelearn
from streaming import TRAIN, bits, model, records, saved, topical, write
from surelearn import SureTextClassifier, _check, load, read
from surelearn.read import _stores
from surelearn.training.stream import _learnt_before

pytestmark = pytest.mark.usefixtures("small_blocks")


# ---------------------------------------------------------------------- what is learnt


@pytest.mark.parametrize("rule", ["probit", "pa1", "stdev"])
def test_threads_and_cache_never_change_the_result(reviews, rule):
    one = bits(model(rule=rule, passes=3, n_jobs=1).fit_stream(reviews))
    assert bits(model(rule=rule, passes=3, n_jobs=4).fit_stream(reviews)) == one
    assert bits(model(rule=rule, passes=3, n_jobs=2).fit_stream(reviews, cache_bytes=0)) == one
    assert bits(model(rule=rule, passes=3).fit_stream(reviews, cache_bytes=5000)) == one


def test_threads_and_cache_never_change_what_lists_of_labels_teach(tmp_path):
    path = write(tmp_path / "a.jsonl", topical(200))
    one = bits(model(passes=3, n_jobs=1).fit_stream(path))
    assert bits(model(passes=3, n_jobs=4).fit_stream(path)) == one
    assert bits(model(passes=3, n_jobs=2).fit_stream(path, cache_bytes=0)) == one


def test_lists_of_labels_are_learnt_as_from_memory(tmp_path):
    """Whatever the file: a label is known from the first record that has it."""
    rows = list(topical(120))
    jsonl = write(tmp_path / "a.jsonl", rows)
    frame = pandas.DataFrame(rows)
    frame.to_parquet(tmp_path / "a.parquet")
    cells = frame.assign(label=[";".join(row["label"]) for row in rows])
    cells.to_csv(tmp_path / "a.csv", index=False)
    by_hand = model().partial_fit([r["text"] for r in rows], [r["label"] for r in rows])
    assert bits(model().fit_stream(jsonl)) == bits(by_hand)
    assert bits(model().fit_stream(frame)) == bits(by_hand)
    assert bits(model().fit_stream(tmp_path / "a.parquet")) == bits(by_hand)
    in_csv = model().fit_stream(tmp_path / "a.csv", label_separator=";")
    assert bits(in_csv) == bits(by_hand)
    assert in_csv.stream_.columns["label_separator"] == ";"
    in_csv.save(tmp_path / "m.sure")
    more = load(tmp_path / "m.sure").fit_stream(tmp_path / "a.csv", resume=True, passes=2)
    assert bits(more) == bits(model(passes=2).fit_stream(tmp_path / "a.csv", label_separator=";"))


def test_one_label_and_lists_of_labels_are_not_mixed(reviews, tmp_path):
    lists = write(tmp_path / "lists.jsonl", topical(30))
    for first, second in ((lists, reviews), (reviews, lists)):
        with pytest.raises(ValueError, match="as before, got"):
            model().fit_stream(first).fit_stream(second, resume=True)


def test_what_was_learnt_before_a_bad_line_is_kept(reviews, tmp_path):
    lines = reviews.read_text().splitlines()
    lines[250] = "not JSON at all"
    bad = tmp_path / "bad.jsonl"
    bad.write_text("\n".join(lines) + "\n")
    fitted = model()
    with pytest.raises(
        read.BadInput, match=r"bad\.jsonl, line 251: expected a JSON object, got 'n"
    ):
        fitted.fit_stream(bad, checkpoint=tmp_path / "m.sure")
    assert 200 < fitted.stream_.rows <= 250
    lines[250] = json.dumps(next(records(1, seed=9)))
    bad.write_text("\n".join(lines) + "\n")
    resumed = load(tmp_path / "m.sure").fit_stream(bad, resume=True)
    assert bits(resumed) == bits(model().fit_stream(bad))


def test_bad_lines_can_be_skipped_and_are_counted(reviews, tmp_path):
    lines = reviews.read_text().splitlines()
    lines[100:100] = ["{", '{"text": "a"}', '{"text": 3, "label": "b"}']
    bad = tmp_path / "bad.jsonl"
    bad.write_text("\n".join(lines) + "\n")
    fitted = model(passes=2).fit_stream(bad, skip_bad=True)
    assert fitted.stream_.n_bad == 3
    assert fitted.stream_.rows == 300


# ------------------------------------------------------------------------- going on


@settings(max_examples=20, deadline=None)
@given(
    stop=st.integers(1, 24),
    passes=st.integers(1, 3),
    cached=st.booleans(),
    made=st.sampled_from([records, topical]),
)
def test_interrupted_anywhere_it_goes_on_to_the_same_bits(
    tmp_path_factory, stop, passes, cached, made
):
    tmp_path = tmp_path_factory.mktemp("resume")
    path = write(tmp_path / "a.jsonl", made(80))
    whole = model(passes=passes).fit_stream(path)
    room = 2**30 if cached else 0

    class Stop(Exception):
        pass

    def progress(_):
        nonlocal stop
        stop -= 1
        if stop == 0:
            raise Stop

    begun = model(passes=passes)
    try:
        begun.fit_stream(path, progress=progress, cache_bytes=room)
    except Stop:
        begun.save(tmp_path / "m.sure")
        begun = load(tmp_path / "m.sure")
        begun.fit_stream(path, resume=True, cache_bytes=room)
    assert bits(begun) == bits(whole)
    assert saved(begun, tmp_path / "a.sure") == saved(whole, tmp_path / "b.sure")


def test_stopped_between_two_passes_it_goes_on_to_the_same_bytes(reviews, tmp_path):
    whole = model(passes=3).fit_stream(reviews)
    away, path = tmp_path / "away", tmp_path / "m.sure"

    def take_away(now):
        if now.rows == 300:
            reviews.rename(away)

    with pytest.raises(FileNotFoundError, match=r"reviews\.jsonl"):
        model(passes=3).fit_stream(reviews, cache_bytes=0, checkpoint=path, progress=take_away)
    away.rename(reviews)
    resumed = load(path).fit_stream(reviews, resume=True)
    assert saved(resumed, path) == saved(whole, tmp_path / "whole.sure")


def test_a_file_that_has_grown_is_gone_on_with(reviews, tmp_path):
    fitted = model().fit_stream(reviews, checkpoint=tmp_path / "m.sure")
    again = load(tmp_path / "m.sure").fit_stream(reviews, resume=True)
    assert bits(again) == bits(fitted)
    with reviews.open("a") as file:
        file.writelines(json.dumps(row) + "\n" for row in records(50, seed=5))
    grown = again.fit_stream(reviews, resume=True)
    assert grown.stream_.rows == 350
    assert bits(grown) == bits(model().fit_stream(reviews))


def test_more_passes_can_be_asked_for_later(reviews):
    """Without calibration, which would keep rows back only if it knew of later passes."""
    fitted = model().fit_stream(reviews, passes=1, calibrate=False)
    fitted.fit_stream(reviews, passes=3, resume=True, calibrate=False)
    assert bits(fitted) == bits(model().fit_stream(reviews, passes=3, calibrate=False))


def test_a_new_source_is_learnt_on_top(reviews, tmp_path):
    more = write(tmp_path / "more.jsonl", records(100, seed=7))
    fitted = model().fit_stream(reviews).fit_stream(more, resume=True)
    assert bits(fitted)[:2] == bits(model().fit_stream([reviews, more]))[:2]
    assert len(fitted.mistakes_) == 2


def test_a_frame_that_was_gone_through_is_followed_by_another():
    first, second = (pandas.DataFrame(records(100, seed=seed)) for seed in (1, 2))
    fitted = model().fit_stream(first).fit_stream(second, resume=True)
    assert bits(fitted)[:2] == bits(model().fit_stream(pandas.concat([first, second])))[:2]
    assert fitted._model.counts.sum() == 200
    assert len(fitted.mistakes_) == 2


def test_a_frame_can_be_gone_on_with(monkeypatch):
    monkeypatch.setattr(_stores, "BLOCK", 700)
    frame = pandas.DataFrame(records(100))
    how = {"calibrate": False}
    whole = model().fit_stream(frame, passes=2, **how)
    begun = model()
    with pytest.raises(ZeroDivisionError):
        begun.fit_stream(frame, passes=1, progress=lambda p: 1 // (p.rows < 50), **how)
    assert 50 <= begun.stream_.rows < 100
    begun.fit_stream(frame, passes=1, resume=True, **how)
    assert bits(begun.fit_stream(frame, passes=2, resume=True, **how)) == bits(whole)


# ------------------------------------------------------------- standard input, signals


def start(source, out, *, passes=1, every="60s", **more):
    code = TRAIN.format(source=str(source), out=str(out), passes=passes, every=every, more=more)
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_what_arrives_is_learnt_and_ctrl_c_leaves_a_checkpoint(tmp_path):
    """Rows are learnt while the pipe is open; Ctrl-C while waiting for more writes the model."""
    out = tmp_path / "live.sure"
    process = start("-", out, every=1)
    rows = list(records(40))
    for row in rows[:20]:
        process.stdin.write(json.dumps(row) + "\n")
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while not (out.exists() and load(out).stream_.rows == 20) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert load(out).stream_.rows == 20
    for row in rows[20:]:
        process.stdin.write(json.dumps(row) + "\n")
    process.stdin.flush()
    while load(out).stream_.rows < 40 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    by_hand = model().partial_fit([r["text"] for r in rows], [r["label"] for r in rows])
    assert bits(load(out)) == bits(by_hand)


@pytest.mark.slow
def test_standard_input_goes_on_with_what_is_new(tmp_path):
    rows = list(records(90))
    out = tmp_path / "live.sure"
    for part in (rows[:30], rows[30:90]):
        code = TRAIN.format(source="-", out=str(out), passes=1, every="60s", more={"resume": True})
        code = code.replace("print(", "import os, surelearn\nif os.path.exists(sys.argv[1]):\n"
                            "    model = surelearn.load(sys.argv[1])\nprint(")  # fmt: skip
        text = "".join(json.dumps(row) + "\n" for row in part)
        subprocess.run([sys.executable, "-c", code, str(out)], input=text, text=True, check=True)
    by_hand = model().partial_fit([r["text"] for r in rows], [r["label"] for r in rows])
    assert load(out).coef_.tobytes() == by_hand.coef_.tobytes()


@pytest.mark.slow
def test_killed_at_fifty_moments_training_ends_with_the_same_bytes(tmp_path):
    """Promise 10."""
    path = write(tmp_path / "a.jsonl", records(6000, n_classes=3))
    whole = tmp_path / "whole.sure"
    process = start(path, whole, passes=2, every=100)
    assert process.stdout.readline() == "ready\n"
    begin = time.monotonic()
    process.communicate()
    assert process.returncode == 0
    taken = time.monotonic() - begin  # kills are spread over as long as training takes here
    out = tmp_path / "killed.sure"
    random = np.random.default_rng(0)
    kills = 0
    wait = time.monotonic()
    begun = False
    while kills < 50:
        process = _resumed(path, out)
        assert process.stdout.readline() == "ready\n"
        time.sleep(random.uniform(0.0, taken / 2))
        if process.poll() is None:
            process.kill()
            kills += 1
        process.communicate()
        if out.exists():
            begun = True
            position = load(out).stream_
            if position.ended and position.number == 2:  # all is learnt: start once more
                assert out.read_bytes() == whole.read_bytes()
                out.unlink()
    assert begun
    assert time.monotonic() - wait < 600
    process = _resumed(path, out)
    process.communicate()
    assert process.returncode == 0
    assert out.read_bytes() == whole.read_bytes()


def _resumed(path, out):
    code = TRAIN.format(source=str(path), out=str(out), passes=2, every=100, more={"resume": True})
    code = code.replace("print(", "import os, surelearn\nif os.path.exists(sys.argv[1]):\n"
                        "    model = surelearn.load(sys.argv[1])\nprint(")  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-c", code, str(out)], stdout=subprocess.PIPE, text=True
    )


# -------------------------------------------------------------------- threads and cache


def test_sources_can_be_read_again_by_anybody(reviews):
    source = read.batches(Path(reviews))
    assert bits(model().fit_stream(source)) == bits(model().fit_stream(source))
    assert surelearn.read is read


# ------------------------------------------------------------- files that are not the same


def test_what_was_added_after_several_passes_is_gone_through_as_often(reviews, tmp_path):
    fitted = model(passes=3).fit_stream(reviews)
    before = saved(fitted, tmp_path / "m.sure")
    fitted.fit_stream(reviews, resume=True)
    assert saved(fitted, tmp_path / "m.sure") == before  # nothing was new
    more = write(tmp_path / "more.jsonl", [{**row, "text": "quite new"} for row in records(50)])
    reviews.write_text(reviews.read_text() + more.read_text())
    fitted.fit_stream(reviews, resume=True)
    assert fitted._model.counts.sum() == 350
    assert len(fitted.mistakes_) == 6
    assert fitted.vectorizer_.names(np.flatnonzero(fitted.coef_[0])).count("quite") == 1
    apart = model(passes=3).fit_stream(write(tmp_path / "first.jsonl", records(300)))
    apart.fit_stream(more, resume=True)
    assert fitted.mistakes_.tolist() == apart.mistakes_.tolist()
    assert fitted.coef_.tobytes() == apart.coef_.tobytes()


class CutsCache:
    """Cuts the file of the cache in two when the second pass has begun."""

    def __init__(self, tmp_path):
        self._folder, self.is_cut = tmp_path / "temporary", False

    def __call__(self, progress):
        if progress.number == 2 and not self.is_cut:
            (file,) = self._folder.glob("*/rows")
            os.truncate(file, file.stat().st_size // 2)
            self.is_cut = True


@pytest.mark.parametrize("n_shards", [1, 2])
def test_a_cache_that_is_lost_is_replaced_by_the_source(reviews, tmp_path, n_shards):
    """Training goes on where the cache ended, to the same bits."""
    wanted = model(passes=3, n_shards=n_shards).fit_stream(reviews)
    cuts = CutsCache(tmp_path)
    found = model(passes=3, n_shards=n_shards).fit_stream(reviews, progress=cuts)
    assert cuts.is_cut
    assert bits(found) == bits(wanted)


def test_a_cache_that_is_lost_is_told_if_its_source_is_gone(reviews, tmp_path, monkeypatch):
    given_ = io.BytesIO(reviews.read_bytes())
    monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": given_}))
    fitted = model(n_jobs=1)
    with pytest.raises(OSError, match=r"rows must be the cache of the first pass .* was cut short"):
        fitted.fit_stream("-", passes=3, progress=CutsCache(tmp_path), format="jsonl")
    assert fitted.stream_.number == 2
    assert not list((tmp_path / "temporary").iterdir())


def test_what_was_learnt_before_a_bad_record():
    error = _check.bad_record("-, line 9", "expected a tag.", "sentences")
    assert _learnt_before(error, 12345, None) == ("The 12,345 sentences before it were learnt.")
    assert _learnt_before(error, 2, "m.sure") == (
        "The 2 sentences before it were learnt; the model is saved in m.sure, and resume=True "
        "continues."
    )


def test_progress_counts_the_rows_of_all_passes(reviews, small_blocks):
    told = []
    SureTextClassifier(passes=2, random_state=0).fit_stream(reviews, progress=told.append)
    assert told[0].learnt == told[0].rows < 300
    assert told[-1].learnt == 600

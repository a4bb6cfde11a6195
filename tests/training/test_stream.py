"""Learning from sources: the same as from memory, for any threads, cache, interruption."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surelearn
from surelearn import SureClassifier, SureTextClassifier, load, read
from surelearn.read import _lines, _stores
from surelearn.training import cache as _cache
from surelearn.training.prefetch import prefetch

WORDS = ["good", "fine", "great", "dull", "bad", "film", "plot", "the", "of", "étude", "naïve"]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch, tmp_path):
    """Blocks of a few rows, and temporary folders of the test's own."""
    monkeypatch.setattr(_lines, "BLOCK", 700)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", None)


def records(n, *, n_classes=2, seed=0):
    random = np.random.default_rng(seed)
    for _ in range(n):
        k = int(random.integers(n_classes))
        words = [*random.choice(WORDS, 6).tolist(), f"w{k}{random.integers(9)}"]
        yield {"text": " ".join(words), "label": f"class {k}", "weight": float(random.integers(3))}


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def reviews(tmp_path):
    return write(tmp_path / "reviews.jsonl", records(300))


def model(**params):
    return SureTextClassifier(n_features=2**10, random_state=0, **{"passes": 1, **params})


def saved(estimator, path):
    estimator.save(path)
    return path.read_bytes()


def bits(estimator):
    """What was learnt, without the settings that must not matter to it."""
    arrays = [estimator.coef_, estimator.intercept_, estimator.mistakes_, estimator._model.counts]
    if hasattr(estimator, "sigma_"):
        arrays.append(estimator.sigma_)
    words = getattr(getattr(estimator, "vectorizer_", None), "_words", lambda: ())()
    plain = [x if isinstance(x, bytes) else np.asarray(x).tobytes() for x in words]
    return [array.tobytes() for array in arrays] + plain + [estimator.classes_.tolist()]


# ---------------------------------------------------------------------- what is learnt


@pytest.mark.parametrize("class_weight", [None, "balanced", {"class 0": 3.0, "class 2": 0.0}])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_one_pass_is_what_partial_fit_learns(tmp_path, n_classes, class_weight):
    if isinstance(class_weight, dict) and n_classes == 2:  # keys must be classes
        class_weight = {"class 0": 3.0}
    rows = list(records(300, n_classes=n_classes))
    path = write(tmp_path / "a.jsonl", rows)
    streamed = model(class_weight=class_weight).fit_stream(path, weight="weight")
    whole = model(class_weight=class_weight).partial_fit(
        [row["text"] for row in rows],
        [row["label"] for row in rows],
        sample_weight=[row["weight"] for row in rows],
    )
    assert bits(streamed) == bits(whole)


@pytest.mark.parametrize("rule", ["probit", "pa1", "stdev"])
def test_threads_and_cache_never_change_the_result(reviews, rule):
    one = bits(model(rule=rule, passes=3, n_jobs=1).fit_stream(reviews))
    assert bits(model(rule=rule, passes=3, n_jobs=4).fit_stream(reviews)) == one
    assert bits(model(rule=rule, passes=3, n_jobs=2).fit_stream(reviews, cache_bytes=0)) == one
    assert bits(model(rule=rule, passes=3).fit_stream(reviews, cache_bytes=5000)) == one


def test_later_passes_are_in_another_order_unless_told_otherwise(reviews):
    shuffled = bits(model(passes=3).fit_stream(reviews))
    assert bits(model(passes=3, shuffle=False).fit_stream(reviews)) != shuffled
    other = model(passes=3).set_params(random_state=1).fit_stream(reviews)
    assert bits(other) != shuffled
    rows = [json.loads(line) for line in reviews.read_text().splitlines()]
    plain = model(passes=3, shuffle=False).fit_stream(reviews)
    by_hand = model()
    for _ in range(3):
        by_hand.partial_fit([row["text"] for row in rows], [row["label"] for row in rows])
    assert plain.coef_.tobytes() == by_hand.coef_.tobytes()
    assert len(plain.mistakes_) == 3


def test_a_row_counts_once_and_balances_by_the_first_pass(reviews):
    fitted = model(passes=3, class_weight="balanced").fit_stream(reviews)
    assert fitted._model.counts.sum() == 300


def test_rows_of_numbers(tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 3))
    y = (X[:, 0] > 0).astype(int)
    rows = [
        {"a": float(x[0]), "b": float(x[1]), "c": float(x[2]), "label": int(k)}
        for x, k in zip(X, y, strict=True)
    ]
    path = write(tmp_path / "numbers.jsonl", rows)
    streamed = SureClassifier(random_state=0).fit_stream(path, passes=1)
    whole = SureClassifier(random_state=0).partial_fit(X, y)
    assert bits(streamed) == bits(whole)
    assert streamed.projection_ == "covariance"
    cached = SureClassifier(random_state=0).fit_stream(path, passes=4)
    assert bits(cached) == bits(
        SureClassifier(random_state=0).fit_stream(path, passes=4, cache_bytes=0)
    )


def test_classes_can_be_declared_and_appear_late(tmp_path):
    path = write(tmp_path / "a.jsonl", records(200, n_classes=3))
    declared = model().fit_stream(path, classes=["class 0", "class 1", "class 2", "other"])
    assert declared.classes_.tolist() == ["class 0", "class 1", "class 2", "other"]
    coded = model(multiclass="ecoc", rule="arow").fit_stream(path)
    assert len(coded.classes_) == 3


def test_the_old_model_is_left_if_the_first_block_is_refused(reviews, tmp_path):
    fitted = model().fit_stream(reviews)
    before = bits(fitted)
    with pytest.raises(read.BadInput, match=r"must have a column 'body', got 'text', 'label'"):
        fitted.fit_stream(reviews, text="body")
    with pytest.raises(
        read.BadInput, match=r"must have labels, got none\. Name their column by label\."
    ):
        fitted.fit_stream(write(tmp_path / "b.jsonl", [{"text": "a"}]))
    assert bits(fitted) == before


def test_a_source_that_is_refused_when_going_on_leaves_no_trace(reviews, tmp_path):
    fitted = model().fit_stream(reviews)
    before = saved(fitted, tmp_path / "m.sure")
    with pytest.raises(read.BadInput, match="line 1: expected a JSON object"):
        fitted.fit_stream(write(tmp_path / "b.jsonl", ["no record"]), resume=True)
    other = write(tmp_path / "c.jsonl", [{"text": "a", "label": 1}])
    with pytest.raises(TypeError, match="labels of the kind known so far"):
        fitted.fit_stream(other, resume=True)
    assert saved(fitted, tmp_path / "m.sure") == before


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


def test_one_class_nothing_or_wrong_kind_is_refused(tmp_path):
    one = write(tmp_path / "one.jsonl", [{"text": "a", "label": "x"}] * 3)
    with pytest.raises(ValueError, match="fit_stream needs at least two classes, got 1 class: 'x'"):
        model().fit_stream(one)
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    with pytest.raises(read.BadInput, match="at least one record, got an empty file"):
        model().fit_stream(empty)
    empty.write_text("{\n" * 3)
    with pytest.raises(read.BadInput, match="at least one record"):
        model().fit_stream(empty, skip_bad=True)
    with pytest.raises(ValueError, match=r"must be rows of numbers, got texts\. Use SureText"):
        SureClassifier().fit_stream(one)
    with pytest.raises(ValueError, match="checkpoint_every must be rows or a time such as '30s'"):
        model().fit_stream(one, checkpoint_every="soon")
    numbers = write(tmp_path / "n.jsonl", [{"a": 1.0, "label": "x"}])
    with pytest.raises(ValueError, match="must have a text, got rows of numbers"):
        model().fit_stream(numbers)


def test_progress_tells_where_a_pass_is(reviews):
    seen = []
    fitted = model(passes=2).fit_stream(reviews, progress=seen.append)
    assert [p.number for p in seen] == sorted(p.number for p in seen)
    last = seen[-1]
    assert (last.number, last.passes, last.rows, last.n_bad) == (2, 2, 300, 0)
    assert last.n_bytes == last.total == reviews.stat().st_size
    assert last.mistakes == fitted.mistakes_[-1]
    first = [p for p in seen if p.number == 1]
    assert first[-1].mistakes == fitted.mistakes_[0]


def test_predict_sees_the_model_while_it_learns(reviews):
    fitted = model()
    seen = []
    fitted.fit_stream(reviews, progress=lambda p: seen.append(len(fitted.predict(["good film"]))))
    assert set(seen) == {1}


# ------------------------------------------------------------------------- going on


@settings(max_examples=20, deadline=None)
@given(stop=st.integers(1, 24), passes=st.integers(1, 3), cached=st.booleans())
def test_interrupted_anywhere_it_goes_on_to_the_same_bits(tmp_path_factory, stop, passes, cached):
    tmp_path = tmp_path_factory.mktemp("resume")
    path = write(tmp_path / "a.jsonl", records(80))
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
    fitted = model().fit_stream(reviews, passes=1).fit_stream(reviews, passes=3, resume=True)
    assert bits(fitted) == bits(model().fit_stream(reviews, passes=3))


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
    whole = model().fit_stream(frame, passes=2)
    begun = model()
    with pytest.raises(ZeroDivisionError):
        begun.fit_stream(frame, passes=1, progress=lambda p: 1 // (p.rows < 50))
    assert 50 <= begun.stream_.rows < 100
    begun.fit_stream(frame, passes=1, resume=True)
    assert bits(begun.fit_stream(frame, passes=2, resume=True)) == bits(whole)


def test_another_source_or_a_shorter_one_is_refused(reviews, tmp_path):
    more = write(tmp_path / "more.jsonl", records(100, seed=7))
    begun = model(passes=2)
    with pytest.raises(ZeroDivisionError):
        begun.fit_stream(reviews, progress=lambda p: 1 // (p.rows < 100))
    with pytest.raises(
        ValueError, match=r"source must be .*reviews\.jsonl, which training has not"
    ):
        begun.fit_stream(more, resume=True)
    write(reviews, records(3))
    with pytest.raises(read.BadInput, match="must be the file that was read before, got one that"):
        begun.fit_stream(reviews, resume=True)


def test_fit_starts_anew_and_forgets_the_stream(reviews):
    fitted = model().fit_stream(reviews)
    assert fitted.stream_.ended
    fitted.fit(["a", "b"], ["x", "y"])
    assert not hasattr(fitted, "stream_")


def test_settings_cannot_change_when_going_on(reviews):
    fitted = model().fit_stream(reviews)
    fitted.ngram_range = (1, 2)
    with pytest.raises(ValueError, match="ngram_range must stay"):
        fitted.fit_stream(reviews, resume=True)


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


# ------------------------------------------------------------- standard input, signals


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


TRAIN = """
import sys
from surelearn import SureTextClassifier
from surelearn.read import _lines
_lines.BLOCK = 700
model = SureTextClassifier(n_features=2**10, random_state=0, passes={passes})
print("ready", flush=True)
model.fit_stream({source!r}, checkpoint={out!r}, checkpoint_every={every!r}, **{more!r})
"""


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


def test_several_passes_over_standard_input_come_from_the_cache(tmp_path, reviews):
    out = tmp_path / "live.sure"
    code = TRAIN.format(source="-", out=str(out), passes=3, every="60s", more={"passes": 3})
    subprocess.run([sys.executable, "-c", code], input=reviews.read_text(), text=True, check=True)
    assert len(load(out).mistakes_) == 3


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


def test_results_come_in_order_and_errors_in_their_turn():
    def work(i):
        time.sleep(0.002 * (i % 3))
        if i == 30:
            raise ValueError("thirty")
        return i

    found = []
    with pytest.raises(ValueError, match="thirty"):
        found.extend(prefetch(range(100), work, 4))
    assert found == list(range(30))


def test_no_more_is_drawn_than_has_room():
    drawn = []

    def items():
        for i in range(1000):
            drawn.append(i)
            yield i

    results = prefetch(items(), lambda i: i, 2)
    next(results)
    time.sleep(0.2)
    assert len(drawn) < 10
    results.close()
    for thread in threading.enumerate():
        if thread.name.startswith("surelearn"):
            thread.join(timeout=10)
            assert not thread.is_alive()
    assert len(drawn) < 12


def test_the_cache_gives_back_what_it_was_given_and_leaves_nothing(tmp_path):
    cache = _cache.Cache(10_000)
    blocks = [(np.arange(5, dtype=np.int32), np.ones((2, 3))), (np.zeros(0), np.zeros(4, np.int8))]
    for i, arrays in enumerate(blocks):
        cache.add(arrays, i)
    folders = list((tmp_path / "temporary").iterdir())
    assert len(folders) == 1
    for kept, arrays in zip(cache.blocks(), blocks, strict=True):
        for found, given_ in zip(cache.read(kept), arrays, strict=True):
            np.testing.assert_array_equal(found, given_)
            assert found.dtype == given_.dtype
    cache.close()
    assert not list((tmp_path / "temporary").iterdir())


def test_a_full_cache_forgets_everything(tmp_path):
    cache = _cache.Cache(100)
    cache.add((np.zeros(10),), 0)
    cache.add((np.zeros(10),), 1)
    assert cache.n_blocks == 0
    cache.add((np.zeros(1),), 2)
    assert cache.n_blocks == 0
    assert not list((tmp_path / "temporary").iterdir())


def test_what_a_killed_process_left_is_removed_and_what_lives_is_not(tmp_path):
    code = (
        "import os, numpy, time\n"
        "from surelearn.training.cache import Cache\n"
        "c = Cache(10**6)\nc.add((numpy.zeros(3),), 0)\nprint('made', flush=True)\ntime.sleep(60)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=os.environ.copy()
    )
    assert process.stdout.readline() == "made\n"
    folder = tmp_path / "temporary"
    _cache.remove_forgotten()
    assert len(list(folder.iterdir())) == 1
    process.kill()
    process.communicate()
    _cache.remove_forgotten()
    assert not list(folder.iterdir())


def test_a_stream_leaves_no_cache_behind_even_after_an_error(reviews, tmp_path):
    model(passes=2).fit_stream(reviews)
    with pytest.raises(ZeroDivisionError):
        model(passes=2).fit_stream(reviews, progress=lambda p: 1 // 0)
    assert not list((tmp_path / "temporary").iterdir())


def test_standard_input_that_does_not_fit_in_the_cache_is_gone_through_once(reviews, tmp_path):
    code = TRAIN.format(
        source="-", out=str(tmp_path / "m.sure"), passes=3, every="60s",
        more={"passes": 3, "cache_bytes": 2000},
    )  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code], input=reviews.read_text(), capture_output=True, text=True
    )
    assert done.returncode == 0
    assert "passes must be 1 for standard input" in done.stderr
    assert len(load(tmp_path / "m.sure").mistakes_) == 1


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


@pytest.mark.parametrize("packed", ["", ".gz"])
def test_a_file_that_was_replaced_is_refused(tmp_path, packed):
    opener = gzip.open if packed else open
    path = tmp_path / f"a.jsonl{packed}"
    texts = ["".join(json.dumps(row) + "\n" for row in records(300, seed=s)) for s in (0, 1)]
    with opener(path, "wt") as file:
        file.write(texts[0])
    begun = model()
    with pytest.raises(ZeroDivisionError):
        begun.fit_stream(path, progress=lambda p: 1 // (p.rows < 100))
    with opener(path, "wt") as file:
        file.write(texts[1] * 2)
    with pytest.raises(read.BadInput, match=r"must be the file that was read before, got one that"):
        begun.fit_stream(path, resume=True)


def test_a_table_that_was_cut_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    frame = pandas.DataFrame(list(records(300)))
    frame.to_parquet(path)
    fitted = model().fit_stream(path)
    frame[:200].to_parquet(path)
    with pytest.raises(read.BadInput, match=r"must be the file that was read before, got one that"):
        fitted.fit_stream(path, resume=True)


def test_a_file_has_one_name_however_it_is_spelt(reviews, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fitted = model().fit_stream("reviews.jsonl")
    before = bits(fitted)
    for name in ("./reviews.jsonl", reviews, f"../{tmp_path.name}/reviews.jsonl"):
        assert bits(fitted.fit_stream(name, resume=True)) == before


def test_labels_of_csv_are_what_the_model_knows(tmp_path):
    """Labels 1 and 2 alone look like numbers."""
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("text,label\n" + "good,1\nbad,2\nodd,3a\n" * 5)
    second.write_text("text,label\n" + "good,1\nbad,2\n" * 5)
    fitted = model(passes=3).fit_stream(first)
    assert surelearn.evaluate(fitted, second).accuracy == 1.0
    assert fitted.fit_stream(second, resume=True).classes_.tolist() == ["1", "2", "3a"]


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

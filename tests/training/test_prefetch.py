"""Work ahead of the reader: in order, errors in their turn, no more than has room."""

from __future__ import annotations

import _thread
import io
import json
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from threading import Event, get_ident

import pyarrow as pa
import pytest

from surelearn import SureClassifier, SureTagger, SureTextClassifier, load, predict, read
from surelearn.prediction import predict_tags
from surelearn.read import _lines
from surelearn.training import prefetch as prefetching
from surelearn.training.prefetch import prefetch

HELPS = pytest.mark.parametrize("helps", [False, True])


@HELPS
@pytest.mark.parametrize("threads", [1, 4])
def test_results_come_in_order_and_errors_in_their_turn(threads, helps):
    def work(i):
        time.sleep(0.002 * (i % 3))
        if i == 30:
            raise ValueError("thirty")
        return i

    found = []
    with pytest.raises(ValueError, match="thirty"):
        found.extend(prefetch(range(100), work, threads, helps=helps))
    assert found == list(range(30))


def test_a_caller_that_helps_is_one_of_the_threads():
    """It works where nobody else does, and its own work is as much in order as that of others."""

    def who(i):
        time.sleep(0.005)
        return i, get_ident()

    alone = list(prefetch(range(20), who, 1, helps=True))
    assert alone == [(i, get_ident()) for i in range(20)]
    shared = list(prefetch(range(60), who, 2, helps=True))
    assert [i for i, _ in shared] == list(range(60))
    assert len({thread for _, thread in shared}) == 2
    assert get_ident() in {thread for _, thread in shared}
    others = {thread for _, thread in prefetch(range(60), who, 2)}
    assert get_ident() not in others


def test_an_interrupt_of_a_caller_that_helps_is_raised_at_once():
    """It is no result of the item at hand, and does not wait for the items before it."""
    caller, waits, interrupted, found, found_then = get_ident(), Event(), Event(), [], []

    def work(i):
        if get_ident() != caller:
            waits.set()
            interrupted.wait(30)
        elif waits.is_set():
            found_then.extend(found)
            interrupted.set()
            raise KeyboardInterrupt
        return i

    results = prefetch(range(10_000), work, 2, helps=True)
    with pytest.raises(KeyboardInterrupt):
        deque(map(found.append, results), 0)
    assert found == found_then


@HELPS
def test_no_more_is_drawn_than_has_room(helps):
    drawn = []

    def items():
        for i in range(1000):
            drawn.append(i)
            yield i

    before = _thread._count()
    results = prefetch(items(), lambda i: i, 2, helps=helps)
    next(results)
    time.sleep(0.2)
    assert len(drawn) < 10
    results.close()
    deadline = time.monotonic() + 10
    while _thread._count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert _thread._count() == before
    assert len(drawn) < 12


def interrupted_at(number: int, *, helps: bool) -> bool:
    """Raise Ctrl-C at one of the steps of Python code in this thread; was there such a step?"""
    left = number

    def trace(frame, event, arg):
        nonlocal left
        left -= 1
        if left == 0:
            sys.settrace(None)
            raise KeyboardInterrupt
        return trace

    results = prefetch(range(8), lambda i: i, 2, helps=helps)
    sys.settrace(trace)
    try:
        found = list(results)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
        results.close()
    assert found == list(range(8))
    return False


@HELPS
def test_ctrl_c_at_any_step_ends_it(tmp_path, helps):
    """It left a lock of a future or a semaphore locked, for which a thread then waited for ever."""
    program = Path(__file__).read_text() + (
        f"\n\nnumber = 1\nwhile interrupted_at(number, helps={helps}):\n    number += 1\n"
        "print(number)\n"
    )
    (tmp_path / "steps.py").write_text(program)
    command = [sys.executable, str(tmp_path / "steps.py")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.stderr == ""
    assert int(ended.stdout) > 100


@HELPS
@pytest.mark.parametrize("n_left", [0, 1, 2])
def test_without_threads_the_caller_does_the_work(monkeypatch, helps, n_left):
    left, start = iter(range(n_left)), prefetching.start_new_thread

    def start_new_thread(*args):
        if next(left, None) is None:
            raise RuntimeError("can't start new thread")
        return start(*args)

    monkeypatch.setattr(prefetching, "start_new_thread", start_new_thread)
    found = list(prefetch(range(50), lambda i: (i, get_ident()), 3, helps=helps))
    assert [i for i, _ in found] == list(range(50))
    if n_left < 2:  # none but the one that draws
        assert {thread for _, thread in found} == {get_ident()}


@HELPS
def test_a_thread_without_memory_for_its_error_ends_the_wait(monkeypatch, helps):
    caller, real = get_ident(), prefetching._outcome_of

    def tried(*args):
        if get_ident() != caller:
            raise MemoryError
        return real(*args)

    monkeypatch.setattr(prefetching, "_outcome_of", tried)
    with pytest.raises(MemoryError, match="a thread that works ahead must have memory"):
        list(prefetch(range(50), lambda i: time.sleep(0.01), 3, helps=helps))


N = 12
WORDS = ("good", "bad")


def arrow(rows):
    table = pa.table({"text": [text for text, _ in rows], "label": [label for _, label in rows]})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=5)
    return sink.getvalue()


def jsonl(i):
    return json.dumps({"text": f"{WORDS[i % 2]} {i}", "label": WORDS[i % 2]}) + "\n"


def conllu(i):
    rest = "\t_" * 6
    return f"1\tthe\t_\tDET{rest}\n2\t{WORDS[i % 2]}\t_\tADJ{rest}\n\n"


#: Of each format: what makes a good record, a bad one, and the begin of the file.
LINES = {
    "jsonl": (jsonl, '{"text": \n', ""),
    "csv": (lambda i: f'"{WORDS[i % 2]}\n{i}",{i % 2}\n', "one,two,3\n", "text,label\n"),
    "tsv": (lambda i: f"{WORDS[i % 2]} {i}\t{i % 2}\n", "lonely\n", "text\tlabel\n"),
    "svmlight": (lambda i: f"{i % 2} {1 + i % 3}:1\n", "1 no:1\n", ""),
    "vw": (lambda i: f"{i % 2} | {WORDS[i % 2]}\n", "0.5.5 | a\n", ""),
    "conll": (lambda i: f"the D\n{WORDS[i % 2]} A\n\n", "the D\ncat\n\n", ""),
    "conllu": (conllu, "1\tthe\n\n", ""),
}

MORE = {"svmlight": {"n_features": 5}, "vw": {"n_features": 64}}


def estimator(kind):
    if kind in ("conll", "conllu"):
        return SureTagger(passes=1, random_state=0)
    return (SureClassifier if kind in MORE else SureTextClassifier)(passes=1, random_state=0)


def weights(model):
    """Means of the features there are; a table of sequences has room for more."""
    tagger = isinstance(model, SureTagger)
    means = model._model.described()[0] if tagger else model._model.weights.means
    return means.tobytes()


def streamed(kind, data, model, monkeypatch, **more):
    monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": io.BytesIO(data)}))
    return model.fit_stream("-", format=kind, **MORE.get(kind, {}), **more)


@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize("good", [2, 5, N])
@pytest.mark.parametrize("block", [64, 1 << 21])
def test_what_is_before_a_bad_line_of_a_stream_is_learnt(kind, good, block, monkeypatch, tmp_path):
    """The rows of its block were lost, and a stream cannot be read again."""
    monkeypatch.setattr(_lines, "BLOCK", block)
    make, bad, head = LINES[kind]
    before = (head + "".join(make(i) for i in range(good))).encode()
    after = "".join(make(i) for i in range(good, N + 1)).encode()
    path = tmp_path / "m.sure"
    model = estimator(kind)
    with pytest.raises(read.BadInput, match=r"standard input, line \d+: expected") as caught:
        streamed(kind, before + bad.encode() + after, model, monkeypatch, checkpoint=path)
    whole = streamed(kind, before, estimator(kind), monkeypatch)
    records = "sentences" if "conll" in kind else "records"
    assert caught.value.__notes__ == [
        f"The {good} {records} before it were learnt; the model is saved in {path}, and "
        "resume=True continues."
    ]
    for learnt in (model, load(path)):
        assert learnt.stream_.rows == good
        assert weights(learnt) == weights(whole)


@pytest.mark.parametrize("kind", LINES)
def test_where_nothing_is_before_a_bad_line_nothing_is_learnt(kind, monkeypatch, tmp_path):
    make, bad, head = LINES[kind]
    data = (head + bad + make(0) + make(1)).encode()
    model = estimator(kind)
    with pytest.raises(read.BadInput, match="standard input, line") as caught:
        streamed(kind, data, model, monkeypatch, checkpoint=tmp_path / "m.sure")
    assert not hasattr(caught.value, "__notes__")
    assert not hasattr(model, "classes_")
    assert not (tmp_path / "m.sure").exists()


def test_what_is_before_a_bad_row_of_a_table_is_learnt(monkeypatch, tmp_path):
    rows = [(f"{WORDS[i % 2]} {i}", WORDS[i % 2]) for i in range(N)]
    model, path = estimator("arrow"), tmp_path / "m.sure"
    bad = [*rows[:8], (None, "good"), *rows[8:]]
    with pytest.raises(read.BadInput, match=r"standard input, row 9: 'text' must be") as caught:
        streamed("arrow", arrow(bad), model, monkeypatch, text="text")
    assert caught.value.__notes__ == ["The 8 records before it were learnt."]
    whole = streamed("arrow", arrow(rows[:8]), estimator("arrow"), monkeypatch, text="text")
    assert model.coef_.tobytes() == whole.coef_.tobytes()
    model.save(path)
    assert load(path).stream_.rows == 8


@pytest.mark.parametrize("kind", LINES)
def test_what_is_before_a_bad_line_of_a_stream_is_predicted(kind, monkeypatch):
    make, bad, head = LINES[kind]
    good = head + "".join(make(i) for i in range(6))
    model = streamed(kind, good.encode(), estimator(kind), monkeypatch)
    given = io.BytesIO((good + bad + make(0)).encode())
    monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": given}))
    tags = "conll" in kind
    found = (predict_tags if tags else predict)(model, "-", format=kind)
    assert len(next(found).tags if tags else next(found).label) == 6
    with pytest.raises(read.BadInput, match="standard input, line"):
        next(found)


def test_a_bad_line_of_a_file_ends_before_its_block(tmp_path):
    """It can be mended, and training goes on to the bytes of one that was never disturbed."""
    path = tmp_path / "a.jsonl"
    path.write_text("".join(map(jsonl, range(6))) + "bad\n" + jsonl(6))
    model = estimator("jsonl")
    with pytest.raises(read.BadInput, match=r"a\.jsonl, line 7") as caught:
        model.fit_stream(path)
    assert not hasattr(caught.value, "__notes__")
    assert not hasattr(model, "classes_")

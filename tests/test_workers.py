"""Threads where the system has them: without any, the same is learnt in the caller's thread."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from surelearn._workers import Workers


def test_results_and_errors_are_those_of_the_work():
    with Workers(2) as pool:
        assert list(pool.map(abs, range(-9, 0))) == list(range(9, 0, -1))
        with pytest.raises(ZeroDivisionError):
            pool.submit(divmod, 1, 0).result()
        assert pool.submit(threading.get_ident).result() != threading.get_ident()


@pytest.mark.parametrize("n_left", [0, 1])
def test_without_threads_the_caller_does_the_work_once(monkeypatch, n_left):
    start, left, done = threading.Thread.start, iter(range(n_left)), []

    def start_or_not(thread):
        if next(left, None) is None:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_or_not)
    with Workers(3) as pool:
        list(pool.map(done.append, range(100)))
        pool.submit(divmod, 1, 0)
    assert sorted(done) == list(range(100))


def test_a_caller_that_cannot_start_a_thread_gets_the_error_of_the_work(monkeypatch):
    def start(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    with Workers(3) as pool, pytest.raises(ZeroDivisionError):
        pool.submit(divmod, 1, 0).result()


_SCRIPT = """
import io, resource, threading
import numpy, pandas
from surelearn import SureClassifier, SureKernelClassifier, SureTagger, SureTextClassifier, tune

random = numpy.random.default_rng(0)
X = random.normal(size=(60, 5))
y = (X[:, 0] + random.normal(size=60) > 0).astype(int) + (X[:, 1] > 1)
texts = [" ".join(f"word{j}" for j in random.integers(99, size=9)) for _ in y]
words = [text.split() for text in texts]
frame = pandas.DataFrame({"text": texts, "label": y})
how = {"random_state": 0, "n_jobs": 2, "passes": 2}

def made():
    models = [
        SureClassifier(n_shards=2, **how).fit(X, y),
        SureKernelClassifier(**how).fit(X, y),
        SureTextClassifier(**how).fit(texts, y),
        SureTextClassifier(**how).fit_stream(frame),
        SureTextClassifier(n_shards=2, **how).fit_stream(frame),
        SureTagger(n_shards=2, **how).fit(words, [[word[-1] for word in own] for own in words]),
        tune(SureClassifier(random_state=0), X, y, n_jobs=2).best,
    ]
    files = [io.BytesIO() for _ in models]
    for model, file in zip(models, files):
        model.save(file)
    return [file.getvalue() for file in files]

with_threads = made()
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
threading.stack_size(1 << 30)
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 29),) * 2)
try:
    threading.Thread(target=print).start()
except RuntimeError:
    print("same" if made() == with_threads else "other")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="its limit of address space is Linux's")
def test_a_limit_of_address_space_changes_no_bit():
    done = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("same\n", 0), done.stderr

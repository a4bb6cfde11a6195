"""Settings of the test run: how many examples, where data is, what a skip means."""

from __future__ import annotations

import os
import signal
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

# scikit-learn skips one of its checks without it; read when scipy is first imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import pytest
from hypothesis import HealthCheck, settings

from surelearn._check import _values

_CORES = _values.cores
_SLOW_BUT_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "quick",
    max_examples=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=_SLOW_BUT_FINE,
)
settings.register_profile("thorough", settings.get_profile("quick"), max_examples=100)
settings.register_profile(
    "fuzz", settings.get_profile("quick"), max_examples=1000, derandomize=False
)
settings.load_profile(os.environ.get("SURELEARN_HYPOTHESIS", "quick"))

# A shell that runs the tests in the background ignores Ctrl-C, and what it starts would as well.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def real_cores():
    """The function that counts cores; other tests run as on four at least."""
    return _CORES


@pytest.fixture(autouse=True)
def _four_cores(monkeypatch):
    """Laws of threads hold with four of them, also where a machine has fewer cores."""
    monkeypatch.setattr(_values, "cores", lambda: max(4, _CORES()))


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of the real data sets."""
    folder = os.environ.get("SURELEARN_DATA")
    if not folder:
        pytest.skip("SURELEARN_DATA is not set, so the real data sets are not at hand")
    return Path(folder)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """A file of each kind, empty: a flag is looked at before anything is read."""
    names = ("a.jsonl", "a.csv", "a.tsv", "a.parquet", "a.arrow", "a.svm", "a.vw", "a.conll")
    for name in names:
        (tmp_path / name).write_text("")
    return {name.partition(".")[2]: tmp_path / name for name in names}


@pytest.fixture
def no_room():
    """A context in which files cannot grow beyond so many bytes, as on a disk that is full."""
    resource = pytest.importorskip("resource")

    @contextmanager
    def limited(n_bytes):
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    return limited


@pytest.fixture
def calls(monkeypatch):
    """Counts the calls of some methods of a class, which do what they did."""

    def counted(kind, *names):
        made = Counter()

        def counting(name, method):
            def call(*arguments, **keywords):
                made[name] += 1
                return method(*arguments, **keywords)

            return call

        for name in names:
            monkeypatch.setattr(kind, name, counting(name, getattr(kind, name)))
        return made

    return counted


@pytest.fixture
def small_blocks(monkeypatch, tmp_path):
    """Blocks of a few rows, and temporary folders of the test's own."""
    monkeypatch.setattr("surelearn.read._lines.BLOCK", 700)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", None)


@pytest.fixture
def reviews(tmp_path):
    """A file of 300 reviews of two classes."""
    from streaming import records, write

    return write(tmp_path / "reviews.jsonl", records(300))


@pytest.fixture
def no_registered_rules():
    """A registry without names, and the one of before afterwards."""
    from surelearn.rules._custom import registered

    before = dict(registered)
    registered.clear()
    yield
    registered.clear()
    registered.update(before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Where SURELEARN_NO_SKIPS is set a skipped test has failed: it checked nothing."""
    report = yield
    expected = hasattr(report, "wasxfail")
    if report.skipped and not expected and os.environ.get("SURELEARN_NO_SKIPS"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which counts as failed here: {report.longrepr}"
    return report

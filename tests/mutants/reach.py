"""Which functions of the package a test file calls: runs inside the tests, in every process.

Copied as ``sitecustomize.py`` to a folder in front of the path. It also puts that path before the
finder of an editable install, so that the tests see the copy of the package. It is imported before
pytest, hence PYTEST_DONT_REWRITE.
"""

from __future__ import annotations

import os
import sys
import threading
from importlib.machinery import PathFinder
from types import CodeType, FrameType

sys.meta_path.insert(0, PathFinder)  # type: ignore[arg-type]

#: The file that gets the lines, and the folder of the package.
_OUT, _PACKAGE = os.environ.get("MUTANTS_OUT"), os.environ.get("MUTANTS_PACKAGE", "")
#: The test file that runs, also told to processes that it starts; empty while files are read.
_FILE = "MUTANTS_FILE"
_seen: dict[int, CodeType] = {}


def _say(*words: object) -> None:
    """One line at once: a process may be killed, and several write."""
    with open(_OUT or os.devnull, "ab", buffering=0) as out:
        out.write("\t".join(map(str, words)).encode() + b"\n")


def _trace(frame: FrameType, event: str, argument: object) -> None:
    code = frame.f_code
    if id(code) not in _seen:
        _seen[id(code)] = code
        if code.co_filename.startswith(_PACKAGE):
            path = os.path.relpath(code.co_filename, _PACKAGE)
            try:
                _say("reached", os.environ.get(_FILE, ""), path, code.co_firstlineno)
            except OSError:  # a test that lets no file grow
                del _seen[id(code)]


if _OUT:
    threading.settrace(_trace)
    sys.settrace(_trace)


def pytest_runtest_logstart(nodeid: str) -> None:
    file = nodeid.partition("::")[0]
    if os.environ.get(_FILE) != file:
        os.environ[_FILE] = file
        _seen.clear()


def pytest_collectreport(report: object) -> None:
    _judge(report, 0.0)


def pytest_runtest_logreport(report: object) -> None:
    _judge(report, report.duration)  # type: ignore[attr-defined]


def _judge(report: object, seconds: float) -> None:
    if _OUT:
        failed = report.failed  # type: ignore[attr-defined]
        _say("failed" if failed else "passed", report.nodeid, seconds)  # type: ignore[attr-defined]

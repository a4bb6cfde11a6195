"""Rules of users, and a process of its own to run them in."""

from __future__ import annotations

import subprocess
import sys
import textwrap


def arow(m, v):
    """AROW at r = 2; the built-in one in the user's words."""
    if m < 1.0:
        return (1.0 - m) / (v + 2.0), 1.0 / 2.0
    return 0.0, 0.0


def thing(m, v):
    """What numba cannot compile: it calls a function that is not."""
    return arow(m, v)


class Callable:
    """A function with a state: the rows it has seen."""

    def __init__(self, fails_at=None, error=None, got=None):
        self.seen = []
        self.fails_at, self.error, self.got = fails_at, error, got

    def __call__(self, m, v):
        self.seen.append((m, v))
        if len(self.seen) - 1 != self.fails_at:
            return arow(m, v)
        if self.error is not None:
            raise self.error
        return self.got


def run(code, *arguments):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code), *map(str, arguments)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.strip()

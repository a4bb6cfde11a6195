"""A release, built once for all tests of a run, and commands that do not see the sources."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run(*command, cwd):
    """What a command prints; without the tree of sources on any path."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run([*map(str, command)], cwd=cwd, env=env, text=True, capture_output=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def dist(factory):
    """A folder with the source distribution, and the wheel that was built from it.

    Compiling takes minutes: workers of one run share the folder, and the first one fills it.
    """
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "dist"
    folder.mkdir(exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not list(folder.glob("*.whl")):
            run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    return folder


def wheel(factory):
    """The wheel."""
    [found] = dist(factory).glob("*.whl")
    return found

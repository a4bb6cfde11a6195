"""How much memory there is: of the machine, of the groups that a process is in, of its limits."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from surelearn._check import WeightsMemory, _memory, enough_memory
from surelearn._check._memory import available, size
from surelearn.weights import Layout

MEMINFO = "MemTotal:  16000000 kB\nMemFree:  1000000 kB\nMemAvailable:  8000000 kB\n"


@pytest.fixture
def machine(tmp_path):
    """A machine of which these files are written."""

    def written(**files):
        for name, text in files.items():
            path = tmp_path / FILES[name]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return written


FILES = {
    "meminfo": "proc/meminfo",
    "groups": "proc/self/cgroup",
    "statm": "proc/self/statm",
    "top": "sys/fs/cgroup/memory.max",
    "top_used": "sys/fs/cgroup/memory.current",
    "slice": "sys/fs/cgroup/a.slice/memory.max",
    "slice_used": "sys/fs/cgroup/a.slice/memory.current",
    "job": "sys/fs/cgroup/a.slice/job/memory.max",
    "job_used": "sys/fs/cgroup/a.slice/job/memory.current",
    "job_stat": "sys/fs/cgroup/a.slice/job/memory.stat",
    "old": "sys/fs/cgroup/memory/memory.limit_in_bytes",
    "old_used": "sys/fs/cgroup/memory/memory.usage_in_bytes",
    "old_stat": "sys/fs/cgroup/memory/memory.stat",
}


def test_what_linux_says_is_available(machine):
    assert available(machine(meminfo=MEMINFO)) == 8000000 * 1024


def test_groups_of_the_second_version_and_those_above_them(machine):
    root = machine(
        meminfo=MEMINFO,
        groups="0::/a.slice/job\n",
        slice="5000000000\n",
        slice_used="1000000000\n",
        job="max\n",
        job_used="900000000\n",
    )
    assert available(root) == 4_000_000_000
    machine(job="2000000000\n", job_stat="anon 5\ninactive_file 100000000\nactive_file 20\n")
    assert available(root) == 1_200_000_020  # files that can be dropped are no hindrance
    machine(job_used="3000000000\n")
    assert available(root) == 0


def test_groups_of_the_first_version_in_a_container(machine):
    """The path is that on the host; the group itself is at the top."""
    root = machine(
        meminfo=MEMINFO,
        groups="5:devices:/x\n4:cpu,memory:/docker/abc\n0::/\n",
        old="1000000000\n",
        old_used="400000000\n",
        old_stat="inactive_file 1\ntotal_inactive_file 50000000\ntotal_active_file 1000000\n",
    )
    assert available(root) == 651_000_000


def test_files_that_say_something_else_are_no_limit(machine):
    root = machine(meminfo=MEMINFO, groups="0::/a.slice/job\n", job="a lot\n", job_used="\n")
    assert available(root) == 8000000 * 1024


def test_machines_without_such_files(machine):
    built_in = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert available(machine(groups="")) == built_in


@pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="needs Linux")
def test_this_machine():
    room = available()
    assert room is not None
    assert 0 < room <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
def test_a_limit_of_the_address_space_counts():
    code = (
        "import resource\n"
        "from surelearn._check._memory import available\n"
        "resource.setrlimit(resource.RLIMIT_AS, (10**9, 10**9))\n"
        "print(available())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0 < int(done.stdout) < 10**9


def test_what_is_refused():
    def said(room):
        return f"it must be small, there are {room} bytes."

    enough_memory(1000, 1000, said)
    enough_memory(2**26 - 1, None, said)  # so little is never looked for
    with pytest.raises(MemoryError, match=r"^it must be small, there are 1000 bytes\.$"):
        enough_memory(1001, 1000, said)
    with pytest.raises(MemoryError, match="it must be small"):
        enough_memory(2**62, None, said)


WIDE = Layout(262_144, intercept=True, second_order=True, averaged=False, dtype="float32")
SMALL = Layout(9, intercept=False, second_order=True, averaged=True, dtype="float64")


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (
            WeightsMemory(WIDE, 10_000, "classes"),
            "weights must fit in memory (8.1 GB available), got 262,145 features x 10,000 "
            "classes, which need 21.0 GB. Use fewer features (n_features if they are hashed) or "
            "fewer classes.",
        ),
        (
            WeightsMemory(SMALL, 9, "problems", more=2 * 10**12),
            "weights must fit in memory (8.1 GB available), got 9 features x 9 problems, "
            "which need 2,000.0 GB. Use multiclass='joint', fewer features (n_features if they "
            "are hashed), fewer classes, dtype='float32' or average=False.",
        ),
        (
            WeightsMemory(WIDE, 1),
            "weights must fit in memory (8.1 GB available), got 262,145 features, which "
            "need 2.1 MB. Use fewer features (n_features if they are hashed).",
        ),
    ],
)
def test_what_is_said_of_weights(weights, message):
    assert weights.said(8_100_000_000) == message
    assert ", of which" not in weights.said()
    options = weights.said().spelled(lambda keyword: f"--{keyword.name}")
    assert "fewer features (--n_features if they are hashed)" in options


def test_a_full_covariance_has_another_remedy():
    full = replace(WIDE, covariance="full")
    assert "Use covariance='diagonal', fewer" in WeightsMemory(full, 3).said()


def test_large_weights_are_made_one_by_one(monkeypatch):
    """Until some are made nobody sees how much they take."""
    monkeypatch.setattr(_memory, "_SMALL", 0)
    at_work, most = [], []

    def make():
        with WeightsMemory(SMALL, 2).made(None):
            at_work.append(1)
            most.append(len(at_work))
            time.sleep(0.001)
            at_work.pop()

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_does_not_wait_for_what_its_parent_makes():
    """In a process of its own: the one of the tests has threads."""
    code = """
import os
from surelearn._check import _memory
with _memory._ONE_BY_ONE:
    child = os.fork()
    if child == 0:
        os._exit(0 if _memory._ONE_BY_ONE.acquire(timeout=5) else 1)
    raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_sizes():
    assert [size(n) for n in (500, 10**7, 2 * 10**9)] == ["0.0 MB", "10.0 MB", "2.0 GB"]

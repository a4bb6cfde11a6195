"""Checks that weights and files fit in the available memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Protocol

from surelearn._check._messages import Keyword, Message

#: Smaller requests are not checked: the check takes longer than the allocation.
_SMALL = 2**26

#: Large weights are allocated one after the other: free memory does not show an allocation that is
#: still under way.
_ONE_BY_ONE = Lock()


def _unlocked() -> None:
    # In the child of a fork, no thread is left to release a lock that was held.
    global _ONE_BY_ONE
    _ONE_BY_ONE = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlocked)


def enough_memory(needed: int, limit: int | None, said: Callable[[int], str]) -> None:
    """Raise if more bytes are needed than are available, or than `limit` if it is given.

    `said` returns the message, given the number of available bytes.
    """
    if limit is None and needed < _SMALL:
        return
    room = available() if limit is None else limit
    if room is not None and needed > room:
        raise MemoryError(said(room))


class SizedLayout(Protocol):
    """What decides the size of the weights."""

    @property
    def n_rows(self) -> int:
        """Number of features, including the intercept."""

    @property
    def averaged(self) -> bool:
        """Whether there are sums for averaged weights."""

    @property
    def dtype(self) -> str:
        """Type of the numbers."""

    @property
    def covariance(self) -> str:
        """``"diagonal"`` or ``"full"``."""

    def nbytes(self, n_columns: int) -> int:
        """Size of the weights of `n_columns` columns."""


@dataclass(frozen=True)
class WeightsMemory:
    """The memory that new weights need.

    Parameters
    ----------
    layout : SizedLayout
    n_columns : int
    what : str, default "columns"
        What a column stands for, in errors.
    more : int, default 0
        Additional bytes, for arrays besides the weights.
    """

    layout: SizedLayout
    n_columns: int
    what: str = "columns"
    more: int = 0

    @property
    def n_bytes(self) -> int:
        """Total size in bytes."""
        return self.layout.nbytes(self.n_columns) + self.more

    def check(self, limit: int | None) -> None:
        """Raise if they do not fit in memory."""
        enough_memory(self.n_bytes, limit, self.said)

    @contextmanager
    def made(self, limit: int | None) -> Iterator[None]:
        """Allocate them inside this context: raises before or during the allocation if they do
        not fit in memory."""
        needed = self.n_bytes
        with _ONE_BY_ONE if needed >= _SMALL else nullcontext():
            enough_memory(needed, limit, self.said)
            try:
                yield
            except MemoryError:  # from the core, whose message does not say what was requested
                raise MemoryError(self.said()) from None

    def said(self, room: int | None = None) -> Message:
        """The message: what is needed, what is available if known, and how to need less."""
        have = "" if room is None else f" ({size(room)} available)"
        columns = "" if self.n_columns == 1 else f" x {self.n_columns:,} {self.what}"
        return Message(
            f"weights must fit in memory{have}, got {self.layout.n_rows:,} features{columns}, "
            f"which need {size(self.n_bytes)}. {{remedy}}",
            remedy=self._remedy(),
        )

    def _remedy(self) -> Message:
        ways = {
            "{covariance}": self.layout.covariance == "full",
            "{multiclass}": self.what == "problems",
            "fewer features ({n_features} if they are hashed)": True,
            f"fewer {'labels' if self.what == 'labels' else 'classes'}": self.n_columns > 1,
            "{dtype}": self.layout.dtype == "float64",
            "{average}": self.layout.averaged,
        }
        helpful = [way for way, helps in ways.items() if helps]
        listed = " or ".join(filter(None, [", ".join(helpful[:-1]), helpful[-1]]))
        return Message(
            f"Use {listed}.",
            covariance=Keyword("covariance", "diagonal"),
            multiclass=Keyword("multiclass", "joint"),
            n_features=Keyword("n_features"),
            dtype=Keyword("dtype", "float32"),
            average=Keyword("average", False),
        )


def size(n_bytes: int) -> str:
    """A number of bytes in MB or GB."""
    unit, name = (10**9, "GB") if n_bytes >= 10**9 else (10**6, "MB")
    return f"{n_bytes / unit:,.1f} {name}"


def available(root: Path = Path("/")) -> int | None:
    """Bytes that this process can still allocate without swapping; None if unknown.

    This is the minimum of the free memory of the machine, what the control groups of the process
    (such as a container) may still take, and the rest of its address space if that is limited.
    """
    found = [_free(root / "proc/meminfo"), *_in_groups(root), _addresses(root / "proc/self/statm")]
    return min((max(0, room) for room in found if room is not None), default=None)


def _free(meminfo: Path) -> int | None:
    """Free memory, including caches that can be dropped, on Linux; elsewhere all memory."""
    free = _counts(meminfo).get("MemAvailable:")
    if free is not None:
        return free * 1024
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not on Windows
        return None


def _in_groups(root: Path) -> Iterator[int]:
    """What each control group of the process may still take, for cgroup v1 and v2."""
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, own = line.split(":", 2)
        if controllers == "":
            folder, names = root / "sys/fs/cgroup", ("memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            folder = root / "sys/fs/cgroup/memory"
            names = "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        inner = folder / own.strip("/")
        # In a container this may be the path on the host, which does not exist; its parents do.
        for group in (inner, *inner.parents):
            limit, used = (_number(group / name) for name in names)
            if limit is not None and used is not None:
                yield limit - used + _cached(group)
            if group == folder:
                break


def _cached(group: Path) -> int:
    """Bytes of cached files that a group counts as used and that the system can drop."""
    counts = _counts(group / "memory.stat")
    prefix = "total_" if "total_inactive_file" in counts else ""
    return counts.get(f"{prefix}inactive_file", 0) + counts.get(f"{prefix}active_file", 0)


def _addresses(statm: Path) -> int | None:
    """What is left of the address space (``ulimit -v``)."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    pages = [line.split()[0] for line in _lines(statm)]
    if limit == resource.RLIM_INFINITY or not pages:
        return None
    return limit - int(pages[0]) * resource.getpagesize()


def _number(path: Path) -> int | None:
    """The number in a file; None if there is no file, or if it says "max"."""
    text = "".join(_lines(path)).strip()
    return int(text) if text.isdigit() else None


def _counts(path: Path) -> dict[str, int]:
    """The lines of a file that hold a name and a number, as a dict."""
    words = [line.split() for line in _lines(path)]
    return {word[0]: int(word[1]) for word in words if len(word) > 1 and word[1].isdigit()}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return []

"""How much memory there is, and the refusal of what needs more."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Protocol

from surelearn._check._said import Keyword, Said

#: Fewer bytes than these are not worth a look: it takes longer than to allocate them.
_SMALL = 2**26

#: Whoever makes large weights waits until those before are made: until then nobody sees how much
#: they take. A child of a fork has a lock of its own, since nobody is left to give back the other.
_ONE_BY_ONE = Lock()


def _unlocked() -> None:
    global _ONE_BY_ONE
    _ONE_BY_ONE = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlocked)


def enough_memory(needed: int, limit: int | None, said: Callable[[int], str]) -> None:
    """Refuse what needs more bytes than there are, or than a limit that is given.

    `said` gives the message for so many bytes that there are.
    """
    if limit is None and needed < _SMALL:
        return
    room = available() if limit is None else limit
    if room is not None and needed > room:
        raise MemoryError(said(room))


class SizedLayout(Protocol):
    """What is kept for each feature, as far as its size goes."""

    @property
    def n_rows(self) -> int:
        """Features with the intercept."""

    @property
    def averaged(self) -> bool:
        """Whether sums for averages are kept."""

    @property
    def dtype(self) -> str:
        """Of the numbers."""

    @property
    def covariance(self) -> str:
        """``"diagonal"`` or ``"full"``."""

    def nbytes(self, n_columns: int) -> int:
        """Bytes that the weights of so many columns take."""


@dataclass(frozen=True)
class WeightsMemory:
    """WeightsMemory that are asked for.

    Parameters
    ----------
    layout : SizedLayout
    n_columns : int
    what : str, default "columns"
        What there is a column for, as an error names it.
    more : int, default 0
        Bytes of what comes with them.
    """

    layout: SizedLayout
    n_columns: int
    what: str = "columns"
    more: int = 0

    @property
    def n_bytes(self) -> int:
        """Of all of them."""
        return self.layout.nbytes(self.n_columns) + self.more

    def check(self, limit: int | None) -> None:
        """Refuse those that there is no memory for."""
        enough_memory(self.n_bytes, limit, self.said)

    @contextmanager
    def made(self, limit: int | None) -> Iterator[None]:
        """While they are made: refuse those that there is no memory for, before and meanwhile."""
        alone = _ONE_BY_ONE if self.n_bytes >= _SMALL else nullcontext()
        with alone:
            self.check(limit)
            try:
                yield
            except MemoryError:  # of the core, which does not know what was asked for
                raise MemoryError(self.said()) from None

    def said(self, room: int | None = None) -> Said:
        """What is asked for, what there is where that is known, and how to ask for less."""
        have = "" if room is None else f", of which {size(room)} can be had"
        columns = "" if self.n_columns == 1 else f" x {self.n_columns:,} {self.what}"
        return Said(
            f"weights must fit in memory{have}, got {self.layout.n_rows:,} features{columns}, "
            f"which need {size(self.n_bytes)}. {{remedy}}",
            remedy=self._remedy(),
        )

    def _remedy(self) -> Said:
        ways = {
            "{covariance}": self.layout.covariance == "full",
            "{multiclass}": self.what == "problems",
            "fewer features ({n_features} where they are hashed)": True,
            "fewer classes": self.n_columns > 1,
            "{dtype}": self.layout.dtype == "float64",
            "{average}": self.layout.averaged,
        }
        helpful = [way for way, helps in ways.items() if helps]
        listed = " or ".join(filter(None, [", ".join(helpful[:-1]), helpful[-1]]))
        return Said(
            f"Use {listed}.",
            covariance=Keyword("covariance", "diagonal"),
            multiclass=Keyword("multiclass", "joint"),
            n_features=Keyword("n_features"),
            dtype=Keyword("dtype", "float32"),
            average=Keyword("average", False),
        )


def sums_too_large(needed: int, room: int) -> Said:
    """The message for models that there is no memory to merge."""
    return Said(
        f"models must be few or small enough to be merged in memory, of which {size(room)} can be "
        f"had, got sums over them that need {size(needed)}. Use fewer classes or fewer features "
        "({n_features} where they are hashed).",
        n_features=Keyword("n_features"),
    )


def file_too_large(where: str, needed: int, room: int) -> str:
    """The message for a model file that there is no memory for."""
    return f"{where} must fit in memory, of which {size(room)} can be had, got {size(needed)}."


def size(n_bytes: int) -> str:
    """Bytes as people say them."""
    unit, name = (10**9, "GB") if n_bytes >= 10**9 else (10**6, "MB")
    return f"{n_bytes / unit:,.1f} {name}"


def available(root: Path = Path("/")) -> int | None:
    """Bytes that this process can still take without swapping; None: nobody knows.

    The least of what is free on the machine, what the groups that it is in may still take (as in a
    container), and its own address space where that is limited.
    """
    found = [_free(root / "proc/meminfo"), *_in_groups(root), _addresses(root / "proc/self/statm")]
    return min((max(0, room) for room in found if room is not None), default=None)


def _free(meminfo: Path) -> int | None:
    """Linux says what is free, caches that it can drop included; others what was built in."""
    free = _counts(meminfo).get("MemAvailable:")
    if free is not None:
        return free * 1024
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not on Windows
        return None


def _in_groups(root: Path) -> Iterator[int]:
    """What each control group that the process is in may still take, of either version."""
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
        # In a container the path may be that on the host, which is not there: the groups above are.
        for group in (inner, *inner.parents):
            limit, used = (_number(group / name) for name in names)
            if limit is not None and used is not None:
                yield limit - used + _cached(group)
            if group == folder:
                break


def _cached(group: Path) -> int:
    """Bytes of files that a group counts as used, and that the system can drop."""
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
    """The number in a file; None: there is none, or the word for no limit."""
    text = "".join(_lines(path)).strip()
    return int(text) if text.isdigit() else None


def _counts(path: Path) -> dict[str, int]:
    """Lines of a name and a number."""
    words = [line.split() for line in _lines(path)]
    return {word[0]: int(word[1]) for word in words if len(word) > 1 and word[1].isdigit()}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return []

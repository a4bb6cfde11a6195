"""A thousand workers and 10^10 rows, on paper: arithmetic with measured speeds, nothing was run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil, log2

ROWS, WORKERS = 10**10, 1000
#: A row is a text of 36 words with pairs, as in `benchmarks/binary_pass.py`, in so many bytes.
BYTES_A_ROW = 200
#: Features of the projected model, of those that were measured.
BITS, MEASURED = 22, 20
#: A link of ten gigabits, bytes a second.
LINK = 1.25e9

Figures = Mapping[tuple[str, str], float]


def projected(speeds: Figures, cost: Figures) -> Iterator[tuple[str, str, str]]:
    """What, its arithmetic, and what that comes to."""
    rows = ROWS // WORKERS
    rate, text = speeds["in order", "rows/s"], speeds["two cores", "MB/s"] * 1e6 / 2
    learn, read = rows / rate, rows * BYTES_A_ROW / text
    yield "rows of a worker", f"10^10 / {WORKERS:,}", f"{rows:,}"
    yield "one pass, rows in memory", f"{rows:,} / {rate / 1e6:.2g}M rows a second", _s(learn)
    yield (
        "one pass from JSON lines",
        f"{rows:,} x {BYTES_A_ROW} bytes / {text / 1e6:.2g} MB a second of one core",
        _s(read),
    )
    one_core = ROWS * BYTES_A_ROW / text
    yield "the same on one core", f"{WORKERS:,} x {read:.3g} s", f"{one_core / 3600:.2g} hours"
    yield from _reduced(cost, read)


def _reduced(cost: Figures, read: float) -> Iterator[tuple[str, str, str]]:
    """The way up the tree, two states at a time, and one driver that takes them all."""
    times = 2 ** (BITS - MEASURED)
    about = f"2^{MEASURED} features, 2 classes"
    leaf, total = (times * cost[about, f"bytes of a {kind}"] for kind in ("leaf", "sum"))
    names = ("pickle a sum", "unpickle a sum", "add two sums")
    parts = [times * cost[about, f"seconds to {name}"] for name in names]
    step, levels = total / LINK + sum(parts), ceil(log2(WORKERS))
    yield "bytes a worker sends", f"{times} x those of 2^{MEASURED} features", _mb(leaf)
    yield "bytes of a sum", f"{times} x those of 2^{MEASURED} features", _mb(total)
    moved = WORKERS / 2 * leaf + (WORKERS / 2 - 1) * total
    yield (
        "bytes in all, two at a time",
        f"{WORKERS // 2} x {_mb(leaf)} + {WORKERS // 2 - 1} x {_mb(total)}",
        f"{moved / 1e9:.3g} GB",
    )
    work = " + ".join(f"{seconds:.2g}" for seconds in (total / LINK, *parts))
    yield "one level", f"move + pickle + unpickle + add = {work} s", _s(step)
    yield f"the tree, {levels} levels", f"{levels} x {step:.2g} s", _s(levels * step)
    add = times * cost[about, "seconds to add two leaves"]
    flat = WORKERS * (leaf / LINK + add)
    yield (
        "no tree: one driver takes all",
        f"{WORKERS:,} x ({leaf / LINK:.2g} s to move + {add:.2g} s to add)",
        _s(flat),
    )
    share = read / (read + levels * step)
    yield (
        "share of the time spent learning",
        f"{read:.3g} / ({read:.3g} + {levels * step:.3g})",
        (f"{100 * share:.0f} %"),
    )


def _s(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 100 else f"{seconds:,.0f} s"


def _mb(n: float) -> str:
    return f"{n / 1e6:.3g} MB"

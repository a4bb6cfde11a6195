"""svmlight text to sparse rows: surelearn's reader beside scikit-learn's `load_svmlight_file`.

One file of 50 MB with numbers as a program writes them (six digits), another with all the digits of
a double; both are read from the disk's cache by one thread. Rows are compared bit for bit before
anything is timed. The same words as Vowpal Wabbit text, hashed, have no counterpart there.
"""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from _measure import Claim, Timing, interleaved, ratio_claim, show, write
from sklearn.datasets import load_svmlight_file

from surelearn.read import _svmlight, _vw

REPEATS = 5
BYTES = 50_000_000
PER_ROW = 70


def svmlight(path: Path, digits: int) -> None:
    """Rows of 70 numbers among 50,000 features until there are enough bytes."""
    random = np.random.default_rng(0)
    with path.open("w") as file:
        while file.tell() < BYTES:
            indices = np.sort(random.choice(50_000, PER_ROW, replace=False)) + 1
            entries = zip(indices, random.normal(size=PER_ROW), strict=True)
            words = " ".join(f"{j}:{x:.{digits}g}" for j, x in entries)
            file.write(f"{random.integers(2) * 2 - 1} {words}\n")


def vw(path: Path) -> None:
    """Rows of 70 words out of 50,000."""
    random = np.random.default_rng(0)
    with path.open("w") as file:
        while file.tell() < BYTES:
            words = " ".join(f"word{j}" for j in random.integers(50_000, size=PER_ROW))
            file.write(f"{random.integers(2) * 2 - 1} |text {words}\n")


def check_same(path: Path) -> None:
    """Stop if the two differ in a single bit."""
    ours = _svmlight.parse(mapped(path), dtype=np.float64)
    X, y = load_svmlight_file(path)
    same = np.array_equal(ours.starts, X.indptr) and np.array_equal(ours.features, X.indices)
    if not (same and ours.values.tobytes() == X.data.tobytes() and np.array_equal(ours.labels, y)):
        raise SystemExit("rows must be those of scikit-learn, got others.")


def mapped(path: Path) -> mmap.mmap:
    """The file as memory, without a copy."""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def contestants(folder: Path) -> dict[str, Callable[[], object]]:
    short, long, text = (folder / name for name in ("short.svm", "long.svm", "text.vw"))
    svmlight(short, 6)
    svmlight(long, 17)
    vw(text)
    check_same(short)
    check_same(long)
    return {
        "scikit-learn, 6 digits": partial(load_svmlight_file, short, dtype=np.float32),
        "scikit-learn, 17 digits": partial(load_svmlight_file, long, dtype=np.float32),
        "surelearn, 6 digits": lambda: _svmlight.parse(mapped(short)),
        "surelearn, 17 digits": lambda: _svmlight.parse(mapped(long)),
        "surelearn, Vowpal Wabbit text": lambda: _vw.parse(mapped(text)),
    }


def figures_of(times: dict[str, Timing]) -> list[dict[str, Any]]:
    """Speed of each, and its ratio to scikit-learn's on the same file."""
    out = []
    for name, taken in times.items():
        theirs = times.get(name.replace("surelearn", "scikit-learn"))
        out.append(
            {
                "contestant": name,
                "seconds": round(taken.best, 4),
                "MB/s": round(BYTES / 1e6 / taken.best, 1),
                "ratio": round(theirs.best / taken.best, 1) if theirs else None,
            }
        )
    return out


def claims_of(figures: list[dict[str, Any]]) -> list[Claim]:
    of = {f["contestant"]: f for f in figures}
    peer = "scikit-learn load_svmlight_file"
    speed = of["surelearn, Vowpal Wabbit text"]["MB/s"]
    return [
        ratio_claim("reading svmlight text", peer, of["surelearn, 6 digits"]["ratio"], 10),
        ratio_claim(
            "reading svmlight text, 17 digits", peer, of["surelearn, 17 digits"]["ratio"], 10
        ),
        Claim("reading and hashing Vowpal Wabbit text", "-", f"{speed:.0f} MB/s", "-", True),
    ]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        runs = contestants(Path(folder))
        print(f"{BYTES / 1e6:.0f} MB a file, best of {REPEATS}")
        times = interleaved(runs, REPEATS, warm=False)
    figures = figures_of(times)
    lines = [
        [f["contestant"], f"{1e3 * f['seconds']:.0f}", f"{f['MB/s']:.0f}", f"{f['ratio'] or '-'}"]
        for f in figures
    ]
    show("Lines to rows", ["contestant", "ms", "MB/s", "ratio"], lines)
    write("read_svmlight", figures, claims_of(figures), repeats=REPEATS, megabytes=BYTES // 10**6)


if __name__ == "__main__":
    main()

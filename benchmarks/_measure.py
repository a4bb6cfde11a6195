"""What the benchmark scripts share: timing, real data, results on disk."""

from __future__ import annotations

import gc
import importlib.metadata
import json
import lzma
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, NoReturn

RESULTS = Path(__file__).parent / "results"


class Timing(NamedTuple):
    """Seconds of one contestant."""

    best: float
    median: float


class Claim(NamedTuple):
    """One line of the table of claims: a figure beside the goal set for it."""

    work: str
    against: str
    figure: str
    goal: str
    met: bool


def interleaved(
    runs: Mapping[str, Callable[[], object]],
    repeats: int,
    *,
    warm: bool = True,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Timing]:
    """Time every run `repeats` times, in turns, after one round that does not count.

    In turns, so that a busy stretch of the machine falls on all of them; in a new order each round,
    so that none always follows the one that leaves the caches worst; the best of all rounds, since
    what disturbs a run can only make it longer.
    """
    order = list(runs)
    random = Random(0)
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(repeats + warm):
        random.shuffle(order)
        for name in order:
            taken = _seconds(runs[name], clock)
            if turn >= warm:
                seconds[name].append(taken)
    return {name: Timing(min(all_), statistics.median(all_)) for name, all_ in seconds.items()}


def _seconds(run: Callable[[], object], clock: Callable[[], float]) -> float:
    gc.collect()
    begin = clock()
    kept = run()  # what it made is freed after the clock is read
    taken = clock() - begin
    del kept
    return taken


def ratio_claim(
    work: str, against: str, ratio: float, goal: float, *, median: float | None = None
) -> Claim:
    """A claim to be at least `goal` times as fast, judged by the best rounds."""
    figure = f"{ratio:.1f}x" if median is None else f"{ratio:.1f}x (medians {median:.1f}x)"
    return Claim(work, against, figure, f">= {goal:g}x", ratio >= goal)


def newsgroups() -> tuple[list[str], list[str]]:
    """Texts and labels of 20 Newsgroups (18,828 messages), in the order of the file."""
    found = records("20news-18828.jsonl.xz")
    return [r["text"] for r in found], [r["label"] for r in found]


def records(name: str) -> list[dict[str, Any]]:
    """The lines of a data file, in their order."""
    folder = os.environ.get("SURELEARN_DATA")
    if folder is None:
        stop(f"SURELEARN_DATA must name the folder with {name}, got nothing.")
    with lzma.open(Path(folder) / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def stop(reason: str) -> NoReturn:
    """Say why nothing can be measured, and leave."""
    print(reason, file=sys.stderr)
    raise SystemExit(2)


def show(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: first column to the left, numbers to the right."""
    widths = [max(len(line[i]) for line in [header, *rows]) for i in range(len(header))]
    print(f"\n{title}")
    for line in [header, *rows]:
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        print("  " + "  ".join(cells))


def write(name: str, figures: Any, claims: Sequence[Claim], **about: Any) -> None:
    """Print the claims and put everything in ``results/<name>.json``."""
    print()
    for claim in claims:
        verdict = "met" if claim.met else "MISSED"
        print(f"{verdict:6}  {claim.work} | {claim.against} | {claim.figure} | {claim.goal}")
    content = {
        "about": {"cpus": os.cpu_count(), "load": _load(), **about, **_versions()},
        "claims": [claim._asdict() for claim in claims],
        "figures": figures,
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _load() -> float | None:
    """Processes that wanted a core in the last minute: above 1.5 or so others disturbed the run."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def _versions() -> dict[str, dict[str, str]]:
    found = {"python": platform.python_version()}
    for name in (
        "surelearn",
        "numpy",
        "scipy",
        "scikit-learn",
        "vowpalwabbit",
        "river",
        "mapie",
        "numba",
        "python-crfsuite",
    ):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return {"versions": found}

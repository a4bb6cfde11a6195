"""Running entries: in processes, with what is finished on disk; must not know what they compute."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from threadpoolctl import threadpool_limits

from experiments.papers import pages
from experiments.papers.entry import Claim, Entry, Rows
from experiments.papers.registry import chosen, named

#: The finished cases of an entry: a line that says which run it is, then a line for each case.
CASES = "cases.jsonl"


class Job(NamedTuple):
    """A case of an entry, to be run in any process."""

    entry: str
    case: str
    quick: bool


def reproduce(
    names: Sequence[str] = (),
    *,
    folder: str | PathLike[str],
    quick: bool = False,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Sequence[Claim]]:
    """Rebuild tables and figures of the papers, and write them into a folder.

    Each entry gets a subfolder with its tables as CSV and its pictures. The folder itself gets a
    page for each document, ``claims.csv`` and a page of all claims that have been decided there so
    far.

    Parameters
    ----------
    names : sequence of str
        Names of entries, such as ``"stdev-figure2"``, or of documents, such as ``"stdev"``; none:
        all.
    folder : str or path
        Where to write. Cases that are finished there are not run again.
    quick : bool
        Fewer and smaller cases, to see that everything works: a few minutes for all.
    n_jobs : int, optional
        Processes; by default one for each core. Their number does not change results.
    progress : function of (done, total), optional
        Called after each case.

    Returns
    -------
    dict of {str: sequence of Claim}
        The claims of each entry.

    Examples
    --------
    >>> from experiments.papers import reproduce
    >>> found = reproduce(["lecture-ecoc"], folder=getfixture("tmp_path"), quick=True, n_jobs=1)
    >>> [claim.verdict for claim in found["lecture-ecoc"]]
    ['held', 'held']
    """
    todo = chosen(names)
    n_jobs = os.cpu_count() or 1 if n_jobs is None else n_jobs
    if n_jobs < 1:
        raise ValueError(f"n_jobs must be at least 1, got {n_jobs}.")
    stores = {name: Store(Path(folder) / name / CASES, quick=quick) for name in todo}
    missing = {name: stores[name].missing(entry) for name, entry in todo.items()}
    total = sum(map(len, missing.values()))
    for done, (job, rows) in enumerate(_found(todo, missing, quick=quick, n_jobs=n_jobs), 1):
        stores[job.entry].add(job.case, rows)
        if progress is not None:
            progress(done, total)
    claims = {}
    for name, entry in todo.items():
        claims[name] = pages.write_entry(entry, stores[name].rows(entry), Path(folder))
    pages.write_index(Path(folder), quick=quick)
    return claims


# ------------------------------------------------------------------------ cases


def _found(
    todo: dict[str, Entry], missing: dict[str, list[str]], *, quick: bool, n_jobs: int
) -> Iterator[tuple[Job, Rows]]:
    """What cases find, as they end; those that measure time come last, one at a time."""
    jobs = [Job(name, case, quick) for name in todo for case in missing[name]]
    timed = [job for job in jobs if todo[job.entry].is_timed]
    others = [job for job in jobs if not todo[job.entry].is_timed]
    if n_jobs > 1 and len(others) > 1:
        with _processes(n_jobs) as pool:
            started = {pool.submit(work, job): job for job in others}
            yield from ((started[future], future.result()) for future in as_completed(started))
    else:
        timed = others + timed
    for job in timed:
        yield job, work(job)


def work(job: Job) -> Rows:
    """Run one case; arithmetic in one thread, so that processes do not compete."""
    with threadpool_limits(1):
        return named(job.entry).cases(job.quick)[job.case]()


@contextmanager
def _processes(n_jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that end at once if the caller is interrupted or a case fails."""
    pool = ProcessPoolExecutor(n_jobs, mp_context=multiprocessing.get_context("spawn"))
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


class Store:
    """The finished cases of an entry on disk.

    Parameters
    ----------
    path : Path
    quick : bool
        What the cases are run with; a file of the other kind is refused.
    """

    def __init__(self, path: Path, *, quick: bool) -> None:
        self._path = path
        self._quick = quick
        self._cases: dict[str, Rows] = {}
        if path.exists():
            self._read()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"quick": quick}) + "\n", encoding="utf-8")

    def _read(self) -> None:
        head, *lines = self._path.read_text(encoding="utf-8").splitlines(keepends=True) or ["{}"]
        before = json.loads(head).get("quick")
        if before is not self._quick:
            kinds = {True: "quick", False: "full"}
            raise ValueError(
                f"{self._path.parent} must hold results of a {kinds[self._quick]} run, got those "
                f"of a {kinds.get(before, 'broken')} run. Name another folder."
            )
        whole = [line for line in lines if line.endswith("\n")]
        if len(whole) < len(lines):  # killed while it wrote the last line
            self._path.write_text("".join([head, *whole]), encoding="utf-8")
        self._cases = {one["case"]: one["rows"] for one in map(json.loads, whole)}

    def missing(self, entry: Entry) -> list[str]:
        """Names of cases that are still to be run."""
        return [case for case in entry.cases(self._quick) if case not in self._cases]

    def add(self, case: str, rows: Rows) -> None:
        """Keep what a case has found."""
        self._cases[case] = rows
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"case": case, "rows": rows}) + "\n")

    def rows(self, entry: Entry) -> Rows:
        """What all cases have found, in their order, however they ended."""
        return [row for case in entry.cases(self._quick) for row in self._cases[case]]

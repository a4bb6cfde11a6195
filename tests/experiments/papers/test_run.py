"""Entries run in any number of processes, and continue where they were stopped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.papers import Claim, Entry, reproduce, run
from experiments.papers.run import CASES, Store

NAME = "lecture-ecoc"


class Counting:
    """An entry with three cases that counts how often they are run, and may fail in one."""

    def __init__(self, monkeypatch, *, is_timed=False):
        self.ran: list[str] = []
        self.fails: set[str] = set()
        self.entry = Entry(
            name="lecture-counting",
            title="Counted",
            cases=lambda quick: {name: lambda name=name: self.case(name) for name in "abc"},
            tables=lambda rows: {"All": rows},
            claims=lambda rows: [Claim(text="c", theirs="3", ours=str(len(rows)), lead=1.0)],
            is_timed=is_timed,
        )
        monkeypatch.setattr(run, "chosen", lambda names: {self.entry.name: self.entry})
        monkeypatch.setattr(run, "named", lambda name: self.entry)

    def case(self, name):
        if name in self.fails:
            raise ValueError(f"case {name}")
        self.ran.append(name)
        return [{"case": name}]


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != CASES
    }


def test_what_is_finished_is_not_run_again(monkeypatch, tmp_path):
    one = Counting(monkeypatch)
    one.fails = {"b"}
    with pytest.raises(ValueError, match="case b"):
        reproduce(folder=tmp_path, n_jobs=1)
    assert one.ran == ["a"]
    assert not (tmp_path / "README.md").exists()
    one.fails = set()
    seen = []
    reproduce(folder=tmp_path, n_jobs=1, progress=lambda *now: seen.append(now))
    assert one.ran == ["a", "b", "c"]
    assert seen == [(1, 2), (2, 2)]
    before = files(tmp_path)
    reproduce(folder=tmp_path, n_jobs=1)
    assert one.ran == ["a", "b", "c"]
    assert files(tmp_path) == before


def test_a_line_that_was_cut_is_run_again(monkeypatch, tmp_path):
    one = Counting(monkeypatch)
    reproduce(folder=tmp_path, n_jobs=1)
    path = tmp_path / "lecture-counting" / CASES
    path.write_text(path.read_text()[:-5])
    reproduce(folder=tmp_path, n_jobs=1)
    assert one.ran == ["a", "b", "c", "c"]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["case"] for line in lines[1:]] == ["a", "b", "c"]


@pytest.mark.parametrize(("before", "now"), [("quick", "full"), ("full", "quick")])
def test_quick_and_full_results_are_not_mixed(monkeypatch, tmp_path, before, now):
    Counting(monkeypatch)
    reproduce(folder=tmp_path, quick=before == "quick", n_jobs=1)
    match = f"lecture-counting must hold results of a {now} run, got those of a {before} run"
    with pytest.raises(ValueError, match=match):
        reproduce(folder=tmp_path, quick=now == "quick", n_jobs=1)


def test_rows_come_in_the_order_of_the_cases(monkeypatch, tmp_path):
    entry = Counting(monkeypatch).entry
    store = Store(tmp_path / CASES, quick=True)
    for name in "cab":
        store.add(name, [{"case": name}])
    assert [row["case"] for row in store.rows(entry)] == ["a", "b", "c"]


@pytest.mark.slow
def test_the_number_of_processes_does_not_change_the_result(tmp_path):
    for n_jobs in (1, 2):
        reproduce([NAME], folder=tmp_path / str(n_jobs), quick=True, n_jobs=n_jobs)
    assert files(tmp_path / "1") == files(tmp_path / "2")


def test_cases_that_measure_time_run_in_this_process(monkeypatch, tmp_path):
    one = Counting(monkeypatch, is_timed=True)
    reproduce(folder=tmp_path, n_jobs=2)
    assert one.ran == ["a", "b", "c"]  # another process would have counted there

"""Cases of figure 2 tune on other runs; tables leave lost runs out."""

from __future__ import annotations

import json

import pytest

from experiments.papers.stdev import figure2
from experiments.papers.stdev.clouds import LONG
from experiments.papers.stdev.learners import LEARNERS, Tried


def test_a_case_reports_other_runs_than_it_tunes_on(monkeypatch):
    asked = []

    def tried(learner, cloud, seeds):
        asked.extend(seeds)
        return [Tried(0.5, 100.0, 0), Tried(1.65, 50.0, 0)]

    monkeypatch.setattr(figure2, "tried", tried)
    (row,) = figure2._run(LONG, "Stdev full", runs=2, tuned_on=3)
    assert asked == [300, 301, 302]
    assert min(asked) >= figure2.RUNS
    assert row["parameter"] == "phi = 1.65"
    assert row == json.loads(json.dumps(row))
    (same,) = figure2._run(LONG, "Stdev full", runs=3, tuned_on=3)
    assert same["mistakes"][:2] == row["mistakes"]
    assert len(row["path"]) == 20
    assert row["path"][-1] == pytest.approx(sum(row["mistakes"]) / 2)
    assert 0 < row["test error"][0] < 5


def test_averages_make_the_same_mistakes_and_another_error():
    plain, averaged = (
        figure2._run(LONG, name, runs=2, tuned_on=1)[0]
        for name in ("perceptron", "perceptron, averaged")
    )
    assert plain["mistakes"] == averaged["mistakes"]
    assert plain["test error"] != averaged["test error"]


def test_a_lost_run_has_no_figures():
    how = LEARNERS["Stdev diag, precision"].make(3.0)
    path, _ = figure2._path(how, LONG, 0)
    assert path == []


def row(learner, mistakes, **found):
    return {
        "cloud": str(LONG), "learner": learner, "parameter": "", "mistakes": mistakes,
        "test error": [None if one is None else one / 20 for one in mistakes],
        "path": [1.0] * 20, "deviation": [0.1] * 20, "tried": [], **found,
    }  # fmt: skip


def test_lost_runs_are_counted_and_left_out():
    tried = [{"value": 1.19, "mistakes": 0.0, "lost": 3, "runs": 4}]
    rows = [row("Stdev diag, precision", [100.0, None, 120.0], tried=tried)]
    first, lost = figure2.tables(rows).values()
    assert (first[0]["mistakes"], first[0]["lost runs"]) == ("110.0", 1)
    assert first[0]["expected"] == 120
    assert lost == [{"cloud": str(LONG), "learner": "Stdev diag, precision", "1.2": "75"}]


def test_both_pictures_are_drawn(tmp_path):
    figure2.draw([row(name, [50.0, 60.0]) for name in LEARNERS], tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"figure2a.png", "figure2b.png"}


def test_quick_cases_are_some_of_all():
    assert {*figure2.cases(True)} < {*figure2.cases(False)}

"""The tables of the pages are those of the results, and every script is run and listed."""

from __future__ import annotations

import json
import re
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks"
#: Modules that measure nothing.
HELPERS = {"_headlines.py", "_measure.py", "_objective.py", "table.py"}
SCRIPTS = {path.stem for path in FOLDER.glob("*.py") if path.name not in HELPERS}


@pytest.fixture
def table(monkeypatch):
    """The script that writes the tables; the benchmarks are no part of the package."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return import_module("table")


@pytest.mark.parametrize(
    "name",
    ["README.md", "benchmarks/README.md", "docs/comparison.md", "docs/theory/scaling.md"],
)
def test_the_tables_are_those_of_the_results(table, name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert table.renewed(text) == text, "run 'python benchmarks/table.py'"


def test_every_claim_of_a_result_is_in_the_table_with_its_verdict(table):
    rows = [line.strip("| ").split(" | ") for line in table.claims()[2:]]
    for path in (FOLDER / "results").glob("*.json"):
        for claim in json.loads(path.read_text(encoding="utf-8"))["claims"]:
            missed = "" if claim["met"] else " (missed)"
            measured = claim["figure"] + missed
            row = [claim["work"], claim["against"], measured, claim["goal"], f"`{path.stem}.py`"]
            assert row in rows


def test_the_front_page_has_six_figures_with_their_scripts(table):
    rows = table.headlines()[2:]
    assert len(rows) == 6
    for row in rows:
        (script,) = re.findall(r"\]\(([^)]+)\)", row)
        assert (ROOT / script).is_file()


def test_missed_goals_are_counted_beside_the_claims(table):
    met = [not row.count("(missed)") for row in table.claims()[2:] if " | - | `" not in row]
    missed = met.count(False)
    assert missed
    assert f"{len(met) - missed} goals are met, {missed} missed." in table.verdict()
    assert table.verdict() in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_the_front_page_says_where_peers_lead(table):
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    (said,) = re.findall(r"\n(.*) lead in some tasks: .*#where-peers-are-ahead", page)
    behind = [line for line in table.behind() if "](" in line]
    for peer, names in table.PEERS.items():
        is_ahead = any(name in line.split(" | ")[1] for line in behind for name in names)
        assert (peer in said) == is_ahead, peer
    assert "missed" not in page


def test_missed_speedups_are_counted(table):
    rows = [line.strip("| ").split(" | ") for line in table.claims()[2:]]
    speedups = [row for row in rows if row[2].endswith("x (missed)") or "x (medians" in row[2]]
    missed = [row for row in speedups if row[3].startswith(">=") and "(missed)" in row[2]]
    assert f" {len(missed)} of the missed ones ask for a speedup" in table.verdict()


def test_every_claim_beside_a_peer_is_compared_once(table):
    names = [name for words in table.PEERS.values() for name in words]
    claims = [line.strip("| ").split(" | ")[:2] for line in table.claims()[2:]]
    beside = [pair for pair in claims if any(name in pair[1] for name in names)]
    rows = [line.strip("| ").split(" | ")[:2] for line in table.figures() if "](" in line]
    assert sorted(rows) == sorted(beside)


def test_the_constants_of_a_model_are_found_again(monkeypatch):
    """From fits that take what the model says."""
    monkeypatch.syspath_prepend(str(FOLDER))
    scaling = import_module("scaling")
    monkeypatch.setattr(scaling, "cpu_count", lambda: 2)
    made = scaling.Model(16, alone=0.1, shared=1.0)
    settings = [scaling.Setting(16, jobs) for jobs in (1, 2)]
    costs = {one: scaling.Cost(made.seconds(one.busy), 1.1) for one in settings}
    costs[scaling.ONE] = scaling.Cost(0.9, 0.9)
    assert scaling.Model.of(settings[1], costs[settings[1]]) == pytest.approx(made)
    (line,) = scaling.estimates("a work", costs)
    assert line["off by, %"] == 0
    assert line["64"] == line["16"] == round(0.9 / (0.1 + 1 / 16), 2)
    assert scaling.Setting(16, 16).busy == 2
    assert not list(scaling.estimates("a work", {scaling.ONE: costs[scaling.ONE]}))


@pytest.mark.parametrize(
    ("figure", "goal", "met", "listed"),
    [
        ("0.9x (medians 1.1x)", ">= 2x", False, True),
        ("0.7x", "-", True, True),
        ("1.0x", ">= 1x", False, True),  # 0.97, rounded
        ("97.2 % (1.8 times as long)", "not below", True, True),
        ("97.2 % (0.8 times as long)", "not below", False, True),
        ("547 MB", "not above", False, True),
        ("1.7x", ">= 2x", False, False),
        ("2.2x", ">= 2x", True, False),
        ("97.2 % (0.8 times as long)", "not below", True, False),
        ("93.56", "within 0.05", True, False),
    ],
)
def test_a_loss_to_a_peer_is_listed(table, monkeypatch, figure, goal, met, listed):
    claim = {"work": "a task", "figure": figure, "goal": goal, "met": met}
    both = [{**claim, "against": against} for against in ("River", "one core")]
    monkeypatch.setattr(table, "_results", lambda: [("one_row.py", claim) for claim in both])
    monkeypatch.setattr(table, "lost_sets", list)
    assert [row.split(" | ")[1] for row in table.behind()[2:]] == (["River"] if listed else [])


def test_text_sets_that_are_lost_are_listed(table):
    result = json.loads((FOLDER / "results" / "time_to_accuracy.json").read_text(encoding="utf-8"))
    ratios = {(f["set"], f["contestant"]): f["ratio"] for f in result["figures"]}
    lost = {key for key, ratio in ratios.items() if ratio is not None and ratio < 1}
    rows = [row for row in table.behind() if "time_to_accuracy" in row]
    assert len(rows) == len(lost)
    for name, peer in lost:
        assert any(f": {name} | {peer} | " in row for row in rows)


def test_a_page_needs_its_markers(table):
    with pytest.raises(SystemExit, match="2"):
        table.renewed("no markers\n")
    with pytest.raises(SystemExit, match="2"):
        table.renewed("<!-- claims:begin -->\n")


def test_make_bench_runs_every_script():
    """Also those whose results are in the table: none can be left behind."""
    printed = subprocess.run(
        ["make", "-n", "bench"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    run = set(re.findall(r"benchmarks/(\w+)\.py", printed)) - {"table"}
    assert run == SCRIPTS
    assert {path.stem for path in (FOLDER / "results").glob("*.json")} <= SCRIPTS


def test_every_script_is_listed():
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)\.py` \|", page, re.MULTILINE)) == SCRIPTS


def test_the_comparison_counts_sets_as_the_table_of_leads_does():
    """Of the default, beside a tuned `LinearSVC`."""
    peers = (ROOT / "docs" / "theory" / "peers.md").read_text(encoding="utf-8")
    table = peers.split("Lead of the default, `SureClassifier()`:")[1].split("\n**")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if "±" in line]
    leads = [tuple(map(float, row[2].split(" ± "))) for row in rows]
    behind = [lead + error for lead, error in leads if lead < 0]
    words = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight"]
    said = (
        f"ahead of our defaults on {words[len(behind)]} of {len(leads)} text sets, on "
        f"{words[sum(bound < 0 for bound in behind)]} of them by more than one standard error."
    )
    page = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    assert said in " ".join(page.split())

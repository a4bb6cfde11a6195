"""What the experiments share and what their pages show, without running any."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def module(monkeypatch):
    """A module of the experiments, which are no part of the package."""
    monkeypatch.syspath_prepend(str(ROOT))
    return lambda name: import_module(f"experiments.{name}")


@pytest.mark.parametrize("name", ["peers", "multiclass"])
def test_the_page_shows_the_result(module, name):
    page = module(f"{name}.page")
    text = page.PAGE.read_text()
    assert page.renewed(text) == text, f"run 'python -m experiments.{name}.page'"


def test_a_peer_that_leads_is_listed(module):
    page = module("peers.page")
    ours = {"seconds": "0.10", "processor seconds": "0.10"}
    for lead, listed in (("-0.31", True), ("-0.29", False), ("0.31", False)):
        line = {f"{page.CHOSEN}: leads by": lead, f"{page.CHOSEN}: error over rows": "0.30"}
        lines = {
            page.CHOSEN: ours,
            **{who: {**ours, **line, "seconds": "0.05"} for who in page.PEERS},
        }
        found = list(page.trailing({"a set": lines}, page.CHOSEN))
        assert len(found) == listed * len(page.PEERS)
        assert len(list(page.faster({"a set": lines}, page.CHOSEN))) == len(page.PEERS)
    assert not list(page.faster({"a set": dict.fromkeys(lines, ours)}, page.CHOSEN))


def test_a_lead_is_that_of_the_same_rows(module):
    ours, theirs = [np.array([1.0, 1.0, 0.0]), np.ones(3)], [np.array([1.0, 0.0, 0.0]), np.ones(3)]
    found = module("peers.paired").lead(ours, theirs)
    assert found.points == pytest.approx(100 / 6)
    assert found.over_rows == pytest.approx(100 * np.sqrt(1 / 6 / 6))
    assert found.over_folds == pytest.approx(100 / 6)


def test_a_table_takes_the_place_of_the_last_one(module):
    tables = module("tables")
    page = "a\n<!-- made by x -->\n\nold\n\n<!-- end -->\nb\n"
    once = tables.placed(page, "x", tables.table(("c", "d"), [("1", "2")]))
    assert once == ("a\n<!-- made by x -->\n\n| c | d |\n|---|---|\n| 1 | 2 |\n\n<!-- end -->\nb\n")
    assert tables.placed(once, "x", ["old", ""]) == page

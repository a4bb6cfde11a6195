"""Tables of figure 1 stand beside the paper's figures."""

from __future__ import annotations

from experiments.papers.active import tables
from experiments.papers.active.tasks import TASKS
from rising import curves


def test_tables_have_the_papers_figures_and_ours():
    savings, by_task, won, accuracies = tables.tables(curves()).values()
    assert [(line["asking"], line["paper, 80 %"]) for line in savings] == [
        ("PA margin", "93 %"),
        ("CW margin", "73 %"),
        ("ACL", "63 %"),
    ]
    assert list(savings[0]) == [
        "asking", "paper, 80 %", "80 %", "90 %", "95 %", "80 %, mean over tasks",
    ]  # fmt: skip
    # Curves jump alike, so that ratios are those of where they jump.
    assert savings[2]["80 %"].startswith("42 ± ")
    assert [line["task"] for line in by_task] == list(TASKS)
    assert by_task[0]["ACL"].startswith("35 (42 ± ")
    assert [line["paper"] for line in won] == ["8 to 4", "", ""]
    assert won[0]["ours"] == "10 to 0"
    assert accuracies[-1]["ACL"] == "92.0 ± 0.0"
    assert accuracies[-1]["CW, all"] == "95.0"
    assert len(accuracies) == len(TASKS) + 2


def test_a_mark_that_is_never_reached_is_said():
    never = {"PA": {"random": 999, "margin": 90}, "CW": {"random": 999, "margin": 60, "acl": 40}}
    _, by_task, *_ = tables.tables(curves(never)).values()
    assert by_task[0]["CW random"] == "never"

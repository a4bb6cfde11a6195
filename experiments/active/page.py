"""The tables of README.md from result.csv, and those of refit_page; must not know how made.

    python -m experiments.active.page

puts them between the marks of the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from experiments import tables
from experiments.active import refit_page

HERE = Path(__file__).parent
PAGE = HERE / "README.md"
ASKING = {("PA", "margin"): "PA margin", ("CW", "margin"): "CW margin", ("CW", "acl"): "ACL"}
EVERY = {("PA", "random"): "PA random", ("CW", "random"): "CW random", **ASKING}
#: Labels for 80 % of the accuracy of all, in per cent of random order (section 4 of the paper).
PAPER = {"PA margin": "93 %", "CW margin": "73 %", "ACL": "63 %"}
SHARES = ("0.8", "0.9", "0.95")
ALL = "all tasks, mean curve"

Line = dict[str, str]
Found = dict[str, dict[tuple[str, str, str], Line]]


def results() -> Found:
    """Lines of the result by task, and by learner, strategy and share."""
    out: Found = {}
    for line in tables.lines(HERE / "result.csv"):
        key = line["learner"], line["strategy"], line["share"]
        out.setdefault(line["task"], {})[key] = line
    return out


def tasks(found: Found) -> list[str]:
    """Those that are no means of others."""
    return [task for task in found if not task.endswith("mean curve")]


def _percent(line: Line, to: str = "random") -> str:
    """Labels relative to another strategy; bounds where one of them is not reached."""
    value, error = (100 * float(line[name]) for name in (f"to {to}", f"to {to}, error"))
    return f"{value:.0f} ± {error:.0f} %"


def _means(found: Found) -> Iterator[list[str]]:
    """Read off the mean curve, and the mean of what is read off each curve."""
    for pair, name in ASKING.items():
        of_all = [_percent(found[ALL][*pair, share]) for share in SHARES]
        yield [name, PAPER[name], *of_all, _over_tasks(found, pair)]


def _over_tasks(found: Found, pair: tuple[str, str]) -> str:
    ratios = [100 * float(found[task][*pair, "0.8"]["to random"]) for task in tasks(found)]
    return f"{np.mean(ratios):.0f} ± {np.std(ratios, ddof=1) / np.sqrt(len(ratios)):.0f} %"


def gap(
    found: Found, share: str, more: tuple[str, str], fewer: tuple[str, str]
) -> tuple[float, float]:
    """By how many points of random order one way to ask needs more; its error over tasks."""
    points = [
        100 * (float(found[task][*more, share]["to random"])
               - float(found[task][*fewer, share]["to random"]))
        for task in tasks(found)
    ]  # fmt: skip
    return float(np.mean(points)), float(np.std(points, ddof=1) / np.sqrt(len(points)))


def _gaps(found: Found) -> Iterator[list[str]]:
    pa, cw, acl = ASKING
    for more, fewer in ((pa, cw), (cw, acl)):
        cells = ["{:+.0f} ± {:.0f}".format(*gap(found, share, more, fewer)) for share in SHARES]
        yield [f"{ASKING[more]} less {ASKING[fewer]}", *cells]


def _by_task(found: Found, share: str) -> Iterator[list[str]]:
    """Labels of CW in random order, and of the others relative to random order."""
    for task in tasks(found):
        lines = found[task]
        cells = [f"{_labels(lines[*pair, share])} ({_percent(lines[*pair, share])})"
                 for pair in ASKING]  # fmt: skip
        random = [_labels(lines[learner, "random", share]) for learner in ("PA", "CW")]
        acl = lines["CW", "acl", share]
        yield [task, *random, *cells, _percent(acl, "margin")]


def _labels(line: Line) -> str:
    return "never" if line["labels"] == "inf" else line["labels"]


def wins(found: Found, share: str) -> tuple[list[str], list[str], list[str]]:
    """Tasks on which ACL needs fewer labels than CW margin, more, and as many."""
    out: tuple[list[str], list[str], list[str]] = ([], [], [])
    for task in tasks(found):
        acl, margin = (float(found[task]["CW", how, share]["labels"]) for how in ("acl", "margin"))
        out[0 if acl < margin else 1 if acl > margin else 2].append(task)
    return out


def beyond(found: Found, share: str) -> list[str]:
    """Tasks on which ACL and CW margin differ by more than two standard errors."""
    lines = {task: found[task]["CW", "acl", share] for task in tasks(found)}
    return [
        task
        for task, line in lines.items()
        if abs(float(line["to margin"]) - 1) > 2 * float(line["to margin, error"])
    ]


def _counts(found: Found) -> Iterator[list[str]]:
    for share, paper in zip(SHARES, ("8 to 4", "", ""), strict=True):
        fewer, more, same = wins(found, share)
        surely = beyond(found, share)
        yield [
            f"{100 * float(share):g} %",
            paper,
            f"{len(fewer)} to {len(more)}",
            str(len(same)),
            "; ".join(surely) or "none",
            _percent(found[ALL]["CW", "acl", share], "margin"),
        ]


def _accuracies(found: Found) -> Iterator[list[str]]:
    """After the last label, and of all labels."""
    for task, lines in found.items():
        cells = [_accuracy(lines[*pair, "0.8"]) for pair in EVERY]
        full = [f"{100 * float(lines[who, 'random', '0.8']['accuracy of all']):.1f}"
                for who in ("PA", "CW")]  # fmt: skip
        yield [task, *cells, *full]


def _accuracy(line: Line) -> str:
    accuracy, error = (100 * float(line[name]) for name in ("accuracy at the end", "its error"))
    return f"{accuracy:.1f} ± {error:.1f}"


def made(found: Found) -> list[str]:
    """What stands between the marks."""
    names = list(ASKING.values())
    return [
        "Labels needed for a share of the accuracy of learning all, in per cent of random order:\n",
        *tables.table(
            ("asking", "paper, 80 %", "80 %", "90 %", "95 %", "80 %, mean over tasks"),
            _means(found),
        ),
        "Differences of these in points, mean and standard error over tasks:\n",
        *tables.table(("", "80 %", "90 %", "95 %"), _gaps(found)),
        "By task, for 80 %: labels (in per cent of random order).\n",
        *tables.table(
            ("task", "PA random", "CW random", *names, "ACL to CW margin"), _by_task(found, "0.8")
        ),
        "Tasks on which ACL needs fewer labels than CW margin, to those on which it needs more:\n",
        *tables.table(
            ("share", "paper", "ours", "as many", "beyond two standard errors",
             "ACL to CW margin, mean curve"),
            _counts(found),
        ),
        "Accuracy in per cent after 500 labels, and after one pass over all labels:\n",
        *tables.table(("task", *EVERY.values(), "PA, all", "CW, all"), _accuracies(found)),
    ]  # fmt: skip


def renewed(page: str) -> str:
    """The page with its tables made anew."""
    page = tables.placed(page, "experiments/active/page.py", made(results()))
    return refit_page.renewed(page)


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

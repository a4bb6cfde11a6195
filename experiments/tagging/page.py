"""The tables of docs/theory/sequences.md from the results.

    python -m experiments.tagging.page

puts them between the two marks of the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from experiments import tables
from experiments.tagging.choose import by_setting

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "theory" / "sequences.md"
PASSES = (1, 3, 10)


def _best(*what: str) -> list[dict[str, str]]:
    """Of the lines of each rule, and of what else is named, the first and so the best."""
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for line in tables.lines(HERE / "chosen.csv"):
        key = line["rule"].partition("(")[0], *(line[name] for name in what)
        found.setdefault(key, line)
    return list(found.values())


def _settings() -> Iterator[list[str]]:
    """The best of each rule, averaged and not."""
    for line in _best("averaged"):
        yield [f"`{line['rule']}`", *list(line.values())[1:]]


def _scores() -> Iterator[list[str]]:
    """Scores of each rule's best setting on every task."""
    scores = by_setting(tables.lines(HERE / "result.csv"))
    for line in _best():
        mine = scores[line["rule"], line["averaged"], line["projection"]]
        tasks = dict.fromkeys(task for task, _ in mine)
        cells = (" ".join(f"{mine[task, n]:.2f}" for n in PASSES) for task in tasks)
        yield [f"`{line['rule']}`{', averaged' * (line['averaged'] == 'yes')}", *cells]


def _passes() -> Iterator[list[str]]:
    """Scores of the default after some passes and more."""
    found: dict[str, list[str]] = {}
    for line in tables.lines(HERE / "passes.csv"):
        found.setdefault(line["task"], []).append(f"{float(line['score %']):.2f}")
    return ([task, *cells] for task, cells in found.items())


def _confidence() -> Iterator[list[str]]:
    for line in tables.lines(HERE / "confidence.csv"):
        names = ("task", "what", "right %", "mean %", "log loss", "AUC", "calibration error %")
        yield [line[name] for name in names]


def _bins() -> tuple[list[str], list[list[str]]]:
    """The calibration table of one task."""
    mine = [line for line in tables.lines(HERE / "confidence.csv") if line["task"] == "chunks"]
    names = [name for name in mine[0] if " to " in name]
    return names, [[line["what"], *(line[name] for name in names)] for line in mine]


def made() -> list[str]:
    """What stands between the marks."""
    tasks = dict.fromkeys(line["task"] for line in tables.lines(HERE / "result.csv"))
    numbers = dict.fromkeys(line["passes"] for line in tables.lines(HERE / "passes.csv"))
    names, bins = _bins()
    head = ("rule", "averaged", "projection")
    sure = ("task", "measure", "accuracy %", "mean %", "log loss", "AUC", "calibration error %")
    return [
        "For each rule, the table shows the best parameter and projection, with averaging and "
        "without it. Robust settings come first; within each group, the smallest *mean* comes "
        "first. Numbers are percentages of additional errors. *Early* (1 and 3 passes) and *late* "
        "(10 passes) compare a setting with the best one for the same task and number of passes, "
        "averaged over tasks. *Mean* is the mean of the two, *worst* the largest single value. "
        "*Perceptron* is the largest excess over the averaged perceptron. *Random* says whether "
        "fifty passes over random labels work (*learns*) or raise an error (*refuses*):\n",
        *tables.table(
            (*head, "mean", "early", "late", "worst", "perceptron", "random"), _settings()
        ),
        "Scores of each rule with its best setting, after 1, 3 and 10 passes:\n",
        *tables.table(("rule", *tasks), _scores()),
        "Scores of the default by number of passes:\n",
        *tables.table(("task", *numbers), _passes()),
        "Confidence in tags, with the default setting: the accuracy of the tags, the mean "
        "confidence, its log loss, its AUC for separating right from wrong tags, and its "
        "calibration error:\n",
        *tables.table(sure, _confidence()),
        "Number of tags and their accuracy, by confidence (chunks):\n",
        *tables.table(("measure", *names), bins),
    ]


def renewed(page: str) -> str:
    """The page with its tables made anew."""
    return tables.placed(page, "experiments/tagging/page.py", made())


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

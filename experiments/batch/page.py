"""The tables of docs/theory/losses.md from the results.

    python -m experiments.batch.page

puts them between the two marks of the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from experiments import tables

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "theory" / "losses.md"

Line = dict[str, str]


def _losses(name: str) -> Iterator[list[str]]:
    for line in tables.lines(HERE / "losses.csv"):
        if line["set"] == name:
            setting = f"{line['parameter']} {line['chosen'].replace(' ', ', ')}"
            shown = [line[key] for key in ("score %", "log loss", "seconds")]
            passes = line["passes"].replace(" ", ", ")
            yield [f"`{line['learner']}`" if line["learner"][0].isupper() else line["learner"],
                   line["loss"], setting, *(x or "-" for x in shown), passes]  # fmt: skip


def by_set(name: str) -> dict[str, list[Line]]:
    """Lines of a result by their set."""
    found: dict[str, list[Line]] = {}
    for line in tables.lines(HERE / name):
        found.setdefault(line["set"], []).append(line)
    return found


def _variances() -> Iterator[list[str]]:
    """Plain / moderated log loss for each penalty; the smaller of the two in bold."""
    for name, lines in by_set("variances.csv").items():
        yield [name, *map(_both, lines)]


def _both(line: Line) -> str:
    cells = [line["log loss, plain"], line["log loss, moderated"]]
    low = min(map(float, cells))
    return " / ".join(f"**{cell}**" if float(cell) == low else cell for cell in cells)


def gains() -> tuple[int, int, int]:
    """Over all sets and penalties: how often moderated probabilities have the smaller log loss, a
    larger one, and how many comparisons there are."""
    found = tables.lines(HERE / "variances.csv")
    change = [float(x["log loss, moderated"]) - float(x["log loss, plain"]) for x in found]
    return sum(c < 0 for c in change), sum(c > 0 for c in change), len(change)


def _starts() -> Iterator[list[str]]:
    for name, lines in by_set("starts.csv").items():
        for line in lines:
            share = f"{100 * float(line['share']):g} %"
            figures = (line[key] for key in ("score %", "log loss", "seconds"))
            yield [name, line["way"], share, *figures]


def made() -> list[str]:
    """What stands between the marks."""
    penalties = dict.fromkeys(line["l2"] for line in tables.lines(HERE / "variances.csv"))
    head = ("learner", "loss", "setting", "score %", "log loss", "seconds", "passes")
    better, worse, of = gains()
    return [
        "## Measured: the four losses\n",
        "The parameter of each learner was chosen with 3,000 rows or sentences of the training "
        "part and as many others of it. Seconds are those of the final `fit` on a busy machine "
        "with two cores. A pass is a pass over the training part: one of an online learner or of "
        "Frank-Wolfe, or one iteration of L-BFGS. Log losses are those without `calibrate`.\n",
        "CoNLL-2000, chunks; F1 on the published test part; log loss of a token's tag:\n",
        *tables.table(head, _losses("CoNLL-2000")),
        "20 Newsgroups, tf-idf of words; accuracy on a third that was not learnt:\n",
        *tables.table(head, _losses("20 Newsgroups")),
        "## Measured: softmax with and without variances\n",
        "Log loss on a third of each set that was not learnt, without / with `moderated=True`, by "
        f"penalty l2. With variances it is smaller in {better} of {of} cases and larger in "
        f"{worse}:\n",
        *tables.table(("set", *(f"l2 = {l2}" for l2 in penalties)), _variances()),
        "## Measured: a batch start\n",
        "The batch learner gets the first part of the training rows; the rest arrives in chunks of "
        "1,000 and is learnt once. Scores are accuracy, or F1 of chunks, on rows that were not "
        "learnt:\n",
        *tables.table(("set", "way", "batch part", "score %", "log loss", "seconds"), _starts()),
    ]


def renewed(page: str) -> str:
    """The page with its tables made anew."""
    return tables.placed(page, "experiments/batch/page.py", made())


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

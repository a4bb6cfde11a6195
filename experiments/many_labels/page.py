"""The table of docs/howto/many_classes.md from many.csv.

    python -m experiments.many_labels.page

puts it between the two marks of the page.
"""

from __future__ import annotations

from pathlib import Path

from experiments import tables

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "howto" / "many_classes.md"

_SHOWN = (
    "accuracy %",
    "accuracy % on new labels",
    "seconds to learn",
    "ms a sentence",
    "MB of the model",
    "MB in all",
)


def made() -> list[str]:
    """What stands between the marks."""
    lines = tables.lines(HERE / "many.csv")
    n = {name: f"{int(lines[0][name]):,}" for name in ("labels", "sentences learnt")}
    return [
        f"Which of {n['labels']} Reuters articles is a sentence from? {n['sentences learnt']} "
        "sentences of nine tenths of the articles are known, and of all articles the headline, "
        "which is the label's name. One sentence of each article is judged; those of the last "
        "tenth are of labels that have no example. The standard error of the first column is "
        f"{max(float(line['standard error']) for line in lines)} at most. Memory is that of the "
        "model, and the most that its process held beyond the data:\n",
        *tables.table(("way", *_SHOWN), [[line["way"], *map(line.get, _SHOWN)] for line in lines]),
    ]


def renewed(page: str) -> str:
    """The page with its table made anew."""
    return tables.placed(page, "experiments/many_labels/page.py", made())


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

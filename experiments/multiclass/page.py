"""The tables of docs/theory/which_multiclass.md from result.csv.

    python -m experiments.multiclass.page

puts them between the two marks of the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from experiments import tables

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "theory" / "which_multiclass.md"
RULE = "AROW(r=1)"
#: Forms as they come, and what the columns are called.
AS_THEY_COME = {
    ("joint", "scores"): "joint",
    ("one-vs-rest", "scores"): "one-vs-rest",
    ("all pairs", "votes"): "all pairs",
    ("code", "hinge loss"): "code",
    ("code of K/2 problems", "hinge loss"): "code, K/2",
    ("digits of the class number", "hinge loss"): "digits",
    ("regression on the class number", "rounded"): "regression",
}
#: Sets and numbers of classes whose decodings are shown.
SHOWN = {
    ("20 Newsgroups", "20"): "20 Newsgroups",
    ("Reuters R52", "52"): "Reuters",
    ("Amazon domains", "14"): "Amazon domains",
    ("Stack Overflow titles", "20"): "titles",
    ("docstrings", "31"): "docstrings",
    ("digits", "10"): "digits",
}

Line = dict[str, str]
Found = dict[tuple[str, str], dict[tuple[str, str], Line]]


def results() -> Found:
    """Lines of the result by (set, classes) and (form, decoding)."""
    out: Found = {}
    for line in tables.lines(HERE / "result.csv"):
        if line["rule"] in ("", RULE):
            mine = out.setdefault((line["set"], line["classes"]), {})
            mine[line["form"], line["decoding"]] = line
    return out


def _forms(found: Found) -> Iterator[list[str]]:
    """Accuracy and seconds of every form as it comes; the best in bold."""
    for (name, classes), lines in found.items():
        best = max(float(lines[key]["accuracy %"]) for key in AS_THEY_COME if key in lines)
        cells = (_cell(lines.get(key), best) for key in AS_THEY_COME)
        yield [f"{name}, {classes} classes", *cells]


def _cell(line: Line | None, best: float) -> str:
    if line is None:
        return ""
    accuracy = line["accuracy %"]
    shown = f"**{accuracy}**" if float(accuracy) == best else accuracy
    return f"{shown}, {float(line['seconds to learn']):.2g} s"


def _decodings(found: Found) -> Iterator[list[str]]:
    """Accuracy of every form and decoding on the whole sets."""
    keys = dict.fromkeys(key for shown in SHOWN for key in found[shown])
    for form, decoding in keys:
        lines = (found[shown].get((form, decoding)) for shown in SHOWN)
        yield [form, decoding, *(line["accuracy %"] if line else "" for line in lines)]


def _costs(found: Found) -> Iterator[list[str]]:
    """Problems, and time as a multiple of that of the joint form."""
    wanted = (("20 Newsgroups", "20"), ("Reuters R52", "52"))
    for key, form in AS_THEY_COME.items():
        cells = [form]
        for lines in (found[one] for one in wanted):
            mine, joint = lines[key], lines["joint", "scores"]
            cells.append(mine["problems"] or "-")
            for what in ("seconds to learn", "microseconds to predict a row"):
                cells.append(f"{float(mine[what]) / float(joint[what]):.1f}")
        yield cells


def made(found: Found) -> list[str]:
    """What stands between the marks."""
    cost = [f"{name}: {what}" for name in ("20", "52") for what in ("problems", "train", "predict")]
    return [
        "Accuracy in percent and training time (AROW, r = 1, five passes, not tuned):\n",
        *tables.table(("set", *AS_THEY_COME.values()), _forms(found)),
        "Accuracy of every decoding in percent:\n",
        *tables.table(("form", "decoding", *SHOWN.values()), _decodings(found)),
        "Time relative to `joint`, with 20 classes (20 Newsgroups) and 52 (Reuters):\n",
        *tables.table(("form", *cost), _costs(found)),
    ]


def renewed(page: str) -> str:
    """The page with its tables made anew."""
    return tables.placed(page, "experiments/multiclass/page.py", made(results()))


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

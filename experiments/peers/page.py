"""The tables of docs/theory/peers.md from result.csv; must not know how it was made.

    python -m experiments.peers.page

puts them between the two marks of the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from experiments import tables

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "theory" / "peers.md"
CHOSEN, DEFAULT = "surelearn, chosen", "surelearn, default"
PEERS = ("Vowpal Wabbit", "LinearSVC", "LogisticRegression", "fastText")

Line = dict[str, str]
Found = dict[str, dict[str, Line]]


def results() -> Found:
    """Lines of the result by set and contestant."""
    out: Found = {}
    for line in tables.lines(HERE / "result.csv"):
        out.setdefault(line["set"], {})[line["contestant"]] = line
    return out


def _seconds(line: Line) -> str:
    return f"{float(line['processor seconds']):.2g} s"


def _figures(found: Found) -> Iterator[list[str]]:
    """Accuracy and seconds; the best accuracy of a set in bold."""
    for name, lines in found.items():
        best = max(float(line["accuracy %"]) for line in lines.values())
        cells = [f"{name} ({lines[CHOSEN]['classes']})"]
        for who in (DEFAULT, CHOSEN, *PEERS):
            accuracy = lines[who]["accuracy %"]
            shown = f"**{accuracy}**" if float(accuracy) == best else accuracy
            cells.append(f"{shown}, {_seconds(lines[who])}")
        yield cells


def _lead(line: Line, ours: str) -> tuple[float, float]:
    return float(line[f"{ours}: leads by"]), float(line[f"{ours}: error over rows"])


def _leads(found: Found, ours: str) -> Iterator[list[str]]:
    """Points by which we lead, and the standard error of that difference."""
    for name, lines in found.items():
        leads = (_lead(lines[who], ours) for who in PEERS)
        yield [name, *(f"{lead:+.2f} ± {error:.2f}" for lead, error in leads)]


def trailing(found: Found, ours: str) -> Iterator[str]:
    """Where a peer leads by more than one standard error."""
    for name, lines in found.items():
        for who in PEERS:
            lead, error = _lead(lines[who], ours)
            if lead < -error:
                times = f"{_seconds(lines[who])} against our {_seconds(lines[ours])}"
                yield f"- {name}: behind {who} by {-lead:.2f} ± {error:.2f} points ({times})."


def faster(found: Found, ours: str) -> Iterator[str]:
    """Where a peer takes less time, by the wall clock or the processor's."""
    for name, lines in found.items():
        for who in PEERS:
            for clock, said in (
                ("seconds", "wall-clock"),
                ("processor seconds", "processor"),
            ):
                theirs, mine = float(lines[who][clock]), float(lines[ours][clock])
                if theirs < mine:
                    yield f"- {name}: {who}, {theirs:.2g} s against {mine:.2g} s ({said} time)."


def _listed(title: str, lines: Iterable[str]) -> list[str]:
    return [title, "", *(list(lines) or ["- nowhere"]), ""]


def made(found: Found) -> list[str]:
    """What stands between the marks."""
    learners = ("default", "chosen", *PEERS)
    return [
        "Accuracy in percent, and processor time of one fit on two thirds of the rows:\n",
        *tables.table(("set (classes)", *learners), _figures(found)),
        "Lead of the chosen setting in points, ± one standard error of the difference:\n",
        *tables.table(("set", *PEERS), _leads(found, CHOSEN)),
        "Lead of the default, `SureClassifier()`:\n",
        *tables.table(("set", *PEERS), _leads(found, DEFAULT)),
        *_listed(
            "**The chosen setting trails** by more than one standard error:",
            trailing(found, CHOSEN),
        ),
        *_listed(
            "**The default trails** by more than one standard error:", trailing(found, DEFAULT)
        ),
        *_listed("**A peer is faster** than the chosen setting:", faster(found, CHOSEN)),
    ]


def renewed(page: str) -> str:
    """The page with its tables made anew."""
    return tables.placed(page, "experiments/peers/page.py", made(results()))


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

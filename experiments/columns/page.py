"""The tables of this folder's README from result.csv; must not know how it was made.

python -m experiments.columns.page
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from experiments import tables

HERE = Path(__file__).parent
PAGE = HERE / "README.md"
OURS, TOLD, PEER = "kinds inferred", "kinds told", "LogisticRegression, kinds told"
UNITS = "each number times 10^k"
PEERS = (PEER, "Vowpal Wabbit", "Vowpal Wabbit, -q", "LightGBM")
OTHERS = ("no bins", "8 bins", "32 bins", "categories of length 1 each")
CHOSEN_ON = ("adult", "letter", "shuttle", "breast cancer", "digits")

Line = dict[str, str]
Found = dict[str, dict[str, Line]]


def results() -> Found:
    """Lines of the result by set and contestant."""
    out: Found = {}
    for line in tables.lines(HERE / "result.csv"):
        out.setdefault(line["set"], {})[line["who"]] = line
    return out


def _scores(line: Line, *, errors: bool = False) -> str:
    accuracy, loss = float(line["accuracy"]), float(line["log_loss"])
    if not errors:
        return f"{accuracy:.1f} / {loss:.3f}"
    spread = float(line["accuracy_error"]), float(line["log_loss_error"])
    return f"{accuracy:.1f} ± {spread[0]:.1f} / {loss:.3f} ± {spread[1]:.3f}"


def _rows(found: Found, who: Sequence[str], *, errors: bool = False) -> Iterator[list[str]]:
    for name, lines in found.items():
        cells = (_scores(lines[one], errors=errors) for one in who)
        yield [name if name in CHOSEN_ON else f"*{name}*", *cells]


def _times(found: Found) -> Iterator[list[str]]:
    for name, lines in found.items():
        ours, theirs = (float(lines[who]["seconds"]) for who in (TOLD, PEER))
        yield [name, f"{ours:.2f} s", f"{theirs:.2f} s", f"{theirs / ours:.0f}"]


def page() -> list[str]:
    """The tables."""
    found = results()
    return [
        "Accuracy in per cent / log loss, with standard errors over five folds:",
        "",
        *tables.table(
            ["set", OURS, TOLD, f"{TOLD}, {UNITS}", PEER],
            _rows(found, (OURS, TOLD, UNITS, PEER), errors=True),
        ),
        "The same of ours beside other peers, kinds told:",
        "",
        *tables.table(["set", TOLD, *PEERS[1:]], _rows(found, (TOLD, *PEERS[1:]), errors=True)),
        "Other settings, kinds told:",
        "",
        *tables.table(["set", "as it comes", *OTHERS], _rows(found, (TOLD, *OTHERS))),
        "Time of `fit`, kinds told:",
        "",
        *tables.table(["set", "SureTableClassifier", PEER, "times as long"], _times(found)),
    ]


def renewed(text: str) -> str:
    """The page with the tables of the result."""
    return tables.placed(text, "experiments/columns/page.py", page())


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

"""The table of raw texts in docs/theory/defaults.md from texts.csv; must not know how it was made.

python -m experiments.defaults.texts_page
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from experiments import tables

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "theory" / "defaults.md"
WORDS = "Probit(noise=1.0), Sequential(k=3)"


class Case(NamedTuple):
    """A set and a number of rows."""

    name: str
    rows: int
    is_binary: bool


class Figure(NamedTuple):
    """What a setting has reached after a pass."""

    accuracy: float
    log_loss: float


Found = dict[Case, dict[tuple[str, int], Figure]]
#: The number of passes for so many rows.
Passes = Callable[[int], int]


def results() -> Found:
    """Figures by case, setting and pass; settings of two classes are listed as of one rival."""
    out: Found = {}
    for line in tables.lines(HERE / "texts.csv"):
        case = Case(line["set"], int(line["rows"]), line["classes"] == "2")
        figure = Figure(100 * float(line["accuracy"]), float(line["log_loss"]))
        out.setdefault(case, {})[line["setting"], int(line["pass"])] = figure
    return out


def by_rows(n: int) -> int:
    """``passes="auto"`` of `fit`."""
    return min(max(-(-10_000 // n), 3), 10)


def always(passes: int) -> Passes:
    return lambda n: passes


#: What is shown: name, setting, passes.
SHOWN: tuple[tuple[str, str, Passes], ...] = (
    ("**noise 1, 3 to 10 passes by rows (`fit`)**", WORDS, by_rows),
    ("noise 1, 10 passes", WORDS, always(10)),
    ("noise 1, 3 passes (`fit_stream`)", WORDS, always(3)),
    ("noise 3, 10 passes", WORDS.replace("1.0", "3.0"), always(10)),
    ("noise 3, 5 passes", WORDS.replace("1.0", "3.0"), always(5)),
    ("noise 10, 10 passes", WORDS.replace("1.0", "10.0"), always(10)),
    ("noise 0.3, 3 passes", WORDS.replace("1.0", "0.3"), always(3)),
    ("noise 1, 1 pass", WORDS, always(1)),
    ("noise 0.3, 1 pass", WORDS.replace("1.0", "0.3"), always(1)),
    ("one rival, by rows", "Probit(noise=1.0), Single()", by_rows),
    ("one rival, 1 pass", "Probit(noise=1.0), Single()", always(1)),
    ("five rivals, by rows", "Probit(noise=1.0), Sequential(k=5)", by_rows),
    ("AROW(r=3), one rival, 10 passes", "AROW(r=3.0), Single()", always(10)),
    ("AROW(r=10), one rival, 10 passes", "AROW(r=10.0), Single()", always(10)),
    ("NHERD(C=0.3), one rival, 10 passes", "NHERD(C=0.3), Single()", always(10)),
    ("no idf, by rows", f"{WORDS}, no idf", by_rows),
    ("plain counts, by rows", f"{WORDS}, no log_counts", by_rows),
    ("2^20 places, by rows", f"{WORDS}, 2^20", by_rows),
    ("pairs of words, 2^18 places, by rows", f"{WORDS}, pairs", by_rows),
    ("pairs of words, 2^20 places, by rows", f"{WORDS}, pairs, 2^20", by_rows),
    ("*before: noise 0.3, one rival, no idf, 10 passes*",
     "Probit(noise=0.3), Single(), no idf", always(10)),
)  # fmt: skip


def rows() -> Iterator[list[str]]:
    """A line for each setting, with differences to the first one over all cases."""
    found = results()
    first = {case: _of(found, case, *SHOWN[0][1:]) for case in found}
    for name, setting, passes in SHOWN:
        figures = {case: _of(found, case, setting, passes) for case in found}
        apart = {case: figures[case].accuracy - first[case].accuracy for case in found}
        cells = []
        for is_binary in (True, False):
            some = [case for case in found if case.is_binary == is_binary]
            loss = np.mean([figures[case].log_loss for case in some])
            cells.append(f"{np.mean([apart[case] for case in some]):+.2f} / {loss:.3f}")
        small = [apart[case] for case in found if case.rows == 500]
        worst = min(apart, key=lambda case: apart[case])
        where = f"{apart[worst]:+.2f} ({worst.name}, {worst.rows:,})" if apart[worst] else "-"
        yield [name, *cells, f"{np.mean(small):+.2f}", where]


def _of(found: Found, case: Case, setting: str, passes: Passes) -> Figure:
    setting = setting.replace("Sequential(k=3)", "Single()") if case.is_binary else setting
    setting = setting.replace("Sequential(k=5)", "Single()") if case.is_binary else setting
    return found[case][setting, passes(case.rows)]


def renewed(page: str) -> str:
    """The page with the table of the result."""
    head = ["setting", "two classes", "more classes", "500 rows", "worst"]
    return tables.placed(page, "experiments/defaults/texts_page.py", tables.table(head, rows()))


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

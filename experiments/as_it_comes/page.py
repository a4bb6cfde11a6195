"""The tables of this folder's README from result.csv; must not know how it was made.

python -m experiments.as_it_comes.page
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from experiments import tables

HERE = Path(__file__).parent
PAGE = HERE / "README.md"
OURS = "SureTextClassifier"
PEERS = (
    "tf-idf, LinearSVC",
    "tf-idf, LogisticRegression",
    "hashing, SGDClassifier",
    "Vowpal Wabbit",
    "Vowpal Wabbit, logistic, ten passes",
    "Vowpal Wabbit, logistic, ten passes, pairs",
    "fastText",
)
JUDGED = ("tf-idf, LogisticRegression", "Vowpal Wabbit, logistic, ten passes", "fastText")
#: `fit` should be so many times as fast as every peer that is as accurate.
FASTER = 5

Line = dict[str, str]
Found = dict[str, dict[str, Line]]


def results() -> Found:
    """Lines of the result by set and contestant."""
    out: Found = {}
    for line in tables.lines(HERE / "result.csv"):
        out.setdefault(line["set"], {})[line["who"]] = line
    return out


def behind(found: Found) -> Iterator[str]:
    """Where a peer is better by more than one standard error of the paired difference."""
    for name, lines in found.items():
        for who in PEERS:
            lead, error = _lead(lines[who])
            if lead > error:
                yield f"- {name}: behind *{who}* by {lead:.2f} ± {error:.2f} points."
            for key, what in (("log_loss", "log loss"), ("ece", "ECE")):
                theirs, ours = lines[who][key], lines[OURS][key]
                if theirs and float(theirs) < float(ours) and "fastText" not in who:
                    yield f"- {name}: {what} {float(ours):.3f}, *{who}* {float(theirs):.3f}."


def slow(found: Found) -> Iterator[str]:
    """Where the fastest peer that is as accurate takes less than `FASTER` times as long."""
    for name, lines in found.items():
        level = [who for who in PEERS if sum(_lead(lines[who])) >= 0]
        times = {who: _seconds(lines[who]) / _seconds(lines[OURS]) for who in level}
        who = min(times, key=times.__getitem__, default="")
        if who and times[who] < FASTER:
            yield f"- {name}: *{who}* takes {times[who]:.1f} times as long."


def _seconds(line: Line) -> float:
    return float(line["seconds"])


def _lead(line: Line) -> tuple[float, float]:
    """Points by which a peer leads, and the standard error of the paired difference."""
    return 100 * float(line["difference"]), 100 * float(line["deviation"])


def _accuracies(found: Found) -> Iterator[list[str]]:
    for name, lines in found.items():
        leads = (_lead(lines[who]) for who in PEERS)
        cells = (f"{lead:+.2f} ± {error:.2f}" for lead, error in leads)
        yield [name, f"{100 * float(lines[OURS]['accuracy']):.2f}", *cells]


def _probabilities(found: Found) -> Iterator[list[str]]:
    for name, lines in found.items():
        cells = (f"{float(lines[who]['log_loss']):.3f} / {float(lines[who]['ece']):.3f}"
                 for who in (OURS, *JUDGED))  # fmt: skip
        yield [name, *cells]


def _times(found: Found) -> Iterator[list[str]]:
    for name, lines in found.items():
        ours = _seconds(lines[OURS])
        ratios = (f"{_seconds(lines[who]) / ours:.1f}" for who in PEERS)
        yield [name, lines[OURS]["rows"], f"{ours:.2f} s", *ratios]


def page() -> list[str]:
    found = results()
    lost = list(behind(found)) or ["- nowhere."]
    return [
        "Accuracy of ours in per cent, and the difference of each peer to it with its paired "
        "standard error:",
        "",
        *tables.table(["set", "ours", *PEERS], _accuracies(found)),
        "Log loss / expected calibration error:",
        "",
        *tables.table(["set", "ours", *JUDGED], _probabilities(found)),
        "Time of `fit` from raw texts: ours, and that of each peer as a multiple of ours:",
        "",
        *tables.table(["set", "rows", "ours", *PEERS], _times(found)),
        "Where a peer is better by more than one standard error, or has better probabilities:",
        "",
        *lost,
        "",
        f"Where the fastest peer that is not worse by more than one standard error takes less than "
        f"{FASTER} times as long to fit:",
        "",
        *(list(slow(found)) or ["- nowhere."]),
        "",
    ]


def renewed(text: str) -> str:
    """The page with the tables of the result."""
    return tables.placed(text, "experiments/as_it_comes/page.py", page())


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

"""The figures of the front page, taken from the results; must not know how they were measured.

`lost_sets` is for docs/comparison.md.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from _measure import RESULTS

PEERS = Path(__file__).parents[1] / "experiments" / "peers" / "result.csv"
OURS = "surelearn, chosen"
CONTESTANTS = ("Vowpal Wabbit", "LinearSVC", "LogisticRegression", "fastText")


class Headline(NamedTuple):
    """One line of the README: a figure of ours, what stands beside it, and the script."""

    work: str
    ours: str
    beside: str
    script: str


def headlines() -> list[Headline]:
    """The six figures, in the order of the page."""
    return [_to_accuracy(), _accuracy(), _file(), _tagger(), _query(), _memory()]


def _result(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def _by_contestant(name: str) -> dict[str, dict[str, Any]]:
    return {line["contestant"]: line for line in _result(name)["figures"]}


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _to_accuracy() -> Headline:
    """The time to the accuracy of each peer as it comes, typical over the sets."""
    result = _result("time_to_accuracy")
    n_sets = len({figure["set"] for figure in result["figures"]})
    found = {
        claim["against"]: claim["figure"]
        for claim in sorted(result["claims"], key=lambda claim: _times(claim["figure"]))
        if "x, " in claim["figure"]
    }
    low, *_, high = map(_times, found.values())
    return Headline(
        f"Time from raw texts to the accuracy of a peer with its defaults, on {n_sets} text sets",
        f"**{low:g} to {high:g} times as fast** as peers, geometric means",
        "; ".join(f"{peer} {figure}" for peer, figure in found.items()),
        "benchmarks/time_to_accuracy.py",
    )


def lost_sets() -> Iterator[dict[str, Any]]:
    """Sets on which a peer as it comes is faster, or more accurate than ours can be, as claims."""
    result = _result("time_to_accuracy")
    work = result["claims"][0]["work"]
    for figure in result["figures"]:
        if figure["ratio"] is None or figure["ratio"] >= 1:
            continue
        ours, theirs = 100 * figure["our accuracy"], 100 * figure["accuracy"]
        unreached = f"not reached: {ours:.2f} beside {theirs:.2f} %"
        yield {
            "work": f"{work}: {figure['set']}",
            "against": figure["contestant"],
            "figure": f"{figure['ratio']:.2g}x" if figure["ratio"] else unreached,
            "goal": "-",
        }


def _times(figure: str) -> float:
    """The number of a figure such as 3.5x; zero where there is none."""
    before, mark, _ = figure.partition("x, ")
    return float(before) if mark else 0.0


def _accuracy() -> Headline:
    """On how many sets no tuned peer leads by more than one standard error."""
    leads: dict[str, list[bool]] = {}
    with PEERS.open(encoding="utf-8", newline="") as lines:
        for line in csv.DictReader(lines):
            if line["contestant"] not in CONTESTANTS:
                continue
            lead, error = float(line[f"{OURS}: leads by"]), float(line[f"{OURS}: error over rows"])
            leads.setdefault(line["set"], []).append(lead >= -error)
    level = sum(map(all, leads.values()))
    return Headline(
        f"Accuracy on {len(leads)} text sets, every learner tuned in the same way",
        f"on **{level} of {len(leads)}** sets, no peer is ahead by more than one standard error of "
        "the difference",
        ", ".join(CONTESTANTS),
        "experiments/peers/run.py",
    )


def _file() -> Headline:
    result, found = _result("file_to_model"), _by_contestant("file_to_model")
    remarks = {
        "Vowpal Wabbit": " (tokenizing not counted)",
        "fastText": "",
        "scikit-learn": " (extrapolated from a part)",
    }
    return Headline(
        f"{result['about']['bytes'] / 1e6:.0f} MB of jsonl to a two-class model, one pass on two "
        "cores",
        f"**{found['surelearn']['seconds']:.2f} s**",
        ", ".join(
            f"{name} {found[name]['seconds']:.2g} s{remark}"
            for name, remark in remarks.items()
            if name in found
        ),
        "benchmarks/file_to_model.py",
    )


def _tagger() -> Headline:
    found = _result("tagger")["figures"]
    default, peer = found["surelearn"][-1], found["CRFsuite"]["L-BFGS"]
    f1 = sum(default["f1"]) / len(default["f1"])
    return Headline(
        "CoNLL-2000 chunking: training time, and F1 on the test set",
        f"**{default['seconds']:.1f} s**, F1 {f1:.2f}",
        f"CRFsuite L-BFGS: {peer['seconds']:.0f} s, F1 {peer['f1']:.2f}",
        "benchmarks/tagger.py",
    )


def _query() -> Headline:
    result = _result("query")
    two, many = (result["figures"][f"{n} classes, query"]["best ms"] for n in (2, 20))
    return Headline(
        f"Finding the next row to label among {result['about']['rows']:,}",
        f"**{two:.0f} ms** with 2 classes, {many:.0f} ms with 20",
        "-",
        "benchmarks/query.py",
    )


def _memory() -> Headline:
    result = _result("stream_memory")
    (small, low), (large, high) = result["figures"]["peaks"].items()
    return Headline(
        f"Peak memory while training from {large} of jsonl",
        f"**{high:.0f} MB** (from {small}: {low:.0f} MB)",
        "-",
        "benchmarks/stream_memory.py",
    )

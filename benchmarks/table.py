"""Write the tables of README.md, benchmarks/README.md and two pages of docs from the results.

``python benchmarks/table.py`` replaces what stands between the marker lines of these pages: the six
figures of the front page, the table of all claims, the comparison with peers, and how `fit` scales.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from _headlines import headlines as _headlines
from _headlines import lost_sets
from _measure import RESULTS, stop

sys.path.append(str(Path(__file__).parents[1]))
from experiments.as_it_comes import page as as_it_comes
from experiments.peers import page as peers

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
PAGES = (
    HERE.parent / "README.md",
    HERE / "README.md",
    DOCS / "comparison.md",
    DOCS / "theory" / "scaling.md",
)
#: The peers of docs/comparison.md, and by which words a claim is one beside them.
PEERS = {
    "scikit-learn": ("scikit-learn", "LinearSVC", "LogisticRegression", "SGDClassifier"),
    "Vowpal Wabbit": ("Vowpal Wabbit",),
    "River": ("River",),
    "fastText": ("fastText",),
    "CRFsuite": ("CRFsuite",),
    "pgmpy": ("pgmpy",),
}


def _results() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every claim with the name of its script."""
    for path in sorted(RESULTS.glob("*.json")):
        for claim in json.loads(path.read_text(encoding="utf-8"))["claims"]:
            yield f"{path.stem}.py", claim


def _measured(claim: dict[str, Any]) -> str:
    return str(claim["figure"]) if claim["met"] else f"{claim['figure']} (missed)"


def claims() -> list[str]:
    """All claims, scripts in alphabetical order; a goal that was missed says so."""
    rows = [
        (claim["work"], claim["against"], _measured(claim), claim["goal"], f"`{script}`")
        for script, claim in _results()
    ]
    return _table(("work", "against", "measured", "goal", "script"), rows)


def figures() -> list[str]:
    """All claims beside a peer, one table for each peer."""
    lines = []
    for peer in PEERS:
        beside = [(script, claim) for script, claim in _results() if _peer(claim) == peer]
        if beside:
            lines += [f"### {peer}", "", *_compared(beside), ""]
    return lines[:-1]


def behind() -> list[str]:
    """Claims in which a peer is ahead, and text sets on which it is."""
    claims = [(script, claim) for script, claim in _results() if _peer(claim) and _lost(claim)]
    return _compared([*claims, *(("time_to_accuracy.py", claim) for claim in lost_sets())])


def accuracy() -> list[str]:
    """Text sets on which a peer is more accurate, or faster, as the experiments list them."""
    found = peers.results()
    lists = {
        "Every learner tuned alike, settings of ours chosen on training rows:": peers.trailing(
            found, peers.CHOSEN
        ),
        "`SureClassifier()` with its defaults, peers tuned:": peers.trailing(found, peers.DEFAULT),
        "`SureTextClassifier()` and peers without tuning, from raw texts:": as_it_comes.behind(
            as_it_comes.results()
        ),
        "Time of one fit, every learner tuned alike:": peers.faster(found, peers.CHOSEN),
    }
    lines = []
    for title, lost in lists.items():
        lines += [title, "", *(list(lost) or ["- nowhere"]), ""]
    return lines[:-1]


def _peer(claim: dict[str, Any]) -> str | None:
    """The peer that a claim is beside."""
    found = (peer for peer, words in PEERS.items() if any(w in claim["against"] for w in words))
    return next(found, None)


def _lost(claim: dict[str, Any]) -> bool:
    """Whether the peer is faster, or its figure is better by more than the goal allows."""
    if fast := re.match(r"([0-9.]+)x(?! the time)", claim["figure"]):
        # A ratio of 0.97 is printed as 1.0x: the verdict tells.
        return float(fast[1]) < 1 or (claim["goal"] == ">= 1x" and not claim["met"])
    slow = re.search(r"\(([0-9.]+) times as long\)", claim["figure"])
    return not claim["met"] or (slow is not None and float(slow[1]) > 1)


def _compared(claims: Iterable[tuple[str, dict[str, Any]]]) -> list[str]:
    """Claims as a table of docs/comparison.md."""
    rows = [
        (
            claim["work"],
            claim["against"],
            claim["figure"],
            _verdict(claim),
            f"[{script}](../benchmarks/{script})",
        )
        for script, claim in claims
    ]
    return _table(("task", "compared with", "surelearn", "goal", "script"), rows)


def _verdict(claim: dict[str, Any]) -> str:
    if claim["goal"] == "-":
        return "-"
    return f"{claim['goal']}: {'met' if claim['met'] else '**missed**'}"


def headlines() -> list[str]:
    """The figures of the front page, each with a link to its script."""
    rows = [
        (line.work, line.ours, line.beside, f"[{line.script.partition('/')[2]}]({line.script})")
        for line in _headlines()
    ]
    return _table(("task", "surelearn", "peers", "script"), rows)


def verdict() -> str:
    """How many goals are met, and of which kind the missed ones are."""
    goals = [claim for _, claim in _results() if claim["goal"] != "-"]
    missed = [claim for claim in goals if not claim["met"]]
    speedups = [claim for claim in missed if re.fullmatch(r">= [0-9.]+x", claim["goal"])]
    return (
        f"{len(goals) - len(missed)} goals are met, {len(missed)} missed. {len(speedups)} of the "
        "missed ones ask for a speedup, such as 6x, that was reached only in part."
    )


def leaders() -> str:
    """Which peers are ahead somewhere, and where to read of it."""
    ahead = {_peer(claim) for _, claim in _results() if _lost(claim)}
    *most, last = [peer for peer in PEERS if peer in ahead]
    return (
        f"{', '.join(most)} and {last} lead in some tasks: [where peers are ahead]"
        "(docs/comparison.md#where-peers-are-ahead) lists all of them."
    )


def scaling() -> list[str]:
    """Shards beside one model, as measured."""
    rows = [
        (
            line["work"],
            str(line["shards"]),
            str(line["jobs"]),
            f"{line['wall, seconds']:.3f} s",
            f"{line['faster than one model']:.2f}x",
            f"{line['processor, of one model']:.2f}x",
            f"{100 * line['one thread alone']:.0f} %" if line["jobs"] > 1 else "-",
        )
        for line in _scaling()["measured"]
    ]
    head = ("work", "shards", "threads", "time", "speed", "processor time", "one thread works")
    return _table(head, rows)


def estimate() -> list[str]:
    """Times as fast as one model, on more cores than were measured, and the constants of that."""
    lines = _scaling()["estimated"]
    cores = [key for key in lines[0] if key.isdigit()]
    rows = [
        (
            line["work"],
            str(line["shards"]),
            *(f"{1e3 * line[f'{what}, seconds']:.0f} ms" for what in ("alone", "shared")),
            *(f"{line[c]:.1f}x" for c in cores),
        )
        for line in lines
    ]
    head = ("work", "shards", "alone", "shared", *(f"{c} cores" for c in cores))
    return _table(head, rows)


def off() -> list[str]:
    """By how much the model of the estimate is off, of what it was made from."""
    most = max(line["off by, %"] for line in _scaling()["estimated"])
    return [f"The model is within {most} % of the times that were measured."]


def _scaling() -> dict[str, Any]:
    found = json.loads((RESULTS / "scaling.json").read_text(encoding="utf-8"))
    return dict(found["figures"])


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]


def renewed(page: str) -> str:
    """The page with its tables written anew; it has at least one."""
    made = {
        "claims": lambda: [*claims(), "", verdict()],
        "headlines": lambda: [*headlines(), "", leaders()],
        "figures": figures,
        "behind": behind,
        "accuracy": accuracy,
        "scaling": scaling,
        "estimate": estimate,
        "off": off,
    }
    marked = [name for name in made if f"<!-- {name}:begin -->\n" in page]
    if not marked:
        stop(f"A page must have markers of a table ({', '.join(made)}), got none.")
    for name in marked:
        page = _placed(page, name, made[name]())
    return page


def _placed(page: str, name: str, lines: Sequence[str]) -> str:
    """The page with lines in place of those between two markers."""
    begin, end = f"<!-- {name}:begin -->\n", f"<!-- {name}:end -->"
    before, _, rest = page.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        stop(f"A page with {begin.strip()} must have {end} after it.")
    return before + begin + "\n".join(lines) + "\n" + end + after


def main() -> None:
    for path in PAGES:
        path.write_text(renewed(path.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"{path.relative_to(HERE.parent)}: tables written.")


if __name__ == "__main__":
    main()

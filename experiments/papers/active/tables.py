"""Tables of what figure 1 shows: labels that asking saves, tasks won, accuracies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from experiments.papers.active.savings import (
    ACL,
    ASKING,
    CW_MARGIN,
    CW_RANDOM,
    EVERY,
    PA_RANDOM,
    PAPER,
    Needed,
    apart,
    needed,
    of_tasks,
    ratios,
    wins,
)
from experiments.papers.active.tasks import ALL
from experiments.papers.entry import Row, Rows
from experiments.papers.statistics import mean

if TYPE_CHECKING:
    from surelearn.active import Simulation

SHARES = (0.8, 0.9, 0.95)


def tables(found: Mapping[str, Simulation]) -> dict[str, Rows]:
    """Savings on the mean curve and by task, tasks won and lost, and accuracies."""
    by_share = {share: needed(found, share) for share in SHARES}
    against = {share: needed(found, share, "margin") for share in SHARES}
    last = found[ALL].labels[-1]
    return {
        "Labels for a share of the accuracy with all labels, in per cent of random order": [
            _saving(pair, by_share) for pair in ASKING
        ],
        "By task, for 80 %: labels (in per cent of random order)": [
            _task(task, lines, against[0.8][task][ACL])
            for task, lines in of_tasks(by_share[0.8]).items()
        ],
        "Tasks on which ACL needs fewer labels than CW margin, to those on which it needs more": [
            _won(share, by_share[share], against[share]) for share in SHARES
        ],
        f"Accuracy in per cent after {last} labels, and after one pass over all labels": [
            _accuracies(task, one) for task, one in found.items()
        ],
    }


def _saving(pair: tuple[str, str], by_share: dict[float, Needed]) -> Row:
    return {
        "asking": ASKING[pair],
        "paper, 80 %": f"{PAPER[pair]} %",
        **{f"{share:.0%}".replace("%", " %"): _percent(lines[ALL][pair])
           for share, lines in by_share.items()},
        "80 %, mean over tasks": "{:.0f} ± {:.0f} %".format(*mean(ratios(by_share[0.8], pair))),
    }  # fmt: skip


def _task(task: str, lines: Any, to_margin: Any) -> Row:
    random = {EVERY[pair]: _labels(lines[pair]) for pair in (PA_RANDOM, CW_RANDOM)}
    asking = {name: f"{_labels(lines[pair])} ({_percent(lines[pair])})"
              for pair, name in ASKING.items()}  # fmt: skip
    return {"task": task, **random, **asking, "ACL to CW margin": _percent(to_margin)}


def _won(share: float, lines: Needed, against: Needed) -> Row:
    fewer, more, same = wins(lines, ACL, CW_MARGIN)
    return {
        "share": f"{100 * share:g} %",
        "paper": "8 to 4" if share == SHARES[0] else "",
        "ours": f"{fewer} to {more}",
        "as many": same,
        "beyond two standard errors": "; ".join(apart(against)) or "none",
        "ACL to CW margin, mean curve": _percent(against[ALL][ACL]),
    }


def _accuracies(task: str, one: Simulation) -> Row:
    last = {
        name: f"{100 * one.mean[pair][-1]:.1f} ± {100 * one.error[pair][-1]:.1f}"
        for pair, name in EVERY.items()
    }
    full = {f"{name}, all": f"{100 * values.mean():.1f}" for name, values in one.full.items()}
    return {"task": task, **last, **full}


def _percent(line: Any) -> str:
    """Labels relative to another way to ask, with the error over runs."""
    return f"{100 * line.ratio:.0f} ± {100 * line.ratio_error:.0f} %"


def _labels(line: Any) -> str:
    return "never" if line.labels == float("inf") else f"{line.labels:.0f}"

"""What Dredze & Crammer 2008 claim of asking, and what our curves say; must not know tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from experiments.papers.active.savings import (
    ACL,
    ASKING,
    CW_MARGIN,
    CW_RANDOM,
    EVERY,
    PA_MARGIN,
    PAPER,
    Needed,
    ahead,
    needed,
    ratios,
    wins,
)
from experiments.papers.active.tasks import ALL, CORPORA, CRITERIA
from experiments.papers.entry import Claim, Rows
from experiments.papers.statistics import difference, mean

if TYPE_CHECKING:
    from surelearn.active import Simulation


def claims(found: Mapping[str, Simulation], rows: Rows) -> tuple[Claim, ...]:
    """Every claim of section 4 that the curves decide, and the identity of section 3."""
    lines = needed(found, 0.8)
    return (
        *_savings(lines),
        _few(lines),
        *_gaps(lines),
        _counts(lines),
        _more_than_random(lines),
        _every_task(found),
        _every_round(found),
        _more_accurate(found),
        _criterion(rows),
    )


def _savings(lines: Needed) -> Iterator[Claim]:
    """Fewer labels than in random order, on the mean curve of all tasks."""
    for pair, paper in PAPER.items():
        line = lines[ALL][pair]
        yield Claim(
            text=f"{ASKING[pair]} needs fewer labels than {pair[0]} random for 80 % of the "
            "accuracy with all labels.",
            theirs=f"{paper} %",
            ours=f"{100 * line.ratio:.0f} ± {100 * line.ratio_error:.0f} %",
            lead=100 * (1 - line.ratio),
            error=100 * line.ratio_error,
        )


def _few(lines: Needed) -> Claim:
    slowest = max((lines[ALL][pair] for pair in EVERY), key=lambda line: line.labels)
    return Claim(
        text="80 % of the accuracy with all labels takes fewer than 100 labels.",
        theirs="< 100",
        ours=f"{slowest.labels:.0f} ± {slowest.error:.0f} ({EVERY[slowest[:2]]}, the slowest)",
        lead=100 - slowest.labels,
        error=slowest.error,
        note="On the mean curve of all tasks.",
    )


def _gaps(lines: Needed) -> Iterator[Claim]:
    """Two ways to ask, each in per cent of random order: mean and error over tasks."""
    texts = {
        (PA_MARGIN, CW_MARGIN): "CW saves more labels by asking than PA.",
        (CW_MARGIN, ACL): "Confidence saves labels: ACL needs fewer than CW margin.",
    }
    for (more, fewer), text in texts.items():
        both = ratios(lines, more), ratios(lines, fewer)
        gap = difference(*both)
        yield Claim(
            text=text,
            theirs=f"{PAPER[more]} against {PAPER[fewer]} %",
            ours=f"{np.mean(both[0]):.0f} against {np.mean(both[1]):.0f} %",
            lead=gap.value,
            error=gap.error,
            note="Labels for 80 % in per cent of random order; mean and error over tasks.",
        )


def _counts(lines: Needed) -> Claim:
    fewer, more, _ = wins(lines, ACL, CW_MARGIN)
    return Claim(
        text="ACL needs fewer labels than CW margin on more tasks than the opposite.",
        theirs="8 to 4",
        ours=f"{fewer} to {more}",
        lead=fewer - more,
        error=float(np.sqrt(fewer + more)),
        note="The error is that of a fair coin; so 8 to 4 is not decided either.",
    )


def _more_than_random(lines: Needed) -> Claim:
    worse = [wins(lines, CW_RANDOM, pair)[0] for pair in (CW_MARGIN, ACL)]
    return Claim(
        text="CW margin needs more labels than random order on more tasks than ACL.",
        theirs="3 to 1",
        ours=f"{worse[0]} to {worse[1]}",
        lead=worse[0] - worse[1],
        error=float(np.sqrt(sum(worse))),
        note="Labels for 80 %.",
    )


def _every_task(found: Mapping[str, Simulation]) -> Claim:
    """The corpus on which the claim fares worst: one that is surely behind is enough."""
    leads = {
        corpus: mean(np.mean([_lead(found[task]) for task in tasks], axis=0))
        for corpus, tasks in CORPORA.items()
    }
    corpus, worst = min(leads.items(), key=lambda item: item[1].value)
    better = sum(lead.value > 0 for lead in leads.values())
    return Claim(
        text="ACL improves over CW margin on every corpus (the paper says task).",
        theirs="4 of 4",
        ours=f"{better} of {len(leads)}; {corpus}: {worst} points",
        lead=worst.value,
        error=worst.error,
        note="Points of accuracy, mean over all rounds and problems of a corpus; the lead is that "
        "of the worst corpus. Spam is not rebuilt.",
    )


def _every_round(found: Mapping[str, Simulation]) -> Claim:
    lead = mean(_lead(found[ALL]))
    rounds = ahead(found[ALL], ACL, CW_MARGIN).mean(axis=0)
    return Claim(
        text="ACL improves over CW margin after almost every round.",
        theirs="almost all",
        ours=f"{100 * np.mean(rounds > 0):.0f} % of rounds; {lead} points",
        lead=lead.value,
        error=lead.error,
        note="Points of accuracy on the mean curve of all tasks, mean over all rounds.",
    )


def _lead(one: Simulation) -> list[float]:
    """Points by which ACL is ahead of CW margin: of each run, the mean over all rounds."""
    lead: list[float] = ahead(one, ACL, CW_MARGIN).mean(axis=1).tolist()
    return lead


def _more_accurate(found: Mapping[str, Simulation]) -> Claim:
    one = found[ALL]
    lead = mean(ahead(one, CW_MARGIN, PA_MARGIN)[:, -1])
    both = (100 * one.mean[pair][-1] for pair in (CW_MARGIN, PA_MARGIN))
    return Claim(
        text="CW margin outperforms PA margin for active learning.",
        theirs="in the figure only",
        ours="{:.1f} against {:.1f} %".format(*both),
        lead=lead.value,
        error=lead.error,
        note=f"Accuracy after {one.labels[-1]} labels, mean curve of all tasks.",
    )


def _criterion(rows: Rows) -> Claim:
    found = next(row for row in rows if row["task"] == CRITERIA)
    return Claim(
        text="The least probable label is that of the margin M with the smallest absolute value in "
        "standard deviations, M / sqrt(V).",
        theirs="the same order",
        ours=f"{found['wrong']} of {found['rows']} rows out of order",
        lead=-1.0 if found["wrong"] else 1.0,
        note="The paper omits the proof. It prints M / sqrt(V); the absolute value is meant.",
    )

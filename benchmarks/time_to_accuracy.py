"""Time from raw texts to the accuracy of a peer: SureTextClassifier beside text classifiers.

Every peer is fitted as it comes, and judged on 30 % of the texts. Ours has its defaults but for the
number of passes: the fastest of `PASSES`, with the default among them, that is at least as
accurate. The figure is the peer's time to fit divided by ours; a peer that is more accurate than
ours with any of them is not reached (ratio 0), and one that is no better than the most frequent
class has learnt nothing to be reached and is left out (no ratio). The summary of a peer is the
geometric mean over the sets on which it is reached. Texts are in memory; the text files that Vowpal
Wabbit and fastText read are written on their clock.

Which passes are enough is judged by the same texts as the peers, who have one try each, so this is
the time at which a curve crosses, not that of a choice anybody could make beforehand. The results
therefore have the ratio of our unchanged defaults as well, whose accuracy stands beside it.

Names of sets as arguments measure these only, and write no result:
``python benchmarks/time_to_accuracy.py "Amazon books" docstrings``.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _measure import Claim, Timing, interleaved, show, stop, write

sys.path.append(str(Path(__file__).parents[1]))
try:
    from experiments import sets
    from experiments.as_it_comes.contestants import Contestant, Estimator, contestants
except ModuleNotFoundError as missing:
    stop(f"{missing.name} must be installed to be measured: pip install '.[bench]'.")

from surelearn import SureTextClassifier

REPEATS = 1
DEFAULT = SureTextClassifier().passes
PASSES = (1, 2, 4, DEFAULT)
JUDGED = 0.3
GOAL = 2.0
PEERS = (
    "hashing, SGDClassifier",
    "tf-idf, LinearSVC",
    "tf-idf, LogisticRegression",
    "Vowpal Wabbit",
    "fastText",
)


class Split(NamedTuple):
    """Texts and labels to learn and to judge by."""

    texts: list[str]
    y: np.ndarray
    judged_texts: list[str]
    judged: np.ndarray


class Result(NamedTuple):
    """One contestant on one set."""

    time: Timing
    accuracy: float


def split(name: str) -> Split:
    """A set in two parts, equal texts in one of them."""
    corpus = sets.texts(name)
    y = np.unique(corpus.y, return_inverse=True)[1]
    learn, judge = sets.cut(np.arange(len(y)), sets.numbered(corpus.texts), JUDGED)
    learn = np.random.default_rng(0).permutation(learn)
    return Split(
        [corpus.texts[i] for i in learn], y[learn], [corpus.texts[i] for i in judge], y[judge]
    )


def least(y: np.ndarray) -> float:
    """An accuracy two standard errors above that of the most frequent class."""
    share = np.bincount(y).max() / len(y)
    return float(share + 2 * np.sqrt(share * (1 - share) / len(y)))


def ours() -> dict[str, Callable[[], Contestant]]:
    """Our defaults, and the same with other passes."""
    return {
        f"passes={passes}": partial(
            Estimator, partial(SureTextClassifier, passes=passes, random_state=0)
        )
        for passes in PASSES
    }


def measured(parts: Split, makes: Mapping[str, Callable[[], Contestant]]) -> dict[str, Result]:
    """Time to fit, all in turns, and accuracy of what was fitted last."""
    fitted: dict[str, Contestant] = {}

    def fit(key: str) -> None:
        fitted[key] = makes[key]()
        fitted[key].fit(parts.texts, parts.y)

    times = interleaved({key: partial(fit, key) for key in makes}, REPEATS, warm=False)
    right = {
        key: float(np.mean(one.answers(parts.judged_texts).best == parts.judged))
        for key, one in fitted.items()
    }
    return {key: Result(times[key], right[key]) for key in makes}


def beside(name: str, peer: str, found: Mapping[str, Result], low: float) -> dict[str, Any]:
    """One peer on one set: the fastest of ours that is as accurate, and the times."""
    theirs = found[peer]
    own = [key for key in found if key not in PEERS]
    enough = [key for key in own if found[key].accuracy >= theirs.accuracy]
    fastest = min(enough, key=lambda key: found[key].time.best, default=None)
    unchanged = found[f"passes={DEFAULT}"]
    taken = unchanged if fastest is None else found[fastest]
    times = (a / b for a, b in zip(theirs.time, taken.time, strict=True))
    best, median = (0.0 if fastest is None else round(ratio, 2) for ratio in times)
    learnt = theirs.accuracy > low
    return {
        "set": name,
        "contestant": peer,
        "accuracy": round(theirs.accuracy, 4),
        "seconds": round(theirs.time.best, 4),
        "ours": fastest,
        "our accuracy": round(taken.accuracy, 4),
        "our seconds": round(taken.time.best, 4),
        "ratio": best if learnt else None,
        "ratio of medians": median if learnt else None,
        "default accuracy": round(unchanged.accuracy, 4),
        "default ratio": round(theirs.time.best / unchanged.time.best, 2),
    }


def on_set(name: str) -> list[dict[str, Any]]:
    """All peers on one set."""
    with tempfile.TemporaryDirectory() as folder:
        everyone = contestants(Path(folder))
        parts = split(name)
        found = measured(parts, {**ours(), **{peer: everyone[peer] for peer in PEERS}})
    return [beside(name, peer, found, least(parts.judged)) for peer in PEERS]


def claims_of(figures: list[dict[str, Any]]) -> list[Claim]:
    """The typical ratio to each peer, and on how many sets its accuracy was reached."""
    claims = []
    for peer in PEERS:
        ratios = [f["ratio"] for f in figures if f["contestant"] == peer and f["ratio"] is not None]
        work = "raw texts to the accuracy of a peer with default settings"
        if not ratios:
            claims.append(Claim(work, peer, "the peer has learnt nothing", "-", True))
            continue
        reached = [ratio for ratio in ratios if ratio > 0]
        mean = statistics.geometric_mean(reached) if reached else 0.0
        figure = f"{mean:.1f}x, reached on {len(reached)} of {len(ratios)} sets"
        met = mean >= GOAL and len(reached) == len(ratios)
        claims.append(Claim(work, peer, figure, f"mean >= {GOAL:g}x, reached on all sets", met))
    return claims


def _said(ratio: float | None) -> str:
    if ratio is None:
        return "nothing learnt"
    return f"{ratio:.1f}" if ratio > 0 else "not reached"


def _line(figure: Mapping[str, Any]) -> list[str]:
    return [
        f"{figure['set']}, {figure['contestant']}",
        f"{100 * figure['accuracy']:.2f}",
        f"{figure['seconds']:.3f}",
        f"{100 * figure['our accuracy']:.2f}",
        f"{figure['our seconds']:.3f}",
        figure["ours"] or "-",
        _said(figure["ratio"]),
        f"{100 * figure['default accuracy']:.2f}",
        f"{figure['default ratio']:.1f}",
    ]


def main() -> None:
    names = sys.argv[1:] or list(sets.TEXTS)
    unknown = [name for name in names if name not in sets.TEXTS]
    if unknown:
        stop(f"set must be one of {', '.join(sets.TEXTS)}, got {unknown[0]}.")
    figures = [figure for name in names for figure in on_set(name)]
    header = [
        "set, peer",
        "accuracy %",
        "s",
        "ours %",
        "s",
        "ours",
        "times ours",
        "defaults %",
        "times defaults",
    ]
    show("Raw texts to the accuracy of each peer", header, [_line(f) for f in figures])
    claims = claims_of(figures)
    if names == list(sets.TEXTS):
        write("time_to_accuracy", figures, claims, repeats=REPEATS, judged=JUDGED)
        return
    for claim in claims:
        print(f"{claim.against}: {claim.figure}")


if __name__ == "__main__":
    main()

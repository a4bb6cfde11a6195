"""Four losses on the same rows and on the same chains, each with a parameter chosen beforehand."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from experiments.batch.data import Split, chunks, splits
from experiments.batch.judge import Score, accuracy, f1, mean_log_loss
from surelearn import (
    CRFTagger,
    MulticlassSVM,
    SoftmaxClassifier,
    SureClassifier,
    SureTagger,
    SVMTagger,
    rules,
)

#: So many rows or sentences are enough to choose a parameter, and as many to choose it on.
ENOUGH = 3000


class Contestant(NamedTuple):
    """A learner of one loss: what makes it from a parameter, and the values to choose from."""

    name: str
    loss: str
    make: Callable[[float], Any]
    grid: Sequence[float]
    parameter: str


ROWS = (
    Contestant(
        "perceptron", "perceptron",
        lambda passes: SureClassifier(
            "perceptron", average=True, passes=int(passes), random_state=0
        , scale=False),
        (3, 10, 30), "passes",
    ),
    Contestant("MulticlassSVM", "hinge", lambda C: MulticlassSVM(C=C, random_state=0),
               (0.3, 1.0, 3.0), "C"),
    Contestant("SoftmaxClassifier", "log", lambda l2: SoftmaxClassifier(l2=l2, tol=1e-3),
               (0.03, 0.1, 0.3), "l2"),
    Contestant("SureClassifier", "CW",
               lambda phi: SureClassifier(rules.Variance(phi=phi), random_state=0, scale=False),
               (0.3, 1.0, 3.0, 10.0), "phi of Variance"),
)  # fmt: skip

CHAINS = (
    Contestant(
        "structured perceptron", "perceptron",
        lambda passes: SureTagger("perceptron", average=True, passes=int(passes), random_state=0),
        (3, 10, 20), "passes",
    ),
    Contestant("SVMTagger", "hinge", lambda C: SVMTagger(C=C, tol=0.01, random_state=0),
               (0.03, 0.1, 0.3), "C"),
    Contestant("CRFTagger", "log", lambda l2: CRFTagger(l2=l2, tol=1e-3), (0.5, 2.0), "l2"),
    Contestant("SureTagger", "CW",
               lambda phi: SureTagger(rules.SCW1(phi=phi, C=1.0), random_state=0),
               (0.5, 1.0, 2.0), "phi of SCW1"),
)  # fmt: skip


def lines() -> Iterator[dict[str, Any]]:
    """A line for each contestant and set: means over the folds."""
    yield from _lines("CoNLL-2000", [chunks()], CHAINS, f1)
    yield from _lines("20 Newsgroups", [next(splits("20 Newsgroups"))], ROWS, accuracy)


def _lines(
    name: str,
    parts: list[Split],
    contestants: Sequence[Contestant],
    score: Score,
) -> Iterator[dict[str, Any]]:
    for who in contestants:
        found = [_judged(who, split, score) for split in parts]
        mean = {key: float(np.mean([line[key] for line in found])) for key in ("score", "seconds")}
        losses = [line["log loss"] for line in found]
        yield {
            "set": name,
            "learner": who.name,
            "loss": who.loss,
            "parameter": who.parameter,
            "chosen": " ".join(dict.fromkeys(f"{line['chosen']:g}" for line in found)),
            "score %": f"{mean['score']:.2f}",
            "log loss": "" if None in losses else f"{np.mean(losses):.4f}",
            "seconds": f"{mean['seconds']:.2f}",
            "passes": " ".join(dict.fromkeys(str(line["passes"]) for line in found)),
        }


def _judged(who: Contestant, split: Split, score: Score) -> dict[str, Any]:
    """One fold: the parameter is chosen on a part of what is learnt, then all of it is learnt."""
    learn, check = (part.at(np.arange(len(part.groups))[:ENOUGH]) for part in split.learn.cut())
    chosen = max(who.grid, key=lambda at: score(who.make(at).fit(learn.X, learn.y), check))
    model = who.make(chosen)
    begin = time.perf_counter()
    model.fit(split.learn.X, split.learn.y)
    seconds = time.perf_counter() - begin
    return {
        "chosen": chosen,
        "score": score(model, split.judge),
        "log loss": mean_log_loss(model, split.judge),
        "seconds": seconds,
        "passes": _passes(model),
    }


def _passes(model: Any) -> int:
    """Evaluations of the whole training part: passes, or iterations of a batch solver."""
    return int(model.n_iter_) if hasattr(model, "n_iter_") else int(model.get_params()["passes"])

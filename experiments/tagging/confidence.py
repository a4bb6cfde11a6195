"""How well a tagger knows which of its tags are right: `confidence` and `predict_marginals`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Any

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score

from experiments.tagging.tasks import TASKS, Split, splits
from surelearn import SureTagger

NAMES = ("chunks", "chunks, words alone", "parts of speech", "chunks, 500 sentences")
#: Ends of the bins of the calibration table; the most tags are surest.
BINS = (0.0, 0.5, 0.7, 0.9, 0.95, 0.99, 0.999, 1.0)


def said(split: Split) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """What says how sure a tag is, its probabilities, and whether the tags are right."""
    tagger = SureTagger(random_state=0).fit(*split.learn)
    X = split.judge.X
    tags = flat(tagger.predict(X))
    right = np.array([a == b for a, b in zip(tags, flat(split.judge.y), strict=True)])
    yield "confidence", np.array(flat(tagger.confidence(X))), right
    yield "marginals", of_tags(tagger, X, tags), right
    tagger.calibrate(*known(tagger, split))
    yield "marginals, calibrated", of_tags(tagger, X, tags), right


def flat(sequences: list[list[Any]]) -> list[Any]:
    return list(chain.from_iterable(sequences))


def known(tagger: SureTagger, split: Split) -> tuple[list[Any], list[Any]]:
    """Held-out sentences whose labels all were learnt."""
    classes = set(tagger.classes_)
    pairs = [(x, y) for x, y in zip(*split.held, strict=True) if classes.issuperset(y)]
    return [x for x, _ in pairs], [y for _, y in pairs]


def of_tags(tagger: SureTagger, X: list[Any], tags: list[str]) -> np.ndarray:
    """Marginals of the tags that were given."""
    rows = flat(tagger.predict_marginals(X))
    return np.array([row[tag] for row, tag in zip(rows, tags, strict=True)])


def lines() -> Iterator[dict[str, Any]]:
    """Log loss of right or wrong, how well the two are told apart, and the calibration table."""
    for name in NAMES:
        for what, p, right in said(next(splits(TASKS[name]))):
            inside = np.clip(p, 1e-7, 1 - 1e-7)
            yield {
                "task": name,
                "what": what,
                "right %": f"{100 * right.mean():.2f}",
                "mean %": f"{100 * p.mean():.2f}",
                "log loss": f"{log_loss(right, inside):.4f}",
                "AUC": f"{roc_auc_score(right, p):.4f}",
                "calibration error %": f"{100 * calibration_error(p, right):.2f}",
                **dict(bins(p, right)),
            }


def places(p: np.ndarray) -> np.ndarray:
    """The bin of each probability."""
    return np.digitize(p, BINS[1:-1])


def bins(p: np.ndarray, right: np.ndarray) -> Iterator[tuple[str, str]]:
    """Tags and right ones of each bin."""
    for place, (low, high) in enumerate(pairwise(BINS)):
        mine = right[places(p) == place]
        shown = f"{len(mine)}: {100 * mine.mean():.1f} %" if len(mine) else "0"
        yield f"{low:g} to {high:g}", shown


def calibration_error(p: np.ndarray, right: np.ndarray) -> float:
    """Mean distance of what was said and what was right, over the bins by their tags."""
    at = places(p)
    return sum(abs(float((p - right)[at == place].sum())) for place in range(len(BINS) - 1)) / len(
        p
    )

"""How a learner is judged; must not know how it learnt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import log_loss

from experiments.batch.data import Part
from surelearn.evaluation import chunk_scores

Score = Callable[[Any, Part], float]


def accuracy(model: Any, part: Part) -> float:
    return float(100 * np.mean(model.predict(part.X) == part.y))


def f1(model: Any, part: Part) -> float:
    return 100 * chunk_scores(part.y, model.predict(part.X)).f1


def mean_log_loss(model: Any, part: Part) -> float | None:
    """Of a row's label, or of a token's tag; None for a learner without probabilities."""
    if isinstance(part.X, list):
        return _tag_loss(model, part)
    if not hasattr(model, "predict_proba"):
        return None
    return float(log_loss(part.y, model.predict_proba(part.X), labels=model.classes_))


def _tag_loss(model: Any, part: Part) -> float:
    """Mean of -log of the marginal of each right tag; one that the model does not know counts as
    the least marginal of its token."""
    found = [
        p.get(tag, min(p.values()))
        for marginals, tags in zip(model.predict_marginals(part.X), part.y, strict=True)
        for p, tag in zip(marginals, tags, strict=True)
    ]
    return float(-np.mean(np.log(np.maximum(found, 1e-300))))

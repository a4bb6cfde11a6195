"""Log loss of softmax with the weights' variances and without, on all sets of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.metrics import log_loss

from experiments import sets
from experiments.batch.data import Part, splits
from surelearn import SoftmaxClassifier

#: The default, and a prior that lets the weights fit more.
L2 = (1.0, 0.1)


def lines() -> Iterator[dict[str, Any]]:
    """A line for each set and penalty, from one fold in three."""
    for name in [*sets.TEXTS, *sets.DENSE]:
        split = next(splits(name))
        for l2 in L2:
            yield {"set": name, "l2": f"{l2:g}", **_figures(l2, split.learn, split.judge)}


def _figures(l2: float, learn: Part, judge: Part) -> dict[str, str]:
    model = SoftmaxClassifier(l2=l2, tol=1e-3).fit(learn.X, learn.y)
    found = {}
    for name, moderated in (("plain", False), ("moderated", True)):
        p = model.set_params(moderated=moderated).predict_proba(judge.X)
        found[f"log loss, {name}"] = f"{log_loss(judge.y, p, labels=model.classes_):.4f}"
        found[f"mean probability %, {name}"] = f"{100 * p.max(axis=1).mean():.2f}"
    right = np.mean(model.predict(judge.X) == judge.y)
    return {"accuracy %": f"{100 * right:.2f}", **found}

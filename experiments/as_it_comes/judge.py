"""The calibration error of probabilities; must not know who gave them."""

from __future__ import annotations

import numpy as np

BINS = 10


def calibration_error(p: np.ndarray, y: np.ndarray) -> float:
    """Mean distance of the probability of predictions and the share of right ones, in bins."""
    confidence, right = p.max(axis=1), p.argmax(axis=1) == y
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    parts = [bins == b for b in range(BINS) if (bins == b).any()]
    return float(
        sum(part.mean() * abs(right[part].mean() - confidence[part].mean()) for part in parts)
    )

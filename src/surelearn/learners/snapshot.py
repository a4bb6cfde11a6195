"""Copies of weights: at rest, for many shards to start from, and for learners of other kinds."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from surelearn.weights import Diagonal, Layout, Weights


class Snapshot:
    """Weights that are read and copied many times but never changed: their state, taken once."""

    def __init__(self, weights: Weights) -> None:
        self._kind = type(weights)
        self._state = weights.state()

    @property
    def prior(self) -> float:
        prior: float = self._state["prior"]
        return prior

    def state(self) -> dict[str, Any]:
        """As `Weights.state`; not to be changed."""
        return self._state

    def copy(self) -> Weights:
        """Weights that can be changed."""
        return self._kind.from_state(self._state)


def copied(weights: Any) -> Any:
    """Weights, or those of a snapshot, in other memory."""
    if isinstance(weights, Snapshot):
        return weights.copy()
    return None if weights is None else type(weights).from_state(weights.state())


def recast(weights: Diagonal, layout: Layout) -> Diagonal:
    """A copy with the parts of another layout, for a learner of another kind to go on with.

    The weights must have variances and no averages. Averages of the copy begin with its means.
    """
    state, K = weights.state(), weights.n_columns
    means, variances = state["cells"][:, :K], state["cells"][:, K:]
    parts = [means, *[variances] * layout.second_order, *[np.zeros_like(means)] * layout.averaged]
    cells = np.ascontiguousarray(np.concatenate(parts, axis=1), dtype=layout.dtype)
    return Diagonal.from_state({**state, "layout": asdict(layout), "cells": cells, "rounds": 0})

"""Copies of weights, also for learners of other kinds."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from surelearn.weights import Diagonal, Layout


def copied(weights: Any) -> Any:
    """Weights in other memory."""
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

"""Curves of accuracy by labels, made by hand."""

from __future__ import annotations

import numpy as np

from surelearn.active import Simulation

NOISE = np.linspace(-0.02, 0.02, 10)


def of(**curves):
    """A simulation of CW with these curves, tested at 2, 3, ... labels; all labels give 1."""
    made = {("CW", name): np.atleast_2d(curve) for name, curve in curves.items()}
    n_runs, n_points = next(iter(made.values())).shape
    return Simulation(range(2, 2 + n_points), made, {"CW": np.ones(n_runs)}, pool=[999] * n_runs)


def rising(slope, n_points=200, shifts=(0.0, 0.0)):
    """A line from 0.5 to at most 1 in several runs."""
    return np.array([np.clip(0.5 + slope * np.arange(n_points) + s, 0, 1) for s in shifts])

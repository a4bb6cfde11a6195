"""Two classes in plain numpy, as solvers call losses of the core; they know no more of them."""

from __future__ import annotations

import numpy as np
from scipy.special import expit


class TwoClassLoss:
    """Rows of +1 and -1: log loss log(1 + exp(-y w.x)) and hinge max(0, 1 - y w.x)."""

    def __init__(self, X, y, weight=None, stop_after=np.inf):
        self.X, self.y = X, y
        self.weight = np.ones(len(y)) if weight is None else weight
        self.n_weights = X.shape[1]
        self.calls, self.stop_after = 0, stop_after

    def _count(self):
        self.calls += 1
        if self.calls > self.stop_after:
            raise KeyboardInterrupt

    def log_loss(self, w, gradient, threads):
        self._count()
        m = self.y * (self.X @ w)
        gradient[:] = -(self.weight * self.y * expit(-m)) @ self.X
        return float(self.weight @ np.logaddexp(0, -m))

    def curvature(self, w, out, threads):
        p = 1 / (1 + np.exp(-(self.X @ w)))
        out[:] = (self.weight * p * (1 - p)) @ self.X**2

    def hinge_loss(self, w, cost, threads):
        return float(self.weight @ np.maximum(0, 1 - self.y * (self.X @ w)))

    def descend(self, kind, cost, w, average, state, order, l2):
        self._count()
        n = len(self.y)
        for i in order:
            state[0] += 1
            m = self.y[i] * (self.X[i] @ w)
            slope = float(m < 1) if kind == "hinge" else 1 / (1 + np.exp(m))
            step = 1 / (1 / state[1] + state[0] * l2 / n)
            w -= step * (l2 / n * w - self.weight[i] * slope * self.y[i] * self.X[i])
            average += 2 / (state[0] + 1) * (w - average)


class TwoClassMachine:
    """Block-coordinate Frank-Wolfe on the hinge of rows of +1 and -1."""

    def __init__(self, X, y, bound, weights, stop_after=np.inf):
        self.X, self.y, self.bound, self.weights = X, y, bound, weights
        self.alpha = np.zeros(len(y))
        self.visits, self.stop_after = 0, stop_after

    def _means(self, step=None):
        state = self.weights.state()
        means = self.weights.means[0].astype(float)
        if step is not None:
            second = self.weights.layout.second_order
            sigma = self.weights.variances[0] if second else np.ones_like(means)
            parts = [means + sigma * step, sigma] if second else [means + sigma * step]
            cells = np.stack(parts, 1)
            self.weights.core.restore(np.arange(len(means)), cells, state["rounds"])
        return means

    def visit(self, order):
        self.visits += 1
        if self.visits > self.stop_after:
            raise KeyboardInterrupt
        for i in order:
            g = self.y[i] * self.X[i]
            second = self.weights.layout.second_order
            v = g @ (self.weights.variances[0] * g) if second else g @ g
            loss = 1 - self._means() @ g
            new = np.clip(self.alpha[i] + loss / (self.bound[i] * v), 0, 1)
            self._means(self.bound[i] * (new - self.alpha[i]) * g)
            self.alpha[i] = new

    def values(self):
        hinge = np.maximum(0, 1 - self.y * (self.X @ self._means()))
        return float(self.bound @ hinge), float(self.bound @ self.alpha)


def two_classes(n=60, d=5, seed=0):
    """Rows that overlap, with a first feature of 1, and their labels."""
    random = np.random.default_rng(seed)
    y = np.where(random.random(n) < 0.4, 1.0, -1.0)
    X = random.normal(size=(n, d)) * 2.0 ** -np.arange(d) + 0.2 * y[:, None]
    X[:, 0] = 1.0
    return X, y


def orders(n, seed=0):
    """Random orders of n examples."""
    random = np.random.default_rng(seed)
    return lambda _: random.permutation(n)

"""Active learning played out on paper: dictionaries of features, one row at a time.

Dredze & Crammer 2008, sections 2 to 4, for two classes -1 and +1 and rows of {feature: value}.
"""

from __future__ import annotations

from math import sqrt

import numpy as np


class PassiveAggressive:
    """PA-I of Crammer et al. 2006: the smallest change that makes the margin 1, at most C."""

    def __init__(self, C):
        self.C, self.mu = C, {}

    def margin(self, x):
        return sum(self.mu.get(j, 0.0) * value for j, value in x.items())

    def learn(self, x, y):
        loss = max(0.0, 1.0 - y * self.margin(x))
        alpha = min(self.C, loss / sum(value**2 for value in x.values()))
        for j, value in x.items():
            self.mu[j] = self.mu.get(j, 0.0) + alpha * y * value


class ConfidenceWeighted:
    """CW Variance: the closed form of section 2 with a diagonal of precisions."""

    def __init__(self, phi):
        self.phi, self.mu, self.precision = phi, {}, {}

    def margin(self, x):
        return sum(self.mu.get(j, 0.0) * value for j, value in x.items())

    def variance(self, x):
        return sum(value**2 / self.precision.get(j, 1.0) for j, value in x.items())

    def learn(self, x, y):
        phi, m, v = self.phi, y * self.margin(x), self.variance(x)
        b = 1 + 2 * phi * m
        alpha = max(0.0, (-b + sqrt(b**2 - 8 * phi * (m - phi * v))) / (4 * phi * v))
        for j, value in x.items():
            sigma = 1 / self.precision.get(j, 1.0)
            self.mu[j] = self.mu.get(j, 0.0) + alpha * y * sigma * value
            self.precision[j] = 1 / sigma + 2 * alpha * phi * value**2


def score(model, x, strategy):
    """Small for a row to ask about."""
    m = abs(model.margin(x))
    return m if strategy == "margin" else m / sqrt(model.variance(x))


def curve(model, strategy, *, rows, y, pool, test, seed, n_labels):
    """Accuracy on the test rows after each label, from one row of each class on."""

    def accuracy():
        return sum((model.margin(rows[i]) > 0) == (y[i] > 0) for i in test) / len(test)

    known = sorted(pool.index(next(i for i in pool if y[i] == label)) for label in (-1, 1))
    for place in known:
        model.learn(rows[pool[place]], y[pool[place]])
    random = np.random.RandomState(seed)
    found = [accuracy()]
    while len(known) < n_labels:
        left = [place for place in range(len(pool)) if place not in known]
        if strategy == "random":
            order = random.permutation(len(pool)).tolist()
            best = next(place for place in order if place in left)
        else:
            best = min(left, key=lambda place: score(model, rows[pool[place]], strategy))
        known.append(best)
        model.learn(rows[pool[best]], y[pool[best]])
        found.append(accuracy())
    return found


def all_of(model, *, rows, y, pool, test):
    """Accuracy after one pass over the pool."""
    for i in pool:
        model.learn(rows[i], y[i])
    return sum((model.margin(rows[i]) > 0) == (y[i] > 0) for i in test) / len(test)

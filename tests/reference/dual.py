"""One binary problem in dual form, from plain kernel values; knows no estimator.

    mu = sum_p nu_p phi(x_p),    Sigma = a I + sum_pq Pi_pq phi(x_p) phi(x_q)'

over support points p, with kv_p = k(x_p, x) and kk = k(x, x):

    s = Pi kv,   m = y nu.kv,   v = a kk + kv.s,   (alpha, gain) = rule(m, v)
    t = s + a e_x,   nu <- nu + alpha y t,   Pi <- Pi - beta t t',   beta = gain / (1 + gain v)

where e_x is the entry of the row, a new one unless it is a support point.

References
----------
Crammer, Dredze & Pereira 2008, theorem 2 and eq. 16; the recursions and the removal are ours.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Step = Callable[[float, float], tuple[float, float]]


class Dual:
    """A binary problem learnt row by row.

    Parameters
    ----------
    prior : float
        Variance a of every weight at the start; first-order rules stay at 1.
    budget : int
        Most support points; 0: no limit.
    """

    def __init__(self, prior: float, *, second_order: bool = True, budget: int = 0) -> None:
        self.prior = prior if second_order else 1.0
        self.second_order = second_order
        self.budget = budget
        self.points: list[int] = []
        self.nu = np.zeros(0)
        self.pi = np.zeros((0, 0))
        self.c: dict[int, float] = {}
        self.gain: dict[int, float] = {}
        self.updates = 0
        self.removed: list[int] = []

    def moments(self, kv: np.ndarray, kk: float) -> tuple[float, float]:
        """Mean and variance of the score of a row; kv[p] is its kernel with point number p."""
        kv = kv[self.points]
        return float(self.nu @ kv), float(self.prior * kk + kv @ self.pi @ kv)

    def learn(self, step: Step, kv: np.ndarray, kk: float, *, number: int, y: int) -> None:
        """Learn the row with this point number."""
        mean, v = self.moments(kv, kk)
        alpha, gain = step(y * mean, v)
        if alpha <= 0 and gain <= 0:
            return
        self.updates += 1
        place = self._entry(number)
        t = self.pi @ kv[self.points]
        t[place] += self.prior
        self.nu = self.nu + alpha * y * t
        self.pi = self.pi - gain / (1 + gain * v) * np.outer(t, t)
        c = alpha * y * (1 + gain * v) + gain * mean
        self.c[number] = self.c.get(number, 0.0) + c
        self.gain[number] = self.gain.get(number, 0.0) + gain
        if self.budget and len(self.points) > self.budget:
            self.remove(self.dispensable())

    def dispensable(self) -> int:
        """The place of the support point that is removed beyond the budget.

        It is the one whose label the others are surest of: with its factor exp(c w.phi - gain
        (w.phi)^2 / 2) taken out, the largest |m| / sqrt(v), where the point counts half if m is on
        the other side than the c / gain that the factor asks for. Without variances, the oldest.
        """
        if not self.second_order:
            return 0
        own = -np.diag(self.pi)
        c, gain = (np.array([site[p] for p in self.points]) for site in (self.c, self.gain))
        if not (own > 0).all() or not (gain > 0).all():
            return int(np.argmin((own > 0) & (gain > 0)))
        m = c / gain - self.prior * self.nu / own
        spread = self.prior**2 / own
        v = np.maximum(spread - 1 / gain, np.finfo(float).eps * spread)
        return int(np.argmax(np.where(m * c > 0, 1.0, 0.5) * np.abs(m) / np.sqrt(v)))

    def remove(self, place: int) -> None:
        """Divide the factor of one support point out of the Gaussian.

        The last point takes its place; without variances, all stay in the order of their age.
        """
        rest = np.delete(np.arange(len(self.points)), place)
        if self.second_order:
            if place < len(rest):
                rest = np.insert(rest[:-1], place, rest[-1])
            column, own = self.pi[rest, place], self.pi[place, place]
            self.nu = self.nu[rest] - column * self.nu[place] / own
            self.pi = self.pi[np.ix_(rest, rest)] - np.outer(column, column) / own
        else:
            self.nu, self.pi = self.nu[rest], self.pi[np.ix_(rest, rest)]
        self.removed.append(self.points[place])
        self.c.pop(self.points[place])
        self.gain.pop(self.points[place])
        self.points = [self.points[p] for p in rest]

    def _entry(self, number: int) -> int:
        """The place of a point; a new one is added with coefficients 0."""
        if number not in self.points:
            self.points.append(number)
            self.nu = np.append(self.nu, 0.0)
            self.pi = np.pad(self.pi, (0, 1))
        return self.points.index(number)

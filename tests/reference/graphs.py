"""All labellings of a small graph, one by one, and a plain learner on them; knows no messages.

A labelling y has the score sum_i unary[i][y_i] + sum_e tables[e][y_a, y_b] with (a, b) the ends of
edge e. There are as many labellings as the product of the nodes' numbers of labels.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np

from .costs import MARGIN
from .tagger import NEAR, Cell, Difference, ReferenceTagger

Labelling = tuple[int, ...]


class Labellings:
    """Every labelling of a graph with its score, the best first; impossible ones are left out.

    Parameters
    ----------
    unary : list of arrays
        Scores of the labels of each node.
    edges : list of pairs
    tables : list of arrays
        Scores of pairs of labels, of each edge.
    evidence : dict of {node: label}, optional
    """

    def __init__(self, unary, edges, tables, evidence=None) -> None:
        self.unary = [np.asarray(own, np.float64) for own in unary]
        self.edges = [(int(a), int(b)) for a, b in edges]
        self.tables = [np.asarray(own, np.float64) for own in tables]
        known = evidence or {}
        every = itertools.product(
            *([known[i]] if i in known else range(len(own)) for i, own in enumerate(self.unary))
        )
        scored = {y: self.score(y) for y in every}
        possible = {y: s for y, s in scored.items() if s > -math.inf}
        self.ranked = sorted(possible, key=lambda y: (-possible[y], y))
        self.scores = np.array([possible[y] for y in self.ranked])

    def score(self, y: Labelling) -> float:
        """Score of one labelling."""
        parts = [self.unary[i][label] for i, label in enumerate(y)]
        parts += [t[y[a], y[b]] for (a, b), t in zip(self.edges, self.tables, strict=True)]
        return -math.inf if -math.inf in parts else math.fsum(parts)

    def best(self) -> Labelling:
        """The labelling of the largest score."""
        return self.ranked[0]

    def k_best(self, k: int) -> list[Labelling]:
        """The k best ones in order; all if there are fewer."""
        return self.ranked[:k]

    def best_wrong(self, y: Labelling) -> Labelling | None:
        """The best one that is not y."""
        return next((other for other in self.ranked if other != tuple(y)), None)

    def best_without(self, node: int, label: int) -> Labelling | None:
        """The best one that has another label at a node."""
        return next((other for other in self.ranked if other[node] != label), None)

    def max_marginals(self) -> list[np.ndarray]:
        """For each label of each node the best score with it, minus the best of all."""
        found = [np.full(len(own), -math.inf) for own in self.unary]
        for y, score in zip(self.ranked, self.scores, strict=True):
            for own, label in zip(found, y, strict=True):
                own[label] = max(own[label], score - self.scores[0])
        return found

    def log_partition(self) -> float:
        """Logarithm of the sum of exp(score) over all labellings."""
        top = self.scores[0]
        return float(top + math.log(math.fsum(np.exp(self.scores - top))))

    def distribution(self) -> dict[Labelling, float]:
        """Probability exp(score - log Z) of every possible labelling."""
        chances = np.exp(self.scores - self.log_partition())
        return dict(zip(self.ranked, chances.tolist(), strict=True))

    def marginals(self) -> list[np.ndarray]:
        """The probability of each label of each node."""
        found = [np.zeros(len(own)) for own in self.unary]
        for y, p in self.distribution().items():
            for own, label in zip(found, y, strict=True):
                own[label] += p
        return found

    def pair_marginals(self) -> list[np.ndarray]:
        """The probability of each pair of labels of each edge."""
        found = [np.zeros(t.shape) for t in self.tables]
        for y, p in self.distribution().items():
            for own, (a, b) in zip(found, self.edges, strict=True):
                own[y[a], y[b]] += p
        return found


class Example(NamedTuple):
    """A graph with features: a vector for each node, and one for each edge."""

    nodes: np.ndarray
    edges: list[tuple[int, int]]
    pairs: np.ndarray  # of shape (n_edges, n_edge_features), without the constant one


class ReferenceGraphLearner(ReferenceTagger):
    """Gaussian weights learnt graph by graph: the update of `ReferenceTagger` on other features.

    A cell is ("node", feature, label), the feature None being there at every node with the value 1,
    or ("pair", feature, label, label), the feature None being there at every edge. If not directed,
    the two labels of a pair are sorted.
    """

    def __init__(self, *args, directed: bool = True, **options) -> None:
        super().__init__(*args, **options)
        self.directed = directed

    def touched(self, x: Example, y: Labelling) -> list[tuple[Cell, float]]:
        """Cells and values of Psi(x, y), node by node, then edge by edge."""
        cells: list[tuple[Cell, float]] = []
        for row, label in zip(x.nodes, y, strict=True):
            cells += [(("node", f, label), float(value)) for f, value in enumerate(row) if value]
            cells.append((("node", None, label), 1.0))
        for (a, b), row in zip(x.edges, x.pairs, strict=True):
            i, j = (y[a], y[b]) if self.directed else sorted((y[a], y[b]))
            cells.append((("pair", None, i, j), 1.0))
            cells += [(("pair", f, i, j), float(value)) for f, value in enumerate(row) if value]
        return cells

    def _difference(self, x: Example, y: Labelling, rival: Labelling) -> Difference:
        """g = Psi(x, y) - Psi(x, rival) without its zeros."""
        g: dict[Cell, float] = {}
        for sign, own in ((1.0, y), (-1.0, rival)):
            for cell, value in self.touched(x, own):
                g[cell] = g.get(cell, 0.0) + sign * value
        return {cell: value for cell, value in g.items() if value != 0}

    def labellings(self, x: Example, mean: dict[Cell, float], cost_of=None) -> Labellings:
        """All labellings by their scores; with `cost_of`, 1 is added for each wrong label."""
        K = self.n_labels
        unary = np.zeros((len(x.nodes), K))
        for i, j in np.ndindex(unary.shape):
            alone = Example(x.nodes[[i]], [], np.zeros((0, 0)))
            unary[i, j] = sum(mean.get(c, 0.0) * v for c, v in self.touched(alone, (j,)))
        if cost_of is not None:
            unary += 1.0
            unary[np.arange(len(unary)), list(cost_of)] -= 1.0
        tables = np.zeros((len(x.edges), K, K))
        for e, i, j in np.ndindex(tables.shape):
            none = np.zeros((2, 0))
            pair = Example(none, [(0, 1)], x.pairs[[e]])
            cells = [cell for cell in self.touched(pair, (i, j)) if cell[0][0] == "pair"]
            tables[e, i, j] = sum(mean.get(c, 0.0) * v for c, v in cells)
        return Labellings(unary, x.edges, tables)

    def predict(self, x: Example) -> Labelling:
        """The best labelling by the mean."""
        return self.labellings(x, self.mean()).best() if len(x.nodes) else ()

    def margin(self, x: Example) -> list[tuple[float, float]]:
        """Mean and variance of the lead of each node's label over the best labelling without it."""
        found, mean = self.labellings(x, self.mean()), self.mean()
        best, leads = found.best(), []
        for node, label in enumerate(best):
            g = self._difference(x, best, found.best_without(node, label))
            sigma = self._variances(g)
            m = math.fsum(mean.get(cell, 0.0) * value for cell, value in g.items())
            leads.append((m, math.fsum(sigma[cell] * value**2 for cell, value in g.items())))
        return leads

    def _rivals(self, x: Example, y: Labelling):
        """The rivals, whether the best labelling is wrong, and whether rounding may have a say."""
        plain = self.labellings(x, self.mu)
        tie, mistake = _is_near(plain, 1), plain.best() != y
        if self.rule == "perceptron" and not mistake:
            return [], mistake, tie
        augments = self.rule in MARGIN
        found = self.labellings(x, self.mu, cost_of=y) if augments else plain
        tie |= _is_near(found, self.k + 1)
        if self.k == 1 and augments and found.best() == y:
            return [], mistake, tie
        return [other for other in found.ranked if other != y][: self.k], mistake, tie


def _is_near(found: Labellings, k: int) -> bool:
    """Whether rounding, or the order of equal scores, may decide which are the k best, in order."""
    gaps = -np.diff(found.scores[: k + 1])
    return bool((gaps <= NEAR * (1.0 + np.abs(found.scores[0]))).any())

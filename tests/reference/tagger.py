"""A plain learner of label sequences: weights in dictionaries, paths by enumeration.

A cell is the name of one weight: ("emission", feature, label), ("start", label), ("end", label) or
("transition", pair feature, previous label, label), where the pair feature None is there at every
step with the value 1.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from .chain import Path, Paths, augmented, hamming
from .costs import CONFIDENCE, MARGIN, at_cost
from .rules import FIRST_ORDER, weighted

Cell = tuple[Hashable, ...]
Features = dict[str, float]
Difference = dict[Cell, float]

# How near two numbers are, as a part of the terms they are summed from, for rounding to decide.
NEAR = 1e-9

# Numbers that are multiples of 1 / GRAIN and below GRAIN have sums that no order rounds.
GRAIN = 2.0**24


class Sentence(NamedTuple):
    """Features of the tokens, and of the step to each token from the one before.

    ``pairs`` is empty, or has one entry for each token; its first entry is not looked at.
    """

    tokens: list[Features]
    pairs: Sequence[Features] = ()


def joint_features(x: Sentence, path: Path) -> Difference:
    """Psi(x, path): the value of every cell that the path touches, summed over the tokens."""
    psi: defaultdict[Cell, float] = defaultdict(float)
    for cell, value in _touched(x, path):
        psi[cell] += value
    return dict(psi)


def difference(x: Sentence, y: Path, rival: Path) -> Difference:
    """g = Psi(x, y) - Psi(x, rival) without its zeros."""
    right, wrong = joint_features(x, y), joint_features(x, rival)
    g = {cell: right.get(cell, 0.0) - wrong.get(cell, 0.0) for cell in {**right, **wrong}}
    return {cell: value for cell, value in g.items() if value != 0}


def _touched(x: Sentence, path: Path) -> list[tuple[Cell, float]]:
    """Cells and values token by token, in an order that is the same for every path."""
    cells: list[tuple[Cell, float]] = [(("start", path[0]), 1.0), (("end", path[-1]), 1.0)]
    for t, label in enumerate(path):
        cells += [(("emission", name, label), value) for name, value in x.tokens[t].items()]
    for t, (i, j) in enumerate(itertools.pairwise(path), start=1):
        pairs = {None: 1.0, **(x.pairs[t] if x.pairs else {})}
        cells += [(("transition", name, i, j), value) for name, value in pairs.items()]
    return cells


class ReferenceTagger:
    """Gaussian weights learnt sequence by sequence.

    With g = Psi(x, y) - Psi(x, rival), m = mu.g and v = sum_j sigma_j g_j^2 the rule's
    (alpha, gain) moves

        mu_j <- mu_j + alpha sigma_j g_j                                (sigma before the update)
        precision:   sigma_j <- sigma_j / (1 + gain a_j),   a_j = sigma_j g_j^2
        covariance:  sigma_j <- sigma_j (1 - beta a_j),     beta = gain / (1 + gain v)

    Margin rules take as rivals the best wrong paths by score plus the number of wrong tags, and ask
    for a margin of that number. All others take the best wrong paths by score. The perceptron
    leaves a sequence alone whose best path is right.

    Parameters
    ----------
    rule : str
        A name of ``rules.REGISTRY``.
    params : dict
        The rule's parameters.
    n_labels : int
        Labels are 0 to n_labels - 1. May be raised at any time.
    initial_variance : float
        Variance of every weight at the start; first-order rules stay at 1.
    projection : {"precision", "covariance"}
        Which off-diagonal part is dropped.
    average : bool
        Whether ``mean`` gives the average over the zero start and all rounds.
    k : int
        Rivals taken one after another, in the order of their scores at the start of the round.

    Attributes
    ----------
    mu, sigma : dict
        Mean and variance of the cells touched so far.
    mistakes : int
        Sequences whose best path was not theirs before the update.
    updates : int
        Sequences that moved anything.
    ties : int
        Sequences in which rounding may decide the best path, or which rivals are taken and in
        which order.
    close_calls : int
        Sequences in which rounding may decide whether the rule moves.

    References
    ----------
    Crammer, Dredze & Kulesza 2009, sec. 5.2, 6.3 and 8; Collins 2002 for the perceptron.
    """

    def __init__(
        self,
        rule: str,
        params: dict[str, float],
        n_labels: int,
        *,
        initial_variance: float = 1.0,
        projection: str = "precision",
        average: bool = False,
        k: int = 1,
    ) -> None:
        self.rule = rule
        self.params = dict(params)
        self.n_labels = n_labels
        self.initial_variance = 1.0 if rule in FIRST_ORDER else initial_variance
        self.projection = projection
        self.average = average
        self.k = k
        self.mu: dict[Cell, float] = {}
        self.sigma: dict[Cell, float] = {}
        self.mistakes = self.updates = self.ties = self.close_calls = 0
        # Sum over the zero start and the mean after each round.
        self._total: defaultdict[Cell, float] = defaultdict(float)
        self._count = 1

    def learn(self, x: Sentence, y: Path, weight: float = 1.0) -> None:
        """Learn one sequence; an empty one, or one of weight 0, is as if it had never come.

        Raises
        ------
        FloatingPointError
            If the update would make a variance zero or any number non-finite. Nothing is changed.
        """
        y = tuple(y)
        if weight == 0 or not y or self.n_labels == 1:
            return
        rivals, mistake, tie = self._rivals(x, y)
        before = dict(self.mu), dict(self.sigma)
        close = moved = False
        for rival in rivals:
            g, params = self._difference(x, y, rival), self._params_for(hamming(y, rival))
            close |= self._is_close(g, params)
            moved |= self._step(g, params, weight)
            if not self._is_sound(g):
                self.mu, self.sigma = before
                raise FloatingPointError(f"{self.rule} left a weight without a variance.")
        self.mistakes += mistake
        self.updates += moved
        self.ties += tie
        self.close_calls += close
        for cell, mean in self.mu.items():
            self._total[cell] += mean
        self._count += 1

    def mean(self) -> dict[Cell, float]:
        """Mean of the cells; with ``average`` its average over the zero start and all rounds."""
        if not self.average:
            return dict(self.mu)
        return {cell: total / self._count for cell, total in self._total.items()}

    def scores(self, x: Sentence, mean: dict[Cell, float]) -> tuple[np.ndarray, np.ndarray]:
        """U of shape (T, K), with start and end in it, and A of shape (T - 1, K, K)."""
        T, K = len(x.tokens), self.n_labels
        U, A = np.zeros((T, K)), np.zeros((max(0, T - 1), K, K))
        for t, j in np.ndindex(U.shape):
            U[t, j] = _dot(mean, {("emission", f, j): value for f, value in x.tokens[t].items()})
        U[0] += [mean.get(("start", j), 0.0) for j in range(K)]
        U[-1] += [mean.get(("end", j), 0.0) for j in range(K)]
        for t, i, j in np.ndindex(A.shape):
            pairs = {None: 1.0, **(x.pairs[t + 1] if x.pairs else {})}
            A[t, i, j] = _dot(mean, {("transition", p, i, j): v for p, v in pairs.items()})
        return U, A

    def predict(self, x: Sentence) -> Path:
        """The best path by the mean."""
        return Paths(*self.scores(x, self.mean())).best() if x.tokens else ()

    def _rivals(self, x: Sentence, y: Path) -> tuple[list[Path], bool, bool]:
        """The rivals, whether the best path is wrong, and whether rounding may have a say."""
        U, A = self.scores(x, self.mu)
        plain = Paths(U, A)
        tie = _may_swap([self._terms(x, path) for path in plain.ranked], 1)
        mistake = plain.best() != y
        if self.rule == "perceptron" and not mistake:
            return [], mistake, tie
        cost = 1 if self.rule in MARGIN else 0
        paths = Paths(augmented(U, y), A) if cost else plain
        wrong = paths.k_best_wrong(y, len(paths.ranked))
        ranked = [self._terms(x, path) + _costs(y, path, cost) for path in wrong]
        # The second best alone is looked for from both ends, which sums the same terms otherwise.
        second = self.k == 1 and paths.best() == y
        tie |= _may_swap(ranked, self.k, in_order=not second)
        return [paths.best_wrong(y)] if self.k == 1 else wrong[: self.k], mistake, tie

    def _difference(self, x: Sentence, y: Path, rival: Path) -> Difference:
        """g of a path and a rival."""
        return difference(x, y, rival)

    def _params_for(self, cost: int) -> dict[str, float]:
        """The rule's parameters for a rival with so many wrong tags."""
        return at_cost(self.rule, self.params, cost) if self.rule in MARGIN else self.params

    def _step(self, g: Difference, params: dict[str, float], weight: float) -> bool:
        """Move the weights along g as the rule says; tell whether it does."""
        sigma = self._variances(g)
        shares = {cell: sigma[cell] * value**2 for cell, value in g.items()}
        m, v = _dot(self.mu, g), math.fsum(shares.values())
        a = np.array(list(shares.values()))
        alpha, gain = weighted(self.rule, m, v, weight, a, **params)
        if not (alpha > 0 or gain > 0):
            return False
        for cell, value in g.items():
            self.mu[cell] = self.mu.get(cell, 0.0) + alpha * sigma[cell] * value
            self.sigma[cell] = sigma[cell] * self._shrink(cell, shares, gain)
        return True

    def _variances(self, g: Difference) -> dict[Cell, float]:
        """Variances of the cells of g."""
        return {cell: self.sigma.get(cell, self.initial_variance) for cell in g}

    def _shrink(self, cell: Cell, shares: dict[Cell, float], gain: float) -> float:
        """Factor on a variance."""
        if self.projection == "precision":
            return 1 / (1 + gain * shares[cell])
        # 1 - beta a_j = (1 + gain (v - a_j)) / (1 + gain v), which does not cancel.
        others = math.fsum(a for other, a in shares.items() if other != cell)
        return (1 + gain * others) / (1 + gain * math.fsum(shares.values()))

    def _is_sound(self, g: Difference) -> bool:
        """Whether all that a step along g may have moved is finite and has a variance."""
        means = [self.mu.get(cell, 0.0) for cell in g]
        variances = self._variances(g).values()
        finite = all(math.isfinite(number) for number in (*means, *variances))
        return finite and all(sigma > 0 for sigma in variances)

    def _terms(self, x: Sentence, path: Path) -> list[float]:
        """What the score of a path is summed from."""
        return [self.mu.get(cell, 0.0) * value for cell, value in _touched(x, path)]

    def _is_close(self, g: Difference, params: dict[str, float]) -> bool:
        """Whether m is within rounding of where the rule begins to move."""
        terms = [self.mu.get(cell, 0.0) * value for cell, value in g.items()]
        sigma = self._variances(g)
        v = math.fsum(sigma[cell] * value**2 for cell, value in g.items())
        edge = _edge(self.rule, params, v)
        if _is_exact([*terms, edge]):
            return False
        size = math.fsum(abs(term) for term in terms) + edge
        return abs(math.fsum(terms) - edge) <= NEAR * size


def _edge(rule: str, params: dict[str, float], v: float) -> float:
    """The margin at which a rule begins to move; probit always does."""
    if rule in MARGIN:
        return params["margin"]
    if rule in CONFIDENCE:
        return params["phi"] * (v if rule.startswith("variance") else math.sqrt(v))
    return -math.inf if rule == "probit" else 0.0


def _costs(y: Path, path: Path, cost: int) -> list[float]:
    """What each tag of a path adds to its score."""
    return [float(cost * (a != b)) for a, b in zip(y, path, strict=True)]


def _may_swap(ranked: list[list[float]], k: int, *, in_order: bool = True) -> bool:
    """Whether rounding may put one of the first k sums after another one."""
    return any(
        _is_tie(one, two, in_order)
        for rank, one in enumerate(ranked[:k])
        for two in ranked[rank + 1 :]
    )


def _is_tie(left: list[float], right: list[float], in_order: bool) -> bool:
    """Whether two sums are the same to within rounding.

    Sums of the same terms in the same order are the same anyhow, and so are sums that nothing
    rounds.
    """
    size = math.fsum(abs(term) for term in left + right)
    near = abs(math.fsum(left) - math.fsum(right)) <= NEAR * size
    return near and not (in_order and left == right) and not _is_exact(left + right)


def _dot(mean: dict[Cell, float], g: Difference) -> float:
    return math.fsum(mean.get(cell, 0.0) * value for cell, value in g.items())


def _is_exact(terms: list[float]) -> bool:
    """Whether no order of summation rounds."""
    return all(abs(term) < GRAIN and float(term * GRAIN).is_integer() for term in terms)

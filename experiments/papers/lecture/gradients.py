"""Probabilities and gradients of softmax and CRF, as the lecture derives and as it prints them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import expit, log_softmax, softmax
from sklearn.datasets import load_iris

from experiments.papers.entry import Case, Claim, Entry, Row, Rows
from experiments.papers.lecture.enumeration import Array, Enumerated, path_edges
from experiments.papers.lecture.identity import identity
from surelearn import SoftmaxClassifier, SureClassifier
from surelearn.decode import Chain

#: Step of finite differences, and what they are off by.
STEP, NEAR = 1e-5, 1e-7
#: Weight of the squares in the loss of the CRF.
PENALTY = 0.1

Trial = Callable[[np.random.Generator], float]


def slope(f: Callable[[Array], float], at: Array) -> Array:
    """The gradient by central differences."""
    found = np.empty_like(at)
    for place in np.ndindex(*at.shape):
        step = np.zeros_like(at)
        step[place] = STEP
        found[place] = (f(at + step) - f(at - step)) / (2 * STEP)
    return found


# ------------------------------------------------------------------------- softmax


def sigmoid(random: np.random.Generator) -> float:
    """1 - f(x) = sigmoid(-z) (eq. 2)."""
    z = random.normal(scale=5, size=20)
    return float(np.abs(1 - expit(z) - 1 / (1 + np.exp(z))).max())


def softmax_gradient(random: np.random.Generator) -> float:
    """The gradient of the log loss in the scores is f - y."""
    z, y = random.normal(scale=2, size=6), int(random.integers(6))
    found = slope(lambda z: -float(log_softmax(z)[y]), z)
    return float(np.abs(found - (softmax(z) - np.eye(6)[y])).max())


def optimum(random: np.random.Generator) -> float:
    """At the minimum of `SoftmaxClassifier` the sum of (f - y) x balances the penalty."""
    X, y = load_iris(return_X_y=True)
    model = SoftmaxClassifier(l2=1.0, tol=1e-12, fit_intercept=False).fit(X, y)
    scores = X @ model.coef_.T
    pull = (softmax(scores, axis=1) - np.eye(3)[y]).T @ X
    return float(np.abs(pull + model.coef_).max())


def printed_softmax(random: np.random.Generator) -> float:
    """Eq. 3 as printed, exp(w.x) + b over the sum of exp(w.x + b): how far it sums from 1."""
    z, b = random.normal(size=6), random.normal(size=6)
    return float(abs(np.sum(np.exp(z) + b) / np.sum(np.exp(z + b)) - 1))


def perceptron(random: np.random.Generator) -> float:
    """The lecture's multi-class perceptron, line by line, against ours."""
    X, y = random.normal(size=(60, 4)), random.integers(3, size=60)
    y[:4] = (1, 0, 2, 0)  # the first scores tie: an argmax is then a matter of taste
    weights = np.zeros((3, 4))
    for _ in range(3):
        for x, label in zip(X, y, strict=True):
            guess = int((weights @ x).argmax())
            if guess != label:
                weights[label] += x
                weights[guess] -= x
    ours = SureClassifier(
        "perceptron", passes=3, shuffle=False, fit_intercept=False, dtype="float64", scale=False
    ).fit(X, y)
    return float(np.abs(ours.coef_ - weights).max())


# ----------------------------------------------------------------------------- CRF


class Crf:
    """A chain CRF on one random sentence: features of labels and of pairs of labels."""

    def __init__(self, random: np.random.Generator) -> None:
        length, n_labels, d = 4, 3, 2
        self.X = random.normal(size=(length, d))
        self.y = random.integers(n_labels, size=length)
        self.w = random.normal(size=(n_labels, d + n_labels))  # of words, then of the label before

    def chain(self, w: Array) -> Chain:
        d = self.X.shape[1]
        return Chain(self.X @ w[:, :d].T, w[:, d:].T)

    def loss(self, w: Array) -> float:
        """The penalised log loss of the sentence."""
        chain = self.chain(w)
        return chain.log_partition() - chain.score(self.y) + PENALTY / 2 * float(np.sum(w * w))

    def features(self, labels: Array, pairs: Array) -> Array:
        """Sums over positions of features, by how often each label and pair of labels occurs."""
        return np.concatenate([labels.T @ self.X, pairs.sum(axis=0).T], axis=1)

    def observed(self) -> Array:
        hot = np.eye(len(self.w))[self.y]
        return self.features(hot, hot[:-1, :, None] * hot[1:, None, :])

    def expected(self) -> Array:
        chain = self.chain(self.w)
        return self.features(chain.marginals(), chain.pair_marginals())

    def gradient(self) -> Array:
        return self.expected() - self.observed() + PENALTY * self.w


def pairs(random: np.random.Generator) -> float:
    """d log Z / dA is the sum of the probabilities of pairs."""
    U, A = random.normal(size=(5, 3)), random.normal(size=(3, 3))
    found = slope(lambda A: Chain(U, A).log_partition(), A)
    return float(np.abs(found - Chain(U, A).pair_marginals().sum(axis=0)).max())


def crf_gradient(random: np.random.Generator) -> float:
    """Expected features less observed ones, and the penalty."""
    crf = Crf(random)
    return float(np.abs(slope(crf.loss, crf.w) - crf.gradient()).max())


def printed_gradient(random: np.random.Generator) -> float:
    """Eq. 25 and 26 as printed: observed features and penalty summed over all k."""
    crf = Crf(random)
    printed = crf.expected() - crf.observed().sum() + PENALTY * crf.w.sum()
    return float(np.abs(slope(crf.loss, crf.w) - printed).max())


def printed_expectation(random: np.random.Generator) -> float:
    """Eq. 30 as printed: probabilities of pairs, summed over whole sequences y'."""
    crf = Crf(random)
    chain = crf.chain(crf.w)
    steps = np.broadcast_to(chain.A, (len(crf.y) - 1, *chain.A.shape[1:]))
    every = Enumerated.of(chain.U, steps, path_edges(len(crf.y)))
    p = chain.pair_marginals()
    printed = np.zeros_like(chain.A[0])
    for path in every.labels:
        for t, (i, j) in enumerate(pairwise(path)):
            printed[i, j] += p[t, i, j]
    return float(np.abs(printed - p.sum(axis=0)).max())


# --------------------------------------------------------------------------- pages

TRIALS: dict[str, tuple[Trial, str, float, str]] = {
    "sigmoid": (sigmoid, "The other class has probability sigmoid(-z) (eq. 2).", 1e-12, ""),
    "softmax": (
        softmax_gradient, "The gradient of the log loss in the scores is f - y.", NEAR, ""),
    "optimum": (
        optimum, "So (f - y) x balances the penalty where `SoftmaxClassifier` stops.", 1e-4, ""),
    "eq. 3": (
        printed_softmax, "Eq. 3 as printed is a distribution.", NEAR,
        "It adds b outside of the exponential: exp(w.x) + b. With exp(w.x + b) it is one."),
    "perceptron": (
        perceptron, "The multi-class perceptron of the lecture is `SureClassifier`'s.", 1e-9, ""),
    "pairs": (
        pairs, "The gradient of log Z in the scores of pairs is their probability.", NEAR, ""),
    "CRF": (
        crf_gradient, "The gradient of the CRF is expected less observed features, and the "
        "penalty.", NEAR, ""),
    "eq. 25, 26": (
        printed_gradient, "Eq. 25 and 26 as printed are that gradient.", NEAR,
        "They sum observed features and penalties over all k; no sum over k belongs there."),
    "eq. 30": (
        printed_expectation, "Eq. 30 as printed is the expectation of a feature.", NEAR,
        "It sums over whole sequences y'; the sum is over pairs of labels."),
}  # fmt: skip


def cases(quick: bool) -> dict[str, Case]:
    """Each identity on random draws."""
    return {name: partial(_largest, name, 10 if quick else 100) for name in TRIALS}


def _largest(name: str, n: int) -> Rows:
    random = np.random.default_rng(0)
    n = 1 if name == "optimum" else n
    return [{"name": name, "draws": n, "apart": max(TRIALS[name][0](random) for _ in range(n))}]


def tables(rows: Rows) -> dict[str, Rows]:
    """Largest differences."""
    return {"Largest differences": [_line(row) for row in rows]}


def _line(row: Row) -> dict[str, Any]:
    text = TRIALS[row["name"]][1]
    return {"": text, "draws": row["draws"], "largest difference": f"{row['apart']:.1e}"}


def claims(rows: Rows) -> tuple[Claim, ...]:
    """What the lecture derives holds; three equations are misprinted."""
    found = []
    for row in rows:
        _, text, within, note = TRIALS[row["name"]]
        where = f"{row['draws']} draws" if row["draws"] > 1 else "one fit"
        found.append(identity(text, row["apart"], where, within=within, note=note))
    return tuple(found)


ENTRY = Entry(
    name="lecture-gradients",
    title="Probabilities and gradients of softmax and CRF, derived and as printed",
    cases=cases,
    tables=tables,
    claims=claims,
    notes="Gradients are compared with central differences on random scores and sentences. Three "
    "equations of the lecture are misprinted: what it derives holds, what it prints does not.",
)

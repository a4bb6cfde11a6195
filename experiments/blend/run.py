"""Is the average of tuned candidates better than the best of them? See README.md.

Writes result.csv beside this file.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments import sets
from surelearn import SureClassifier, rules
from surelearn.probability import fit_temperature, label_probabilities

HERE = Path(__file__).parent
SETS = (
    "20 Newsgroups",
    "Amazon domains",
    "Reuters R52",
    "Stack Overflow titles",
    "Amazon books",
    "Amazon electronics",
    "Amazon reviews",
    "Sentiment140",
    "digits",
    "breast cancer",
)
#: Second-order candidates, as in `tune`: first-order ones have no probabilities.
CANDIDATES = (
    *(rules.AROW(r=r) for r in (0.1, 1.0, 10.0, 100.0)),
    *(rules.Variance(phi=phi) for phi in (0.03, 0.1, 0.3, 1.0)),
    *(rules.Stdev(phi=phi) for phi in (0.1, 0.3, 1.0)),
    *(rules.Probit(noise=noise) for noise in (1.0, 10.0, 100.0)),
    rules.SCW1(phi=1.0, C=0.1),
    rules.SCW2(phi=1.0, C=0.1),
    rules.NHERD(C=0.1),
)
PASSES = (1, 5)
#: Stretches of the first pass, each judged before it is learnt, and rows of each to look at.
BLOCKS = 12
LOOKED_AT = 300
#: No row counts for more than this: one sure mistake shall not decide.
FLOOR = 1e-6
MOST_ROWS = 30_000


class Data(NamedTuple):
    """Rows to learn, to calibrate and to judge."""

    learn: tuple[Any, np.ndarray]
    calibrate: tuple[Any, np.ndarray]
    judge: tuple[Any, np.ndarray]


class Member(NamedTuple):
    """One candidate: what it did in the first pass, and its probabilities for the judged rows."""

    mistakes: int
    losses: np.ndarray  # of the rows looked at, before they were learnt
    p: dict[int, np.ndarray]  # by passes


def data_of(name: str) -> Data:
    """A fifth to judge, a tenth of the rest to calibrate after several passes."""
    X, y, groups = sets.rows(name)
    places = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    rest, judge = sets.cut(places, groups[places], 0.2)
    learn, calibrate = sets.cut(rest, groups[rest], 0.1)
    known = np.unique(y[learn])
    parts = [rows[np.isin(y[rows], known)] for rows in (learn, calibrate, judge)]
    matrices = [X[rows] for rows in parts]
    if name in sets.DENSE:
        matrices = list(sets.standardised(*matrices))
    return Data(*((A, y[rows]) for A, rows in zip(matrices, parts, strict=True)))


def member_of(rule: rules.Rule, data: Data) -> Member | None:
    """One candidate, unless it meets a row that would leave it without usable weights."""
    try:
        return _learnt(rule, data)
    except ValueError as error:
        print(f"{rule} is left out: {error}")
        return None


def _learnt(rule: rules.Rule, data: Data) -> Member:
    """One candidate says and learns, once; then it learns as often as it likes."""
    clf = SureClassifier(rule, random_state=0, passes=1, scale=False)
    losses, tau = _first_pass(clf, data.learn)
    p = {1: _probabilities(clf, data.judge[0], tau)}
    for passes in PASSES[1:]:
        many = SureClassifier(rule, random_state=0, passes=passes, scale=False).fit(*data.learn)
        mean, variance = many.margin(data.calibrate[0])
        tau = fit_temperature(mean, variance, np.searchsorted(many.classes_, data.calibrate[1]))
        p[passes] = _probabilities(many, data.judge[0], tau)
    return Member(int(clf.mistakes_.sum()), losses, p)


def _first_pass(clf: SureClassifier, rows: tuple[Any, np.ndarray]) -> tuple[np.ndarray, float]:
    """Losses of rows before they are learnt, with the temperature of those before; the last one."""
    X, y = rows
    order = np.random.RandomState(0).permutation(len(y))
    places = np.searchsorted(np.unique(y), y)
    losses, seen, tau = [], [], 1.0
    first, *blocks = np.array_split(order, BLOCKS)
    clf.partial_fit(X[first], y[first], classes=np.unique(y))
    for block in blocks:
        looked = block[:LOOKED_AT]
        mean, variance = clf.margin(X[looked])
        if seen:  # without one before there is no temperature
            p = label_probabilities(mean, tau**2 * variance)[np.arange(len(looked)), places[looked]]
            losses.append(-np.log(np.maximum(p, FLOOR)))
        seen = [*seen[-2:], (mean, variance, places[looked])]
        tau = fit_temperature(*(np.concatenate(part) for part in zip(*seen, strict=True)))
        clf.partial_fit(X[block], y[block])
    return np.concatenate(losses), tau


def _probabilities(clf: SureClassifier, X: Any, tau: float) -> np.ndarray:
    mean, variance = clf.margin(X)
    return label_probabilities(mean, tau**2 * variance)


def blends(members: list[Member]) -> dict[str, np.ndarray]:
    """Weights of the members in every way to join them."""
    loss = np.array([member.losses.mean() for member in members])
    mistakes = np.array([member.mistakes for member in members])
    rank = np.argsort(np.argsort(loss, kind="stable"))
    return {
        "fewest mistakes": _share(np.arange(len(members)) == mistakes.argmin()),
        "least log loss": _share(rank == 0),
        "exp(-100 mean loss)": _share(np.exp(-100 * (loss - loss.min()))),
        "exp(-10 mean loss)": _share(np.exp(-10 * (loss - loss.min()))),
        "best three": _share(rank < 3),
        "best five": _share(rank < 5),
        "stacked": _stacked(members),
        "all": _share(np.ones(len(members))),
    }


def _share(weight: np.ndarray) -> np.ndarray:
    return weight / weight.sum()


def _stacked(members: list[Member]) -> np.ndarray:
    """The mixture that makes the labels of the first pass most likely, by EM."""
    p = np.exp(-np.stack([member.losses for member in members]))
    weight = np.full(len(p), 1 / len(p))
    for _ in range(300):
        weight = (weight[:, None] * p / (weight @ p)).mean(axis=1)
    return weight


def lines_of(name: str, data: Data) -> list[dict[str, Any]]:
    """One line for each number of passes and way to join."""
    tried = (member_of(rule, data) for rule in CANDIDATES)
    members = [member for member in tried if member is not None]
    places = np.searchsorted(np.unique(data.learn[1]), data.judge[1])
    lines = []
    for passes in PASSES:
        base = None
        for how, weight in blends(members).items():
            p = np.tensordot(weight, np.stack([member.p[passes] for member in members]), 1)
            right = p.argmax(axis=1) == places
            loss = -np.log(np.maximum(p[np.arange(len(places)), places], FLOOR))
            base = (right, loss) if base is None else base
            lines.append(
                {
                    "set": name,
                    "classes": p.shape[1],
                    "judged": len(places),
                    "passes": passes,
                    "joined": how,
                    "members": f"{1 / (weight**2).sum():.1f}",
                    "accuracy %": f"{100 * right.mean():.2f}",
                    "more than the winner": _difference(right, base[0], 100),
                    "log loss": f"{loss.mean():.4f}",
                    "less than the winner": _difference(base[1], loss, 1),
                }
            )
            print("  ".join(str(cell) for cell in lines[-1].values()), flush=True)
    return lines


def _difference(a: np.ndarray, b: np.ndarray, scale: float) -> str:
    """Mean of a - b, row by row, and its standard error."""
    d = scale * (a.astype(float) - b)
    return f"{d.mean():+.3f} ± {d.std() / np.sqrt(len(d)):.3f}"


def main() -> None:
    lines: list[dict[str, Any]] = []
    for name in SETS:
        lines += lines_of(name, data_of(name))
        with (HERE / "result.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, lines[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)


if __name__ == "__main__":
    main()

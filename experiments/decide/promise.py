"""Do the promises hold? 1,000 draws of calibration rows from a population; README.md.

One model learns; the other rows are the population. Calibration rows are drawn from it with
replacement, and risk and coverage are computed over all of it. Writes promise.csv.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer

from experiments import tables
from experiments.decide.data import parts
from surelearn import SureClassifier

HERE = Path(__file__).parent
#: The risk that is asked for, by set: one that most sets can reach.
RISKS = {
    "20 Newsgroups": 0.05,
    "Amazon reviews": 0.1,
    "Reuters R52": 0.05,
    "Sentiment140": 0.15,
    "Stack Overflow titles": 0.05,
    "CLINC150": 0.02,
}
N_DRAWS, N_ROWS, DELTA, COVERAGE = 1_000, 1_000, 0.1, 0.95


class Draws(NamedTuple):
    """What is seen over all of the population, a number for each draw."""

    n: int
    risks: list[float]  # of draws that are not refused
    answered: list[float]
    covered: dict[str, list[float]]  # by the kind of set
    sizes: dict[str, list[float]]


def judged(name: str, n_draws: int = N_DRAWS) -> list[dict[str, Any]]:
    """A line for each promise of a set."""
    own = parts(name, 0)
    vectorizer = TfidfVectorizer(sublinear_tf=True)
    X = vectorizer.fit_transform(own.learnt).astype(np.float32)
    X_all, y_all = vectorizer.transform(own.population).astype(np.float32), own.truth
    clf = SureClassifier(random_state=0).fit(X, own.y)
    seen = drawn(clf, X_all, y_all, risk=RISKS[name], n_draws=n_draws)
    of_all = float(np.mean(clf.predict(X_all) != y_all))
    return [
        {"set": name, **line} for line in (risk_line(seen, RISKS[name], of_all), *set_lines(seen))
    ]


def drawn(clf: SureClassifier, X: Any, y: NDArray[Any], *, risk: float, n_draws: int) -> Draws:
    """Risk and coverage of a model with the calibration rows of each draw."""
    random = np.random.default_rng(1)
    kinds: dict[str, dict[str, Any]] = {
        "sets": {},
        "sets, delta": {"delta": DELTA},
        "sets by class": {"by_class": True},
    }
    seen = Draws(n_draws, [], [], {kind: [] for kind in kinds}, {kind: [] for kind in kinds})
    for draw in range(n_draws):
        rows = random.integers(0, len(y), N_ROWS)
        try:
            clf.choose_abstention(X[rows], y[rows], risk=risk, delta=DELTA)
        except ValueError:
            pass  # refused
        else:
            said = clf.predict(X, abstain=True)
            given = np.not_equal(said, None)
            seen.risks.append(float(np.mean(said[given] != y[given])))
            seen.answered.append(float(given.mean()))
        if draw % 5:
            continue
        clf.choose_sets(X[rows], y[rows], coverage=COVERAGE)
        for kind, how in kinds.items():
            found = clf.predict_set(X, COVERAGE, **how)
            pairs = zip(found, y.tolist(), strict=True)
            seen.covered[kind].append(float(np.mean([label in labels for labels, label in pairs])))
            seen.sizes[kind].append(float(np.mean([len(labels) for labels in found])))
    return seen


def risk_line(seen: Draws, risk: float, of_all: float) -> dict[str, Any]:
    """How often the risk that was promised is broken; `of_all` is the risk without a promise."""
    broken = np.sum(np.array(seen.risks) > risk) / seen.n  # a refusal breaks no promise
    error = np.sqrt(DELTA * (1 - DELTA) / seen.n)
    return {
        "promise": f"risk {risk:g}",
        "draws": seen.n,
        "refusals %": f"{100 * (seen.n - len(seen.risks)) / seen.n:.1f}",
        "broken %": f"{100 * broken:.1f}",
        "allowed %": f"{100 * (DELTA + 2 * error):.1f}",
        "answered %": f"{100 * np.mean(seen.answered):.1f}" if seen.answered else "",
        "risk of all %": f"{100 * of_all:.1f}",
    }


def set_lines(seen: Draws) -> Iterator[dict[str, Any]]:
    """The coverage and the size of each kind of set."""
    for kind, values in seen.covered.items():
        broken = np.mean(np.array(values) < COVERAGE)
        yield {
            "promise": f"{kind} {COVERAGE:g}",
            "draws": len(values),
            "broken %": f"{100 * broken:.1f}" if "delta" in kind else "",
            "covered %": f"{100 * np.mean(values):.2f}",
            "error": f"{100 * np.std(values, ddof=1) / np.sqrt(len(values)):.2f}",
            "labels": f"{np.mean(seen.sizes[kind]):.2f}",
        }


def main() -> None:
    names = sys.argv[1:] or list(RISKS)
    lines = []
    for name in names:
        lines += judged(name)
        print(*lines[-4:], sep="\n", flush=True)
    tables.save(HERE / "promise.csv", lines)


if __name__ == "__main__":
    main()

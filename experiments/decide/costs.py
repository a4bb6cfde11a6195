"""Costs at prediction beside costs in training and a tuned threshold; README.md. Writes costs.csv.

Each of 20 splits trains on the rows of the guide on costs; the cost is the mean over the rows of
the other side.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from experiments import tables
from experiments.decide.data import parts
from surelearn import SureClassifier
from surelearn.text import HashingVectorizer

HERE = Path(__file__).parent
N_SPLITS = 20

Array = NDArray[np.float64]


def cells() -> tuple[Any, NDArray[Any], Array, int]:
    """Breast cancer, with the costs and the size of the guide."""
    data = load_breast_cancer()
    y = data.target_names[data.target]
    return data.data, y, np.array([[0.0, 1.0], [10.0, 0.0]]), 300


def digits() -> tuple[Any, NDArray[Any], Array, int]:
    """Digits, where mistaking an 8 costs five times as much, as in the guide."""
    X, y = load_digits(return_X_y=True)
    cost = 1.0 - np.eye(10)
    cost[8] *= 5.0
    return X / 16, y, cost, 600


def reviews() -> tuple[Any, NDArray[Any], Array, int]:
    """Amazon reviews as words: praising a bad product costs five times as much."""
    own = parts("Amazon reviews", 0)
    X = HashingVectorizer().transform([*own.learnt, *own.population])
    y = np.concatenate([own.y, own.truth])
    return X, y, np.array([[0.0, 5.0], [1.0, 0.0]]), len(y) // 2


SETS = {"breast cancer": cells, "digits": digits, "Amazon reviews": reviews}

Answers = Callable[[Any, Any, Any], Any]


def contestants(cost: Array, seed: int, *, dense: bool) -> Iterator[tuple[str, Answers]]:
    """Functions of rows, labels and new rows that give the labels of these."""

    def at_prediction(rule: Any) -> Answers:
        def answer(X: Any, y: Any, new: Any) -> Any:
            return SureClassifier(rule, random_state=seed).fit(X, y).predict(new, cost=cost)

        return answer

    def in_training(rule: Any) -> Answers:
        def answer(X: Any, y: Any, new: Any) -> Any:
            return SureClassifier(rule, cost=cost, random_state=seed).fit(X, y).predict(new)

        return answer

    yield "default, cost at prediction", at_prediction("probit")
    yield "no costs", lambda X, y, new: SureClassifier(random_state=seed).fit(X, y).predict(new)
    for rule in ("arow", "stdev", "variance", "scw1", "pa1"):
        yield f"{rule}, cost in training", in_training(rule)
        if rule != "pa1":
            yield f"{rule}, cost at prediction", at_prediction(rule)
    if cost.shape == (2, 2):
        for name, make in (
            ("LogisticRegression", lambda: _logistic(dense=dense)),
            ("default", lambda: SureClassifier(random_state=seed)),
        ):
            yield f"TunedThresholdClassifierCV({name})", _tuned(make, cost)


def _logistic(*, dense: bool) -> Any:
    model = LogisticRegression(max_iter=1000)
    return make_pipeline(StandardScaler(), model) if dense else model


def _tuned(make: Callable[[], Any], cost: Array) -> Answers:
    def answer(X: Any, y: Any, new: Any) -> Any:
        classes = np.unique(y)

        def gain(truth: Any, said: Any) -> float:
            return -paid(cost, classes, truth, said)

        tuned = TunedThresholdClassifierCV(make(), scoring=make_scorer(gain))
        return tuned.fit(X, y).predict(new)

    return answer


def paid(cost: Array, classes: NDArray[Any], truth: Any, said: Any) -> float:
    """The mean cost of some answers."""
    rows, columns = np.searchsorted(classes, truth), np.searchsorted(classes, said)
    return float(cost[rows, columns].mean())


def main() -> None:
    lines = []
    for name, load in SETS.items():
        X, y, cost, n_test = load()
        found: dict[str, list[float]] = {}
        for seed in range(N_SPLITS):
            split = train_test_split(X, y, test_size=n_test, random_state=seed)
            X_train, X_test, y_train, y_test = split
            for who, answer in contestants(cost, seed, dense=isinstance(X, np.ndarray)):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    said = answer(X_train, y_train, X_test)
                found.setdefault(who, []).append(paid(cost, np.unique(y), y_test, said))
        ours = np.array(found["default, cost at prediction"])
        for who, costs in found.items():
            more = np.array(costs) - ours
            lines.append(
                {
                    "set": name,
                    "who": who,
                    "cost": f"{np.mean(costs):.4f}",
                    "more than ours": f"{more.mean():+.4f}",
                    "error": f"{more.std(ddof=1) / np.sqrt(N_SPLITS):.4f}",
                }
            )
            print(*lines[-1].values(), flush=True)
    tables.save(HERE / "costs.csv", lines)


if __name__ == "__main__":
    main()

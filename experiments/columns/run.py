"""Tables by five folds: SureTableClassifier beside its peers; writes result.csv.

python -m experiments.columns.run               # all
python -m experiments.columns.run LightGBM      # the lines of some contestants anew
"""

from __future__ import annotations

import csv
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, StratifiedKFold

from experiments import tables
from experiments.columns.data import CHOSEN_ON, JUDGED_ON, Data, load
from experiments.columns.peers import Boosted, Logistic, VowpalWabbit, columns_of
from surelearn import SureTableClassifier
from surelearn.columns import Category, Number

HERE = Path(__file__).parent
FOLDS = 5

Kinds = dict[str, str]


def contestants() -> dict[str, Callable[[Kinds], Any]]:
    """What is compared, by name: ours as it comes, with settings that were not chosen, peers."""
    return {
        "kinds inferred": lambda kinds: _ours(None),
        "kinds told": _ours,
        "no bins": lambda kinds: _ours(_with(kinds, number=Number(bins=None))),
        "8 bins": lambda kinds: _ours(_with(kinds, number=Number(bins=8))),
        "32 bins": lambda kinds: _ours(_with(kinds, number=Number(bins=32))),
        "categories of length 1 each": lambda kinds: _ours(
            _with(kinds, category=Category(weight=_length(kinds)), number=Number(bins=None))
        ),
        "each number times 10^k": OtherUnits,
        "LogisticRegression, kinds told": Logistic,
        "Vowpal Wabbit": lambda kinds: VowpalWabbit(kinds, pairs=False),
        "Vowpal Wabbit, -q": lambda kinds: VowpalWabbit(kinds, pairs=True),
        "LightGBM": Boosted,
    }


def _ours(kinds: Any) -> Any:
    return SureTableClassifier(columns=kinds, random_state=0)


def _with(kinds: Kinds, **instead: Any) -> dict[str, Any]:
    return {name: instead.get(kind, kind) for name, kind in kinds.items()}


def _length(kinds: Kinds) -> float:
    """What makes up for the length that categories are brought to together."""
    return float(np.sqrt(max(1, sum(kind == "category" for kind in kinds.values()))))


class OtherUnits:
    """Ours with kinds told, and each column of numbers times 10^k, k from -6 to 6."""

    def __init__(self, kinds: Kinds) -> None:
        self.model = _ours(kinds)
        numbers = columns_of(kinds, "number")
        powers = np.random.default_rng(0).integers(-6, 7, len(numbers))
        self.units = {name: 10.0**k for name, k in zip(numbers, powers.tolist(), strict=True)}

    def fit(self, X: Any, y: Any) -> None:
        self.model.fit(self._moved(X), y)
        self.classes_ = self.model.classes_

    def predict_proba(self, X: Any) -> Any:
        return self.model.predict_proba(self._moved(X))

    def _moved(self, X: Any) -> Any:
        return X.assign(**{str(name): X[name] * unit for name, unit in self.units.items()})


def folds(data: Data) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows to learn and to judge; groups are not cut."""
    cut: Any = StratifiedKFold if data.groups is None else GroupKFold
    for learn, judge in cut(FOLDS, shuffle=True, random_state=0).split(data.X, data.y, data.groups):
        yield np.random.default_rng(0).permutation(learn), judge


def judged(make: Callable[[Kinds], Any], data: Data) -> dict[str, float]:
    """Accuracy in percent and log loss, each with its standard error, and seconds of a fit."""
    accuracy, loss, seconds = [], [], []
    for learn, judge in folds(data):
        model = make(data.kinds)
        begin = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # as it comes, converged or not
            model.fit(data.X.iloc[learn], data.y[learn])
        seconds.append(time.perf_counter() - begin)
        p, y = model.predict_proba(data.X.iloc[judge]), data.y[judge]
        of_label = p @ (model.classes_[:, None] == y[None, :])
        right = np.clip(of_label.diagonal(), 1e-12, 1)
        loss.append(-np.log(right).mean())
        accuracy.append(100 * (model.classes_[p.argmax(axis=1)] == y).mean())
    found = {"accuracy": accuracy, "log_loss": loss}
    means = {name: float(np.mean(x)) for name, x in found.items()}
    errors = {f"{name}_error": float(np.std(x, ddof=1) / FOLDS**0.5) for name, x in found.items()}
    return {**means, **errors, "seconds": float(np.median(seconds))}


def main() -> None:
    """Judge all contestants on all sets, or those that are named."""
    path, known = HERE / "result.csv", contestants()
    named = sys.argv[1:] or list(known)
    before = {(line["set"], line["who"]): line for line in tables.lines(path)}
    lines: dict[tuple[str, str], dict[str, Any]] = {}
    for name in (*CHOSEN_ON, *JUDGED_ON):
        data = load(name)
        for who, make in known.items():
            lines[name, who] = before.pop((name, who), {})
            if who in named or not lines[name, who]:
                found = {key: f"{x:.5f}" for key, x in judged(make, data).items()}
                lines[name, who] = {"set": name, "who": who, **found}
                print(*lines[name, who].values(), flush=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            out = csv.DictWriter(file, list(lines[name, who]))
            out.writeheader()
            out.writerows([*lines.values(), *before.values()])


if __name__ == "__main__":
    main()

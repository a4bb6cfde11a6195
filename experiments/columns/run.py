"""Tables by five folds: SureTableClassifier beside LogisticRegression; writes result.csv.

python -m experiments.columns.run
"""

from __future__ import annotations

import csv
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from experiments.columns.data import CHOSEN_ON, JUDGED_ON, Data, load
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
        "LogisticRegression, kinds told": _peer,
    }


def _ours(kinds: Any) -> Any:
    return SureTableClassifier(columns=kinds, random_state=0)


def _with(kinds: Kinds, **instead: Any) -> dict[str, Any]:
    return {name: instead.get(kind, kind) for name, kind in kinds.items()}


def _length(kinds: Kinds) -> float:
    """What makes up for the length that categories are brought to together."""
    return float(np.sqrt(max(1, sum(kind == "category" for kind in kinds.values()))))


def _peer(kinds: Kinds) -> Any:
    def of(kind: str) -> list[str]:
        return [name for name in kinds if kinds[name] == kind]

    parts: list[Any] = [
        ("numbers", StandardScaler(), of("number")),
        ("categories", OneHotEncoder(handle_unknown="ignore"), of("category")),
    ]
    parts = [part for part in parts if part[2]]
    parts += [(name, TfidfVectorizer(), name) for name in of("text")]
    return make_pipeline(ColumnTransformer(parts), LogisticRegression())


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
    """Judge all contestants on all sets."""
    with (HERE / "result.csv").open("w", encoding="utf-8", newline="") as file:
        out: Any = None
        for name in (*CHOSEN_ON, *JUDGED_ON):
            data = load(name)
            for who, make in contestants().items():
                line = {"set": name, "who": who, **judged(make, data)}
                if out is None:
                    out = csv.DictWriter(file, list(line))
                    out.writeheader()
                out.writerow(
                    {k: f"{x:.5f}" if isinstance(x, float) else x for k, x in line.items()}
                )
                file.flush()


if __name__ == "__main__":
    main()

"""What `tune` gains over the defaults on every shared set: tuned.csv, and docs/howto/tune.md.

Raw texts for `SureTextClassifier`, standardised features for `SureClassifier`. 70 % of the texts
are learnt and 30 % judged, with equal texts on one side.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from experiments import sets, tables
from surelearn import SureClassifier, SureTextClassifier, tune

SETS = (*(name for name in sets.TEXTS if name not in sets.TOKENISED), *sets.DENSE)
RESULT = Path(__file__).with_suffix(".csv")
PAGE = Path(__file__).parents[2] / "docs" / "howto" / "tune.md"


class Task(NamedTuple):
    """Rows to learn and rows to judge, with their labels."""

    estimator: SureClassifier
    learn: tuple[Sequence[Any], np.ndarray]
    judge: tuple[Sequence[Any], np.ndarray]


def task(name: str) -> Task:
    if name in sets.DENSE:
        X, y, groups = sets.rows(name)
        learn, judge = sets.cut(np.arange(len(y)), groups, 0.3)
        parts = sets.standardised(X[learn], X[judge])
        return Task(
            SureClassifier(random_state=0, scale=False), (parts[0], y[learn]), (parts[1], y[judge])
        )
    texts, y, *_ = sets.texts(name)
    learn, judge = sets.cut(np.arange(len(y)), sets.numbered(texts), 0.3)
    judge = judge[np.isin(y[judge], y[learn])]
    halves = [([texts[i] for i in places], y[places]) for places in (learn, judge)]
    return Task(SureTextClassifier(random_state=0), *halves)


def judged(model: SureClassifier, X: Any, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whether each row is predicted right, and its log loss."""
    places = np.searchsorted(model.classes_, y)
    losses = -model.predict_log_proba(X)[np.arange(len(y)), places]
    return (model.predict(X) == y).astype(float), losses


def line(name: str) -> dict[str, Any]:
    """The default and the tuned model on one set."""
    one = task(name)
    began = perf_counter()
    default = one.estimator.fit(*one.learn)
    fitted = perf_counter()
    result = tune(one.estimator, *one.learn)
    ended = perf_counter()
    (right, losses), (tuned_right, tuned_losses) = (
        judged(model, *one.judge) for model in (default, result.best)
    )
    return {
        "set": name,
        "rows": len(one.learn[1]),
        "winner": _described(result.table.parameters[0]) or "as it is",
        "default accuracy": f"{100 * right.mean():.2f}",
        "tuned accuracy": f"{100 * tuned_right.mean():.2f}",
        **_difference("accuracy", 100 * (tuned_right - right), 2),
        "default log loss": f"{losses.mean():.4f}",
        "tuned log loss": f"{tuned_losses.mean():.4f}",
        **_difference("log loss", tuned_losses - losses, 4),
        "fit seconds": f"{fitted - began:.2f}",
        "tune seconds": f"{ended - fitted:.2f}",
    }


def _difference(name: str, of_rows: np.ndarray, digits: int) -> dict[str, str]:
    error = of_rows.std() / np.sqrt(len(of_rows))
    return {
        f"{name} difference": f"{of_rows.mean():+.{digits}f}",
        f"{name} standard error": f"{error:.{digits}f}",
    }


def _described(params: dict[str, Any]) -> str:
    rest = [f"{name}={value!r}" for name, value in params.items() if name != "rule"]
    return ", ".join([*([str(params["rule"])] if "rule" in params else []), *rest])


def shown(found: list[dict[str, str]]) -> list[str]:
    """The table of the page."""
    head = ["set", "rows", "winner", "accuracy", "gain", "log loss", "change"]
    return tables.table(
        head,
        [
            [
                one["set"],
                f"{int(one['rows']):,}",
                one["winner"],
                f"{one['default accuracy']} → {one['tuned accuracy']}",
                f"{one['accuracy difference']} ± {one['accuracy standard error']}",
                f"{one['default log loss']} → {one['tuned log loss']}",
                f"{one['log loss difference']} ± {one['log loss standard error']}",
            ]
            for one in found
        ],
    )


def renewed(page: str) -> str:
    """The page with the table of the result."""
    return tables.placed(page, "experiments/defaults/tuned.py", shown(tables.lines(RESULT)))


def main() -> None:
    found = []
    for name in SETS:
        found.append(line(name))
        print("  ".join(str(cell) for cell in found[-1].values()), flush=True)
    with RESULT.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, found[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()

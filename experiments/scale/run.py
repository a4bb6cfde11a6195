"""Columns in units of their spread, as they are, and standardised: five folds; README.md.

Writes result.csv beside this file; ``python -m experiments.scale.page`` makes the table of it.
"""

from __future__ import annotations

import csv
import json
import lzma
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surelearn import SureClassifier

HERE = Path(__file__).parent
TABLES = ("adult", "mushroom", "letter", "shuttle", "connect_4")
EMBEDDED = {"stackoverflow-titles": "label", "isear-llm": "label"}
ROWS = 4_000
RARE = 5  # classes with fewer rows are left out

SCALED, OTHER_UNITS = "scale='auto'", "the same, other units"
CONTESTANTS: dict[str, Any] = {
    "as they are": SureClassifier(scale=False, random_state=0),
    SCALED: SureClassifier(random_state=0),
    OTHER_UNITS: SureClassifier(random_state=0),
    "StandardScaler": make_pipeline(StandardScaler(), SureClassifier(scale=False, random_state=0)),
    "StandardScaler, LogisticRegression": make_pipeline(
        StandardScaler(), LogisticRegression(max_iter=1000)
    ),
}


def sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Name, numbers and labels; at most `ROWS` rows of each."""
    random = np.random.RandomState(0)
    for name in ("breast_cancer", "wine", "digits", "iris"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield name.replace("_", " "), X, y
    folder = Path(os.environ["SURELEARN_DATA"])
    for name in TABLES:
        frame = pd.read_csv(folder / "tables" / f"{name}.tsv.xz", sep="\t")
        frame = frame.sample(min(ROWS, len(frame)), random_state=0)
        y = frame.pop("target").to_numpy()
        kept = frame[pd.Series(y).map(pd.Series(y).value_counts()).to_numpy() >= RARE].index
        rows = frame.index.isin(kept)
        yield name.replace("_", "-"), frame.to_numpy(np.float64)[rows], y[rows]
    for name, label in EMBEDDED.items():
        X = np.load(folder / "embeddings" / f"{name}.npy").astype(np.float32)
        with lzma.open(folder / f"{name}.jsonl.xz", "rt", encoding="utf-8") as file:
            y = np.array([json.loads(line)[label] for line in file])
        some = random.permutation(len(y))[:ROWS]
        yield f"{name}, embeddings", X[some], y[some]


def main() -> None:
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    lines = []
    for name, X, y in sets():
        for who, model in CONTESTANTS.items():
            units = 10.0 ** np.random.RandomState(1).randint(-6, 7, X.shape[1])
            rows = X * units if who == OTHER_UNITS else X
            found = cross_validate(model, rows, y, cv=folds, scoring=("accuracy", "neg_log_loss"))
            right, loss = 100 * found["test_accuracy"], -found["test_neg_log_loss"]
            lines.append(
                {
                    "set": name,
                    "columns": X.shape[1],
                    "contestant": who,
                    "accuracy %": f"{right.mean():.2f}",
                    "error of it": f"{right.std(ddof=1) / np.sqrt(5):.2f}",
                    "log loss": f"{loss.mean():.4f}",
                }
            )
            print("  ".join(str(cell) for cell in lines[-1].values()), flush=True)
    with (HERE / "result.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, lines[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    main()

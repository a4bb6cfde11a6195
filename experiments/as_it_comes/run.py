"""Text classifiers as they come, on 30 % of every text set that no default was chosen on."""

from __future__ import annotations

import csv
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from experiments import sets
from experiments.as_it_comes.contestants import Answers, contestants
from experiments.as_it_comes.judge import calibration_error
from experiments.defaults.parts import REPORTED

HERE = Path(__file__).parent


def measured(found: Answers, y: np.ndarray, ours: np.ndarray | None) -> dict[str, float]:
    """Accuracy, its difference to ours with the paired standard error, log loss, ECE."""
    right = found.best == y
    line = {"accuracy": right.mean()}
    if ours is not None:
        apart = right.astype(float) - ours
        line |= {"difference": apart.mean(), "deviation": apart.std() / np.sqrt(len(y))}
    if found.probabilities is not None:
        p = np.clip(found.probabilities[np.arange(len(y)), y], 1e-15, None)
        line |= {"log_loss": -np.log(p).mean(), "ece": calibration_error(found.probabilities, y)}
    return line


def run(names: list[str]) -> None:
    path, lines = HERE / "result.csv", []
    for name in names:
        corpus = sets.texts(name)
        y = np.unique(corpus.y, return_inverse=True)[1]
        learn, judge = sets.cut(np.arange(len(y)), sets.numbered(corpus.texts), REPORTED)
        learn = np.random.default_rng(0).permutation(learn)
        texts = [corpus.texts[i] for i in learn], [corpus.texts[i] for i in judge]
        ours = None
        with tempfile.TemporaryDirectory() as folder:
            for who, make in contestants(Path(folder)).items():
                one, begin = make(), time.perf_counter()
                one.fit(texts[0], y[learn])
                seconds = time.perf_counter() - begin
                found = one.answers(texts[1])
                line = measured(found, y[judge], ours)
                ours = (found.best == y[judge]).astype(float) if ours is None else ours
                lines.append(
                    {"set": name, "who": who, "rows": len(learn), "seconds": seconds} | line
                )
                print(
                    {k: round(v, 4) if isinstance(v, float) else v for k, v in lines[-1].items()},
                    flush=True,
                )
    fields = [
        "set",
        "who",
        "rows",
        "seconds",
        "accuracy",
        "difference",
        "deviation",
        "log_loss",
        "ece",
    ]
    with path.open("w", newline="", encoding="utf-8") as out:
        table = csv.DictWriter(out, fields, lineterminator="\n")
        table.writeheader()
        table.writerows(
            {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in line.items()}
            for line in lines
        )


if __name__ == "__main__":
    run(sys.argv[1:] or list(sets.TEXTS))

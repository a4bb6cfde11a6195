"""Which wrong candidates to learn from, which right ones, and how many passes? See README.md.

Writes result.csv beside this file.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

from experiments.ranking.data import SETS, Ranking
from surelearn import SureRanker
from surelearn.constraints import Sequential
from surelearn.evaluation import ranking_scores
from surelearn.rules import AROW

HERE = Path(__file__).parent
RULES: dict[str, str | AROW] = {
    "probit": "probit",
    "scw1": "scw1",
    "arow": "arow",
    "arow, r = 100": AROW(r=100.0),
    "pa1": "pa1",
}
SCHEMES = {
    "single": "single",
    "Sequential(2)": Sequential(2),
    "Sequential(3)": Sequential(3),
    "Sequential(5)": Sequential(5),
    "sequential": "sequential",
}
PASSES = (1, 5)
#: Orders of the training groups; scores are means over them.
SEEDS = range(2)


def main() -> None:
    with (HERE / "result.csv").open("w", encoding="utf-8", newline="") as file:
        writer = None
        for name, make in SETS.items():
            train, test = make()
            for line in _lines(train, test):
                line = {"set": name, **line}
                writer = writer or csv.DictWriter(file, line, lineterminator="\n")
                if file.tell() == 0:
                    writer.writeheader()
                writer.writerow(line)
                file.flush()


def _lines(train: Ranking, test: Ranking) -> Iterator[dict[str, object]]:
    for rule, scheme, right, passes in product(RULES, SCHEMES, ("all", "any"), PASSES):
        found, begin = [], time.perf_counter()
        for seed in SEEDS:
            ranker = SureRanker(
                RULES[rule],
                constraints=SCHEMES[scheme],
                right=right,
                passes=passes,
                random_state=seed,
            )
            ranker.fit(train.X, train.y, group=train.group)
            scores = ranking_scores(ranker.decision_function(test.X), test.y, group=test.group)
            found.append((scores.ndcg, scores.map, scores.accuracy, scores.standard_error["ndcg"]))
        seconds = (time.perf_counter() - begin) / len(SEEDS)
        means = [f"{value:.4f}" for value in np.mean(found, axis=0)]
        yield {
            "rule": rule,
            "constraints": scheme,
            "right": right,
            "passes": passes,
            **dict(zip(("ndcg", "map", "accuracy", "standard error"), means, strict=True)),
            "seconds": f"{seconds:.2f}",
        }


if __name__ == "__main__":
    main()

"""SureRanker with its defaults beside LightGBM and XGBoost with theirs: writes peers.csv."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from lightgbm import LGBMRanker
from scipy import sparse
from xgboost import XGBRanker

from experiments.ranking.data import SETS, Ranking
from surelearn import SureRanker
from surelearn.evaluation import ranking_scores

HERE = Path(__file__).parent


def main() -> None:
    found = list(lines())
    with (HERE / "peers.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)


def lines() -> Iterator[dict[str, Any]]:
    """A line for each set and ranker; seconds are those of learning."""
    for name, make in SETS.items():
        train, test = make()
        for who, fit in RANKERS.items():
            if who in TREES and sparse.issparse(train.X):
                continue  # minutes for 2**18 columns
            begin = time.perf_counter()
            scored = fit(train)
            seconds = time.perf_counter() - begin
            result = ranking_scores(scored(test.X), test.y, group=test.group)
            line = {
                "set": name,
                "ranker": who,
                "NDCG@10 %": f"{100 * result.ndcg:.1f}",
                "standard error": f"{100 * result.standard_error['ndcg']:.1f}",
                "MAP %": f"{100 * result.map:.1f}",
                "first is right %": f"{100 * result.accuracy:.1f}",
                "seconds": f"{seconds:.2f}",
            }
            print(line, flush=True)
            yield line


Scored = Callable[[Any], np.ndarray]


def sure(train: Ranking) -> Scored:
    """Ours, one thread."""
    model = SureRanker(random_state=0).fit(train.X, train.y, group=train.group)
    return model.decision_function


def lightgbm(train: Ranking) -> Scored:
    """LambdaMART, two threads."""
    model = LGBMRanker(n_jobs=2, random_state=0, verbose=-1)
    return model.fit(train.X, train.y, group=_some(train)).predict


def xgboost(train: Ranking, **options: Any) -> Scored:
    """LambdaMART, or a linear model by the same gradients, two threads."""
    model = XGBRanker(n_jobs=2, random_state=0, **options)
    return model.fit(train.X, train.y, group=_some(train)).predict


def _some(train: Ranking) -> list[int]:
    """Sizes without empty groups, which the peers refuse."""
    return [size for size in train.group if size]


RANKERS: dict[str, Callable[[Ranking], Scored]] = {
    "SureRanker": sure,
    "LightGBM, trees": lightgbm,
    "XGBoost, trees": xgboost,
    "XGBoost, linear": partial(xgboost, booster="gblinear"),
}


TREES = frozenset({"LightGBM, trees", "XGBoost, trees"})


if __name__ == "__main__":
    main()

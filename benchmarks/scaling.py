"""How `fit` scales on this machine: one model, and shards on more and more threads.

``python benchmarks/scaling.py [--jobs 1 2 4] [--picture scaling.png]`` needs no data. All fits make
three passes over the same rows. Wall time says what more cores gain; processor time, in units of
one model's, what sharing the work costs on any machine. Where c threads are busy or one is, the
seconds of one alone follow from both: s = (c wall - processor) / (c - 1).
"""

from __future__ import annotations

import argparse
import gc
import os
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _measure import ratio_claim, show, write
from scipy import sparse

from surelearn import SureClassifier, SureTextClassifier

PASSES = 3
REPEATS = 3
#: Processor time of 2 and of 16 shards, in units of one model's, and the share of one thread alone.
GOALS = {2: 1.1, 16: 1.5}
SERIAL = 0.1


class Work(NamedTuple):
    """What is learnt, and by what kind of estimator."""

    kind: type[SureClassifier]
    X: Any
    y: np.ndarray

    def fit(self, shards: int, jobs: int) -> SureClassifier:
        clf = self.kind(n_shards=shards, n_jobs=jobs, passes=PASSES, random_state=0)
        return clf.fit(self.X, self.y)


class Cost(NamedTuple):
    """Seconds of a fit, on the clock and of all threads."""

    wall: float
    processor: float

    def alone(self, jobs: int) -> float:
        """The share of processor time in which one thread works and the others wait."""
        if jobs == 1:
            return 1.0
        seconds = (jobs * self.wall - self.processor) / (jobs - 1)
        return min(1.0, max(0.0, seconds) / self.processor)


def works() -> dict[str, Work]:
    """Dense rows of two classes, sparse rows and texts of twenty, all drawn at random."""
    random = np.random.default_rng(0)
    X = random.standard_normal((300_000, 46)).astype(np.float32)
    y = (X @ random.standard_normal(46) + random.standard_normal(len(X)) > 0).astype(int)
    words = np.minimum(random.zipf(1.3, (16_000, 120)), 200_000) - 1
    of_class = random.integers(0, 20, len(words))
    words[:, ::6] = (words[:, ::6] % 400) * 20 + of_class[:, None] + 200_000
    starts = np.arange(0, words.size + 1, words.shape[1])
    counts = np.ones(words.size, np.float32)
    rows = sparse.csr_matrix((counts, words.ravel(), starts), (len(words), 210_000))
    rows.sum_duplicates()
    texts = [" ".join(f"w{j}" for j in row) for row in words.tolist()]
    return {
        "2 classes, 46 numbers": Work(SureClassifier, X, y),
        "20 classes, sparse": Work(SureClassifier, rows, of_class),
        "20 classes, texts": Work(SureTextClassifier, texts, of_class),
    }


def measured(work: Work, shards: int, jobs: int) -> Cost:
    """The fastest of some fits, each figure by itself."""
    costs = []
    for _ in range(REPEATS):
        gc.collect()
        wall, processor = time.perf_counter(), time.process_time()
        work.fit(shards, jobs)
        costs.append(Cost(time.perf_counter() - wall, time.process_time() - processor))
    return Cost(min(cost.wall for cost in costs), min(cost.processor for cost in costs))


def main() -> None:
    cores = os.cpu_count() or 1
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    powers = [2**k for k in range(7) if 2**k <= max(2, cores)]
    parser.add_argument("--jobs", type=int, nargs="+", default=powers, help="threads to try")
    parser.add_argument("--shards", type=int, nargs="+", default=[2, 16], help="numbers of shards")
    parser.add_argument("--picture", type=Path, help="file of the curve (png, svg, pdf)")
    given = parser.parse_args()
    figures, claims = [], []
    for name, work in works().items():
        whole = measured(work, 1, 1)
        for shards in given.shards:
            for jobs in given.jobs:
                cost = measured(work, shards, jobs)
                figures.append(
                    {
                        "work": name,
                        "shards": shards,
                        "jobs": jobs,
                        "wall, seconds": round(cost.wall, 3),
                        "faster than one model": round(whole.wall / cost.wall, 2),
                        "processor, of one model": round(cost.processor / whole.processor, 2),
                        "one thread alone": round(cost.alone(jobs), 2),
                    }
                )
            of_one = figures[-1]["processor, of one model"]
            if shards in GOALS:
                label = f"processor time of {shards} shards, {name}, {PASSES} passes"
                ratio, goal = 1 / float(str(of_one)), 1 / GOALS[shards]
                claims.append(ratio_claim(label, "one model", ratio, round(goal, 2)))
    show("Scaling", list(figures[0]), [[str(v) for v in figure.values()] for figure in figures])
    write("scaling", figures, claims, repeats=REPEATS, passes=PASSES)
    if given.picture is not None:
        draw(figures, given.picture)


def draw(figures: list[dict[str, Any]], path: Path) -> None:
    """Speed in units of one model, by threads: a line for each work and number of shards."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    lines: dict[str, list[tuple[int, float]]] = {}
    for one in figures:
        point = (one["jobs"], one["faster than one model"])
        lines.setdefault(f"{one['work']}, {one['shards']} shards", []).append(point)
    most = max(one["jobs"] for one in figures)
    axes.plot([1, most], [1, most], color="0.7", linestyle="--", label="as many times as threads")
    for label, points in lines.items():
        axes.plot(*zip(*points, strict=True), marker="o", label=label)
    axes.set(xlabel="threads", ylabel="times as fast as one model", xscale="log", yscale="log")
    ticks = sorted({one["jobs"] for one in figures})
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.set_yticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.legend(fontsize=8)
    figure.savefig(path, dpi=150)
    print(f"The curve is in {path}.")


if __name__ == "__main__":
    main()

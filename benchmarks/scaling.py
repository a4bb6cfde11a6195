"""How `fit` scales on this machine: one model, and shards on more and more threads.

``python benchmarks/scaling.py [--jobs 1 2 4] [--picture scaling.png]`` needs no data. All fits make
three passes over the same rows. Wall time says what more cores gain; processor time, in units of
one model's, what sharing the work costs on any machine. Where c threads are busy or one is, the
seconds of one alone follow from both: s = (c wall - processor) / (c - 1).

A second table estimates 2 to 64 cores from these fits. It is no measurement: with so many shards S,
T(c, S) = alone + shared / min(c, S), where alone is the s above, in the most threads that were
measured, and shared the rest of the processor time there, of learning and merging. Shared caches
and memory, and slower clocks of busy cores, are in it as far as they are in those fits.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _measure import Claim, ratio_claim, show, write
from joblib import cpu_count
from scipy import sparse

from surelearn import SureClassifier, SureTextClassifier

PASSES = 3
REPEATS = 5
#: Goals: processor time of so many shards in units of one model's, what two shards gain on two
#: cores, and the share of processor time in which one thread works alone.
PROCESSOR = {2: 1.1, 16: 1.5}
GAIN = 1.8
ALONE = 0.1
#: For how many cores times are estimated.
CORES = (2, 4, 8, 16, 32, 64)


class Setting(NamedTuple):
    """How a fit is spread."""

    shards: int
    jobs: int

    @property
    def busy(self) -> int:
        """Threads that learn at the same time: `fit` starts no more than there are cores."""
        return min(self.shards, self.jobs, cpu_count())


ONE = Setting(1, 1)


class Work(NamedTuple):
    """What is learnt, and by what kind of estimator."""

    kind: type[SureClassifier]
    X: Any
    y: np.ndarray

    def fit(self, setting: Setting) -> SureClassifier:
        shards, jobs = setting
        clf = self.kind(n_shards=shards, n_jobs=jobs, passes=PASSES, random_state=0)
        return clf.fit(self.X, self.y)


class Cost(NamedTuple):
    """Seconds of a fit, on the clock and of all threads."""

    wall: float
    processor: float

    def alone(self, busy: int) -> float:
        """Seconds in which one thread works and the others wait."""
        if busy == 1:
            return self.processor
        seconds = (busy * self.wall - self.processor) / (busy - 1)
        return min(self.processor, max(0.0, seconds))


Costs = Mapping[Setting, Cost]


class Model(NamedTuple):
    """T(c, S) of a work in so many shards on this machine, in seconds."""

    shards: int
    alone: float  # one thread works
    shared: float  # processor time of what all threads do

    @classmethod
    def of(cls, setting: Setting, cost: Cost) -> Model:
        """The constants of a fit in at least two threads."""
        alone = cost.alone(setting.busy)
        return cls(setting.shards, alone, cost.processor - alone)

    def seconds(self, cores: int) -> float:
        return self.alone + self.shared / min(cores, self.shards)


def works() -> dict[str, Work]:
    """Dense rows of two classes, sparse rows and texts of twenty, all drawn at random."""
    random = np.random.default_rng(0)
    X = random.standard_normal((300_000, 46)).astype(np.float32)
    y = (X @ random.standard_normal(46) + random.standard_normal(len(X)) > 0).astype(int)
    few, labels = _words(16_000, random)
    more, more_labels = _words(160_000, random)
    texts = [" ".join(f"w{j}" for j in row) for row in few.tolist()]
    return {
        "2 classes, 300,000 dense rows": Work(SureClassifier, X, y),
        "20 classes, 16,000 texts": Work(SureTextClassifier, texts, labels),
        "20 classes, 16,000 sparse rows": Work(SureClassifier, _counted(few), labels),
        "20 classes, 160,000 sparse rows": Work(SureClassifier, _counted(more), more_labels),
    }


def _words(n: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of 120 words a row, each sixth of its class, and the classes."""
    words = np.minimum(random.zipf(1.3, (n, 120)), 200_000) - 1
    of_class = random.integers(0, 20, n)
    words[:, ::6] = (words[:, ::6] % 400) * 20 + of_class[:, None] + 200_000
    return words, of_class


def _counted(words: np.ndarray) -> sparse.csr_matrix:
    """How often each row has each word."""
    starts = np.arange(0, words.size + 1, words.shape[1])
    counts = np.ones(words.size, np.float32)
    rows = sparse.csr_matrix((counts, words.ravel(), starts), (len(words), 210_000))
    rows.sum_duplicates()
    return rows


def measured(work: Work, settings: Sequence[Setting]) -> dict[Setting, Cost]:
    """The fastest of some fits in turns, each figure by itself."""
    costs: dict[Setting, list[Cost]] = {setting: [] for setting in settings}
    for _ in range(REPEATS):
        for setting, found in costs.items():
            gc.collect()
            wall, processor = time.perf_counter(), time.process_time()
            work.fit(setting)
            found.append(Cost(time.perf_counter() - wall, time.process_time() - processor))
    return {setting: Cost(*map(min, zip(*of, strict=True))) for setting, of in costs.items()}


def figures(name: str, costs: Costs) -> Iterator[dict[str, Any]]:
    """What was measured of a work."""
    whole = costs[ONE]
    for setting, cost in costs.items():
        yield {
            "work": name,
            "shards": setting.shards,
            "jobs": setting.jobs,
            "wall, seconds": round(cost.wall, 3),
            "faster than one model": round(whole.wall / cost.wall, 2),
            "processor, of one model": round(cost.processor / whole.processor, 2),
            "one thread alone": round(cost.alone(setting.busy) / cost.processor, 2),
        }


def estimates(name: str, costs: Costs) -> Iterator[dict[str, Any]]:
    """How many times as fast as one model shards would be on more cores, by the model."""
    most = {one.shards: one for one in sorted(costs) if one.busy > 1}
    for shards, setting in most.items():
        model = Model.of(setting, costs[setting])
        own = {one: cost for one, cost in costs.items() if one.shards == shards}
        off = max(abs(model.seconds(one.busy) / cost.wall - 1) for one, cost in own.items())
        faster = {str(c): round(costs[ONE].wall / model.seconds(c), 2) for c in CORES}
        yield {
            "work": name,
            "shards": shards,
            "alone, seconds": round(model.alone, 4),
            "shared, seconds": round(model.shared, 4),
            "off by, %": round(100 * off),
            **faster,
        }


def claims(name: str, costs: Costs) -> Iterator[Claim]:
    """The goals of those settings that were measured."""
    whole = costs[ONE]
    for setting, cost in costs.items():
        if setting.busy != 2:
            continue
        work = f"{setting.shards} shards on two cores, {name}, {PASSES} passes"
        if (goal := PROCESSOR.get(setting.shards)) is not None:
            times = cost.processor / whole.processor
            figure = f"{times:.2f} times"
            what = f"processor time of {work}"
            yield Claim(what, "one model", figure, f"<= {goal:g} times", times <= goal)
        if setting.shards == 2:
            yield ratio_claim(work, "one model", whole.wall / cost.wall, GAIN)
        if setting.shards == 16:
            share = cost.alone(2) / cost.processor
            figure, limit = f"{100 * share:.0f} %", f"<= {100 * ALONE:.0f} %"
            yield Claim(f"one thread works alone, {work}", "-", figure, limit, share <= ALONE)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    powers = [2**k for k in range(7) if 2**k <= max(2, cpu_count())]
    parser.add_argument("--jobs", type=int, nargs="+", default=powers, help="threads to try")
    parser.add_argument(
        "--shards", type=int, nargs="+", default=[2, 16, 64], help="numbers of shards"
    )
    parser.add_argument("--picture", type=Path, help="file of the curve (png, svg, pdf)")
    given = parser.parse_args()
    settings = [ONE, *(Setting(n, jobs) for n in given.shards for jobs in given.jobs)]
    found: list[dict[str, Any]] = []
    estimated: list[dict[str, Any]] = []
    judged: list[Claim] = []
    for name, work in works().items():
        costs = measured(work, settings)
        found += figures(name, costs)
        judged += claims(name, costs)
        estimated += estimates(name, costs)
    _show("Scaling, measured", found)
    _show("ESTIMATE, not measured: times as fast as one model, by cores", estimated)
    about = {"repeats": REPEATS, "passes": PASSES}
    write("scaling", {"measured": found, "estimated": estimated}, judged, **about)
    if given.picture is not None:
        draw(found, estimated, given.picture)


def _show(title: str, lines: Sequence[dict[str, Any]]) -> None:
    if lines:
        show(title, list(lines[0]), [[str(v) for v in line.values()] for line in lines])


# ------------------------------------------------------------------------ the picture

IDEAL = "as many times as cores"


def draw(found: list[dict[str, Any]], estimated: list[dict[str, Any]], path: Path) -> None:
    """Speed in units of one model, by threads: a panel for each work, what is estimated dashed."""
    from surelearn.plot import style

    names = list(dict.fromkeys(line["work"] for line in found))
    figure = style.blank("scaling.py --picture", (8.0, 6.4))
    panels = figure.subplots(2, -(-len(names) // 2), sharex=True, sharey=True).ravel()
    shards = sorted({line["shards"] for line in (*found, *estimated)} - {1})
    most = max(line["jobs"] for line in found) if not estimated else CORES[-1]
    for axes, name in zip(panels, names, strict=True):
        axes.plot([1, most], [1, most], color=style.GREY, linewidth=style.THIN, label=IDEAL)
        for place, n in enumerate(shards):
            for title, points, looks in _lines(name, n, found, estimated):
                colour = style.colour_of(place)
                axes.plot(*points, color=colour, linewidth=style.LINE, label=title, **looks)
        axes.set_title(name, loc="left", fontsize=style.FONT)
        axes.set(xscale="log", yscale="log")
        axes.set_xlabel("cores", fontsize=style.FONT)
        axes.set_ylabel("times as fast as one model", fontsize=style.FONT)
        axes.label_outer()
        style.quiet(axes, "both")
    for axes in panels:
        _ticks(axes)
    handles, labels = panels[0].get_legend_handles_labels()
    place = {"loc": "outside lower center", "ncols": 3, "frameon": False}
    figure.legend(handles, labels, fontsize=style.SMALL, **place)
    figure.savefig(path, dpi=style.DPI)
    print(f"The curve is in {path}.")


def _lines(
    name: str, shards: int, found: list[dict[str, Any]], estimated: list[dict[str, Any]]
) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Title, points and looks of what was measured of a work with so many shards, and estimated."""

    def own(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [line for line in lines if (line["work"], line["shards"]) == (name, shards)]

    points = [(line["jobs"], line["faster than one model"]) for line in own(found)]
    if points:
        yield f"{shards} shards, measured", zip(*points, strict=True), {"marker": "o"}
    for line in own(estimated):
        cores = [c for c in CORES if points[-1][0] <= c <= shards]
        rates = [line[str(c)] for c in cores]
        if len(cores) > 1:
            yield f"{shards} shards, estimate", (cores, rates), {"linestyle": "--"}


def _ticks(axes: Any) -> None:
    """Powers of two along both axes."""
    for axis in (axes.xaxis, axes.yaxis):
        low, high = axis.get_view_interval()
        powers = [2.0**k for k in range(-4, 7) if low <= 2.0**k <= high]
        axis.set_ticks(powers, [f"{power:g}" for power in powers])
    axes.minorticks_off()


if __name__ == "__main__":
    main()

"""Rules, parameters, averaging, projections and passes for `SureTagger`: README.md.

Writes result.csv, chosen.csv, passes.csv, confidence.csv and tagging.png beside this file.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.tagging import choose, confidence
from experiments.tagging.picture import draw
from experiments.tagging.tasks import TASKS, Split, Task, score, splits
from surelearn import SureTagger, rules

PASSES = (1, 3, 10)
#: Those of the default.
MORE_PASSES = (1, 2, 3, 5, 7, 10, 15, 20)
RULES: tuple[rules.Rule, ...] = (
    rules.Perceptron(),
    rules.PA1(C=0.1),
    *(rules.Variance(phi=phi) for phi in (0.3, 1.0, 3.0)),
    *(rules.Stdev(phi=phi) for phi in (0.5, 1.0)),
    *(rules.AROW(r=r) for r in (10.0, 30.0, 100.0)),
    *(rules.Probit(noise=noise) for noise in (1.0, 10.0)),
    *(rules.SCW1(phi=1.0, C=C) for C in (0.1, 1.0)),
)
#: Tried with the other projection as well.
TWICE = ((rules.Stdev(phi=0.5), True), (rules.AROW(r=30.0), False))
HERE = Path(__file__).parent


class Setting(NamedTuple):
    """How a tagger learns."""

    rule: rules.Rule
    average: bool
    projection: str = "precision"


SETTINGS = (
    *(Setting(rule, average) for rule in RULES for average in (True, False)),
    *(Setting(rule, average, "covariance") for rule, average in TWICE),
)


def learnt(task: Task, split: Split, setting: Setting, passes: int) -> tuple[float, float]:
    """The score after so many passes, and the seconds they took, features made included."""
    tagger = SureTagger(**setting._asdict(), passes=passes, n_jobs=1, random_state=0)
    begin = time.process_time()
    tagger.fit(*split.learn)
    seconds = time.process_time() - begin
    return score(task, split.judge.y, tagger.predict(split.judge.X)), seconds


def refuses(setting: Setting) -> bool:
    """Whether labels that follow nothing, learnt again and again, break it.

    No real task is that bad, but a default should not stop with an error in any.
    """
    random = np.random.default_rng(0)
    for n_labels in (2, 3, 5, 22):
        lengths = random.integers(1, 9, size=400)
        X = [[[f"f{j}" for j in random.integers(30, size=4)] for _ in range(n)] for n in lengths]
        y = [random.integers(n_labels, size=n).tolist() for n in lengths]
        try:
            SureTagger(**setting._asdict(), passes=50, random_state=0).fit(X, y)
        except ValueError:
            return True
    return False


def lines_of(
    name: str, settings: Sequence[Setting] = SETTINGS, numbers: Sequence[int] = PASSES
) -> Iterator[dict[str, Any]]:
    """A line for each setting and number of passes: means over the splits."""
    task = TASKS[name]
    parts = list(splits(task))
    for setting in settings:
        for passes in numbers:
            runs = [learnt(task, split, setting, passes) for split in parts]
            yield {
                "task": name,
                **dict(zip(("rule", "averaged", "projection"), _key(setting), strict=True)),
                "passes": passes,
                "score %": f"{np.mean([score for score, _ in runs]):.3f}",
                "seconds": f"{min(seconds for _, seconds in runs):.2f}",
            }


def refusing() -> set[choose.Key]:
    """Settings that random labels break."""
    return {_key(setting) for setting in SETTINGS if refuses(setting)}


def _key(setting: Setting) -> choose.Key:
    return repr(setting.rule), "yes" if setting.average else "no", setting.projection


def write(name: str, lines: Sequence[dict[str, Any]]) -> None:
    with (HERE / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def main() -> None:
    lines = []
    for name in TASKS:
        begin = time.perf_counter()
        lines += list(lines_of(name))
        print(f"{name}: {time.perf_counter() - begin:.0f} s", flush=True)
        write("result.csv", lines)
    write("chosen.csv", choose.chosen(lines, refusing()))
    default = SureTagger().get_params()
    mine = Setting(rules.get(default["rule"]), default["average"], default["projection"])
    write("passes.csv", [one for name in TASKS for one in lines_of(name, [mine], MORE_PASSES)])
    write("confidence.csv", list(confidence.lines()))
    draw(HERE / "tagging.png")


if __name__ == "__main__":
    main()

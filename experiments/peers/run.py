"""surelearn beside Vowpal Wabbit, LinearSVC, LogisticRegression and fastText: README.md.

Writes result.csv beside this file. Names of sets may be given; their lines alone are then renewed.
"""

from __future__ import annotations

import csv
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from experiments import sets
from experiments.peers.learners import Contestant, Setting, Task, contestants

#: Every row is judged once.
FOLDS = 3
#: Settings are chosen on a fourth of what a fold learns, at most so many rows learnt and checked;
#: on three thirds in turn where there are few.
CHECKED, LEARNT_AT_MOST, CHECKED_AT_MOST, FEW = 0.25, 8_000, 4_000, 4_500
CHOSEN, DEFAULT = "surelearn, chosen", "surelearn, default"
RESULT = Path(__file__).parent / "result.csv"


class Rows:
    """A set, from which `task` makes the features of one fold."""

    def __init__(self, name: str) -> None:
        corpus = sets.texts(name)
        self.classes, self.y = np.unique(corpus.y, return_inverse=True)
        self.groups = sets.numbered(corpus.texts)
        self.ordered = name not in sets.TOKENISED
        self.pairs = self.ordered and len(self.classes) == 2
        counts = sets.hashed(corpus.texts, name, norm=None, pairs=self.pairs)
        counts.data = np.log1p(counts.data)
        self.counts = counts[:, np.unique(counts.indices)]  # columns that some text uses
        self.tokens = [_tokens(text) if self.ordered else text for text in corpus.texts]

    def task(self, learn: np.ndarray) -> Task:
        """Log counts times how rare a word is among the rows to learn; rows of length 1."""
        met = np.bincount(self.counts[learn].indices, minlength=self.counts.shape[1])
        X = self.counts.copy()
        X.data *= (np.log((1 + len(learn)) / (1 + met)) + 1).astype(np.float32)[X.indices]
        X = normalize(X, copy=False)
        lines = {"weighted": list(_lines(X))}
        if len(self.classes) == 2:
            lines["plain"] = [re.sub(r":\S+", "", line) for line in lines["weighted"]]
        return Task(X, self.tokens, lines, self.y, len(self.classes))


def _tokens(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def _lines(X: Any) -> Iterator[str]:
    """Rows in the format of Vowpal Wabbit, without labels."""
    for begin, end in zip(X.indptr, X.indptr[1:], strict=False):
        pairs = zip(X.indices[begin:end].tolist(), X.data[begin:end].tolist(), strict=True)
        yield "| " + " ".join(f"{feature}:{value:.6g}" for feature, value in pairs)


def trials(rows: Rows, learn: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Parts of the rows to learn: what settings learn from, and what they are chosen on."""
    groups = rows.groups[learn]
    if len(learn) <= FEW:
        return [(learn[part], learn[check]) for part, check in sets.folds(groups, 3)]
    part, check = sets.cut(learn, groups, CHECKED)
    return [(part[:LEARNT_AT_MOST], check[:CHECKED_AT_MOST])]


def chosen(who: Contestant, task: Task, parts: list[tuple[np.ndarray, np.ndarray]]) -> Setting:
    """The setting that is right most often, the first of equals."""
    if len(who.grid) == 1:
        return who.grid[0]
    right: dict[str, int] = {}
    settings: dict[str, Setting] = {}
    for learn, check in parts:
        for setting, predict in who.trials(task, learn):
            key = str(setting)
            settings[key] = setting
            right[key] = right.get(key, 0) + int(np.sum(predict(check) == task.y[check]))
    return settings[max(right, key=right.__getitem__)]


def judged(name: str, folder: Path) -> dict[str, dict[str, list[Any]]]:
    """For each contestant and fold: which rows were right, seconds, and the setting."""
    rows = Rows(name)
    out: dict[str, dict[str, list[Any]]] = {}
    for learn, judge in sets.folds(rows.groups, FOLDS):
        task, parts = rows.task(learn), trials(rows, learn)
        for who in contestants(folder, ordered=rows.ordered):
            setting = chosen(who, task, parts)
            predict = who.learn(task, learn, setting)
            found = {
                "right": (predict(judge) == task.y[judge]).astype(float),
                "wall": who.clock.wall,
                "cpu": who.clock.cpu,
                "setting": ", ".join(f"{key} {value}" for key, value in setting.items()),
            }
            for what, value in found.items():
                out.setdefault(who.name, {}).setdefault(what, []).append(value)
            accuracy = f"{100 * found['right'].mean():6.2f} %"
            print(
                f"  {who.name:20} {accuracy} {found['wall']:7.3f} s  {found['setting']}", flush=True
            )
    return out


def lead(ours: list[np.ndarray], theirs: list[np.ndarray]) -> tuple[float, float, float]:
    """Points by which we lead on the same rows; its standard error over rows, and over folds."""
    differences = [a - b for a, b in zip(ours, theirs, strict=True)]
    every, means = np.concatenate(differences), np.array([d.mean() for d in differences])
    over_rows = every.std(ddof=1) / np.sqrt(len(every))
    over_folds = means.std(ddof=1) / np.sqrt(len(means))
    return 100 * float(every.mean()), 100 * float(over_rows), 100 * float(over_folds)


def lines_of(name: str, found: dict[str, dict[str, list[Any]]]) -> Iterator[dict[str, Any]]:
    """One line for each contestant."""
    for who, kept in found.items():
        right = np.concatenate(kept["right"])
        line: dict[str, Any] = {
            "set": name,
            "rows": len(right),
            "folds": len(kept["right"]),
            "contestant": who,
            "accuracy %": f"{100 * right.mean():.2f}",
            "seconds": f"{np.median(kept['wall']):.3f}",
            "processor seconds": f"{np.median(kept['cpu']):.3f}",
        }
        for ours in (CHOSEN, DEFAULT):
            figures = zip(
                ("leads by", "error over rows", "error over folds"),
                lead(found[ours]["right"], kept["right"]),
                strict=True,
            )
            line |= {f"{ours}: {what}": f"{figure:.2f}" for what, figure in figures}
        yield {**line, "settings": " | ".join(dict.fromkeys(kept["setting"]))}


def main() -> None:
    names = sys.argv[1:] or list(sets.TEXTS)
    kept: list[dict[str, Any]] = []
    if sys.argv[1:] and RESULT.exists():
        with RESULT.open(encoding="utf-8", newline="") as file:
            kept = [line for line in csv.DictReader(file) if line["set"] not in names]
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        for name in names:
            print(name)
            kept += lines_of(name, judged(name, Path(folder)))
    order = list(sets.TEXTS)
    kept.sort(key=lambda line: order.index(line["set"]))
    with RESULT.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, kept[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept)


if __name__ == "__main__":
    main()

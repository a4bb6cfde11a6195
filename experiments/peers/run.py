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
from typing import Any, NamedTuple

import numpy as np
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from experiments import sets
from experiments.peers.learners import Contestant, Setting, Task, contestants
from experiments.peers.paired import lead

#: Every row is judged once.
FOLDS = 3
#: Settings are chosen on a fourth of what a fold learns, or on three thirds in turn where there are
#: few rows. Of long texts some rows are enough: so many, or so many features in all.
CHECKED, FEW, ENOUGH_ROWS, ENOUGH_FEATURES = 0.25, 4_500, 5_000, 750_000
CHOSEN, DEFAULT = "surelearn, chosen", "surelearn, default"
RESULT = Path(__file__).parent / "result.csv"


class Rows:
    """A set, from which `task` makes the features of one fold."""

    def __init__(self, name: str) -> None:
        self.name, corpus = name, sets.texts(name)
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
    enough = max(ENOUGH_ROWS, int(ENOUGH_FEATURES * len(rows.y) / rows.counts.nnz))
    return [(part[:enough], check[: 3 * enough // 5])]


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


class Fold(NamedTuple):
    """What one contestant did on one fold."""

    right: np.ndarray
    wall: float
    cpu: float
    setting: str


def judged(rows: Rows, folder: Path) -> dict[str, list[Fold]]:
    """Every contestant on every fold."""
    out: dict[str, list[Fold]] = {}
    for learn, judge in sets.folds(rows.groups, FOLDS):
        task, parts = rows.task(learn), trials(rows, learn)
        for who in contestants(folder, ordered=rows.ordered):
            setting = chosen(who, task, parts)
            right = who.learn(task, learn, setting)(judge) == task.y[judge]
            said = ", ".join(f"{key} {value}" for key, value in setting.items())
            fold = Fold(right.astype(float), who.clock.wall, who.clock.cpu, said)
            out.setdefault(who.name, []).append(fold)
            print(f"  {who.name:20} {100 * right.mean():6.2f} % {fold.wall:8.3f} s  {said}")
    return out


def lines_of(rows: Rows, found: dict[str, list[Fold]]) -> Iterator[dict[str, Any]]:
    """One line for each contestant."""
    for who, kept in found.items():
        line: dict[str, Any] = {
            "set": rows.name,
            "classes": len(rows.classes),
            "rows": len(rows.y),
            "features": rows.counts.shape[1],
            "contestant": who,
            "accuracy %": f"{100 * np.concatenate([fold.right for fold in kept]).mean():.2f}",
            "seconds": f"{np.median([fold.wall for fold in kept]):.3f}",
            "processor seconds": f"{np.median([fold.cpu for fold in kept]):.3f}",
        }
        for ours in (CHOSEN, DEFAULT):
            figures = lead(*([fold.right for fold in folds] for folds in (found[ours], kept)))
            what = ("leads by", "error over rows", "error over folds")
            line |= {f"{ours}: {w}": f"{f:.2f}" for w, f in zip(what, figures, strict=True)}
        yield {**line, "settings": " | ".join(dict.fromkeys(fold.setting for fold in kept))}


def renew(lines: list[dict[str, Any]]) -> None:
    """Put these lines in the place of those the result has of the same set."""
    kept: list[dict[str, Any]] = []
    if RESULT.exists():
        with RESULT.open(encoding="utf-8", newline="") as file:
            kept = [line for line in csv.DictReader(file) if line["set"] != lines[0]["set"]]
    order = list(sets.TEXTS)
    kept = sorted(kept + lines, key=lambda line: order.index(line["set"]))
    with RESULT.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, lines[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        for name in sys.argv[1:] or sets.TEXTS:
            print(name)
            rows = Rows(name)
            renew(list(lines_of(rows, judged(rows, Path(folder)))))


if __name__ == "__main__":
    main()

"""The contestants: each learns some rows under one setting and predicts others; knows no set."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import fasttext
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from vowpalwabbit import Workspace

from surelearn import SureClassifier, rules

Setting = Mapping[str, Any]
Predict = Callable[[np.ndarray], np.ndarray]


class Task(NamedTuple):
    """A set: matrix, tokens with a blank between them, labels 0 .. K - 1; all rows, in one order.

    `lines` holds the rows in the text format of Vowpal Wabbit, "weighted" as in the matrix and, for
    two classes, "plain": every feature 1.
    """

    X: Any
    tokens: list[str]
    lines: Mapping[str, list[str]]
    y: np.ndarray
    n_classes: int


@dataclass
class Clock:
    """Seconds on the wall and of the processor, of what is done `with` it."""

    wall: float = 0.0
    cpu: float = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.wall, self.cpu = time.perf_counter() - wall, time.process_time() - cpu


@dataclass
class Contestant:
    """Settings to choose from, and how one is learnt; `clock` has the time of the last `learn`."""

    name: str
    grid: list[Setting]
    clock: Clock = field(default_factory=Clock)

    def learn(self, task: Task, rows: np.ndarray, setting: Setting) -> Predict:
        raise NotImplementedError

    def trials(self, task: Task, rows: np.ndarray) -> Iterator[tuple[Setting, Predict]]:
        """Every setting, learnt."""
        for setting in self.grid:
            yield setting, self.learn(task, rows, setting)


def _predict(clf: Any, task: Task) -> Predict:
    return lambda judge: clf.predict(task.X[judge])


class Default(Contestant):
    """`SureClassifier()` as it comes."""

    def learn(self, task: Task, rows: np.ndarray, setting: Setting) -> Predict:
        X, y = task.X[rows], task.y[rows]
        clf = SureClassifier(random_state=0, **setting, scale=False)
        with self.clock.running():
            clf.fit(X, y)
        return _predict(clf, task)


@dataclass
class Tuned(Default):
    """Rules, their parameters, averaging and passes; a trial of ten passes also tries fewer."""

    passes: tuple[int, ...] = (1, 5, 10)

    def trials(self, task: Task, rows: np.ndarray) -> Iterator[tuple[Setting, Predict]]:
        X, y = task.X[rows], task.y[rows]
        for setting in self.grid:
            random = np.random.default_rng(0)
            clf = SureClassifier(**setting, scale=False)
            predict = _predict(clf, task)
            for number in range(1, max(self.passes) + 1):
                order = random.permutation(len(rows))
                clf.partial_fit(X[order], y[order], classes=np.arange(task.n_classes))
                if number in self.passes:
                    yield {**setting, "passes": number}, predict


@dataclass
class Linear(Contestant):
    """A classifier of scikit-learn."""

    make: Callable[..., Any] = LinearSVC

    def learn(self, task: Task, rows: np.ndarray, setting: Setting) -> Predict:
        X, y = task.X[rows], task.y[rows]
        clf = self.make(**setting)
        with warnings.catch_warnings(), self.clock.running():
            warnings.simplefilter("error")  # one that has not converged is no peer
            clf.fit(X, y)
        return _predict(clf, task)


@dataclass
class VowpalWabbit(Contestant):
    """The same features in its own format, read from its binary cache, written beforehand."""

    folder: Path = Path()

    def learn(self, task: Task, rows: np.ndarray, setting: Setting) -> Predict:
        return self._learnt(task, self._written(task, rows, setting["features"]), setting)

    def trials(self, task: Task, rows: np.ndarray) -> Iterator[tuple[Setting, Predict]]:
        for features in task.lines:
            common = self._written(task, rows, features)
            for setting in self.grid:
                chosen = {"features": features, **setting}
                yield chosen, self._learnt(task, common, chosen)

    def _written(self, task: Task, rows: np.ndarray, features: str) -> str:
        text, cache = self.folder / "rows.vw", self.folder / "rows.cache"
        cache.unlink(missing_ok=True)
        labels = 2 * task.y - 1 if task.n_classes == 2 else task.y + 1
        with text.open("w", encoding="ascii") as out:
            out.writelines(f"{labels[row]} {task.lines[features][row]}\n" for row in rows)
        many = f"--oaa {task.n_classes}" if task.n_classes > 2 else ""
        # A place for each feature and class: no two share one. A feature takes a power of two.
        bits = (task.X.shape[1] - 1).bit_length() + (task.n_classes - 1).bit_length() * bool(many)
        common = f"-d {text} --cache_file {cache} -b {bits} {many} --holdout_off --quiet"
        Workspace(common).finish()
        return common

    def _learnt(self, task: Task, common: str, setting: Setting) -> Predict:
        options = [f"--{name} {value}" for name, value in setting.items() if name != "features"]
        lines = task.lines[setting["features"]]
        with self.clock.running():
            model = Workspace(" ".join([common, *options]))

        def predict(judge: np.ndarray) -> np.ndarray:
            found = np.array([model.predict(lines[row]) for row in judge])
            return (found > 0).astype(int) if task.n_classes == 2 else found - 1

        return predict


@dataclass
class FastText(Contestant):
    """The raw text, cut into the same words; time includes reading it, as it makes features too."""

    folder: Path = Path()

    def learn(self, task: Task, rows: np.ndarray, setting: Setting) -> Predict:
        path = self.folder / "rows.txt"
        with path.open("w", encoding="utf-8") as out:
            out.writelines(f"__label__{task.y[row]} {task.tokens[row]}\n" for row in rows)
        with self.clock.running():
            model = fasttext.train_supervised(str(path), thread=1, verbose=0, **setting)

        def predict(judge: np.ndarray) -> np.ndarray:
            # A list: for a single text the package asks numpy 2 for what it refuses.
            labels, _ = model.predict([task.tokens[row] for row in judge])
            return np.array([int(label[0].removeprefix("__label__")) for label in labels])

        return predict


def _grid(**values: tuple[Any, ...]) -> list[Setting]:
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]


#: For rows of length 1. Of equals the first is chosen.
RULES = (
    *(rules.AROW(r=r) for r in (1.0, 10.0)),
    *(rules.Variance(phi=phi) for phi in (0.3, 1.0, 3.0)),
    *(rules.SCW1(phi=1.0, C=C) for C in (0.1, 1.0)),
    *(rules.Probit(noise=noise) for noise in (0.1, 1.0)),
)


def contestants(folder: Path, *, ordered: bool = True) -> list[Contestant]:
    """All of them, ours first; tokens that are not `ordered` have no pairs for fastText."""
    passes = (1, 3, 10)
    logistic = _grid(loss_function=("logistic",), passes=passes, learning_rate=(0.5, 2.0))
    hinge = _grid(loss_function=("hinge",), passes=passes)
    svm, maxent = partial(LinearSVC, max_iter=10_000), partial(LogisticRegression, max_iter=1000)
    words = {"wordNgrams": (1, 2) if ordered else (1,), "epoch": (5, 25), "lr": (0.5,)}
    return [
        Tuned("surelearn, chosen", _grid(rule=RULES, average=(False, True))),
        Default("surelearn, default", [{}]),
        VowpalWabbit("Vowpal Wabbit", [*logistic, *hinge], folder=folder),
        Linear("LinearSVC", _grid(C=(0.1, 0.3, 1.0, 3.0, 10.0)), make=svm),
        Linear("LogisticRegression", _grid(C=(10.0, 100.0)), make=maxent),
        FastText("fastText", _grid(**words, dim=(10,)), folder=folder),
    ]

"""The learners of the 2009 paper, tuned on rows that no fold judges; must not know tables."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier
from sklearn.svm import LinearSVC

from experiments.papers.entry import Row, Rows
from experiments.papers.multiclass.results import packed
from experiments.papers.multiclass.tasks import Places, Split, Task, load, splits
from surelearn import SureClassifier, rules
from surelearn.constraints import Constraints, Exact, Parallel, Sequential, Single
from surelearn.learners import MulticlassSVM, SoftmaxClassifier

PASSES = 10
PHIS = (0.03, 0.1, 0.3, 1.0, 3.0)
PA_CS = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.1)
SVM_CS = (0.001, 0.003, 0.01, 0.1)
PRIORS = (0.1, 1.0, 10.0)


class Online(NamedTuple):
    """A rule with one parameter, its grid, the rivals it learns from, and how many folds."""

    rule: Callable[[float], rules.Rule]
    grid: tuple[float, ...]
    constraints: Constraints
    n_folds: int = 10


class Batch(NamedTuple):
    """A model with one parameter, its grid, how many folds, and whose parameter it takes over."""

    make: Callable[[float], Any]
    grid: tuple[float, ...]
    n_folds: int = 5
    tuned_as: str = ""


def variance(phi: float) -> rules.Rule:
    """The rule of the paper, by its phi."""
    return rules.Variance(phi=phi)


def _pa(C: float) -> rules.Rule:
    return rules.PA1(C=C)


def _one_vs_one(C: float) -> Any:
    return OneVsOneClassifier(LinearSVC(C=C, loss="hinge", tol=0.1, max_iter=200))


def _liblinear(C: float) -> Any:
    return LinearSVC(C=C, multi_class="crammer_singer", tol=0.1, max_iter=200)


def _svm(C: float) -> Any:
    return MulticlassSVM(C, tol=1e-2, max_iter=200, random_state=0, n_jobs=1)


def _logistic(prior: float) -> Any:
    return LogisticRegression(C=1 / prior)


def softmax(prior: float) -> Any:
    """Maximum entropy with a Gaussian prior of this precision."""
    return SoftmaxClassifier(prior, tol=1e-2, max_iter=100, n_jobs=1)


ONLINE = {
    "perceptron": Online(lambda _: rules.Perceptron(), (0.0,), Single()),
    "PA k=1": Online(_pa, PA_CS, Single()),
    "PA k=5": Online(_pa, PA_CS, Exact(5)),
    "CW k=1": Online(variance, PHIS, Single()),
    "CW k=5": Online(variance, PHIS, Sequential(5)),
    "CW all": Online(variance, PHIS, Sequential()),
    "parallel": Online(variance, PHIS, Parallel(), 5),
    "exact": Online(variance, PHIS, Exact(), 5),
}
BATCH = {
    "SVM 1 vs 1": Batch(_one_vs_one, (0.01, 0.1, 1.0)),
    "SVM MC, ours": Batch(_svm, SVM_CS),
    "SVM MC": Batch(_liblinear, SVM_CS, 3, "SVM MC, ours"),
    "maxent, ours": Batch(softmax, PRIORS, 3),
    "maxent": Batch(_logistic, PRIORS, 2, "maxent, ours"),
}


class Choice(NamedTuple):
    """Parameter and passes that were best on the rows to choose by."""

    value: float
    passes: int


def online(learner: Online, value: float) -> SureClassifier:
    """A model as in the paper: exact probabilities, nothing held back."""
    return SureClassifier(
        learner.rule(value), constraints=learner.constraints, probability="exact", scale=False
    )


def trained(model: Any, task: Task, learn: Places, *, passes: int, seed: int) -> Iterator[Any]:
    """The model after each pass, each in a new random order."""
    random = np.random.default_rng(seed)
    classes = np.unique(task.y[learn])
    for _ in range(passes):
        order = random.permutation(learn)
        yield model.partial_fit(task.X[order], task.y[order], classes=classes)


def fitted(model: Any, task: Task, learn: Places) -> Any:
    """A batch model; peers that stop at their limit of iterations are taken as they are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(task.X[learn].astype(np.float64), task.y[learn])


def right(model: Any, task: Task, places: Places) -> NDArray[np.bool_]:
    """Which of the rows it has right."""
    found: NDArray[np.bool_] = model.predict(task.X[places]) == task.y[places]
    return found


def _curve(
    learner: Online, value: float, task: Task, split: Split, *, seed: int
) -> list[NDArray[np.bool_]]:
    """Which rows are right after each pass."""
    models = trained(online(learner, value), task, split.learn, passes=PASSES, seed=seed)
    return [right(model, task, split.judge) for model in models]


@cache
def choice(task_name: str, name: str, quick: bool) -> Choice:
    """The best of the grid on one run that learns all rows but those to choose by."""
    task = load(task_name, quick)
    (first,) = splits(task, 1)
    rest = np.setdiff1d(np.arange(len(task.y)), first.choose)
    run = Split(rest, first.choose, first.choose)
    found = {}
    if name in ONLINE:
        for value in _grid(ONLINE[name].grid, quick):
            for at, one in enumerate(_curve(ONLINE[name], value, task, run, seed=99)):
                found[Choice(value, at + 1)] = one.mean()
    else:
        for value in _grid(BATCH[name].grid, quick):
            model = fitted(BATCH[name].make(value), task, rest)
            found[Choice(value, 0)] = right(model, task, first.choose).mean()
    return max(found, key=found.__getitem__)


def _grid(values: tuple[float, ...], quick: bool) -> tuple[float, ...]:
    return values[1::2] if quick and len(values) > 1 else values


@cache
def found(task_name: str, name: str, quick: bool) -> Rows:
    """A row for each fold: accuracy, which rows are right, and for online learners all passes."""
    task = load(task_name, quick)
    learner = ONLINE.get(name) or BATCH[name]
    best = choice(task_name, getattr(learner, "tuned_as", "") or name, quick)
    n_folds = min(2, learner.n_folds) if quick else learner.n_folds
    rows = []
    for fold, split in enumerate(splits(task, n_folds)):
        curve = _judged(learner, best.value, task, split, seed=fold)
        about = {"task": task_name, "learner": name, "fold": fold, **best._asdict()}
        rows.append({**about, **_counted(curve, best.passes)})
    return rows


def _judged(
    learner: Online | Batch, value: float, task: Task, split: Split, *, seed: int
) -> list[NDArray[np.bool_]]:
    """Which rows are right, after each pass of an online learner."""
    # What has chosen the parameter is learnt as well: folds are then nearly those of the paper.
    both = split._replace(learn=np.concatenate([split.learn, split.choose]))
    if isinstance(learner, Online):
        return _curve(learner, value, task, both, seed=seed)
    return [right(fitted(learner.make(value), task, both.learn), task, split.judge)]


def _counted(curve: list[NDArray[np.bool_]], passes: int) -> Row:
    kept = curve[passes - 1]
    return {
        "curve": [100 * float(one.mean()) for one in curve],
        "accuracy": 100 * float(kept.mean()),
        "n": len(kept),
        "right": packed(kept),
    }

"""Learning curves of ways to ask, where all labels are known; must not know how rows are scored.

A run holds one fold of the rows out, hides the labels of the others and uncovers one at a time.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_array, check_random_state

from surelearn import _check, rules
from surelearn.active._curves import Simulation
from surelearn.active._query import scores
from surelearn.estimators import SureClassifier, SureTextClassifier
from surelearn.estimators.labels import as_labels
from surelearn.estimators.text_classifier import new_vectorizer
from surelearn.training.shards import spread

#: Fewer rows than this that judge a run make steps of accuracy that hide what is asked for.
_FEW = 20


def simulate(
    X: Any,
    y: Any,
    *,
    learners: Mapping[str, Any] | None = None,
    strategies: Sequence[str] = ("random", "margin", "acl"),
    n_labels: int = 500,
    n_folds: int = 10,
    n_runs: int | None = None,
    every: int = 1,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Simulation:
    """Play active learning on rows whose labels are known, and draw its learning curves.

    In every run one fold is held out; the labels of the other rows are hidden. Each learner starts
    from one random row of every class, the same for all. Then each strategy names one row, its
    label is uncovered, the learner makes one online update with it, and its accuracy on the fold is
    taken. Beside the curves stands what each learner makes of all rows that are not held out, in
    one pass: `full`.

    Somebody who has 300 labels and wonders whether to go on in this way hands in these 300: the
    curves, `Simulation.worth` above all, tell what asking would have saved so far.

    Parameters
    ----------
    X : array, CSR matrix or frame of shape (n_samples, n_features), or list of str
        Texts are hashed once, as `SureTextClassifier` does, and shared by all runs.
    y : array of shape (n_samples,)
        All labels.
    learners : dict of {str: classifier}, optional
        Classifiers with `partial_fit`, by the name to show; they stay as they are. A
        `SureTextClassifier` reads texts with its own settings. Default: those of the paper, PA with
        ``PA1(C=1)`` and CW with ``Variance(phi=1)``.
    strategies : list of str, default ("random", "margin", "acl")
        Names as in `query`. What a learner lacks the numbers for, such as PA for ``"acl"``, is left
        out, as long as another learner has them.
    n_labels : int, default 500
        Labels to ask for in all, those of the first rows included; at most as many as there are.
    n_folds : int, default 10
        Rows of every class are dealt out evenly; each run holds one fold out.
    n_runs : int, optional
        Default: `n_folds`. After every `n_folds` runs folds are dealt anew.
    every : int, default 1
        Labels between two tests.
    groups : array of shape (n_samples,), optional
        Rows of one group, such as equal texts, are never on both sides.
    random_state : int, RandomState or None, default None
        Decides folds, orders and first rows.
    n_jobs : int, optional
        Threads; None and -1: as many as there are cores. Never changes the result.
    progress : callable, optional
        Called as ``progress(done, total)`` after each curve.

    Returns
    -------
    Simulation

    References
    ----------
    Dredze & Crammer 2008, Active Learning with Confidence, section 4. Theirs are 10 folds and 500
    labels. They do not say how often a learner goes through all rows for the accuracy to be
    reached: here it is once, as often as each row is learnt when its label is asked for.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surelearn.active import simulate
    >>> found = simulate(*load_iris(return_X_y=True), n_labels=30, n_folds=5, random_state=0)
    >>> found.curves["CW", "acl"].shape
    (5, 28)
    """
    _check.callback("progress", progress)
    labels = as_labels(y)
    classes = np.unique(labels)
    _check.two_classes(classes, "simulate")
    learners = _learners(learners)
    rows = _rows(learners, X)
    _check.one_label_a_row(len(labels), next(iter(rows.values())).X.shape[0])
    runs = _runs(labels, groups, n_folds, n_runs=n_runs, random=check_random_state(random_state))
    task = _Task(labels, classes, _grid(n_labels, every, runs=runs, n_classes=len(classes)))
    pairs = _pairs(task, rows, runs[0], strategies=strategies)
    jobs = [*product(pairs, runs), *product(((name, None) for name in rows), runs)]

    def work(job: tuple[tuple[str, str | None], _Run]) -> Any:
        (name, strategy), run = job
        if strategy is None:
            return task.full(rows[name], run)
        return task.curve(rows[name], run, strategy)

    found: dict[tuple[str, str | None], list[Any]] = {}
    done = spread(jobs, work, _check.threads("n_jobs", n_jobs))
    for count, ((pair, _), result) in enumerate(zip(jobs, done, strict=True), 1):
        found.setdefault(pair, []).append(result)
        if progress is not None:
            progress(count, len(jobs))
    return Simulation(
        task.grid,
        {pair: found[pair] for pair in pairs},
        {name: found[name, None] for name in rows},
        pool=[len(run.pool) for run in runs],
    )


# ---------------------------------------------------------------------- learning


class _Run(NamedTuple):
    """Places of the rows to ask about, in the order of this run, and of those held out."""

    pool: NDArray[np.int64]
    test: NDArray[np.int64]
    seed: int


class _Learner(NamedTuple):
    """A classifier and the rows as it takes them."""

    model: Any
    X: Any

    def fresh(self, seed: int) -> Any:
        """A copy that has learnt nothing, and draws nothing that `seed` does not decide."""
        model = clone(self.model)
        if model.get_params(deep=False).get("random_state", 0) is None:
            model.set_params(random_state=seed)
        return model


class _Task(NamedTuple):
    """What all learners and strategies are set."""

    y: NDArray[Any]
    classes: NDArray[Any]
    grid: NDArray[np.int64]

    def full(self, learner: _Learner, run: _Run) -> float:
        """Accuracy after one pass over all rows of the pool."""
        model = learner.fresh(run.seed)
        model.partial_fit(learner.X[run.pool], self.y[run.pool], classes=self.classes)
        return self._accuracy(model, learner.X[run.test], run)

    def started(self, learner: _Learner, run: _Run) -> tuple[Any, NDArray[np.int64]]:
        """A model that knows the first row of each class, and the places of those in the pool."""
        first = np.sort(np.unique(self.y[run.pool], return_index=True)[1])
        places = run.pool[first]
        model = learner.fresh(run.seed)
        model.partial_fit(learner.X[places], self.y[places], classes=self.classes)
        return model, first

    def curve(self, learner: _Learner, run: _Run, strategy: str) -> list[float]:
        """Accuracy after each number of labels of the grid."""
        model, first = self.started(learner, run)
        pool, test, y = learner.X[run.pool], learner.X[run.test], self.y[run.pool]
        left = np.delete(np.arange(len(y)), first)
        random = np.random.RandomState(run.seed)  # one for all: random order is one order
        accuracy = [self._accuracy(model, test, run)]
        tested = set(self.grid.tolist())
        for known in range(len(first) + 1, int(self.grid[-1]) + 1):
            # Scoring all rows of the pool is quicker than cutting those out that are left.
            asked = scores(model, pool, strategy, random_state=random)[left].argmin()
            _learn(model, pool, y, int(left[asked]))
            left = np.delete(left, asked)
            if known in tested:
                accuracy.append(self._accuracy(model, test, run))
        return accuracy

    def _accuracy(self, model: Any, X: Any, run: _Run) -> float:
        return float(np.mean(model.predict(X) == self.y[run.test]))


def _learn(model: Any, X: Any, y: NDArray[Any], row: int) -> None:
    """One online update."""
    if isinstance(model, SureClassifier):
        model.learn_one(X[row : row + 1], y[row])  # the same bits, without the checks
    else:
        model.partial_fit(X[row : row + 1], y[row : row + 1])


# ---------------------------------------------------------------------- learners


def _learners(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Classifiers that can go on learning, by name."""
    if given is None:
        return {"PA": SureClassifier(rules.PA1(C=1.0)), "CW": SureClassifier(rules.Variance(phi=1))}
    if not isinstance(given, Mapping) or not given:
        raise TypeError(f"learners must be a dict of {{name: classifier}}, got {given!r}.")
    for name, learner in given.items():
        if not isinstance(name, str):
            raise TypeError(f"learners must have names that are str, got {name!r}.")
        _check.classifier(f"learners[{name!r}]", learner)
        if not hasattr(learner, "partial_fit"):
            raise TypeError(f"learners[{name!r}] must have partial_fit, got {learner!r}.")
    return dict(given)


def _rows(learners: dict[str, Any], X: Any) -> dict[str, _Learner]:
    """Every learner with its rows; those that read texts alike share one matrix."""
    if not _is_texts(X):
        for name, learner in learners.items():
            if isinstance(learner, SureTextClassifier):
                raise ValueError(f"X must be texts for learners[{name!r}], got rows of numbers.")
        rows = _compact(check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32]))
        return {name: _Learner(learner, rows) for name, learner in learners.items()}
    hashed: dict[str, Any] = {}
    found = {}
    for name, learner in learners.items():
        reader = learner if isinstance(learner, SureTextClassifier) else SureTextClassifier()
        vectorizer = new_vectorizer(reader)
        key = repr(vectorizer.get_params())
        if key not in hashed:
            hashed[key] = _compact(sparse.csr_matrix(vectorizer.transform(X)))
        found[name] = _Learner(_of_rows(learner), hashed[key])
    return found


def _is_texts(X: Any) -> bool:
    if sparse.issparse(X) or hasattr(X, "columns"):
        return False
    return hasattr(X, "to_pylist") or np.ndim(X) == 1


def _compact(X: Any) -> Any:
    """Sparse rows without the columns that none of them uses: models are small and quick then."""
    return X[:, np.unique(X.indices)] if sparse.issparse(X) and X.nnz else X


def _of_rows(learner: Any) -> Any:
    """A classifier of rows that learns as one of texts does."""
    if not isinstance(learner, SureTextClassifier):
        return learner
    params = learner.get_params(deep=False)
    return SureClassifier(**{name: params[name] for name in SureClassifier().get_params(False)})


def _pairs(
    task: _Task, rows: dict[str, _Learner], run: _Run, *, strategies: Sequence[str]
) -> list[tuple[str, str]]:
    """Learners with the strategies that they have the numbers for; one of them for each."""
    if isinstance(strategies, str) or not len(strategies):
        raise TypeError(f"strategies must be a list of names, got {strategies!r}.")
    if len(set(strategies)) < len(strategies):
        raise ValueError(f"strategies must differ, got {list(strategies)!r}.")
    models = {name: task.started(learner, run)[0] for name, learner in rows.items()}
    errors: dict[str, ValueError] = {}
    pairs = []
    for name, strategy in product(rows, strategies):
        try:
            scores(models[name], rows[name].X[:1], strategy, random_state=0)
            pairs.append((name, strategy))
        except ValueError as error:
            errors[strategy] = error
    for strategy in strategies:
        if strategy not in {able for _, able in pairs}:
            raise errors[strategy]
    return pairs


# -------------------------------------------------------------------------- runs


def _runs(
    y: NDArray[Any], groups: Any, n_folds: int, *, n_runs: int | None, random: np.random.RandomState
) -> list[_Run]:
    """All folds in turn, dealt anew when they are through."""
    folds = _check.count("n_folds", n_folds, least=2)
    wanted = folds if n_runs is None else _check.count("n_runs", n_runs)
    together = _groups(groups, len(y))
    n_groups = int(together.max()) + 1
    if n_groups < folds:
        what = "rows" if groups is None else "groups"
        raise ValueError(f"n_folds must be at most {n_groups}, the {what} of X, got {folds}.")
    runs: list[_Run] = []
    while len(runs) < wanted:
        fold = _dealt(y, together, folds, random)
        for held_out in range(min(folds, wanted - len(runs))):
            pool = random.permutation(np.flatnonzero(fold != held_out))
            test = np.flatnonzero(fold == held_out)
            runs.append(_Run(pool, test, int(random.randint(2**31))))
    _check_runs(runs, y)
    return runs


def _groups(groups: Any, n_rows: int) -> NDArray[np.int64]:
    """The number of each row's group; each row its own where none are given."""
    if groups is None:
        return np.arange(n_rows)
    if np.shape(groups) != (n_rows,):
        raise ValueError(
            f"groups must have one entry for each of {n_rows} rows, got shape {np.shape(groups)}."
        )
    return np.asarray(np.unique(groups, return_inverse=True)[1])


def _dealt(
    y: NDArray[Any], groups: NDArray[np.int64], n_folds: int, random: np.random.RandomState
) -> NDArray[np.int64]:
    """The fold of each row: the groups of each class, in random order, are dealt out in turn."""
    first = np.unique(groups, return_index=True)[1]
    of_class = np.unique(y, return_inverse=True)[1][first]
    order = np.lexsort((random.permutation(len(first)), of_class))
    fold = np.empty(len(first), dtype=np.int64)
    fold[order] = np.arange(len(first)) % n_folds
    return fold[groups]


def _check_runs(runs: list[_Run], y: NDArray[Any]) -> None:
    """Every class must be there to start from."""
    classes = np.unique(y)
    for run in runs:
        missing = np.setdiff1d(classes, y[run.pool])
        if len(missing):
            rows = int(np.sum(y == missing[0]))
            raise ValueError(
                f"y must have rows of {missing.tolist()[0]!r} in more than one fold, got {rows} "
                "in one. Get more of them, or leave the class out."
            )
    fewest = min(len(run.test) for run in runs)
    if fewest < _FEW:
        warnings.warn(
            f"Only {fewest} rows judge a run: accuracy moves in steps of {100 / fewest:.0f} %. "
            "Take fewer folds, or read the intervals with care.",
            stacklevel=4,  # of who calls simulate
        )


def _grid(n_labels: int, every: int, *, runs: list[_Run], n_classes: int) -> NDArray[np.int64]:
    """Numbers of labels at which is tested: the first, every so many, the last."""
    smallest = min(len(run.pool) for run in runs)
    most = _check.count("n_labels", n_labels)
    if most <= n_classes:
        raise ValueError(
            f"n_labels must be more than {n_classes}, one row of each class, got {most}."
        )
    if smallest <= n_classes:
        raise ValueError(
            f"X must have more rows than classes in every run, got {smallest} rows to ask about "
            f"and {n_classes} classes."
        )
    last = min(most, smallest)
    steps = np.arange(n_classes, last, _check.count("every", every))
    return np.append(steps, last).astype(np.int64)

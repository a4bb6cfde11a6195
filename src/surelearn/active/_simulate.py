"""Learning curves of query strategies on labelled rows; must not know how rows are scored.

A run holds out one fold, hides the labels of the other rows and reveals them one at a time.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_array, check_random_state

from surelearn import _check, rules
from surelearn.active._curves import Simulation
from surelearn.active._query import STRATEGIES, rate, scores
from surelearn.active._table_rows import columns_for, is_table, n_rows, taken
from surelearn.active._teach import LabelledRow, ReplayTrainer, replays
from surelearn.active._view import ReadRows
from surelearn.columns.cells import Table
from surelearn.columns.known import Known
from surelearn.learners import SureClassifier, SureTableClassifier, SureTextClassifier
from surelearn.learners.labels import as_labels
from surelearn.learners.tasks.row_task import ROWS
from surelearn.learners.text_classifier import new_vectorizer
from surelearn.training.shards import spread

#: With fewer held-out rows than this, accuracy moves in steps that hide the differences.
_FEW = 20


def simulate(
    X: Any,
    y: Any,
    *,
    learners: Mapping[str, Any] | None = None,
    strategies: Sequence[str] = ("random", "margin", "acl"),
    passes: int | None = None,
    n_labels: int = 500,
    n_folds: int = 10,
    n_runs: int | None = None,
    every: int = 1,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Simulation:
    """Simulate active learning on labelled rows, and return its learning curves.

    Each run holds out one fold and hides the labels of the other rows. All learners start from the
    same random rows, one of each class. Then, again and again, the strategy chooses a row, its
    label is revealed, the learner learns as a `Pool` trains it, and its accuracy on the fold is
    measured. For comparison, `full` is the accuracy of each learner with the labels of all rows
    that are not held out.

    If you have 300 labels and wonder whether active learning would help, pass these 300 rows. The
    curves, and `Simulation.worth` above all, tell what it would have saved so far.

    Parameters
    ----------
    X : array, CSR matrix or frame of shape (n_samples, n_features), list of str, or table
        Texts are hashed once, as `SureTextClassifier` does, and shared by all runs. What the
        columns of a table are is decided once, by all rows; their labels are not looked at.
    y : array of shape (n_samples,)
        All labels.
    learners : dict of {str: classifier}, optional
        Classifiers with `partial_fit`, keyed by display name; they do not change. A
        `SureTextClassifier` reads texts with the settings it has; tables need learners that are
        `SureTableClassifier`. Default: "Sure", which is the one of the three that takes X, as it
        comes, and the learners of the paper, which learn each label once: PA with ``PA1(C=1)`` and
        CW with ``Variance(phi=1)``.
    strategies : list of str, default ("random", "margin", "acl")
        Names as in `query`. A learner that cannot use a strategy skips it, such as PA and
        ``"acl"``; at least one learner must be able to use each.
    passes : int, optional
        Passes over the labels so far, as in `Pool`. Default: those of each learner's `fit`.
        With 1 each label is learnt once.
    n_labels : int, default 500
        Total number of labels, including the first rows; at most the size of the pool.
    n_folds : int, default 10
        Folds are stratified by class; each run holds out one.
    n_runs : int, optional
        Default: `n_folds`. New folds are drawn after every `n_folds` runs.
    every : int, default 1
        Labels between two tests.
    groups : array of shape (n_samples,), optional
        Rows of one group, such as equal texts, are either all held out or all in the pool.
    random_state : int, RandomState or None, default None
        Decides folds, orders and first rows.
    n_jobs : int or None, default None
        Threads, as in `tune`. Never changes the result.
    progress : callable, optional
        Called as ``progress(done, total)`` after each curve.

    Returns
    -------
    Simulation

    References
    ----------
    Dredze & Crammer 2008, Active Learning with Confidence, section 4, with 10 folds and 500 labels.
    The paper does not say how many passes over all rows give the target accuracy. Here PA and CW
    make one, since a row whose label is asked for is learnt once as well.

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
    rows = _rows(_learners(learners, passes, X), X)
    _check.one_label_a_row(len(labels), n_rows(next(iter(rows.values())).X))
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
    """Row numbers of the pool, in the order of this run, and of the held-out rows."""

    pool: NDArray[np.int64]
    test: NDArray[np.int64]
    seed: int


class _Learner(NamedTuple):
    """A classifier, how often it learns each label, and the rows in the form it takes."""

    model: Any
    passes: int | None
    X: Any = None
    columns: list[Known] | None = None

    def trainer(self, run: _Run, classes: NDArray[Any]) -> ReplayTrainer:
        """An untrained copy that learns rows of the pool; its random draws depend on the run."""
        model = clone(self.model)
        if model.get_params().get("random_state", run.seed) is None:
            model.set_params(random_state=run.seed)
        # A replay learns the classes from the first rows; other models must know them in advance.
        known = None if replays(model, self.passes) else classes
        more: dict[str, Any] = {"passes": self.passes, "seed": run.seed, "columns": self.columns}
        return ReplayTrainer(model, taken(self.X, run.pool), known, **more)


class _Task(NamedTuple):
    """The labels and the numbers of labels to test at, shared by all learners and strategies."""

    y: NDArray[Any]
    classes: NDArray[Any]
    grid: NDArray[np.int64]

    def full(self, learner: _Learner, run: _Run) -> float:
        """Accuracy with the labels of all rows of the pool."""
        trainer = learner.trainer(run, self.classes)
        trainer.learn(*self._answers(run, range(len(run.pool))))
        return self._accuracy(trainer.model, ReadRows(learner.X, run.test), run)

    def started(self, learner: _Learner, run: _Run) -> tuple[ReplayTrainer, NDArray[np.int64]]:
        """A model trained on the first row of each class, and their positions in the pool."""
        first = np.sort(np.unique(self.y[run.pool], return_index=True)[1])
        trainer = learner.trainer(run, self.classes)
        trainer.learn(*self._answers(run, first))
        return trainer, first

    def curve(self, learner: _Learner, run: _Run, strategy: str) -> list[float]:
        """Accuracy after each number of labels of the grid."""
        trainer, first = self.started(learner, run)
        pool, test = (ReadRows(learner.X, rows) for rows in (run.pool, run.test))
        left = np.delete(np.arange(len(run.pool)), first)
        random = np.random.RandomState(run.seed)  # the same for all, so random order is the same
        accuracy = [self._accuracy(trainer.model, test, run)]
        tested = set(self.grid.tolist())
        for known in range(len(first) + 1, int(self.grid[-1]) + 1):
            # Scoring the whole pool is faster than slicing out the rows that are left.
            asked = rate(pool.view(trainer.model), strategy, random)[left].argmin()
            trainer.learn(*self._answers(run, [left[asked]]))
            left = np.delete(left, asked)
            if known in tested:
                accuracy.append(self._accuracy(trainer.model, test, run))
        return accuracy

    def _answers(self, run: _Run, places: Iterable[int]) -> list[LabelledRow]:
        return [LabelledRow(int(place), self.y[run.pool[place]]) for place in places]

    def _accuracy(self, model: Any, rows: ReadRows, run: _Run) -> float:
        return float(np.mean(rows.view(model).predict() == self.y[run.test]))


# ---------------------------------------------------------------------- learners


def _learners(given: Mapping[str, Any] | None, passes: int | None, X: Any) -> dict[str, _Learner]:
    """The classifiers by name; each must have `partial_fit`."""
    if passes is not None:
        _check.count("passes", passes)
    if given is None:
        plain = SureTableClassifier if is_table(X) else SureClassifier
        return {
            "PA": _Learner(plain(rules.PA1(C=1.0)), 1),
            "CW": _Learner(plain(rules.Variance(phi=1)), 1),
            "Sure": _Learner(SureTextClassifier() if _is_texts(X) else plain(), passes),
        }
    if not isinstance(given, Mapping) or not given:
        raise TypeError(f"learners must be a dict of {{name: classifier}}, got {given!r}.")
    for name, learner in given.items():
        if not isinstance(name, str):
            raise TypeError(f"learners must have names that are str, got {name!r}.")
        ROWS.check_model(f"learners[{name!r}]", learner)
        if not hasattr(learner, "partial_fit"):
            raise TypeError(f"learners[{name!r}] must have partial_fit, got {learner!r}.")
    return {name: _Learner(learner, passes) for name, learner in given.items()}


def _rows(learners: dict[str, _Learner], X: Any) -> dict[str, _Learner]:
    """Each learner with its rows; learners that hash texts alike share one matrix."""
    if any(isinstance(learner.model, SureTableClassifier) for learner in learners.values()):
        return _of_tables(learners, X)
    if not _is_texts(X):
        for name, learner in learners.items():
            if isinstance(learner.model, SureTextClassifier):
                raise ValueError(f"X must be texts for learners[{name!r}], got rows of numbers.")
        rows = _compact(check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32]))
        return {name: learner._replace(X=rows) for name, learner in learners.items()}
    texts = X if hasattr(X, "to_pylist") else list(X)
    hashed: dict[str, Any] = {}
    found = {}
    for name, learner in learners.items():
        reader = learner.model
        if not isinstance(reader, SureTextClassifier):
            reader = SureTextClassifier(idf=False)
        if reader.idf:  # its rows depend on the texts learnt so far
            found[name] = learner._replace(X=texts)
            continue
        vectorizer = new_vectorizer(reader)
        key = repr(vectorizer.get_params())
        if key not in hashed:
            hashed[key] = _compact(sparse.csr_matrix(vectorizer.transform(texts)))
        found[name] = learner._replace(model=_by_rows(learner.model), X=hashed[key])
    return found


def _of_tables(learners: dict[str, _Learner], X: Any) -> dict[str, _Learner]:
    """Each learner with the table, and with its columns."""
    table = Table.of(X)
    for name, learner in learners.items():
        if not isinstance(learner.model, SureTableClassifier):
            raise ValueError(
                f"learners[{name!r}] must be a SureTableClassifier as the others are, got "
                f"{learner.model!r}."
            )
    return {
        name: learner._replace(X=table, columns=columns_for(learner.model, table, is_new=True))
        for name, learner in learners.items()
    }


def _is_texts(X: Any) -> bool:
    if sparse.issparse(X) or hasattr(X, "columns") or is_table(X):
        return False
    return hasattr(X, "to_pylist") or np.ndim(X) == 1


def _compact(X: Any) -> Any:
    """Sparse rows without the unused columns: this keeps the models small and fast."""
    return X[:, np.unique(X.indices)] if sparse.issparse(X) and X.nnz else X


def _by_rows(learner: Any) -> Any:
    """A classifier of hashed rows with the settings of a text classifier."""
    if not isinstance(learner, SureTextClassifier):
        return learner
    params = learner.get_params(deep=False)
    shared = params.keys() & SureClassifier().get_params(deep=False).keys()
    return SureClassifier(**{name: params[name] for name in shared})


def _pairs(
    task: _Task, rows: dict[str, _Learner], run: _Run, *, strategies: Sequence[str]
) -> list[tuple[str, str]]:
    """Pairs of a learner and a strategy it can use; each strategy needs at least one learner."""
    if isinstance(strategies, str) or not len(strategies):
        raise TypeError(f"strategies must be a list of names, got {strategies!r}.")
    for strategy in strategies:
        _check.choice("strategies", strategy, STRATEGIES)
    if len(set(strategies)) < len(strategies):
        raise ValueError(f"strategies must differ, got {list(strategies)!r}.")
    models = {name: task.started(learner, run)[0].model for name, learner in rows.items()}
    errors: dict[str, ValueError] = {}
    pairs = []
    for name, strategy in product(rows, strategies):
        try:
            scores(models[name], taken(rows[name].X, [0]), strategy, random_state=0)
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
    """Each fold held out in turn; new folds are drawn when all have been."""
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
    """The group number of each row; without groups each row is a group."""
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
    """The fold of each row: the groups of each class, in random order, are assigned in turn."""
    first = np.unique(groups, return_index=True)[1]
    of_class = np.unique(y, return_inverse=True)[1][first]
    order = np.lexsort((random.permutation(len(first)), of_class))
    fold = np.empty(len(first), dtype=np.int64)
    fold[order] = np.arange(len(first)) % n_folds
    return fold[groups]


def _check_runs(runs: list[_Run], y: NDArray[Any]) -> None:
    """Raise if a run has no row of some class to start from; warn about small folds."""
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
            "Use fewer folds, or read the intervals with care.",
            stacklevel=4,  # the line that calls simulate
        )


def _grid(n_labels: int, every: int, *, runs: list[_Run], n_classes: int) -> NDArray[np.int64]:
    """Numbers of labels to test at: the first, then one per `every` labels, and the last."""
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

"""Train a model on answers, with undo; must not know strategies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from surelearn.active._table_rows import taken
from surelearn.columns.known import Known
from surelearn.learners.answers.classifier import Probabilistic
from surelearn.learners.base import is_fitted
from surelearn.learners.online import Online
from surelearn.learners.table_classifier import with_columns

#: A replay is due when the answers have grown by one in so many since the last one, so that the
#: cost of an answer stays the same however many there are.
_GROWN = 50

#: Passes over few rows where the model leaves their number to `fit`.
_MOST = 10


class LabelledRow(NamedTuple):
    """The label of one row, to be learnt."""

    row: int
    label: Any


class ReplayTrainer:
    """Trains a model on rows of X one by one, and can restore its state after any of them.

    The state after n answers depends on the start and on these answers only: a replay of the first
    m, m <= n, then the others learnt once. So going back means to learn again what is left.
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        classes: Any,
        *,
        passes: int | None = None,
        seed: int = 0,
        columns: list[Known] | None = None,
    ) -> None:
        self.model, self._X = model, X
        self.columns = columns  # of a table, for a model that has learnt nothing
        self._classes = None if classes is None else list(classes)
        self._passes = _passes(model, passes)
        self._replays = replays(model, passes)
        self._seed = seed
        self.learnt_before = rows_learnt(model)
        self._answers: list[LabelledRow] = []
        self._start = deepcopy(model)

    def __len__(self) -> int:
        return len(self._answers)

    @property
    def decides(self) -> bool:
        """Whether the model knows at least two classes."""
        return decides(self.model)

    @property
    def label_type(self) -> str | None:
        """The NumPy dtype of numeric labels; None for strings."""
        kind = _columns(self._answers)[1].dtype
        return kind.name if self._answers and kind.kind in "biuf" else None

    def predict(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        return np.asarray(self.model.predict(taken(self._X, rows)))

    @contextmanager
    def starting_over(self, learnt_before: int | None, n_answers: int) -> Iterator[None]:
        """Reset the model to relearn `n_answers`; an error within restores it as it was given."""
        _same_start(learnt_before, self._counted(n_answers), self.learnt_before)
        given = self._start
        if self.learnt_before != learnt_before:
            self._start = clone(self.model)
            _become(self.model, clone(self.model))
            self.learnt_before = learnt_before
        try:
            yield
        except BaseException:
            _become(self.model, given)
            raise

    def learn(self, *answers: LabelledRow) -> None:
        """Learn labels; a refused label leaves everything unchanged."""
        before = len(self)
        self._answers += answers
        try:
            self._learn_once(before)  # also where a replay follows: it refuses what must not be
        except BaseException:
            del self._answers[before:]
            raise
        try:
            if self._last_replay() > before:
                self._replay()
        except BaseException:
            self.go_back(before)
            raise

    def go_back(self, n_answers: int) -> None:
        """Restore the state after the first `n_answers`."""
        del self._answers[n_answers:]
        if self._last_replay():
            self._replay()
        else:
            _become(self.model, deepcopy(self._start))
            self._learn_once(0)

    # ------------------------------------------------------------------ replays

    def _last_replay(self) -> int:
        """The number of answers that the last replay covers; 0 without one."""
        if not self._replays:
            return 0
        n = _last_due(len(self))
        labels = {answer.label for answer in self._answers[:n]}
        return n if len(labels) > 1 or (labels and decides(self._start)) else 0

    def _replay(self) -> None:
        """All passes over the answers that the last replay covers, then the others once."""
        n = self._last_replay()
        rows, labels = _columns(self._answers[:n])
        fits = self._classes is None and not is_fitted(self._start)
        learn = self._fitted if fits else self._passes_from_start
        _become(self.model, learn(taken(self._X, rows), labels))
        self._learn_once(n)

    def _fitted(self, X: Any, labels: NDArray[Any]) -> Any:
        """What `fit` gives, in an order drawn from the seed."""
        given = self._start.get_params(deep=False)
        once = {"passes": self._passes, "random_state": self._seed, "n_shards": 1, "verbose": 0}
        once = {name: value for name, value in once.items() if name in given}
        model = clone(self._start).set_params(**once)
        # Answers are few and not drawn at random: none is kept back for calibration.
        whole = {"calibrate": False} if "calibrate" in signature(model.fit).parameters else {}
        with with_columns(model, self.columns):
            model.fit(X, labels, **whole)
        return model.set_params(**{name: given[name] for name in once})

    def _passes_from_start(self, X: Any, labels: NDArray[Any]) -> Any:
        """`partial_fit` for each pass: `fit` would forget what was learnt before, or classes."""
        model = deepcopy(self._start)
        random = np.random.RandomState(self._seed)
        for _ in range(self._n_passes):
            classes = None if is_fitted(model) else self._classes
            order = random.permutation(len(labels))
            self._partial_fit(model, taken(X, order), labels[order], classes)
        return model

    @property
    def _n_passes(self) -> int:
        """Those of `partial_fit`, which does not know the word for as many as `fit` thinks best."""
        return self._passes if isinstance(self._passes, int) else _MOST

    def _counted(self, n_answers: int) -> int:
        """The rows that a new model has counted after so many answers: `fit` counts each once."""
        if self._replays and self._classes is not None:
            return n_answers + (self._n_passes - 1) * _last_due(n_answers)
        return n_answers

    # --------------------------------------------------------------------- once

    def _learn_once(self, begin: int) -> None:
        """Learn the answers from number `begin` on."""
        if isinstance(self.model, Probabilistic):
            # A batch model learns other weights from rows together than one by one.
            step = max(1, len(self)) if isinstance(self.model, Online) else 1
            for first in range(begin, len(self), step):
                classes = None if is_fitted(self.model) else self._classes
                self._teach(self.model, self._answers[first : first + step], classes)
        elif not hasattr(self.model, "partial_fit"):
            self._fit()
        else:
            # One by one: a classifier of another library may shuffle the rows of a call.
            for end in range(begin + 1, len(self) + 1):
                self._learn_next(end)

    def _fit(self) -> None:
        """Fit the model to all labels again, once there are two classes."""
        rows, labels = _columns(self._answers)
        if len(np.unique(labels)) > 1:
            _become(self.model, clone(self.model).fit(taken(self._X, rows), labels))

    def _learn_next(self, end: int) -> None:
        """Learn the last answer before `end`; a new class means to relearn all of them.

        Classifiers of other libraries must know all classes from the first row on.
        """
        _, labels = _columns(self._answers[:end])
        if np.isin(labels[-1], getattr(self.model, "classes_", [])):
            self._teach(self.model, self._answers[end - 1 : end], None)
            return
        classes = np.unique([*labels.tolist(), *(self._classes or [])])
        if len(np.unique(labels)) < 2:
            return
        fresh = clone(self.model)
        for answer in self._answers[:end]:
            self._teach(fresh, [answer], classes)
        _become(self.model, fresh)

    def _teach(self, model: Any, answers: list[LabelledRow], classes: Any) -> None:
        rows, labels = _columns(answers)
        self._partial_fit(model, taken(self._X, rows), labels, classes)

    def _partial_fit(self, model: Any, X: Any, labels: NDArray[Any], classes: Any) -> None:
        known = {} if classes is None else {"classes": classes}
        with with_columns(model, self.columns):
            model.partial_fit(X, labels, **known)


def replays(model: Any, passes: int | None) -> bool:
    """Whether answers are learnt again and again; a batch model always learns all of them."""
    if isinstance(model, Online):
        return isinstance(model, Probabilistic) and _passes(model, passes) != 1
    return isinstance(model, Probabilistic)


def _passes(model: Any, passes: int | None) -> Any:
    """The passes of a replay, or a word that `fit` understands; a batch model makes one."""
    if not isinstance(model, Online):
        return 1
    return model.get_params(deep=False)["passes"] if passes is None else passes


def _last_due(n: int) -> int:
    """The largest number of answers up to n after which a replay is due."""
    while n % max(1, n // _GROWN):
        n -= 1
    return n


def rows_learnt(model: Any) -> int | None:
    """How many rows a model has learnt; None for a fitted model of another library."""
    if isinstance(model, Probabilistic):
        return int(model.model_.counts.sum()) if is_fitted(model) else 0
    return None if decides(model) else 0


def decides(model: Any) -> bool:
    """Whether a model knows at least two classes, so that it can score rows."""
    if isinstance(model, Probabilistic):
        return is_fitted(model) and model.model_.weights is not None
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _columns(answers: list[LabelledRow]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    rows = np.array([answer.row for answer in answers], dtype=np.int64)
    return rows, np.array([answer.label for answer in answers])


def _become(model: Any, other: Any) -> None:
    """Replace the state of `model` in place, so that every reference to it sees the change."""
    vars(model).clear()
    vars(model).update(vars(other))


def _same_start(expected: int | None, n_answers: int, got: int | None) -> None:
    """Refuse a model in another state than before the first answer.

    If the model was new then, its state after the last answer is accepted as well.
    """
    if got == expected or (expected == 0 and got in (None, n_answers)):
        return
    wanted = "rows" if expected is None else f"{expected} rows"
    left = f", or {n_answers} as after the last" if expected == 0 else ""
    has = "nothing" if got == 0 else "rows" if got is None else f"{got}"
    raise ValueError(
        f"model must have learnt {wanted}, as before the first answer of history{left}, got one "
        f"that has learnt {has}. Pass the model that the pool was made with."
    )

"""Train a model label by label, with undo; must not know strategies."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from surelearn import _check
from surelearn.estimators.base import is_fitted
from surelearn.estimators.online import OnlineEstimator
from surelearn.estimators.probabilistic import Probabilistic
from surelearn.estimators.text_classifier import taken

#: Labels between two copies of the model.
_EVERY = 32


class Lesson(NamedTuple):
    """The label of one row, to be learnt."""

    row: int
    label: Any


class _Copy(NamedTuple):
    """A pickled model, and its functions by reference: a rule or analyzer may be a lambda."""

    n_lessons: int
    data: bytes
    functions: list[FunctionType]

    @classmethod
    def of(cls, model: Any, n_lessons: int) -> _Copy:
        file = BytesIO()
        pickler = _Pickler(file)
        pickler.dump(model)
        return cls(n_lessons, file.getvalue(), pickler.functions)

    def model(self) -> Any:
        unpickler = _Unpickler(BytesIO(self.data))
        unpickler.functions = self.functions
        return unpickler.load()


class _Pickler(pickle.Pickler):
    """Keeps functions by reference: lambdas cannot be pickled, and functions do not change."""

    def __init__(self, file: BytesIO) -> None:
        super().__init__(file)
        self.functions: list[FunctionType] = []

    def persistent_id(self, thing: Any) -> int | None:
        if not isinstance(thing, FunctionType):
            return None
        self.functions.append(thing)
        return len(self.functions) - 1


class _Unpickler(pickle.Unpickler):
    functions: list[FunctionType]

    def persistent_load(self, place: int) -> FunctionType:
        return self.functions[place]


class Pupil:
    """Trains a model on rows of X one by one, and can restore its state after any of them.

    It keeps pickled copies: one of the start, and the last two of those made every 32 labels. To go
    back, it restores the last copy before that point and learns the labels in between again. This
    gives the same bytes, since a model does not depend on how rows are split into calls.
    """

    def __init__(self, model: Any, X: Any, classes: Any) -> None:
        self.model, self._X = model, X
        self._classes = None if classes is None else list(classes)
        self.learnt_before = rows_learnt(model)
        self._lessons: list[Lesson] = []
        self._copies = [_Copy.of(model, 0)]

    def __len__(self) -> int:
        return len(self._lessons)

    @property
    def decides(self) -> bool:
        """Whether the model knows at least two classes."""
        return decides(self.model)

    @property
    def label_type(self) -> str | None:
        """The NumPy dtype of numeric labels; None for strings."""
        kind = _columns(self._lessons)[1].dtype
        return kind.name if self._lessons and kind.kind in "biuf" else None

    def predict(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        return np.asarray(self.model.predict(taken(self._X, rows)))

    @contextmanager
    def starting_over(self, learnt_before: int | None, n_lessons: int) -> Iterator[None]:
        """Reset the model to relearn `n_lessons`; an error within restores it as it was given."""
        _check.learnt_before(learnt_before, n_lessons, self.learnt_before)
        given = self._copies[0]
        if self.learnt_before != learnt_before:
            _become(self.model, clone(self.model))
            self._copies = [_Copy.of(self.model, 0)]
            self.learnt_before = learnt_before
        try:
            yield
        except BaseException:
            _become(self.model, given.model())
            raise

    def learn(self, *lessons: Lesson) -> None:
        """Learn labels; a refused label leaves everything unchanged."""
        before = len(self)
        self._lessons += lessons
        try:
            self._learn(before)
        except BaseException:
            del self._lessons[before:]
            raise
        if len(self) - self._copies[-1].n_lessons >= _EVERY:
            self._copies.append(_Copy.of(self.model, len(self)))
            del self._copies[1:-2]

    def go_back(self, n_lessons: int) -> None:
        """Restore the state after the first `n_lessons`."""
        del self._lessons[n_lessons:]
        while self._copies[-1].n_lessons > n_lessons:
            self._copies.pop()
        copy = self._copies[-1]
        _become(self.model, copy.model())
        if copy.n_lessons < n_lessons:
            self._learn(copy.n_lessons)

    def _learn(self, begin: int) -> None:
        """Learn the lessons from number `begin` on."""
        if isinstance(self.model, Probabilistic):
            # A batch model learns other weights from rows together than one by one.
            step = len(self) if isinstance(self.model, OnlineEstimator) else 1
            for first in range(begin, len(self), step):
                classes = None if is_fitted(self.model) else self._classes
                self._partial_fit(self.model, self._lessons[first : first + step], classes)
        elif not hasattr(self.model, "partial_fit"):
            self._fit()
        else:
            # One by one: a classifier of another library may shuffle the rows of a call.
            for end in range(begin + 1, len(self) + 1):
                self._learn_next(end)

    def _fit(self) -> None:
        """Fit the model to all labels again, once there are two classes."""
        rows, labels = _columns(self._lessons)
        if len(np.unique(labels)) > 1:
            _become(self.model, clone(self.model).fit(taken(self._X, rows), labels))

    def _learn_next(self, end: int) -> None:
        """Learn the last lesson before `end`; a new class means to relearn all of them.

        Classifiers of other libraries must know all classes from the first row on.
        """
        _, labels = _columns(self._lessons[:end])
        if np.isin(labels[-1], getattr(self.model, "classes_", [])):
            self._partial_fit(self.model, self._lessons[end - 1 : end], None)
            return
        classes = np.unique([*labels.tolist(), *(self._classes or [])])
        if len(np.unique(labels)) < 2:
            return
        fresh = clone(self.model)
        for lesson in self._lessons[:end]:
            self._partial_fit(fresh, [lesson], classes)
        _become(self.model, fresh)

    def _partial_fit(self, model: Any, lessons: list[Lesson], classes: Any) -> None:
        rows, labels = _columns(lessons)
        known = {} if classes is None else {"classes": classes}
        model.partial_fit(taken(self._X, rows), labels, **known)


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


def _columns(lessons: list[Lesson]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    rows = np.array([lesson.row for lesson in lessons], dtype=np.int64)
    return rows, np.array([lesson.label for lesson in lessons])


def _become(model: Any, other: Any) -> None:
    """Replace the state of `model` in place, so that every reference to it sees the change."""
    vars(model).clear()
    vars(model).update(vars(other))

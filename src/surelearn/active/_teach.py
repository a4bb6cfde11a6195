"""Labels into a model one after the other, and out of it again; must not know what is asked."""

from __future__ import annotations

import pickle
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from surelearn.estimators._proba import Certain
from surelearn.estimators._text import _taken

#: Labels between two copies of the model.
_EVERY = 32


class Lesson(NamedTuple):
    """A label that was learnt."""

    row: int
    label: Any


class Pupil:
    """A model that is taught rows of X in an order, and can go back to any number of them.

    Copies of it are kept as bytes: at the start, and the last two of those made every 32 labels.
    Going back takes the last copy before and learns the few labels between, which gives the same
    bytes, since learning does not depend on how rows are handed over.
    """

    def __init__(self, model: Any, X: Any, classes: Any) -> None:
        self.model, self._X = model, X
        self._classes = None if classes is None else list(classes)
        self._lessons: list[Lesson] = []
        self._copies = [(0, pickle.dumps(model))]

    def __len__(self) -> int:
        return len(self._lessons)

    @property
    def decides(self) -> bool:
        """Whether the model can tell rows apart."""
        return decides(self.model)

    def predict(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        return np.asarray(self.model.predict(_taken(self._X, rows)))

    def learn(self, row: int, label: Any) -> None:
        """Learn one label; where it is refused nothing changes."""
        self._lessons.append(Lesson(row, label))
        try:
            self._learn(len(self) - 1)
        except BaseException:
            self._lessons.pop()
            raise
        if len(self) - self._copies[-1][0] >= _EVERY:
            self._copies.append((len(self), pickle.dumps(self.model)))
            del self._copies[1:-2]

    def go_back(self, n_lessons: int) -> None:
        """Be as after the first lessons."""
        del self._lessons[n_lessons:]
        while self._copies[-1][0] > n_lessons:
            self._copies.pop()
        begin, copy = self._copies[-1]
        _become(self.model, pickle.loads(copy))
        if begin < n_lessons:
            self._learn(begin)

    def _learn(self, begin: int) -> None:
        """Learn the lessons from this one on."""
        if isinstance(self.model, Certain):
            self._partial_fit(self._lessons[begin:], self._classes if self.model._fresh else None)
        elif not hasattr(self.model, "partial_fit"):
            self._fit()
        else:
            for end in range(begin + 1, len(self) + 1):  # others may shuffle what comes together
                self._learn_next(end)

    def _fit(self) -> None:
        """Learn all labels anew, once they are of two classes."""
        rows, labels = _columns(self._lessons)
        if len(np.unique(labels)) > 1:
            _become(self.model, clone(self.model).fit(_taken(self._X, rows), labels))

    def _learn_next(self, end: int) -> None:
        """Learn the last lesson before `end`; all of them anew where its label is new.

        Others than ours must know all classes from the first row on.
        """
        _, labels = _columns(self._lessons[:end])
        if np.isin(labels[-1], getattr(self.model, "classes_", [])):
            self._partial_fit(self._lessons[end - 1 : end], None)
            return
        classes = np.unique([*labels.tolist(), *(self._classes or [])])
        if len(np.unique(labels)) < 2:
            return
        _become(self.model, clone(self.model))
        for lesson in self._lessons[:end]:
            self._partial_fit([lesson], classes)

    def _partial_fit(self, lessons: list[Lesson], classes: Any) -> None:
        rows, labels = _columns(lessons)
        known = {} if classes is None else {"classes": classes}
        self.model.partial_fit(_taken(self._X, rows), labels, **known)


def decides(model: Any) -> bool:
    """Whether a model knows two classes, so that it can tell rows apart."""
    if isinstance(model, Certain):
        return not model._fresh and model._model.weights is not None
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _columns(lessons: list[Lesson]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    rows = np.array([lesson.row for lesson in lessons], dtype=np.int64)
    return rows, np.array([lesson.label for lesson in lessons])


def _become(model: Any, other: Any) -> None:
    """Take over all that another one is; whoever holds the model sees it."""
    vars(model).clear()
    vars(model).update(vars(other))

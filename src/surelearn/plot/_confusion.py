"""The confusion matrix; must not know how predictions were made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surelearn import _check
from surelearn.learners.tasks.row_task import ROWS
from surelearn.plot._display import Display
from surelearn.plot.style import COLOURS, FONT, SMALL, THIN, TINY, head, plain
from surelearn.table import word

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TOP = 40
#: With more labels, numbers in the cells would be too small to read.
_NUMBERED = 20


class ConfusionDisplay(Display):
    """The confusion matrix: true labels as rows, predicted classes as columns.

    Right predictions are blue, mistakes orange; the darker a cell, the larger its share of the row.
    Make it with `from_estimator`, `from_predictions` or `from_evaluation`, then draw it with `plot`
    or `save`.

    Parameters
    ----------
    confusion : array of shape (n_labels, n_classes)
        Number of rows of each true label and predicted class.
    labels : list of shape (n_labels,)
        The true labels.
    classes : list of shape (n_classes,)
        The predicted classes. A cell is a mistake if its label and class differ.
    left_out : int, default 0
        Number of labels that are not shown; the subtitle says so.

    Attributes
    ----------
    confusion_ : ndarray of shape (n_labels, n_classes)
    labels_, classes_ : list
    left_out_ : int
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.

    Examples
    --------
    >>> from surelearn.plot import ConfusionDisplay
    >>> ConfusionDisplay([[8, 2], [1, 9]], ["ham", "spam"], ["ham", "spam"]).confusion_.sum()
    np.int64(20)
    """

    def __init__(
        self,
        confusion: ArrayLike,
        labels: Sequence[Any],
        classes: Sequence[Any],
        *,
        left_out: int = 0,
    ) -> None:
        self.confusion_: NDArray[np.int64] = np.array(confusion, dtype=np.int64)
        self.labels_, self.classes_ = list(labels), list(classes)
        self.left_out_ = left_out
        shape = len(self.labels_), len(self.classes_)
        if self.confusion_.shape != shape or 0 in shape:
            raise ValueError(
                f"confusion must have shape {shape} for {shape[0]} labels and {shape[1]} classes, "
                f"at least one of each, got shape {self.confusion_.shape}."
            )
        if (self.confusion_ < 0).any():
            raise ValueError(f"confusion must hold counts, got {self.confusion_.min()}.")

    @classmethod
    def from_evaluation(cls, evaluation: Any, *, top: int | None = _TOP) -> Self:
        """The confusion matrix of a result of `surelearn.evaluate`.

        Parameters
        ----------
        evaluation : Evaluation
            With the attributes `confusion`, `labels` and `classes`.
        top : int or None, default 40
            How many labels to show: those with the most mistakes, in the order of `labels`. None
            means all.
        """
        for name in ("confusion", "labels", "classes"):
            if not hasattr(evaluation, name):
                raise TypeError(f"evaluation must have {name}, got {evaluation!r}.")
        table = np.asarray(evaluation.confusion)
        return cls._most_confused(table, evaluation.labels, evaluation.classes, top)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, top: int | None = _TOP
    ) -> Self:
        """The confusion matrix of a fitted classifier on some rows.

        Parameters
        ----------
        estimator : classifier
            Any fitted classifier.
        X : array, CSR matrix or list of shape (n_samples, ...)
        y : array of shape (n_samples,)
            True labels. Those that the classifier does not know are the last rows of the matrix.
        top : int or None, default 40
            As in `from_evaluation`.

        Returns
        -------
        ConfusionDisplay

        Examples
        --------
        >>> from surelearn import SureClassifier
        >>> from surelearn.plot import ConfusionDisplay
        >>> clf = SureClassifier(random_state=0).fit([[0, 1], [1, 0]], ["no", "yes"])
        >>> ConfusionDisplay.from_estimator(clf, [[0, 1], [1, 0]], ["no", "no"]).confusion_
        array([[1, 1],
               [0, 0]])
        """
        ROWS.check_fitted("estimator", estimator)
        classes = np.asarray(estimator.classes_)
        return cls._counted(np.asarray(y), np.asarray(estimator.predict(X)), classes, top)

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, y_pred: ArrayLike, *, top: int | None = _TOP
    ) -> Self:
        """The confusion matrix of given predictions.

        Parameters
        ----------
        y_true, y_pred : array of shape (n_samples,)
            True and predicted labels.
        top : int or None, default 40
            As in `from_evaluation`.

        Returns
        -------
        ConfusionDisplay

        Examples
        --------
        >>> from surelearn.plot import ConfusionDisplay
        >>> ConfusionDisplay.from_predictions(["ham", "spam"], ["spam", "spam"]).confusion_
        array([[0, 1],
               [0, 1]])
        """
        truth, predicted = np.asarray(y_true), np.asarray(y_pred)
        return cls._counted(truth, predicted, None, top)

    @classmethod
    def _counted(
        cls,
        truth: NDArray[Any],
        predicted: NDArray[Any],
        classes: NDArray[Any] | None,
        top: int | None,
    ) -> Self:
        """The counts; `classes` are those that can be predicted, by default all labels."""
        if truth.ndim != 1 or truth.shape != predicted.shape or not len(truth):
            raise ValueError(
                f"true and predicted labels must have the same shape (n_samples,), got shapes "
                f"{truth.shape} and {predicted.shape}."
            )
        _check.one_kind(predicted, truth)
        if classes is None:
            classes = np.union1d(truth, predicted)
        labels = np.concatenate([classes, np.setdiff1d(truth, classes)])
        place = {label: index for index, label in enumerate(labels.tolist())}
        table = np.zeros((len(labels), len(classes)), dtype=np.int64)
        lines, columns = ([place[y] for y in own.tolist()] for own in (truth, predicted))
        np.add.at(table, (lines, columns), 1)
        return cls._most_confused(table, labels, classes, top)

    @classmethod
    def _most_confused(
        cls,
        table: NDArray[np.int64],
        labels: NDArray[Any],
        classes: NDArray[Any],
        top: int | None,
    ) -> Self:
        """The part of the table for the labels with the most mistakes."""
        most = _check.top(top, auto=None)
        lines = _most_confused(table, most)
        columns = lines[lines < table.shape[1]]
        if not len(columns):  # the model knows none of the labels that are shown
            columns = np.arange(min(table.shape[1], _TOP))
        return cls(
            table[np.ix_(lines, columns)],
            labels[lines].tolist(),
            classes[columns].tolist(),
            left_out=len(table) - len(lines),
        )

    def _size(self) -> tuple[float, float]:
        """A cell has room for a count of four digits, unless there are too many cells."""
        side = 0.55 if len(self.labels_) <= _NUMBERED else 0.26
        return (
            max(6.0, min(2.6 + side * len(self.classes_), 40.0)),
            max(3.2, min(2.2 + side * len(self.labels_), 40.0)),
        )

    def _draw(self, ax: Axes, title: str | None) -> None:
        strength = self._strength()
        ax.imshow(self._colours(strength), aspect="auto")
        few = len(self.labels_) <= _NUMBERED and len(self.classes_) <= _NUMBERED
        _name(ax, self.labels_, self.classes_, SMALL if few else TINY)
        if few:
            self._write(ax, strength)
        ax.set_xlabel("Predicted label", fontsize=FONT)
        ax.set_ylabel("True label", fontsize=FONT)
        told = "Rows by label; blue: right, orange: mistakes"
        if self.left_out_:
            told += f"; {self.left_out_:,} labels with fewer mistakes are not shown"
        head(ax, title, told)

    def _strength(self) -> NDArray[np.float64]:
        """The square root of each share of its row, which makes rare mistakes visible."""
        whole = np.maximum(1, self.confusion_.sum(axis=1, keepdims=True))
        return np.asarray(np.sqrt(self.confusion_ / whole))

    def _colours(self, strength: NDArray[np.float64]) -> NDArray[np.float64]:
        from matplotlib.colors import to_rgb

        right = [[label == known for known in self.classes_] for label in self.labels_]
        full = np.where(np.array(right)[:, :, None], to_rgb(COLOURS[0]), to_rgb(COLOURS[1]))
        colours: NDArray[np.float64] = 1.0 - strength[:, :, None] * (1.0 - full)
        return colours

    def _write(self, ax: Axes, strength: NDArray[np.float64]) -> None:
        """Write the counts; a zero is left blank, so that mistakes stand out."""
        for (line, column), times in np.ndenumerate(self.confusion_):
            if times:
                colour = "white" if strength[line, column] > 0.75 else "black"
                ax.text(column, line, _count(int(times)), ha="center", va="center",
                        color=colour, fontsize=TINY)  # fmt: skip


def _most_confused(table: NDArray[np.int64], top: int | None) -> NDArray[np.int64]:
    """The labels with the most mistakes, as true label or as prediction, in their order."""
    n_labels, n_classes = table.shape
    if top is None or top >= n_labels:
        return np.arange(n_labels)
    wrong = table.copy()
    np.fill_diagonal(wrong, 0)
    mistakes = wrong.sum(axis=1) + np.pad(wrong.sum(axis=0), (0, n_labels - n_classes))
    return np.sort(np.argsort(-mistakes, kind="stable")[:top])


def _name(ax: Axes, labels: list[Any], classes: list[Any], size: float) -> None:
    """Write names at the ticks, rotated below the columns if they would overlap."""
    named = [plain(word(str(label), 24)) for label in classes]
    upright = len(named) > 3 and max(map(len, named)) > 4
    ax.set_xticks(range(len(classes)), named, rotation=90 if upright else 0)
    ax.set_yticks(range(len(labels)), [plain(word(str(label), 24)) for label in labels])
    ax.tick_params(labelsize=size, length=0)
    ax.set_xticks(np.arange(len(classes) + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(len(labels) + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="#DDDDDD", linewidth=THIN)
    ax.tick_params(which="minor", length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _count(times: int) -> str:
    """A count in at most five characters."""
    for unit, size in (("M", 10**6), ("k", 10**4)):
        if times >= size:
            return f"{times / (1000 if unit == 'k' else size):.3g}{unit}"
    return str(times)

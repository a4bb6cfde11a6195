"""The result of an evaluation, as numbers and tables; must not know models or rows."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.probability import Reliability
from surelearn.scores import _format
from surelearn.scores._comparison import Comparison, share_interval
from surelearn.table import Table, word

if TYPE_CHECKING:
    from surelearn.scores._decisions import DecisionScores
    from surelearn.scores._label_scores import LabelScores

Array = NDArray[np.float64]
Counts = NDArray[np.int64]


class Scores(Table):
    """A table of precision, recall, F1 and support, one line a label."""

    _kind = "a table of scores"
    _right = "fi"

    @staticmethod
    def _cell(name: str, value: Any) -> str:
        return f"{value:.4f}" if isinstance(value, float) else Table._cell(name, value)


class Mistakes(Scores):
    """A table of mistakes, one line for each pair of true and predicted label."""

    _kind = "a table of mistakes"

    @staticmethod
    def _cell(name: str, value: Any) -> str:
        return word(value, 28) if isinstance(value, str) else Scores._cell(name, value)


class OfLabels:
    """Scores of each label and their means, from the counts of a subclass."""

    classes: NDArray[Any]
    labels: NDArray[Any]

    @property
    @abstractmethod
    def _counts(self) -> tuple[Counts, Counts, Counts]:
        """How often each label was predicted rightly, was predicted, and occurs."""

    @property
    def precision(self) -> Array:
        right, predicted, _ = self._counts
        return _share(right, predicted)

    @property
    def recall(self) -> Array:
        right, _, support = self._counts
        return _share(right, support)

    @property
    def f1(self) -> Array:
        right, predicted, support = self._counts
        return _share(2 * right, predicted + support)

    @property
    def macro_f1(self) -> float:
        return self._macro(self.f1)

    def _macro(self, of_labels: Array) -> float:
        """The mean over labels that occur in data or predictions."""
        _, predicted, support = self._counts
        there = of_labels[predicted + support > 0]
        return float(there.mean()) if len(there) else 0.0

    @property
    def unknown(self) -> NDArray[Any]:
        """Labels of the data that the model does not know."""
        return self.labels[len(self.classes) :]


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(OfLabels):
    r"""Scores of a model, as returned by `evaluate`.

    Attributes
    ----------
    n : int
        Number of rows.
    classes : ndarray of shape (n_classes,)
        The classes of the model, sorted.
    labels : ndarray of shape (n_labels,)
        `classes`, then the labels of the data that the model does not know, sorted.
    confusion : ndarray of shape (n_labels, n_classes)
        Number of rows of each true label (row) and predicted class (column).
    accuracy, standard_error : float
        Share of right predictions, and :math:`\sqrt{a (1 - a) / n}`.
    accuracy_interval : tuple of two float
        The bounds of the accuracy by `share_interval`, at 95 %.
    precision, recall, f1 : ndarray of shape (n_labels,)
        Scores of each label; 0 if the denominator is 0.
    support : ndarray of shape (n_labels,)
        Number of rows of each label.
    macro_f1, weighted_f1 : float
        Mean of `f1` over labels that occur in data or predictions, plain and weighted by support.
    log_loss : float or None
        Mean of :math:`-\log \max(\Pr[y], \epsilon)`, with :math:`\epsilon = 2^{-52}`. A row whose
        label is unknown, or has probability 0, costs 36.
    brier : float or None
        Mean of :math:`\sum_z (\Pr[z] - [y = z])^2`; halved for two classes, as in scikit-learn.
    reliability : surelearn.probability.Reliability or None
        Predictions in ten bins of their probability.
    calibration_error : float or None
        The calibration error of `reliability`.
    no_probabilities : str
        Why the last four are None: first-order rules have no variances. Otherwise empty.
    comparison : Comparison or None
        McNemar's test against the rival.
    n_bad : int
        Number of rows skipped because they could not be parsed.
    decisions : DecisionScores or None
        Risk against coverage, and the promises and sets of the model; None without probabilities.

    References
    ----------
    Brier 1950, Verification of forecasts expressed in terms of probability, eq. 2. Guo, Pleiss,
    Sun & Weinberger 2017, On Calibration of Modern Neural Networks, eq. 3.

    Examples
    --------
    >>> from surelearn import SureClassifier, evaluate
    >>> X, y = [[0.0, 1.0], [1.0, 0.0]], ["no", "yes"]
    >>> found = evaluate(SureClassifier(random_state=0).fit(X, y), [*X, [2.0, 1.0]], [*y, "no"])
    >>> found.confusion.tolist(), round(found.accuracy, 3)
    ([[1, 1], [0, 1]], 0.667)
    """

    classes: NDArray[Any]
    labels: NDArray[Any]
    confusion: NDArray[np.int64]
    log_loss: float | None = None
    brier: float | None = None
    reliability: Reliability | None = None
    no_probabilities: str = ""
    comparison: Comparison | None = None
    n_bad: int = 0
    decisions: DecisionScores | None = None

    @cached_property
    def n(self) -> int:
        return int(self.confusion.sum())

    @cached_property
    def support(self) -> NDArray[np.int64]:
        return np.asarray(self.confusion.sum(axis=1))

    @cached_property
    def _right(self) -> NDArray[np.int64]:
        return self._pad(np.diagonal(self.confusion))

    @cached_property
    def _predicted(self) -> NDArray[np.int64]:
        return self._pad(self.confusion.sum(axis=0))

    @property
    def _counts(self) -> tuple[Counts, Counts, Counts]:
        return self._right, self._predicted, self.support

    def _pad(self, of_classes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The array with zeros added for unknown labels, which are never predicted."""
        return np.pad(of_classes, (0, len(self.labels) - len(self.classes)))

    @property
    def accuracy(self) -> float:
        return float(self._right.sum() / self.n)

    @property
    def standard_error(self) -> float:
        return float(np.sqrt(self.accuracy * (1.0 - self.accuracy) / self.n))

    @property
    def accuracy_interval(self) -> tuple[float, float]:
        return share_interval(int(self._right.sum()), self.n)

    @property
    def weighted_f1(self) -> float:
        return float(np.average(self.f1, weights=self.support))

    @property
    def calibration_error(self) -> float | None:
        return None if self.reliability is None else self.reliability.calibration_error

    @property
    def scores(self) -> Table:
        """A table of precision, recall, F1 and support, one line a label."""
        names = ("precision", "recall", "f1", "support")
        return Scores({"label": self.labels, **{name: getattr(self, name) for name in names}})

    def mistakes(self, top: int | None = 10) -> Table:
        """The most frequent mistakes.

        Parameters
        ----------
        top : int or None, default 10
            How many to list; None means all.

        Returns
        -------
        Table
            With columns label, predicted, times and share; share is a part of the rows with this
            label.
        """
        most = _check.top(top, auto=None)
        wrong = self.confusion.copy()
        np.fill_diagonal(wrong, 0)
        rows, columns = np.nonzero(wrong)
        order = np.argsort(-wrong[rows, columns], kind="stable")[:most]
        rows, columns = rows[order], columns[order]
        times = wrong[rows, columns]
        return Mistakes(
            {
                "label": self.labels[rows],
                "predicted": self.classes[columns],
                "times": times,
                "share": times / self.support[rows],
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """All scores as plain Python values that JSON can hold."""
        names = ("n", "n_bad", "accuracy", "standard_error", "macro_f1", "weighted_f1", "log_loss",
                 "brier", "calibration_error")  # fmt: skip
        found = {name: getattr(self, name) for name in names} | of_rows(self)
        found["confusion"] = {
            "labels": self.labels.tolist(),
            "predicted": self.classes.tolist(),
            "table": self.confusion.tolist(),
        }
        if self.comparison is not None:
            found["comparison"] = self.comparison.to_dict()
        return found

    def __str__(self) -> str:
        return _format.text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return _format.html(self)


def of_rows(scores: Evaluation | LabelScores) -> dict[str, Any]:
    """What `to_dict` has for rows with one label and for rows with any number."""
    found: dict[str, Any] = {"accuracy_interval": list(scores.accuracy_interval)}
    if scores.decisions is not None:
        found |= scores.decisions.to_dict()
    if scores.no_probabilities:
        found["no_probabilities"] = scores.no_probabilities
    return {**found, "scores": [row._asdict() for row in scores.scores]}


def _share(part: NDArray[np.int64], whole: NDArray[np.int64]) -> Array:
    """part / whole; 0 where whole is 0."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)

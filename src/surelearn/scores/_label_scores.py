"""Scores of rows with any number of labels, as numbers and tables; must not know models or rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.scores._comparison import Comparison, in_words, share_interval
from surelearn.scores._decisions import DecisionScores
from surelearn.scores._format import Looks, many, rows_of, unknown, with_decisions
from surelearn.scores._result import Counts, OfLabels, Scores, of_rows
from surelearn.table import Table

#: Text shows this many labels; `scores` and `to_dict` have all.
_MOST = 20

#: Scores that are single numbers, with the names that are printed.
_MEASURES = {
    "micro_f1": "micro F1",
    "micro_precision": "micro precision",
    "micro_recall": "micro recall",
    "macro_f1": "macro F1",
    "macro_precision": "macro precision",
    "macro_recall": "macro recall",
    "accuracy": "subset accuracy",
    "hamming_loss": "Hamming loss",
    "log_loss": "log loss",
}

#: Those that have a standard error.
_ERRORS = {"micro_f1": "micro_f1_error", "accuracy": "standard_error"}


@dataclass(frozen=True, eq=False, repr=False)
class LabelScores(OfLabels):
    r"""Scores of a model whose rows have any number of labels, as returned by `evaluate`.

    With :math:`t_i` the right labels predicted for row i, and :math:`s_i` its predicted plus its
    true labels,

    .. math:: F = \frac{2 \sum_i t_i}{\sum_i s_i}, \qquad
        \mathrm{error}(F) = \frac{\sqrt{\sum_i (2 t_i - F s_i)^2}}{\sum_i s_i}

    are the micro F1 and its standard error for independent rows, by the delta method.

    Attributes
    ----------
    n : int
        Number of rows.
    classes : ndarray of shape (n_classes,)
        The labels that the model knows, sorted.
    labels : ndarray of shape (n_labels,)
        `classes`, then the labels of the data that the model does not know, sorted.
    right, found, support : ndarray of shape (n_labels,)
        How often each label was predicted rightly, was predicted, and occurs.
    precision, recall, f1 : ndarray of shape (n_labels,)
        Scores of each label; 0 if the denominator is 0.
    micro_precision, micro_recall, micro_f1, micro_f1_error : float
        Scores over all labels of all rows, and the standard error of the last.
    macro_precision, macro_recall, macro_f1 : float
        Means over labels that occur in data or predictions.
    accuracy, standard_error : float
        Share of rows with exactly the right labels, and :math:`\sqrt{a (1 - a) / n}`.
    accuracy_interval : tuple of two float
        The bounds of the accuracy by `share_interval`, at 95 %.
    hamming_loss : float
        Share of wrong decisions among all pairs of a row and a label.
    log_loss : float or None
        Mean of minus the logarithm of the probability of each decision, over pairs of a row and a
        known label.
    no_probabilities : str
        Why `log_loss` is None. Otherwise empty.
    n_exact : int
        Number of rows with exactly the right labels.
    squares : tuple of three int
        Sums over rows of :math:`t^2`, :math:`t s` and :math:`s^2`.
    comparison : Comparison or None
        McNemar's test against the rival, on rows with exactly the right labels.
    n_bad : int
        Number of rows skipped because they could not be parsed.
    decisions : DecisionScores or None
        Risk against coverage, where an answer is right if all labels of a row are, and the promises
        and sets of the model; None without probabilities.

    Examples
    --------
    >>> from surelearn import SureClassifier, evaluate
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [["a"], ["b"], ["a", "b"]]
    >>> found = evaluate(SureClassifier(random_state=0).fit(X, y), X, y)
    >>> found.micro_f1, found.hamming_loss
    (1.0, 0.0)
    """

    classes: NDArray[Any]
    labels: NDArray[Any]
    right: Counts
    found: Counts
    support: Counts
    n: int
    n_exact: int
    squares: tuple[int, int, int]
    log_loss: float | None = None
    no_probabilities: str = ""
    comparison: Comparison | None = None
    n_bad: int = 0
    decisions: DecisionScores | None = None

    @property
    def _counts(self) -> tuple[Counts, Counts, Counts]:
        return self.right, self.found, self.support

    @property
    def micro_precision(self) -> float:
        return _ratio(self.right.sum(), self.found.sum())

    @property
    def micro_recall(self) -> float:
        return _ratio(self.right.sum(), self.support.sum())

    @property
    def micro_f1(self) -> float:
        return _ratio(2 * self.right.sum(), self.found.sum() + self.support.sum())

    @property
    def micro_f1_error(self) -> float:
        tt, ts, ss = self.squares
        f1 = self.micro_f1
        spread = max(0.0, 4.0 * tt - 4.0 * f1 * ts + f1**2 * ss)
        return _ratio(spread**0.5, self.found.sum() + self.support.sum())

    @property
    def macro_precision(self) -> float:
        return self._macro(self.precision)

    @property
    def macro_recall(self) -> float:
        return self._macro(self.recall)

    @property
    def accuracy(self) -> float:
        return self.n_exact / self.n

    @property
    def standard_error(self) -> float:
        return float(np.sqrt(self.accuracy * (1.0 - self.accuracy) / self.n))

    @property
    def accuracy_interval(self) -> tuple[float, float]:
        return share_interval(self.n_exact, self.n)

    @property
    def hamming_loss(self) -> float:
        wrong = (self.found + self.support - 2 * self.right).sum()
        return _ratio(wrong, self.n * len(self.labels))

    @property
    def scores(self) -> Table:
        """A table of the scores of each label, the most frequent ones first."""
        return self.table(None)

    def table(self, top: int | None = _MOST) -> Table:
        """The scores of the most frequent labels.

        Parameters
        ----------
        top : int or None, default 20
            How many to list; None means all.

        Returns
        -------
        Table
            With columns label, precision, recall, f1, support and found.
        """
        order = np.argsort(-self.support, kind="stable")[: _check.top(top, auto=None)]
        names = ("precision", "recall", "f1", "support", "found")
        columns = {name: getattr(self, name)[order] for name in names}
        return Scores({"label": self.labels[order], **columns})

    def to_dict(self) -> dict[str, Any]:
        """All scores as plain Python values that JSON can hold."""
        found: dict[str, Any] = {"n": self.n, "n_bad": self.n_bad}
        for name in _MEASURES:
            found[name] = getattr(self, name)
            if name in _ERRORS:
                found[_ERRORS[name]] = getattr(self, _ERRORS[name])
        found |= of_rows(self)
        if self.comparison is not None:
            found["comparison"] = self.comparison.to_dict()
        return found

    def __str__(self) -> str:
        listed = str(self.table())
        hidden = len(self.labels) - _MOST
        if hidden > 0:
            listed += f"\n... and {many(hidden, 'label')} that occur less often"
        return self._format([listed]).text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._format([self.scores._repr_html_()], html=True).html()

    def _format(self, tables: list[str], *, html: bool = False) -> Looks:
        head = (
            f"{rows_of(self)}, {many(len(self.classes), 'label')}, "
            f"{self.support.sum() / self.n:.2f} a row"
        )
        looks = Looks(head, list(self._measures()), list(self._notes()), tables, self.comparison)
        return with_decisions(looks, self.decisions, html=html)

    def _measures(self) -> Iterator[tuple[str, str]]:
        for name, shown in _MEASURES.items():
            value = getattr(self, name)
            if name == "accuracy":
                yield shown, in_words(value, self.accuracy_interval)
            elif value is not None:
                error = getattr(self, _ERRORS[name]) if name in _ERRORS else 0.0
                yield shown, f"{value:.4f} +- {error:.4f}" if error else f"{value:.4f}"

    def _notes(self) -> Iterator[str]:
        if self.no_probabilities:
            yield f"No log loss: {self.no_probabilities}."
        yield from unknown(self, "found {}", "time")


def _ratio(part: Any, whole: Any) -> float:
    """part / whole; 0 where whole is 0."""
    return float(part / whole) if whole else 0.0

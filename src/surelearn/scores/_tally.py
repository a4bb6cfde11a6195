"""Counts over rows with one label or any number; must not know where rows come from."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.probability import Bins, entropy
from surelearn.read import Labels
from surelearn.scores._comparison import Comparison
from surelearn.scores._decisions import DecisionScores
from surelearn.scores._label_scores import LabelScores
from surelearn.scores._result import Evaluation

#: The log loss clips probabilities here, as in scikit-learn.
LEAST = float(np.finfo(np.float64).eps)


#: Bins of the reliability diagram.
_BINS = 10


class Judgement(Protocol):
    """What a model says of a batch of rows."""

    @property
    def labels(self) -> Any:
        """The predicted label of each row."""

    @property
    def probabilities(self) -> NDArray[np.float64] | None:
        """Of every class, or None."""

    @property
    def has(self) -> NDArray[np.bool_] | None:
        """Of many labels per row, whether each row has each."""


class LabelLines:
    """The line of each label in a table: first those of a model, then others as they appear."""

    def __init__(self, classes: NDArray[Any]) -> None:
        self._classes = classes
        self._lines = {label: line for line, label in enumerate(classes.tolist())}

    def __len__(self) -> int:
        return len(self._lines)

    def of(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        """The line of each label; a new label gets a new line."""
        _check.one_kind(self._classes, labels)
        lines = [self._lines.setdefault(label, len(self._lines)) for label in labels.tolist()]
        return np.asarray(lines, dtype=np.int64)

    def in_order(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The labels of the model, then the others, sorted, and the line of each."""
        n_known = len(self._classes)
        unknown = sorted(list(self._lines)[n_known:])
        order = [*range(n_known), *(self._lines[label] for label in unknown)]
        if not unknown:
            return self._classes, np.asarray(order, dtype=np.int64)
        own: NDArray[Any] = np.asarray(
            unknown, dtype=object if self._classes.dtype == object else None
        )
        every = np.concatenate([self._classes, own]) if n_known else own
        return every, np.asarray(order)


class LabelTally:
    """Counts and sums over the rows so far.

    Parameters
    ----------
    classes : ndarray
        The labels of the model.
    why_not : str
        Why the model has no probabilities; empty if it has.
    """

    def __init__(self, classes: NDArray[Any], why_not: str) -> None:
        self.n = self.mistakes = 0
        self._classes = classes
        self._lines = LabelLines(classes)
        self._counts = np.zeros((3, len(classes)), np.int64)  # right, found, support of each label
        self._squares = np.zeros(3, np.int64)
        self._why_not = why_not
        self._log_loss = 0.0

    def add(self, labels: Labels, judged: Judgement) -> NDArray[np.bool_]:
        """Add a batch; return which of its rows have exactly the predicted labels."""
        assert labels.starts is not None
        assert judged.has is not None
        table = judged.has
        lines = self._lines.of(labels.values)[labels.codes]
        rows = np.repeat(np.arange(labels.n_rows), np.diff(labels.starts))
        known = lines < len(self._classes)
        hits = np.zeros(len(lines), bool)
        hits[known] = table[rows[known], lines[known]]
        self._count(lines, hits, table.sum(axis=0))
        t = np.bincount(rows[hits], minlength=labels.n_rows)
        found, support = table.sum(axis=1), np.diff(labels.starts)
        s = found + support
        self._squares += [t @ t, t @ s, s @ s]
        right: NDArray[np.bool_] = (t == found) & (t == support)
        self.n += labels.n_rows
        self.mistakes += int(np.count_nonzero(~right))
        if judged.probabilities is not None:
            self._lose(judged.probabilities, rows[known], lines[known])
        return right

    def _count(
        self, lines: NDArray[np.int64], hits: NDArray[np.bool_], found: NDArray[np.int64]
    ) -> None:
        n_lines = len(self._lines)
        self._counts = np.pad(self._counts, ((0, 0), (0, n_lines - self._counts.shape[1])))
        self._counts[0] += np.bincount(lines[hits], minlength=n_lines)
        self._counts[1, : len(found)] += found
        self._counts[2] += np.bincount(lines, minlength=n_lines)

    def _lose(
        self, p: NDArray[np.float64], rows: NDArray[np.int64], lines: NDArray[np.int64]
    ) -> None:
        """Add to the log loss, given the known labels of the rows."""
        of_truth = 1.0 - p
        of_truth[rows, lines] = p[rows, lines]
        self._log_loss -= float(np.log(np.maximum(of_truth, LEAST)).sum())

    def result(
        self, comparison: Comparison | None, n_bad: int, decisions: DecisionScores | None = None
    ) -> LabelScores:
        """The scores of all rows."""
        _check.some_judged(self.n, "row")
        labels, order = self._lines.in_order()
        right, found, support = self._counts[:, order]
        tt, ts, ss = self._squares.tolist()
        pairs = self.n * len(self._classes)
        return LabelScores(
            self._classes,
            labels,
            right,
            found,
            support,
            self.n,
            self.n - self.mistakes,
            (tt, ts, ss),
            log_loss=None if self._why_not or not pairs else self._log_loss / pairs,
            no_probabilities=self._why_not,
            comparison=comparison,
            n_bad=n_bad,
            decisions=decisions,
        )


class RowTally:
    """Counts and sums over rows with one label each; the parameters are those of `LabelTally`."""

    def __init__(self, classes: NDArray[Any], why_not: str) -> None:
        self.n = 0
        self._classes = classes
        self._lines = LabelLines(classes)
        self._confusion = np.zeros((len(classes), len(classes)), dtype=np.int64)
        self._bins = Bins(_BINS)
        self._why_not = why_not
        self._log_loss = self._brier = 0.0

    @property
    def mistakes(self) -> int:
        return self.n - int(np.trace(self._confusion))

    def add(self, labels: Labels, judged: Judgement) -> NDArray[np.bool_]:
        """Add a batch; return which of its rows were predicted right."""
        self.n += labels.n_rows
        lines = self._lines.of(labels.values)[labels.codes]
        self._make_room()
        columns = np.searchsorted(self._classes, judged.labels)
        np.add.at(self._confusion, (lines, columns), 1)
        right: NDArray[np.bool_] = lines == columns
        p = judged.probabilities
        if p is not None:
            self._bins.add(p[np.arange(len(p)), columns], ~right, entropy(p))
            self._lose(p, lines)
        return right

    def _make_room(self) -> None:
        """Add lines for new labels to the confusion matrix."""
        missing = len(self._lines) - len(self._confusion)
        if missing > 0:
            # At least double the size, so that many new labels do not copy the matrix each time.
            more = max(missing, len(self._confusion))
            self._confusion = np.pad(self._confusion, ((0, more), (0, 0)))

    def _lose(self, p: NDArray[np.float64], lines: NDArray[np.int64]) -> None:
        """Add to the losses; an unknown label has probability 0."""
        known = np.flatnonzero(lines < p.shape[1])
        of_truth = np.zeros(len(p))
        of_truth[known] = p[known, lines[known]]
        self._log_loss -= float(np.log(np.maximum(of_truth, LEAST)).sum())
        # sum_z (p_z - [z = y])^2 = sum_z p_z^2 + 1 - 2 p_y, which holds for unknown labels as well.
        self._brier += float(np.square(p).sum() + (1.0 - 2.0 * of_truth).sum())

    def result(
        self, comparison: Comparison | None, n_bad: int, decisions: DecisionScores | None = None
    ) -> Evaluation:
        """The scores of all rows."""
        _check.some_judged(self.n, "row")
        labels, order = self._lines.in_order()
        found: dict[str, Any] = {}
        if not self._why_not:
            half = 0.5 if len(self._classes) == 2 else 1.0
            found["log_loss"] = self._log_loss / self.n
            found["brier"] = half * self._brier / self.n
            found["reliability"] = self._bins.reliability()
        return Evaluation(
            self._classes,
            labels,
            self._confusion[order],
            **found,
            no_probabilities=self._why_not,
            comparison=comparison,
            n_bad=n_bad,
            decisions=decisions,
        )

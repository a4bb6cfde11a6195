"""Predicted probabilities beside errors, in bins; must not know how they are computed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surelearn import _check
from surelearn.probability._labels import entropy

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reliability:
    """How well probabilities match errors, as returned by `reliability`.

    Attributes
    ----------
    edges : ndarray of shape (bins + 1,)
        Bin b holds predictions of probability in ``[edges[b], edges[b + 1])``; the last bin
        includes 1.
    count : ndarray of shape (bins,)
        Number of predictions in each bin.
    mean_probability : ndarray of shape (bins,)
        Their mean probability; NaN in an empty bin.
    error_share : ndarray of shape (bins,)
        Wrong predictions in the bin / all rows. Sums to the error.
    conditional_error : ndarray of shape (bins,)
        Wrong predictions in the bin / predictions in the bin; NaN in an empty bin. It falls from
        bin to bin if probabilities are informative, and equals one minus `mean_probability` if they
        are calibrated.
    right_probability, wrong_probability : float
        Mean probability of right and of wrong predictions; NaN if there are none.
    entropy : float
        Mean of the normalised entropy.
    error : float
        Wrong predictions / all rows.
    calibration_error : float
        Mean distance between the probability of predictions and the share of right ones, weighted
        by the counts of the bins; 0 for calibrated probabilities.

    References
    ----------
    Crammer, Dredze & Kulesza 2009, Multi-Class Confidence Weighted Algorithms, sec. 7. The
    calibration error: Guo, Pleiss, Sun & Weinberger 2017, On Calibration of Modern Neural Networks,
    eq. 3.

    Examples
    --------
    >>> p = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]]
    >>> found = reliability(["a", "b", "b"], p, ["a", "b"], bins=2)
    >>> round(found.error, 3), round(found.calibration_error, 3)
    (0.333, 0.133)
    """

    edges: Array
    count: NDArray[np.int64]
    mean_probability: Array
    error_share: Array
    conditional_error: Array
    right_probability: float
    wrong_probability: float
    entropy: float

    @property
    def error(self) -> float:
        """Wrong predictions / all rows."""
        return float(self.error_share.sum())

    @property
    def calibration_error(self) -> float:
        """Mean distance between probability and share of right predictions over the bins."""
        share = self.count / max(1, int(self.count.sum()))
        apart = np.abs(1.0 - self.conditional_error - self.mean_probability)
        return float(np.nansum(share * apart))

    def __str__(self) -> str:
        lines = ["   bin         count  mean prob  error share  error in bin"]
        for b, count in enumerate(self.count):
            low, high = self.edges[b], self.edges[b + 1]
            end = "]" if b == len(self.count) - 1 else ")"
            numbers = (self.mean_probability[b], self.error_share[b], self.conditional_error[b])
            mean, share, inside = ("-" if np.isnan(x) else f"{x:.4f}" for x in numbers)
            lines.append(
                f"[{low:.3f}, {high:.3f}{end} {count:7d} {mean:>10} {share:>12} {inside:>13}"
            )
        lines.append(
            f"mean probability: right {self.right_probability:.4f}, "
            f"wrong {self.wrong_probability:.4f}; mean entropy {self.entropy:.4f}"
        )
        return "\n".join(lines)


def reliability(
    y: ArrayLike,
    p: ArrayLike,
    classes: ArrayLike,
    *,
    bins: int = 10,
    y_pred: ArrayLike | None = None,
) -> Reliability:
    """Compare the probabilities of predictions with the share of right ones.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels.
    p : array-like of shape (n, K)
        Label probabilities.
    classes : array-like of shape (K,)
        The label of each column, sorted, as in ``classes_`` of an estimator.
    bins : int, default 10
        Number of equal parts of [0, 1].
    y_pred : array-like of shape (n,), optional
        Predicted labels. The default is the most probable ones.

    Returns
    -------
    result : Reliability

    References
    ----------
    Crammer, Dredze & Kulesza 2009, Multi-Class Confidence Weighted Algorithms, sec. 7.

    Examples
    --------
    >>> r = reliability(["a", "b", "b"], [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], ["a", "b"], bins=2)
    >>> r.count, r.conditional_error.round(3)
    (array([0, 3]), array([  nan, 0.333]))
    """
    rows = _check.probabilities(p)
    bins = _check.count("bins", bins)
    labels, n_columns = np.asarray(classes), rows.shape[1]
    if labels.shape != (n_columns,):
        raise ValueError(
            f"classes must have a label for each of {n_columns} columns, got shape {labels.shape}."
        )
    if not (labels[:-1] < labels[1:]).all():
        listed = _check.listing(labels.tolist())
        raise ValueError(f"classes must be sorted and differ, got {listed}.")
    truth = _check.known_labels(y, labels, len(rows), "y")
    if y_pred is None:
        predicted: NDArray[np.intp] = rows.argmax(axis=1)
    else:
        predicted = _check.known_labels(y_pred, labels, len(rows), "y_pred")
    confidence = rows[np.arange(len(rows)), predicted]
    table = Bins(bins)
    table.add(confidence, predicted != truth, entropy(rows))
    return table.reliability()


class Bins:
    """The sums behind a `Reliability`, over batches of predictions.

    >>> bins = Bins(2)
    >>> bins.add(np.array([0.9, 0.8]), np.array([False, True]), np.array([0.5, 0.7]))
    >>> bins.reliability().error
    0.5
    """

    def __init__(self, bins: int) -> None:
        self._edges = np.arange(bins + 1) / bins
        # First row: right predictions; second row: wrong ones.
        self._count = np.zeros((2, bins), dtype=np.int64)
        self._probability = np.zeros((2, bins))
        self._entropy = 0.0

    def add(self, confidence: Array, wrong: NDArray[np.bool_], entropy: Array) -> None:
        """Add a batch: the probability of each prediction, whether it is wrong, its entropy."""
        bins = len(self._edges) - 1
        bin_of = np.minimum(np.searchsorted(self._edges, confidence, side="right") - 1, bins - 1)
        for side, rows in enumerate((~wrong, wrong)):
            self._count[side] += np.bincount(bin_of[rows], minlength=bins)
            self._probability[side] += np.bincount(bin_of[rows], confidence[rows], bins)
        self._entropy += float(entropy.sum())

    def reliability(self) -> Reliability:
        """The statistics of all batches so far."""
        count, errors = self._count.sum(axis=0), self._count[1]
        some, n = np.where(count > 0, count, np.nan), int(count.sum())
        right, wrong = (
            _ratio(total, number)
            for total, number in zip(self._probability.sum(1), self._count.sum(1), strict=True)
        )
        return Reliability(
            edges=self._edges,
            count=count,
            mean_probability=self._probability.sum(axis=0) / some,
            error_share=errors / max(1, n),
            conditional_error=errors / some,
            right_probability=right,
            wrong_probability=wrong,
            entropy=_ratio(self._entropy, n),
        )


def _ratio(total: float, number: int) -> float:
    return float(total / number) if number else float("nan")

"""Thresholds of labels that make the F1 score largest; must not know models."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: A label with fewer rows takes the common threshold: one of that label alone would follow chance.
_FEWEST = 3


def best_thresholds(scores: Array, has: NDArray[np.bool_], *, average: str) -> Array:
    r"""The thresholds, above which a row has a label, with the largest F1.

    .. math:: F_1 = \frac{2\, TP}{P + N}

    with TP the number of right predictions, P that of predictions and N that of true labels. The
    micro average takes all three over all labels, and one threshold for all of them: many small
    labels with a threshold each would fit it to chance. The macro average is the mean of the F1 of
    all labels, so a threshold is chosen for each; labels with fewer than three rows take the common
    one.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_labels)
    has : ndarray of bool of the same shape
        Whether each row has each label.
    average : {"micro", "macro"}

    Returns
    -------
    ndarray of shape (n_labels,)
        Of equally good thresholds the one nearest to 0.

    Examples
    --------
    >>> scores = np.array([[-0.5], [-0.3], [-0.8], [0.1]])
    >>> best_thresholds(scores, np.array([[True], [True], [False], [True]]), average="micro")
    array([-0.65])
    """
    common = _best(scores.ravel(), has.ravel())
    chosen = np.full(scores.shape[1], common)
    for k in np.flatnonzero(has.sum(axis=0) >= _FEWEST) if average == "macro" else ():
        chosen[k] = _best(scores[:, k], has[:, k])
    return chosen


def _best(scores: Array, has: NDArray[np.bool_]) -> float:
    """The threshold with the largest F1: 0, between two scores, or beyond all."""
    found, owners = np.unique(scores), np.sort(scores[has])
    middle = found[:-1] + np.diff(found) / 2
    values = np.concatenate([[0.0], middle, found[:1] - 1.0, found[-1:] + 1.0])
    values = values[np.argsort(np.abs(values), kind="stable")]
    above = len(scores) - np.searchsorted(np.sort(scores), values, side="right")
    right = len(owners) - np.searchsorted(owners, values, side="right")
    return float(values[np.argmax(2 * right / np.maximum(1, above + len(owners)))])

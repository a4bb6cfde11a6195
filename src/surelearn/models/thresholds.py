"""Thresholds of labels that make the F1 score largest; must not know models."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def best_thresholds(scores: Array, has: NDArray[np.bool_], *, average: str) -> Array:
    r"""The threshold of each label, above which a row gets it, with the largest F1.

    .. math:: F_1 = \frac{2\, TP}{P + N}

    with TP the number of right predictions, P that of predictions and N that of true labels. The
    micro average takes all three over all labels. It has the value F exactly where
    :math:`\max_t \sum_l (2\, TP_l - F P_l) = F N`, whose terms are maximised one label at a time;
    F rises to the largest one in a few rounds (Dinkelbach 1967). The macro average is the mean of
    the F1 of all labels.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_labels)
    has : ndarray of bool of the same shape
        Whether each row has each label.
    average : {"micro", "macro"}

    Returns
    -------
    ndarray of shape (n_labels,)
        Of equally good thresholds the one nearest to 0; so a label whose rows say nothing keeps 0.

    Examples
    --------
    >>> scores = np.array([[-0.5], [-0.3], [-0.8], [0.1]])
    >>> best_thresholds(scores, np.array([[True], [True], [False], [True]]), average="macro")
    array([-0.65])
    """
    cuts = [_cuts(scores[:, k], has[:, k]) for k in range(scores.shape[1])]
    if average == "macro":
        chosen = [_micro([cut], int(has[:, k].sum()))[0] for k, cut in enumerate(cuts)]
    else:
        chosen = _micro(cuts, int(has.sum()))
    return np.array([cut[0][k] for cut, k in zip(cuts, chosen, strict=True)], dtype=np.float64)


#: Candidates for one label, nearest to 0 first; right predictions and all predictions above them.
_Cuts = tuple[Array, NDArray[np.int64], NDArray[np.int64]]


def _cuts(scores: Array, has: NDArray[np.bool_]) -> _Cuts:
    """Zero, the middle between every two scores, and one below and one above all."""
    distinct = np.unique(scores)
    middle = distinct[:-1] + np.diff(distinct) / 2
    ends = [distinct[0] - 1.0, distinct[-1] + 1.0] if len(distinct) else []
    values = np.concatenate([[0.0], middle, ends])
    values = values[np.argsort(np.abs(values), kind="stable")]
    everyone, owners = np.sort(scores), np.sort(scores[has])
    n_above = len(everyone) - np.searchsorted(everyone, values, side="right")
    n_right = len(owners) - np.searchsorted(owners, values, side="right")
    return values, n_right, n_above


def _micro(cuts: list[_Cuts], n_true: int) -> list[int]:
    """The cut of each label with the largest F1 over all labels."""
    chosen = [0] * len(cuts)
    value = _f1(cuts, chosen, n_true)
    while True:
        better = [int(np.argmax(2 * right - value * above)) for _, right, above in cuts]
        new = _f1(cuts, better, n_true)
        if new <= value:
            return chosen
        value, chosen = new, better


def _f1(cuts: list[_Cuts], chosen: list[int], n_true: int) -> float:
    right = sum(int(cut[1][k]) for cut, k in zip(cuts, chosen, strict=True))
    above = sum(int(cut[2][k]) for cut, k in zip(cuts, chosen, strict=True))
    return 2 * right / max(1, above + n_true)

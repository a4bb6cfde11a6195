"""Answers of the least expected cost; must not know models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, _core

Array = NDArray[np.float64]

#: Stands for no answer in a dict of costs.
ABSTAIN = None


def cost_matrix(cost: Any, classes: NDArray[Any]) -> Array:
    """Checked costs of shape (n_classes, n_classes), or with one more column for no answer.

    Parameters
    ----------
    cost : array or dict
        What each pair of a true label (row) and an answer (column) costs. In a dict ``(true,
        answer): cost``, right answers cost 0 and other pairs 1 unless they are named. ``None`` is
        the answer of an abstention: ``(true, None): cost``, or ``None: cost`` for all true labels.
    classes : ndarray

    Examples
    --------
    >>> cost_matrix({("ham", "spam"): 50, None: 2}, np.array(["ham", "spam"]))
    array([[ 0., 50.,  2.],
           [ 1.,  0.,  2.]])
    """
    K = len(classes)
    if isinstance(cost, Mapping):
        return _of_pairs(cost, classes.tolist())
    if hasattr(cost, "columns") and hasattr(cost, "index"):
        _check_frame(cost, classes.tolist())
    matrix = _check.numbers("cost", cost)
    if matrix.shape not in ((K, K), (K, K + 1)):
        raise ValueError(
            f"cost must be of shape ({K}, {K}), or ({K}, {K + 1}) with the price of no answer in "
            f"the last column, for classes {_check.listing(classes.tolist()[:6])}"
            f"{', ...' if K > 6 else ''}, got shape {matrix.shape}."
        )
    return matrix


def _check_frame(cost: Any, classes: list[Any]) -> None:
    """Refuse a frame whose labels are not the classes in their order."""
    for name in ("index", "columns"):
        labels = list(getattr(cost, name))
        if labels[: len(classes)] != classes and labels != list(range(len(labels))):
            raise ValueError(
                f"cost must have the classes {_check.listing(classes[:6])}"
                f"{', ...' if len(classes) > 6 else ''} as its {name}, in this order, got "
                f"{_check.listing(labels[:6])}."
            )


def _of_pairs(cost: Mapping[Any, Any], classes: list[Any]) -> Array:
    K, places = len(classes), {label: k for k, label in enumerate(classes)}
    matrix = np.full((K, K + 1), np.nan)
    matrix[:, :K] = 1.0 - np.eye(K)
    prices = {key: _price(key, value) for key, value in cost.items()}
    matrix[:, K] = prices.pop(ABSTAIN, np.nan)
    for key, price in prices.items():
        if not isinstance(key, tuple) or len(key) != 2:
            raise TypeError(f"cost must have pairs (true label, answer) as keys, got {key!r}.")
        true, answer = key
        column = K if answer is ABSTAIN else _place("answer", answer, places)
        matrix[_place("true label", true, places), column] = price
    missing = np.isnan(matrix[:, K])
    if missing.all():
        return np.ascontiguousarray(matrix[:, :K])
    if missing.any():
        label = classes[int(np.argmax(missing))]
        raise ValueError(
            f"cost must have the price of no answer for all true labels, got none for {label!r}. "
            "Use {None: price} for one that holds for all."
        )
    return matrix


def _price(key: Any, value: Any) -> float:
    return _check.number(f"cost[{key!r}]", value, "(-1e30, 1e30)", low=-1e30, high=1e30)


def _place(what: str, label: Any, places: Mapping[Any, int]) -> int:
    if label not in places:
        raise ValueError(
            f"cost must name known labels, got the {what} {label!r} beside "
            f"{_check.listing(list(places)[:6])}{', ...' if len(places) > 6 else ''}."
        )
    return places[label]


def least_cost(p: Array, cost: Array) -> NDArray[np.int64]:
    r"""The answer of the least expected cost of each row; the first one wins a tie.

    .. math:: \hat y = \arg\min_z \sum_y \Pr[y \mid x]\, C_{yz}

    Parameters
    ----------
    p : ndarray of shape (n_rows, n_classes)
    cost : ndarray of shape (n_classes, n_answers)

    Returns
    -------
    ndarray of int of shape (n_rows,)
        A column of `cost`.

    References
    ----------
    Elkan 2001, The foundations of cost-sensitive learning, eq. 1. Chow 1970, On optimum recognition
    error and reject tradeoff.
    """
    usual = np.median(cost, axis=0)  # of each answer: what most mistakes cost
    more = cost - usual
    label, answer = map(np.ascontiguousarray, np.nonzero(more))
    rows = np.ascontiguousarray(p, dtype=np.float64)
    return _core.least_costs(rows, usual, label, answer, more[label, answer])

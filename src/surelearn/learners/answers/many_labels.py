"""The labels of rows that may have any number, as lists and as settings of files."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn.read import Labels


def label_lists(has: NDArray[np.bool_], classes: NDArray[Any]) -> list[tuple[Any, ...]]:
    """The labels of each row as a tuple."""
    rows, codes = np.nonzero(has)
    starts = np.searchsorted(rows, np.arange(len(has) + 1))
    return Labels(codes.astype(np.int32), classes, starts).lists()


#: Attributes of an estimator: the form in which labels came, and thresholds by label.
_FORM, _THRESHOLDS = "_label_form", "_thresholds"


def label_settings(estimator: Any) -> dict[str, Any]:
    """What a file has of many labels besides the model: their form, and thresholds if chosen."""
    settings: dict[str, Any] = {"form": estimator.label_format_}
    if _THRESHOLDS in vars(estimator):
        settings["thresholds"] = estimator.thresholds_.tolist()
    return settings


def put_label_settings(
    estimator: Any, form: str, thresholds: list[float] | None, classes: NDArray[Any]
) -> None:
    """The settings of a file into a new estimator."""
    if form != "lists":
        vars(estimator)[_FORM] = form
    if thresholds is not None:
        vars(estimator)[_THRESHOLDS] = dict(zip(classes.tolist(), thresholds, strict=True))


def copy_label_form(source: Any, result: Any) -> None:
    """The form of the labels of a merged model is that of the first."""
    if _FORM in vars(source):
        vars(result)[_FORM] = vars(source)[_FORM]


def copy_thresholds(source: Any, result: Any) -> None:
    """Thresholds belong to the weights they were chosen for: kept where these are kept."""
    if _THRESHOLDS in vars(source):
        vars(result)[_THRESHOLDS] = dict(vars(source)[_THRESHOLDS])

"""Predictions of classifiers for batches of rows, and their lines of JSON; no estimators."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn.learners.task import json_number

#: Keys that a line of output may have; a kept column of the same name gets a prefix.
PREDICTED = (
    "label", "labels", "probability", "sureness", "answered", "why", "set", "probabilities",
)  # fmt: skip


class Prediction(NamedTuple):
    """The predictions for one batch of rows.

    Attributes
    ----------
    label : ndarray of shape (n,) or list of tuples
        The predicted labels; a tuple of labels for each row if rows have many.
    probability : ndarray of shape (n,) or None
        Probabilities of these labels. None if the model has none, as with first-order rules, or if
        rows have many labels.
    sureness : ndarray of shape (n,) or None
        Margin between the label and the next best one, in standard deviations. With two classes,
        the probability is ``normal_cdf(sureness)``. If rows have many labels, that of the least
        sure label. None if the model has no variances.
    probabilities : ndarray of shape (n, n_classes) or None
        Probabilities of all labels, in the order of ``classes_``.
    kept : ndarray of shape (n,), dict of {str: ndarray} or None
        The column of `keep`, or a dict of columns if `keep` is a list.
    n_bytes, n_bad : int
        Number of bytes of the source in this batch, and of rows skipped because they could not be
        parsed.
    answered : ndarray of bool of shape (n,) or None
        Whether each row is answered; its label is None if not. None unless `abstain`, `cost` or
        `novel` was asked for.
    why : ndarray of str of shape (n,) or None
        ``"sure"``, or why a row is not answered: ``"unsure"``, ``"novel"`` or ``"cost"``.
    sets : list of tuples of labels or None
        The set of labels of each row; None without `coverage`.

    Examples
    --------
    >>> import pandas
    >>> from surelearn import SureTextClassifier, predict
    >>> clf = SureTextClassifier(random_state=0).fit(["a fine film", "dull"], ["good", "bad"])
    >>> batch = next(predict(clf, pandas.DataFrame({"text": ["fine"], "id": [7]}), keep="id"))
    >>> batch.label, batch.kept
    (array(['good'], dtype='<U4'), array([7]))
    """

    label: NDArray[Any] | list[tuple[Any, ...]]
    probability: NDArray[np.float64] | None
    sureness: NDArray[np.float64] | None
    probabilities: NDArray[np.float64] | None
    kept: NDArray[Any] | Mapping[str, NDArray[Any]] | None
    n_bytes: int
    n_bad: int
    answered: NDArray[np.bool_] | None = None
    why: NDArray[Any] | None = None
    sets: list[tuple[Any, ...]] | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.label)


class Lines:
    """Predictions as lines of JSON; each label is turned into JSON only once."""

    def __init__(self, classes: NDArray[Any], proba: bool) -> None:
        self._spelled = {None: "null"} | {label: _json(label) for label in classes.tolist()}
        self._places = {label: place for place, label in enumerate(classes.tolist())}
        self._proba = proba

    def of(self, batch: Prediction) -> list[str]:
        parts = []
        kept = batch.kept if isinstance(batch.kept, Mapping) else {}
        for name, values in kept.items():
            key = _json(kept_key(name))
            parts.append([f"{key}: {_json(value)}" for value in values.tolist()])
        parts.append(self._labels(batch.label))
        for name in ("probability", "sureness"):
            values = getattr(batch, name)
            if values is not None:
                parts.append([f'"{name}": {json_number(x)}' for x in values.tolist()])
        parts += decided_keys(batch)
        if batch.sets is not None:
            parts.append([f'"set": [{self._listed(own)}]' for own in batch.sets])
        if isinstance(batch.label, list) or self._proba:
            parts += self._probabilities(batch)
        return [f"{{{', '.join(row)}}}\n" for row in zip(*parts, strict=True)]

    def _labels(self, labels: NDArray[Any] | list[tuple[Any, ...]]) -> list[str]:
        if not isinstance(labels, list):
            return [f'"label": {self._spelled[label]}' for label in labels.tolist()]
        lists = ("null" if own is None else f"[{self._listed(own)}]" for own in labels)
        return [f'"labels": {own}' for own in lists]

    def _listed(self, labels: Iterable[Any]) -> str:
        return ", ".join(self._spelled[label] for label in labels)

    def _probabilities(self, batch: Prediction) -> list[list[str]]:
        """The probabilities of all labels, or of those that a row has."""
        if batch.probabilities is None:
            return []
        rows = batch.probabilities.tolist()
        if self._proba or not isinstance(batch.label, list):
            return [[self._of_row(row, self._places) for row in rows]]
        return [[self._of_row(p, own or ()) for p, own in zip(rows, batch.label, strict=True)]]

    def _of_row(self, row: list[float], listed: Iterable[Any]) -> str:
        # Keys of JSON are strings, even if the labels are numbers.
        inner = ", ".join(
            f"{_as_key(self._spelled[label])}: {json_number(row[self._places[label]])}"
            for label in listed
        )
        return f'"probabilities": {{{inner}}}'


def decided_keys(batch: Any) -> list[list[str]]:
    """Whether each record of a batch is answered, and why; nothing if that was not asked for."""
    if batch.answered is None:
        return []
    answered = [f'"answered": {"true" if given else "false"}' for given in batch.answered.tolist()]
    return [answered, [f'"why": "{why}"' for why in batch.why.tolist()]]


def kept_key(column: str) -> str:
    """The key of a kept column, different from the keys of the prediction."""
    return f"kept_{column}" if column in PREDICTED else column


def _json(value: Any) -> str:
    """A value as JSON: infinity and NaN become null, types that JSON lacks become strings."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=str)
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=False, default=str)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _as_key(spelled: str) -> str:
    return spelled if spelled.startswith('"') else f'"{spelled}"'

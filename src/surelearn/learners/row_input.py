"""Labelled rows in memory as checked batches; must not know how they are learnt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.learners.labels import RowLabels, as_labels, row_labels
from surelearn.learners.tasks.row_settings import (
    balanced,
    check_declared,
    check_weighted,
    given_weight,
    times,
)
from surelearn.learners.tasks.rows import RowBatch, union_of_labels
from surelearn.rows import rows_of


class ShardRows(NamedTuple):
    """The rows of one shard, as they are given to `fit`."""

    X: Any
    y: Any
    sample_weight: Any
    number: int


def labelled_batch(
    rows: Any, labels: RowLabels, class_weight: dict[Any, float] | str | None, sample_weight: Any
) -> RowBatch:
    """Validated rows with their checked labels and weights; rows of weight 0 are dropped."""
    n = len(labels)
    _check.one_label_a_row(n, rows.shape[0], many=labels.is_many)
    weight = given_weight(class_weight, labels.y, _check.sample_weight(sample_weight, n))
    batch = RowBatch(rows_of(rows), rows, labels.y, weight, None, labels.starts, labels.columns)
    _check.sound_rows(batch.rows.fault)
    if weight is None or weight.all():
        return batch
    kept = np.flatnonzero(weight)
    y, starts, X = labels[kept].y, labels[kept].starts, rows[kept]
    return RowBatch(rows_of(X), X, y, weight[kept], kept, starts, labels.columns)


def check_class_weight(class_weight: Any, y: Any) -> None:
    """Refuse weights of what is no class; `y` has all labels."""
    if isinstance(class_weight, Mapping):
        check_weighted(_check.class_weight(class_weight), np.unique(row_labels(y).y))


def balanced_batch(batch: RowBatch, class_weight: Any, who: str) -> tuple[RowBatch, NDArray[Any]]:
    """All rows that `who` was given, with balanced weights if asked for, and their classes."""
    _check.some_weight(batch.size)
    classes = np.unique(batch.y) if batch.columns is None else batch.columns
    if batch.starts is not None:
        _check.some_label(len(classes), who)
        return batch, classes
    _check.two_classes(classes, who)
    if isinstance(class_weight, str):
        batch = batch._replace(weight=times(balanced(batch.y), batch.weight))
    return batch, classes


def known_classes(
    known: NDArray[Any], y: NDArray[Any], classes: Any, class_weight: Any
) -> NDArray[Any]:
    """The classes of a model, and those that are declared for labels to go on with."""
    if classes is not None:
        declared = as_labels(classes, "classes")
        _check.one_kind(known, declared)
        known = union_of_labels(known, declared)
        check_declared(class_weight, known)
    _check.one_kind(known, y)
    return known

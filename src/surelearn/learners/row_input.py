"""Labelled rows in memory as checked batches; must not know how they are learnt."""

from __future__ import annotations

import warnings
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


#: Mean squares of columns further apart than this factor are unlike.
_APART = 1e4

#: Mean squares that are all above or all below these are far from 1.
_LARGE, _SMALL = 100.0, 0.01

#: Scales are told from rows with so many values in all: a look at all of a large X costs time.
_VALUES = 1_000_000

IN_PIPELINE = "Scale the columns, as in make_pipeline(StandardScaler(), SureClassifier())."
IN_SOURCE = (
    "Scale the columns of the source, such as to mean 0 and standard deviation 1; in Python, rows "
    "in memory can be scaled as in make_pipeline(StandardScaler(), SureClassifier())."
)


def warn_of_units(X: Any, remedy: str = IN_PIPELINE) -> None:
    """Warn if the columns of a dense X are of unlike size, or all far from 1.

    The mean is over the values that are not 0, since a rule learns nothing from a 0: columns that
    are rarely 1 need no scaling. Columns that are constant do not count.
    """
    if not isinstance(X, np.ndarray) or not X.size:  # sparse rows are learnt as they are
        return
    some = X[:: -(-X.size // _VALUES)]
    some = some[:, (some != some[:1]).any(axis=0)].astype(np.float64)
    if not some.size:
        return
    with np.errstate(over="ignore", under="ignore"):  # 1e200 squared is as large as need be
        squares = np.square(some).sum(axis=0) / np.count_nonzero(some, axis=0)
    least, most = squares.min(), squares.max()
    if most > _APART * least:
        found = "columns of similar size, got mean squares more than a factor of 10,000 apart"
    elif least > _LARGE:
        found = "columns of a size near 1, got mean squares above 100 only"
    elif most < _SMALL:
        found = "columns of a size near 1, got mean squares below 0.01 only"
    else:
        return
    said = (
        f"X should have {found}: little may be learnt, and probabilities may be far off. {remedy}"
    )
    warnings.warn(said, UserWarning, stacklevel=2)

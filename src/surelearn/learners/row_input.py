"""Labelled rows in memory as checked batches; must not know how they are learnt."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.learners.labels import as_labels
from surelearn.learners.tasks.row_block import RowBlock
from surelearn.learners.tasks.row_settings import (
    balanced,
    check_declared,
    given_weight,
    times,
)
from surelearn.learners.tasks.rows import union_of_labels
from surelearn.read import Labels
from surelearn.rows import rows_of


class ShardRows(NamedTuple):
    """The rows of one shard, as they are given to `fit`, with checked labels."""

    X: Any
    y: Labels
    sample_weight: Any
    number: int


def labelled_block(
    X: Any, labels: Labels, class_weight: dict[Any, float] | str | None, sample_weight: Any
) -> RowBlock:
    """Validated rows with their checked labels and weights; rows of weight 0 are dropped."""
    n = labels.n_rows
    _check.one_label_a_row(n, X.shape[0], many=labels.is_many)
    weight = given_weight(class_weight, labels, _check.sample_weight(sample_weight, n))
    block = RowBlock(rows_of(X), labels, weight, X)
    _check.sound_rows(block.rows.fault)
    if weight is None or weight.all():
        return block
    kept = np.flatnonzero(weight)
    X = X[kept]
    return RowBlock(rows_of(X), labels.take(kept), weight[kept], X, kept)


def block_to_fit(block: RowBlock, classes: NDArray[Any], class_weight: Any, who: str) -> RowBlock:
    """All rows that `who` was given, coded by their classes; with balanced weights if asked for."""
    _check.some_weight(block.size)
    labels, weight = with_values(block.labels, classes), block.weight
    if labels.is_many:
        _check.some_label(len(classes), who)
        return block._replace(labels=labels)
    _check.two_classes(classes, who)
    if isinstance(class_weight, str):
        weight = times(balanced(labels), weight)
    return block._replace(labels=labels, weight=weight)


def with_values(labels: Labels, classes: NDArray[Any]) -> Labels:
    """The same labels as codes into sorted classes, which have all of them."""
    return labels._replace(codes=labels.codes_in(classes), values=classes)


def known_classes(
    known: NDArray[Any], seen: NDArray[Any], classes: Any, class_weight: Any
) -> NDArray[Any]:
    """The classes of a model, and those that are declared for the labels `seen` to go on with."""
    if classes is not None:
        declared = as_labels(classes, "classes")
        _check.one_kind(known, declared)
        known = union_of_labels(known, declared)
        check_declared(class_weight, known)
    _check.one_kind(known, seen)
    return known

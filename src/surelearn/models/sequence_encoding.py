"""Labelled sequences as numbers: labels and features registered with a model; learns nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.models.rows import joined
from surelearn.models.sequence_settings import TaggerSettings
from surelearn.models.sequences import LabelledSequences, SequenceBatch, SequenceModel
from surelearn.read import Source
from surelearn.templates import Sequences


class EncodedSequences(NamedTuple):
    """Sequences as numbers: feature numbers, and labels as positions in `classes`."""

    sequences: Sequences
    y: NDArray[np.int32]
    classes: NDArray[Any]
    weight: NDArray[np.float64] | None = None
    numbers: NDArray[np.int64] | None = None

    @property
    def size(self) -> int:
        return len(self.sequences.bounds) - 1

    def part(self, begin: int, end: int) -> EncodedSequences:
        """Some of the sequences, which keep their numbers."""
        y = self.y[slice(*self.sequences.bounds[[begin, end]])]
        numbers = np.arange(self.size) if self.numbers is None else self.numbers
        weight = None if self.weight is None else self.weight[begin:end]
        some = self.sequences.part(begin, end)
        return EncodedSequences(some, y, self.classes, weight, numbers[begin:end])

    def batch(self, model: SequenceModel) -> SequenceBatch:
        """The sequences in the form of the core, for the current classes and features."""
        y, sequences = self.y, self.sequences
        if len(self.classes) < len(model.classes):
            y = np.searchsorted(model.classes, self.classes)[y].astype(np.int32)
        if sequences.pairs is not None:  # the core takes the number of pair features from the width
            sequences.pairs.resize((len(y), model.n_pairs))
        return model.batch(sequences, y, self.weight, self.numbers)


def labelled(records: Any, source: Source) -> LabelledSequences:
    """Records of a source, which knows the names of the token columns."""
    columns = source.columns
    names = [name for name in columns.get("columns", []) if name not in ("_", columns.get("label"))]
    return LabelledSequences.of(records.X, records.y)._replace(columns=names or None)


def met(
    settings: TaggerSettings,
    model: SequenceModel | None,
    block: LabelledSequences,
    *,
    declared: NDArray[Any] | None = None,
    watch: Callable[[SequenceModel], None] | None = None,
) -> tuple[SequenceModel, EncodedSequences]:
    """Register the labels and features of a block with a model, and encode the block.

    Parameters
    ----------
    settings : TaggerSettings
    model : SequenceModel or None
        None: start untrained.
    block : LabelledSequences
    declared : ndarray or None
        Labels to know besides those of the block.
    watch : function, optional
        Called with the new model under the lock of the old one.

    Returns
    -------
    SequenceModel, EncodedSequences
    """
    before = settings.untrained() if model is None else model
    if model is None and not before.features.columns:
        before.features = settings.features(block.columns)
    classes = _known(before.classes, block.labels, declared)
    with before.lock, before.features.forgetting():
        sequences = before.features.learn(block.X)
        model = before.fitting(classes)
        if watch is not None:
            watch(model)
    y = model.places(block.y)
    return model, EncodedSequences(sequences, y, classes, block.weight, block.numbers)


def _known(
    classes: NDArray[Any], labels: NDArray[Any], declared: NDArray[Any] | None
) -> NDArray[Any]:
    """All labels known so far, including the declared ones."""
    for some in (labels[:0] if declared is None else declared, labels):
        _check.one_kind(classes, some)
        classes = joined(classes, some)
    return classes

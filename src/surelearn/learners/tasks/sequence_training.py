"""Sequences in training: labels and features met block by block, and learnt; knows no sources."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn.learners.settings import FEATURES, Parameter, Settings, few_rivals, one_of
from surelearn.learners.tasks.sequences import LabelledSequences, SequenceBatch, SequenceModel
from surelearn.learners.tasks.structures import StructureTrainable, with_labels
from surelearn.read import Source
from surelearn.templates import Sequences, TokenFeatures
from surelearn.training.protocol import Order, Packed, Report


class SequenceSettings(Settings):
    """The checked parameters of a tagger, whether it learns by a rule or by a solver."""

    own: ClassVar = {
        "constraints": Parameter(few_rivals("paths"), shared=True),
        "projection": Parameter(
            one_of("precision", "covariance"), lambda model: model.projection, shared=True
        ),
        # Its features check it.
        "n_features": Parameter(
            lambda name, params: params[name],
            lambda model: model.made_by["n_features"],
            shared=True,
        ),
    }

    @property
    def feature_params(self) -> dict[str, Any]:
        """The parameters of features, as plain values that can be compared."""
        return {name: getattr(self, name) for name in FEATURES}

    def features(self, columns: Any = None) -> TokenFeatures:
        """A new feature extractor; `columns` are the default column names."""
        return TokenFeatures(**{**self.feature_params, "columns": self.columns or columns})

    def untrained(self) -> SequenceModel:
        """An untrained model."""
        return SequenceModel(
            self.layout(2), self.initial_variance, self.projection, self.features(),
            self.feature_params,
        )  # fmt: skip


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

    def compact(self, model: SequenceModel) -> tuple[SequenceBatch, NDArray[np.int64]]:
        """The sequences with the features that occur only, and their rows in the model's table.

        The classes must be those of the model.
        """
        X, tokens = _compact(self.sequences.X)
        pairs, steps = self.sequences.pairs, np.zeros(1, dtype=np.int64)
        if pairs is not None:
            pairs, present = _compact(pairs)
            steps = np.concatenate([steps, 1 + present])  # the constant one first
        K = len(model.classes)
        chain = 2 + K * steps[:, None] + np.arange(K)
        rows = np.concatenate([[0, 1], chain.ravel(), model.first + tokens])
        sequences = Sequences(X, pairs, self.sequences.bounds)
        return model.batch(sequences, self.y, self.weight, self.numbers), rows


def _compact(table: Any) -> tuple[Any, NDArray[np.int64]]:
    """A CSR matrix without its empty columns, and the numbers of the others."""
    occurs = np.bincount(table.indices, minlength=table.shape[1]) > 0
    present = np.flatnonzero(occurs)
    if len(present) == table.shape[1]:
        return table, present
    places = (np.cumsum(occurs) - 1).astype(table.indices.dtype)
    parts = table.data, places[table.indices], table.indptr
    return sparse.csr_array(parts, shape=(table.shape[0], len(present))), present


def labelled(records: Any, source: Source) -> LabelledSequences:
    """Records of a source, which knows the names of the token columns."""
    columns = source.columns
    names = [name for name in columns.get("columns", []) if name not in ("_", columns.get("label"))]
    return LabelledSequences.of(records.X, records.y)._replace(columns=names or None)


#: Features are numbered in the order they first appear, so a block is encoded when it is learnt.
SequenceBlock = LabelledSequences | EncodedSequences


def encode_block(
    settings: SequenceSettings,
    model: SequenceModel | None,
    block: LabelledSequences,
    *,
    declared: NDArray[Any] | None = None,
    watch: Callable[[SequenceModel], None] | None = None,
) -> tuple[SequenceModel, EncodedSequences]:
    """Register the labels and features of a block with a model, and encode the block.

    Parameters
    ----------
    settings : SequenceSettings
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
    classes = with_labels(before.classes, block.labels, declared)
    with before.lock, before.features.forgetting():
        sequences = before.features.learn(block.X)
        model = before.fitting(classes)
        if watch is not None:
            watch(model)
    y = model.places(block.y)
    return model, EncodedSequences(sequences, y, classes, block.weight, block.numbers)


class SequenceTrainable(StructureTrainable):
    """A tagger in training; each new model is published under the lock of the old one, so that
    readers see features and weights that belong together."""

    # ------------------------------------------------------------------ blocks

    def prepare(self, records: Any, source: Source) -> LabelledSequences:
        return labelled(records, source)

    def pack(self, block: SequenceBlock) -> Packed:
        assert isinstance(block, EncodedSequences)  # it has been learnt
        X, pairs, bounds = block.sequences
        tables = [X] if pairs is None else [X, pairs]
        parts = [part for table in tables for part in (table.data, table.indices, table.indptr)]
        info = block.classes, [table.shape[1] for table in tables]
        return Packed([bounds, block.y, *parts], info)

    def unpack(self, packed: Packed) -> EncodedSequences:
        bounds, y, *parts = packed.arrays
        classes, widths = packed.info
        tables = [
            sparse.csr_array(tuple(parts[3 * i : 3 * i + 3]), shape=(bounds[-1], width))
            for i, width in enumerate(widths)
        ]
        pairs = tables[1] if len(tables) > 1 else None
        return EncodedSequences(Sequences(tables[0], pairs, bounds), y, classes)

    # ---------------------------------------------------------------- learning

    def register(self, block: SequenceBlock) -> EncodedSequences:
        if isinstance(block, EncodedSequences):
            return block
        self.model, encoded = encode_block(
            self.settings, self.model, block, declared=self._declared, watch=self._watch
        )
        return encoded

    def learn(self, block: SequenceBlock, order: Order = None, **how: Any) -> EncodedSequences:
        before = self.model
        known = (0, 0) if before is None else before.features.n_names
        encoded = self.register(block)
        learnt = self.model.records_learnt
        try:
            super().learn(encoded, order, **how)
        except BaseException:
            if isinstance(block, LabelledSequences):
                learnt = self.model.records_learnt - learnt
                self._forget_names(before, encoded.sequences.part(0, learnt), known)
            raise
        return encoded

    def _learn(self, encoded: EncodedSequences, order: Order, report: Report | None) -> None:
        batch = encoded.batch(self.model)
        self.model.learn(self.settings.method, batch, order=order, report=report)

    def _forget_names(
        self, before: SequenceModel | None, learnt: Sequences, known: tuple[int, int]
    ) -> None:
        """Drop the names of features that are only in sequences that were not learnt."""
        model = self.model
        with model.lock:
            tables = learnt.X, learnt.pairs
            seen = (0 if table is None else table.indices.max(initial=-1) + 1 for table in tables)
            model.features.keep(*map(max, known, map(int, seen)))
            self.model = model.fitting(model.classes) if len(learnt.bounds) > 1 else before
            if self.model is not None and self._watch is not None:
                self._watch(self.model)

    def _right(self, encoded: EncodedSequences) -> NDArray[np.bool_]:
        best = self.model.tags(encoded.sequences, threads=1)
        return np.asarray(self.model.classes[best] == encoded.classes[encoded.y])

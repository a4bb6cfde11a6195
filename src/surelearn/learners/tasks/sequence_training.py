"""Training a tagger, block by block; knows no sources."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check
from surelearn.learners.tasks.sequence_encoding import EncodedSequences, encode_block, labelled
from surelearn.learners.tasks.sequence_settings import SequenceSettings
from surelearn.learners.tasks.sequences import LabelledSequences, SequenceModel
from surelearn.learners.tasks.structure_merging import StructureMergeState
from surelearn.merging import Way
from surelearn.read import Source
from surelearn.templates import Sequences
from surelearn.training.held_out import HeldOut, warn_if_worse
from surelearn.training.protocol import Order, Packed, Report

#: Features are numbered in the order they first appear, so a block is encoded when it is learnt.
SequenceBlock = LabelledSequences | EncodedSequences


class SequenceTrainable:
    """A tagger in training; see `protocol.Trainable`.

    Parameters
    ----------
    settings : SequenceSettings
    model : SequenceModel or None
        The model to continue with; None: start untrained.
    declared : ndarray or None
        Labels that the model knows from the first sequence on.
    watch : function, optional
        Called with each new model under the lock of the old one, so that readers see features and
        weights that belong together.
    """

    def __init__(
        self,
        settings: SequenceSettings,
        model: SequenceModel | None = None,
        *,
        declared: NDArray[Any] | None = None,
        watch: Callable[[SequenceModel], None] | None = None,
    ) -> None:
        self.settings = settings
        self.model = model
        self._declared = declared
        self._watch = watch

    # ------------------------------------------------------------------ blocks

    def prepare(self, records: Any, source: Source) -> LabelledSequences:
        return labelled(records, source)

    def check_all_read(self, *, resumed: bool) -> None:
        pass  # no setting names labels or words

    def check_learnt(self) -> None:
        assert self.model is not None
        _check.two_classes(self.model.classes, "fit_stream")

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

    def learn(
        self,
        block: SequenceBlock,
        order: Order = None,
        *,
        number: int = 1,
        starts_pass: bool = False,
        report: Report | None = None,
    ) -> EncodedSequences:
        before = self.model
        known = (0, 0) if before is None else before.features.n_names
        encoded = self.register(block) if isinstance(block, LabelledSequences) else block
        model = self.model
        assert model is not None
        learnt = model.records_learnt
        if starts_pass:
            model.mistakes.append(0)
        try:
            model.learn(self.settings.method, encoded.batch(model), order=order, report=report)
        except BaseException:
            if isinstance(block, LabelledSequences):
                learnt = model.records_learnt - learnt
                self._forget(before, encoded.sequences.part(0, learnt), known)
            raise
        return encoded

    def _forget(
        self, before: SequenceModel | None, learnt: Sequences, known: tuple[int, int]
    ) -> None:
        """Drop the names of features that are only in sequences that were not learnt."""
        model = self.model
        assert model is not None
        with model.lock:
            tables = learnt.X, learnt.pairs
            met = (0 if table is None else table.indices.max(initial=-1) + 1 for table in tables)
            model.features.keep(*map(max, known, map(int, met)))
            if len(learnt.bounds) > 1:
                self.model = model.fitting(model.classes)
            else:
                self.model = before
            if self.model is not None and self._watch is not None:
                self._watch(self.model)

    def register(self, block: LabelledSequences) -> EncodedSequences:
        """Register the labels and features of a block, and encode it."""
        self.model, encoded = encode_block(
            self.settings, self.model, block, declared=self._declared, watch=self._watch
        )
        return encoded

    # ----------------------------------------------------------------- merging

    def fork(self, model: SequenceModel | None = None, *, threads: int = 1) -> SequenceTrainable:
        return SequenceTrainable(self.settings, model, declared=self._declared)

    def state(self, how: Way, start: SequenceModel | None = None) -> StructureMergeState:
        model = self.settings.untrained() if self.model is None else self.model
        return StructureMergeState.of(model, how)

    def take(
        self,
        total: StructureMergeState,
        prior: StructureMergeState | None = None,
        *,
        threads: int = 1,
    ) -> None:
        self.model = total.merged(prior)
        if self._watch is not None:
            self._watch(self.model)
        warn_if_worse(total.held, self._right, total.how)

    def reset_to(self, start: SequenceModel, state: StructureMergeState) -> SequenceModel | None:
        return None  # its features may have grown

    def held_out(self, block: SequenceBlock, n: int) -> HeldOut:
        assert isinstance(block, EncodedSequences)
        records = block.part(block.size - n, block.size)
        return HeldOut(records, self._right(records))

    def _right(self, records: EncodedSequences) -> NDArray[np.bool_]:
        """Of which tokens the model is right."""
        assert self.model is not None
        best = self.model.tags(records.sequences, threads=1)
        return np.asarray(self.model.classes[best] == records.classes[records.y])

"""Training a tagger, block by block; knows no sources."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check
from surelearn.merging import Way
from surelearn.models.held_out import HeldOut, warn_if_worse
from surelearn.models.protocol import Order, Packed, Report
from surelearn.models.rows import joined
from surelearn.models.sequence_merging import SequenceMergeState
from surelearn.models.sequence_settings import SequenceSettings
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
        columns = source.columns
        names = [
            name for name in columns.get("columns", []) if name not in ("_", columns.get("label"))
        ]
        return LabelledSequences.of(records.X, records.y)._replace(columns=names or None)

    def met_all(self, *, resumed: bool) -> None:
        pass  # no setting names labels or words

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
        encoded = self.meet(block) if isinstance(block, LabelledSequences) else block
        model = self.model
        assert model is not None
        if starts_pass:
            model.mistakes.append(0)
        model.learn(self.settings.method, self._batch(model, encoded), order=order, report=report)
        return encoded

    def meet(self, block: LabelledSequences) -> EncodedSequences:
        """Register the labels and features of a block, and encode it."""
        before = self.settings.untrained() if self.model is None else self.model
        if self.model is None and not before.features.columns:
            before.features = self.settings.features(block.columns)
        classes = self._known(before.classes, block.labels)
        with before.lock, before.features.forgetting():
            sequences = before.features.learn(block.X)
            self.model = before.fitting(classes)
            if self._watch is not None:
                self._watch(self.model)
        y = self.model.places(block.y)
        return EncodedSequences(sequences, y, classes, block.weight, block.numbers)

    def _known(self, classes: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
        """All labels known so far, including the declared ones."""
        declared = labels[:0] if self._declared is None else self._declared
        for some in (declared, labels):
            _check.one_kind(classes, some)
            classes = joined(classes, some)
        return classes

    def _batch(self, model: SequenceModel, block: EncodedSequences) -> SequenceBatch:
        """The block in the form of the core, for the current classes and features."""
        y, sequences = block.y, block.sequences
        if len(block.classes) < len(model.classes):
            y = np.searchsorted(model.classes, block.classes)[y].astype(np.int32)
        if sequences.pairs is not None:  # the core takes the number of pair features from the width
            sequences.pairs.resize((len(y), model.n_pairs))
        return model.batch(sequences, y, block.weight, block.numbers)

    # ----------------------------------------------------------------- merging

    def fork(self, model: SequenceModel | None = None, *, threads: int = 1) -> SequenceTrainable:
        return SequenceTrainable(self.settings, model, declared=self._declared)

    def state(self, how: Way, start: SequenceModel | None = None) -> SequenceMergeState:
        model = self.settings.untrained() if self.model is None else self.model
        return SequenceMergeState.of(model, how)

    def take(
        self,
        total: SequenceMergeState,
        prior: SequenceMergeState | None = None,
        *,
        threads: int = 1,
    ) -> None:
        self.model = total.merged(prior)
        if self._watch is not None:
            self._watch(self.model)
        warn_if_worse(total.held, self._right, total.how)

    def rewound(self, start: SequenceModel, state: SequenceMergeState) -> SequenceModel | None:
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

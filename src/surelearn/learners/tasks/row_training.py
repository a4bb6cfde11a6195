"""Training a classifier of rows, block by block; knows no sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, _core
from surelearn.learners import reductions
from surelearn.learners.calibration import Follower, kept_in_block
from surelearn.learners.label_scoring import scorer_of
from surelearn.learners.scoring import MeanScorer
from surelearn.learners.tasks.row_block import Features, RowBlock
from surelearn.learners.tasks.row_settings import (
    RowSettings,
    balanced_stream,
    check_declared,
    given_weight,
    times,
)
from surelearn.learners.tasks.row_shards import RowShards
from surelearn.learners.tasks.rows import ClassModel, RowModel, union_of_labels
from surelearn.merging import Documents, MergeState, Way, Words
from surelearn.read import Batch as Records
from surelearn.read import Labels, Source
from surelearn.training.held_out import warn_if_worse
from surelearn.training.protocol import Order, Packed, Refused, Report
from surelearn.units import ColumnScale

if TYPE_CHECKING:
    from surelearn.columns.leaks import LeakWatch


class RowReader(Protocol):
    """Turns the contents of records, numbers or texts, into rows."""

    @property
    def n_features(self) -> int | None:
        """Number of columns; None: the first block decides."""

    def read(self, X: Any, names: list[str] | None) -> Features:
        """The rows of some records with these column names; runs in any thread."""

    def register(self, features: Features) -> None:
        """Remember the words of a block; called in the order of the blocks."""

    def weighed(self, rows: _core.Rows, *, counting: bool) -> _core.Rows:
        """Rows as they are learnt: weighed by the documents counted so far.

        With `counting`, each row is counted first, in the order of the rows.
        """

    def forget(self, rows: _core.Rows, first: int) -> None:
        """Undo the counting of the rows from `first` on."""

    def words(self) -> Words | None:
        """The words of the features."""

    def documents(self) -> Documents | None:
        """The documents counted so far, if any are."""

    def know(self, words: Words | None, documents: Documents | None = None) -> None:
        """Continue with the words and document counts of a merged model; without counts of it,
        with the counts there are."""

    def fork(self) -> Self:
        """A new reader with the same settings and document counts, and no words."""


class RowTrainable(RowShards):
    """A classifier of rows in training; see `protocol.Trainable`.

    Parameters
    ----------
    settings : RowSettings
    reader : RowReader or None
        None for rows in memory, which are read.
    model : RowModel or None
        The model to continue with; None: start untrained.
    declared : ndarray or None
        Classes that the model knows from the first row on.
    watch : function, optional
        Called with each new model.
    """

    def __init__(
        self,
        settings: RowSettings,
        reader: Any,
        model: RowModel | None = None,
        *,
        declared: NDArray[Any] | None = None,
        watch: Callable[[RowModel], None] | None = None,
    ) -> None:
        super().__init__(settings, model)
        self.reader = reader
        self._declared = declared
        self._watch = watch
        self.follower: Follower | None = None  # the temperature of a stream, if it is calibrated
        self.kept_until = 0  # the pass of a stream in which rows that are kept back are learnt
        self.leaks: LeakWatch | None = None  # looks for columns of tables that decide the label
        self._met: set[Any] = set()  # labels of all records, including those of weight 0
        self._labels: dict[Any, int] = {}  # labels of packed blocks, numbered as they appear

    # ------------------------------------------------------------------ blocks

    def prepare(self, records: Records, source: Source) -> RowBlock:
        assert records.labels is not None
        X, labels, weight = records.X, records.labels, records.weight
        _check.labels(labels.values)
        if labels.starts is not None:
            self.settings.check_many_labels()
        self._met.update(labels.values.tolist())
        weight = given_weight(self.settings.class_weight, labels, weight)
        if weight is not None and not weight.all():
            kept = np.flatnonzero(weight)
            X = X[kept] if hasattr(X, "shape") else X.take(kept)
            labels, weight = labels.take(kept), weight[kept]
        if not labels.n_rows:
            return RowBlock(None, labels, weight)
        features = self.reader.read(X, source.feature_names)
        if self.leaks is not None and labels.starts is None:
            self.leaks.add(X, labels)
        return RowBlock.read(features, labels, weight)

    def check_all_read(self, *, resumed: bool) -> None:
        if self.leaks is not None:  # before a later pass reads the rows again
            self.leaks.warn()
        weights = self.settings.class_weight
        if not isinstance(weights, dict):
            return
        known = self._met.copy()
        for labels in (self._declared, None if self.model is None else self.model.classes):
            known |= set() if labels is None else set(labels.tolist())
        if resumed:  # the earlier call has dropped rows of weight 0 and their labels
            weights = {label: weight for label, weight in weights.items() if weight}
        remedy = "Declare classes that come later with classes=."
        _check.weighted_classes(weights, sorted(known), remedy)

    def check_learnt(self) -> None:
        assert self.model is not None
        if self.model.many_labels:
            _check.some_label(len(self.model.classes), "fit_stream")
        else:
            _check.two_classes(self.model.classes, "fit_stream")

    def pack(self, block: RowBlock) -> Packed:
        features, labels = block.features, block.labels
        assert features is not None  # only blocks of a stream are packed
        table = [self._labels.setdefault(v, len(self._labels)) for v in labels.values.tolist()]
        codes = np.array(table, np.int32)[labels.codes]
        weight = np.zeros(0) if block.weight is None else block.weight
        starts = np.zeros(0, np.int64) if labels.starts is None else labels.starts
        info = features.n_features, block.weight is not None
        return Packed((*features.arrays, codes, starts, weight), info)

    def unpack(self, packed: Packed) -> RowBlock:
        *arrays, codes, starts, weight = packed.arrays
        n_features, weighted = packed.info
        labels = Labels(codes, np.array(list(self._labels)), starts if len(starts) else None)
        features = Features(tuple(arrays), n_features)
        return RowBlock.read(features, labels, weight if weighted else None)

    # ---------------------------------------------------------------- learning

    def learn(
        self,
        block: RowBlock,
        order: Order = None,
        *,
        number: int = 1,
        starts_pass: bool = False,
        report: Report | None = None,
    ) -> RowBlock:
        if block.features is None:  # rows in memory have been weighed
            self._learn(block, order, number=number, starts_pass=starts_pass, report=report)
            return block
        if number == 1:
            self.reader.register(block.features)
        if number > self.kept_until or block.labels.starts is not None:
            new = number == 1
            self._learn_some(block, order, number=number, starts_pass=starts_pass, counting=new)
        elif self.kept_until == 1:
            self._learn_halves(block, starts_pass=starts_pass)
        else:
            self._learn_without(block, order, number=number, starts_pass=starts_pass)
        return block  # as it was read: later passes weigh it by all counts of the first

    def _learn_halves(self, block: RowBlock, *, starts_pass: bool) -> None:
        """Learn a block of a single pass, and predict some rows of its second half on the way."""
        middle = block.size // 2
        if middle:
            first = block.part(0, middle)
            self._learn_some(first, number=1, starts_pass=starts_pass, counting=True)
        self._follow(block, kept_in_block(block.labels))
        try:
            second = block.part(middle, block.size)
            starts_pass = starts_pass and not middle
            self._learn_some(second, number=1, starts_pass=starts_pass, counting=True)
        except Refused as error:
            error.place += middle
            raise

    def _learn_without(
        self, block: RowBlock, order: Order, *, number: int, starts_pass: bool
    ) -> None:
        """Learn a block without the rows that it keeps back until a later pass, or until now."""
        kept = kept_in_block(block.labels)
        every = np.arange(block.size) if order is None else order
        rows = every[~np.isin(every, kept)]
        new = number == 1
        self._learn_rows(block, rows, number=number, starts_pass=starts_pass, counting=new)
        if number == self.kept_until:
            self._follow(block, kept)
            self._learn_rows(block, kept, number=1, starts_pass=False, counting=False)
        elif len(kept):
            some = block.take(kept)
            rows_kept = self.reader.weighed(some.rows, counting=new)
            if self.model is not None and self.model.weights is not None:
                right = scorer_of(self.model, self.settings.rule).right(rows_kept, some.labels)
                self.model.mistakes[-1] += int(np.count_nonzero(~right))

    def _learn_rows(
        self,
        block: RowBlock,
        rows: NDArray[np.int64],
        *,
        number: int,
        starts_pass: bool,
        counting: bool,
    ) -> None:
        """Learn some rows of a block of a stream, in this order."""
        if not len(rows):
            return
        try:
            some = block.take(rows)
            self._learn_some(some, number=number, starts_pass=starts_pass, counting=counting)
        except Refused as error:
            error.place = int(rows[error.place])
            raise

    def _learn_some(
        self,
        block: RowBlock,
        order: Order = None,
        *,
        number: int,
        starts_pass: bool,
        counting: bool,
    ) -> None:
        """Learn a block of a stream, or a part of one, and count its documents."""
        with self._weighed(block.rows, self.model, counting=counting) as weighed:
            part = block._replace(rows=weighed, is_new=counting)
            self._learn(part, order, number=number, starts_pass=starts_pass, report=None)

    def _follow(self, block: RowBlock, kept: NDArray[np.int64]) -> None:
        """Move the temperature by rows that have not been learnt."""
        model = self.model
        if self.follower is None or model is None or model.weights is None:
            return
        places = block.labels.take(kept).codes_in(model.classes).astype(np.int64)
        kept, places = kept[places >= 0], places[places >= 0]
        if len(kept):
            asked = MeanScorer(model, self.settings.rule)
            rows = self.reader.weighed(block.take(kept).rows, counting=False)
            self.follower = self.follower.after(asked, rows, places)
            self._publish(model)

    def _learn(
        self,
        block: RowBlock,
        order: Order,
        *,
        number: int,
        starts_pass: bool,
        report: Report | None,
    ) -> None:
        model = self._present(block)
        labels = block.labels
        if labels.values is not model.classes:
            _check.one_kind(model.classes, labels.values)
            labels = Labels(labels.codes_in(model.classes), model.classes, labels.starts)
        is_balanced = self.settings.class_weight == "balanced" and block.features is not None
        if (labels.codes < 0).any() or (is_balanced and number == 1):
            self._learn_new(model, block, starts_pass=starts_pass)
            return
        block = block._replace(labels=labels)
        if is_balanced:
            block = block._replace(weight=_balanced(model, block))
        if starts_pass:
            model.mistakes.append(0)
        self._publish(model)
        before, span = model.counts.copy(), block.span or (0, block.size)
        if order is not None:  # it numbers the rows of the block; the core wants those of `rows`
            order, span = order + span[0], (0, len(order))
        try:
            model.learn(self.settings.method, block, order=order, span=span, report=report)
        finally:
            if number > 1:  # only the first pass adds to the class counts
                model.counts[:] = before

    @contextmanager
    def _weighed(
        self, rows: _core.Rows, model: RowModel | None, *, counting: bool
    ) -> Iterator[_core.Rows]:
        """Rows to learn in this context by `model`; those that are not learnt are not counted."""
        before = 0 if model is None else model.records_learnt
        weighed = self.reader.weighed(rows, counting=counting)
        try:
            yield weighed
        except BaseException:
            if counting:
                learnt = before if self.model is None else self.model.records_learnt
                self.reader.forget(rows, learnt - before)
            raise

    def _learn_new(self, model: RowModel, block: RowBlock, *, starts_pass: bool) -> None:
        """Learn a block with new classes."""
        every = union_of_labels(model.classes, block.labels.seen)
        self.settings.check_classes(every, model)
        if reductions.is_fixed(self.settings.multiclass):
            model = model.with_classes(every)
        if starts_pass:
            model.mistakes.append(0)
        model.absorb(self.settings.method, self._balanced(model, block), publish=self._publish)

    def absorb(self, model: RowModel, block: RowBlock) -> None:
        """Continue from `model` with rows that may have new classes, counting their documents."""
        with self._weighed(block.rows, model, counting=True) as rows:
            block = self._balanced(model, block._replace(rows=rows, is_new=True))
            model.absorb(self.settings.method, block, publish=self._publish)

    def _balanced(self, model: RowModel, block: RowBlock) -> RowBlock:
        """The block with the balanced weights of a stream, if these are asked for."""
        if self.settings.class_weight != "balanced":
            return block
        return block._replace(weight=stream_weight(model, block))

    def _publish(self, model: RowModel) -> None:
        self.model = model
        if self._watch is not None:
            self._watch(model)

    def _present(self, block: RowBlock) -> RowModel:
        """The model to continue with, which knows the declared classes."""
        model, many = self.model, block.labels.starts is not None
        if model is None:
            model = self.untrained(is_sparse=block.is_sparse, many=many)
        _check.same_number_of_labels(model.many_labels, many)
        if self._declared is None:
            return model
        _check.one_kind(model.classes, self._declared)
        every = union_of_labels(model.classes, self._declared)
        check_declared(self.settings.class_weight, every)
        self.settings.check_classes(every, model)
        return model.with_classes(every)

    def untrained(self, *, is_sparse: bool, many: bool = False) -> RowModel:
        """An untrained model, of one label or of many labels for each row."""
        assert self.reader.n_features is not None
        return self.settings.untrained(self.reader.n_features, is_sparse=is_sparse, many=many)

    # ----------------------------------------------------------------- merging

    def fork(self, model: RowModel | None = None, *, threads: int = 1) -> RowTrainable:
        settings = self.settings.but(method=self.settings.method._replace(threads=threads))
        return RowTrainable(settings, self.reader.fork(), model, declared=self._declared)

    def align(self, shards: Sequence[RowTrainable]) -> None:
        start = None if self.model is None else self.model.scale
        parts = [one.model.scale.since(start) for one in shards if one.model and one.model.scale]
        if not parts:
            return
        units = ColumnScale.united(parts if start is None else [start, *parts]).units
        for one in (self, *shards):
            if one.model is not None and one.model.scale is not None:
                one.model = one.model.in_scale(one.model.scale.in_use(units))

    def state(self, how: Way, start: RowModel | None = None) -> MergeState:
        model = self.untrained(is_sparse=False) if self.model is None else self.model
        words, documents = self.reader.words(), self.reader.documents()
        return model.merge_state(how, words=words, documents=documents, start=start)

    def take(self, total: MergeState, prior: MergeState | None = None, *, threads: int = 1) -> None:
        self.reader.know(total.result_words(prior), total.result_documents(prior))
        projection = self.settings.resolved(is_sparse=False)
        self._publish(RowModel.merged(total, prior, projection=projection, threads=threads))
        self.held = [one.records for one in total.held]
        warn_if_worse(total.held, self._right, total.how)


def _balanced(model: RowModel, block: RowBlock) -> NDArray[np.float64]:
    """The balanced weight n / (K n_y) of each row, from the counts of the first pass."""
    of_class = model.counts.sum() / (np.count_nonzero(model.counts) * model.counts)
    return times(of_class[block.labels.codes], block.weight)


def stream_weight(model: ClassModel, block: RowBlock) -> NDArray[np.float64]:
    """The balanced weight of each row, from the counts up to it."""
    every = union_of_labels(model.classes, block.labels.seen)
    counts = np.zeros(len(every), dtype=np.int64)
    counts[np.searchsorted(every, model.classes)] = model.counts
    return times(balanced_stream(block.labels.codes_in(every), counts), block.weight)

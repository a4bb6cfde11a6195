"""Rows with their labels, and what has been learnt of them; knows no scikit-learn.

New classes make a new `RowModel`, so that a reader in another thread always sees classes and
weights that belong together: those from when it began. The core changes the weights in place, under
a lock in C++.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, _core
from surelearn.decode import LABELS, Code, columns_of
from surelearn.learners import reductions
from surelearn.learners.snapshot import copied
from surelearn.learners.tasks.row_block import RowBlock
from surelearn.merging import Documents, MergeState, Way, Words
from surelearn.read import Labels, spans_of
from surelearn.training.protocol import UpdateMethod, refused
from surelearn.units import ColumnScale
from surelearn.weights import (
    Diagonal,
    Full,
    Layout,
    Method,
    Tally,
    Targets,
    weights_of,
)

#: Rows between two reports of progress.
_REPORT = 1 << 20


class ClassModel:
    """A model of known classes, counted as they come; the base of dataclasses with these fields."""

    __dataclass_fields__: ClassVar[dict[str, Any]]
    classes: NDArray[Any]
    counts: NDArray[np.int64]
    mistakes: list[int]
    updates: int
    multiclass: reductions.Multiclass

    @property
    def many_labels(self) -> bool:
        """Whether a row has any number of labels."""
        return self.multiclass == LABELS

    @cached_property
    def places(self) -> dict[Any, int]:
        """The position of each label among the classes."""
        return {label: k for k, label in enumerate(self.classes.tolist())}

    def place_of(self, y: Any) -> Any:
        """The position of a known label, or an array of those of many; None for any other."""
        try:
            if not self.many_labels:
                return self.places.get(y)
            if not isinstance(y, list | tuple | set | frozenset):
                return None
            places = sorted({self.places[label] for label in y})
            return np.array(places, np.int32) if len(places) == len(y) else None
        except (KeyError, TypeError):  # new, or no label
            return None

    def with_classes(self, classes: NDArray[Any]) -> Self:
        """The same model with these known classes (sorted); new classes start at the prior.

        Both models may share memory, so this one must not learn any more.
        """
        if len(classes) == len(self.classes) and np.array_equal(classes, self.classes):
            return self
        places = [self.places.get(label, -1) for label in classes.tolist()]
        counts = np.array([0 if k < 0 else self.counts[k] for k in places], dtype=np.int64)
        code = reductions.code_of(self.multiclass, len(classes))
        known = {"classes": classes, "counts": counts, "code": code}
        return replace(self, weights=self._weights_for(places, code), **known)

    def _weights_for(self, places: list[int], code: Code | None) -> Any:
        """Weights for classes that were at these places; -1 is a new class."""
        raise NotImplementedError

    def count_rows(self, codes: NDArray[Any]) -> None:
        """Count rows of these classes."""
        self.counts += np.bincount(codes, minlength=len(self.classes))

    def add(self, tally: Tally) -> None:
        """Count mistakes and updates."""
        if not tally.rows:
            return
        if not self.mistakes:
            self.mistakes.append(0)
        self.mistakes[-1] += tally.mistakes
        self.updates += tally.updates

    def __getstate__(self) -> dict[str, Any]:
        """Leave out cached properties, which another thread may add at any time."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


@dataclass
class RowModel(ClassModel):
    """Classes, weights and counters of training so far.

    Parameters
    ----------
    layout : Layout
    initial_variance : float
    projection : {"precision", "covariance"}
    classes : ndarray
        Known classes, sorted.
    weights : Diagonal, Full or None
        None while fewer than two classes are known; of many labels, while none is.
    counts : ndarray of int
        Number of rows learnt of each class.
    mistakes : list of int
        Wrong predictions before the update, one entry per pass.
    updates : int
    multiclass : str or Code, default "joint"
        How three or more classes are learnt; ``"labels"``: a row has any number of labels.
    code : Code or None
        The code of the classes; None if they are learnt together or fewer than three.
    records_learnt : int
        Rows learnt since the model was made or loaded, in all passes.
    scale : ColumnScale or None
        The moments of columns that are learnt in units of their spread.
    """

    layout: Layout
    initial_variance: float
    projection: str
    classes: NDArray[Any]
    weights: Diagonal | Full | None = None
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    mistakes: list[int] = field(default_factory=list)
    updates: int = 0
    multiclass: reductions.Multiclass = "joint"
    code: Code | None = None
    records_learnt: int = 0
    scale: ColumnScale | None = None

    @cached_property
    def _all_known(self) -> NDArray[np.uint8]:
        return np.ones(len(self.classes), np.uint8)

    @cached_property
    def _entries(self) -> NDArray[np.int8] | None:
        return None if self.code is None else self.code.matrix.ravel()

    def merge_state(
        self,
        how: Way,
        *,
        words: Words | None = None,
        documents: Documents | None = None,
        start: RowModel | None = None,
    ) -> MergeState:
        """What merging needs from this model, which was trained from `start`."""
        learnt = replace(self)  # another thread may go on to other weights and units
        if learnt.scale is not None and learnt.weights is not None:
            learnt.scale = learnt.scale.in_use(learnt.weights.units or learnt.scale.units)
        if start is not None and start.scale is not None and learnt.scale is not None:
            learnt = learnt.in_scale(learnt.scale.in_use(start.scale.units))
        state = MergeState.of_learnt(learnt, how, words=words, start=start)
        scale = learnt.scale and learnt.scale.since(None if start is None else start.scale)
        scales = () if scale is None or not scale.n_rows else (scale,)
        return replace(state, documents=documents, scales=scales)

    @classmethod
    def merged(
        cls,
        total: MergeState,
        prior: MergeState | None = None,
        *,
        projection: str,
        threads: int = 1,
    ) -> RowModel:
        """The merged model of a sum; `projection` applies if no part has seen a row."""
        found = total.merged(prior, threads=threads)
        fixed = reductions.is_fixed(total.multiclass)
        code = found.code if fixed else reductions.code_of(total.multiclass, len(found.weighed))
        model = cls(
            total.layout,
            total.initial_variance,
            found.projection or projection,
            found.weighed,
            weights=found.weights,
            counts=np.zeros(len(found.weighed), dtype=np.int64),
            mistakes=found.mistakes,
            updates=found.updates,
            multiclass=total.multiclass,
            code=code,
        )
        scale = total.result_scale(prior)
        if scale is not None:
            if model.weights is not None:
                model.weights.units = total.units(prior)
            model = model.in_scale(scale)
        model = model.with_classes(found.classes)
        model.counts = found.counts
        return model

    def copy(self) -> RowModel:
        """An independent copy: training it does not change this model."""
        counts, mistakes = self.counts.copy(), list(self.mistakes)
        scale = None if self.scale is None else self.scale.copy()
        weights = copied(self.weights)
        return replace(self, weights=weights, counts=counts, mistakes=mistakes, scale=scale)

    def _weights_for(self, places: list[int], code: Code | None) -> Diagonal | Full | None:
        n_columns = reductions.n_columns_of(self.multiclass, len(places), code)
        if n_columns == 0:
            return None
        if self.weights is None:
            weights = weights_of(self.layout, n_columns, self.initial_variance)
            weights.units = None if self.scale is None else self.scale.units
            return weights
        columns = columns_of(self.multiclass, places, len(self.classes))
        return self._one_a_class(self.weights).grown(columns)

    def _one_a_class(self, weights: Diagonal | Full) -> Diagonal | Full:
        """The weights with one column per class, also for two classes."""
        if len(self.classes) > 2 or self.many_labels:
            return weights
        if isinstance(weights, Diagonal) and self.multiclass != "joint":
            return weights.mirrored()
        return weights.split()

    def learn(
        self,
        method: UpdateMethod,
        block: RowBlock,
        *,
        order: NDArray[np.int64] | None = None,
        known: NDArray[np.uint8] | None = None,
        span: tuple[int, int] | None = None,
        report: Callable[[Tally], None] | None = None,
    ) -> None:
        """Learn the rows of `span` in `order`; a bad row raises `Refused` after those before it."""
        span = span or block.span or (0, block.size)
        if span[0] < span[1]:
            targets = self.targets(method, block, order=order, known=known)
            if self.scale is None or not block.is_new:
                self.learn_span(method, block, targets, span, report=report)
                return
            rows, numbers = block.rows, block.numbers
            if order is not None:
                rows = rows.take(order)
                numbers = order if numbers is None else numbers[order]
            begin, end = span
            while begin < end:
                with self._counting(rows, begin, end, numbers) as stop:
                    self.learn_span(method, block, targets, (begin, stop), report=report)
                begin = stop

    @contextmanager
    def _counting(
        self, rows: _core.Rows, begin: int, end: int, numbers: NDArray[np.int64] | None = None
    ) -> Iterator[int]:
        """Learn rows inside, up to the number given, and count them for the scale of columns.

        Rows that are not learnt are not counted, and change no units. `numbers` are those of the
        rows in the user's data.
        """
        assert self.scale is not None
        scale, weights, learnt = self.scale, self.weights, self.records_learnt
        try:
            self.scale, most, counted = scale.stretch(rows, begin)
            if weights is not None and self.scale is not scale:
                try:
                    self.weights = weights.in_units(self.scale.units)
                except np.linalg.LinAlgError:  # in these units the covariance is singular
                    number = begin if numbers is None else int(numbers[begin])
                    raise refused(self, number, begin, exact=False) from None
            yield min(end, begin + most)
        finally:
            n = self.records_learnt - learnt
            if n:
                self.scale.count(rows, begin + counted, begin + n)
            else:
                self.scale, self.weights = scale, weights

    def in_scale(self, scale: ColumnScale) -> RowModel:
        """This model with another scale of columns, whose units come into use."""
        weights = self.weights
        if weights is not None and weights.units is not scale.units:
            weights = weights.in_units(scale.units)
        return replace(self, weights=weights, scale=scale)

    def targets(
        self,
        method: UpdateMethod,
        block: RowBlock,
        *,
        order: NDArray[np.int64] | None = None,
        known: NDArray[np.uint8] | None = None,
        missed: NDArray[np.uint8] | None = None,
    ) -> Targets:
        """The labels and costs in the form of the core."""
        codes, starts = block.labels.codes_in(self.classes), block.labels.starts
        if known is None:
            known = self._all_known
        else:  # unknown labels belong to rows beyond the span, which the core never reads
            codes = np.maximum(codes, 0)
        cost = method.cost_of(self.classes)
        return Targets(
            codes, block.weight, order, known, cost, self._entries, missed, starts=starts
        )

    def scale_by(self, scale: ColumnScale) -> None:
        """Read rows as they are given from now on; they were learnt in the units of `scale`."""
        assert self.weights is not None
        self.scale, self.weights.units = scale, scale.units

    def unscaled(self) -> RowModel:
        """A copy that reads rows in the units of its scale."""
        model = self.copy()
        model.scale = None
        if model.weights is not None:
            model.weights.units = None
        return model

    def learn_span(
        self,
        method: UpdateMethod,
        block: RowBlock,
        targets: Targets,
        span: tuple[int, int],
        *,
        report: Callable[[Tally], None] | None = None,
    ) -> None:
        """Learn a span of rows whose targets have been made."""
        begin, end = span
        if self.weights is None:  # a single class has nothing to learn, but its rows are counted
            self._count(Tally(end - begin, 0, 0), targets, begin)
            return
        done, stopped = np.zeros(3, np.uint64), False
        self.weights.use_threads(method.threads)
        core = self.core_method(method)
        try:
            while int(done[0]) < end - begin and not stopped:
                at = begin + int(done[0])
                stop = end if report is None else min(end, at + _REPORT)
                stopped = self.weights.learn(core, block.rows, targets, span=(at, stop), done=done)
                if report is not None:
                    report(Tally(*done.tolist()))
        finally:  # an interruption still counts the rows learnt before it
            self._count(Tally(*done.tolist()), targets, begin)
        if stopped:
            place = begin + int(done[0])
            row = place if targets.order is None else int(targets.order[place])
            named = row if block.numbers is None else int(block.numbers[row])
            raise refused(self, named, place, exact=method.scheme.exact)

    def core_method(self, method: UpdateMethod) -> Method:
        """The method in the form of the core."""
        return method.core(self.projection)

    def learn_row(self, method: Method, row: _core.Rows, place: Any, weight: float) -> None:
        """Learn one row of a known class without costs: the fast path of `learn_one`.

        `place` is the position of its class, or an ascending array of those of its labels.
        """
        if self.scale is None:
            self._learn_row(method, row, place, weight)
            return
        with self._counting(row, 0, 1):
            self._learn_row(method, row, place, weight)

    def _learn_row(self, method: Method, row: _core.Rows, place: Any, weight: float) -> None:
        weights = _check.trained(self.weights, "learning")
        if self.code is None and not self.many_labels:
            tally, stopped = weights.learn_row(method, row, place, weight)
        else:
            tally, stopped = self._learn_coded_row(method, row, place, weight)
        if stopped:
            raise refused(self, 0, 0, exact=method.scheme.exact)
        self.add(tally)
        self.records_learnt += 1
        self.counts[place] += 1

    def _learn_coded_row(
        self, method: Method, row: _core.Rows, place: Any, weight: float
    ) -> tuple[Tally, bool]:
        y, w = np.atleast_1d(np.asarray(place, np.int32)), np.array([weight])
        starts = np.array([0, len(y)], np.int64) if self.many_labels else None
        targets = Targets(y, w, None, self._all_known, None, self._entries, starts=starts)
        done = np.zeros(3, np.uint64)
        weights = _check.trained(self.weights, "learning")
        stopped = weights.learn(method, row, targets, span=(0, 1), done=done)
        return Tally(*done.tolist()), stopped

    def _count(self, learnt: Tally, targets: Targets, begin: int) -> None:
        rows: Any = slice(begin, begin + learnt.rows)
        rows = rows if targets.order is None else targets.order[rows]
        if targets.starts is not None:
            _, rows = spans_of(targets.starts, rows)
        self.count_rows(targets.y[rows])
        self.records_learnt += learnt.rows
        self.add(learnt)

    def absorb(
        self, method: UpdateMethod, block: RowBlock, publish: Callable[[RowModel], None]
    ) -> None:
        """Learn a block that may have new classes.

        `publish` is called with the model after each stage.
        """
        method = method._replace(classes=union_of_labels(self.classes, block.labels.seen))
        model = self
        for stage in self._stages(block):
            before, model = model, model.with_classes(stage.classes)
            known = np.isin(stage.classes, stage.known).astype(np.uint8)
            rows = int(model.counts.sum())
            try:
                model.learn(method, block, known=known, span=stage.span)
            except BaseException:  # a bad row, an error in the rule, Ctrl-C: keep what was learnt
                # Rows without labels are learnt as well, but there the weights keep their shape.
                nothing = not self.many_labels and int(model.counts.sum()) == rows
                seen = stage.classes[known.astype(bool)]
                publish(before if nothing else model.with_classes(seen))
                raise
            publish(model)

    def _stages(self, block: RowBlock) -> Iterator[Stage]:
        if not self.many_labels:
            return stages(self.classes, block.labels)
        every = union_of_labels(self.classes, block.labels.seen)
        return iter([Stage((0, block.size), self.classes, every)])


def in_common_units(models: Sequence[RowModel]) -> list[RowModel]:
    """Models of which some have scaled columns, all in the units of the rows of all."""
    scales = [one.scale for one in models if one.scale is not None and one.scale.n_rows]
    if not scales:
        return list(models)
    units = ColumnScale.united(scales).units
    return [one if one.scale is None else one.in_scale(one.scale.in_use(units)) for one in models]


class Stage(NamedTuple):
    """A span of rows during which the weights keep their shape."""

    span: tuple[int, int]
    known: NDArray[Any]  # before the first row
    classes: NDArray[Any]  # after the last row


def stages(known: NDArray[Any], block: Labels, *, n_shapes: int = 3) -> Iterator[Stage]:
    """Split a block where the second and the third class appear.

    There the shape of the weights changes: one class has no weights, two classes share a vector,
    three or more have a column each. Later classes all get their columns at once; the core makes
    each one a rival from its first row on. `n_shapes` is the number of classes from which on the
    shape of the weights stays the same.
    """
    codes, firsts = np.unique(block.codes, return_index=True)
    labels = block.values[codes]
    new = ~np.isin(labels, known)
    order = np.argsort(firsts[new])
    arrivals = list(zip(firsts[new][order].tolist(), labels[new][order], strict=True))
    begin = 0
    while len(known) < n_shapes and arrivals:
        position, label = arrivals.pop(0)
        yield Stage((begin, position), known, known)
        known = union_of_labels(known, labels[labels == label])
        begin = position
    rest = labels[np.isin(labels, [label for _, label in arrivals])]
    yield Stage((begin, block.n_rows), known, union_of_labels(known, rest))


def union_of_labels(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """The sorted union of labels; an empty array does not affect the dtype."""
    if len(a) == 0 or len(b) == 0:
        return np.unique(b if len(a) == 0 else a)
    return np.union1d(a, b)

"""Blocks of a stream, and learning one of them; must not know sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, _core
from surelearn.estimators._base import as_labels
from surelearn.models import reductions
from surelearn.models.position import StreamPosition
from surelearn.models.row_settings import Plan, times
from surelearn.models.rows import Batch, Model, Refused, joined
from surelearn.read import Labels, Place

if TYPE_CHECKING:
    from surelearn.estimators._classifier import SureClassifier


class Features(NamedTuple):
    """The rows of a block, in arrays that a cache can keep."""

    arrays: tuple[NDArray[Any], ...]  # (starts, features, values), or one table
    n_features: int
    names: _core.Names | None = None  # of words that were met in them

    @property
    def is_sparse(self) -> bool:
        return len(self.arrays) > 1

    def rows(self) -> _core.Rows:
        """As the core reads them, looked through."""
        if self.is_sparse:
            starts, features, values = self.arrays
            rows = _core.Rows.csr(starts, features, values, self.n_features)
        else:
            rows = _core.Rows.dense(self.arrays[0])
        _check.sound_rows(rows.fault)
        return rows


class Prepared(NamedTuple):
    """A block that can be learnt."""

    features: Features
    rows: Any  # of the core; None where there are none
    labels: Labels
    weight: NDArray[np.float64] | None
    end: Place
    n_bytes: int
    n_bad: int

    @property
    def size(self) -> int:
        return len(self.labels.codes)


@dataclass
class Learner:
    """An estimator that learns blocks.

    Parameters
    ----------
    estimator : SureClassifier
    reader : SureClassifier
        It turns blocks into rows. Another one than the estimator until the first block is found to
        be sound, when the estimator takes over what it knows.
    plan : Plan
    classes : array or None
        Labels to know from the first row on.
    source : str
        What blocks are read from.
    opens : bool
        Whether the mistakes of this pass have no place of their own yet.
    """

    estimator: SureClassifier
    reader: SureClassifier
    plan: Plan
    classes: Any
    source: str
    opens: bool = False

    def learn(self, block: Prepared, position: StreamPosition) -> None:
        """Learn a block with rows, which begins at `position`."""
        try:
            self._learn(block, position)
        except Refused as error:
            row = position.rows + error.place
            error.add_note(f"This is record {row} of {self.source}, counted from 0.")
            raise

    def _learn(self, block: Prepared, position: StreamPosition) -> None:
        features, labels = block.features, block.labels
        model = self._model(features)
        if self.reader is not self.estimator:
            self.estimator._adopt(self.reader)
            self.reader = self.estimator
        if features.names is not None and position.number == 1:
            self.estimator._meet(features.names)
        places = [model.places.get(label) for label in labels.values.tolist()]
        balanced = self.plan.class_weight == "balanced"
        if None in places or (balanced and position.number == 1):
            self._learn_new(model, block)
            return
        codes = np.array(places, np.int32)[labels.codes]
        weight = _balanced(model, codes, block.weight) if balanced else block.weight
        self.open_pass(model)
        before = model.counts.copy()
        order = position.order(len(codes)) if self.plan.shuffle else None
        model.learn_coded(self.plan.how, Batch(block.rows, None, codes, weight), order=order)
        if position.number > 1:  # a row counts once, however often it was learnt
            model.counts[:] = before
        self.estimator._publish(model)

    def open_pass(self, model: Model) -> None:
        """Count mistakes anew; not before rows are learnt, so that a pass can be stopped or refused
        without a trace."""
        if self.opens:
            model.mistakes.append(0)
        self.opens = False

    def _model(self, features: Features) -> Model:
        """The model to go on with, which knows the classes that were declared."""
        reader = self.reader
        model = reader._present(self.plan, reader.n_features_in_, features.is_sparse)
        if self.classes is None:
            return model
        declared = as_labels(self.classes, "classes")
        _check.one_kind(model.classes, declared)
        every = joined(model.classes, declared)
        self.plan.check_declared(every)
        self.plan.check_classes(every, model)
        return model.with_classes(every)

    def _learn_new(self, model: Model, block: Prepared) -> None:
        """Learn a block in which classes appear."""
        y = block.labels.values[block.labels.codes]
        _check.one_kind(model.classes, y)
        every = joined(model.classes, y)
        self.plan.check_classes(every, model)
        if reductions.is_fixed(self.plan.multiclass):
            model = model.with_classes(every)
        self.open_pass(model)
        self.estimator._absorb(model, self.plan, Batch(block.rows, None, y, block.weight))


def _balanced(
    model: Model, codes: NDArray[np.int32], weight: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Weight n / (K n_y) of each row, from the counts of the first pass."""
    of_class = model.counts.sum() / (np.count_nonzero(model.counts) * model.counts)
    return times(of_class[codes], weight)

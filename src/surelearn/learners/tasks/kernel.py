"""The state of a kernel classifier: classes and dual weights; knows no scikit-learn.

Training makes a new model, so readers in other threads keep the one they began with.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn.decode import Code, columns_of
from surelearn.dual import Dual, DualForm
from surelearn.learners import reductions
from surelearn.learners.tasks.rows import ClassModel
from surelearn.weights import Layout


@dataclass
class KernelModel(ClassModel):
    """Classes, support points and counters of training so far.

    Parameters
    ----------
    layout : Layout
        Of the full weights whose dual form this is; there are as many features as columns of X.
    form : DualForm
    classes : ndarray
        Known classes, sorted.
    weights : Dual or None
        None while fewer than two classes are known.
    counts : ndarray of int
        Number of rows learnt of each class.
    mistakes : list of int
        Wrong predictions before the update, one entry per pass.
    updates : int
        Updates of all problems.
    multiclass : str or Code, default "ovr"
        How three or more classes are learnt.
    code : Code or None
        The code of the classes; None for two.
    support : ndarray of int, optional
        Row numbers of the points in the X of `fit`; None after `partial_fit`.
    """

    layout: Layout
    form: DualForm
    classes: NDArray[Any]
    weights: Dual | None = None
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    mistakes: list[int] = field(default_factory=list)
    updates: int = 0
    multiclass: reductions.Multiclass = "ovr"
    code: Code | None = None
    support: NDArray[np.int64] | None = None

    @property
    def initial_variance(self) -> float:
        """Variance of an untrained weight."""
        return self.form.prior

    def copy(self) -> KernelModel:
        """An independent copy: training it does not change this model."""
        return replace(self, counts=self.counts.copy(), mistakes=list(self.mistakes))

    def sides(self, codes: NDArray[Any]) -> NDArray[np.int8]:
        """The side of rows of these classes in each problem: +1, -1, or 0 for neither."""
        matrix = np.array([[-1], [1]], np.int8) if self.code is None else self.code.matrix
        return np.asarray(matrix[codes])

    def _weights_for(self, places: list[int], code: Code | None) -> Dual | None:
        if len(places) < 2:
            return None
        if self.weights is None:
            n_columns = reductions.n_columns_of(self.multiclass, len(places), code)
            problems = tuple(self.form.untrained() for _ in range(n_columns))
            return Dual(self.form, None, problems)
        # Two classes share a column, of which each of several gets its side.
        known = self.weights if len(self.classes) > 2 else self.weights.mirrored()
        return known.with_columns(columns_of(self.multiclass, places, len(self.classes)))

"""The state of a kernel classifier: classes and dual weights; knows no scikit-learn.

Training makes a new model, so readers in other threads keep the one they began with.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, kernels
from surelearn.decode import Code, columns_of
from surelearn.dual import Dual, DualForm, DualTargets, DualTraining, KernelRows
from surelearn.kernels import Kernel
from surelearn.learners import reductions
from surelearn.learners.settings import Parameter, Params, Settings, checked, converted, optional
from surelearn.learners.tasks.row_block import RowBlock
from surelearn.learners.tasks.row_training import stream_weight
from surelearn.learners.tasks.rows import ClassModel, stages
from surelearn.training.protocol import Order, Report
from surelearn.weights import Layout, Tally


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


Array = NDArray[np.float64]


def _multiclass(name: str, params: Params) -> reductions.Multiclass:
    multiclass = reductions.multiclass(params[name])
    if multiclass == "joint":
        raise ValueError(
            "multiclass must be 'ovr', 'ovo', 'ecoc' or a coding matrix for kernels, got 'joint'."
        )
    return multiclass


class KernelSettings(Settings):
    """The checked parameters of a kernel classifier."""

    own: ClassVar = {
        "multiclass": Parameter(_multiclass),
        "kernel": Parameter(converted(kernels.check)),
        "gamma": Parameter(converted(kernels.checked_gamma)),
        "degree": Parameter(checked(_check.count)),
        "coef0": Parameter(checked(_check.number, "[0, inf)", low=0.0)),
        "budget": Parameter(optional(_check.count, least=2)),
    }

    def complete(self) -> None:
        super().complete()
        self.core = self.rule.core()

    def untrained(self, rows: KernelRows) -> KernelModel:
        """An untrained model, whose kernel is made for the first rows."""
        kernel = self._kernel_for(rows.X, self.gamma, rows.numbers)
        layout = Layout(
            n_features=int(rows.X.shape[1]),
            intercept=self.fit_intercept,
            second_order=self.second_order,
            averaged=False,
            dtype="float64",
            covariance="full",
        )
        form, none = self.form(kernel), np.zeros(0, np.int64)
        return KernelModel(layout, form, none, multiclass=self.multiclass)

    def check_fits(self, model: KernelModel) -> None:
        """Raise if a setting differs that a fitted model cannot change."""
        known = model.form
        _check.same("multiclass", model.multiclass, self.multiclass)
        if model.layout.second_order == self.core.first_order:
            _check.same_order(model.layout.second_order, self.rule)
        _check.same("kernel", known.kernel, self._kernel_like(known.kernel))
        form = self.form(known.kernel)
        _check.same("fit_intercept", known.intercept, form.intercept)
        _check.same("initial_variance", known.prior, form.prior)
        _check.same("budget", known.budget or None, self.budget)

    def form(self, kernel: Kernel) -> DualForm:
        """The form of the problems; rules of first order have a fixed variance of 1."""
        second_order = self.second_order
        return DualForm(
            kernel,
            self.fit_intercept,
            second_order=second_order,
            prior=self.initial_variance if second_order else 1.0,
            budget=self.budget or 0,
        )

    def _kernel_for(
        self, X: Any, gamma: float | str, numbers: NDArray[np.int64] | None = None
    ) -> Kernel:
        return kernels.get(
            self.kernel, X, gamma=gamma, degree=self.degree, coef0=self.coef0, numbers=numbers
        )

    def _kernel_like(self, known: Kernel) -> Kernel:
        """The kernel of these settings, for the rows that another one was made for."""
        if isinstance(known, kernels.Precomputed) and self.kernel == "precomputed":
            return known
        gamma = getattr(known, "gamma", 1.0) if isinstance(self.gamma, str) else self.gamma
        none = np.zeros((0, 0))
        return self._kernel_for(none, gamma, numbers=np.zeros(0, np.int64))

    def check_classes(self, classes: NDArray[Any], model: KernelModel) -> None:
        """Raise for classes without a row of the code."""
        reductions.check_classes(self.multiclass, model.classes, classes)


class KernelTraining:
    """Passes over rows of known classes.

    Parameters
    ----------
    model : KernelModel
        It knows at least two classes.
    settings : KernelSettings
    block : RowBlock
        Its rows are `KernelRows`.
    """

    def __init__(self, model: KernelModel, settings: KernelSettings, block: RowBlock) -> None:
        assert model.weights is not None
        self._model, self._n_before = model.copy(), model.weights.n_points
        self._rows: KernelRows = block.rows
        self._training = DualTraining(model.weights, self._rows)
        self._codes = block.labels.codes_in(model.classes)
        sides = self._model.sides(self._codes)
        self._targets = DualTargets(settings.core, sides, block.weight, settings.n_jobs)
        self._model.count_rows(self._codes)

    def learn(self, order: Order = None, report: Report | None = None) -> None:
        """Learn all rows once."""
        n, mistakes, updates = len(self._rows), 0, 0
        numbers = np.arange(n) if order is None else order
        for learnt in self._training.learn(self._targets, numbers):
            mistakes += _mistakes(self._model, learnt.scores, self._codes[learnt.rows])
            updates += learnt.updates
        tally = Tally(n, mistakes, updates)
        self._model.add(tally)
        if report is not None:
            report(tally)

    def learn_pass(self, order: Order, report: Report | None) -> None:
        """Learn all rows once, and count their mistakes as a new pass."""
        self._model.mistakes.append(0)
        self.learn(order, report)

    def result(self) -> KernelModel:
        """The model; training is over."""
        self._model.weights, points = self._training.result()
        numbers = self._rows.numbers
        is_new = self._n_before == 0  # all points are rows
        self._model.support = (points if numbers is None else numbers[points]) if is_new else None
        return self._model


def absorbed(model: KernelModel, settings: KernelSettings, block: RowBlock) -> KernelModel:
    """The model after a block that may have new classes, learnt in its order.

    A new class has a problem from its first row on; rows before it are not in its problem.
    """
    if settings.class_weight == "balanced":
        block = block._replace(weight=stream_weight(model, block))
    for stage in stages(model.classes, block.labels, n_shapes=len(model.classes) + block.size + 1):
        model = model.with_classes(stage.classes)
        model = _with_rows(model, settings, _part(block, slice(*stage.span)))
    model.support = None
    return model


def _with_rows(model: KernelModel, settings: KernelSettings, block: RowBlock) -> KernelModel:
    if model.weights is None:  # a single class has nothing to learn, but its rows are counted
        model = model.copy()
        model.count_rows(block.labels.codes_in(model.classes))
        model.add(Tally(block.size, 0, 0))
        return model
    training = KernelTraining(model, settings, block)
    training.learn()
    return training.result()


def _part(block: RowBlock, span: slice) -> RowBlock:
    numbers = np.arange(block.size) if block.rows.numbers is None else block.rows.numbers
    rows = KernelRows(block.rows.X[span], numbers[span])
    weight = None if block.weight is None else block.weight[span]
    return RowBlock(rows, block.labels.take(span), weight, rows.X)


def _mistakes(model: KernelModel, scores: Array, codes: NDArray[Any]) -> int:
    """How many rows were not predicted right from these scores; of equal scores none is right."""
    each = np.arange(len(codes))
    if model.code is None:
        margin = np.where(codes == 1, scores[:, 0], -scores[:, 0])
    else:
        decoder = reductions.decoder("auto", model.code)
        assert decoder is not None
        found = decoder(model.code, scores).copy()
        own = found[each, codes]
        found[each, codes] = -np.inf
        margin = own - found.max(axis=1)
    return int(np.count_nonzero(~(margin > 0)))

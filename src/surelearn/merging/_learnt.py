"""Models as merging knows them: the ways to merge, what it keeps of models, and in which units."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, decode
from surelearn.decode import Code
from surelearn.weights import Diagonal, Full, Layout

#: Ways to merge by name.
HOWS = ("evidence", "bayes", "weighted", "kl", "uniform")


@dataclass(frozen=True)
class Evidence:
    r"""Merge the moves of models by the evidence that each has gathered.

    .. math:: \mu = \mu_0 + \frac{\lambda_0 D + \tau X}{\lambda_0 + \tau G}, \qquad
        \lambda = \lambda_0 + G \frac{\lambda_0 + \tau G / m}{\lambda_0 + \tau G}

    of every weight, with :math:`(\mu_0, \lambda_0)` the mean and precision that all m models that
    moved it started from, and the sums over them :math:`D = \sum (\mu_i - \mu_0)`,
    :math:`G = \sum (\lambda_i - \lambda_0)`,
    :math:`X = \sum (\lambda_i - \lambda_0) (\mu_i - \mu_0)`. ``docs/theory/merging.md`` derives it.

    Parameters
    ----------
    tau : float > 0, default 16
        How much more the evidence counts than the variances say. 1: what the models have learnt is
        added up, as by ``"bayes"``. Infinity: the mean of their moves, weighed by the evidence,
        with the precision of an average model.

    Examples
    --------
    >>> from surelearn.merging import Evidence
    >>> Evidence()
    Evidence(tau=16.0)
    """

    tau: float = 16.0

    def __post_init__(self) -> None:
        if not (isinstance(self.tau, float) and self.tau == math.inf):
            object.__setattr__(self, "tau", _check.number("tau", self.tau, "(0, inf]", low=0.0))


#: How models are merged: `Evidence`, or one of the other names.
Way = str | Evidence


def repeated(how: str, times: int) -> Way:
    """The way for parts that are merged so often, each time from what was merged before.

    What is added up too often would feed itself from one time to the next: moves are averaged.
    """
    return Evidence(math.inf) if how == "evidence" and times > 1 else how


def counts_start_once(how: Way) -> bool:
    """Whether a model that has learnt nothing adds nothing."""
    return how == "bayes" or isinstance(how, Evidence)


def way_of(how: object) -> Way:
    """A way by its name, or as it is."""
    if isinstance(how, Evidence):
        return how
    name = _check.choice("how", how, HOWS)
    return Evidence() if name == "evidence" else name


Classes = NDArray[Any]

#: Weights as `Weights.state` gives them.
State = Mapping[str, Any]


class Scale(NamedTuple):
    """The units of one model's weights.

    Sums are kept as of whole margins: where three or more classes are learnt together, two blocks
    make a margin, and ``halves`` says that a block has half of its mean and of its variance. The
    one vector of two classes can then be added to blocks as it is, whenever a third class comes.
    """

    prior: float  # variance of an untouched weight, as stored
    halves: bool
    wide: bool  # of blocks: they began with the whole initial variance, not with half of it
    power: int  # a rule free of scale has multiplied the means by 2^power, variances by 4^power

    @property
    def unit(self) -> float:
        return 2.0 if self.halves else 1.0

    @property
    def units(self) -> tuple[float, float]:
        """What a stored mean, and one over a stored variance, are multiplied by for a margin."""
        c = 2.0**self.power
        return self.unit / c, c**2 / self.unit


class Total(NamedTuple):
    """What is needed beside the sums to make a model of them."""

    how: Way
    n_models: int
    base: float  # what the priors of the models come to: precisions, or variances for "uniform"
    scale: Scale  # of the result
    rounds: int

    @property
    def plain(self) -> bool:
        return self.how == "uniform"


def scale_of(state: State, initial_variance: float, *, halves: bool) -> Scale:
    """The scale of weights that began with `initial_variance`, or half of it after a split.

    Both, and what a rescaling does, are powers of two, so the prior tells which of them happened.
    """
    fraction, exponent = math.frexp(state["prior"] / initial_variance)
    halvings = (exponent - 1) % 2
    if fraction != 0.5 or (halvings and not halves):
        raise ValueError(
            "models must have variances of a known scale to be merged, got one that has been "
            f"rescaled beyond what {state['layout']['dtype']} holds. Use dtype='float64'."
        )
    stored = float(np.dtype(state["layout"]["dtype"]).type(state["prior"]))
    return Scale(stored, halves, halves and not halvings, (exponent - 1 + halvings) // 2)


def at_power(state: State, power: int) -> State:
    """The same diagonal weights after a rescaling by so many more powers of two."""
    if power == 0:
        return state
    return _scale_state(state, 2.0**power, 4.0**power)


def _scale_state(state: State, mean: float, variance: float) -> dict[str, Any]:
    """Means and variances times powers of two, which loses no bit."""
    layout, K = Layout(**state["layout"]), state["n_columns"]
    factors = _factors(layout, K, mean, variance)
    return {**state, "prior": state["prior"] * variance, "cells": state["cells"] * factors}


def _factors(layout: Layout, n_columns: int, mean: float, variance: float) -> NDArray[Any]:
    """One for each number of a feature."""
    factors = np.full(layout.parts * n_columns, mean, dtype=layout.dtype)
    if layout.second_order:
        factors[n_columns : 2 * n_columns] = variance
    return factors


def scaled_by(cells: NDArray[Any], power: int, layout: Layout, n_columns: int) -> NDArray[Any]:
    """Runs of features after a rescaling by so many more powers of two."""
    return cells * _factors(layout, n_columns, 2.0**power, 4.0**power) if power else cells


def prior_run(layout: Layout, n_columns: int, prior: float) -> NDArray[Any]:
    """The numbers of a feature that no model has moved."""
    run = np.zeros((layout.parts, n_columns), dtype=layout.dtype)
    if layout.second_order:
        run[1] = prior
    return run.ravel()


class Move(NamedTuple):
    """Where the columns of other classes come from."""

    columns: list[int]  # of before; -1: a new one
    signs: list[int]  # of the means
    apart: bool  # what was one column has become two, which do not covary


def move_of(multiclass: Any, old: Classes, new: Classes) -> Move | None:
    """From classes to more classes; None where nothing moves."""
    if np.array_equal(old, new):
        return None
    known = {label: k for k, label in enumerate(old.tolist())}
    places = [known.get(label, -1) for label in new.tolist()]
    columns = decode.columns_of(multiclass, places, len(old))
    if len(old) > 2 or multiclass == decode.LABELS:
        return Move(columns, [1] * len(columns), apart=False)
    # The one vector speaks for the second class: -mu is what the first sees of it, +mu the second.
    return Move([min(k, 0) for k in columns], [-1 if k == 0 else 1 for k in columns], apart=True)


def grown(state: State, move: Move | None, *, halves: bool) -> State:
    """Diagonal weights under the columns of more classes; what was whole may become two halves."""
    if move is None:
        return state
    layout = Layout(**state["layout"])
    state = _scale_state(state, 0.5, 0.5) if halves else state
    n, K = len(state["features"]), len(move.columns)
    runs = state["cells"].reshape(n, layout.parts, state["n_columns"])
    cells = np.tile(prior_run(layout, K, state["prior"]), (n, 1)).reshape(n, layout.parts, K)
    for k, (column, sign) in enumerate(zip(move.columns, move.signs, strict=True)):
        for part in range(layout.parts) if column >= 0 else ():
            own = 1 if layout.second_order and part == 1 else sign
            cells[:, part, k] = own * runs[:, part, column]
    return {**state, "n_columns": K, "cells": cells.reshape(n, -1)}


def merged_classes(a: Classes, b: Classes) -> Classes:
    """The labels of both, sorted; an empty array has no say in their type."""
    if len(a) == 0 or len(b) == 0:
        return b if len(a) == 0 else a
    _check.labels_agree(a, b)
    return np.union1d(a, b)


class WeightsLearnt(Protocol):
    """A model as far as merging has to know it."""

    layout: Layout
    initial_variance: float
    multiclass: str | Code
    projection: str
    classes: Classes
    weights: Diagonal | Full | None
    counts: NDArray[np.int64]
    mistakes: list[int]
    updates: int
    code: Code | None


@dataclass(frozen=True)
class OneModel:
    """The only model that has moved a weight: stored unchanged, so merging it returns its bits."""

    classes: Classes
    state: State  # of the weights that differ from the start, where there is one
    start: State | None = None  # the same weights of the trained model that it went on from


@dataclass(frozen=True)
class ModelSum:
    """Two or more such models."""

    classes: Classes
    sums: Any  # of all that were moved: DiagonalMoves, FewMoves, DiagonalSums or FullSums
    n_margin_priors: int  # models whose untouched weights have the initial variance a margin
    n_class_priors: int  # and those that have it a block, see Scale
    power: int
    rounds: int  # with a start: those since
    goes_on: bool = False  # from a trained start

    @property
    def n(self) -> int:
        return self.n_margin_priors + self.n_class_priors


class Merged(NamedTuple):
    """One model, made of many."""

    classes: Classes
    weights: Diagonal | Full | None  # None: no model has moved a weight
    weighed: Classes  # those that the weights are for: fewer where only one model has moved any
    counts: NDArray[np.int64]
    mistakes: list[int]
    updates: int
    code: Code | None
    projection: str | None  # None: no model has seen a row


def goes_on(trained: OneModel | ModelSum) -> bool:
    """Whether what was learnt is counted from a trained start."""
    return trained.goes_on if isinstance(trained, ModelSum) else trained.start is not None


def same_start(one: bool, other: bool) -> None:
    """Refuse to merge what was counted from a trained model with what was not."""
    if one != other:
        raise ValueError(
            "models must be merged from the start that their states were made with, got one with "
            "a trained start and one without. Hand the same model to MergeState.of as start and "
            "its state to result as prior."
        )

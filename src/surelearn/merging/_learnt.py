"""Models as merging knows them: what it takes, what it keeps of them, what it gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from surelearn.decode import Code
from surelearn.merging._scale import Classes, State
from surelearn.weights import Diagonal, Full, Layout


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
    """The only model so far that has moved a weight: kept as it is, so that it stays as it is."""

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

"""What decisions need to know of records; each kind of learner has a view of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.decide import Right

Array = NDArray[np.float64]
Places = NDArray[np.int64]

#: All scores of sureness of any kind of record.
SURENESS = ("probability", "margin", "least margin")


class View(ABC):
    """What a learner says of some records, computed when it is asked for."""

    #: What a record is called.
    unit: ClassVar[str] = "row"
    #: Scores of sureness, the default first.
    names: ClassVar[tuple[str, ...]] = ("probability",)
    #: Whether an answer loses 0 or 1, and a set all or nothing; else they lose shares.
    binary: ClassVar[bool] = True
    binary_sets: ClassVar[bool] = True

    n: int

    @abstractmethod
    def answers(self, cost: Array | None = None) -> Any:
        """The answer of each record, as `shown` takes them; with costs the cheapest one."""

    def costs(self, cost: Any) -> Array:
        """Checked misclassification costs, as `answers` takes them."""
        raise ValueError(f"cost must be None for {self.unit}s, got {_check.shown(cost)}.")

    def priced_out(self, answers: Any) -> NDArray[np.bool_]:
        """Whether no answer is the cheapest answer of each record."""
        return np.zeros(self.n, dtype=bool)

    @abstractmethod
    def sureness(self, name: str, answers: Any) -> Array:
        """How sure the learner is of each answer; larger is surer."""

    @abstractmethod
    def losses(self, answers: Any, y: Any) -> Array:
        """What each answer loses, from 0 to 1, given the right ones in a form that `fit` takes."""

    @abstractmethod
    def shown(self, answers: Any) -> Any:
        """The answers as `predict` returns them, one for each record."""

    def labels(self, answers: Any) -> NDArray[Any]:
        """The label of each answer, for risks by label."""
        raise ValueError(f"risk must be a number for {self.unit}s, got risks by label.")

    def novelty(self) -> Array:
        """How little of each record the learner has met; larger is newer."""
        raise ValueError(f"novelty needs classes of rows, got {self.unit}s.")

    @abstractmethod
    def probabilities(self) -> Array:
        """The probability of each label of each item: a row, a token, a node."""

    @abstractmethod
    def items(self) -> Places:
        """The record of each item."""

    @abstractmethod
    def right(self, y: Any) -> Right:
        """The right labels of all items."""

    def check_by_class(self) -> None:
        """Raise unless sets can be judged by the class of a record."""
        raise ValueError(f"by_class must be False for {self.unit}s, got True.")

    @abstractmethod
    def sets(self, within: NDArray[np.bool_]) -> Any:
        """Sets of labels as `predict_set` returns them, given whether an item has each label."""

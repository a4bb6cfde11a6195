"""What decisions need to know of records; each kind of learner has a view of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.decide import Right

if TYPE_CHECKING:
    from surelearn.learners.base import Estimator

Array = NDArray[np.float64]
Places = NDArray[np.int64]

#: All scores of sureness of any kind of record.
SURENESS = ("probability", "margin", "least margin")

#: No score of sureness is larger, so that thresholds are finite.
_SUREST = 1e300


class View(ABC):
    """What a learner says of some records, computed when it is asked for."""

    #: What a record is called, and what refusals call some of them.
    unit: ClassVar[str] = "row"
    records: ClassVar[str] = "rows"
    #: What a set holds.
    options: ClassVar[str] = "labels"
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
        raise ValueError(f"cost must be None for {self.records}, got {_check.shown(cost)}.")

    def priced_out(self, answers: Any) -> NDArray[np.bool_]:
        """Whether no answer is the cheapest answer of each record."""
        return np.zeros(self.n, dtype=bool)

    def sureness(self, name: str, answers: Any) -> Array:
        """How sure the learner is of each answer, as finite numbers; larger is surer."""
        score = self.score(name, answers)
        return np.clip(np.where(np.isnan(score), -np.inf, score), -_SUREST, _SUREST)

    @abstractmethod
    def score(self, name: str, answers: Any) -> Array:
        """One of the scores of sureness; it may be infinite, or NaN where there is no answer."""

    @abstractmethod
    def losses(self, answers: Any, y: Any) -> Array:
        """What each answer loses, from 0 to 1, given the right ones in a form that `fit` takes."""

    @abstractmethod
    def shown(self, answers: Any) -> Any:
        """The answers as `predict` returns them, one for each record."""

    def objects(self, answers: Any) -> Any:
        """The same as a list, or as an array of type object, for answers that may be missing."""
        shown = self.shown(answers)
        return shown if isinstance(shown, list) else shown.astype(object)

    def labels(self, answers: Any) -> NDArray[Any]:
        """The label of each answer, for risks by label."""
        raise ValueError(f"risk must be a number for {self.records}, got risks by label.")

    def novelty(self, score: str) -> Array:
        """How little of each record the learner has met, by a score of `decide.NOVELTY_SCORES`."""
        raise ValueError(f"novelty needs rows with one label each, got {self.records}.")

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
        raise ValueError(f"by_class must be False for {self.records}, got True.")

    def held(self, within: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether the set of an item has each label, which always has the most probable one."""
        p = self.probabilities()
        within[np.arange(len(p)), np.argmax(p, axis=1)] = True
        return within

    @abstractmethod
    def sets(self, score: str, limit: float | Array) -> Any:
        """Sets of labels as `predict_set` returns them; see `decide.label_sets`."""


def view_of(estimator: Estimator[Any], X: Any, records: dict[str, Any]) -> View:
    """The view of an estimator; other keywords than those of its records are refused."""
    known = type(estimator).__view__.__kwdefaults__ or {}
    unknown = next((name for name in records if name not in known), None)
    if unknown is not None:
        who = type(estimator).__name__
        raise TypeError(f"{who} must be given known keywords, got {unknown!r}.")
    return estimator.__view__(X, **records)

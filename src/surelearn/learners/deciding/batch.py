"""What is decided of a batch of records at a time, for predictions from files; knows no files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.learners.deciding.abstention import decide
from surelearn.learners.deciding.sets import sets_of
from surelearn.learners.deciding.state import part_of
from surelearn.learners.deciding.view import View

if TYPE_CHECKING:
    from surelearn.learners.base import Estimator


class DecisionOptions(NamedTuple):
    """Which decisions are asked for; see `surelearn.predict`."""

    abstain: bool = False
    coverage: float | None = None
    cost: Any = None
    novel: float | None = None

    @property
    def decides(self) -> bool:
        """Whether answers may be other ones than those of the largest score, or be missing."""
        return self.abstain or self.cost is not None or self.novel is not None

    @property
    def is_any(self) -> bool:
        """Whether anything is asked for."""
        return self.decides or self.coverage is not None

    def check(self, model: Any) -> None:
        """Raise before anything is read for what the model cannot decide."""
        _check.flag("abstain", self.abstain)
        if self.is_any and not hasattr(model, "predict_set"):
            name = next(
                n for n, x in zip(self._fields, self, strict=True) if x not in (None, False)
            )
            raise ValueError(
                f"{name} needs a model of surelearn that keeps variances, got {model!r}."
            )
        if self.abstain:
            part_of(model, "abstention", "predict(abstain=True)", "choose_abstention")
        elif self.novel is not None:
            part_of(model, "novelty", f"novel={self.novel}", "choose_novelty")
        if self.coverage is not None:
            _check.number("coverage", self.coverage, "(0, 1)", low=0.0, high=1.0)
            part_of(model, "sets", "coverage", "choose_sets")

    def of_nothing(self) -> tuple[Any, ...]:
        """Whether a batch without records is answered, why, and its sets."""
        none = (np.zeros(0, np.bool_), np.zeros(0, object)) if self.decides else (None, None)
        return *none, None if self.coverage is None else []


#: Nothing but answers.
PLAIN = DecisionOptions()


class Given(NamedTuple):
    """What is decided of a batch of records; the last three are None where not asked for."""

    view: View
    answers: Any  # as `view` has them, given or not
    shown: Any  # as `predict` gives them; None where a record is not answered
    answered: NDArray[np.bool_] | None
    why: NDArray[Any] | None
    sets: Any


def given(model: Estimator[Any], X: Any, asked: DecisionOptions, **records: Any) -> Given:
    """Decide on a batch of records, which is read once."""
    how = {"abstain": asked.abstain, "cost": asked.cost, "novel": asked.novel}
    found, sets = decide(model, X, **how, **records), None
    if asked.coverage is not None:
        sets = sets_of(
            part_of(model, "sets", "coverage", "choose_sets"), found.view, asked.coverage
        )
    if not asked.decides:
        shown = found.view.shown(found.answers)
        return Given(found.view, found.answers, shown, None, None, sets)
    shown = found.shown(None)
    return Given(found.view, found.answers, shown, found.answered, found.why, sets)

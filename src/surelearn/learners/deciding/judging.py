"""Judge decisions on labelled records, batch by batch: promises, sets; knows no kind of record.

A batch is said first, without its labels, in any thread; then it is added, in order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn.decide import Right, nonconformity
from surelearn.learners.deciding.abstention import Decided, decide, risks_by_label
from surelearn.learners.deciding.state import Abstention, Decisions, decisions_of
from surelearn.learners.deciding.view import Array, View, view_of
from surelearn.scores import CurveTally, DecisionScores, KeptTally, SetTally

if TYPE_CHECKING:
    from surelearn.learners.base import Estimator
    from surelearn.learners.task import EvaluationOptions


class Said(NamedTuple):
    """What a learner decides on a batch of records."""

    view: View
    decided: Decided | None  # None without a promise
    within: NDArray[np.bool_] | None  # whether sets hold each label; None without evidence


class Judge:
    """Judges what a fitted learner decides.

    Parameters
    ----------
    estimator : Estimator or None
        None: a model of another library, which has a sureness only.
    options : EvaluationOptions
        The risk at which coverage is told, by default the promised one, and the coverage of sets.
    """

    def __init__(self, estimator: Estimator[Any] | None, options: EvaluationOptions) -> None:
        own = Decisions(()) if estimator is None else decisions_of(estimator)
        self.rule, self._evidence = own.abstention, own.sets
        self._options, self._limit, self._note = options, 0.0, ""
        self._classes = getattr(estimator, "classes_", None)
        self._curve = CurveTally()
        self._kept: KeptTally | None = None
        self._sets: SetTally | None = None
        if self._evidence is not None:
            self._limit = self._evidence.threshold(options.coverage, None)
            least = self._evidence.fewest(options.coverage, None)
            if self._evidence.n < least:
                self._note = (
                    f"No sets: coverage={options.coverage:g} needs at least {least:,} kept-back "
                    f"records, got {self._evidence.n:,}."
                )
                self._evidence = None

    @property
    def has_decisions(self) -> bool:
        """Whether the learner has more to be judged than its sureness."""
        return self.rule is not None or self._evidence is not None

    def is_asked(self, estimator: Estimator[Any]) -> bool:
        """Whether records are to be judged where sureness takes long to compute."""
        asked = self.has_decisions or self._options.risk is not None
        return asked and hasattr(estimator, "choose_abstention")

    def said(self, estimator: Estimator[Any], X: Any, **records: Any) -> Said:
        """What the learner, or a copy of it, decides on some records."""
        decided = None if self.rule is None else decide(estimator, X, abstain=True, **records)
        view = view_of(estimator, X, records) if decided is None else decided.view
        within = None
        if self._evidence is not None:
            scores = nonconformity(view.probabilities(), self._evidence.score)
            within = view.held(scores <= self._limit)
        return Said(view, decided, within)

    def sure(self, said: Said) -> Array:
        """How sure the learner is of each answer of `predict`, by the score of its promise."""
        name = said.view.names[0] if self.rule is None else self.rule.sureness
        return said.view.sureness(name, said.view.answers())

    def add_curve(self, *models: tuple[Array, Array]) -> None:
        """Add the sureness and the loss of each answer of a batch, for the learner and a rival."""
        self._curve.add(*models)

    def add(self, said: Said, loss: Callable[[Any], Array], right: Callable[[], Right]) -> None:
        """Add what was said of a batch, given what answers lose and the right labels."""
        view, decided = said.view, said.decided
        if decided is not None and self.rule is not None:
            if self._kept is None:
                self._kept = KeptTally(_promises(self.rule), binary=view.binary)
            labels = None if None in self.rule.rules else view.labels(decided.answers)
            self._kept.add(decided.answered, loss(decided.answers), labels)
        if said.within is not None:
            if self._sets is None:
                stated = self._options.coverage
                self._sets = SetTally(stated, self._classes, binary=view.binary_sets)
            self._sets.add(said.within, right(), view.items())

    def judge(self, estimator: Estimator[Any], X: Any, y: Any, **records: Any) -> None:
        """Say and add a batch of records whose view knows what answers lose."""
        said = self.said(estimator, X, **records)
        view = said.view
        self.add_curve((self.sure(said), view.losses(view.answers(), y)))
        self.add(said, lambda own: view.losses(own, y), lambda: view.right(y))

    def result(self) -> DecisionScores | None:
        """The scores of all records; None if the learner cannot tell how sure it is."""
        return self._curve.result(
            self._risk,
            kept=() if self._kept is None else self._kept.result(),
            sets=None if self._sets is None else self._sets.result(),
            note=self._note,
        )

    @property
    def _risk(self) -> float | None:
        promised = None if self.rule is None else self.rule.risk
        if self._options.risk is None and isinstance(promised, float):
            return promised
        return self._options.risk


def _promises(rule: Abstention) -> list[dict[str, Any]]:
    """What was promised, for each label with a risk of its own."""
    risks = risks_by_label(rule.risk)
    return [
        {
            "label": label,
            "risk": risk,
            "delta": rule.delta / len(risks),
            "coverage": rule.rules[label].coverage,
            "bound": rule.rules[label].bound,
        }
        for label, risk in risks.items()
    ]

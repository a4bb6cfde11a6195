"""Decisions of classifiers of rows, judged beside their answers; knows no sources."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn.decide import Right
from surelearn.learners.answers.judgement import Judgement, sureness_of
from surelearn.learners.base import Estimator
from surelearn.learners.deciding.judging import Judge, Said
from surelearn.learners.task import EvaluationOptions
from surelearn.read import Labels
from surelearn.scores import DecisionScores

Array = NDArray[np.float64]


class RowDecisions:
    """Judges the decisions of a classifier, of any library, and its sureness beside a rival's."""

    def __init__(self, models: list[Any], options: EvaluationOptions) -> None:
        self._models = models
        own = models[0] if isinstance(models[0], Estimator) else None
        self._judge = Judge(own, options)
        self._places = {label: k for k, label in enumerate(np.asarray(models[0].classes_).tolist())}

    def said(self, model: Any, X: Any) -> Said | None:
        """What the model, or a copy of it, decides on a batch; None if it only answers."""
        return self._judge.said(model, X) if self._judge.has_decisions else None

    def add(
        self,
        labels: Labels,
        judgements: list[Judgement],
        right: list[NDArray[np.bool_]],
        said: Said | None,
    ) -> None:
        """Add a batch: its labels, what each model says, and which of it is right."""
        if not labels.n_rows:
            return
        found = []
        for model, judged, own in zip(self._models, judgements, right, strict=True):
            if said is not None and model is self._models[0]:
                sure: Array | None = self._judge.sure(said)
            else:
                sure = sureness_of(model, judged)
            if sure is None:
                break
            found.append((sure, np.asarray(~own, dtype=np.float64)))
        if found:
            self._judge.add_curve(*found)
        if said is not None:
            truth = self._right(labels)
            self._judge.add(said, lambda own: self._lost(own, truth, ~right[0]), lambda: truth)

    def _lost(self, answers: Any, truth: Right, wrong: NDArray[np.bool_]) -> Array:
        """What the answers of the promised rule lose: others than those of `predict` with costs."""
        rule = self._judge.rule
        if rule is None or rule.cost is None:
            return np.asarray(wrong, dtype=np.float64)
        return np.asarray(answers != truth.place, dtype=np.float64)

    def _right(self, labels: Labels) -> Right:
        """The right labels of rows, of which the model may not know some."""
        n = labels.n_rows
        sizes = np.ones(n, np.int64) if labels.starts is None else np.diff(labels.starts)
        rows = np.repeat(np.arange(n), sizes)
        values = labels.values.tolist()
        known = np.array([self._places.get(label, -1) for label in values], np.int64)
        places = known[labels.codes] if len(known) else rows
        return Right(rows, places, np.arange(len(rows)), 1.0 / sizes[rows], n)

    def result(self) -> DecisionScores | None:
        return self._judge.result()

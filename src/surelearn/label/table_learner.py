"""What follows the answers to a table: a classifier of tables in a `Pool`."""

from __future__ import annotations

from typing import Any

import numpy as np

from surelearn.label.learner import TextLearner
from surelearn.label.why import Why, Word, judged


class TableLearner(TextLearner):
    """A classifier of tables in a `Pool`, whose columns were decided when the store began."""

    @staticmethod
    def blank(seed: int) -> Any:
        """A classifier as it comes."""
        from surelearn import SureTableClassifier

        return SureTableClassifier(random_state=seed, n_jobs=-1)

    def why(self, item: int) -> Why | None:
        """Margin, deviation and probability, and what each value adds."""
        if not self.decides:
            return None
        why = judged(self.model, self._texts(np.array([item])))
        return _with_values(why, self.model, self.items.values(item))


def _with_values(why: Why, model: Any, values: dict[str, Any]) -> Why:
    """The same with the features of a record as words, one a line."""
    found = model.explain(values, top=None)
    scores: dict[str, float] = {}
    sure: dict[str, float] = {}
    told = (found.feature, found.label, found.margin, found.probability)
    for feature, label, margin, p in zip(*(column.tolist() for column in told), strict=True):
        scores[feature] = scores.get(feature, 0.0) + margin * (1 if str(label) == why.label else -1)
        sure[feature] = p
    scores.pop("(others)", None)  # the intercept: it is no value
    words, text = [], ""
    for feature, score in scores.items():
        words.append(Word(len(text), len(text) + len(feature), score, sure[feature]))
        text += f"{feature}\n"
    return why._replace(words=words, text=text, of_record=True)

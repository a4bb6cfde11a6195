"""What a model thinks of an item before it is labelled; must not know who follows the answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

#: Texts with more letters are not explained word by word.
LONGEST_EXPLAINED = 20_000


class Word(NamedTuple):
    """A stretch of a text, what it adds to the margin, and the probability of that sign."""

    begin: int
    end: int
    score: float
    sureness: float | None


class Why(NamedTuple):
    """What the model thinks of an item before it is labelled."""

    label: Any
    rival: Any
    probability: float
    margin: float
    deviation: float | None
    words: list[Word]
    text: str | None = None  # the text that the words are stretches of
    token: str | None = None  # the token of a sentence that this is about
    of_record: bool = False  # whether the words are features of a record, each once


def explained(model: Any, text: str) -> Why:
    """What a text classifier thinks of a text."""
    why = judged(model, [text])
    return why if len(text) > LONGEST_EXPLAINED else _with_words(why, model, text)


def judged(model: Any, X: Any) -> Why:
    """What a classifier thinks of one row."""
    (scores,), (variances,) = model.margin(X)
    probabilities = model.predict_proba(X)[0]
    best, rival = np.argsort(-probabilities, kind="stable")[:2].tolist()
    label = str(model.classes_[best])
    if np.ndim(scores) == 0:
        lead, variance = float(scores) * (1 if best else -1), variances
    else:
        lead = float(scores[best] - scores[rival])
        variance = None if variances is None else variances[best] + variances[rival]
    deviation = None if variance is None else float(np.sqrt(variance))
    return Why(label, str(model.classes_[rival]), float(probabilities[best]), lead, deviation, [])


def _with_words(why: Why, model: Any, text: str) -> Why:
    found = model.explain(text)
    sign = 1.0 if str(found.verdict.label) == why.label else -1.0
    mine = [str(label) == why.label for label in found.label]
    only = len(set(found.label.tolist())) == 1  # two classes have one set of weights
    sure = {
        str(name): float(p)
        for name, p, is_mine in zip(found.feature, found.probability, mine, strict=True)
        if only or is_mine
    }
    return why._replace(words=words_of(found, sign, sure), text=found.text)


def words_of(found: Any, sign: float, sure: Mapping[str, float]) -> list[Word]:
    """The words of an explained text: how much each speaks for a label, and how surely."""
    return [
        Word(begin, end, sign * score, sure.get(found.text[begin:end].lower()))
        for (begin, end), score in zip(found.units, found.scores.tolist(), strict=True)
    ]

"""What the model thinks of a text, and which words pull each way."""

from __future__ import annotations

import numpy as np
import pytest

from labelling import label, pool
from surelearn import SureTextClassifier
from surelearn.label.learner import TextLearner
from surelearn.label.ledger import Step
from surelearn.label.why import explained


def blank():
    return TextLearner.blank(0)


def steps(n):
    return [Step("tell", i, label(i)) for i in range(n)]


def test_why_adds_up_and_marks_the_words_that_pull_each_way():
    learner = TextLearner(pool(), blank, 0)
    assert learner.why(0) is None
    learner.follow(steps(20))
    why = explained(learner.model, "a fine and dull Film")
    pulls = {why.text[word.begin : word.end]: word for word in why.words}
    assert pulls["fine"].score * pulls["dull"].score < 0
    assert 0.5 < pulls["fine"].sureness < 1
    mean, variance = learner.model.margin(["a fine and dull Film"])
    assert abs(why.margin) == pytest.approx(abs(mean[0]))
    assert why.deviation == pytest.approx(np.sqrt(variance[0]))
    assert why.label in ("good", "bad")
    assert why.probability >= 0.5


def test_why_with_three_classes_is_the_lead_over_the_next_best():
    texts = ["fine film", "dull film", "odd plot"] * 3
    model = SureTextClassifier(random_state=0).fit(texts, ["good", "bad", "odd"] * 3)
    why = explained(model, "a fine plot")
    assert {why.label, why.rival} <= {"good", "bad", "odd"}
    assert why.margin > 0
    pulls = {why.text[word.begin : word.end]: word.score for word in why.words}
    assert pulls["fine"] * pulls["plot"] <= 0


def test_very_long_texts_are_not_explained_word_by_word():
    learner = TextLearner(pool(), blank, 0)
    learner.follow(steps(4))
    assert explained(learner.model, "fine " * 10_000).words == []

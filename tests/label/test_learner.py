from __future__ import annotations

import numpy as np
import pytest

from labelling import label, pool
from surelearn import SureTextClassifier
from surelearn.label.learner import TextLearner, agreement, explained
from surelearn.label.ledger import Step


def blank():
    return TextLearner.blank(0)


def steps(n):
    return [Step("tell", i, label(i)) for i in range(n)]


def state(learner):
    return learner.model.coef_.tobytes(), learner.ask(5)


def test_the_model_depends_on_the_steps_alone_whatever_way_led_there():
    wanted = TextLearner(pool(), blank, 0)
    wanted.follow(steps(12))
    walked = TextLearner(pool(), blank, 0)
    for n in (1, 2, 3, 4):
        walked.follow(steps(n))
    walked.follow([*steps(4), Step("skip", 9)])
    walked.follow(steps(4))
    walked.follow([Step("tell", 0, "good"), *steps(4)[1:]])  # an answer was changed
    for n in range(4, 13):
        walked.follow(steps(n))
    assert state(walked) == state(wanted)


def test_a_skipped_item_is_not_asked_again():
    learner = TextLearner(pool(4), blank, 0)
    (first, *_) = learner.ask(1)
    learner.follow([Step("skip", first)])
    assert first not in learner.ask(9)
    assert len(learner.ask(9)) == 3


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


def test_what_was_stable_is_judged_anew_when_an_answer_changes():
    wrong = [step._replace(label=label(step.item + 1)) for step in steps(100)]
    learner = TextLearner(pool(200), blank, 0)
    for n in range(1, 101):
        learner.follow([*steps(50), *wrong[50:]][:n])
    assert learner.stable() == ""
    learner.follow(steps(100))
    assert "changed almost no prediction" in learner.stable()


def test_predictions_that_no_longer_change_are_called_stable():
    learner = TextLearner(pool(200), blank, 0)
    learner.follow(steps(60))
    assert learner.stable() == ""
    for n in range(61, 101):
        learner.follow(steps(n))
    assert "changed almost no prediction" in learner.stable()
    again = TextLearner(pool(200), blank, 0)
    again.follow(steps(100))
    assert again.stable() == learner.stable()


def test_agreement_is_cohens_kappa():
    from sklearn.metrics import cohen_kappa_score

    a, b = list("xxyyzxyz"), list("xyyyzzyz")
    assert agreement(a, b) == pytest.approx(cohen_kappa_score(a, b))
    assert agreement(["x"], ["x"]) == 1.0


def test_one_label_for_all_is_not_stable():
    """It says that the classes are not told apart yet, however often it is repeated."""
    learner = TextLearner(pool(200), blank, 0)
    told = [Step("tell", i, "good" if i else "bad") for i in range(0, 200, 2)]
    for n in range(1, 101):
        learner.follow(told[:n])
        if n >= 40 and n % 20 == 0:
            assert set(learner.model.predict(learner.items.X)) == {"good"}
    assert learner.stable() == ""

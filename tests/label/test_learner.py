"""The model of the page depends on the answers alone, and asks for what it doubts."""

from __future__ import annotations

import numpy as np
import pytest

from labelling import TAGS, label, pool, sentences
from surelearn.label.learner import ManyLearner, TagLearner, TextLearner, agreement
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


def many(i):
    return sorted({"good" if i % 2 else "bad", *(["odd"] if i % 3 == 0 else [])})


def followed(kind, items, label, n):
    found = kind(items, lambda: kind.blank(0), 0)
    for k in range(1, n + 1):
        found.follow([Step("tell", i, label(i)) for i in range(k)])
    return found


def same(one, other):
    assert one.model.coef_.tobytes() == other.model.coef_.tobytes()
    assert one.ask(3) == other.ask(3)


def test_many_labels_are_learnt_and_explained():
    found = followed(ManyLearner, pool(60), many, 30)
    assert found.predict(6) == ["bad", "odd"] or "bad" in found.predict(6)
    why = found.why(40)
    assert {why.label, why.rival} in ({x, f"not {x}"} for x in ("good", "bad", "odd"))
    for item in range(30, 60):
        why = found.why(item)
        assert 0.5 <= why.probability <= 1
        assert why.margin >= 0
        assert (why.label in found.predict(item)) == (why.rival == f"not {why.label}")
    why = found.why(40)
    assert why.text == "a dull film, number 40"
    assert ((found.sureness() >= 0.5) & (found.sureness() <= 1)).all()
    assert not set(found.ask(10)) & set(range(30))


def test_a_model_depends_on_the_steps_alone():
    walked = followed(ManyLearner, pool(150), many, 120)
    steps = [Step("tell", i, many(i)) for i in range(120)]
    at_once = ManyLearner(pool(150), lambda: ManyLearner.blank(0), 0)
    at_once.follow(steps)
    same(walked, at_once)
    walked.follow([*steps, Step("skip", 130)])
    walked.follow(steps)
    same(walked, at_once)


def test_questions_come_from_another_window_after_each_answer(monkeypatch):
    monkeypatch.setattr(ManyLearner, "window", 4)
    seen = set()
    for n in range(3, 9):
        asked = followed(ManyLearner, pool(24), many, n).ask(24)
        assert len(asked) == 4
        assert min(asked) >= n
        seen |= set(asked)
    assert len(seen) > 12


@pytest.mark.parametrize(("n", "is_fitted_anew"), [(99, True), (101, False), (102, True)])
def test_beyond_a_hundred_answers_a_model_is_fitted_anew_after_every_second(n, is_fitted_anew):
    texts = pool(110).X.to_pylist()[:n]
    anew = ManyLearner.blank(0).fit(texts, [many(i) for i in range(n)])
    found = followed(ManyLearner, pool(110), many, n)
    assert (found.model.coef_.tobytes() == anew.coef_.tobytes()) == is_fitted_anew


def test_no_labels_at_all_are_an_answer():
    found = followed(ManyLearner, pool(20), lambda i: [], 3)
    assert found.predict(5) is None
    assert found.why(5) is None
    assert len(found.ask(4)) == 4
    found.follow([*(Step("tell", i, []) for i in range(3)), Step("tell", 3, ["good"])])
    assert found.decides


def test_a_tagger_asks_for_the_sentence_with_the_weakest_token():
    found = followed(TagLearner, sentences(), lambda i: TAGS, 5)
    assert found.predict(20) == TAGS
    (asked,) = found.ask(1)
    sure = found.model.confidence([found.items.X[i] for i in range(5, 40)])
    assert min(found.confidence(asked)) == min(min(s) for s in sure)
    why = found.why(asked)
    assert why.probability == min(found.confidence(asked))
    lead = found.model.explain(found.items.X[asked], top=None)
    weakest = int(np.argmin(found.confidence(asked)))
    assert np.isclose(why.margin, lead.margin[lead.position == weakest].sum())


def test_a_tagger_depends_on_the_steps_alone():
    walked = followed(TagLearner, sentences(), lambda i: TAGS, 12)
    at_once = TagLearner(sentences(), lambda: TagLearner.blank(0), 0)
    at_once.follow([Step("tell", i, TAGS) for i in range(12)])
    same(walked, at_once)
    walked.follow([Step("tell", i, TAGS) for i in range(11)])
    walked.follow([Step("tell", i, TAGS) for i in range(12)])
    same(walked, at_once)


def test_one_tag_is_not_enough_to_predict():
    found = followed(TagLearner, sentences(), lambda i: ["O"] * 6, 2)
    assert found.predict(5) is None
    assert not len(found.sureness())

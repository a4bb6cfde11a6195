from __future__ import annotations

import numpy as np

from labelling import TAGS, pool, sentences
from surelearn.label.ledger import Step
from surelearn.label.refitted import ManyLearner, TagLearner


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
    assert 0.5 <= why.probability <= 1
    assert why.margin >= 0
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

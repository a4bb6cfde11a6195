"""What learners decide on labelled records, judged as their own methods decide."""

from __future__ import annotations

import numpy as np
import pytest

from surelearn import SureClassifier, SureRanker, SureTagger
from surelearn.learners.deciding.judging import Judge
from surelearn.learners.task import EvaluationOptions


def answered(given):
    return np.array([one is not None for one in given])


def drawn(n=1500, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    scores = X @ np.random.default_rng(9).normal(size=(4, 3)) + 0.7 * random.normal(size=(n, 3))
    return X, np.array(["a", "b", "c"])[scores.argmax(axis=1)]


@pytest.fixture(scope="module")
def clf():
    X, y = drawn()
    return SureClassifier(random_state=0).fit(X[:700], y[:700])


def judged(clf, X, y, **options):
    judge = Judge(clf, EvaluationOptions(**options))
    for first in range(0, len(y), 400):
        some = slice(first, first + 400)
        judge.judge(clf, X[some], y[some])
    return judge.result()


def test_a_promise_is_judged_as_predict_answers(clf):
    X, y = drawn()
    own = SureClassifier(random_state=0).fit(X[:700], y[:700])
    own.choose_abstention(X[700:], y[700:], risk=0.15)
    X, y = drawn(seed=1)
    (found,) = judged(own, X, y).kept
    given = own.predict(X, abstain=True)
    mask = answered(given)
    assert 0.1 < mask.mean() < 1
    assert (found.n, found.n_answered) == (1500, mask.sum())
    assert found.observed == pytest.approx(np.mean(given[mask] != y[mask]))
    assert (found.coverage, found.bound) == (own.coverage_, own.risk_bound_)
    assert (found.label, found.risk, found.delta) == (None, 0.15, 0.1)


def test_risks_by_label_share_delta():
    X, y = drawn()
    own = SureClassifier(random_state=0).fit(X[:700], y[:700])
    own.choose_abstention(X[700:], y[700:], risk={"b": 0.25, "c": 0.3})
    X, y = drawn(seed=1)
    found = judged(own, X, y)
    given = own.predict(X, abstain=True)
    assert found.risk is None
    for one in found.kept:
        mask = given == one.label
        assert one.n_answered == mask.sum() > 0
        assert one.observed == pytest.approx(np.mean(y[mask] != one.label))
        assert one.delta == 0.05


def test_costs_judge_the_answers_of_the_certified_rule():
    X, y = drawn()
    own = SureClassifier(random_state=0).fit(X[:700], y[:700])
    cost = {("a", "c"): 4, ("b", "c"): 2, None: 1.5}
    own.choose_abstention(X[700:], y[700:], risk=0.3, cost=cost)
    X, y = drawn(seed=1)
    found = judged(own, X, y)
    given = own.predict(X, abstain=True)
    mask = answered(given)
    assert found.kept[0].observed == pytest.approx(np.mean(given[mask] != y[mask]))
    assert (given[mask] != own.predict(X)[mask]).any()
    assert found.curve.risk[-1] == pytest.approx(np.mean(own.predict(X) != y))


@pytest.mark.parametrize("coverage", [0.8, 0.95])
def test_sets_are_those_of_predict_set(clf, coverage):
    X, y = drawn()
    own = SureClassifier(random_state=0).fit(X[:700], y[:700]).choose_sets(X[700:], y[700:])
    X, y = drawn(seed=1)
    found = judged(own, X, y, coverage=coverage).sets
    given = own.predict_set(X, coverage)
    assert found.coverage == pytest.approx(
        np.mean([k in own for k, own in zip(y, given, strict=True)])
    )
    assert found.size == pytest.approx(np.mean([len(own) for own in given]))
    assert found.stated == coverage
    of_a = [own for k, own in zip(y, given, strict=True) if k == "a"]
    assert found.by_class.size[0] == pytest.approx(np.mean([len(own) for own in of_a]))


def test_too_little_evidence_gives_no_sets_and_says_so(clf):
    X, y = drawn()
    own = SureClassifier(random_state=0).fit(X[:700], y[:700])
    own.choose_sets(X[700:710], y[700:710], coverage=0.5, score="adaptive")
    found = judged(own, X, y)
    assert found.sets is None
    assert found.note == "No sets: coverage=0.95 needs at least 19 kept-back records, got 10."
    assert judged(own, X, y, coverage=0.5).sets.stated == 0.5


def test_a_learner_without_decisions_has_a_curve_only(clf):
    X, y = drawn(seed=1)
    found = judged(clf, X, y)
    assert (found.kept, found.sets, found.risk, found.note) == ((), None, None, "")
    assert judged(clf, X, y, risk=0.2).risk == 0.2
    assert not Judge(clf, EvaluationOptions()).has_decisions
    assert not Judge(clf, EvaluationOptions()).is_asked(clf)
    assert Judge(clf, EvaluationOptions(risk=0.2)).is_asked(clf)
    first_order = SureClassifier("pa1").fit(X, y)
    assert not Judge(first_order, EvaluationOptions(risk=0.2)).is_asked(first_order)


def test_learning_drops_what_is_judged(clf):
    X, y = drawn()
    own = SureClassifier(random_state=0).fit(X[:700], y[:700])
    own.choose_abstention(X[700:], y[700:], risk=0.2)
    assert judged(own, X, y).risk == 0.2
    assert judged(own.partial_fit(X[:1], y[:1]), X, y).kept == ()


def test_sentences_lose_the_share_of_wrong_tags():
    random = np.random.default_rng(0)
    X = [[f"w{random.integers(30)}" for _ in range(random.integers(1, 7))] for _ in range(500)]
    y = [["N" if (int(w[1:]) % 3 == 0) ^ (random.random() < 0.1) else "V" for w in s] for s in X]
    tagger = SureTagger(random_state=0).fit(X[:200], y[:200])
    tagger.choose_abstention(X[200:400], y[200:400], risk=0.4).choose_sets(X[200:400], y[200:400])
    X, y = X[400:], y[400:]
    found = judged(tagger, X, y)
    given = tagger.predict(X, abstain=True)
    pairs = [(own, tags) for own, tags in zip(given, y, strict=True) if own is not None]
    lost = [np.mean([a != b for a, b in zip(*pair, strict=True)]) for pair in pairs]
    assert found.kept[0].n_answered == len(pairs) > 0
    assert found.kept[0].observed == pytest.approx(np.mean(lost))
    sets = tagger.predict_set(X)
    held = [
        np.mean([k in s for k, s in zip(*own, strict=True)]) for own in zip(y, sets, strict=True)
    ]
    assert found.sets.coverage == pytest.approx(np.mean(held))
    assert found.sets.by_class.label.tolist() == ["N", "V"]
    assert found.sets.by_class.support.sum() == sum(map(len, y))


def test_groups_lose_if_their_first_is_not_right():
    random = np.random.default_rng(0)
    X, group = random.normal(size=(1600, 3)), np.repeat(np.arange(400), 4)
    worth = (X @ [1, 2, 0] + 0.5 * random.normal(size=1600)).reshape(400, 4)
    y = (worth == worth.max(axis=1, keepdims=True)).ravel().astype(float)
    ranker = SureRanker(random_state=0).fit(X[:800], y[:800], qid=group[:800])
    X, y, group = X[800:], y[800:], group[800:]
    ranker.choose_sets(X[:400], y[:400], qid=group[:400])
    X, y, group = X[400:], y[400:], group[400:]
    judge = Judge(ranker, EvaluationOptions())
    judge.judge(ranker, X, y, qid=group)
    found = judge.result()
    best = ranker.decision_function(X).reshape(-1, 4).argmax(axis=1)
    right = y.reshape(-1, 4)
    assert found.curve.risk[-1] == pytest.approx(1 - right[np.arange(100), best].mean())
    sets = ranker.predict_set(X, qid=group)
    held = [right[g, list(own)].any() for g, own in enumerate(sets)]
    assert found.sets.coverage == pytest.approx(np.mean(held))
    assert found.sets.size == pytest.approx(np.mean([len(own) for own in sets]))
    assert found.sets.by_class is None

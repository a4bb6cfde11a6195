"""Decisions of classifiers of rows: labels that are not known, rivals, rows of many labels."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Perceptron

from surelearn import SureClassifier
from surelearn.decide import risk_coverage
from surelearn.learners.answers.judgement import judge
from surelearn.learners.deciding import decisions_of
from surelearn.learners.deciding.view import view_of
from surelearn.learners.task import EvaluationOptions
from surelearn.learners.tasks.row_decisions import RowDecisions
from surelearn.read import Labels


def drawn(n=1200, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    return X, np.where(X[:, 0] + 0.8 * random.normal(size=n) > 0, "yes", "no")


def labels_of(y):
    values, codes = np.unique(y, return_inverse=True)
    return Labels(codes.astype(np.int32), values, None)


def judged(models, X, y, **options):
    decisions = RowDecisions(models, EvaluationOptions(**options))
    for first in range(0, len(y), 500):
        some = slice(first, first + 500)
        judgements = [judge(model, X[some]) for model in models]
        right = [own.labels == y[some] for own in judgements]
        decisions.add(labels_of(y[some]), judgements, right, decisions.said(models[0], X[some]))
    return decisions.result()


def test_the_curve_is_by_the_probability_of_the_answer():
    X, y = drawn()
    clf = SureClassifier(random_state=0).fit(X[:600], y[:600])
    peer = LogisticRegression().fit(X[:600], y[:600])
    X, y = X[600:], y[600:]
    found = judged([clf, peer], X, y, risk=0.1)
    for model, area in ((clf, found.area), (peer, found.rival_area)):
        sure = model.predict_proba(X).max(axis=1)
        by_hand = risk_coverage(sure, (model.predict(X) != y).astype(float))
        assert area == pytest.approx(by_hand.area)
    assert found.risk == 0.1


def test_models_without_probabilities_have_no_curve():
    X, y = drawn()
    first_order, sklearns = SureClassifier("pa1").fit(X, y), Perceptron().fit(X, y)
    assert judged([first_order], X, y) is None
    assert judged([sklearns], X, y) is None
    clf = SureClassifier(random_state=0).fit(X, y)
    assert judged([clf, sklearns], X, y).rival_area is None


def test_the_promise_has_the_score_of_sureness_of_the_rule():
    X, y = drawn()
    clf = SureClassifier(random_state=0, probability="exact").fit(X[:400], y[:400])
    clf.choose_abstention(X[400:800], y[400:800], risk=0.2)
    X, y = X[800:], y[800:]
    found = judged([clf], X, y)
    given = clf.predict(X, abstain=True)
    assert found.kept[0].n_answered == sum(own is not None for own in given)
    view = view_of(clf, X, {})
    sure = view.sureness(decisions_of(clf).abstention.sureness, view.answers())
    by_hand = risk_coverage(sure, (clf.predict(X) != y).astype(float))
    assert found.area == pytest.approx(by_hand.area)


def test_labels_that_the_model_does_not_know_are_wrong_and_in_no_set():
    X, y = drawn()
    clf = SureClassifier(random_state=0).fit(X[:400], y[:400])
    clf.choose_abstention(X[400:800], y[400:800], risk=0.3).choose_sets(X[400:800], y[400:800])
    X, y = X[800:], y[800:].astype("U5")
    before = judged([clf], X, y)
    y[:50] = "maybe"
    found = judged([clf], X, y)
    given, sets = clf.predict(X, abstain=True), clf.predict_set(X)
    mask = np.array([own is not None for own in given])
    assert found.kept[0].observed == pytest.approx(np.mean(given[mask] != y[mask]))
    assert found.kept[0].n_answered == before.kept[0].n_answered
    held = [k in own for k, own in zip(y, sets, strict=True)]
    assert found.sets.coverage == pytest.approx(np.mean(held))
    assert found.sets.by_class.label.tolist() == ["no", "yes"]
    assert found.sets.by_class.support.sum() == 350


def test_costs_are_judged_by_the_answers_of_the_certified_rule():
    X, y = drawn()
    clf = SureClassifier(random_state=0).fit(X[:400], y[:400])
    cost = {("yes", "no"): 4}
    clf.choose_abstention(X[400:800], y[400:800], risk=0.4, cost=cost)
    X, y = X[800:], y[800:]
    found = judged([clf], X, y)
    given, plain = clf.predict(X, abstain=True), clf.predict(X)
    mask = np.array([own is not None for own in given])
    assert found.kept[0].observed == pytest.approx(np.mean(given[mask] != y[mask]))
    assert np.mean(plain[mask] != y[mask]) != pytest.approx(found.kept[0].observed)
    assert found.curve.risk[-1] == pytest.approx(np.mean(plain != y))


def test_rows_of_many_labels():
    random = np.random.default_rng(0)
    X = random.normal(size=(900, 3))
    Y = [[k for k, v in zip("pqr", row, strict=True) if v > 0]
         for row in X + 0.4 * random.normal(size=X.shape)]  # fmt: skip
    clf = SureClassifier(random_state=0).fit(X[:400], Y[:400])
    clf.choose_abstention(X[400:700], Y[400:700], risk=0.4).choose_sets(X[400:700], Y[400:700])
    X, Y = X[700:], Y[700:]
    codes = np.array(["pqr".index(k) for own in Y for k in own], np.int32)
    starts = np.cumsum([0, *map(len, Y)])
    decisions, judgement = RowDecisions([clf], EvaluationOptions()), judge(clf, X)
    right = np.array([set(a) == set(b) for a, b in zip(judgement.labels, Y, strict=True)])
    labels = Labels(codes, np.array(list("pqr")), starts)
    decisions.add(labels, [judgement], [right], decisions.said(clf, X))
    found = decisions.result()
    given = clf.predict(X, abstain=True)
    wrong = [set(a) != set(b) for a, b in zip(given, Y, strict=True) if a is not None]
    assert found.kept[0].n_answered == len(wrong)
    assert found.kept[0].observed == pytest.approx(np.mean(wrong))
    pairs = zip(clf.predict_set(X), Y, strict=True)
    held = [len({*own} & {*truth}) / len(truth) if truth else 1.0 for own, truth in pairs]
    assert found.sets.coverage == pytest.approx(np.mean(held))
    p = clf.predict_proba(X)
    sure = np.log(np.where(judgement.has, p, 1 - p)).sum(axis=1)
    assert found.area == pytest.approx(risk_coverage(sure, (~right).astype(float)).area)

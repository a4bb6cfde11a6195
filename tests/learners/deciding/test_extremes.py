"""Abstention at the extremes: few records, many classes, unknown labels, ties, empty records."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from kept_back import (
    STRUCTURES,
    certified,
    fitted,
    plain,
    records,
    rows,
    saved,
)
from surelearn import SureClassifier, SureRanker, SureTagger, learners


def answered(found):
    return np.array([own is not None for own in found])


@pytest.mark.parametrize("name", learners.ESTIMATORS)
def test_one_record_is_too_few(name):
    own, model = records(name, 1, seed=3), fitted(name)
    before = saved(model)
    with pytest.raises(ValueError, match=r"needs at least \d+ kept-back \w+, got 1\."):
        model.choose_abstention(own.X, own.y, **own.about)
    assert saved(model) == before


def test_labels_that_the_model_does_not_know_are_wrong():
    own = rows(700, 1)
    y = own.y.copy()
    y[200::5] = "unheard of"
    model = SureClassifier(random_state=0).fit(own.X[:200], own.y[:200])
    with pytest.raises(ValueError, match=r"within reach of the model, got a loss of 0\.[34]"):
        model.choose_abstention(own.X[200:], y[200:], risk=0.2)
    model.choose_abstention(own.X[200:], y[200:], risk=0.5)
    assert model.risk_bound_ > 0.4


@pytest.mark.parametrize("name", STRUCTURES)
def test_labels_of_parts_that_the_model_does_not_know_are_wrong(name):
    own, model = records(name), fitted(name)
    y = [["unheard of"] * len(one) for one in own.y]
    with pytest.raises(ValueError, match="got a loss of 1 over all 192 kept-back"):
        model.choose_abstention(own.X, y, risk=0.5)


def test_labels_of_another_type_are_a_mistake():
    own, model = records("SureClassifier"), fitted("SureClassifier")
    with pytest.raises(TypeError, match="y must hold labels of the same type as before"):
        model.choose_abstention(own.X, np.arange(len(own.y)))
    with pytest.raises(ValueError, match=r"y must have one label for each of 240 rows of X, got 9"):
        model.choose_abstention(own.X, own.y[:9])
    with pytest.raises(ValueError, match="one label for each row as before, got lists"):
        model.choose_abstention(own.X, [["c0"]] * 240)


def test_equally_sure_rows_are_answered_together():
    own = rows(600, 1)
    model = SureClassifier(random_state=0).fit(own.X[:100], own.y[:100])
    X = np.repeat(own.X[100:102], 200, axis=0)
    y = np.repeat(model.predict(own.X[100:102]), 200)
    model.choose_abstention(X, y, risk=0.1)
    assert model.coverage_ in (pytest.approx(0.5, abs=0.1), 1.0)
    assert all(
        len(set(plain(model.predict(X, abstain=True))[1][a : a + 200])) == 1 for a in (0, 200)
    )


def test_one_class_of_a_hundred_rows():
    random = np.random.default_rng(0)
    X = random.normal(size=(6000, 3))
    y = np.where(X[:, 0] + 0.3 * random.normal(size=6000) > 2.4, "rare", "usual")
    assert 0.003 < (y == "rare").mean() < 0.02
    model = SureClassifier(random_state=0).fit(X[:3000], y[:3000])
    model.choose_abstention(X[3000:], y[3000:], risk=0.02)
    assert model.coverage_ > 0.9
    model.choose_abstention(X[3000:], y[3000:], risk={"usual": 0.02})
    found = model.predict(X, abstain=True)
    assert (found == "rare").sum() == (model.predict(X) == "rare").sum()  # always given


def test_two_hundred_classes():
    random = np.random.default_rng(0)
    y = np.arange(2400) % 200
    X = random.normal(size=(200, 30))[y] + 0.6 * random.normal(size=(2400, 30))
    model = SureClassifier(random_state=0).fit(X[:800], y[:800])
    model.choose_abstention(X[800:], y[800:], risk=0.1)
    found = model.predict(X[800:], abstain=True)
    given = answered(found)
    assert found.dtype == object
    assert isinstance(found[given][0], int)
    assert (found[given] != y[800:][given]).mean() < 0.12


def test_a_class_that_was_never_learnt_is_wrong_however_sure():
    own = rows(900, 1)
    kept = own.y[:300] != "c2"
    model = SureClassifier(random_state=0).fit(own.X[:300][kept], own.y[:300][kept])
    assert model.classes_.tolist() == ["c0", "c1"]
    with pytest.raises(ValueError, match="within reach of the model"):
        model.choose_abstention(own.X[300:], own.y[300:], risk=0.1)


@pytest.mark.parametrize("name", [n for n in STRUCTURES if "Graph" not in n])
def test_empty_sentences_lose_nothing(name):
    own, model = records(name, 300, seed=4), fitted(name)
    X, y = [*own.X, *[[]] * 60], [*own.y, *[[]] * 60]
    model.choose_abstention(X, y, risk=0.2)
    found = model.predict([[], own.X[0]], abstain=True)
    assert found[0] == []
    assert model.predict([[]], abstain=True, abstain_label="x") == [[]]


def test_groups_without_candidates_have_no_right_answer():
    own, model = records("SureRanker", 300, seed=4), fitted("SureRanker")
    sizes = [0] * 5 + own.about["group"]
    model.choose_abstention(own.X, own.y, risk=0.3, group=sizes)
    found = model.predict(own.X[:3], abstain=True, group=[0, 3])
    assert found[0] in (None, -1)
    empty = [0] * 300 + own.about["group"]
    model = fitted("SureRanker")
    model.choose_abstention(own.X, own.y, risk=0.3, group=empty)
    assert model.coverage_ < 0.6


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (lambda y: y[:-1], ValueError, "y must have one number for each of"),
        (lambda y: np.where(y > 0, np.nan, y), ValueError, "y must be finite"),
        (lambda y: ["a"] * len(y), TypeError, "y must be an array of numbers"),
        (lambda y: None, TypeError, "y or cost must be given"),
    ],
)
def test_bad_relevances_are_refused(y, error, message):
    own, model = records("SureRanker", 50), fitted("SureRanker")
    with pytest.raises(error, match=message):
        model.choose_abstention(own.X, y(own.y), risk=0.5, **own.about)
    with pytest.raises(error, match=message):
        model.choose_sets(own.X, y(own.y), **own.about)


def test_a_tie_between_candidates_is_right_whichever_wins():
    own, model = records("SureRanker", 60), fitted("SureRanker")
    model.choose_abstention(own.X, np.ones(len(own.X)), risk=0.1, **own.about)
    assert model.coverage_ == 1.0
    assert isinstance(model, SureRanker)


def test_before_fit_there_is_nothing_to_ask():
    own = records("SureTagger", 3)
    for ask in (
        lambda: SureTagger().predict(own.X, abstain=True),
        lambda: SureTagger().predict_set(own.X),
        lambda: SureTagger().choose_abstention(own.X, own.y),
    ):
        with pytest.raises(NotFittedError, match="not fitted"):
            ask()


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_abstain_is_true_or_false(value):
    with pytest.raises(TypeError, match="abstain must be True or False"):
        certified("SureClassifier").predict(
            records("SureClassifier", 3).X, abstain=value, novel=0.1
        )


def test_graphs_with_known_labels_are_certified_with_them():
    own, model = records("SureGraphClassifier", 240, seed=4), fitted("SureGraphClassifier")
    fixed = [{0: y[0]} for y in own.y]
    model.choose_abstention(own.X, own.y, risk=0.2, fixed=fixed)
    found = model.predict(own.X, abstain=True, fixed=fixed)
    assert all(one is None or one[0] == y[0] for one, y in zip(found, own.y, strict=True))
    with pytest.raises(ValueError, match="report must be False"):
        model.predict(own.X, abstain=True, report=True)

"""Views of rows, label sets, sentences, graphs and groups against slow sums by hand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from kept_back import ROWS, STRUCTURES, fitted, make, records, rows
from labelled import data as label_data
from labelled import lists
from surelearn import SureClassifier, SureRanker
from surelearn.learners.answers.views import log_odds
from surelearn.learners.deciding.view import view_of


def by_hand(row, k):
    """The log of one squared probability over the sum of the other squares."""
    with np.errstate(divide="ignore"):
        return np.log(row[k] ** 2) - np.log(sum(q**2 for j, q in enumerate(row) if j != k))


def test_log_odds_by_hand():
    p = np.random.default_rng(0).dirichlet(np.ones(5), size=50)
    at = np.arange(50) % 5
    want = [by_hand(row, k) for row, k in zip(p, at, strict=True)]
    np.testing.assert_allclose(log_odds(p, at), want, rtol=1e-12)


def test_log_odds_are_precise_where_a_probability_rounds_to_one():
    p = np.array([[1.0, 1e-20], [1.0, 1e-200], [1.0, 0.0], [0.5, 0.5]])
    found = log_odds(p, np.zeros(4, int))
    assert found[:2] == pytest.approx([2 * 20 * np.log(10), 2 * 200 * np.log(10)])
    assert found[2] > found[1] or np.isnan(found[2])
    assert found[3] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("name", ROWS)
def test_rows_by_hand(name):
    own, model = records(name, 40, seed=5), fitted(name)
    view, p = view_of(model, own.X, {}), model.predict_proba(own.X)
    answers, labels = view.answers(), model.predict(own.X)
    assert model.classes_[answers].tolist() == labels.tolist()
    assert view.losses(answers, own.y).tolist() == (labels != own.y).astype(float).tolist()
    want = [by_hand(row, k) for row, k in zip(p, answers, strict=True)]
    np.testing.assert_allclose(view.sureness("probability", answers), want, rtol=1e-9)
    np.testing.assert_array_equal(view.probabilities(), p)
    right = view.right(own.y)
    assert model.classes_[right.place].tolist() == own.y.tolist()


@pytest.mark.parametrize("name", ROWS)
def test_unknown_labels_of_rows_have_no_place(name):
    own, model = records(name, 10, seed=5), fitted(name)
    y = own.y.copy()
    y[3] = "unheard of"
    view = view_of(model, own.X, {})
    assert view.losses(view.answers(), y)[3] == 1.0
    assert view.right(y).place[3] == -1
    assert (np.delete(view.right(y).place, 3) >= 0).all()


@pytest.mark.parametrize(
    "params",
    [
        {"probability": "exact"},
        {"probability": "softmax"},
        {"covariance": "full"},
        {"multiclass": "ovo"},
        {"multiclass": "ecoc"},
        {"average": True},
    ],
)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_every_way_to_learn_answers_as_predict(params, n_classes):
    own = rows(300, 1, n_classes)
    model = make("SureClassifier", **params).fit(own.X[:200], own.y[:200])
    view = view_of(model, own.X, {})
    assert view.shown(view.answers()).tolist() == model.predict(own.X).tolist()
    np.testing.assert_array_equal(view.probabilities(), model.predict_proba(own.X))


def test_priced_out_rows_are_shown_as_something_and_lose():
    own, model = rows(30), fitted("SureClassifier")
    view = view_of(model, own.X, {})
    cost = view.costs({None: -1.0})
    answers = view.answers(cost)
    assert view.priced_out(answers).all()
    assert set(view.shown(answers)) <= set(model.classes_)
    assert view.losses(answers, own.y).tolist() == [1.0] * 30
    assert np.isfinite(view.sureness("probability", answers)).all()


def test_many_labels_by_hand():
    X, Y = label_data(80)
    model = SureClassifier(random_state=0).fit(X, lists(Y))
    view, p, found = view_of(model, X, {}), model.predict_proba(X), model.predict(X)
    y = lists(Y)
    y[2] = [*y[2], 77]
    answers = view.answers()
    want = [float(set(a) != set(b)) for a, b in zip(found, y, strict=True)]
    assert view.losses(answers, y).tolist() == want
    assert want[2] == 1.0
    said = [
        sum(np.log(q if k in own else 1 - q) for k, q in zip(model.classes_, row, strict=True))
        for own, row in zip(found, p, strict=True)
    ]
    np.testing.assert_allclose(view.sureness("probability", answers), said, rtol=1e-9)
    right = view.right(y)
    assert (right.place < 0).sum() == 1
    assert right.share.sum() == pytest.approx(sum(1 for own in y if own))


@pytest.mark.parametrize("name", STRUCTURES)
def test_parts_by_hand(name):
    own, model = records(name, 30, seed=5), fitted(name)
    view, found = view_of(model, own.X, {}), model.predict(own.X)
    answers = view.answers()
    pairs = zip(found, own.y, strict=True)
    want = [np.mean([a != b for a, b in zip(one, y, strict=True)]) for one, y in pairs]
    np.testing.assert_allclose(view.losses(answers, own.y), want)
    marginals = getattr(model, "predict_marginals", getattr(model, "predict_proba", None))(own.X)
    classes = model.classes_.tolist()
    sure = []
    for one, parts in zip(found, marginals, strict=True):
        p = [
            part[label] if isinstance(part, dict) else part[classes.index(label)]
            for part, label in zip(parts, one, strict=True)
        ]
        sure.append(-np.mean([1 - q for q in p]))
    np.testing.assert_allclose(view.sureness("probability", answers), sure, rtol=1e-9, atol=1e-15)


def test_groups_by_hand():
    own, model = records("SureRanker", 40, seed=5), fitted("SureRanker")
    view = view_of(model, own.X, dict(own.about))
    found = model.predict(own.X, **own.about)
    answers = view.answers()
    assert answers.tolist() == found.tolist()
    bounds = np.append(0, np.cumsum(own.about["group"]))
    groups = [own.y[a:b] for a, b in pairwise(bounds)]
    want = [float(y[k] != y.max()) for y, k in zip(groups, found, strict=True)]
    assert view.losses(answers, own.y).tolist() == want
    right = view.right(own.y)
    assert right.item.tolist() == list(range(40))
    assert [y[k] for y, k in zip(groups, right.place, strict=True)] == [1.0] * 40


def test_a_group_of_equals_and_one_without_candidates():
    own = records("SureRanker", 40, seed=5)
    model = SureRanker(random_state=0).fit(own.X, own.y, **own.about)
    view = view_of(model, own.X[:5], {"group": [2, 0, 3]})
    y = [1.0, 1.0, 0.0, 0.0, 2.0]
    answers = view.answers()
    assert answers[1] == -1
    assert view.losses(answers, y)[:2].tolist() == [0.0, 1.0]
    right = view.right(y)
    pairs = sorted(zip(right.item.tolist(), right.place.tolist(), strict=True))
    assert pairs == [(0, 0), (0, 1), (1, -1), (2, 2)]
    assert right.share.tolist() == [1.0] * 3
    sure = view.sureness("probability", answers)
    assert np.isfinite(sure).all()
    assert sure[1] == sure.min()

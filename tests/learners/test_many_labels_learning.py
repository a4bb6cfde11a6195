"""Rows of many labels: each label is learnt, merged and kept as a problem of its own."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from labelled import FORMS, NAMES, bits, data, lists, model, saved
from surelearn import merge, rules
from surelearn.merging import MergeState

X, Y = data()


def close(found, expected):
    """Equal but for the order in which a sum of doubles is taken."""
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


# --------------------------------------------------------------------- learning


@pytest.mark.parametrize("rule", rules.RULES)
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array])
def test_each_label_is_learnt_as_by_a_classifier_of_its_own(rule, average, as_rows):
    params = {"rule": rule, "average": average, "shuffle": False, "passes": 2, "dtype": "float64"}
    params["probability"] = "exact"
    clf = model(**params).fit(as_rows(X), Y)
    for k in range(Y.shape[1]):
        own = model(**params).fit(as_rows(X), Y[:, k])
        close(clf.coef_[k], own.coef_[0])
        close(clf.intercept_[k], own.intercept_[0])
        if clf.model_.layout.second_order:
            close(clf.sigma_[k], own.sigma_[0])
            close(clf.intercept_sigma_[k], own.intercept_sigma_[0])
            close(clf.predict_proba(X)[:, k], own.predict_proba(X)[:, 1])
            mean, variance = clf.margin(X)
            close([mean[:, k], variance[:, k]], own.margin(X))
        close(clf.decision_function(X)[:, k], own.decision_function(X))
        assert np.array_equal(clf.predict(X)[:, k], own.predict(X))


@pytest.mark.parametrize("n_labels", [1, 2, 3, 8, 9, 31, 130])
@pytest.mark.parametrize("projection", ["precision", "covariance"])
def test_any_number_of_labels(n_labels, projection):
    X, Y = data(60, n_labels=n_labels, seed=n_labels)
    params = {"dtype": "float64", "projection": projection, "shuffle": False}
    clf = model(**params).fit(X, lists(Y))
    for k in {0, n_labels // 2, n_labels - 1}:
        own = model(**params).partial_fit(X, Y[:, k], classes=[0, 1])
        for _ in range(2):
            own.partial_fit(X, Y[:, k])
        close(clf.coef_[k], own.coef_[0])
        close(clf.sigma_[k], own.sigma_[0])


def test_shuffled_passes_are_those_of_a_classifier_of_one_label():
    clf = model(passes=4).fit(X, Y)
    own = model(passes=4).fit(X, Y[:, 2])
    assert clf.coef_[2].tobytes() == own.coef_[0].tobytes()


@pytest.mark.parametrize("projection", ["precision", "covariance"])
def test_projection(projection):
    clf = model(projection=projection).fit(X, Y)
    own = model(projection=projection).fit(X, Y[:, 1])
    assert clf.projection_ == projection
    assert clf.sigma_[1].tobytes() == own.sigma_[0].tobytes()


@pytest.mark.parametrize("form", FORMS)
def test_the_form_of_labels_decides_that_of_answers_only(form):
    y = FORMS[form](Y)
    clf = model().fit(X, y)
    assert bits(clf) == bits(model().fit(X, Y))
    assert clf.label_format_ == form
    assert clf.classes_.tolist() == [0, 1, 2, 3, 4]
    answer = clf.predict(X)
    if form == "sparse":
        assert sparse.issparse(answer)
        answer = answer.toarray()
    elif form == "lists":
        assert all(type(row) is tuple for row in answer)
        assert answer[0] == clf.predict_one(X[0])
        answer = np.array([[k in row for k in range(5)] for row in answer])
    assert np.array_equal(answer, clf.decision_function(X) > 0)
    right = (np.asarray(answer) == Y).all(axis=1)
    assert clf.score(X, y) == right.mean()
    assert 0.5 < clf.score(X, y) < 1


def test_labels_may_be_texts_and_rows_may_have_none():
    clf = model().fit(X, lists(Y, NAMES))
    assert clf.classes_.tolist() == NAMES
    assert () in clf.predict(X)
    assert not Y.any(axis=1).all()
    assert clf.coef_.tobytes() == model().fit(X, Y).coef_.tobytes()
    for wrapped in (tuple, set, frozenset, np.array):
        again = model().fit(X, [wrapped(row) for row in lists(Y, NAMES)])
        assert bits(again) == bits(clf)
    assert bits(model().fit(X, pandas.Series(lists(Y, NAMES)))) == bits(clf)
    assert bits(model().fit(X, pandas.DataFrame(Y, columns=NAMES)))[1] == bits(clf)[1]


@settings(max_examples=20)
@given(st.randoms())
def test_the_order_of_labels_in_a_list_is_irrelevant(random):
    rows = lists(Y, NAMES)
    mixed = [random.sample(row, len(row)) for row in rows]
    assert bits(model().fit(X, mixed)) == bits(model().fit(X, rows))


def test_one_label_in_all_and_a_column_without_rows():
    one = model().fit(X, [["a"] if row[0] else [] for row in Y])
    assert one.classes_.tolist() == ["a"]
    assert one.coef_.shape == (1, 12)
    assert one.margin(X)[0].shape == one.predict_proba(X).shape == (120, 1)
    assert one.decision_function(X).shape == (120, 1)
    assert set(one.predict(X)) == {(), ("a",)}
    wide = np.hstack([Y, np.zeros((120, 1), int)])
    clf = model().fit(X, wide)
    assert clf.classes_.tolist() == [0, 1, 2, 3, 4, 5]
    assert clf.predict(X).shape == (120, 6)
    assert not clf.predict(X)[:, 5].any()


def test_sample_weight():
    weight = np.random.default_rng(0).integers(0, 3, 120).astype(float)
    clf = model().fit(X, Y, weight)
    kept = weight > 0
    assert bits(clf) == bits(model().fit(X[kept], Y[kept], weight[kept]))
    own = model().fit(X, Y[:, 0], weight)
    assert clf.coef_[0].tobytes() == own.coef_[0].tobytes()
    right = (clf.predict(X) == Y).all(axis=1)
    assert clf.score(X, Y, weight) == pytest.approx(np.average(right, weights=weight))
    with pytest.raises(ValueError, match="sample_weight must have a positive entry, got zero"):
        model().fit(X, Y, np.zeros(120))


def test_mistakes_are_rows_with_a_label_on_the_wrong_side():
    clf = model("perceptron", shuffle=False, passes=1)
    n_wrong = 0
    for x, y in zip(X, Y, strict=True):
        before = np.zeros(5) if not hasattr(clf, "classes_") else clf.decision_function([x])[0]
        n_wrong += bool(((before > 0) != y).any())
        clf.partial_fit([x], [y])
    assert clf.mistakes_.tolist() == [n_wrong]
    assert clf.model_.counts.tolist() == Y.sum(axis=0).tolist()


# ------------------------------------------------------------------ partial_fit


@given(cuts=st.lists(st.integers(0, 120), max_size=5).map(sorted), form=st.sampled_from([*FORMS]))
def test_chunks_do_not_matter(cuts, form):
    labels = list(range(5))
    whole = model().partial_fit(X, FORMS[form](Y), classes=labels)
    parts = model()
    bounds = [0, *cuts, 120]
    for a, b in pairwise(bounds):
        if a < b:
            parts.partial_fit(X[a:b], FORMS[form](Y[a:b]), classes=labels)
    assert bits(parts) == bits(whole)
    assert parts.label_format_ == whole.label_format_ == form


def test_a_label_is_learnt_from_the_row_where_it_first_appears():
    rows = lists(Y, NAMES)
    clf = model().partial_fit(X, rows)
    assert clf.classes_.tolist() == NAMES
    for k in range(5):
        first = int(np.argmax(Y[:, k]))
        own = model().partial_fit(X[first:], Y[first:, k], classes=[0, 1])
        assert clf.coef_[k].tobytes() == own.coef_[0].tobytes()
        assert clf.sigma_[k].tobytes() == own.sigma_[0].tobytes()


def test_late_labels_in_any_chunks_and_one_by_one():
    rows = lists(Y, NAMES)
    whole = model().partial_fit(X, rows)
    parts, single = model(), model()
    for a in range(0, 120, 7):
        parts.partial_fit(X[a : a + 7], rows[a : a + 7])
    for x, labels in zip(X, rows, strict=True):
        single.learn_one(x, labels)
    assert bits(parts) == bits(whole) == bits(single)


def test_a_batch_without_any_label():
    clf = model().partial_fit(X[:3], [[], [], []])
    assert clf.classes_.tolist() == []
    assert clf.predict(X[:2]) == [(), ()]
    assert clf.predict_proba(X[:2]).shape == (2, 0)
    assert clf.predict_one(X[0]) == ()
    assert clf.predict_proba_one(X[0]) == {}
    assert saved(clf).predict(X[:2]) == [(), ()]
    rows = lists(Y, NAMES)
    assert bits(clf.partial_fit(X, rows))[1] == bits(model().partial_fit(X, rows))[1]
    declared = model().partial_fit(X, [[]] * 120, classes=["a"])
    assert (declared.decision_function(X) < 0).mean() > 0.5
    assert declared.n_updates_ > 0
    with pytest.raises(ValueError, match="fit needs at least one label, got none in any row"):
        model().fit(X, [[]] * 120)


def test_learn_one_takes_collections_and_rows_of_a_matrix():
    whole = model().partial_fit(X, Y)
    rows = {"dense": (np.asarray, np.atleast_2d), "sparse": (sparse.coo_array, sparse.csr_array)}
    for name, (flat, wide) in rows.items():
        clf = model()
        for i, (x, y) in enumerate(zip(X, Y, strict=True)):
            clf.learn_one(x, flat(y) if i % 2 else wide(y[None]))
        assert bits(clf) == bits(whole)
        assert clf.label_format_ == name
    whole.learn_one(X[0], [0, 2]).learn_one(X[1], [], 0.5)
    for kind in (tuple, set, frozenset):
        clf = model().partial_fit(X, Y).learn_one(X[0], kind([2, 0])).learn_one(X[1], kind(), 0.5)
        assert bits(clf) == bits(whole)
        assert clf.label_format_ == "dense"


def test_a_refused_row_keeps_those_before_it():
    bad, names = X.copy(), [*lists(Y[:60], NAMES), ["tin"], *lists(Y[61:], NAMES)]
    bad[60] = 1e200
    clf = model("arow")
    with pytest.raises(ValueError, match="row 60 must leave finite weights"):
        clf.partial_fit(bad, names)
    assert bits(clf) == bits(model("arow").partial_fit(X[:60], names[:60]))
    with pytest.raises(ValueError, match="row 60 must leave finite weights"):
        model("arow").fit(bad, names)
    with pytest.raises(ValueError, match="row 0 must leave finite weights"):
        clf.learn_one(bad[60], ["gold"])
    assert bits(clf) == bits(model("arow").partial_fit(X[:60], names[:60]))


def test_a_refused_row_after_rows_without_labels():
    bad = X[:9].copy()
    bad[8] = 1e200
    before = model("arow").partial_fit(X, lists(Y))
    expected = pickle.loads(pickle.dumps(before)).partial_fit(X[:8], [[]] * 8)
    with pytest.raises(ValueError, match="row 8 must leave finite weights"):
        before.partial_fit(bad, [[]] * 8 + [[9]])
    assert bits(before) == bits(expected)


# ------------------------------------------------------------- merging and files


def test_merged_models_may_have_other_labels():
    rows = lists(Y, NAMES)
    half = [[name for name in row if name != "gold"] for row in rows[:60]]
    a, b = model().fit(X[:60], half), model().fit(X[60:], rows[60:])
    merged = merge([a, b])
    assert merged.classes_.tolist() == NAMES
    assert merged.label_format_ == "lists"
    for k, name in enumerate(NAMES):
        apart = [model().fit(X[:60], Y[:60, k]), model().fit(X[60:], Y[60:, k])]
        own = apart[1] if name == "gold" else merge(apart)
        assert np.allclose(merged.coef_[k], own.coef_[0], rtol=1e-6)
        assert np.allclose(merged.sigma_[k], own.sigma_[0], rtol=1e-6)
    assert merged.model_.counts.tolist() == (a_counts(half) + np.array(Y[60:].sum(axis=0))).tolist()
    assert bits(merge([b, a])) == bits(merged)


@pytest.mark.parametrize("how", ["evidence", "bayes"])
def test_few_labels_are_merged_with_others(how):
    """A part of one or two labels has a column for each, unlike one of two classes."""
    one = model().fit(X[:60], lists(Y[:60, 1:2], ["b"]))
    two = model().fit(X[60:], lists(Y[60:, :2], ["a", "b"]))
    three = model().fit(X[60:], lists(Y[60:, :3], ["a", "b", "c"]))
    for parts in ([one, two], [two, three], [one, three]):
        merged = merge(parts, how)
        for k, name in enumerate(merged.classes_):
            own = [part for part in parts if name in part.classes_]
            columns = [model().fit(*rows_of(part, one, "abc".index(name))) for part in own]
            np.testing.assert_array_equal(merged.coef_[k], merge(columns, how).coef_[0])


def rows_of(part, first, k):
    rows = slice(60) if part is first else slice(60, 120)
    return X[rows], Y[rows, k]


def a_counts(rows):
    return np.array([sum(name in row for row in rows) for name in NAMES])


@pytest.mark.parametrize("how", ["evidence", "bayes", "weighted", "kl", "uniform"])
@pytest.mark.parametrize("n_labels", [1, 2, 5])
def test_merging_by_every_way_is_that_of_each_label(how, n_labels):
    y = Y[:, :n_labels]
    parts = [model().fit(X[a:b], lists(y[a:b])) for a, b in ((0, 60), (60, 120))]
    merged = merge(parts, how)
    for k in range(n_labels):
        own = merge([model().fit(X[a:b], y[a:b, k]) for a, b in ((0, 60), (60, 120))], how)
        assert merged.coef_[k].tobytes() == own.coef_[0].tobytes()
        assert merged.sigma_[k].tobytes() == own.sigma_[0].tobytes()


@pytest.mark.parametrize("form", FORMS)
def test_a_model_merged_alone_or_with_an_unfitted_one_is_itself(form):
    clf = model().fit(X, FORMS[form](Y))
    assert bits(merge([clf])) == bits(clf)
    assert bits(merge([clf, model()])) == bits(clf)
    assert bits(merge([model(), clf])) == bits(clf)
    assert merge([clf]).label_format_ == form
    assert merge([MergeState.of(clf).result()]).predict(X[:1]) is not None


def test_kinds_of_labels_are_not_merged():
    with pytest.raises(ValueError, match="models must have the same kind of labels to be merged"):
        merge([model().fit(X, Y), model().fit(X, Y[:, 0])])
    with pytest.raises(TypeError, match="models must have labels of one type to be merged"):
        merge([model().fit(X, Y), model().fit(X, lists(Y, NAMES))])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("params", [{}, {"n_shards": 3}, {"n_shards": 3, "merge_every": None}])
def test_shards_of_many_labels(form, params):
    clf = model(**params).fit(X, FORMS[form](Y))
    assert clf.label_format_ == form
    own = model(**params).fit(X, Y[:, 3])
    assert clf.coef_[3].tobytes() == own.coef_[0].tobytes()
    assert clf.sigma_[3].tobytes() == own.sigma_[0].tobytes()
    assert bits(clone(clf).set_params(n_jobs=2).fit(X, FORMS[form](Y))) == bits(clf)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rule", ["probit", "pa1"])
def test_a_file_holds_all_of_it(form, rule):
    clf = model(rule).fit(X, FORMS[form](Y))
    again = saved(clf)
    assert bits(again) == bits(clf)
    assert again.label_format_ == form
    assert type(again.predict(X)) is type(clf.predict(X))
    assert again.thresholds_.tolist() == [0.0] * 5
    assert bits(again.partial_fit(X, FORMS[form](Y))) == bits(clf.partial_fit(X, FORMS[form](Y)))
    assert bits(pickle.loads(pickle.dumps(clf))) == bits(clf)

"""Rows of many labels: answers in the form in which they came, thresholds, refusals."""

from __future__ import annotations

import numpy as np
import pandas
import pytest
from scipy import sparse
from scipy.special import entr
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelled import NAMES, bits, data, lists, model, saved, texts
from surelearn import (
    MulticlassSVM,
    SoftmaxClassifier,
    SureKernelClassifier,
    SureTextClassifier,
    constraints,
    evaluate,
    merge,
    tune,
)

X, Y = data()


# ---------------------------------------------------------------------- answers


def test_probabilities_are_calibrated_over_all_labels():
    clf = model(passes=1).fit(X, Y)
    new, truth = data(400, seed=0)
    before = clf.predict(new)
    p = clf.predict_proba(new)
    clf.calibrate(new, truth)
    after = clf.predict_proba(new)
    loss = [-np.log(np.where(truth == 1, q, 1 - q)).mean() for q in (p, after)]
    assert loss[1] < loss[0]
    assert np.array_equal(clf.predict(new), before)
    assert np.allclose(np.exp(clf.predict_log_proba(new)), after)
    as_lists = model(passes=1).fit(X, lists(Y)).calibrate(new, lists(truth))
    assert as_lists.temperature_ == clf.temperature_


def test_entropy_and_reliability():
    clf = model().fit(X, Y)
    p = clf.predict_proba(X)
    each = (entr(p) + entr(1 - p)) / np.log(2)
    assert np.allclose(clf.entropy(X), each.mean(axis=1))
    found = clf.reliability(X, Y)
    assert found.count.sum() == Y.size
    wrong = (clf.predict(X) != Y).sum()
    assert np.nansum(found.conditional_error * found.count) == pytest.approx(wrong)


def test_one_row():
    clf = model().fit(X, lists(Y, NAMES))
    p = clf.predict_proba_one(X[3])
    assert list(p) == NAMES
    assert list(p.values()) == clf.predict_proba(X[3:4])[0].tolist()
    assert clf.predict_one(X[3]) == clf.predict(X[3:4])[0]


def test_explain_one_label():
    clf = model().fit(X, lists(Y, NAMES))
    own = model().fit(X, Y[:, 2])
    table, expected = clf.explain(label="oil"), own.explain(label=1)
    assert table.feature.tolist() == expected.feature.tolist()
    assert table.mean.tolist() == expected.mean.tolist()
    assert set(table.label) == {"oil"}
    row = clf.explain(X[0], label="oil")
    assert row.margin.sum() == pytest.approx(clf.decision_function(X[:1])[0, 2])
    assert set(clf.explain(X[0]).label) == set(NAMES)
    with pytest.raises(ValueError, match=r"label must be one of 'corn', 'gold', .*got 'tin'"):
        clf.explain(label="tin")
    one = model().fit(X, [["a"] if row[0] else [] for row in Y])
    assert one.explain(label="a").mean.tolist() == own_of(0).explain(label=1).mean.tolist()


def own_of(k):
    return model().fit(X, Y[:, k])


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_thresholds_raise_the_f1_they_are_chosen_for(average):
    X, Y = data(400, seed=3)
    clf = model("arow", passes=1).fit(X[:100], Y[:100])
    assert clf.thresholds_.tolist() == [0.0] * 5
    kept = X[100:], Y[100:]
    before = f1_score(kept[1], clf.predict(kept[0]), average=average)
    clf.choose_thresholds(*kept, average=average)
    after = f1_score(kept[1], clf.predict(kept[0]), average=average)
    assert after > before
    chosen = clf.thresholds_
    assert np.array_equal(clf.predict(X), clf.decision_function(X) > chosen)
    assert saved(clf).thresholds_.tolist() == chosen.tolist()
    assert saved(clf).predict_one(X[0]) == clf.predict_one(X[0])
    assert merge([clf]).thresholds_.tolist() == chosen.tolist()
    clf.partial_fit(X[:3], Y[:3])
    assert clf.thresholds_.tolist() == chosen.tolist()
    assert clf.fit(X, Y).thresholds_.tolist() == [0.0] * 5


def test_thresholds_stay_with_their_labels():
    clf = model().fit(X, lists(Y, NAMES)).choose_thresholds(X, lists(Y, NAMES))
    by_label = dict(zip(NAMES, clf.thresholds_.tolist(), strict=True))
    clf.partial_fit(X[:2], [["aluminium"], ["gold", "zinc"]])
    assert clf.classes_.tolist() == ["aluminium", *NAMES, "zinc"]
    assert clf.thresholds_.tolist() == [0.0, *by_label.values(), 0.0]


def test_thresholds_need_many_labels():
    clf = model().fit(X, Y[:, 0])
    assert clf.label_format_ is None
    with pytest.raises(ValueError, match="choose_thresholds needs many labels per row, got one"):
        clf.choose_thresholds(X, Y)
    with pytest.raises(AttributeError, match="thresholds_ needs many labels per row, got one"):
        clf.thresholds_  # noqa: B018
    many = model().fit(X, Y)
    with pytest.raises(ValueError, match="average must be one of 'micro', 'macro', got 'mean'"):
        many.choose_thresholds(X, Y, average="mean")


def test_labels_that_the_model_does_not_know_are_left_out():
    rows = lists(Y, NAMES)
    strange = [[*row, "tin"] if i % 9 == 0 else row for i, row in enumerate(rows)]
    one, other = model().fit(X, rows), model().fit(X, rows)
    one.choose_thresholds(X, rows).calibrate(X, rows)
    other.choose_thresholds(X, strange).calibrate(X, strange)
    assert one.thresholds_.tolist() == other.thresholds_.tolist()
    assert one.temperature_ == other.temperature_
    assert other.score(X, strange) < one.score(X, rows)


# ------------------------------------------------------------------ scikit-learn


def test_metrics_pipelines_and_searches():
    clf = make_pipeline(StandardScaler(), model())
    assert f1_score(Y, clf.fit(X, Y).predict(X), average="micro") > 0.8
    scores = cross_val_score(clf, X, Y, scoring="f1_micro", cv=3)
    assert scores.shape == (3,)
    assert np.isfinite(scores).all()
    found = GridSearchCV(model(), {"rule": ["probit", "arow"]}, scoring="f1_macro", cv=3).fit(X, Y)
    assert found.best_score_ > 0.5
    assert found.predict(X).shape == Y.shape
    rows = np.empty(120, dtype=object)
    rows[:] = lists(Y, NAMES)
    assert np.isfinite(cross_val_score(model(), X, rows, cv=KFold(3))).all()
    assert OneVsRestClassifier(model()).fit(X, Y).predict(X).shape == Y.shape


def test_a_tag_says_whether_the_parameters_take_many_labels():
    taken = [{}, {"multiclass": "ovr"}, {"constraints": constraints.Single()}, {"rule": "pa1"}]
    for params in [*taken, *(params for params, _ in REFUSED)]:
        clf = model(**params)
        takes = clf.__sklearn_tags__().classifier_tags.multi_label
        assert takes == any(params is one for one in taken)


# ------------------------------------------------------------------------ texts


def test_texts_of_many_topics():
    X, topics = texts()
    clf = SureTextClassifier(random_state=0, passes=5).fit(X[:100], topics[:100])
    assert clf.classes_.tolist() == NAMES
    assert clf.score(X[100:], topics[100:]) > 0.9
    assert clf.predict(["gold and oil"]) == [("gold", "oil")]
    assert clf.predict_one("no topic at all") == ()
    assert clf.explain(label="ship", top=1).feature.tolist() == ["ship"]
    clf.choose_thresholds(X[100:], topics[100:], average="macro")
    assert saved(clf).thresholds_.tolist() == clf.thresholds_.tolist()
    assert saved(clf).predict(X) == clf.predict(X)
    clf.learn_one("tin is dear", ["tin"]).learn_one("tin is dear", ["tin"])
    assert "tin" in clf.predict_one("tin")
    assert clf.classes_.tolist() == ["corn", "gold", "oil", "ship", "tin", "wheat"]


def test_a_text_is_marked_for_one_label():
    X, topics = texts()
    clf = SureTextClassifier(random_state=0).fit(X, topics)
    found = clf.explain("gold by ship", label="ship")
    assert found.verdict.label == "ship"
    assert found.verdict.margin == clf.decision_function(["gold by ship"])[0, 3]
    assert found.scores.argmax() == 2
    assert "<b>ship</b> rather than not ship" in found.marked()
    best = clf.explain("gold gold gold by ship").verdict
    assert best.label == NAMES[int(clf.decision_function(["gold gold gold by ship"]).argmax())]


def test_texts_of_many_topics_in_shards_and_with_weights():
    X, topics = texts()
    weight = np.ones(150)
    weight[::7] = 0
    params = {"random_state": 0, "passes": 2, "n_features": 2**10}
    clf = SureTextClassifier(**params, n_shards=2).fit(X, topics, weight)
    kept = np.flatnonzero(weight)
    again = SureTextClassifier(**params, n_shards=2)
    again.fit([X[i] for i in kept], [topics[i] for i in kept])
    assert bits(again) == bits(clf)
    assert clf.label_format_ == "lists"
    single = SureTextClassifier(**params).partial_fit(X, topics, sample_weight=weight)
    assert single.score(X, topics) > 0.8


# --------------------------------------------------------------------- refusals


def test_one_kind_of_labels_in_a_model():
    one, many = model().fit(X, Y[:, 0]), model().fit(X, Y)
    with pytest.raises(ValueError, match="y must have one label for each row as before, got lists"):
        one.partial_fit(X, Y)
    with pytest.raises(ValueError, match="y must have one label for each row as before, got lists"):
        one.learn_one(X[0], [1])
    as_before = "y must have lists of labels or an indicator matrix as before, got one label"
    with pytest.raises(ValueError, match=as_before):
        many.partial_fit(X, Y[:, 0])
    with pytest.raises(ValueError, match=as_before):
        many.learn_one(X[0], 1)
    with pytest.raises(ValueError, match=as_before):
        many.calibrate(X, Y[:, 0])
    with pytest.raises(ValueError, match=as_before):
        many.score(X, Y[:, 0])
    assert bits(many) == bits(model().fit(X, Y))
    assert one.fit(X, Y).label_format_ == "dense"
    assert many.fit(X, Y[:, 0]).label_format_ is None
    with pytest.raises(ValueError, match="y must be lists of labels as before, got an indicator"):
        model().fit(X, lists(Y, NAMES)).partial_fit(X, Y)
    with pytest.raises(ValueError, match="y must have a column for each of 5 labels, got 3 col"):
        model().fit(X, Y).partial_fit(X, Y[:, :3])
    with pytest.raises(TypeError, match="y must hold labels of the same type as before"):
        model().fit(X, lists(Y, NAMES)).partial_fit(X, lists(Y))
    of_each = "y must have a row of labels for each of 120 rows of X, got 9"
    with pytest.raises(ValueError, match=of_each):
        model().fit(X, Y[:9])
    with pytest.raises(ValueError, match=of_each):
        model().fit(X, Y).score(X, Y[:9])
    with pytest.raises(ValueError, match=of_each):
        model().fit(X, Y).calibrate(X, Y[:9])


def test_a_model_of_a_matrix_takes_matrices_only():
    """The same list must not mean one thing or another by the rows beside it."""
    rows, table = X[:2], [[0, 1], [0, 1]]
    clf = model().fit(X, Y[:, :2])
    before = bits(clf)
    assert clf.score(rows, table) == clf.score(rows, np.array(table))
    said = "y must be an indicator matrix as before, got lists of labels"
    for lists_ in ([[0, 1], [1]], [[0, 9], [0, 9]], [[], [0]], [["a"], ["b"]]):
        for method in ("partial_fit", "score", "choose_thresholds", "calibrate", "reliability"):
            with pytest.raises(ValueError, match=said):
                getattr(clf, method)(rows, lists_)
        with pytest.raises(ValueError, match=said):
            evaluate(clf, rows, lists_)
    with pytest.raises(ValueError, match=r"labels 0 to 1, which number the columns .*got 9\. "):
        clf.learn_one(X[0], [0, 9])
    with pytest.raises(ValueError, match=r"labels 0 to 2, which number the columns .*got 9\. "):
        clf.partial_fit(rows, table, classes=[0, 1, 9])
    assert bits(clf) == before
    assert clf.partial_fit(rows, table, classes=[2]).label_format_ == "dense"
    assert clf.learn_one(X[0], np.array([0, 1, 0, 1])).classes_.tolist() == [0, 1, 2, 3]


def test_a_model_of_lists_takes_lists_only():
    clf = model().fit(X, lists(Y))
    for other in (Y, sparse.csr_array(Y)):
        for judge in (clf.partial_fit, clf.score, lambda X, y: evaluate(clf, X, y)):
            with pytest.raises(ValueError, match="y must be lists of labels as before, got an ind"):
                judge(X, other)
    assert clf.score(X[:2], [[0, 1], [0, 1]]) == clf.score(X[:2], [[0, 1], [1, 0]])


def test_matrices_to_judge_by_have_the_columns_of_the_model():
    with pytest.raises(ValueError, match="y must have a column for each of 5 labels, got 3 col"):
        evaluate(model().fit(X, Y), X, Y[:, :3])


def test_labels_of_another_type_are_refused_by_the_score():
    clf = model().fit(X, lists(Y, NAMES))
    with pytest.raises(TypeError, match="y must hold labels of the same type as before, such as"):
        clf.score(X, lists(Y))


def test_missing_entries_of_a_matrix_are_named():
    table = pandas.DataFrame(Y).astype("Int64")
    assert bits(model().fit(X, table)) == bits(model().fit(X, Y))
    table.iloc[7, 2] = pandas.NA
    with pytest.raises(ValueError, match="y must have no missing labels, got <NA> at row 7"):
        model().fit(X, table)


def test_decoding_cannot_be_changed_to_what_has_no_effect():
    clf = model(multiclass="ovr").fit(X, Y).set_params(decoding="hamming")
    for method in (clf.predict, clf.predict_proba, clf.decision_function):
        with pytest.raises(ValueError, match="decoding must be 'auto' where rows have many"):
            method(X)


REFUSED = [
    ({"multiclass": "ovr", "decoding": "hamming"}, "decoding must be 'auto' where .*got 'hamming'"),
    ({"multiclass": "ovo"}, "multiclass must be 'joint' or 'ovr' where .*got 'ovo'"),
    ({"multiclass": "ecoc"}, "multiclass must be 'joint' or 'ovr' where .*got 'ecoc'"),
    ({"covariance": "full"}, "covariance must be 'diagonal' where .*got 'full'"),
    ({"constraints": "sequential"}, r"constraints must be Single\(\) where .*got Sequential"),
    ({"class_weight": "balanced"}, "class_weight must be None where .*got 'balanced'"),
    ({"class_weight": {0: 2.0}}, r"class_weight must be None where .*got \{0: 2.0\}"),
    ({"rule": "arow", "cost": 1 - np.eye(5)}, "cost must be None where .*got 'a matrix'"),
]


@pytest.mark.parametrize(("params", "said"), REFUSED)
def test_settings_that_many_labels_cannot_have(params, said):
    for learn in ("fit", "partial_fit"):
        clf = model(**params)
        with pytest.raises(ValueError, match=said):
            getattr(clf, learn)(X, Y)
        assert not hasattr(clf, "classes_")
    with pytest.raises(ValueError, match=said):
        model(**params).learn_one(X[0], [1])


def test_who_takes_one_label_only_says_so():
    said = "y must have one label for each row here, got rows of many labels. Use SureClassifier"
    for other in (SoftmaxClassifier(), MulticlassSVM(), SureKernelClassifier()):
        for y in (Y, sparse.csr_array(Y), lists(Y, NAMES)):
            with pytest.raises(ValueError, match=said):
                other.fit(X, y)
            with pytest.raises(ValueError, match=said):
                other.partial_fit(X, y)
    for y in (Y, lists(Y, NAMES)):
        with pytest.raises(ValueError, match="y must have one label for each row in tune, got row"):
            tune(model(), X, y)
    many = model().fit(X, Y)
    with pytest.raises(ValueError, match="sample_proba needs one label per row, got many"):
        many.sample_proba(X)
    with pytest.raises(AttributeError, match="code_ needs a reduction of classes, got many labels"):
        many.code_  # noqa: B018


def test_ovr_is_the_same():
    assert bits(model(multiclass="ovr").fit(X, Y)) == bits(model().fit(X, Y))


def test_constraints_may_be_given_as_an_object():
    assert bits(model(constraints=constraints.Single()).fit(X, Y)) == bits(model().fit(X, Y))

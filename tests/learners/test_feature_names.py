"""Rows as dicts of names and values: hashed, remembered, explained, saved, merged."""

from __future__ import annotations

import math
import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction import DictVectorizer, FeatureHasher

from asked import bytes_of
from surelearn import SureClassifier, SureTextClassifier, evaluate, load, merge, rules, tune
from surelearn.active import Pool
from surelearn.learners import feature_names

ROWS = [
    {"fine": 1.0, "film": 1.0},
    {"dull": 1.0, "film": 2.0, "length": 1.2},
    {"fine": 2.0, "length": 0.9},
    {"dull": 1.0, "plot": True},
]
Y = ["good", "bad", "good", "bad"]

NAMES = [f"name {i}" for i in range(12)] + ["café", "", "名"]
values = st.one_of(st.floats(-4, 4), st.integers(-3, 3), st.booleans(), st.sampled_from("xy"))
rows = st.lists(
    st.tuples(st.dictionaries(st.sampled_from(NAMES), values, max_size=6), st.sampled_from("abc")),
    min_size=1,
    max_size=14,
)


def one_by_one(data, **params):
    clf = SureClassifier(**params)
    for x, y in data:
        clf.learn_one(x, y)
    return clf


def test_the_first_row_may_be_a_dict_of_names():
    clf = one_by_one(zip(ROWS, Y, strict=True), rule=rules.Probit(noise=0.3))
    assert clf.predict_one({"fine": 1.0}) == "good"
    assert clf.predict_one({"dull": 1.0, "plot": 1}) == "bad"
    assert clf.predict(ROWS).tolist() == Y
    assert set(clf.explain().feature) == {"fine", "film", "dull", "length", "plot"}
    table = clf.explain({"fine": 2.0, "never met": 3.0})
    assert table.feature.tolist() == ["fine", "(others)"]
    mean, variance = clf.margin([{"fine": 2.0}])
    assert table.margin.sum() == pytest.approx(mean[0])
    assert table.variance.sum() == pytest.approx(variance[0])


def test_names_are_hashed_as_scikit_learn_hashes_them():
    """So the weights are those of its FeatureHasher without signs."""
    hashed = FeatureHasher(2**18, alternate_sign=False).transform(ROWS)
    plain = SureClassifier().partial_fit(hashed, Y)
    named = SureClassifier().partial_fit(ROWS, Y)
    assert named.coef_.tobytes() == plain.coef_.tobytes()
    assert named.sigma_.tobytes() == plain.sigma_.tobytes()


def test_a_text_is_a_name_with_its_value():
    """As in scikit-learn's DictVectorizer."""
    data = [{"city": "Paris", "n": 2.0}, {"city": "Rome", "n": 1.0}]
    clf = SureClassifier().fit(data, [0, 1])
    assert set(clf.explain().feature) == {*DictVectorizer().fit(data).feature_names_}


@given(data=rows, cuts=st.sets(st.integers(1, 13)))
def test_any_chunking_gives_the_same_bits(data, cuts):
    def learnt(cuts):
        clf = SureClassifier(rule="arow")
        edges = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
        for a, b in pairwise(edges):
            clf.partial_fit([x for x, _ in data[a:b]], [y for _, y in data[a:b]])
        return clf

    def all_of(clf):
        model = clf._model
        state = None if model.weights is None else model.weights.state()
        arrays = {} if state is None else {k: np.asarray(v).tobytes() for k, v in state.items()
                                           if k in ("features", "cells")}  # fmt: skip
        return (
            arrays,
            model.classes.tolist(),
            [np.asarray(w).tolist() for w in clf._own_reader().words()[:2]],
        )

    whole = all_of(learnt(set()))
    assert all_of(learnt(cuts)) == whole
    assert all_of(one_by_one(data, rule="arow")) == whole


@given(data=rows, unseen=st.dictionaries(st.text(min_size=3), st.floats(-9, 9), max_size=3))
def test_names_that_were_never_met_change_nothing(data, unseen):
    clf = one_by_one([*data, ({"a": 1.0}, "a"), ({"b": 1.0}, "b")], rule="arow")
    known = {name for word in [clf._names] for name in word._places}
    more = {name: value for name, value in unseen.items() if name not in known}
    x = data[0][0]
    assert clf.predict_one({**x, **more}) == clf.predict_one(x)
    assert clf.predict_proba_one({**x, **more}) == clf.predict_proba_one(x)
    np.testing.assert_array_equal(clf.predict_proba([{**x, **more}]), clf.predict_proba([x]))


# --------------------------------------------------------------------------- the same


def ways(tmp_path):
    clf = SureClassifier(random_state=0).fit(ROWS, Y)
    clf.save(tmp_path / "m.sure")
    return {
        "fit": clf,
        "load": load(tmp_path / "m.sure"),
        "pickle": pickle.loads(pickle.dumps(clf)),
        "merge": merge([clf, SureClassifier(random_state=0)]),
        "tune": tune(SureClassifier(random_state=0), ROWS, Y, [{"rule": "probit"}]).best,
    }


def test_names_go_wherever_the_model_goes(tmp_path):
    found = ways(tmp_path)
    clf = found.pop("fit")
    for name, other in found.items():
        assert str(other.explain()) == str(clf.explain()), name
        assert other.predict_proba_one({"fine": 1, "x": 9}) == clf.predict_proba_one({"fine": 1})
        other.learn_one({"new": 1.0}, "good")
        assert "new" in other.explain(top=None).feature.tolist()
    assert "new" not in clf.explain(top=None).feature.tolist()
    assert bytes_of(load(tmp_path / "m.sure"), tmp_path) == bytes_of(clf, tmp_path)


def test_models_of_other_names_are_merged():
    parts = [SureClassifier().fit(ROWS[i : i + 2], Y[i : i + 2]) for i in (0, 2)]
    both = merge(parts)
    assert set(both.explain().feature) == {"fine", "film", "dull", "length", "plot"}
    assert both.predict_one({"fine": 1.0}) == "good"


@pytest.mark.parametrize("n_shards", [1, 3])
def test_fit_knows_what_it_was_given_last(n_shards):
    clf = SureClassifier(n_shards=n_shards, random_state=0).fit(ROWS, Y)
    clf.fit([{"a": 1.0}, {"b": 1.0}, {"a": 2.0}], [0, 1, 0])
    assert set(clf.explain().feature) == {"a", "b"}
    clf.fit(np.eye(3), [0, 1, 0])
    assert clf.n_features_in_ == 3
    assert clf.explain().feature[0].startswith("x")
    assert clone(clf).fit(ROWS, Y).n_features_in_ == 2**18


def test_lists_columns_and_arrays_of_dicts_are_rows():
    column = pd.Series(ROWS, index=[5, 6, 7, 8])
    array = np.array(ROWS, dtype=object)
    want = SureClassifier(random_state=0).fit(ROWS, Y)
    for some in (tuple(ROWS), column, array):
        other = SureClassifier(random_state=0).fit(some, Y)
        assert str(other.explain()) == str(want.explain())
        assert evaluate(want, some, Y).accuracy == 1.0
    assert want.score(ROWS, Y) == 1.0


def test_rows_of_weight_0_leave_no_name():
    clf = SureClassifier().partial_fit(
        [*ROWS, {"ad": 1.0}], [*Y, "good"], sample_weight=[1] * 4 + [0]
    )
    clf.learn_one({"spam": 1.0}, "good", sample_weight=0.0)
    assert not {"ad", "spam"} & set(clf.explain(top=None).feature)
    fitted = SureClassifier(class_weight={"ads": 0.0}).fit([*ROWS, {"ad": 1.0}], [*Y, "ads"])
    assert "ad" not in set(fitted._names._places)


def test_a_refused_call_leaves_no_name():
    clf = SureClassifier().partial_fit(ROWS, Y)
    before = set(clf._names._places)
    with pytest.raises(TypeError, match="labels of the same type as before"):
        clf.partial_fit([{"new": 1.0}], [3])
    with pytest.raises(TypeError, match="labels of the same type as before"):
        clf.learn_one({"new": 1.0}, 3)
    with pytest.raises(ValueError, match="x must be finite"):
        clf.learn_one({"new": np.inf}, "good")
    assert set(clf._names._places) == before
    fresh = SureClassifier()
    with pytest.raises(ValueError, match="x must be finite"):
        fresh.learn_one({"new": np.nan}, "good")
    assert fresh._fresh
    assert not hasattr(fresh, "n_features_in_")


def test_two_names_in_one_place_share_its_weight(monkeypatch, tmp_path):
    monkeypatch.setattr(feature_names, "_hashed", lambda name: 7)
    clf = SureClassifier(fit_intercept=False)
    clf.partial_fit([{"a": 1.0}, {"a": -1.0}], [1, 0])
    one = clf.decision_function([{"a": 1.0}])
    assert clf.decision_function([{"b": 1.0}])[0] == 0  # not met: ignored
    clf.partial_fit([{"b": 0.5}], [1])
    assert clf.decision_function([{"b": 1.0}])[0] > one[0]
    assert clf.decision_function([{"a": 1.0, "b": 1.0}])[0] == pytest.approx(
        2 * clf.decision_function([{"a": 1.0}])[0]
    )
    assert clf.explain().feature.tolist() == ["a"]
    clf.save(tmp_path / "m.sure")
    back = load(tmp_path / "m.sure")
    assert back.decision_function([{"b": 1.0}]) == clf.decision_function([{"b": 1.0}])


# ----------------------------------------------------------------------- other models


def test_a_model_of_a_frame_takes_dicts_of_its_columns():
    X = np.random.default_rng(0).normal(size=(40, 3))
    frame = pd.DataFrame(X, columns=["age", "height", "weight"])
    y = (X[:, 0] > 0).astype(int)
    clf = SureClassifier(random_state=0).fit(frame, y)
    row = dict(zip(frame.columns, X[5].tolist(), strict=True))
    assert clf.predict_one(row) == clf.predict_one(X[5])
    assert clf.predict([row]).tolist() == [clf.predict_one(X[5])]
    assert str(clf.explain(row)) == str(clf.explain(X[5]))
    other = SureClassifier(random_state=0).fit(frame, y).learn_one(row, 1)
    assert other.coef_.tobytes() == clf.learn_one(X[5], 1).coef_.tobytes()
    assert clf.predict_one({"height": 1.0}) == clf.predict_one([0.0, 1.0, 0.0])
    wrong = r"x must have features among 'age', 'height', 'weight', got 'size'"
    for call in (clf.predict_one, lambda x: clf.learn_one(x, 1)):
        with pytest.raises(ValueError, match=wrong):
            call({"size": 1.0})


def test_a_model_of_numbers_takes_no_names():
    clf = SureClassifier().fit(np.eye(2), [0, 1])
    with pytest.raises(TypeError, match="x must be a dict of feature numbers and values, got"):
        clf.predict_one({"a": 1.0})
    with pytest.raises(TypeError, match="X must be dicts of feature numbers and values, got"):
        clf.predict([{"a": 1.0}])
    assert clf.predict([{1: 2.0}]).tolist() == [clf.predict_one({1: 2.0})]


@pytest.mark.parametrize(
    ("x", "error", "message"),
    [
        ({3: 1.0}, TypeError, "x must have names of features as keys, got 3"),
        ({"a": 1.0, None: 1.0}, TypeError, "x must have names of features as keys, got None"),
        ({"a": None}, TypeError, "x must have a number or a str for 'a', got None"),
        ({"a": [1]}, TypeError, r"x must have a number or a str for 'a', got \[1\]"),
        ({"fine": float("nan")}, ValueError, "x must be finite"),
        (np.zeros(3), ValueError, "x must have 262144 features as in fit, got 3"),
    ],
)
def test_wrong_dicts_are_named(x, error, message):
    clf = SureClassifier().partial_fit(ROWS, Y)
    for call in (clf.predict_one, lambda x: clf.learn_one(x, "good")):
        with pytest.raises(error, match=message):
            call(x)
    if isinstance(x, dict):
        with pytest.raises(error, match=message.replace("x must", "X must")):
            clf.predict([ROWS[0], x])


def test_feature_numbers_need_a_width_first():
    with pytest.raises(ValueError, match=r"first dict must have names.* as keys, got 0"):
        SureClassifier().learn_one({0: 1.0}, "good")
    with pytest.raises(ValueError, match=r"as keys, got \('a', 'b'\)\. For numbers"):
        SureClassifier().learn_one({("a", "b"): 1.0}, "good")


def test_a_row_without_names_is_a_row():
    clf = SureClassifier().learn_one({}, "good").learn_one({"a": 1.0}, "bad")
    assert clf.predict_one({}) in ("good", "bad")


def test_a_pool_of_dicts_sees_names_that_come_later():
    pool = Pool(SureClassifier(), ROWS * 3, labels={0: "good", 1: "bad"}, random_state=0)
    pool.ask()
    pool.tell(3, "bad")
    again = Pool(SureClassifier(), ROWS * 3, history=pool.history)
    assert pool.ask(9).tolist() == again.ask(9).tolist()


# ------------------------------------------------------------------- predict_proba_one


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_of_one_row(n_classes):
    X = np.random.default_rng(0).normal(size=(60, 4))
    y = np.array(["a", "b", "c"])[np.arange(60) % n_classes]
    clf = SureClassifier(random_state=0).fit(X, y)
    for x in X[:5]:
        said = clf.predict_proba_one(x)
        assert list(said) == clf.classes_.tolist()
        np.testing.assert_array_equal(list(said.values()), clf.predict_proba(x[None])[0])
        assert all(type(label) is str and type(p) is float for label, p in said.items())
    assert clf.predict_proba_one(dict(enumerate(X[0].tolist()))) == clf.predict_proba_one(X[0])


def test_probabilities_of_one_text_and_of_one_class():
    clf = SureTextClassifier().learn_one("a fine film", 1)
    assert clf.predict_proba_one("a film") == {1: 1.0}
    clf.learn_one("dull", 0)
    assert clf.predict_proba_one("fine")[1] == clf.predict_proba(["fine"])[0, 1]
    assert not hasattr(SureClassifier("pa"), "predict_proba_one")


def test_the_value_of_a_name_is_a_number():
    assert feature_names._named_value("row 0", "age", np.float32(2.5)) == 2.5
    assert feature_names._named_value("row 0", "age", 10**400) == math.inf
    with pytest.raises(TypeError, match=r"row 0 must have a number or a str for 'age', got None\."):
        feature_names._named_value("row 0", "age", None)


def test_names_must_be_where_they_hash_to():
    names = feature_names.FeatureNames()
    names.register([{"a": 1.0, "b": 1.0}])
    words = names.words()
    moved = words._replace(features=words.features + 1)
    with pytest.raises(ValueError, match=r"feature 'a' must be in place \d+, got \d+\."):
        feature_names.FeatureNames.of(moved)

"""Tables in, label out: kinds of columns, containers, explanations, files."""

from __future__ import annotations

import io
import pickle
import warnings

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from surelearn import SureClassifier, SureTableClassifier, SureTextClassifier, load
from surelearn.columns import Category, Number, Text

WORDS = ["good", "fine", "bad", "dull", "film", "plot", "naïve", "ΑΣ", "the"]


def table(n=80, seed=0):
    """A frame, and labels that follow from its texts, brands and prices."""
    random = np.random.default_rng(seed)
    frame = pandas.DataFrame(
        {
            "title": [" ".join(random.choice(WORDS, random.integers(2, 9))) for _ in range(n)],
            "brand": random.choice(["Acme", "Bell", "Cord"], n),
            "price": np.round(random.normal(50, 20, n), 2),
            "when": pandas.Timestamp("2024-01-01")
            + pandas.to_timedelta(random.integers(0, 999, n), "D"),
        }
    )
    frame.loc[random.random(n) < 0.1, "brand"] = None
    frame.loc[random.random(n) < 0.1, "price"] = np.nan
    score = (
        frame["title"].str.contains("good") * 2.0
        + (frame["brand"] == "Acme")
        + (frame["price"].fillna(50) - 50) / 20
        + random.normal(0, 0.2, n)
    )
    return frame, np.where(score > score.median(), "yes", "no")


X, Y = table()
ROW = X.iloc[0].to_dict()


def saved(model):
    file = io.BytesIO()
    model.save(file)
    return file.getvalue()


def fitted(**params):
    return SureTableClassifier(random_state=0, **params).fit(X, Y)


def test_a_table_is_learnt():
    clf = fitted()
    assert clf.columns_.kind.tolist() == ["text", "category", "number", "date"]
    other, y = table(400, seed=1)
    assert clf.score(other, y) > 0.75
    assert clf.predict_proba(other).shape == (400, 2)


@pytest.mark.parametrize(
    "given",
    [
        X,
        X.astype({"brand": "category"}),
        polars.from_pandas(X),
        pyarrow.Table.from_pandas(X, preserve_index=False),
        pyarrow.RecordBatch.from_pandas(X, preserve_index=False),
        X.to_dict("records"),
        X.to_dict("list"),
    ],
    ids=["pandas", "categorical", "polars", "Arrow table", "Arrow batch", "dicts", "columns"],
)
def test_all_containers_are_learnt_alike(given):
    wanted = fitted()
    clf = SureTableClassifier(random_state=0).fit(given, Y)
    assert np.array_equal(clf.predict_proba(given), wanted.predict_proba(X))


def test_texts_alone_are_learnt_as_by_a_text_classifier():
    texts = X[["title"]]
    ours = SureTableClassifier(random_state=0).fit(texts, Y)
    wanted = SureTextClassifier(random_state=0).fit(X["title"].tolist(), Y)
    found, known = ours.predict_proba(texts), wanted.predict_proba(X["title"].tolist())
    assert np.allclose(found, known, atol=1e-6)


def test_columns_can_be_told():
    clf = fitted(columns={"title": "ignore", "price": Number(bins=4), "brand": Category(2.0)})
    assert clf.columns_.kind.tolist() == ["ignored", "category", "number", "date"]
    assert clf.columns_.decided.tolist()[:3] == ["given"] * 3
    names = set(clf.explain(top=None).feature)
    assert not any(name.startswith("title") for name in names)
    assert any(name.startswith("price in [") for name in names)
    heavy = fitted(columns={"title": Text(weight=5.0)})
    assert not np.array_equal(heavy.predict_proba(X), fitted().predict_proba(X))


def test_explanations_name_columns_and_values():
    clf = fitted(interactions=[("brand", "title")])
    top = clf.explain(top=None).feature.tolist()
    assert {"title: good", "brand=Acme", "price"} <= set(top)
    row = {"title": "good film", "brand": "Acme"}
    explained = clf.explain(row)
    names = set(explained.feature)
    assert {"title: good", "brand=Acme", "price missing", "brand=Acme × title: good"} <= names
    assert explained.margin.sum() == pytest.approx(clf.margin([row])[0].sum())
    assert list(clf.explain(row, names=[f"f{j}" for j in range(clf.n_features_in_)], top=1).feature)


def test_a_number_is_explained_with_its_value():
    clf = fitted(columns={"price": Number(bins=None)})
    explained = clf.explain({**ROW, "price": 80.0})
    values = dict(zip(explained.feature, explained.value, strict=True))
    assert values["price"] == 80.0


def test_one_row_is_predicted_as_many():
    clf = fitted()
    rows = X.to_dict("records")[:10]
    assert [clf.predict_one(row) for row in rows] == clf.predict(rows).tolist()
    assert clf.predict_proba_one(rows[0]) == dict(
        zip(clf.classes_, clf.predict_proba(rows[:1])[0], strict=True)
    )
    assert clf.predict_one({"brand": "Acme"}) in ("yes", "no")


def test_models_are_saved(tmp_path):
    clf = fitted(
        columns={"price": Number(bins=4), "title": "text"}, interactions=[("brand", "price")]
    )
    clf.save(tmp_path / "m.sure")
    loaded = load(tmp_path / "m.sure")
    assert np.array_equal(loaded.predict_proba(X), clf.predict_proba(X))
    assert repr(loaded.columns_) == repr(clf.columns_)
    assert repr(loaded.explain(ROW)) == repr(clf.explain(ROW))
    assert saved(loaded) == saved(clf)
    for model in (clf, loaded):
        model.partial_fit(X, Y)
    assert saved(loaded) == saved(clf)
    other = pickle.loads(pickle.dumps(clf))
    assert np.array_equal(other.predict_proba(X), clf.predict_proba(X))
    assert saved(other) == saved(clf)


@pytest.mark.parametrize("cuts", [[10], [1, 2, 50], list(range(1, 80))])
def test_streams_learn_the_same_however_they_are_cut(cuts):
    columns = {"title": "text", "brand": "category", "price": "number", "when": "date"}
    start = SureTableClassifier(columns=columns).partial_fit(X[:1], Y[:1], classes=["no", "yes"])
    whole, parts = pickle.loads(pickle.dumps(start)), pickle.loads(pickle.dumps(start))
    rest, labels = X[1:], Y[1:]
    whole.partial_fit(rest, labels)
    for a, b in zip([0, *cuts], [*cuts, 79], strict=True):
        if a < b:
            parts.partial_fit(rest[a:b], labels[a:b])
    assert saved(parts) == saved(whole)


def test_rows_are_learnt_one_by_one():
    columns = {"title": "text", "brand": "category", "price": "number", "when": "date"}
    one, many = (SureTableClassifier(columns=columns) for _ in range(2))
    rows = X.to_dict("records")
    for row, label in zip(rows, Y, strict=True):
        one.learn_one(row, label)
    many.partial_fit(rows[:1], Y[:1]).partial_fit(rows[1:], Y[1:])
    assert np.array_equal(one.predict_proba(X), many.predict_proba(X))
    assert one.predict_one(rows[0]) in ("yes", "no")


def test_one_pass_of_fit_is_partial_fit():
    columns = {"title": Text(idf=False), "brand": "category", "price": "ignore", "when": "ignore"}
    how = {"columns": columns, "passes": 1, "shuffle": False}
    a = SureTableClassifier(**how).fit(X, Y, calibrate=False)
    b = SureTableClassifier(**how).partial_fit(X, Y, classes=["no", "yes"])
    assert np.array_equal(a.coef_, b.coef_)


def test_rows_of_weight_zero_leave_nothing():
    weight = np.ones(80)
    weight[::2] = 0
    rows = X.copy()
    rows.loc[::2, "brand"] = "Secret"
    columns = {"title": "text", "brand": "category", "price": "number", "when": "date"}
    kept = SureTableClassifier(columns=columns, random_state=0).fit(rows, Y, sample_weight=weight)
    assert "brand=Secret" not in kept.explain(top=None).feature.tolist()
    assert b"Secret" not in saved(kept)


def test_a_refused_call_changes_nothing():
    clf = fitted()
    before = saved(clf)
    with pytest.raises(TypeError, match="must be a table"):
        clf.partial_fit(np.eye(3), ["yes"] * 3)
    with pytest.raises(ValueError, match="must have"):
        clf.partial_fit(X, Y[:3])
    with pytest.raises(TypeError, match="labels of the same type"):
        clf.partial_fit(X, np.arange(80))
    clf.set_params(columns={"brand": "text"})
    with pytest.raises(ValueError, match="columns must"):
        clf.partial_fit(X, Y)
    clf.set_params(columns=None)
    assert saved(clf) == before


def test_a_label_among_the_columns_is_told():
    with pytest.warns(UserWarning, match="column 'y' decides the label alone"):
        SureTableClassifier(random_state=0).fit(X.assign(y=Y), Y)


def test_a_frame_with_other_columns():
    clf = fitted()
    with pytest.warns(UserWarning, match="column") as told:
        clf.predict(X.drop(columns="brand").assign(colour="red"))
    assert {str(one.message).split("'")[1] for one in told} == {"brand", "colour"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf.predict(X.drop(columns="brand").assign(colour="red"))


def test_many_labels_per_row():
    labels = [["a"] if y == "yes" else ["a", "b"] for y in Y]
    clf = SureTableClassifier(random_state=0).fit(X, labels)
    assert sum(a == tuple(b) for a, b in zip(clf.predict(X), labels, strict=True)) > 70


def test_it_is_an_estimator():
    clf = SureTableClassifier(columns={"a": Text()}, random_state=3)
    assert isinstance(clf, SureClassifier)
    assert clone(clf).get_params() == clf.get_params()
    with pytest.raises(NotFittedError):
        clf.predict(X)
    assert not hasattr(clf, "columns_")
    with pytest.raises(ValueError, match="n_features must be at least 2"):
        SureTableClassifier(n_features=1).fit(X, Y)


@pytest.mark.parametrize("factor", [1e-6, 1000.0])
def test_units_of_numbers_change_nothing(factor):
    other = X.assign(price=X["price"] * factor)
    columns = {"title": "text", "brand": "category", "price": Number(bins=4), "when": "date"}

    def trained(frame):
        whole = SureTableClassifier(columns=columns, random_state=0).fit(frame, Y)
        stream = SureTableClassifier(columns=columns).partial_fit(frame, Y)
        return np.hstack([whole.predict_proba(frame), stream.predict_proba(frame)])

    assert np.allclose(trained(X), trained(other), atol=1e-4)


def test_a_zero_is_not_a_missing_number():
    rows = [{"x": 0.0, "z": "a"}, {"x": None, "z": "a"}, {"x": 4.0, "z": "b"}] * 20
    clf = SureTableClassifier(columns={"x": Number(bins=None)}, random_state=0)
    clf.fit(rows, ["zero", "none", "four"] * 20)
    assert clf.predict(rows[:3]).tolist() == ["zero", "none", "four"]

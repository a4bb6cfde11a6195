"""Tables from files: the same model from every format, by shards, resumed and merged."""

from __future__ import annotations

import io

import numpy as np
import pandas
import pytest

from surelearn import SureTableClassifier, evaluate, load, merge, predict

COLUMNS = {"title": "text", "brand": "category", "price": "number"}


def table(n=300):
    random = np.random.default_rng(0)
    words = ["good", "fine", "bad", "dull", "film", "plot"]
    frame = pandas.DataFrame(
        {
            "title": [" ".join(random.choice(words, random.integers(2, 9))) for _ in range(n)],
            "brand": random.choice(["Acme", "Bell", None], n),
            "price": np.round(random.normal(50, 20, n), 2),
        }
    )
    frame["y"] = np.where(
        frame["title"].str.contains("good") & (frame["brand"] != "Bell"), "a", "b"
    )
    return frame


FRAME = table()
X, Y = FRAME.drop(columns="y"), FRAME["y"].to_numpy()
WRITERS = {
    "csv": lambda path: FRAME.to_csv(path, index=False),
    "tsv": lambda path: FRAME.to_csv(path, index=False, sep="\t"),
    "jsonl": lambda path: FRAME.to_json(path, orient="records", lines=True),
    "parquet": lambda path: FRAME.to_parquet(path, index=False),
}


def saved(model):
    file = io.BytesIO()
    model.save(file)
    return file.getvalue()


def trained(source, *, passes=2, **params):
    model = SureTableClassifier(random_state=0, passes=passes, **params)
    return model.fit_stream(source, label="y")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "t.csv"
    WRITERS["csv"](path)
    return path


@pytest.mark.parametrize("ending", WRITERS)
def test_all_formats_hold_the_same(ending, tmp_path):
    path = tmp_path / f"t.{ending}"
    WRITERS[ending](path)
    clf, wanted = trained(path), trained(FRAME)
    assert clf.columns_.kind.tolist() == ["text", "category", "number"]
    assert np.array_equal(clf.predict_proba(X), wanted.predict_proba(X))
    assert evaluate(clf, path, label="y").accuracy == pytest.approx(clf.score(X, Y))
    (batch,) = predict(clf, path)
    assert batch.label.tolist() == clf.predict(X).tolist()


def test_one_pass_is_partial_fit(path):
    clf = SureTableClassifier(columns=COLUMNS, random_state=0)
    clf.fit_stream(path, label="y", passes=1, calibrate=False)
    wanted = SureTableClassifier(columns=COLUMNS, random_state=0).partial_fit(X, Y)
    assert np.array_equal(clf.coef_, wanted.coef_)


def test_threads_and_shards(path):
    assert saved(trained(path, n_jobs=2)) == saved(trained(path))
    shards = SureTableClassifier(random_state=0, n_shards=2).fit(X, Y)
    assert shards.score(X, Y) > 0.9
    again = SureTableClassifier(random_state=0, n_shards=2, n_jobs=2).fit(X, Y)
    assert saved(again) == saved(shards)
    assert trained(path, n_shards=2).score(X, Y) > 0.9


def test_training_is_resumed(path, tmp_path):
    clf = SureTableClassifier(random_state=0, passes=2)
    clf.fit_stream(path, label="y", checkpoint=tmp_path / "m.sure")
    loaded = load(tmp_path / "m.sure")
    for model in (clf, loaded):
        model.fit_stream(path, label="y", passes=3, resume=True)
    assert saved(loaded) == saved(clf)


def test_models_of_one_start_are_merged(tmp_path):
    start = saved(SureTableClassifier(columns=COLUMNS).partial_fit(X[:50], Y[:50]))
    parts = [load(io.BytesIO(start)) for _ in range(2)]
    parts[0].partial_fit(X[50:150], Y[50:150])
    parts[1].partial_fit(X[150:], Y[150:])
    merged = merge(parts)
    assert merged.columns_.column.tolist() == ["title", "brand", "price"]
    assert merged.score(X, Y) > 0.8
    names = set(merged.explain(top=None).feature)
    assert {"title: good", "brand=Acme"} <= names
    merged.save(tmp_path / "m.sure")
    assert np.array_equal(load(tmp_path / "m.sure").predict_proba(X), merged.predict_proba(X))


def test_models_of_other_columns_are_not_merged():
    text = SureTableClassifier(columns={**COLUMNS, "brand": "text"}).partial_fit(X, Y)
    with pytest.raises(ValueError, match="the same column 'brand' to be merged"):
        merge([text, SureTableClassifier(columns=COLUMNS).partial_fit(X, Y)])


def test_two_columns_of_one_name(tmp_path):
    (tmp_path / "t.csv").write_text("a,a,y\n1,2,x\n3,4,z\n")
    with pytest.raises(ValueError, match="must have one column 'a', got 2"):
        SureTableClassifier().fit_stream(tmp_path / "t.csv", label="y")


def test_svmlight_has_no_columns(tmp_path):
    (tmp_path / "t.svm").write_text("1 1:1\n2 1:2\n")
    with pytest.raises(ValueError, match="table must be False for svmlight and vw"):
        SureTableClassifier().fit_stream(tmp_path / "t.svm")


def leaky(n=300):
    """A table whose rating decides the label, and whose hint does so in the first half alone."""
    frame = table(n)
    is_a = (frame["y"] == "a").to_numpy()
    frame["rating"] = np.where(is_a, "high", "low")
    frame["hint"] = np.where(is_a, "x", "y")
    frame.loc[n // 2 :, "hint"] = "x"
    return frame


@pytest.mark.parametrize("how", [{}, {"cache_bytes": 0}, {"n_shards": 2}, {"passes": 1}])
def test_a_column_that_decides_the_label_is_warned_of_once(how, tmp_path):
    leaky().to_csv(tmp_path / "t.csv", index=False)
    shards, cache = how.pop("n_shards", 1), {"cache_bytes": how.pop("cache_bytes", 2**34)}
    model = SureTableClassifier(random_state=0, n_shards=shards, passes=how.pop("passes", 2))
    with pytest.warns(UserWarning, match="decides the label alone") as told:
        model.fit_stream(tmp_path / "t.csv", label="y", **cache)
    said = [str(one.message) for one in told if "decides" in str(one.message)]
    assert len(said) == 1
    assert "'rating'" in said[0]


def test_no_column_that_decides_no_warning(path, recwarn):
    trained(path)
    assert not [one for one in recwarn if "decides" in str(one.message)]


def test_a_stream_from_standard_input_is_warned_of(monkeypatch):
    data = leaky().to_csv(index=False).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    with pytest.warns(UserWarning, match="column 'rating' decides the label alone"):
        SureTableClassifier(random_state=0).fit_stream("-", label="y", format="csv")

"""Habits of scikit-learn: passes made, output that is set, columns whose names are numbers."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.feature_extraction.text import HashingVectorizer as ScikitLearns
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from classifiers import X4, Y4
from surelearn import SureClassifier, SureTagger, SureTextClassifier, evaluate, load, merge, predict
from surelearn.text import HashingVectorizer

TEXTS = ["a fine film", "a dull film", "how fine", "how dull"]
LABELS = ["good", "bad", "good", "bad"]
X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.where(X[:, 0] > 0, "up", "down")

# ---------------------------------------------------------------------------- n_iter_


def test_every_estimator_tells_its_passes(tmp_path):
    tagger = SureTagger(passes=3).fit([["a", "b"]], [["X", "Y"]])
    for fitted in (
        SureClassifier(passes=3).fit(X4, Y4),
        SureClassifier(passes=3, n_shards=2).fit(X4, Y4),
        SureTextClassifier(passes=3).fit(TEXTS, LABELS),
        tagger,
    ):
        assert fitted.n_iter_ == 3
        fitted.save(tmp_path / "m.sure")
        assert load(tmp_path / "m.sure").n_iter_ == 3
    assert SureClassifier(passes=3).partial_fit(X4, Y4).n_iter_ == 1
    path = tmp_path / "a.jsonl"
    path.write_text(
        "".join(
            json.dumps({"text": t, "label": y}) + "\n" for t, y in zip(TEXTS, LABELS, strict=True)
        )
    )
    assert SureTextClassifier(passes=4).fit_stream(path).n_iter_ == 4
    assert not hasattr(SureClassifier(), "n_iter_")


# ------------------------------------------------------------------------- set_output


def test_the_vectorizer_can_be_told_its_output():
    """A pipeline sets that of all its steps; sparse rows go to no frame, as scikit-learn says."""
    vectorizer = HashingVectorizer(n_features=16)
    rows = vectorizer.transform(TEXTS)
    assert vectorizer.set_output(transform="default") is vectorizer
    assert (vectorizer.transform(TEXTS) != rows).nnz == 0
    for other in ("pandas", "polars", "list"):
        with pytest.raises(ValueError, match=f"transform must be 'default' .*, got '{other}'"):
            vectorizer.set_output(transform=other)
        with pytest.raises(ValueError, match="transform must be 'default' for sparse rows"):
            make_pipeline(vectorizer, MaxAbsScaler()).set_output(transform=other)
    pipeline = make_pipeline(vectorizer, MaxAbsScaler(), SureClassifier())
    pipeline.set_output(transform="default").fit(TEXTS, LABELS)
    assert pipeline.predict(TEXTS).tolist() == LABELS


def test_names_of_the_columns_of_the_vectorizer():
    vectorizer = HashingVectorizer(n_features=4)
    names = vectorizer.get_feature_names_out()
    assert names.tolist() == [f"hashingvectorizer{i}" for i in range(4)]
    assert names.dtype == object
    assert (ScikitLearns(n_features=4).transform(TEXTS) != vectorizer.transform(TEXTS)).nnz == 0
    named = HashingVectorizer(n_features=16, keep_names=True)
    named.transform(["to be or not to be"])
    found = named.get_feature_names_out().tolist()
    assert found[4] == "not"
    assert found[5] == "hashingvectorizer5"
    scaled = make_pipeline(named, MaxAbsScaler()).fit(TEXTS)
    assert len(scaled.get_feature_names_out()) == 16
    clf = SureClassifier().fit(named.transform(TEXTS), LABELS)
    assert "fine" in clf.explain(names=named.get_feature_names_out()).feature


def test_the_output_of_others_leaves_the_vectorizer_alone():
    """As scikit-learn's own, which knows no other output."""
    with config_context(transform_output="pandas"):
        for model in (SureTextClassifier(), make_pipeline(HashingVectorizer(), SureClassifier())):
            assert model.fit(TEXTS, LABELS).predict(TEXTS).tolist() == LABELS


# -------------------------------------------------------------------- integer columns


@pytest.mark.parametrize("columns", [[0, 1, 2], [10, 20, 30], [2, 1, 0]])
def test_columns_whose_names_are_numbers(columns, tmp_path):
    """scikit-learn knows names that are texts only: these are taken in their order."""
    frame = pd.DataFrame(X, columns=columns)
    clf = SureClassifier(random_state=0).fit(frame, Y)
    want = SureClassifier(random_state=0).fit(X, Y)
    assert clf.coef_.tobytes() == want.coef_.tobytes()
    assert not hasattr(clf, "feature_names_in_")
    assert str(clf.explain(frame.iloc[:1])) == str(want.explain(X[0]))
    assert clf.learn_one(frame.iloc[0], Y[0]).predict_one(frame.iloc[1]) in ("up", "down")
    assert evaluate(clf, frame, Y).n == 40
    clf.partial_fit(frame, Y).save(tmp_path / "m.sure")
    assert load(tmp_path / "m.sure").predict(frame).tolist() == clf.predict(frame).tolist()


def test_columns_whose_names_are_numbers_are_named_by_them():
    frame = pd.DataFrame({0: TEXTS * 5, 1: LABELS * 5, 2: [1.0, 2.0] * 10, 3: [3.0, 1.0] * 10})
    frame[4] = 1.0
    texts = SureTextClassifier(random_state=0).fit_stream(frame, text=0, label=1)
    assert texts.predict(TEXTS).tolist() == LABELS
    assert evaluate(texts, frame).accuracy == 1.0
    assert len(next(predict(texts, frame)).label) == 20
    numbers = SureClassifier(random_state=0).fit_stream(frame, features=[2, 3], label=1, weight=4)
    assert numbers.n_features_in_ == 2
    assert evaluate(numbers, frame).n == 20
    merged = merge([numbers, numbers])
    assert evaluate(merged, frame, label=1).n == 20
    with pytest.raises(ValueError, match="must have a column '9', got '0', '1', '2', '3', '4'"):
        SureTextClassifier().fit_stream(frame, text=9, label=1)

"""Raw text in, label out: as the vectorizer and the classifier, and in words."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_checks

from containers import change_tensors
from surelearn import FormatError, SureClassifier, SureTextClassifier, load, merge, read, tune
from surelearn.text import HashingVectorizer

WORDS = ["good", "fine", "bad", "dull", "film", "plot", "naïve", "ΑΣ", "the"]
SETTINGS = [
    {},
    {"ngram_range": (1, 2), "stop_words": ["the"]},
    {"analyzer": "char_wb", "ngram_range": (2, 4), "norm": None},
    {"analyzer": "char", "ngram_range": (1, 3), "strip_accents": "unicode"},
    {"log_counts": False, "lowercase": False, "n_features": 16},
    {"analyzer": "char_wb", "ngram_range": (1, 2)},
    {"idf": False},
    {"idf": True, "stop_words": ["the"]},
]


def corpus(n=60, seed=0):
    random = np.random.default_rng(seed)
    texts = [" ".join(random.choice(WORDS, random.integers(1, 9))) for _ in range(n)]
    return texts, random.choice(["a", "b", "c"], n)


def pair(settings, **options):
    """The classifier of texts, and the two estimators that it stands for."""
    options = {"random_state": 0, "passes": 2, **options}
    clf = SureTextClassifier(**settings, **options)
    size = 2**20 if "ngram_range" in settings else 2**18
    vectorizer = HashingVectorizer(
        **{"log_counts": True, "n_features": size, "idf": clf.idf, **settings},
        alternate_sign=False,
        dtype=np.float32,
    )
    return clf, vectorizer, SureClassifier(**options)


def state(clf):
    parts = [clf.classes_, clf.coef_, clf.intercept_]
    if hasattr(clf, "margin"):
        parts += [clf.sigma_, clf.intercept_sigma_]
    return [np.asarray(part).tobytes() for part in parts]


# ------------------------------------------------------------------ the two in one


@pytest.mark.parametrize("settings", SETTINGS)
def test_it_is_a_vectorizer_and_a_classifier(settings):
    texts, y = corpus()
    clf, vectorizer, plain = pair(settings, rule="probit")
    clf.fit(texts, y)
    X = vectorizer.fit_transform(texts)
    plain.fit(X, y)
    assert state(clf) == state(plain)
    assert (clf.predict(texts) == plain.predict(X)).all()
    for ours, theirs in zip(clf.margin(texts), plain.margin(X), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(clf.predict_proba(texts), plain.predict_proba(X))
    np.testing.assert_array_equal(clf.decision_function(texts), plain.decision_function(X))
    assert [clf.predict_one(text) for text in texts] == clf.predict(texts).tolist()


@given(seed=st.integers(0, 1000), cut=st.integers(1, 29), settings=st.sampled_from(SETTINGS))
def test_pieces_and_single_texts_learn_the_same(seed, cut, settings):
    texts, y = corpus(30, seed)
    whole = SureTextClassifier(**settings).partial_fit(texts, y)
    pieces = clone(whole).partial_fit(texts[:cut], y[:cut]).partial_fit(texts[cut:], y[cut:])
    single = clone(whole)
    for text, label in zip(texts, y, strict=True):
        single.learn_one(text, label)
    assert state(whole) == state(pieces) == state(single)
    names = (
        range(whole.n_features_in_)
        if whole.n_features == 16
        else range(0, whole.n_features_in_, 512)
    )
    assert whole.vectorizer_.names(names) == single.vectorizer_.names(names)


@pytest.mark.parametrize("options", [{"rule": "pa1"}, {"multiclass": "ovo"}, {"average": True}])
def test_everything_of_the_classifier_is_there(options):
    texts, y = corpus()
    clf, vectorizer, plain = pair({}, **options)
    assert state(clf.fit(texts, y)) == state(plain.fit(vectorizer.fit_transform(texts), y))
    assert clf.score(texts, y) == plain.score(vectorizer.transform(texts), y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_texts_are_tuned_as_they_are_fitted(n_classes):
    texts, y = corpus(120)
    kept = np.isin(y, ["a", "b", "c"][:n_classes])
    texts, y = [t for t, k in zip(texts, kept, strict=True) if k], y[kept]
    base = SureTextClassifier(random_state=0, passes=3, ngram_range=(1, 2))
    best, table = tune(
        base, texts, y, {"rule": ["arow", "probit", "pa1"], "average": [False, True]}
    )
    alone = clone(base).set_params(**table.parameters[0]).fit(texts, y)
    assert state(best) == state(alone)
    assert str(best.explain("good film")) == str(alone.explain("good film"))
    assert best.projection_ == "precision"
    assert not hasattr(base, "vectorizer_")


def test_reading_does_not_name_anything():
    texts, y = corpus()
    clf = SureTextClassifier().fit(texts, y)
    met = clf.vectorizer_.n_names_
    clf.predict(["unheard-of words"])
    clf.predict_one("more of them")
    clf.explain("and more")
    assert (
        clf.vectorizer_.n_names_ == met == len({word.lower() for t in texts for word in t.split()})
    )


def test_fit_forgets_the_words_of_before():
    clf = SureTextClassifier().fit(["old words", "of before"], [0, 1])
    clf.fit(["new ones", "only new"], [0, 1])
    assert clf.vectorizer_.n_names_ == 3


# ------------------------------------------------------------------ in words


def test_a_model_is_explained_in_words():
    texts = ["great film", "great fun", "dull film", "dull thing"]
    clf = SureTextClassifier(random_state=0).fit(texts, ["yes", "yes", "no", "no"])
    table = clf.explain()
    assert set(table.feature) == {"great", "film", "fun", "dull", "thing"}
    assert table.mean[table.feature == "great"][0] > 0 > table.mean[table.feature == "dull"][0]
    nameless = SureTextClassifier(keep_names=False, random_state=0).fit(texts, [1, 1, 0, 0])
    assert re.fullmatch(r"#\d+", nameless.explain().feature[0])


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("multiclass", ["joint", "ovr", "ovo"])
def test_what_words_say_adds_up_to_the_margin(settings, n_classes, multiclass):
    texts, y = corpus()
    kept = np.isin(y, ["a", "b", "c"][:n_classes])
    texts, y = [t for t, k in zip(texts, kept, strict=True) if k], y[kept]
    clf = SureTextClassifier(**settings, multiclass=multiclass, random_state=0, fit_intercept=False)
    if multiclass != "joint":
        clf.set_params(decoding="scores")
    clf.fit(texts, y)
    for text in (*texts[:10], "Good\n\n  good  NAÏVE ΑΣ the end", "unheard"):
        table = clf.explain(text)
        np.testing.assert_allclose(table.scores.sum(), table.verdict.margin, atol=1e-5)
        assert table.verdict.label == clf.predict_one(text)
        assert len(table.scores) == len(table.units)
        assert table.verdict.margin >= 0


@pytest.mark.parametrize("text", ["good film", "naïve İ", ""])
def test_a_text_is_hashed_once_to_be_explained(text, calls):
    clf = SureTextClassifier(random_state=0).fit(*corpus())
    made = calls(HashingVectorizer, "transform_one", "_hash", "transform", "build_preprocessor")
    clf.explain(text)
    assert made["transform_one"] == made["_hash"] == 1
    assert made["transform"] == 0
    assert made["build_preprocessor"] <= 2  # for its places; where it is not ASCII, for the row


def test_the_words_of_a_text_are_its_own():
    clf = SureTextClassifier(n_features=1, random_state=0).fit(["one", "two"], [0, 1])
    assert clf.explain().feature[0] == "one"
    assert clf.explain("three").feature.tolist().count("three") == 1


# ------------------------------------------------------------------ kept


def test_changed_settings_are_not_saved_nor_learnt_with(tmp_path):
    clf = SureTextClassifier(random_state=0).fit(["good film", "bad film"], ["a", "b"])
    clf.set_params(lowercase=False)
    with pytest.raises(ValueError, match="lowercase must stay True in a fitted model, got False"):
        clf.save(tmp_path / "m.sure")
    with pytest.raises(ValueError, match="lowercase must stay True in a fitted model, got False"):
        clf.learn_one("GOOD", "a")


def test_a_list_of_stop_words_is_taken_as_it_was():
    words = ["film"]
    clf = SureTextClassifier(stop_words=words).fit(["good film", "bad film"], ["a", "b"])
    words.append("good")
    assert clf.decision_function(["good film"]) != clf.decision_function([""])
    with pytest.raises(ValueError, match="stop_words must stay"):
        clf.partial_fit(["good"], ["a"])


def test_one_text_goes_the_short_way():
    clf = SureTextClassifier().fit(["good film", "bad film"], ["a", "b"])
    clf.learn_one("fine", "a")
    assert clf._kept_method() is not None


def test_numbers_of_numpy_can_be_saved(tmp_path):
    clf = SureTextClassifier(n_features=np.int64(32), ngram_range=(np.int64(1), np.int64(2)))
    clf.fit(["good film", "bad film"], ["a", "b"]).save(tmp_path / "m.sure")
    assert state(load(tmp_path / "m.sure")) == state(clf)


@pytest.mark.parametrize("settings", SETTINGS)
def test_one_file_has_it_all(tmp_path, settings):
    texts, y = corpus()
    clf = SureTextClassifier(**settings, rule="probit", random_state=0).fit(texts, y)
    clf.save(tmp_path / "m.sure")
    for twin in (load(tmp_path / "m.sure"), pickle.loads(pickle.dumps(clf))):
        assert isinstance(twin, SureTextClassifier)
        assert state(twin) == state(clf)
        assert (twin.predict(texts) == clf.predict(texts)).all()
        assert twin.explain().to_dict() == clf.explain().to_dict()
        assert twin.vectorizer_.n_clashes_ == clf.vectorizer_.n_clashes_
        assert str(twin.get_params()) == str(clf.get_params())
    twin = load(tmp_path / "m.sure").partial_fit(["something new"], ["d"])
    assert state(twin) == state(clf.partial_fit(["something new"], ["d"]))
    assert twin.vectorizer_.n_names_ == clf.vectorizer_.n_names_


@pytest.mark.parametrize(
    "change",
    [
        {"words": None},
        {"word_ends": np.array([1], np.int64)},
        {"word_places": np.array([0, 0, 1], np.int64)},
        {"word_places": np.array([0, 1, 2**40], np.int64)},
        {"word_places": np.array([0, 1, -1], np.int64)},
        {"word_ends": np.array([3, 2, 9], np.int64)},
        {"word_ends": np.array([3, 6, 2**50], np.int64)},
        {"words": np.full(9, 255, np.uint8)},
        {"words": np.frombuffer("onétwsix".encode(), np.uint8)},
        {"word_clashes": np.array([0, 0, 7], np.uint8)},
        {"words": np.zeros(20, np.uint8)},
        {"words": np.zeros((3, 3), np.float32)},
    ],
)
def test_damaged_words_are_refused(tmp_path, change):
    clf = SureTextClassifier().fit(["one two", "six"], [0, 1])
    clf.save(tmp_path / "m.sure")

    def spoil(tensors):
        for name, value in change.items():
            tensors.pop(name)
            if value is not None:
                tensors[name] = value

    change_tensors(tmp_path / "m.sure", spoil)
    with pytest.raises(FormatError, match=r"must have a tensor|must be a valid model"):
        load(tmp_path / "m.sure")


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda clf: clf.predict("one text"), ValueError, "Iterable over raw text documents exp"),
        (lambda clf: clf.predict([None]), TypeError, "text 0 must be str or bytes, got None"),
        (lambda clf: clf.predict([]), ValueError, "X must have at least one text, got none"),
        (lambda clf: clf.predict_one(["a"]), TypeError, r"x must be a str, got \['a'\]"),
        (lambda clf: clf.learn_one(3, "a"), TypeError, "x must be a str, got 3"),
        (lambda clf: clf.explain(["a"]), TypeError, r"row must be a str, got \['a'\]"),
        (lambda clf: clf.fit("text", "a"), ValueError, "Iterable over raw text documents exp"),
        (lambda clf: clf.fit(["a", "b"], ["a"]), ValueError, "y must have one label .* 1"),
        (lambda clf: clf.fit(["a", b"\xff"], ["a", "b"]), UnicodeDecodeError, "invalid start byte"),
        (lambda clf: clf.set_params(n_features=0).fit(["a"], ["a"]), ValueError, "n_features"),
        (lambda clf: clf.set_params(ngram_range=(2, 1)).fit(["a"], ["a"]), ValueError, "lower"),
        (lambda clf: clf.set_params(lowercase=False).partial_fit(["a"], ["a"]), ValueError,
         "lowercase must stay True in a fitted model, got False"),
        (lambda clf: clf.partial_fit(["new words"], ["a", "b"]), ValueError, "one label"),
        (lambda clf: clf.partial_fit(["new"], ["a"], sample_weight=[-1]), ValueError, "sample_we"),
        (lambda clf: clf.partial_fit(np.eye(2), ["a", "b"]), ValueError, "must have one dimension"),
    ],
)  # fmt: skip
def test_bad_input_leaves_the_model_as_it_was(call, error, message):
    clf = SureTextClassifier(random_state=0).fit(["one two", "three"], ["a", "b"])
    before = state(clf), clf.vectorizer_
    with pytest.raises(error, match=message):
        call(clf)
    assert state(clf) == before[0]
    assert clf.vectorizer_ is before[1]
    assert clf.vectorizer_.n_names_ == 3


def test_an_untrained_one_says_so():
    with pytest.raises(NotFittedError):
        SureTextClassifier().predict(["a"])
    with pytest.raises(NotFittedError):
        SureTextClassifier().predict_one("a")
    with pytest.raises(NotFittedError):
        SureTextClassifier().explain()
    with pytest.raises(NotFittedError):
        SureTextClassifier().explain("a")


@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_estimator_cloneable,
        estimator_checks.check_estimator_repr,
        estimator_checks.check_estimator_tags_renamed,
        estimator_checks.check_get_params_invariance,
        estimator_checks.check_no_attributes_set_in_init,
        estimator_checks.check_parameters_default_constructible,
        estimator_checks.check_set_params,
        estimator_checks.check_valid_tag_types,
    ],
)
def test_scikit_learn_accepts_it(check):
    """Its other checks hand in numbers."""
    check("SureTextClassifier", SureTextClassifier())


def test_words_of_texts_without_weight_are_not_met():
    """Promise 5: they change nothing, names neither."""
    texts, labels = ["good film", "bad film", "strange"], ["pos", "neg", "pos"]
    plain = SureTextClassifier(random_state=0).partial_fit(texts[:2], labels[:2])
    for kind in (list, np.array, pandas.Series, pyarrow.array, polars.Series):
        weighted = SureTextClassifier(random_state=0)
        weighted.partial_fit(kind(texts), labels, sample_weight=[1, 1, 0])
        assert weighted.vectorizer_.n_names_ == plain.vectorizer_.n_names_ == 3
        assert weighted.coef_.tobytes() == plain.coef_.tobytes()


@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize("learnt", [0, 2])
def test_a_call_without_any_weight_meets_no_word(learnt, idf):
    """Not even a call that names new classes, of a new model or of another."""
    clf = SureTextClassifier(idf=idf, random_state=0)
    if learnt:
        clf.partial_fit(["good film", "bad film"], ["pos", "neg"])
    clf.partial_fit(["strange"], ["pos"], classes=["neg", "none", "pos"], sample_weight=[0])
    assert clf.classes_.tolist() == ["neg", "none", "pos"]
    assert clf.vectorizer_.n_names_ == (3 if learnt else 0)


@pytest.mark.parametrize("kind", ["str", "string", "object", "category"])
def test_missing_texts_of_pandas_are_named_with_their_row(kind):
    clf = SureTextClassifier(random_state=0).fit(["good", "bad"], [1, 0])
    column = pandas.Series(["good", "bad", None, "fine"], dtype=kind)
    message = r"text 2 must be str or bytes, got .*\. Drop rows without a text, or replace it"
    for go in (
        lambda: SureTextClassifier().fit(column, [1, 0, 1, 1]),
        lambda: SureTextClassifier(n_shards=2).fit(column, [1, 0, 1, 0]),
        lambda: SureTextClassifier().partial_fit(column, [1, 0, 1, 1]),
        lambda: clf.predict(column),
        lambda: clf.predict_proba(column),
    ):
        with pytest.raises(TypeError, match=message.replace("2", r"\d")):
            go()
    with pytest.raises(TypeError, match=message):
        clf.predict(column)
    frame = pandas.DataFrame({"text": column, "label": [1, 0, 1, 1]})
    with pytest.raises(
        read.BadInput, match=r"frame, row 3: 'text' must be a text, got null\. With"
    ):
        SureTextClassifier().fit_stream(frame)
    assert SureTextClassifier().fit_stream(frame, skip_bad=True).stream_.n_bad == 1


@pytest.mark.parametrize(
    ("ngram_range", "size"), [((1, 1), 2**18), ((1, 2), 2**20), ((2, 2), 2**20)]
)
def test_longer_ngrams_are_hashed_to_more_places(ngram_range, size, tmp_path):
    texts, y = corpus()
    clf = SureTextClassifier(ngram_range=ngram_range, random_state=0).fit(texts, y)
    assert clf.n_features_in_ == clf.vectorizer_.n_features == size
    assert clf.get_params()["n_features"] == "auto"
    given = SureTextClassifier(ngram_range=ngram_range, n_features=size, random_state=0)
    given.fit(texts, y)
    np.testing.assert_array_equal(clf.coef_, given.coef_)
    clf.save(tmp_path / "model.sure")
    again = load(tmp_path / "model.sure")
    assert again.get_params()["n_features"] == "auto"
    np.testing.assert_array_equal(again.predict(texts), given.predict(texts))
    both = merge([clf, given], how="uniform")
    np.testing.assert_array_equal(both.predict(texts), given.predict(texts))

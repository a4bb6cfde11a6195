"""Rarity in the classifier of texts: counts of all texts in `fit`, running counts in streams."""

from __future__ import annotations

import copy
import io
import pickle

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from containers import change_settings, change_tensors
from custom_rules import Callable
from surelearn import FormatError, SureClassifier, SureTextClassifier, load, rules
from surelearn.text import HashingVectorizer

WORDS = ["good", "fine", "bad", "dull", "film", "plot", "naïve", "ΑΣ", "the", *"abcdefgh"]
SIZE = 2**10


def corpus(n=60, seed=0):
    """Texts whose words are not equally common, with a class that some of them tell."""
    random = np.random.default_rng(seed)
    share = 1 / np.arange(1, len(WORDS) + 1)
    texts = [
        " ".join(random.choice(WORDS, random.integers(1, 9), p=share / share.sum()))
        for _ in range(n)
    ]
    return texts, np.array([("b" if "film" in text else "c") if "the" in text else "a"
                            for text in texts])  # fmt: skip


def text_classifier(**params):
    return SureTextClassifier(**{"idf": True, "n_features": SIZE, "random_state": 0, **params})


def vectorizer(**params):
    return HashingVectorizer(
        idf=True, log_counts=True, n_features=SIZE, alternate_sign=False, dtype=np.float32, **params
    )


def state(clf):
    """Everything learnt, as bytes."""
    file = io.BytesIO()
    clf.save(file)
    return file.getvalue()


def weights(clf):
    return [np.asarray(x).tobytes() for x in (clf.coef_, clf.sigma_, clf.intercept_)]


def documents(clf):
    n, features, counts = clf.vectorizer_.documents_met()
    return n, dict(zip(features.tolist(), counts.tolist(), strict=True))


def counted(texts):
    n, features, counts = vectorizer().fit(texts).documents_met()
    return n, dict(zip(features.tolist(), counts.tolist(), strict=True))


def labelled(texts, labels):
    return pandas.DataFrame({"text": texts, "label": list(labels)})


# ------------------------------------------------------------------------- in fit


def test_fit_is_the_two_in_one():
    texts, y = corpus()
    clf, rows = text_classifier(passes=3).fit(texts, y), vectorizer()
    plain = SureClassifier(passes=3, random_state=0).fit(rows.fit_transform(texts), y)
    assert weights(clf) == weights(plain)
    others = corpus(seed=1)[0]
    assert (clf.decision_function(others) == plain.decision_function(rows.transform(others))).all()
    assert clf.vectorizer_.n_documents_ == 60
    assert (clf.vectorizer_.idf_ == rows.idf_).all()


def test_it_is_another_model():
    texts, y = corpus()
    with_idf, without = (text_classifier(idf=idf).fit(texts, y) for idf in (True, False))
    assert weights(with_idf) != weights(without)


def test_rows_of_weight_0_are_not_counted():
    texts, y = corpus()
    weight = (np.arange(60) % 3).astype(float)
    kept = [text for text, w in zip(texts, weight, strict=True) if w]
    fitted = text_classifier().fit(texts, y, weight)
    assert documents(fitted) == counted(kept)
    assert documents(text_classifier().partial_fit(texts, y, sample_weight=weight)) == counted(kept)
    classes = text_classifier(class_weight={"a": 0.0}).fit(texts, y)
    assert documents(classes) == counted([t for t, c in zip(texts, y, strict=True) if c != "a"])


def test_fit_again_counts_anew():
    texts, y = corpus()
    clf = text_classifier().fit(texts, y)
    assert state(clf.fit(texts[:30], y[:30])) == state(text_classifier().fit(texts[:30], y[:30]))


@pytest.mark.parametrize("params", [{"multiclass": "ovo"}, {"norm": None}, {"keep_names": False}])
def test_other_settings(params):
    texts, y = corpus()
    clf = text_classifier(**params).fit(texts, y)
    assert (
        load(io.BytesIO(state(clf))).decision_function(texts) == clf.decision_function(texts)
    ).all()


# ----------------------------------------------------------------------- running


@given(cuts=st.lists(st.integers(0, 60), max_size=4).map(sorted), one_by_one=st.booleans())
def test_any_pieces_give_the_same_bits(cuts, one_by_one):
    texts, y = corpus()
    whole = text_classifier().partial_fit(texts, y)
    pieces = text_classifier()
    for begin, end in zip([0, *cuts], [*cuts, 60], strict=True):
        if one_by_one:
            for text, label in zip(texts[begin:end], y[begin:end], strict=True):
                pieces.learn_one(text, label)
        elif begin < end:
            pieces.partial_fit(texts[begin:end], y[begin:end])
    assert state(pieces) == state(whole)


def test_each_text_is_weighed_by_those_up_to_it():
    """As a classifier of rows that learns each row as it was weighed at its time."""
    texts, y = corpus()
    clf, plain, rows = text_classifier(), SureClassifier(random_state=0), vectorizer()
    for text, label in zip(texts, y, strict=True):
        rows.partial_fit([text])
        plain.partial_fit(rows.transform([text]), [label])
    clf.partial_fit(texts, y)
    assert weights(clf) == weights(plain)
    assert (clf.decision_function(texts) == plain.decision_function(rows.transform(texts))).all()


@pytest.mark.parametrize("params", [{}, {"class_weight": "balanced"}, {"keep_names": False}])
def test_one_pass_over_a_stream_is_partial_fit(params):
    texts, y = corpus(300)
    frame = labelled(texts, y)
    streamed = text_classifier(**params).fit_stream(frame, passes=1)
    pieces = text_classifier(**params).partial_fit(texts, y)
    assert weights(streamed) == weights(pieces)
    assert documents(streamed) == documents(pieces) == counted(texts)


def test_later_passes_use_the_counts_of_the_first():
    texts, y = corpus()
    frame = labelled(texts, y)
    streamed = text_classifier(shuffle=False).fit_stream(frame, passes=3, calibrate=False)
    assert documents(streamed) == counted(texts)
    plain = SureClassifier(random_state=0, shuffle=False)
    first = vectorizer()
    for text, label in zip(texts, y, strict=True):
        plain.partial_fit(first.partial_fit([text]).transform([text]), [label])
    for _ in range(2):
        plain.partial_fit(first.transform(texts), y)
    assert weights(streamed) == weights(plain)


def test_texts_that_are_kept_back_are_counted_in_the_first_pass():
    texts, y = corpus()
    clf, seen = text_classifier(), []
    frame = labelled(texts, y)
    clf.fit_stream(frame, passes=3, progress=lambda now: seen.append(documents(clf)))
    assert seen == 3 * [counted(texts)]


def test_going_on_counts_on():
    texts, y = corpus(90)
    frame = labelled(texts[30:60], y[30:60])
    clf = text_classifier().fit(texts[:30], y[:30])
    assert documents(clf.fit_stream(frame, passes=2, resume=True)) == counted(texts[:60])
    assert documents(clf.partial_fit(texts[60:89], y[60:89])) == counted(texts[:89])
    assert documents(clf.learn_one(texts[89], y[89])) == counted(texts)


def test_many_labels():
    texts, y = corpus()
    labels = [
        [label, "x"] if len(text) > 20 else [label] for text, label in zip(texts, y, strict=True)
    ]
    whole = text_classifier().partial_fit(texts, labels)
    pieces = text_classifier().partial_fit(texts[:7], labels[:7])
    for text, own in zip(texts[7:], labels[7:], strict=True):
        pieces.learn_one(text, own)
    assert weights(whole) == weights(pieces)
    assert documents(whole) == documents(pieces) == counted(texts)


# ----------------------------------------------------------------------- refusals


def learn_bad_label(clf):
    clf.partial_fit(["new words", "film"], ["a", 3])


def learn_bad_text(clf):
    clf.partial_fit(["new words", 3], ["a", "b"])


def learn_bad_classes(clf):
    clf.partial_fit(["new words"], ["a"], classes=[1, 2])


def learn_one_bad_label(clf):
    clf.learn_one("new words", ["a", "b"])


def learn_nothing(clf):
    clf.learn_one("new words", "a", sample_weight=0.0)
    raise ValueError("must be learnt")


def fit_bad_label(clf):
    clf.fit(["new words", "film"], ["a", None])


@pytest.mark.parametrize(
    "learn",
    [learn_bad_label, learn_bad_text, learn_bad_classes, learn_one_bad_label, learn_nothing,
     fit_bad_label],
)  # fmt: skip
def test_refused_calls_count_nothing(learn):
    texts, y = corpus()
    clf = text_classifier().partial_fit(texts, y)
    before = documents(clf)
    with pytest.raises((TypeError, ValueError), match=r"must|needs"):
        learn(clf)
    assert documents(clf) == before == counted(texts)


WAYS = {
    "partial_fit": lambda clf, texts, y: clf.partial_fit(texts, y),
    "fit_stream": lambda clf, texts, y: clf.fit_stream(labelled(texts, y), passes=1),
    "learn_one": lambda clf, texts, y: [clf.learn_one(*p) for p in zip(texts, y, strict=True)],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("many", [False, True])
def test_texts_after_a_failure_are_not_counted(way, many):
    texts, y = corpus()
    labels = [[label] for label in y] if many else y.tolist()
    clf = text_classifier(rule=Callable(fails_at=25, error=RuntimeError("enough")))
    with pytest.raises(RuntimeError, match="enough"):
        WAYS[way](clf, texts, labels)
    learnt = int(clf.model_.counts.sum())
    assert 0 < learnt < 60
    assert documents(clf) == counted(texts[:learnt])


@pytest.mark.parametrize("way", WAYS)
def test_a_refused_text_and_those_after_it_are_not_counted(way):
    """Labels at random: the precision form loses every variance."""
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice([f"w{i}" for i in range(40)], 30)) for _ in range(200)]
    labels = random.integers(0, 2, 200).tolist()
    clf = text_classifier(rule=rules.Stdev(phi=3.0), norm=None, projection="precision")
    with pytest.raises(ValueError, match=r"row \d+ must leave finite weights"):
        WAYS[way](clf, texts, labels)
    learnt = int(clf.model_.counts.sum())
    assert 10 < learnt < 190
    assert documents(clf) == counted(texts[:learnt])
    with pytest.raises(ValueError, match="row 0 must leave finite weights"):
        clf.learn_one(texts[learnt], labels[learnt])
    assert documents(clf) == counted(texts[:learnt])


# ------------------------------------------------------------------------- copies


def test_copies_predict_the_same_and_count_apart():
    texts, y = corpus()
    clf = text_classifier().partial_fit(texts, y)
    others = [pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf), load(io.BytesIO(state(clf)))]
    for other in others:
        assert (other.decision_function(texts) == clf.decision_function(texts)).all()
        assert state(other) == state(clf)
        assert documents(other.partial_fit(texts[:5], y[:5]))[0] == 65
    assert documents(clf)[0] == 60
    assert clone(clf).get_params() == clf.get_params()


def test_one_text_as_many():
    texts, y = corpus()
    clf = text_classifier().fit(texts, y)
    assert [clf.predict_one(text) for text in texts] == clf.predict(texts).tolist()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_explanations_add_up(n_classes):
    texts, y = corpus()
    y = np.where(y == "c", "b", y) if n_classes == 2 else y
    clf = text_classifier().fit(texts, y)
    for text in texts[:5]:
        table = clf.explain(text)
        mean, variance = (np.asarray(part).ravel() for part in clf.margin([text]))
        if n_classes == 2:
            assert np.sum(table.margin) == pytest.approx(mean[0], abs=1e-6)
            assert np.sum(table.variance) == pytest.approx(variance[0], rel=1e-5)
        scores = clf.decision_function([text]).ravel()
        for k, label in enumerate(clf.classes_ if n_classes == 3 else ["b"]):
            own = clf.explain(text, label=label)
            assert np.sum(own.margin) == pytest.approx(scores[k], abs=1e-6)
    assert set(clf.explain(top=3).feature) <= {*WORDS}


# -------------------------------------------------------------------------- shards


@pytest.mark.parametrize("every", [1, None])
def test_shards_use_the_counts_of_all_texts(every):
    texts, y = corpus()
    sharded = [
        text_classifier(n_shards=3, passes=2, merge_every=every, n_jobs=n_jobs).fit(texts, y)
        for n_jobs in (1, 2)
    ]
    assert documents(sharded[0]) == documents(sharded[1]) == counted(texts)
    plain = SureClassifier(n_shards=3, passes=2, merge_every=every, random_state=0)
    plain.fit(vectorizer().fit_transform(texts), y)
    assert weights(sharded[0]) == weights(sharded[1]) == weights(plain)


def test_shards_of_weight_0_are_not_counted():
    texts, y = corpus()
    clf = text_classifier(n_shards=3).fit(texts, y, (np.arange(60) >= 30).astype(float))
    assert documents(clf) == counted(texts[30:])


# --------------------------------------------------------------------------- files


@pytest.mark.parametrize(
    "change",
    [
        {"document_places": None},
        {"document_counts": None},
        {"document_places": np.array([0, 0, 1], np.int64)},
        {"document_places": np.array([0, 1, 2**40], np.int64)},
        {"document_places": np.array([-1, 0, 1], np.int64)},
        {"document_counts": np.array([1, 1], np.int64)},
        {"document_counts": np.array([1, 1, 3], np.int64)},
        {"document_counts": np.array([1, 1, 0], np.int64)},
        {"document_counts": np.zeros((3, 1), np.float32)},
    ],
)
def test_damaged_counts_are_refused(tmp_path, change):
    text_classifier().fit(["one two", "six"], [0, 1]).save(tmp_path / "m.sure")

    def spoil(tensors):
        for name, value in change.items():
            tensors.pop(name)
            if value is not None:
                tensors[name] = value

    change_tensors(tmp_path / "m.sure", spoil)
    with pytest.raises(FormatError, match=r"must have a tensor|must be a valid model"):
        load(tmp_path / "m.sure")


@pytest.mark.parametrize("documents", [None, -1, 2**32, 0.5])
def test_a_damaged_number_of_texts_is_refused(tmp_path, documents):
    text_classifier().fit(["one two", "six"], [0, 1]).save(tmp_path / "m.sure")
    change_settings(tmp_path / "m.sure", lambda settings: settings.update(documents=documents))
    with pytest.raises(FormatError, match="documents must be"):
        load(tmp_path / "m.sure")


def test_files_without_the_parameter_have_no_rarity(tmp_path):
    """Files of versions before it."""
    texts, y = corpus()
    clf = text_classifier(idf=False).fit(texts, y)
    clf.save(tmp_path / "m.sure")
    change_settings(tmp_path / "m.sure", lambda settings: settings["params"].pop("idf"))
    old = load(tmp_path / "m.sure")
    assert old.idf is False
    assert (old.decision_function(texts) == clf.decision_function(texts)).all()


def test_a_changed_setting_is_refused():
    texts, y = corpus()
    clf = text_classifier().fit(texts, y).set_params(idf=False)
    with pytest.raises(ValueError, match="idf must"):
        clf.partial_fit(texts, y)

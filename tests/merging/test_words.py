"""Words of hashed features, of several models."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surelearn import SureTextClassifier, merge
from surelearn.merging import Documents, MergeState, Words


def texts(words, **params):
    model = SureTextClassifier(passes=1, shuffle=False, n_features=16, **params)
    return model.fit(words, ["x", "y"] * (len(words) // 2))


def test_words_are_united_the_same_in_any_order():
    models = [texts(["fine film", "dull plot"]), texts(["zest bad", "good bad ugly"]),
              texts(["film noir", "noir film"])]  # fmt: skip
    one, other = merge(models), merge(models[::-1])
    found = one.vectorizer_.names(range(16))
    assert found == other.vectorizer_.names(range(16))
    assert one.vectorizer_.n_clashes_ == other.vectorizer_.n_clashes_ > 0
    for j, word in enumerate(found):
        known = {model.vectorizer_.names([j])[0] for model in models} - {None}
        assert word == (min(known, key=str.encode) if known else None)
    assert one.predict(["fine film"]).tolist() == ["x"]
    assert one.explain(top=1).feature.tolist()[0] in found


def test_words_of_one_model_stay_as_they_were():
    model = texts(["fine film", "dull plot"])
    assert [list(part) for part in merge([model]).vectorizer_.names_met()] == [
        list(part) for part in model.vectorizer_.names_met()
    ]
    unseen = SureTextClassifier(**model.get_params())
    for models in ([unseen, model], [model, unseen]):
        assert merge(models).vectorizer_.n_names_ == model.vectorizer_.n_names_ > 0
    silent = texts(["fine film", "dull plot"], keep_names=False)
    assert merge([silent, silent]).predict(["dull"]).tolist() == ["y"]


@pytest.mark.parametrize(
    ("features", "ends", "text", "shared", "message"),
    [
        ([1, 1], [1, 2], b"ab", [0, 0], "words must have one feature, end and clash flag each"),
        ([1, 2], [2], b"ab", [0, 0], "words must have one feature, end and clash flag each"),
        ([1, 2], [2, 1], b"ab", [0, 0], "word_ends must ascend to the end of words"),
        ([1, 2], [1, 2], b"ab", [0, 2], "word_clashes be 0 or 1"),
        ([1, 2], [1, 2], "é".encode(), [0, 0], "word_ends must not cut a UTF-8 character"),
    ],
)
def test_damaged_words_are_refused(features, ends, text, shared, message):
    numbers = [np.array(part, np.int64) for part in (features, ends)]
    bytes_ = [np.frombuffer(text, np.uint8), np.array(shared, np.uint8)]
    with pytest.raises(ValueError, match=message):
        Words.of(*numbers, *bytes_)


ROWS = st.lists(st.frozensets(st.integers(0, 9), max_size=5), max_size=6)
TEXTS = ["good film", "bad film", "good fun", "dull film"]


def counted(rows):
    found = Counter(feature for row in rows for feature in row)
    features = np.array(sorted(found), np.int64)
    return Documents(len(rows), features, np.array([found[j] for j in sorted(found)], np.int64))


def assert_same(a, b):
    assert [a.n, a.features.tolist(), a.counts.tolist()] == [
        b.n,
        b.features.tolist(),
        b.counts.tolist(),
    ]


@given(a=ROWS, b=ROWS, c=ROWS)
def test_counts_of_parts_are_those_of_the_whole(a, b, c):
    one, two, three = map(counted, (a, b, c))
    assert_same(one.plus(two).plus(three), counted([*a, *b, *c]))
    assert_same(one.plus(two.plus(three)), three.plus(two).plus(one))
    assert_same(one.plus(two).plus(two, -1), one)
    assert_same(Documents.none().plus(one), one)


@given(rows=ROWS)
def test_sound_arrays_are_taken_as_they_are(rows):
    documents = counted(rows)
    assert_same(Documents.of(*documents, n_features=10), documents)


@pytest.mark.parametrize(
    ("features", "counts", "message"),
    [
        ([0.5], [1], "one whole number for each feature"),
        ([0, 1], [1], "one whole number for each feature"),
        ([1, 1], [1, 1], "must ascend and lie within"),
        ([-1], [1], "must ascend and lie within"),
        ([10], [1], "must ascend and lie within"),
        ([1], [0], "from 1 to 3"),
        ([1], [4], "from 1 to 3"),
    ],
)
def test_unsound_arrays_are_refused(features, counts, message):
    with pytest.raises(ValueError, match=message):
        Documents.of(3, np.array(features), np.array(counts), n_features=10)


# ------------------------------------------------------------------------- models


def fitted(texts, **params):
    model = SureTextClassifier(n_features=64, random_state=0, idf=True, **params)
    return model.fit(texts, ["x", "y"] * (len(texts) // 2))


def documents_of(model):
    return model.vectorizer_.documents_met()


def test_merged_models_have_counted_the_texts_of_all():
    models = [fitted(TEXTS), fitted(TEXTS[:2]), fitted([*TEXTS, "more fun", "more film"])]
    whole = fitted([*TEXTS, *TEXTS[:2], *TEXTS, "more fun", "more film"])
    for order in (models, models[::-1], [models[1], merge(models[::2])]):
        assert_same(documents_of(merge(order)), documents_of(whole))
    assert merge(models).predict(TEXTS).tolist() == ["x", "y", "x", "y"]


def test_an_unfitted_model_has_counted_nothing():
    model = fitted(TEXTS)
    blank = SureTextClassifier(n_features=64, random_state=0, idf=True)
    assert_same(documents_of(merge([model, blank])), documents_of(model))


def test_models_with_and_without_rarity_are_no_pair():
    plain = SureTextClassifier(n_features=64, random_state=0, idf=False).fit(TEXTS, ["x", "y"] * 2)
    with pytest.raises(ValueError, match="idf"):
        merge([fitted(TEXTS), plain])


def test_texts_of_the_start_are_counted_once():
    start = fitted(TEXTS)
    others = [start.__class__(**start.get_params()).fit(TEXTS, ["x", "y"] * 2) for _ in range(2)]
    for i, other in enumerate(others):
        other.partial_fit([f"new{i} film"], ["x"])
    prior = MergeState.of(start)
    states = [MergeState.of(other, start=start) for other in others]
    merged = (states[0] + states[1]).result(prior)
    again = (states[1] + states[0]).result(prior)
    whole = fitted(TEXTS).partial_fit(["new0 film", "new1 film"], ["x", "x"])
    assert_same(documents_of(merged), documents_of(whole))
    assert_same(documents_of(again), documents_of(whole))

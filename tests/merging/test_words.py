"""Words of hashed features, of several models."""

from __future__ import annotations

import numpy as np
import pytest

from surelearn import SureTextClassifier, merge
from surelearn.merging import Words


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

"""Words of hashed features, of several models."""

from __future__ import annotations

from surelearn import SureTextClassifier, merge


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

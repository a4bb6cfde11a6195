"""A lone surrogate, half of a character, has one outcome: the text is refused by its number."""

from __future__ import annotations

import pytest

from surelearn import SureTextClassifier
from surelearn.text import HashingVectorizer

SURROGATE = "half of \ud83d a pair"


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"analyzer": "char"},
        {"analyzer": "char_wb", "ngram_range": (2, 3)},
        {"lowercase": False},
        {"strip_accents": "ascii"},
        {"strip_accents": str.upper},
        {"preprocessor": str.lower},
        {"tokenizer": str.split, "token_pattern": None},
        {"analyzer": str.split},
        {"token_pattern": r"[a-z]+"},
        {"stop_words": ["of"], "n_jobs": 2},
    ],
    ids=repr,
)
def test_a_lone_surrogate_has_one_outcome(options):
    said = "^text 2 must have no lone surrogate, got one at character 8.$"
    with pytest.raises(ValueError, match=said):
        HashingVectorizer(**options).transform(["fine", "naïve", SURROGATE, SURROGATE])


def test_a_lone_surrogate_of_an_analyzer_is_named():
    tokens = [["fine"], ["a", SURROGATE]]
    with pytest.raises(ValueError, match=r"^text 1 must have no lone surrogate, got one in 'half"):
        HashingVectorizer(analyzer=list).transform(tokens)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "margin"])
def test_a_model_names_the_text(method):
    clf = SureTextClassifier(random_state=0).fit(["fine", "dull"], [0, 1])
    with pytest.raises(ValueError, match=r"^text 1 must have no lone surrogate, got one at"):
        getattr(clf, method)(["fine", SURROGATE])
    for one in (clf.predict_one, clf.predict_proba_one, clf.explain):
        with pytest.raises(ValueError, match=r"^text 0 must have no lone surrogate, got one at"):
            one(SURROGATE)

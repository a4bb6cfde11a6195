"""The public estimators are scikit-learn's; what they do is in classes without it."""

from __future__ import annotations

import inspect
import io
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone, is_classifier

import surelearn
from surelearn import SureClassifier, SureTextClassifier, load
from surelearn.learners import file, scikit_learn
from surelearn.text import HashingVectorizer, NativeVectorizer

PUBLIC = [
    cls for cls in vars(scikit_learn).values()
    if isinstance(cls, type) and cls.__module__ == scikit_learn.__name__
]  # fmt: skip
TEXTS, LABELS = ["a fine film", "dull", "fine", "how dull"], ["good", "bad", "good", "bad"]


@pytest.mark.parametrize("cls", PUBLIC)
def test_every_class_is_public_and_scikit_learns(cls: type[Any]) -> None:
    assert getattr(surelearn, cls.__name__) is cls
    assert issubclass(cls, BaseEstimator)
    assert not any(name.startswith("sklearn") for name in map(_module, _bare(cls).__mro__))


def _module(cls: type[Any]) -> str:
    return cls.__module__


def _bare(cls: type[Any]) -> type[Any]:
    """The class that does the work."""
    return cls.__mro__[1]


@pytest.mark.parametrize("cls", PUBLIC)
def test_it_has_the_name_and_the_docs_of_the_class_behind(cls: type[Any]) -> None:
    assert cls.__name__ == _bare(cls).__name__
    assert cls.__doc__ == _bare(cls).__doc__
    assert inspect.signature(cls) == inspect.signature(_bare(cls))


def test_a_text_classifier_is_a_classifier() -> None:
    assert issubclass(SureTextClassifier, SureClassifier)
    assert is_classifier(SureTextClassifier())
    assert isinstance(clone(SureTextClassifier()), SureTextClassifier)


def test_a_loaded_model_is_public() -> None:
    clf = SureTextClassifier(random_state=0).fit(TEXTS, LABELS)
    saved = io.BytesIO()
    clf.save(saved)
    loaded = load(io.BytesIO(saved.getvalue()))
    assert type(loaded) is SureTextClassifier
    assert type(loaded.vectorizer_) is type(clf.vectorizer_) is HashingVectorizer
    assert repr(loaded) == repr(clf)
    assert loaded.partial_fit(["new words"], ["good"]).predict(["new"])[0] == "good"
    assert pickle.loads(pickle.dumps(loaded)).predict(TEXTS).tolist() == LABELS


def test_the_class_behind_does_the_same() -> None:
    """Bytes, labels and probabilities are the same with and without scikit-learn's classes."""
    public = SureTextClassifier(random_state=0).fit(TEXTS, LABELS)
    bare = file.class_named("SureTextClassifier")(random_state=0).fit(TEXTS, LABELS)
    assert not isinstance(bare, BaseEstimator)
    assert type(bare.vectorizer_) is NativeVectorizer
    saved = [io.BytesIO(), io.BytesIO()]
    public.save(saved[0])
    bare.save(saved[1])
    assert saved[0].getvalue() == saved[1].getvalue()
    assert np.array_equal(public.predict_proba(TEXTS), bare.predict_proba(TEXTS))
    assert repr(public) == repr(bare) == "SureTextClassifier(random_state=0)"


def test_arrays_are_checked_alike() -> None:
    """scikit-learn checks what is no plain array, and names the estimator in its errors."""
    public = SureClassifier(random_state=0).fit([[0, 1], [1, 0]], ["no", "yes"])
    bare = file.class_named("SureClassifier")(random_state=0).fit([[0, 1], [1, 0]], ["no", "yes"])
    assert bare.n_features_in_ == 2
    assert bare.predict([[0, 1]]) == public.predict([[0, 1]])
    said = []
    for clf in (public, bare):
        with pytest.raises(ValueError, match="X has 3 features, but SureClassifier is") as caught:
            clf.predict(np.zeros((1, 3)))
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_methods_need_variances_as_scikit_learns_need_attributes() -> None:
    first = file.class_named("SureClassifier")("pa1")
    assert not hasattr(first, "predict_proba")
    with pytest.raises(AttributeError, match="This 'SureClassifier' has no attribute 'margin'"):
        first.margin(TEXTS)
    assert hasattr(file.class_named("SureClassifier"), "margin")

"""Estimators are scikit-learn's; in the command, which must start at once, they do without it."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys

import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier

import surelearn
from surelearn import SureClassifier, SureTextClassifier, learners, load
from surelearn.text import HashingVectorizer

TEXTS, LABELS = ["a fine film", "dull", "fine", "how dull"], ["good", "bad", "good", "bad"]

#: Estimators: the public classes that train.
ESTIMATORS = [
    name for name in learners.__all__ if hasattr(getattr(surelearn, name, None), "get_params")
]

#: What a process does that is the command; it prints what differs with scikit-learn's classes.
LIGHT = """
import io, sys
import numpy as np
from surelearn import _lazy
_lazy.IS_COMMAND = True
from surelearn import SureClassifier, SureTextClassifier
from surelearn.text import NativeVectorizer
texts, labels = {texts}, np.array({labels})
clf = SureTextClassifier(random_state=0).fit(texts, labels)
assert type(clf.vectorizer_) is NativeVectorizer
saved = io.BytesIO()
clf.save(saved)
print(saved.getvalue().hex())
print(clf.predict_proba(texts).tobytes().hex())
print(repr(clf))
first = SureClassifier("pa1")
assert not hasattr(first, "predict_proba") and hasattr(SureClassifier, "margin")
try:
    first.margin(texts)
except AttributeError as error:
    print(error)
assert not any(name.startswith("sklearn") for name in sys.modules), "scikit-learn is imported"
try:
    SureClassifier(random_state=0).fit([[0, 1], [1, 0]], labels[:2]).predict([[0, 1, 2]])
except ValueError as error:
    print(error)
print(clf.score(texts, labels))
"""


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_is_scikit_learns(name: str) -> None:
    cls = getattr(surelearn, name)
    assert issubclass(cls, BaseEstimator)
    assert cls.__name__ == name
    assert repr(cls()) == f"{name}()"


def test_there_are_thirteen_estimators() -> None:
    assert len(ESTIMATORS) == 13


def test_a_text_classifier_is_a_classifier() -> None:
    assert issubclass(SureTextClassifier, SureClassifier)
    assert issubclass(SureTextClassifier, ClassifierMixin)
    assert is_classifier(SureTextClassifier())
    assert isinstance(clone(SureTextClassifier()), SureTextClassifier)


def test_a_loaded_model_is_scikit_learns() -> None:
    clf = SureTextClassifier(random_state=0).fit(TEXTS, LABELS)
    saved = io.BytesIO()
    clf.save(saved)
    loaded = load(io.BytesIO(saved.getvalue()))
    assert type(loaded) is SureTextClassifier
    assert type(loaded.vectorizer_) is type(clf.vectorizer_) is HashingVectorizer
    assert repr(loaded) == repr(clf)
    assert loaded.partial_fit(["new words"], ["good"]).predict(["new"])[0] == "good"
    assert pickle.loads(pickle.dumps(loaded)).predict(TEXTS).tolist() == LABELS


def test_the_command_does_the_same_without_it() -> None:
    """Bytes, probabilities, names and errors are the same."""
    clf = SureTextClassifier(random_state=0).fit(TEXTS, LABELS)
    saved = io.BytesIO()
    clf.save(saved)
    first = SureClassifier("pa1")
    with pytest.raises(AttributeError) as hidden:
        first.margin(TEXTS)
    rows = SureClassifier(random_state=0).fit([[0, 1], [1, 0]], LABELS[:2])
    with pytest.raises(ValueError, match="X has 3 features, but SureClassifier is") as wide:
        rows.predict([[0, 1, 2]])
    script = LIGHT.format(texts=TEXTS, labels=LABELS)
    said = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    assert said == [
        saved.getvalue().hex(),
        clf.predict_proba(TEXTS).tobytes().hex(),
        repr(clf),
        str(hidden.value),
        *str(wide.value).splitlines(),
        str(clf.score(TEXTS, LABELS)),
    ]

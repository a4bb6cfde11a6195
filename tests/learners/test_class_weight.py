"""Weights of classes: keys that are no class are refused wherever all classes are known."""

from __future__ import annotations

import json

import numpy as np
import pytest

from classifiers import X4, Y4, fingerprint
from surelearn import SureClassifier, SureTextClassifier, tune

TEXTS = ["a fine film", "a dull film", "how fine", "how dull"]
UNKNOWN = r"class_weight must have keys among the classes 'no', 'yes', got 'yess'"
OTHER_KIND = r"class_weight must have keys of the same type as the labels, such as 'no', got 1\."


@pytest.mark.parametrize("n_shards", [1, 2])
def test_a_key_that_is_no_class_is_refused(n_shards):
    clf = SureClassifier(n_shards=n_shards, scale=False).fit(X4, Y4)
    before = fingerprint(clf)
    with pytest.raises(ValueError, match=UNKNOWN):
        clf.set_params(class_weight={"yess": 2.0}).fit(X4, Y4)
    with pytest.raises(ValueError, match=r"classes 'no', 'yes', got 1, 'maybe'\."):
        clf.set_params(class_weight={"yes": 2.0, 1: 3.0, "maybe": 1.0}).fit(X4, Y4)
    assert fingerprint(clf) == before
    texts = SureTextClassifier(n_shards=n_shards, class_weight={"yess": 2.0})
    with pytest.raises(ValueError, match=UNKNOWN):
        texts.fit(TEXTS, Y4)


def test_a_weight_for_every_class_may_have_more_than_these():
    """As in scikit-learn: a fold may lack a rare class, and every class has what it was given."""
    some = SureClassifier(class_weight={"no": 2.0, "yes": 3.0}, random_state=0, scale=False).fit(
        X4, Y4
    )
    more = SureClassifier(
        class_weight={"no": 2.0, "yes": 3.0, "rare": 9.0}, random_state=0, scale=False
    )
    assert fingerprint(more.fit(X4, Y4)) == fingerprint(some)


def test_a_class_of_weight_0_is_a_class():
    X, y = np.vstack([X4, X4[:1]]), [*Y4, "ad"]
    for n_shards in (1, 2):
        params = {"random_state": 0, "n_shards": n_shards}
        clf = SureClassifier(class_weight={"ad": 0.0}, **params, scale=False).fit(X, y)
        assert fingerprint(clf) == fingerprint(SureClassifier(**params, scale=False).fit(X4, Y4))


def test_tune_refuses_it_as_fit_does():
    with pytest.raises(ValueError, match=UNKNOWN):
        tune(SureClassifier(class_weight={"yess": 2.0}, scale=False), X4, Y4)


def test_classes_may_come_later_in_a_stream_unless_they_are_declared():
    weights = {"no": 2.0, "later": 3.0}
    clf = (
        SureClassifier(class_weight=weights, scale=False)
        .partial_fit(X4, Y4)
        .learn_one(X4[0], "later")
    )
    assert clf.classes_.tolist() == ["later", "no", "yes"]
    declared = SureClassifier(class_weight=weights, scale=False)
    with pytest.raises(ValueError, match=r"classes 'no', 'yes', got 'later'"):
        declared.partial_fit(X4, Y4, classes=["no", "yes"])
    assert declared._fresh
    declared.partial_fit(X4, Y4, classes=["no", "yes", "later"]).partial_fit(X4, Y4)


def test_keys_of_another_kind_are_refused_at_once():
    for clf in (
        SureClassifier(class_weight={1: 2.0}, scale=False),
        SureTextClassifier(class_weight={1: 2.0}),
    ):
        X = X4 if type(clf) is SureClassifier else TEXTS
        with pytest.raises(TypeError, match=OTHER_KIND):
            clf.partial_fit(X, Y4)
        with pytest.raises(TypeError, match=OTHER_KIND):
            clf.learn_one(X[0], "no")
        assert clf._fresh
    numbers = SureClassifier(class_weight={"1": 2.0}, scale=False)
    with pytest.raises(TypeError, match=r"such as 0, got '1'\."):
        numbers.partial_fit(X4, [0, 1, 0, 1])
    truth = SureClassifier(class_weight={1: 2.0}, scale=False)  # True is 1
    truth.partial_fit(X4, [True, False, True, False])


# ------------------------------------------------------------------------------ files


def written(path, labels):
    rows = [{"x": i % 5, "z": -i % 3, "label": label} for i, label in enumerate(labels)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("n_shards", [1, 3])
def test_a_file_has_all_its_classes_after_one_pass(tmp_path, n_shards):
    path = written(tmp_path / "a.jsonl", ["no", "yes", "ad"] * 20)
    params = {"random_state": 0, "n_shards": n_shards, "passes": 3}
    with pytest.raises(ValueError, match=r"classes 'ad', 'no', 'yes', got 'yess'\. Declare"):
        SureClassifier(class_weight={"yess": 2.0}, **params, scale=False).fit_stream(path)
    SureClassifier(class_weight={"yes": 2.0, "ad": 0.0}, **params, scale=False).fit_stream(path)
    classes = ["ad", "later", "no", "yes"]
    SureClassifier(class_weight={"later": 2.0}, **params, scale=False).fit_stream(
        path, classes=classes
    )
    with pytest.raises(ValueError, match="got 'yess'"):
        SureClassifier(class_weight={"yess": 2.0}, **params, scale=False).fit_stream(
            path, classes=classes
        )


def test_a_file_that_is_refused_is_read_once(tmp_path):
    path = written(tmp_path / "a.jsonl", ["no", "yes"] * 20)
    passes = []
    clf = SureClassifier(class_weight={"yess": 2.0}, passes=5, scale=False)
    with pytest.raises(ValueError, match=UNKNOWN):
        clf.fit_stream(path, progress=lambda step: passes.append(step.number))
    assert set(passes) == {1}


def test_a_file_of_another_kind_is_refused_before_it_is_learnt(tmp_path):
    path = written(tmp_path / "a.jsonl", ["no", "yes"] * 20)
    clf = SureClassifier(class_weight={1: 2.0}, scale=False)
    with pytest.raises(TypeError, match=OTHER_KIND):
        clf.fit_stream(path)
    assert clf._fresh


def test_what_was_known_before_counts_in_a_file(tmp_path):
    clf = SureClassifier(class_weight={"old": 2.0}, scale=False)
    clf.fit_stream(written(tmp_path / "a.jsonl", ["old", "no"] * 20))
    clf.fit_stream(written(tmp_path / "b.jsonl", ["no", "yes"] * 20), resume=True)
    assert clf.classes_.tolist() == ["no", "old", "yes"]

"""Partitions, as every engine has them learnt."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from classifiers import X4, Y4, fingerprint
from surelearn import SureClassifier, SureTextClassifier
from surelearn.learners import partitions


class Parts:
    """An engine that holds its partitions in a list."""

    def __init__(self, *parts):
        self._parts = parts

    def tally(self, job):
        parts = enumerate(self._parts)
        return partitions.together([job.tally(y, number=i) for i, (_, y) in parts])

    def documents(self, job):
        parts = enumerate(self._parts)
        return partitions.counted([job.count(X, y, number=i) for i, (X, y) in parts])

    def total(self, job):
        parts = enumerate(self._parts)
        return partitions.gathered([job.state(X, y, number=i) for i, (X, y) in parts])


@pytest.mark.parametrize("classes", [None, ["a", "b"]])
def test_many_labels_are_refused(classes):
    parts = Parts((X4, [["a"], [], ["b"], ["a", "b"]]))
    with pytest.raises(ValueError, match="y must have one label for each row here, got rows of"):
        partitions.fit(SureClassifier(scale=False), parts, classes=classes)


TEXTS, LABELS = ["good film", "bad film", "good fun", "dull plot"], ["yes", "no", "yes", "no"]


def test_partitions_weigh_words_by_the_texts_of_all():
    clf = SureTextClassifier(idf=True, n_features=64, random_state=0, n_shards=2, passes=2)
    model = partitions.fit(clf, Parts((TEXTS[:2], LABELS[:2]), (TEXTS[2:], LABELS[2:])))
    want = clf.fit(TEXTS, LABELS)
    assert fingerprint(model) == fingerprint(want)
    assert model.vectorizer_.n_documents_ == 4
    assert (model.vectorizer_.idf_ == want.vectorizer_.idf_).all()
    assert (model.decision_function(TEXTS) == want.decision_function(TEXTS)).all()


@pytest.mark.parametrize("classes", [None, ["no", "yes"]])
def test_passes_are_chosen_by_the_rows_of_all_partitions(classes):
    """As `fit` chooses them; rows of weight 0 are none."""
    texts, labels = TEXTS * 500, LABELS * 500
    clf = SureTextClassifier(n_features=64, random_state=0, n_shards=2, merge_every=2)
    model = partitions.fit(
        clf, Parts((texts[:1000], labels[:1000]), (texts[1000:], labels[1000:])), classes=classes
    )
    assert model.n_iter_ == 5
    assert fingerprint(model) == fingerprint(clf.fit(texts, labels))
    assert model.get_params() == clf.get_params()


def test_partitions_with_few_rows_of_each_class_make_the_most_passes():
    y = np.arange(4_000) % 40
    X = sparse.eye_array(40, format="csr", dtype=np.float32)[y]
    clf = SureClassifier(n_shards=21, merge_every=5, random_state=0, scale=False)
    parts = [(X[rows], y[rows]) for rows in np.array_split(np.arange(len(y)), 21)]
    model = partitions.fit(clf, Parts(*parts))
    assert model.n_iter_ == 10
    assert fingerprint(model) == fingerprint(clf.fit(X, y))


def test_states_may_come_in_any_order_and_grouping():
    clf = SureClassifier(random_state=0, scale=False)
    states = [
        partitions.shard_state(clf, X4, Y4, classes=["ad", "no", "yes"], number=i) for i in range(4)
    ]
    models = [
        partitions.fitted(clf, some)
        for some in (states, states[::-1], [states[2] + states[0], states[3] + states[1]])
    ]
    first, *others = map(fingerprint, models)
    assert all(other == first for other in others)


def test_texts_of_weight_0_are_not_counted_in_partitions():
    clf = SureTextClassifier(idf=True, class_weight={"no": 0.0})
    assert partitions.count_documents(clf, TEXTS, LABELS, [1.0, 1.0, 0.0, 1.0]).n == 1
    assert partitions.count_documents(clf, TEXTS[1:2], ["no"]).n == 0
    assert partitions.count_documents(SureTextClassifier(idf=False), TEXTS, LABELS) is None
    assert partitions.count_documents(SureClassifier(scale=False), X4, Y4) is None


def test_counts_of_all_shards_are_asked_for():
    clf = SureTextClassifier(idf=True)
    with pytest.raises(ValueError, match="documents must be given with idf=True, got None"):
        partitions.shard_state(clf, TEXTS, LABELS, classes=["no", "yes"], number=0)
    documents = partitions.count_documents(clf, TEXTS, LABELS)
    state = partitions.shard_state(
        clf, TEXTS, LABELS, classes=["no", "yes"], number=0, documents=documents
    )
    with pytest.raises(ValueError, match="Add up count_documents of all shards"):
        partitions.fitted(clf, state)
    assert partitions.fitted(clf, state, documents=documents).vectorizer_.n_documents_ == 4


def test_partitions_have_all_classes_together():
    parts = Parts((X4, Y4), (X4, ["ad", "no", "ad", "no"]))
    for weights in ({"ad": 0.0, "yes": 2.0}, {"no": 3.0}):
        clf = SureClassifier(class_weight=weights, random_state=0, n_shards=2, scale=False)
        want = clf.fit(np.vstack([X4, X4]), [*Y4, "ad", "no", "ad", "no"])
        if 0.0 not in weights.values():  # rows of weight 0 are dropped before a fit is cut
            assert fingerprint(partitions.fit(clf, parts)) == fingerprint(want)
        assert partitions.fit(clf, parts).classes_.tolist() == want.classes_.tolist()
    with pytest.raises(ValueError, match=r"classes 'ad', 'no', 'yes', got 'yess'"):
        partitions.fit(SureClassifier(class_weight={"yess": 2.0}, scale=False), parts)
    classes = ["ad", "no", "yes"]
    with pytest.raises(ValueError, match=r"classes 'ad', 'no', 'yes', got 'yess'"):
        partitions.fit(
            SureClassifier(class_weight={"yess": 2.0}, scale=False), parts, classes=classes
        )
    with pytest.raises(
        TypeError, match=r"partition 0: class_weight must have keys of the same type"
    ):
        partitions.fit(SureClassifier(class_weight={1: 2.0}, scale=False), parts)


def test_partitions_without_rows_have_no_say_in_the_type_of_labels():
    words = partitions.LabelCounts(1, np.array(["no", "yes"]), np.array([3, 4]), 1)
    empty = partitions.LabelCounts(0, np.array([]), np.array([], np.int64), 1)
    found = partitions.together([None, empty, words, empty, words, None])
    assert (found.number, found.n_parts) == (1, 2)
    assert (found.classes.tolist(), found.counts.tolist()) == (["no", "yes"], [6, 8])
    assert partitions.together([None, empty]) is None


def test_no_states_are_refused():
    with pytest.raises(ValueError, match=r"^states must have at least one state, got none\.$"):
        partitions.fitted(SureClassifier(scale=False), [])


def test_classes_without_any_row_cannot_be_balanced():
    with pytest.raises(ValueError, match="fit needs at least one row, got none in any p"):
        partitions.fit(
            SureClassifier(class_weight="balanced", scale=False), Parts(), classes=["a", "b"]
        )

"""Shards of texts are counted first, and weighed by the counts of all."""

from __future__ import annotations

import numpy as np

from surelearn import SureTextClassifier
from surelearn.learners.row_learner import ShardRows, shard_of
from surelearn.learners.text_shards import counted_texts, weighed_by
from surelearn.read import Labels
from surelearn.text import HashingVectorizer

TEXTS, LABELS = ["good film", "bad film", "good fun", "dull plot"], ["yes", "no", "yes", "no"]
SIZE = 64


def classifier(**params):
    return SureTextClassifier(idf=True, n_features=SIZE, random_state=0, **params)


def shard(texts, labels):
    classes = np.array(["no", "yes"])
    return shard_of(
        classifier(),
        ShardRows(texts, Labels.of(np.array(labels)), None, 0),
        classes=classes,
        counts=None,
    )


def test_texts_are_counted_by_an_estimator_that_is_not_changed():
    clf = classifier(class_weight={"no": 0.0})
    found = counted_texts(clf, TEXTS, LABELS, None)
    assert found.n == 2
    assert sorted(found.counts.tolist()) == [1, 1, 2]
    assert not hasattr(clf, "vectorizer_")


def test_a_shard_is_weighed_by_the_texts_of_others():
    documents = counted_texts(classifier(), TEXTS, LABELS, None)
    part = weighed_by(shard(TEXTS[:2], LABELS[:2]), documents)
    options = {"n_features": SIZE, "alternate_sign": False, "dtype": np.float32}
    whole = HashingVectorizer(idf=True, log_counts=True, **options).fit_transform(TEXTS)
    assert (whole[:2] != part.block.X).nnz == 0
    assert len(part.block.rows) == 2


def test_counts_of_all_are_no_part_of_what_a_shard_has_learnt():
    documents = counted_texts(classifier(), TEXTS, LABELS, None)
    part = shard(TEXTS[:2], LABELS[:2])
    assert part.trainable.reader.documents() is not None
    assert weighed_by(part, documents).trainable.reader.documents() is None


def test_a_shard_without_texts_stays_one():
    documents = counted_texts(classifier(), TEXTS, LABELS, None)
    assert weighed_by(shard([], []), documents).block.size == 0

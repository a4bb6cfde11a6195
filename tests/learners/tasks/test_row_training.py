"""Rows of a stream: learnt as by partial_fit, weighed and counted once."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import surelearn
from labelled import data, lists
from labelled import model as labelled
from streaming import bits, model, records, topical, write
from surelearn import SureClassifier, read
from surelearn.learners.labels import row_labels
from surelearn.learners.row_input import with_values
from surelearn.learners.tasks.row_block import RowBlock
from surelearn.learners.tasks.row_settings import RowSettings
from surelearn.learners.tasks.row_training import RowTrainable
from surelearn.merging import Evidence
from surelearn.rows import rows_of

pytestmark = pytest.mark.usefixtures("small_blocks")


@pytest.mark.parametrize("class_weight", [None, "balanced", {"class 0": 3.0, "class 2": 0.0}])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_one_pass_is_what_partial_fit_learns(tmp_path, n_classes, class_weight):
    if isinstance(class_weight, dict) and n_classes == 2:  # keys must be classes
        class_weight = {"class 0": 3.0}
    rows = list(records(300, n_classes=n_classes))
    path = write(tmp_path / "a.jsonl", rows)
    streamed = model(class_weight=class_weight).fit_stream(path, weight="weight")
    whole = model(class_weight=class_weight).partial_fit(
        [row["text"] for row in rows],
        [row["label"] for row in rows],
        sample_weight=[row["weight"] for row in rows],
    )
    assert bits(streamed) == bits(whole)


def test_later_passes_are_in_another_order_unless_told_otherwise(reviews):
    shuffled = bits(model(passes=3).fit_stream(reviews))
    assert bits(model(passes=3, shuffle=False).fit_stream(reviews)) != shuffled
    other = model(passes=3).set_params(random_state=1).fit_stream(reviews)
    assert bits(other) != shuffled
    rows = [json.loads(line) for line in reviews.read_text().splitlines()]
    plain = model(passes=3, shuffle=False, idf=False).fit_stream(reviews)
    by_hand = model(idf=False)  # texts that come again would be counted again
    for _ in range(3):
        by_hand.partial_fit([row["text"] for row in rows], [row["label"] for row in rows])
    assert plain.coef_.tobytes() == by_hand.coef_.tobytes()
    assert len(plain.mistakes_) == 3


def test_a_row_counts_once_and_balances_by_the_first_pass(reviews):
    fitted = model(passes=3, class_weight="balanced").fit_stream(reviews)
    assert fitted._model.counts.sum() == 300


def test_rows_of_numbers(tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 3))
    y = (X[:, 0] > 0).astype(int)
    rows = [
        {"a": float(x[0]), "b": float(x[1]), "c": float(x[2]), "label": int(k)}
        for x, k in zip(X, y, strict=True)
    ]
    path = write(tmp_path / "numbers.jsonl", rows)
    streamed = SureClassifier(random_state=0, scale=False).fit_stream(path, passes=1)
    whole = SureClassifier(random_state=0, scale=False).partial_fit(X, y)
    assert bits(streamed) == bits(whole)
    assert streamed.projection_ == "covariance"
    cached = SureClassifier(random_state=0, scale=False).fit_stream(path, passes=4)
    assert bits(cached) == bits(
        SureClassifier(random_state=0, scale=False).fit_stream(path, passes=4, cache_bytes=0)
    )


def test_classes_can_be_declared_and_appear_late(tmp_path):
    path = write(tmp_path / "a.jsonl", records(200, n_classes=3))
    declared = model().fit_stream(path, classes=["class 0", "class 1", "class 2", "other"])
    assert declared.classes_.tolist() == ["class 0", "class 1", "class 2", "other"]
    coded = model(multiclass="ecoc", rule="arow").fit_stream(path)
    assert len(coded.classes_) == 3


def test_one_class_nothing_or_wrong_kind_is_refused(tmp_path):
    one = write(tmp_path / "one.jsonl", [{"text": "a", "label": "x"}] * 3)
    with pytest.raises(ValueError, match="fit_stream needs at least two classes, got 1 class: 'x'"):
        model().fit_stream(one)
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    with pytest.raises(read.BadInput, match="at least one record, got an empty file"):
        model().fit_stream(empty)
    empty.write_text("{\n" * 3)
    with pytest.raises(read.BadInput, match="at least one record"):
        model().fit_stream(empty, skip_bad=True)
    with pytest.raises(ValueError, match=r"must be rows of numbers, got texts\. Use SureText"):
        SureClassifier(scale=False).fit_stream(one)
    with pytest.raises(ValueError, match="checkpoint_every must be rows or a time such as '30s'"):
        model().fit_stream(one, checkpoint_every="soon")
    numbers = write(tmp_path / "n.jsonl", [{"a": 1.0, "label": "x"}])
    with pytest.raises(ValueError, match="must have a text, got rows of numbers"):
        model().fit_stream(numbers)


def test_labels_of_csv_are_what_the_model_knows(tmp_path):
    """Labels 1 and 2 alone look like numbers."""
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("text,label\n" + "good,1\nbad,2\nodd,3a\n" * 5)
    second.write_text("text,label\n" + "good,1\nbad,2\n" * 5)
    fitted = model(passes=3).fit_stream(first)
    assert surelearn.evaluate(fitted, second).accuracy == 1.0
    assert fitted.fit_stream(second, resume=True).classes_.tolist() == ["1", "2", "3a"]


def test_the_order_of_labels_in_a_record_is_irrelevant(tmp_path):
    rows = list(topical(150))
    mixed = [{**row, "label": row["label"][::-1] + row["label"][:1]} for row in rows]
    for passes in (1, 3):
        params = {"passes": passes, "shuffle": False}  # longer lists may end a block elsewhere
        whole = model(**params).fit_stream(write(tmp_path / "a.jsonl", rows))
        again = model(**params).fit_stream(write(tmp_path / "b.jsonl", mixed))
        assert bits(again) == bits(whole)
    texts, labels = [row["text"] for row in rows], [row["label"] for row in rows]
    assert bits(model().partial_fit(texts, labels)) == bits(
        model().fit_stream(tmp_path / "b.jsonl")
    )


def test_records_of_many_labels_that_are_held_out_are_judged_as_sets():
    X, Y = data()
    clf = labelled().fit(X[:100], Y[:100])
    block = RowBlock(rows_of(X), with_values(row_labels(lists(Y))[0], clf.classes_), None, X)
    trainable = RowTrainable(RowSettings.of(clf.get_params(deep=False)), None)
    assert block.size == 120
    way = Evidence(math.inf)
    trainable.begin_round(block, clf.model_, way)
    [held] = trainable.end_round(clf.model_, way, 20).held
    assert held.right.tolist() == (clf.predict(X[100:]) == Y[100:]).all(axis=1).tolist()
    assert 0 < held.right.sum() < 20

"""Promises 4 and 5: a refused call or a record of weight 0 leaves the bytes of the saved model."""

from __future__ import annotations

import io
from typing import Any, NamedTuple

import numpy as np
import pytest

from surelearn import (
    MulticlassSVM,
    SoftmaxClassifier,
    SureClassifier,
    SureGraphClassifier,
    SureKernelClassifier,
    SureRanker,
    SureTagger,
    SureTextClassifier,
    load,
    rules,
)
from surelearn.graph import Graph

#: A weight that leaves no variance: the update of such a record is refused.
HUGE = 1e200


class Calls(NamedTuple):
    """An online learner and records for `partial_fit`: known ones, and one full of what is new."""

    make: Any
    known: Any
    records: list[Any]  # (X, y) of one record each
    secret: tuple[Any, Any]  # a record of which nothing may be left
    other: Any = 1  # a label of another type


def graph(value, kind):
    return Graph([[value], [value]], [(0, 1)], edge_types=[kind])


def arow(kind, **options):
    return lambda: kind(rules.AROW(), **options)


TEXTS = Calls(
    arow(SureTextClassifier),
    None,
    [(["a good film"], ["g"]), (["a bad film"], ["b"])],
    (["topsecret"], ["g"]),
)
LEARNERS = {
    "text": TEXTS,
    "text, new label": TEXTS._replace(secret=(["topsecret"], ["topsecret"])),
    "text, no idf": TEXTS._replace(make=arow(SureTextClassifier, idf=False)),
    "text, two threads": TEXTS._replace(make=arow(SureTextClassifier, n_jobs=2)),
    "text, averaged": TEXTS._replace(make=arow(SureTextClassifier, average=True)),
    "numbers": Calls(
        arow(SureClassifier, projection="precision"),
        None,
        [([[1.0, 2.0]], ["g"]), ([[2.0, 1.0]], ["b"])],
        ([[3.0, 1.0]], ["topsecret"]),
    ),
    "names": Calls(
        arow(SureClassifier),
        None,
        [([{"x": 1.0}], ["g"]), ([{"y": 1.0}], ["b"])],
        ([{"topsecret": 1.0}], ["g"]),
    ),
    "many labels": Calls(
        arow(SureClassifier, projection="precision"),
        None,
        [([[1.0, 2.0]], [["g"]]), ([[2.0, 1.0]], [["b"]])],
        ([[3.0, 1.0]], [["b", "topsecret"]]),
        [1],
    ),
    "tags": Calls(
        arow(SureTagger),
        None,
        [([["a", "b"]], [["X", "Y"]]), ([["b"]], [["Y"]])],
        ([["topsecret", "b"]], [["X", "topsecret"]]),
        [1, 1],
    ),
    "tags of pairs": Calls(
        arow(SureTagger, templates=["w[0]", "B:w[0]"]),
        None,
        [([["a", "b"]], [["X", "Y"]]), ([["b"]], [["Y"]])],
        ([["b", "topsecret"]], [["X", "Y"]]),
        [1, 1],
    ),
    "hashed tags": Calls(
        arow(SureTagger, n_features=64),
        None,
        [([["a", "b"]], [["X", "Y"]]), ([["b"]], [["Y"]])],
        ([["topsecret", "b"]], [["X", "topsecret"]]),
        [1, 1],
    ),
    "graphs": Calls(
        arow(SureGraphClassifier, projection="precision"),
        None,
        [([graph(1.0, "u")], [["a", "b"]]), ([graph(-1.0, "u")], [["b", "b"]])],
        ([graph(2.0, "topsecret")], [["topsecret", "a"]]),
        [1, 1],
    ),
}
every = pytest.mark.parametrize("name", LEARNERS)


def saved(model) -> Any:
    """The bytes of a model's file; before there is a model, its attributes."""
    if "_model" not in vars(model):
        return sorted(vars(model))
    file = io.BytesIO()
    model.save(file)
    return file.getvalue()


def learnt(calls):
    model = calls.make()
    for X, y in calls.records:
        model.partial_fit(X, y)
    return model


def joined(*records):
    return tuple([one for part in parts for one in part] for parts in zip(*records, strict=True))


@every
@pytest.mark.parametrize("fresh", [True, False])
def test_a_record_of_weight_zero_leaves_the_bytes(name, fresh):
    calls = LEARNERS[name]
    model = calls.make() if fresh else learnt(calls)
    before = saved(model)
    model.partial_fit(*calls.secret, sample_weight=[0.0])
    assert saved(model) == before
    if hasattr(model, "learn_one"):
        model.learn_one(calls.secret[0][0], calls.secret[1][0], sample_weight=0.0)
        assert saved(model) == before


@every
@pytest.mark.parametrize("fresh", [True, False])
def test_a_refused_record_leaves_the_bytes(name, fresh):
    calls = LEARNERS[name]
    model = calls.make() if fresh else learnt(calls)
    if fresh:
        model.partial_fit(*calls.records[0])
        model.partial_fit(*calls.records[1], sample_weight=[0.0])
    before, (X, y) = saved(model), calls.secret
    (own,) = y
    classes = ["topsecret", "else"]
    for wrong in (
        lambda: model.partial_fit(X, y, sample_weight=[HUGE], classes=classes),
        lambda: model.partial_fit(X, [calls.other]),
        lambda: model.partial_fit(X, y, classes=[1]),
        lambda: model.partial_fit(X, y, sample_weight=[-1.0]),
        lambda: model.partial_fit(X, [own, own]),
        lambda: model.partial_fit(X, [None]),
    ):
        with pytest.raises((ValueError, TypeError)):
            wrong()
        assert saved(model) == before
    assert b"topsecret" not in before


@every
def test_a_collapse_in_the_first_call_leaves_no_model(name):
    calls = LEARNERS[name]
    model = calls.make()
    before, (X, y) = saved(model), calls.records[0]
    with pytest.raises(ValueError, match="0 must leave finite weights"):
        model.partial_fit(X, y, sample_weight=[HUGE], classes=["a", "b", "X", "Y", "g"])
    assert saved(model) == before


@pytest.mark.parametrize(
    "name", [name for name in LEARNERS if hasattr(LEARNERS[name].make(), "learn_one")]
)
@pytest.mark.parametrize("fresh", [True, False])
def test_a_refused_single_row_leaves_the_bytes(name, fresh):
    calls = LEARNERS[name]
    model = calls.make() if fresh else learnt(calls)
    before, ((x,), (y,)) = saved(model), calls.secret
    for label, weight in ((y, -1.0), (None, 1.0), (y, np.inf), *([] if fresh else [(y, HUGE)])):
        with pytest.raises((ValueError, TypeError)):
            model.learn_one(x, label, sample_weight=weight)
        assert saved(model) == before
    if not fresh:
        with pytest.raises(TypeError):
            model.learn_one(x, calls.other)
        assert saved(model) == before


@pytest.mark.parametrize("name", ["text", "text, two threads", "text, no idf", "numbers", "names"])
@pytest.mark.parametrize("fresh", [True, False])
def test_a_collapse_leaves_what_the_rows_before_it_have_taught(name, fresh):
    calls = LEARNERS[name]
    model, want = (calls.make(), calls.make()) if fresh else (learnt(calls), learnt(calls))
    rows = calls.records[::-1]
    with pytest.raises(ValueError, match="row 2 must leave finite weights"):
        model.partial_fit(*joined(*rows, calls.secret, calls.secret), sample_weight=[1, 1, HUGE, 1])
    want.partial_fit(*joined(*rows))
    assert saved(model) == saved(want)


@pytest.mark.parametrize("name", ["tags", "tags of pairs", "hashed tags"])
def test_a_collapse_leaves_no_word_of_the_sequences_after_it(name):
    calls = LEARNERS[name]
    model = learnt(calls)
    X, _ = calls.secret
    records = joined(([["new", "b"]], [["X", "Y"]]), (X, [["X", "Y"]]))
    with pytest.raises(ValueError, match="sequence 1 must leave finite weights"):
        model.partial_fit(*records, sample_weight=[1, HUGE])
    assert b"topsecret" not in saved(model)
    assert name == "hashed tags" or b"w[0]=new" in saved(model)
    again = load(io.BytesIO(saved(model)))
    assert saved(again) == saved(model)
    for one in (model, again):
        one.partial_fit([["topsecret", "b", "new"]], [["X", "Y", "X"]])
    assert saved(again) == saved(model)


def test_a_collapse_of_a_full_covariance_leaves_the_bytes():
    model = SureClassifier("arow", covariance="full", scale=False).partial_fit(
        [[1.0, 2.0], [2.0, 1.0]], [0, 1]
    )
    before = saved(model)
    with pytest.raises(ValueError, match="row 0 must leave finite weights"):
        model.partial_fit([[1e200, 1.0]], [2])
    assert saved(model) == before


def test_a_lone_surrogate_leaves_no_word():
    model = learnt(TEXTS._replace(make=arow(SureTextClassifier, analyzer="char")))
    before = saved(model)
    for texts in (["topsecret", "a\ud800a"], ["a\ud800a", "topsecret"]):
        with pytest.raises(ValueError, match="surrogate"):
            model.partial_fit(texts, ["g", "b"])
        assert saved(model) == before


ranker_ = arow(SureRanker, projection="precision")
GROUPS = ([[0.0, 1.0], [1.0, 0.0]], [0, 1])


@pytest.mark.parametrize("fresh", [True, False])
def test_groups_leave_nothing(fresh):
    ranker = ranker_()
    if not fresh:
        ranker.partial_fit(*GROUPS, group=[2])
    before, X = saved(ranker), GROUPS[0]
    for y in ([0, 1], [0, 0]):  # the second has no right candidate
        ranker.partial_fit(X, y, group=[2], sample_weight=[0.0])
        assert saved(ranker) == before
    for y, weight in (([0, 1], [HUGE]), ([0, -1], None), ([0], None)):
        with pytest.raises(ValueError, match=r"must|inconsistent"):
            ranker.partial_fit(X, y, group=[2], sample_weight=weight)
        assert saved(ranker) == before


def test_a_collapse_leaves_what_the_groups_before_it_have_taught():
    ranker, want, X = ranker_(), ranker_(), GROUPS[0]
    y, weight = [0, 0, 1, 0, 0, 1, 0, 0], [1, 1, HUGE, 1]
    with pytest.raises(ValueError, match="group 2 must leave finite weights"):
        ranker.partial_fit(X * 4, y, group=[2] * 4, sample_weight=weight)
    want.partial_fit(X * 2, y[:4], group=[2] * 2)
    assert saved(ranker) == saved(want)


@pytest.mark.parametrize("kind", [SureKernelClassifier, SoftmaxClassifier, MulticlassSVM])
@pytest.mark.parametrize("fresh", [True, False])
def test_classifiers_of_batches_leave_nothing(kind, fresh):
    model = kind(gamma=1.0) if kind is SureKernelClassifier else kind()
    if not fresh:
        model.partial_fit([[0.0, 1.0], [1.0, 0.0], [3.0, 1.0]], ["a", "b", "a"])
    before = saved(model)
    if kind is not SureKernelClassifier or not fresh:
        model.partial_fit([[1.0, 1.0]], ["topsecret"], sample_weight=[0.0])
    assert saved(model) == before
    for y, weight in ((["a", "b"], None), ([None], None), (["a"], [-1.0])):
        with pytest.raises(ValueError, match=r"must|inconsistent"):
            model.partial_fit([[1.0, 1.0]], y, sample_weight=weight)
        assert saved(model) == before

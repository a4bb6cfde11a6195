"""Taggers trained apart as one: features and labels matched by name, weights summed."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from surelearn import SureClassifier, SureTagger, merge
from surelearn.constraints import Sequential
from surelearn.learners.tasks.structures import StructureMergeState
from tagged import (
    LABELS,
    PAIRED,
    WAYS,
    as_kind,
    by_name,
    content,
    corpus,
    opened,
    tagger,
)

HOWS = ["evidence", "bayes", "weighted", "kl", "uniform"]


def apart(n=3, rule="variance", **options):
    """Models of different parts, whose labels and words differ."""
    models = []
    for seed in range(n):
        X, y = corpus(12, seed)
        X, y = [*X, [f"word{seed}", "dog"]], [*y, [f"L{seed % 2}", "N"]]
        models.append(tagger(rule, **options).fit(X, y))
    return models


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("average", [False, True])
def test_the_order_of_models_changes_no_weight(how, average):
    models = apart(average=average)
    one = merge(models, how=how)
    other = merge(models[::-1], how=how)
    assert one.features_.names != other.features_.names
    assert by_name(one) == by_name(other)
    assert one.classes_.tolist() == ["A", "D", "L0", "L1", "N", "V"]
    assert one.n_updates_ == sum(model.n_updates_ for model in models)
    assert one.mistakes_.tolist() == [sum(model.mistakes_[0] for model in models)]
    X, y = corpus(seed=9)
    assert one.score(X, y) > 0.9


@pytest.mark.parametrize("how", ["bayes", "weighted", "kl"])
def test_merged_weights_are_sums_of_precisions(how):
    """By the formulas, cell by cell; what a model has never met is at its prior there."""
    models = apart(average=False, dtype="float64", initial_variance=2.0)
    found, _ = by_name(merge(models, how=how))
    tables = [by_name(model)[0] for model in models]
    n = len(models)
    for cell, value in found.items():
        if cell[0] == "mean":
            continue
        rest = cell[1:]
        precisions = [1 / table.get(("sigma", *rest), 2.0) for table in tables]
        means = [table.get(("mean", *rest), 0.0) for table in tables]
        total = sum(precisions) - (n - 1) / 2.0 if how == "bayes" else sum(precisions)
        weighted = sum(p * m for p, m in zip(precisions, means, strict=True))
        assert found["mean", *rest] == pytest.approx(weighted / total, rel=1e-9, abs=1e-12)
        assert value == pytest.approx((n if how == "kl" else 1) / total, rel=1e-9)


def test_weights_of_pairs_are_matched_by_name():
    models = apart(templates=PAIRED, average=False, dtype="float64")
    one, other = merge(models), merge(models[::-1])
    assert sorted(one.features_.pair_names) == sorted(other.features_.pair_names)
    assert one.features_.pair_names != other.features_.pair_names
    for x in [*corpus(5)[0], ["word0", "dog"], ["word2", "dog", "run"]]:
        a, b = one.chain(x), other.chain(x)
        np.testing.assert_allclose(a.A, b.A, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(a.U, b.U, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("how", HOWS)
def test_one_model_is_itself(way, how):
    if way == "first order" and how != "uniform":
        how = "uniform"
    model = tagger(**WAYS[way]).fit(*corpus())
    model.calibrate(*corpus(5, seed=2))
    assert content(merge([model], how=how)) == content(model)


@pytest.mark.parametrize("way", ["default", "pairs", "hashed pairs", "value"])
def test_an_unfitted_model_adds_nothing(way):
    model = tagger(**WAYS[way]).fit(*corpus())
    alone = content(merge([model]))
    assert content(merge([model, tagger(**WAYS[way])])) == alone
    assert content(merge([tagger(**WAYS[way]), model, tagger(**WAYS[way])])) == alone
    declared = tagger(**WAYS[way]).partial_fit([], [], classes=LABELS)
    merged = merge([model, declared])
    assert by_weights(merged) == by_weights(model)


def by_weights(model):
    return [model.coef_.tolist(), model.sigma_.tolist(), model.transitions_.tolist()]


def test_merging_two_labels_works():
    X, y = [["x", "z"], ["z", "x"]] * 3, [["P", "Q"], ["Q", "P"]] * 3
    models = [SureTagger(random_state=seed).fit(X, y) for seed in (0, 1)]
    assert merge(models).predict(X) == y
    assert by_name(merge(models)) == by_name(merge(models[::-1]))


def test_merged_models_go_on_learning():
    X, y = corpus()
    model = merge(apart())
    model.partial_fit([*X, ["a", "zebra"]], [*y, ["D", "Q"]])
    assert "Q" in model.classes_
    assert content(opened(content(model))) == content(model)
    assert merge([model, *apart(1)]).score(X, y) > 0.9


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"rule": "variance"}, {"rule": "stdev"}),
        ({"templates": ["w[0]"]}, {"templates": ["w[0]", "w[1]"]}),
        ({"n_features": 64}, {"n_features": 32}),
        ({"n_features": 64}, {"n_features": None}),
        ({"columns": ["v"], "templates": ["v[0]"]}, {"columns": ["w"], "templates": ["v[0]"]}),
        ({"constraints": "single"}, {"constraints": Sequential(2)}),
        ({"projection": "precision"}, {"projection": "covariance"}),
        ({"dtype": "float32"}, {"dtype": "float64"}),
        ({"average": True}, {"average": False}),
        ({"initial_variance": 1.0}, {"initial_variance": 2.0}),
    ],
    ids=lambda options: ",".join(options),
)
def test_different_settings_are_refused_showing_both(one, other):
    name = next(iter(one))
    X, y = corpus(6)
    first = tagger(**one).fit(X, y)
    second = tagger(**other)
    if name != "columns":
        second.fit(X, y)
    shown = rf"models must have the same {name} to be merged, got .+ and .+\."
    with pytest.raises(ValueError, match=shown):
        merge([first, second])


def test_models_of_different_tokens_are_refused():
    X, y = corpus(6)
    words, dicts = tagger().fit(X, y), tagger().fit(as_kind(X, "dicts"), y)
    pairs = tagger().fit(as_kind(X, "tuples"), y)
    with pytest.raises(ValueError, match="same kind to be merged, got 'words' and 'dicts'"):
        merge([words, dicts])
    with pytest.raises(ValueError, match="same columns to be merged"):
        merge([words, pairs])
    with pytest.raises(ValueError, match="same kind to be merged, got 'SureTagger' and 'SureClas"):
        merge([words, SureClassifier()])
    numbers = tagger().fit(X, [[LABELS.index(tag) for tag in tags] for tags in y])
    with pytest.raises(TypeError, match="models must have labels of one type to be merged"):
        merge([words, numbers])
    with pytest.raises(NotFittedError, match="models must have a fitted one"):
        merge([tagger(), tagger()])
    words.set_params(templates=["w[0]"])
    with pytest.raises(ValueError, match="templates must stay"):
        merge([words])


@pytest.mark.parametrize("rule", ["perceptron", "pa1"])
def test_first_order_rules_merge_by_plain_averages(rule):
    models = apart(rule=rule, average=False, dtype="float64")
    for how in ("bayes", "weighted", "kl"):
        with pytest.raises(ValueError, match="how must be 'evidence' or 'uniform' for rule"):
            merge(models, how=how)
    tables = [by_name(model)[0] for model in models]
    found, _ = by_name(merge(models, how="uniform"))
    for cell, value in found.items():
        assert value == pytest.approx(np.mean([t.get(cell, 0.0) for t in tables]), abs=1e-12)
    found, _ = by_name(merge(models))
    for cell, value in found.items():
        moved = [table[cell] for table in tables if table.get(cell, 0.0)]
        assert value == pytest.approx(np.mean(moved) if moved else 0.0, abs=1e-12)


def test_merging_changes_none_of_the_models():
    models = apart(templates=PAIRED)
    before = [content(model) for model in models]
    merge(models)
    assert [content(model) for model in models] == before


def test_no_states_are_refused():
    with pytest.raises(ValueError, match=r"^states must have at least one state, got none\.$"):
        StructureMergeState.combined([])

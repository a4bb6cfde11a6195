"""Taggers as files, copies and merged ones: bit for bit, and no bytes that do harm."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from containers import settings_of, with_settings
from surelearn import CRFTagger, FormatError, SureClassifier, SureTagger, load, rules
from tagged import (
    KINDS,
    LABELS,
    PAIRED,
    WAYS,
    as_kind,
    content,
    corpus,
    halfway,
    opened,
    tagger,
)

# ------------------------------------------------------------------------- files


@pytest.mark.parametrize("way", WAYS)
def test_a_tagger_comes_back_bit_for_bit_and_goes_on(way):
    X, y = corpus()
    model = tagger(**WAYS[way]).partial_fit(X[:20], y[:20])
    back = opened(content(model))
    assert content(back) == content(model)
    assert back.get_params() == {**model.get_params(), **listed(model), "n_jobs": None}
    assert back.predict(X) == model.predict(X)
    assert back.predict_marginals(X) == model.predict_marginals(X)
    assert back.classes_.dtype == model.classes_.dtype
    # New words and labels come to both.
    rest, tags = [*X[20:], ["a", "zebra"]], [*y[20:], ["D", "Q"]]
    assert content(back.partial_fit(rest, tags)) == content(model.partial_fit(rest, tags))
    assert content(opened(content(back))) == content(model)


def listed(model):
    given = model.get_params(deep=False)
    return {k: list(given[k]) for k in ("templates", "columns") if given[k] is not None}


@pytest.mark.parametrize("n_features", [None, 64])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_token_comes_back(kind, n_features):
    X, y = corpus()
    X = as_kind(X, kind)
    model = tagger(n_features=n_features).partial_fit(X[:20], y[:20])
    back = opened(content(model))
    assert back.predict(X) == model.predict(X)
    if n_features is None:
        assert back.features_.names == model.features_.names
    assert content(back.partial_fit(X, y)) == content(model.partial_fit(X, y))


@pytest.mark.parametrize("labels", [[3, 7, 11, 20], [1.0, 2.0, 5.0, 9.0], list("äßé🙂"), [False]])
def test_labels_of_every_kind_come_back(labels):
    X, y = corpus()
    y = [[labels[LABELS.index(tag) % len(labels)] for tag in tags] for tags in y]
    model = tagger().partial_fit(X, y)
    back = opened(content(model))
    assert back.classes_.tolist() == model.classes_.tolist()
    assert back.classes_.dtype == model.classes_.dtype
    assert back.predict(X) == model.predict(X)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "again",
    [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))],
    ids=["copy", "pickle"],
)
def test_copies_go_on_as_the_original(way, again):
    X, y = corpus()
    model = tagger(**WAYS[way]).partial_fit(X[:20], y[:20])
    other = again(model)
    before = content(model)
    assert content(other) == before
    other.partial_fit([["a", "zebra"]], [["D", "Q"]])
    assert content(model) == before  # nothing is shared
    model.partial_fit([["a", "zebra"]], [["D", "Q"]])
    assert content(other) == content(model)


def test_a_clone_has_learnt_nothing():
    model = tagger("arow", templates=PAIRED).fit(*corpus())
    other = clone(model)
    assert other.get_params() == model.get_params()
    with pytest.raises(NotFittedError, match="fit"):
        other.predict([["the"]])


@pytest.mark.usefixtures("no_registered_rules")
def test_a_function_must_have_a_name_to_be_saved(tmp_path):
    model = tagger(halfway).fit(*corpus())
    with pytest.raises(ValueError, match="rule must have a name to be saved"):
        model.save(tmp_path / "m.sure")
    rules.register("halfway", halfway)
    model = tagger("halfway").fit(*corpus())
    assert content(opened(content(model))) == content(model)


def test_too_little_memory_is_said(tmp_path):
    X, y = corpus()
    tagger(n_features=2**20).fit(X, y).save(tmp_path / "m.sure")
    assert (tmp_path / "m.sure").stat().st_size < 100_000
    with pytest.raises(FormatError, match=r"memory|max_bytes"):
        load(tmp_path / "m.sure", max_bytes=2**20)


def changed(whole, change):
    """The file with other settings."""
    settings = settings_of(whole)
    change(settings)
    return with_settings(whole, settings)


def put(*path, value):
    def change(settings):
        at = settings
        for name in path[:-1]:
            at = at[name]
        at[path[-1]] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        put("params", "dtype", value="float64"),
        put("params", "average", value=False),
        put("params", "rule", value={"name": "pa1", "params": {"C": 1.0}}),
        put("params", "initial_variance", value=2.0),
        put("params", "projection", value="covariance"),
        put("params", "constraints", value="exact"),
        put("params", "templates", value=["w[0]"]),
        put("params", "templates", value="w[0]"),
        put("params", "columns", value=["v"]),
        put("params", "n_features", value=64),
        put("params", "passes", value=0),
        put("params", "strange", value=1),
        put("features", "templates", value=["w[0]"]),
        put("features", "n_features", value=64),
        put("features", "kind", value="dicts"),
        put("features", "kind", value="trees"),
        put("features", "kind", value=None),
        put("features", value=[]),
        put("features", value={}),
        put("layout", "n_features", value=3),
        put("layout", "n_features", value=2**62),
        put("layout", "intercept", value=True),
        put("layout", "covariance", value="full"),
        put("layout", "second_order", value=False),
        put("weights", "n_columns", value=3),
        put("weights", "prior", value=-1.0),
        put("weights", "rounds", value=-1),
        put("weights", value=None),
        put("classes", "values", value=["A", "D", "N"]),
        put("classes", "values", value=["V", "D", "N", "A"]),
        put("mistakes", value=[-1]),
        put("updates", value="many"),
        put("projection", value="both"),
        put("temperature", value=0.0),
        put("temperature", value="NaN"),
        put("initial_variance", value=0.0),
        put("kind", value="SureClassifier"),
        put("kind", value="SureTextClassifier"),
    ],
)
def test_files_that_contradict_themselves_are_refused(change):
    whole = content(tagger(templates=PAIRED).fit(*corpus(8)))
    with pytest.raises(FormatError, match=r"must|needs|damaged"):
        opened(changed(whole, change))


@pytest.mark.parametrize(
    "change",
    [
        put("params", "l2", value=2.0),
        put("params", "l1", value=-1.0),
        put("params", "solver", value="newton"),
        put("params", "rule", value="arow"),
        put("params", "dtype", value="float64"),
        put("layout", "second_order", value=False),
        put("layout", "averaged", value=True),
        put("initial_variance", value=2.0),
        put("solution", value=None),
        put("solution", "n_iter", value=-1),
        put("solution", "objective", value="low"),
        put("solution", "gap", value=[]),
        put("kind", value="SVMTagger"),
        put("kind", value="SureTagger"),
    ],
)
def test_files_of_batch_taggers_that_contradict_themselves_are_refused(change):
    whole = content(CRFTagger().fit(*corpus(8)))
    with pytest.raises(FormatError, match=r"must|needs|damaged"):
        opened(changed(whole, change))


def test_a_classifiers_file_is_no_taggers(tmp_path):
    SureClassifier().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]).save(tmp_path / "m.sure")
    whole = (tmp_path / "m.sure").read_bytes()
    with pytest.raises(FormatError, match="damaged"):
        opened(changed(whole, put("kind", value="SureTagger")))


def small_files():
    X, y = corpus(6)
    yield content(tagger(templates=PAIRED).fit(X, y))
    yield content(tagger("perceptron", n_features=16).fit(as_kind(X, "dicts"), y))
    yield content(CRFTagger(templates=PAIRED).fit(X, y))


SMALL = list(small_files())


def opens_or_is_refused(whole):
    """A model that answers, or `FormatError`; anything else is a crash."""
    try:
        model = opened(whole)
    except FormatError:
        return
    word = {"dicts": {"w": "the"}, "strings": ["the"]}.get(
        model._model.features._settings()["kind"]
    )
    X = [["the", "dog"]] if word is None else [[word, word]]
    if len(model.features_.columns or ()) > 1:
        X = [[("the",) * len(model.features_.columns)]]
    assert len(model.predict(X)[0]) == len(X[0])
    assert np.isfinite(model.coef_).all()
    opened(content(model))


@given(whole=st.sampled_from(SMALL), data=st.data())
def test_damaged_files_give_a_model_or_a_clear_error(whole, data):
    spoilt = bytearray(whole)
    for place in data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=4)):
        spoilt[place] ^= data.draw(st.integers(1, 255))
    cut = data.draw(st.one_of(st.none(), st.integers(0, len(whole))))
    opens_or_is_refused(bytes(spoilt[:cut]))


@given(whole=st.sampled_from(SMALL), data=st.data())
def test_damaged_settings_give_a_model_or_a_clear_error(whole, data):
    """Changes inside of the JSON, which those of single bytes seldom survive."""
    settings = settings_of(whole)
    odd = st.sampled_from(
        [None, True, -1, 0, 1, 3, 2**31, 2**63, 0.5, "", "x", "w", [], ["w"], {}, [1], 1e308]
    )
    path, at = [], settings
    while isinstance(at, dict) and at:
        path.append(data.draw(st.sampled_from(sorted(at))))
        at = at[path[-1]]
        if data.draw(st.booleans()):
            break
    opens_or_is_refused(changed(whole, put(*path, value=data.draw(odd))))


# ----------------------------------------------------------------------- merging


def test_a_file_of_this_kind_is_read_from_its_path(tmp_path):
    model = tagger().fit(*corpus())
    model.save(str(tmp_path / "m.sure"))
    assert isinstance(load(Path(tmp_path) / "m.sure"), SureTagger)

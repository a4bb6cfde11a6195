"""What a tagger refuses leaves no trace in it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from surelearn import SureTagger
from surelearn.constraints import Sequential
from surelearn.learners.tasks.sequences import SequenceModel
from tagged import (
    LABELS,
    PAIRED,
    as_kind,
    by_name,
    content,
    corpus,
    tagger,
)

# --------------------------------------------------------------------- bad input

WORDS, WORD_TAGS = [["the", "dog"], ["a", "cat", "runs"]], [["D", "N"], ["D", "N", "V"]]
BAD = {
    "y short": (WORDS, [["D", "N"], ["D", "N"]], r"y\[1\] must have 3 labels.*X\[1\], got 2"),
    "y long": (WORDS, [["D", "N", "V"], WORD_TAGS[1]], r"y\[0\] must have 2 labels.*, got 3"),
    "fewer y": (WORDS, WORD_TAGS[:1], "y must have 2 sequences of labels like X, got 1"),
    "label None": (WORDS, [["D", None], WORD_TAGS[1]], r"y\[0\]\[1\] must be a label, got None"),
    "label NaN": (WORDS, [["D", "N"], ["D", "N", np.nan]], r"y\[1\]\[2\] must be a label, got nan"),
    "label list": (WORDS, [["D", ["N"]], WORD_TAGS[1]], r"y\[0\]\[1\] must be a label, got \['N'"),
    "label tuple": (WORDS, [["D", ("N",)], WORD_TAGS[1]], r"y\[0\] must hold labels of one type"),
    "all tuples": ([["the", "a"]], [[("D", "E"), ("N", "O")]], r"y\[0\] must hold texts, numbers"),
    "label zeros": (WORDS, [["D", "N"], ["D", "N", "V\0"]], r"y\[1\]\[2\] must be a label"),
    "kinds": (WORDS, [["D", 1], WORD_TAGS[1]], r"y\[0\] must hold labels of one type, got int"),
    "numbers": (WORDS, [[1, 2], [1, 2, 3]], "y must hold labels of the same type as before"),
    "halves": (WORDS, [[0.5, 1.5], [0.5, 1.5, 2.5]], r"y\[0\] must hold classes, got"),
    "y string": (WORDS, ["DN", "DNV"], r"y\[0\] must be a list of labels, got 'DN'"),
    "y none": (WORDS, None, "y must be a list of sequences of labels, got None"),
    "X string": ("the dog", WORD_TAGS, "X must be a list of sequences, got 'the dog'"),
    "X words": (["the", "dog"], [["D"], ["N"]], "sequence 0 must be a list of tokens, got 'the'"),
    "X none": (None, WORD_TAGS, "X must be a list of sequences, got None"),
    "token": ([["the", 3], WORDS[1]], WORD_TAGS, "sequence 0, token 1 must be a str, a tuple"),
    "mixed": ([WORDS[0], ["new", {"w": 1}, "x"]], WORD_TAGS, "sequence 1, token 1 must be a str"),
    "columns": ([WORDS[0], ["new", ("a", "b"), "x"]], WORD_TAGS, r"token 1 must have 1 column \(w"),
    "dicts": ([[{"w": 1.0}], []], [["D"], []], "tokens must be a str or a tuple of str"),
    "surrogate": ([["new", "\ud800"], []], [["D", "N"], []], "must have no lone surrogate"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_what_is_refused_leaves_the_model_as_it_was(what):
    X, y, message = BAD[what]
    model = tagger(templates=PAIRED).fit(*corpus())
    before = content(model), pickle.dumps(model.features_.state())
    with pytest.raises((TypeError, ValueError), match=message):
        model.partial_fit(X, y, classes=["D", "Q"])
    assert (content(model), pickle.dumps(model.features_.state())) == before
    if what not in ("numbers", "dicts"):  # these are good for a new model
        with pytest.raises((TypeError, ValueError), match=message):
            model.fit(X, y)
        assert content(model) == before[0]
        new = tagger()
        with pytest.raises((TypeError, ValueError), match=message):
            new.partial_fit(X, y)
        with pytest.raises(NotFittedError, match="fit"):
            new.predict(WORDS)
    assert model.predict([["the", "dog"]]) == [["D", "N"]]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e39, None])
def test_values_of_features_must_be_finite(value):
    X, y = corpus()
    model = tagger().fit(as_kind(X, "dicts"), y)
    before = content(model)
    bad = [[{"new": 1.0}], [{"other": 2.0}, {"w": value}]]
    message = "sequence 1, token 1: feature 'w' must be (finite|a number)"
    for call in (model.fit, model.partial_fit):
        with pytest.raises((TypeError, ValueError), match=message):
            call(bad, [["D"], ["N", "V"]])
    for ask in (model.predict, model.predict_marginals, model.confidence):
        with pytest.raises((TypeError, ValueError), match=message):
            ask(bad)
    assert content(model) == before


@pytest.mark.parametrize("way", ["partial_fit", "fit_stream"])
@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
def test_names_are_not_known_where_weights_are_not(way, error, monkeypatch, tmp_path):
    """Memory may end, or Ctrl-C come, after words were read and before they have weights."""
    model = tagger(templates=PAIRED).fit(*corpus())
    before = content(model), pickle.dumps(model.features_.state())

    def broken(*_):
        raise error("no room")

    path = tmp_path / "new.txt"
    path.write_text("brand D\nnew N\nwords Q\n")
    given = [["brand", "new", "words"]], [["D", "N", "Q"]]
    calls = {
        "partial_fit": lambda: model.partial_fit(*given),
        "fit_stream": lambda: model.fit_stream(path, resume=True),
    }
    with monkeypatch.context() as patched:
        patched.setattr(SequenceModel, "fitting", broken)
        with pytest.raises(error, match="no room"):
            calls[way]()
    assert (content(model), pickle.dumps(model.features_.state())) == before
    assert model.predict([["the", "new"]]) == model.predict([["the", "xyzzy"]])


def test_numbers_of_columns_may_not_change():
    X, y = corpus()
    model = tagger().fit(as_kind(X, "tuples"), y)
    before = content(model)
    message = r"sequence 0, token 1 must have 2 columns \(w, pos\), got 3"
    with pytest.raises(ValueError, match=message):
        model.partial_fit([[("new", "NN"), ("dog", "NN", "x")]], [["D", "N"]])
    with pytest.raises(ValueError, match=r"token 0 must have 2 columns \(w, pos\), got 1"):
        model.predict([["the"]])
    assert content(model) == before


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0], r"sample_weight must have shape \(30,\)"),
        ([-1.0] * 30, "sample_weight must be finite and not negative"),
        ([np.nan] * 30, "sample_weight must be finite and not negative"),
        ("heavy", "sample_weight must be numbers"),
    ],
)
def test_bad_weights_are_refused(weight, message):
    X, y = corpus()
    model = tagger().fit(X, y)
    before = content(model)
    for call in (model.fit, model.partial_fit):
        with pytest.raises((TypeError, ValueError), match=message):
            call(X, y, sample_weight=weight)
    assert content(model) == before


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ("D", "classes must be a list of labels"),
        ([["D"]], "classes must be a list of labels"),
        ([1, 2], "y must hold labels of the same type as before"),
        (["D", None], "classes must have no missing labels"),
        (["D", 1], "classes must hold labels of one type"),
    ],
)
def test_bad_classes_are_refused(classes, message):
    X, y = corpus()
    model = tagger().fit(X, y)
    before = content(model)
    with pytest.raises((TypeError, ValueError), match=message):
        model.partial_fit([["new"]], [["N"]], classes=classes)
    assert content(model) == before


@pytest.mark.parametrize("kind", ["dicts", "lists"])
def test_templates_are_for_words(kind):
    X, y = corpus()
    called = {"dicts": "dicts", "lists": "lists of strings"}[kind]
    with pytest.raises(ValueError, match=f"templates must be None if tokens are {called}"):
        tagger(templates=["w[0]"]).fit(as_kind(X, kind), y)


# ----------------------------------------------------------------------- collapse


def heavy_corpus(place, value=1e30):
    """One sequence whose features are too large for any update."""
    X, y = corpus(8)
    X = as_kind(X, "lists")
    X = [[dict.fromkeys(token, 1.0) for token in tokens] for tokens in X]
    X[place] = [{"huge": value}, {"bias": 1.0}]
    y[place] = ["V", "A"]
    return X, y


@pytest.mark.parametrize("scheme", ["single", Sequential(3)])
@pytest.mark.parametrize("rule", ["arow", "nherd", "perceptron"])
def test_a_sequence_that_would_leave_no_model_is_refused_by_number(rule, scheme):
    X, y = heavy_corpus(5, 3e38)
    options = {"constraints": scheme, "initial_variance": 1.0}
    if rule == "perceptron":  # it moves by the value itself, twice into the same place
        X[5] = [{"huge": 3e38}, {"huge": 3e38}]
        y[5] = ["V", "V"]
    fine = tagger(rule, **options).partial_fit(X[:5], y[:5], classes=LABELS)
    model = tagger(rule, **options)
    with pytest.raises(ValueError, match="sequence 5"):
        model.partial_fit(X, y, classes=LABELS)
    np.testing.assert_array_equal(model.coef_[:, : fine.features_.n_features], fine.coef_)
    assert model.n_updates_ == fine.n_updates_
    assert model.mistakes_.tolist() == fine.mistakes_.tolist()
    found, rounds = by_name(model)
    kept, rounds_kept = by_name(fine)
    assert rounds == rounds_kept
    assert {cell: found[cell] for cell in kept} == kept
    assert {value for cell, value in found.items() if cell not in kept} <= {0.0, 1.0}
    # those of weight zero count when a sequence is named
    with pytest.raises(ValueError, match="sequence 5"):
        tagger(rule, **options).fit(X, y, sample_weight=[0, 1, 0, 1, 1, 1, 1, 1])


def test_fit_keeps_the_model_of_before_where_a_sequence_is_refused():
    X, y = heavy_corpus(5, 3e38)
    model = SureTagger("arow", random_state=0).fit(X[:5], y[:5])
    before = content(model)
    with pytest.raises(ValueError, match=r"sequence 5.*Use projection='covariance'"):
        model.fit(X, y)
    assert content(model) == before


def test_sequential_takes_back_the_steps_before_a_refused_one():
    """The first of two paths is learnt, the second is not: neither leaves a trace."""
    steps = [(0.5, 0.5)] * 3

    X, y = [["the", "dog"]], [["D", "N"]]
    model = tagger(lambda m, v: steps.pop(), constraints=Sequential(2), average=True)
    model.partial_fit(X, y)
    before, updates = by_name(model), model.n_updates_
    steps[:] = [(1e300, 0.5), (0.5, 0.5)]
    with pytest.raises(ValueError, match="sequence 0"):
        model.partial_fit(X, [["N", "D"]])
    assert not steps
    assert by_name(model) == before
    assert model.n_updates_ == updates


def test_weights_that_are_all_zero_are_told():
    with pytest.raises(ValueError, match=r"positive entry, got zero weight in every sequence"):
        tagger().fit(WORDS, WORD_TAGS, sample_weight=[0.0, 0.0])
    with pytest.raises(ValueError, match=r"fit needs at least two classes, got 0 classes: none\."):
        tagger().fit([], [])

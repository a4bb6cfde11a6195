"""What pulled for each tag of a sequence: shares that add up to its lead."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surelearn import SureTagger
from tagged import KINDS, PAIRED, as_kind, corpus, tagger


def shares(table, position, column="margin"):
    return getattr(table, column)[table.position == position]


def leads(model, x):
    """Mean and variance of each tag's lead, as `confidence` has them."""
    known, sequences = model._read([x])
    return known.leads(sequences, 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("average", [False, True])
def test_shares_add_up_to_the_lead_of_every_tag(kind, average):
    X, y = corpus()
    X = as_kind(X, kind)
    model = tagger(average=average).fit(X, y)
    for x in X[:8]:
        table = model.explain(x, top=None)
        tags, m, v = leads(model, x)
        assert sorted(set(table.position)) == list(range(len(x)))
        for t, place in enumerate(tags):
            assert set(table.label[table.position == t]) == {model.classes_[place]}
            assert shares(table, t).sum() == pytest.approx(m[t], abs=1e-5)
            assert shares(table, t, "variance").sum() == pytest.approx(v[t], rel=1e-5)


@given(seed=st.integers(0, 10**6), paired=st.booleans())
def test_the_rival_is_the_best_other_path_of_all(seed, paired):
    """By trying all paths, with the scores of single weights."""
    X, y = corpus(6, seed)
    templates = PAIRED if paired else ["w[0]", "w[-1]"]
    model = SureTagger(templates=templates, passes=1, dtype="float64").fit(X, y)
    x = X[0][:4]
    chain, labels = model.chain(x), model.classes_.tolist()
    paths = [list(path) for path in product(range(len(labels)), repeat=len(x))]
    scores = np.array([chain.score(path) for path in paths])
    best = int(scores.argmax())
    table = model.explain(x, top=None)
    for t in range(len(x)):
        others = np.array([path[t] != paths[best][t] for path in paths])
        lead = scores[best] - scores[others].max()
        assert shares(table, t).sum() == pytest.approx(lead, abs=1e-9)
        (rival,) = set(table.rival[table.position == t])
        assert rival in {
            labels[path[t]]
            for path, score in zip(paths, scores, strict=True)
            if path[t] != paths[best][t] and score == pytest.approx(scores[others].max(), abs=1e-9)
        }


def test_lines_are_differences_of_two_weights():
    X, y = corpus()
    model = tagger(templates=["w[0]"], average=False).fit(X, y)
    table = model.explain(["the", "dog", "barks"], top=None)
    places = {label: k for k, label in enumerate(model.classes_)}
    names = model.features_.names
    for row in table:
        if row.feature.startswith("w[0]") and row.token in row.feature:
            own, other = (places[label] for label in (row.label, row.rival))
            j = names.index(row.feature)
            assert row.value == 1.0
            assert row.mean == pytest.approx(model.coef_[own, j] - model.coef_[other, j])
            spread = model.sigma_[own, j] + model.sigma_[other, j]
            assert row.deviation == pytest.approx(np.sqrt(spread))
            assert row.margin == pytest.approx(row.mean)
            assert row.variance == pytest.approx(spread)
    assert table.token[:1].tolist() == ["the"]
    assert {"after D", "start", "end"} & set(table.feature)


def test_the_largest_shares_come_first_and_the_others_as_one():
    X, y = corpus()
    model = SureTagger(random_state=0).fit(X, y)
    whole = model.explain(X[0], top=None)
    table = model.explain(X[0])
    for t in range(len(X[0])):
        own = table.feature[table.position == t].tolist()
        assert len(own) == 6
        assert own[-1] == "(others)"
        assert own[:5] == whole.feature[whole.position == t][:5].tolist()
        assert (np.diff(np.abs(shares(whole, t))) <= 0).all()
        for column in ("margin", "variance"):
            assert shares(table, t, column).sum() == pytest.approx(shares(whole, t, column).sum())
    assert np.isnan(table.mean[table.feature == "(others)"]).all()
    two = model.explain(X[0], top=1)
    assert len(two) == 2 * len(X[0])


def test_tokens_of_one_label():
    X, y = corpus()
    model = SureTagger(random_state=0).fit(X, y)
    table = model.explain(X[0], label="N")
    assert set(table.label) == {"N"}
    assert set(table.position) == {
        t for t, tag in enumerate(model.predict([X[0]])[0]) if tag == "N"
    }
    with pytest.raises(ValueError, match="label must be one of 'A', 'D', 'N', 'V', got 'Q'"):
        model.explain(X[0], label="Q")


def test_rules_without_variances_and_hashed_names():
    X, y = corpus()
    model = SureTagger("pa1", n_features=64, random_state=0).fit(X, y)
    table = model.explain(X[0], top=None)
    assert not {"deviation", "probability", "variance"} & set(table.columns)
    assert any(name.startswith("x") for name in table.feature)
    for t in range(len(X[0])):
        U = model.chain(X[0])
        assert shares(table, t).sum() >= -1e-6
        assert np.isfinite(U.U).all()


def test_what_is_shown():
    X, y = corpus()
    model = SureTagger(random_state=0).fit(X, y)
    table = model.explain(["the", "<b>dog</b>", "barks"])
    head = "position  token       label  rival  feature"
    assert str(table).startswith(head)
    assert "&lt;b&gt;dog" in table._repr_html_()
    assert next(iter(table)).token == "the"
    tokens = as_kind([["the", "dog"]], "dicts")[0]
    other = SureTagger(random_state=0).fit(as_kind(X, "dicts"), y).explain(tokens)
    assert "token" not in other.columns
    assert model.explain(X[0]).label.dtype == model.classes_.dtype


def test_odd_sequences():
    X, y = corpus()
    model = SureTagger(random_state=0).fit(X, y)
    none = model.explain([])
    assert len(none) == 0
    assert "margin" in none.columns
    table = model.explain(["never", "met"], top=None)
    assert set(table.position) == {0, 1}
    one = model.explain(["dog"], top=None)
    assert {"start", "end"} <= set(one.feature)
    assert one.label[0] == model.predict([["dog"]])[0][0]


@pytest.mark.parametrize(
    ("sequence", "error", "message"),
    [
        ("the dog", TypeError, "sequence must be a list of tokens, got 'the dog'"),
        (3, TypeError, "sequence must be a list of tokens, got 3"),
        ([["the", "dog"]], TypeError, "tokens must be a str or a tuple of str as in training"),
        (["the", 3], TypeError, "sequence 0, token 1 must be"),
    ],
)
def test_what_is_no_sequence_is_named(sequence, error, message):
    X, y = corpus()
    model = SureTagger(random_state=0).fit(X, y)
    with pytest.raises(error, match=message):
        model.explain(sequence)


def test_one_label_leaves_nothing_to_explain():
    model = SureTagger().partial_fit([["a"]], [["X"]])
    with pytest.raises(ValueError, match="explain needs at least two classes, got 1 class: 'X'"):
        model.explain(["a"])

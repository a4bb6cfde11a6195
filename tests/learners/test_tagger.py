"""SureTagger: every kind of token, rule, weight and chunking."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from surelearn import SureTagger, rules
from surelearn.constraints import Sequential
from tagged import (
    KINDS,
    LABELS,
    PAIRED,
    as_kind,
    by_name,
    content,
    corpus,
    halfway,
    opened,
    pieces,
    tagger,
)

# ------------------------------------------------------------------- learning


@pytest.mark.parametrize("n_features", [None, 512])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_token_is_learnt(kind, n_features):
    X, y = corpus()
    model = SureTagger(n_features=n_features, random_state=0).fit(as_kind(X, kind), y)
    assert model.score(as_kind(X, kind), y) == 1.0
    unseen, tags = corpus(seed=1)
    assert model.score(as_kind(unseen, kind), tags) > 0.95
    assert model.classes_.tolist() == LABELS
    n = model.features_.n_features
    assert n == (n_features or len(model.features_.names))
    assert model.coef_.shape == model.sigma_.shape == (4, n)
    assert model.transitions_.shape == model.transitions_sigma_.shape == (4, 4)
    assert model.start_.shape == model.end_sigma_.shape == (4,)


def test_names_of_columns_are_those_of_the_templates():
    X, y = corpus()
    model = tagger(templates=["word[0]", "last[0]|last[-1]"], columns=["word", "last"])
    model.fit(as_kind(X, "tuples"), y)
    assert model.features_.columns == ("word", "last")
    assert "word[0]=the" in model.features_.names
    assert "last[0]|last[-1]=g|e" in model.features_.names


@pytest.mark.parametrize("rule", sorted(rules.RULES))
@pytest.mark.parametrize("scheme", ["single", Sequential(3)])
def test_every_rule_learns_in_every_way(rule, scheme):
    X, y = corpus()
    for projection in ("precision", "covariance"):
        options = {"constraints": scheme, "projection": projection, "random_state": 0}
        model = SureTagger(rule, **options).fit(X, y)
        assert model.score(X, y) > 0.95
        assert model.projection_ == projection
        assert len(model.mistakes_) == 10
        assert model.mistakes_[-1] <= model.mistakes_[0]
        assert 0 < model.n_updates_ <= 10 * len(X)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("average", [False, True])
def test_weights_are_kept_as_asked(dtype, average):
    X, y = corpus()
    model = tagger("arow", dtype=dtype, average=average).fit(X, y)
    assert model.sigma_.dtype == np.dtype(dtype)
    assert model.coef_.dtype == np.dtype("float64" if average else dtype)  # a quotient of two
    assert not model.coef_.flags.writeable
    other = tagger("arow", dtype=dtype, average=not average).fit(X, y)
    assert (model.coef_ != other.coef_).any()
    np.testing.assert_array_equal(model.sigma_, other.sigma_)


def test_a_function_is_a_rule():
    X, y = corpus()
    model = tagger(halfway, passes=5).fit(X, y)
    assert model.score(X, y) > 0.95
    assert model.sigma_.min() < 1.0


def test_an_error_in_a_function_is_shown_and_nothing_is_learnt():
    def broken(m, v):
        raise ZeroDivisionError("no rule today")

    X, y = corpus(4)
    model = tagger(broken)
    with pytest.raises(ZeroDivisionError, match="no rule today"):
        model.fit(X, y)
    with pytest.raises(NotFittedError, match="fit"):
        model.predict(X)


def test_features_of_pairs_tell_apart_what_tokens_cannot():
    """The tag of the second token is that of the first, or the other one, as its word says."""
    X = [["x", "same"], ["z", "same"], ["x", "other"], ["z", "other"]] * 5
    y = [["P", "P"], ["Q", "Q"], ["P", "Q"], ["Q", "P"]] * 5
    plain = SureTagger(templates=["w[0]"], random_state=0).fit(X, y)
    paired = SureTagger(templates=["w[0]", "B:w[0]"], random_state=0).fit(X, y)
    assert plain.score(X, y) < 1.0
    assert paired.score(X, y) == 1.0
    assert paired.features_.pair_names == ["B:w[0]=same", "B:w[0]=other"]


def test_a_label_for_each_step_alone_is_every_taggers_own():
    X, y = corpus()
    plain = tagger(templates=["w[0]"]).fit(X, y)
    named = tagger(templates=["w[0]", "B:"]).fit(X, y)
    np.testing.assert_array_equal(plain.coef_, named.coef_)
    np.testing.assert_array_equal(plain.transitions_, named.transitions_)


def test_the_order_of_a_pass_is_that_of_the_random_state():
    X, y = corpus()
    model = SureTagger(random_state=3, passes=2)
    again = content(model.fit(X, y))
    assert content(model.fit(X, y)) == again
    other = clone(model).set_params(random_state=4).fit(X, y)
    assert (other.coef_ != model.coef_).any()


def test_progress_is_printed_for_each_pass(capsys):
    X, y = corpus()
    tagger(passes=2, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("pass 1/2: 30 of 30 sequences, ")


# ------------------------------------------------------------- chunks, and what is new


@pytest.mark.parametrize("templates", [None, PAIRED])
@pytest.mark.parametrize("rule", ["variance", "arow", "perceptron", "sop", "scw2", "pa1"])
@pytest.mark.parametrize("cuts", [[], [7], [1, 2, 3, 29], list(range(1, 30))])
def test_any_chunking_gives_the_same_bytes(rule, cuts, templates):
    X, y = corpus()
    whole = tagger(rule, templates=templates).partial_fit(X, y, classes=LABELS)
    parts = tagger(rule, templates=templates)
    for some, tags in pieces(X, y, cuts):
        parts.partial_fit(some, tags, classes=LABELS)
    assert content(parts) == content(whole)
    assert whole.n_updates_ > 3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_features", [None, 64])
def test_chunks_of_every_kind_give_the_same_bytes(kind, n_features):
    X, y = corpus()
    X = as_kind(X, kind)
    whole = tagger(n_features=n_features).partial_fit(X, y, classes=LABELS)
    parts = tagger(n_features=n_features)
    for some, tags in pieces(X, y, [1, 5, 6]):
        parts.partial_fit(some, tags, classes=LABELS)
    assert content(parts) == content(whole)


@pytest.mark.parametrize("rule", sorted(rules.RULES))
def test_one_pass_of_fit_is_partial_fit(rule):
    X, y = corpus()
    assert content(tagger(rule).fit(X, y)) == content(tagger(rule).partial_fit(X, y))


def test_new_features_come_at_any_time():
    """In one call all are known from the start; one call a sequence meets them one by one."""
    X = [[f"word{i}", f"word{i * i}", "same"] for i in range(100)]
    y = [["A", "D", "N"], ["N", "V", "A"]] * 50
    whole = tagger(templates=PAIRED).partial_fit(X, y)
    parts = tagger(templates=PAIRED).partial_fit([], [], classes=LABELS)
    known = []
    for x, tags in zip(X, y, strict=True):
        parts.partial_fit([x], [tags])
        known.append(parts.features_.n_features)
    assert known[0] < known[50] < known[-1] == whole.features_.n_features
    assert content(parts) == content(whole)


@pytest.mark.parametrize("rule", ["variance", "arow", "perceptron", "nherd"])
def test_declaring_labels_in_steps_is_declaring_them_at_once(rule):
    X, y = corpus()
    steps = tagger(rule)
    for classes in (["N"], ["V", "A"], ["D"]):
        steps.partial_fit([], [], classes=classes)
    steps.partial_fit(X, y)
    assert content(steps) == content(tagger(rule).partial_fit(X, y, classes=LABELS))


@pytest.mark.parametrize("templates", [["w[0]"], PAIRED])
@pytest.mark.parametrize("average", [False, True])
def test_a_new_label_leaves_the_weights_of_the_others(average, templates):
    X, y = corpus()
    model = tagger(average=average, templates=templates).partial_fit(X, y)
    before, rounds = by_name(model)
    model.partial_fit([], [], classes=["B", "Z"])
    after, rounds_after = by_name(model)
    assert model.classes_.tolist() == ["A", "B", "D", "N", "V", "Z"]
    assert rounds_after == rounds
    assert {cell: after[cell] for cell in before} == before
    fresh = {cell: value for cell, value in after.items() if cell not in before}
    assert {value for (what, *_), value in fresh.items() if what == "mean"} == {0.0}
    assert {value for (what, *_), value in fresh.items() if what == "sigma"} == {1.0}


def test_weights_of_pairs_stay_with_their_labels():
    X = [["x", "same"], ["z", "same"], ["x", "other"], ["z", "other"]] * 5
    y = [["P", "P"], ["Q", "Q"], ["P", "Q"], ["Q", "P"]] * 5
    model = SureTagger(templates=["w[0]", "B:w[0]"], random_state=0, average=False).fit(X, y)
    before = [model.chain(x) for x in X[:4]]
    model.partial_fit([["x", "new"], ["x"]], [["P", "P"], ["P"]], classes=["A", "PP", "Z"],
                      sample_weight=[1e-300, 0.0])  # fmt: skip
    assert model.features_.pair_names == ["B:w[0]=same", "B:w[0]=other", "B:w[0]=new"]
    for x, chain in zip(X[:4], before, strict=True):
        found = model.chain(x)
        np.testing.assert_array_equal(found.U[:, [1, 3]], chain.U)
        np.testing.assert_array_equal(found.A[:, [[1], [3]], [1, 3]], chain.A)
        assert not found.A[:, [0, 2, 4]].any()


def test_new_labels_are_learnt_when_they_come():
    X, y = corpus()
    model = tagger().partial_fit(X, y)
    for _ in range(3):
        model.partial_fit([["oh", "the", "dog"], ["oh"]], [["UH", "D", "N"], ["UH"]])
    assert model.classes_.tolist() == ["A", "D", "N", "UH", "V"]
    assert model.predict([["oh"], ["oh", "the", "dog"]]) == [["UH"], ["UH", "D", "N"]]
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("labels", [[3, 7, 11, 20], [False, True], [1.0, 2.0, 5.0, 9.0]])
def test_labels_may_be_numbers_and_booleans(labels):
    X, y = corpus()
    own = [[labels[LABELS.index(tag) % len(labels)] for tag in tags] for tags in y]
    model = SureTagger(random_state=0).fit(X, [np.array(tags) for tags in own])
    found = model.predict(X)
    assert found == own
    assert type(found[0][0]) is type(labels[0])
    assert set(model.predict_marginals(X[:1])[0][0]) == set(labels)


# ------------------------------------------------------------- weights, threads


@pytest.mark.parametrize("rule", sorted(rules.RULES))
def test_no_weight_changes_nothing(rule):
    X, y = corpus()
    plain = tagger(rule).partial_fit(X, y, classes=LABELS)
    strange = [["never", "seen"], [], ["the", "dog"]]
    mixed = tagger(rule).partial_fit(
        [*strange, *X], [["Q", "R"], [], ["V", "V"], *y], classes=LABELS,
        sample_weight=[0.0, 0.0, 0.0] + [1.0] * len(X),
    )  # fmt: skip
    assert content(mixed) == content(plain)
    before = content(mixed)
    mixed.partial_fit(strange, [["Q", "R"], [], ["V", "V"]], sample_weight=[0.0] * 3)
    assert content(mixed) == before


def test_no_weight_in_fit_leaves_sequences_out():
    X, y = corpus()
    weight = np.tile([1.0, 0.0, 1.0], 10)
    some = SureTagger(random_state=0).fit(X, y, sample_weight=weight)
    kept = np.flatnonzero(weight)
    fewer = SureTagger(random_state=0).fit([X[i] for i in kept], [y[i] for i in kept])
    assert content(some) == content(fewer)


@pytest.mark.parametrize(
    ("heavy", "plain"),
    [
        (rules.AROW(2.0), rules.AROW(1.0)),
        (rules.PA1(2**-8), rules.PA1(2**-7)),
        (rules.PA2(0.5), rules.PA2(1.0)),
        (rules.SCW1(eta=0.9, C=2**-8), rules.SCW1(eta=0.9, C=2**-7)),
        (rules.NHERD(0.5), rules.NHERD(1.0)),
        (rules.Probit(2.0), rules.Probit(1.0)),
    ],
    ids=lambda rule: type(rule).__name__,
)
def test_weight_two_scales_the_trade_off_of_soft_rules(heavy, plain):
    X, y = corpus()
    weighted = tagger(heavy).fit(X, y, sample_weight=np.full(30, 2.0))
    once, as_plain = tagger(heavy).fit(X, y), tagger(plain).fit(X, y)
    assert by_name(weighted) == by_name(as_plain)
    assert by_name(weighted) != by_name(once)


@pytest.mark.parametrize("rule", ["perceptron", "pa", "variance", "stdev"])
def test_hard_rules_know_no_more_than_weight_one(rule):
    X, y = corpus()
    once = content(tagger(rule).fit(X, y))
    assert content(tagger(rule).fit(X, y, sample_weight=2.0)) == once
    assert content(tagger(rule).fit(X, y, sample_weight=0.5)) != once


def test_threads_change_no_result():
    X, y = corpus(200)
    one = SureTagger(random_state=0, n_jobs=1, passes=2).fit(X, y)
    many = SureTagger(random_state=0, n_jobs=3, passes=2).fit(X, y)
    unseen, _ = corpus(101, seed=5)
    assert one.predict(unseen) == many.predict(unseen)
    assert one.predict_marginals(unseen) == many.predict_marginals(unseen)
    assert one.confidence(unseen) == many.confidence(unseen)
    assert content(many.set_params(n_jobs=1)) == content(one)


# ------------------------------------------------------------------ small inputs


def test_empty_sequences_teach_nothing_and_get_empty_answers():
    X, y = corpus()
    plain = tagger().fit(X, y)
    mixed = tagger().fit([[], *X[:9], [], *X[9:], []], [[], *y[:9], [], *y[9:], []])
    assert content(mixed) == content(plain)
    assert plain.predict([[], ["the"], []]) == [[], ["D"], []]
    assert plain.predict([]) == plain.predict_marginals([]) == plain.confidence([]) == []
    assert plain.predict_marginals([[]]) == plain.confidence([[]]) == [[]]
    assert plain.chain([]).best().tolist() == []
    assert np.isnan(plain.score([[]], [[]]))


def test_a_sequence_may_have_one_token():
    X, y = [["the"], ["dog"], ["runs"]] * 4, [["D"], ["N"], ["V"]] * 4
    model = SureTagger(random_state=0).fit(X, y)
    assert model.predict(X) == y
    assert not model.transitions_.any()
    assert model.start_.any()
    np.testing.assert_array_equal(model.start_, model.end_)
    assert model.chain(["the"]).marginals().shape == (1, 3)


def test_one_label_is_learnt_by_partial_fit_and_refused_by_fit():
    X = [["the", "dog"], ["a"]]
    model = tagger().partial_fit(X, [["N", "N"], ["N"]])
    assert model.classes_.tolist() == ["N"]
    assert model.predict(X) == [["N", "N"], ["N"]]
    assert model.confidence(X) == [[1.0, 1.0], [1.0]]
    assert model.predict_marginals(X)[1] == [{"N": 1.0}]
    assert model.n_updates_ == 0
    assert opened(content(model)).predict(X) == [["N", "N"], ["N"]]
    before = content(model)
    with pytest.raises(ValueError, match="fit needs at least two classes, got 1 class: 'N'"):
        model.fit(X, [["N", "N"], ["N"]])
    with pytest.raises(ValueError, match="fit needs at least two classes, got 0 classes: none"):
        model.fit([], [])
    assert content(model) == before
    model.partial_fit(*corpus())
    assert model.score(*corpus()) > 0.9


def test_nothing_at_all_is_no_model():
    model = tagger().partial_fit([], [])
    with pytest.raises(NotFittedError, match="fit"):
        model.predict([["the"]])
    with pytest.raises(NotFittedError, match="classes_ must be learnt first"):
        _ = model.classes_
    with pytest.raises(NotFittedError, match="fit"):
        model.save("nowhere.sure")


def test_labels_declared_without_sequences_are_known():
    model = tagger().partial_fit([], [], classes=["D", "N"])
    assert model.predict([["the", "dog"]]) == [["D", "D"]]
    assert model.confidence([["the"]]) == [[0.5]]
    assert content(opened(content(model))) == content(model)
    model.partial_fit([[{"a": 1.0}]], [["D"]])  # what tokens are is decided by the first one
    with pytest.raises(TypeError, match="tokens must be a dict as in training, got a str"):
        model.predict([["the"]])


# ------------------------------------------------------------------------- explain


def explained(explanation):
    return {
        (feature, label): (mean, deviation)
        for feature, label, mean, deviation in zip(
            explanation.feature,
            explanation.label,
            explanation.mean,
            explanation.deviation,
            strict=True,
        )
    }


def test_explain_names_features_steps_and_ends():
    tagger = SureTagger(templates=["w[0]", "B:w[0]"], random_state=0)
    tagger.fit([["a", "b"], ["b", "a"]], [["X", "Y"], ["Z", "X"]])
    found = explained(tagger.explain(top=None))
    places = {label: k for k, label in enumerate(tagger.classes_)}
    for j, name in enumerate(tagger.features_.names):
        for label, k in places.items():
            mean, deviation = found[name, label]
            assert mean == tagger.coef_[k, j]
            assert deviation == pytest.approx(np.sqrt(tagger.sigma_[k, j]))
    for before, i in places.items():
        for label, k in places.items():
            assert found[f"after {before}", label][0] == tagger.transitions_[i, k]
    for label, k in places.items():
        assert found["start", label][0] == tagger.start_[k]
        assert found["end", label][0] == tagger.end_[k]
    assert ("B:w[0]=b after X", "Y") in found
    assert len(found) == 3 * (2 + 3 * 3 + 2)


def test_explain_of_one_label_with_two_labels_shows_its_own_weights():
    tagger = SureTagger(templates=["w[0]"], random_state=0)
    tagger.fit([["a", "b"], ["b", "a", "a"]], [["X", "Y"], ["Y", "X", "X"]])
    for k, label in enumerate(tagger.classes_):
        shown = tagger.explain(label=label, top=None)
        assert set(shown.label) == {label}
        named = dict(zip(shown.feature, shown.mean, strict=True))
        for j, name in enumerate(tagger.features_.names):
            assert named.get(name, 0.0) == max(tagger.coef_[k, j], 0.0) or tagger.coef_[k, j] < 0
        assert list(shown.mean) == sorted(shown.mean, reverse=True)
    with pytest.raises(ValueError, match="label must be one of 'X', 'Y', got 'Q'"):
        tagger.explain(label="Q")


def test_hashed_features_are_explained_by_number_and_first_order_rules_by_means():
    tagger = SureTagger("pa1", templates=["w[0]"], n_features=16, random_state=0)
    shown = tagger.fit([["a", "b"]], [["X", "Y"]]).explain(top=None)
    assert {"x0", "x15", "start", "after X"} <= set(shown.feature)
    assert "deviation" not in shown.columns

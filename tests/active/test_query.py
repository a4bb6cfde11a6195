"""Which rows are asked about first: every strategy against its definition, batches, errors."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import log_ndtr
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from labelled import data, model
from queried import SECOND_ORDER, code_of, fitted, plain, problem, with_ones
from reference import active as reference
from reference.rules import REGISTRY
from surelearn import SureClassifier, SureTextClassifier, active, rules
from surelearn.active import query, scores
from surelearn.active._query import first

NEAR = np.array([[2.0, 0.0], [0.1, 1.0], [-1.0, 0.0], [0.0, 0.0]])


# ----------------------------------------------------------------------------- scores


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from(["arow", "stdev", "probit", "scw2", "variance"]),
    st.booleans(),
)
def test_the_order_of_acl_is_that_of_the_probability(seed, rule, is_sparse):
    """Of |Pr - 1/2|: compared by the log of the smaller probability, which does not saturate."""
    clf, X = fitted(2, seed, rule=rule, probability="exact")
    X = sparse.csr_matrix(X) if is_sparse else X
    found = scores(clf, X)
    other = clf.predict_log_proba(X).min(axis=1)
    # The farther from 1/2, the less probable the other label.
    np.testing.assert_allclose(log_ndtr(-found), other, rtol=1e-9)
    assert (np.diff(other[np.argsort(found)]) <= 1e-9).all()
    half = np.abs(clf.predict_proba(X)[:, 1] - 0.5)
    apart = np.abs(np.subtract.outer(half, half)) > 1e-9
    assert ((half[:, None] < half) == (found[:, None] < found))[apart].all()


@pytest.mark.parametrize("rule", SECOND_ORDER)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_acl_is_the_reference(rule, n_classes):
    clf, X = fitted(n_classes, rule=rule)
    noise = getattr(rules.get(rule), "noise", 0.0)
    want = [reference.acl(plain(clf), x, noise=noise) for x in with_ones(X)]
    np.testing.assert_allclose(scores(clf, X), want, rtol=1e-9)


@pytest.mark.parametrize("how", ["ovr", "ovo", "ecoc"])
def test_acl_of_reductions_is_the_reference(how):
    clf, X = fitted(4, rule="stdev", multiclass=how, decoding="scores")
    want = [reference.acl(plain(clf), x, code_of(clf)) for x in with_ones(X)]
    np.testing.assert_allclose(scores(clf, X), want, rtol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_acl_with_full_covariance_is_the_reference(n_classes):
    clf, X = fitted(n_classes, rule="arow", covariance="full")
    want = [reference.acl(plain(clf), x) for x in with_ones(X)]
    np.testing.assert_allclose(scores(clf, X), want, rtol=1e-6)


def test_temperature_scales_acl_and_keeps_its_order():
    X, y = problem(3)
    clf = SureClassifier("stdev", probability="exact", random_state=0, scale=False)
    clf.fit(X[:80], y[:80], calibrate=False)
    before = scores(clf, X[160:])
    after = scores(clf.calibrate(X[80:160], y[80:160]), X[160:])
    np.testing.assert_allclose(after, before / clf.temperature_, rtol=1e-12)


def test_the_temperature_of_scores_leaves_acl_alone():
    X, y = problem(3)
    clf = SureClassifier("stdev", random_state=0, scale=False).fit(X[:80], y[:80])
    before = scores(clf, X[160:])
    np.testing.assert_array_equal(scores(clf.calibrate(X[80:160], y[80:160]), X[160:]), before)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_threads_do_not_change_a_bit(n_classes):
    X, y = problem(n_classes, n=6000)
    clf = SureClassifier(random_state=0, n_jobs=1, scale=False).fit(X[:200], y[:200])
    one = scores(clf, X)
    np.testing.assert_array_equal(one, scores(clf.set_params(n_jobs=3), X))
    np.testing.assert_array_equal(one, scores(clf, sparse.csr_matrix(X)))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_entropy_and_least_confident_go_by_probabilities(n_classes):
    clf, X = fitted(n_classes, rule="stdev")
    p = clf.predict_proba(X)
    entropy = -(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=1)
    np.testing.assert_allclose(scores(clf, X, "entropy") * -np.log(n_classes), entropy, rtol=1e-9)
    np.testing.assert_array_equal(scores(clf, X, "least-confident"), p.max(axis=1))
    assert query(clf, X, 1, "entropy")[0] == entropy.argmax()


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("more", [{}, {"covariance": "full"}], ids=str)
def test_novel_is_the_best_labels_score_in_deviations(n_classes, more):
    clf, X = fitted(n_classes, rule="arow", **more)
    mean, variance = clf.margin(X)
    if n_classes == 2:
        want = np.abs(mean) / np.sqrt(variance)
    else:
        at = np.arange(len(X)), mean.argmax(axis=1)
        want = mean[at] / np.sqrt(variance[at])
    np.testing.assert_allclose(scores(clf, X, "novel"), want, rtol=1e-12)
    np.testing.assert_array_equal(scores(clf, X, "novel"), -clf.novelty(X))
    assert query(clf, X, 1, "novel")[0] == clf.novelty(X).argmax()


def test_a_text_of_unknown_words_is_asked_about_before_one_between_two_labels():
    labels = ["film", "food", "sport"]
    known = ["fine plot", "dull plot", "fine soup", "dull soup", "fine goal", "dull goal"]
    X, y = known * 5, np.repeat(labels, 2).tolist() * 5
    clf = SureTextClassifier(random_state=0).fit(X, y, calibrate=False)
    texts = ["fine plot", "plot soup", "unheard words"]
    assert query(clf, texts, 3, "novel").tolist() == [2, 1, 0]
    assert query(clf, texts, 1, "acl").tolist() != [0]


def test_what_has_no_variances_or_many_labels_is_refused_as_novel():
    X, Y = data()
    for clf, says in (
        (model("arow").fit(X, Y), "no best label, got 'novel': its rows have many labels"),
        (SureClassifier("pa1").fit(X, [i % 2 for i in range(len(X))]), "no variances, got 'novel'"),
        (LogisticRegression().fit(NEAR, [0, 1, 0, 1]), "LogisticRegression keeps none"),
    ):
        with pytest.raises(ValueError, match=says):
            scores(clf, X if hasattr(clf, "rule") else NEAR, "novel")


def test_random_is_an_order_of_its_own():
    clf, X = fitted(2)
    order = query(clf, X, len(X), "random", random_state=3)
    assert sorted(order) == list(range(len(X)))
    assert (order == query(clf, X, len(X), "random", random_state=3)).all()
    assert (order != query(clf, X, len(X), "random", random_state=4)).any()


@pytest.mark.parametrize("rule", ["stdev", "probit"])
def test_rows_that_cannot_teach_come_last(rule):
    clf = SureClassifier(rule, fit_intercept=False, random_state=0, scale=False).fit(
        [[1.0, 0.5], [-1.0, 0.5]], ["a", "b"]
    )
    assert scores(clf, NEAR)[3] == np.inf
    assert scores(clf, NEAR, "novel")[3] == np.inf
    assert np.isfinite(scores(clf, NEAR, "novel")[:3]).all()
    assert query(clf, NEAR, 4).tolist()[-1] == 3
    assert query(clf, NEAR, 4, batch=True).tolist()[-1] == 3


@pytest.mark.parametrize("rule", ["probit", "arow"])
def test_a_row_of_many_labels_is_as_sure_as_its_least_sure_label(rule):
    X, Y = data()
    clf = model(rule).fit(X, Y, calibrate=False)
    mean, variance = clf.margin(X)
    sure = np.abs(mean) / np.sqrt(variance + rules.get(rule).label_noise)
    np.testing.assert_allclose(scores(clf, X), sure.min(axis=1), rtol=1e-12)
    np.testing.assert_allclose(scores(clf, X, "margin"), np.abs(mean).min(axis=1), rtol=1e-12)
    assert query(clf, X, n=5).tolist() == np.argsort(sure.min(axis=1), kind="stable")[:5].tolist()
    assert query(clf, X, n=3, strategy="random", random_state=0).shape == (3,)
    for strategy in ("entropy", "least-confident"):
        with pytest.raises(ValueError, match=rf"got '{strategy}': its rows have many labels"):
            scores(clf, X, strategy)
    first_order = model("pa1").fit(X, Y)
    assert scores(first_order, X, "margin").shape == (120,)
    with pytest.raises(ValueError, match="strategy must be one that needs no variances"):
        scores(first_order, X)


def test_a_batch_of_many_labels_holds_no_copies():
    X, Y = data()
    clf = model("arow", projection="precision", passes=1).fit(X[:20], Y[:20])
    before = scores(clf, X)
    twice = np.vstack([X, X])

    def n_distinct(**how):
        return len({row % 120 for row in query(clf, twice, n=8, **how).tolist()})

    assert n_distinct() == 4
    assert n_distinct(batch=True) > 6
    assert np.array_equal(scores(clf, X), before)


# ------------------------------------------------------------------------------ query


def test_best_first_and_ties_by_number():
    clf, X = fitted(3)
    X = np.vstack([X, X[::-1]])
    found = scores(clf, X)
    want = np.lexsort((np.arange(len(X)), found))
    for n in (1, 2, 7, len(X) - 1, len(X)):
        assert query(clf, X, n).tolist() == want[:n].tolist()
        assert query(clf, X, n).dtype == np.int64


def test_texts_are_asked_about_as_they_are():
    clf = SureTextClassifier().fit(["good film", "bad film"], ["yes", "no"])
    texts = ["good good", "film", "bad"]
    assert query(clf, texts).tolist() == [1]
    mean, variance = clf.margin(texts)
    noise = rules.get(clf.rule).label_noise
    np.testing.assert_allclose(scores(clf, texts), np.abs(mean) / np.sqrt(variance + noise))


# ------------------------------------------------------------------------------ batch


def test_a_rule_of_ones_own_is_asked_for_its_gain():
    """As AROW, so the same batch; and what it raises comes out."""
    clf, X = fitted(2, rule="arow")
    own = rules.Custom(lambda m, v: (max(0.0, 1 - m) / (v + 1), 1.0 if m < 1 else 0.0))
    same, _ = fitted(2, rule=own)
    assert query(same, X, 10, batch=True).tolist() == query(clf, X, 10, batch=True).tolist()


# ----------------------------------------------------------------------------- errors


@pytest.mark.parametrize("strategy", ["acl", "margin", "entropy", "least-confident", "novel"])
@pytest.mark.parametrize("model", [SureClassifier(scale=False), LogisticRegression()], ids=str)
def test_before_fit_there_is_only_random(model, strategy):
    assert query(model, NEAR, 2, "random", random_state=0).shape == (2,)
    if strategy in ("acl", "novel") and not isinstance(model, SureClassifier):
        return
    with pytest.raises(NotFittedError, match="not fitted"):
        query(model, NEAR, 1, strategy)


def test_other_errors():
    clf, X = fitted(2)
    with pytest.raises(ValueError, match="strategy must be one of 'random', 'margin', 'acl'"):
        query(clf, X, 1, "surest")
    with pytest.raises(ValueError, match="n must be at most 120, got 121"):
        query(clf, X, 121)
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        query(clf, X, 0)
    with pytest.raises(ValueError, match="batch needs strategy='acl', got 'margin'"):
        query(clf, X, 2, "margin", batch=True)
    one = SureClassifier(scale=False).partial_fit(X[:2], ["a", "a"])
    with pytest.raises(ValueError, match="got 'acl': the model knows one class only"):
        query(one, X)


def test_every_strategy_is_there():
    known = {"random", "margin", "acl", "entropy", "least-confident", "novel"}
    assert set(active.STRATEGIES) == known


def gain_of(clf: SureClassifier):
    rule = rules.get(clf.rule)
    step = partial(REGISTRY[rule.name], **rule.params())
    return lambda v, a: step(0.0, v, *([a] if rule.name == "variance-exact" else []))[1]


@pytest.mark.parametrize("rule", SECOND_ORDER)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_batch_is_the_one_of_variances_that_really_shrink(rule, n_classes):
    clf, X = fitted(n_classes, rule=rule)
    noise = getattr(rules.get(rule), "noise", 0.0)
    want = reference.batch(plain(clf), with_ones(X), 12, gain_of(clf), noise=noise)
    assert query(clf, X, 12, batch=True).tolist() == want
    assert query(clf, sparse.csr_matrix(X), 12, batch=True).tolist() == want


@pytest.mark.parametrize("projection", ["precision", "covariance"])
def test_a_batch_goes_by_the_projection(projection):
    clf, X = fitted(3, rule="arow", projection=projection)
    want = reference.batch(plain(clf), with_ones(X), 20, gain_of(clf))
    assert query(clf, X, 20, batch=True).tolist() == want


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_batch_with_full_covariance(n_classes):
    clf, X = fitted(n_classes, rule="arow", covariance="full")
    want = reference.batch(plain(clf), with_ones(X), 12, gain_of(clf))
    assert query(clf, X, 12, batch=True).tolist() == want


@pytest.mark.parametrize("how", ["ovr", "ovo", "ecoc"])
def test_a_batch_with_reductions(how):
    clf, X = fitted(4, rule="stdev", multiclass=how, decoding="scores")
    want = reference.batch(plain(clf), with_ones(X), 12, gain_of(clf), code_of(clf))
    assert query(clf, X, 12, batch=True).tolist() == want


def test_a_batch_asks_about_no_copy_where_there_is_something_else():
    X = np.eye(6)
    y = [0, 1, 0, 1, 0, 1]
    clf = SureClassifier("stdev", fit_intercept=False, scale=False).fit(X, y)
    rows = np.array([X[0] + X[1], X[0] + X[1], X[0] + X[1], X[2] + 1.02 * X[3]])
    assert query(clf, rows, 2).tolist() == [0, 1]
    assert scores(clf, rows)[:3].tolist() == [0.0, 0.0, 0.0]
    assert query(clf, rows, 3, batch=True).tolist() == [0, 3, 1]


def test_a_batch_leaves_the_model_as_it_was(tmp_path):
    clf, X = fitted(3)
    clf.save(tmp_path / "before")
    query(clf, X, 30, batch=True)
    clf.save(tmp_path / "after")
    assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()


@pytest.mark.parametrize("n", [1, 2, 3, 9, 49, 50, 51, 200])
def test_ties_keep_their_order_however_many_are_chosen(n):
    score = np.random.default_rng(0).integers(0, 99, 200).astype(float)
    assert first(score, n).tolist() == np.argsort(score, kind="stable")[:n].tolist()

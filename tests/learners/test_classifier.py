"""SureClassifier: what users are promised, each with a test that fails when it is broken."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import ndtr

import strategies
from classifiers import X4, Y4, classifier, fingerprint, spread
from reference.learner import Learner
from reference.rules import FIRST_ORDER
from surelearn import SureClassifier, rules

# ------------------------------------------------------------------ agreement


@given(
    problem=strategies.problems(),
    rule=strategies.rules(),
    projection=st.sampled_from(["precision", "covariance"]),
    average=st.booleans(),
)
def test_fit_agrees_with_the_reference(problem, rule, projection, average):
    """Two passes, not shuffled, labels that are texts, weights among which are zeros."""
    clf = classifier(
        rule,
        projection=projection,
        average=average,
        passes=2,
        shuffle=False,
        dtype="float64",
        class_weight={"b": 0.5} if 1 in problem.y else None,
    )
    labels = np.array(list("abcd"))[problem.y]
    present = np.unique(problem.y[problem.sample_weight > 0])
    want = Learner(problem.X.shape[1], len(present), *rule, projection=projection, average=average)
    mistakes = []
    refused = False
    for _ in range(2):
        before = want.mistakes
        for x, y, w in zip(problem.X, problem.y, problem.sample_weight, strict=True):
            if w and not refused:
                try:
                    want.learn(x, int(np.searchsorted(present, y)), w * (0.5 if y == 1 else 1.0))
                except FloatingPointError:
                    refused = True
        mistakes.append(want.mistakes - before)
    if refused:
        with pytest.raises(ValueError, match=r"row \d+ must leave finite weights"):
            clf.fit(problem.X, labels, sample_weight=problem.sample_weight)
        return
    clf.fit(problem.X, labels, sample_weight=problem.sample_weight)
    mean = want.mean()
    scale = np.abs(mean).max(initial=1e-9)
    coef = np.column_stack([clf.coef_, clf.intercept_])
    np.testing.assert_allclose(coef, mean, rtol=1e-8, atol=1e-8 * scale)
    assert len(clf.mistakes_) == 2
    if not want.close_calls:
        assert clf.mistakes_.tolist() == mistakes
        assert clf.n_updates_ == want.updates
    assert clf.classes_.tolist() == list(np.array(list("abcd"))[present])
    if rule[0] not in FIRST_ORDER:
        sigma = np.column_stack([clf.sigma_, clf.intercept_sigma_])
        np.testing.assert_allclose(sigma, want.sigma, rtol=1e-8)


# ----------------------------------------------------- promise 1: any chunking


@given(
    problem=strategies.problems(),
    rule=strategies.rules(),
    cuts=st.sets(st.integers(1, 11)),
    form=st.sampled_from(["dense", "csr", "csr64"]),
    average=st.booleans(),
)
def test_any_chunking_gives_the_same_bits(problem, rule, cuts, form, average):
    classes = np.arange(problem.n_classes)
    options = {"projection": "covariance", "average": average}
    whole = classifier(rule, **options)
    pieces = classifier(rule, **options)
    rows = classifier(rule, **options)
    forms = {"dense": lambda X: X, "csr": sparse.csr_matrix, "csr64": _wide}
    whole.partial_fit(problem.X, problem.y, classes, problem.sample_weight)
    bounds = [0, *sorted(c for c in cuts if c < len(problem.y)), len(problem.y)]
    for a, b in itertools.pairwise(bounds):
        X = forms[form](problem.X[a:b])
        pieces.partial_fit(X, problem.y[a:b], classes, problem.sample_weight[a:b])
    rows.partial_fit(problem.X[:1], problem.y[:1], classes, problem.sample_weight[:1])
    for x, y, w in list(zip(problem.X, problem.y, problem.sample_weight, strict=True))[1:]:
        rows.learn_one({int(j): float(x[j]) for j in np.flatnonzero(x)}, y, sample_weight=w)
    assert fingerprint(whole) == fingerprint(pieces) == fingerprint(rows)


def _wide(X):
    csr = sparse.csr_matrix(X)
    csr.indices, csr.indptr = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
    return csr


def test_same_seed_same_bits_and_n_jobs_changes_nothing():
    X, y = spread()
    one = SureClassifier(random_state=3, scale=False).fit(X, y)
    assert fingerprint(one) == fingerprint(
        SureClassifier(random_state=3, n_jobs=2, scale=False).fit(X, y)
    )
    assert fingerprint(one) != fingerprint(SureClassifier(random_state=4, scale=False).fit(X, y))


def test_input_is_left_alone():
    X, y = spread()
    csr = sparse.csr_matrix(X)
    before = (X.copy(), y.copy(), csr.data.copy(), csr.indices.copy())
    SureClassifier(scale=False).fit(X, y).predict(X)
    SureClassifier(scale=False).fit(csr, y).predict(csr)
    for array, kept in zip((X, y, csr.data, csr.indices), before, strict=True):
        np.testing.assert_array_equal(array, kept)
    X.flags.writeable = False
    SureClassifier(scale=False).fit(X, y)


# ---------------------------------------------------------------- late classes


@given(problem=strategies.problems(max_rows=16), rule=strategies.rules(), chunk=st.integers(1, 7))
def test_classes_that_appear_late_do_not_depend_on_the_chunking(problem, rule, chunk):
    one = classifier(rule, projection="precision").partial_fit(problem.X, problem.y)
    other = classifier(rule, projection="precision")
    for a in range(0, len(problem.y), chunk):
        other.partial_fit(problem.X[a : a + chunk], problem.y[a : a + chunk])
    assert fingerprint(one) == fingerprint(other)


def test_late_classes_follow_the_split():
    """Two classes are one vector; the third splits it; the fourth is a rival once it is seen."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9, 3))
    y = np.array(["m", "m", "z", "m", "b", "z", "q", "m", "b"])
    clf = SureClassifier(rules.Stdev(phi=1.0), dtype="float64", projection="precision", scale=False)
    clf.set_params(constraints="single").partial_fit(X, y)
    want = Learner(3, 2, "stdev", {"phi": 1.0})
    for i in (2, 3):  # "m" is 0 and "z" is 1; the first two rows came before a second class
        want.learn(X[i], "mz".index(y[i]))
    want.split()  # "m", "z", then "b" as index 2
    for i in (4, 5):
        want.learn(X[i], "mzb".index(y[i]))
    want.n_classes = 4
    want.mu = np.vstack([want.mu, np.zeros(4)])
    want.sigma = np.vstack([want.sigma, np.full(4, 0.5)])
    want._total = np.vstack([want._total, np.zeros(4)])
    for i in (6, 7, 8):
        want.learn(X[i], "mzbq".index(y[i]))
    assert clf.classes_.tolist() == ["b", "m", "q", "z"]
    order = ["mzbq".index(label) for label in clf.classes_]
    np.testing.assert_allclose(clf.coef_, want.mu[order][:, :3], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(clf.sigma_, want.sigma[order][:, :3], rtol=1e-9)
    assert clf.mistakes_.tolist() == [want.mistakes]


def test_a_declared_class_is_a_rival_at_once():
    X = np.eye(3)
    clf = SureClassifier(scale=False).partial_fit(X, [0, 1, 0], classes=[0, 1, 2])
    assert clf.classes_.tolist() == [0, 1, 2]
    assert clf.coef_.shape == (3, 3)
    clf.partial_fit(X, [0, 1, 0], classes=[5])
    assert clf.classes_.tolist() == [0, 1, 2, 5]


# -------------------------------------------------------------------- predicting


def test_averaging_changes_the_prediction_but_not_the_learning():
    X, y = spread()
    plain = SureClassifier(random_state=0, passes=2, scale=False).fit(X, y)
    averaged = SureClassifier(random_state=0, passes=2, average=True, scale=False).fit(X, y)
    np.testing.assert_array_equal(plain.sigma_, averaged.sigma_)
    assert plain.mistakes_.tolist() == averaged.mistakes_.tolist()
    assert not np.allclose(plain.coef_, averaged.coef_)


def test_two_class_probability_is_that_of_the_margin():
    X, y = spread(n_classes=2)
    for rule, noise in [(rules.Stdev(phi=1.0), 0.0), (rules.Probit(noise=4.0), 4.0)]:
        clf = SureClassifier(rule, random_state=0, probability="exact", scale=False).fit(
            X, y, calibrate=False
        )
        mean, variance = clf.margin(X)
        want = ndtr(mean / np.sqrt(variance + noise))
        np.testing.assert_allclose(clf.predict_proba(X)[:, 1], want, rtol=1e-14)
        np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1.0, rtol=1e-14)
        assert np.isfinite(clf.predict_log_proba(1e3 * X)).all()
        np.testing.assert_allclose(np.exp(clf.predict_log_proba(X)), clf.predict_proba(X))


# ------------------------------------------------------------------- the estimator


def test_labels_may_come_in_mixed_clothes():
    for labels in ([np.str_("a"), "b"], [np.int64(1), 2], np.array([1, 2], object)):
        clf = SureClassifier(scale=False).fit(X4, [*labels, *labels])
        assert clf.classes_.tolist() == sorted(map(type(clf.classes_.tolist()[0]), labels))
    with pytest.raises(TypeError, match="labels of the same type as before"):
        SureClassifier(scale=False).fit(X4, np.array([b"a", b"b"] * 2)).partial_fit(
            X4, [1, 2, 1, 2]
        )
    with pytest.raises(ValueError, match="classes must be a list of labels, got 3"):
        SureClassifier(scale=False).partial_fit(X4, Y4, classes=3)
    with pytest.raises(ValueError, match="no missing labels, got NaT at row 3"):
        SureClassifier(scale=False).fit(
            X4, np.array(["2020", "2021", "2020", "NaT"], "datetime64[Y]")
        )

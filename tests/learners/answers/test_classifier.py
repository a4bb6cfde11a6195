"""Probabilities, entropy, temperature and bins of the classifier."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse
from scipy.special import ndtr
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss

import strategies
from reference.probability import label_probabilities as reference_probabilities
from surelearn import (
    MulticlassSVM,
    SoftmaxClassifier,
    SureClassifier,
    SureKernelClassifier,
    load,
    rules,
)
from surelearn.learners.answers.classifier import scored_rows, scorer
from surelearn.probability import Reliability


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order] / 16.0, y[order]


def three_classes(n=300, seed=0):
    return make_classification(n, 8, n_informative=5, n_classes=3, class_sep=0.7, random_state=seed)


@given(problem=strategies.problems(max_classes=4))
def test_probabilities_are_those_of_the_margins(problem):
    kept = problem.sample_weight > 0
    clf = SureClassifier("arow", dtype="float64", probability="exact", scale=False)
    clf.partial_fit(problem.X[kept], problem.y[kept], classes=np.arange(problem.n_classes))
    mean, variance = clf.margin(problem.X)
    p = clf.predict_proba(problem.X)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    if problem.n_classes == 2:
        np.testing.assert_allclose(p[:, 1], ndtr(mean / np.sqrt(variance)), atol=1e-12)
    else:
        want = reference_probabilities(mean[0], variance[0])
        np.testing.assert_allclose(p[0], want, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_noise_of_probit_is_part_of_the_probability(n_classes):
    X, y = three_classes()
    y = y % n_classes
    clf = SureClassifier(rules.Probit(noise=5.0), dtype="float64", probability="exact", scale=False)
    clf.fit(X, y, calibrate=False)
    mean, variance = clf.margin(X[:5])
    if n_classes == 2:
        want = ndtr(mean / np.sqrt(variance + 5.0))
        np.testing.assert_allclose(clf.predict_proba(X[:5])[:, 1], want, atol=1e-12)
    else:
        for p, m, v in zip(clf.predict_proba(X[:5]), mean, variance, strict=True):
            np.testing.assert_allclose(p, reference_probabilities(m, v + 2.5), atol=1e-7)


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_a_third_class_changes_no_odds_of_the_first_two(covariance):
    """Two classes are one vector; as two blocks they have the same probabilities, noise too."""
    X, y = three_classes()
    two = y < 2
    clf = SureClassifier(covariance=covariance, dtype="float64", probability="exact", scale=False)
    clf.partial_fit(X[two], y[two])
    before = clf.predict_proba(X[:20])[:, 1]
    clf._model = clf._model.with_classes(np.arange(3))
    mean, spread = scorer(clf).noisy_moments(scored_rows(clf, X[:20]))
    if covariance == "diagonal":
        spread = spread[:, :, None] * np.eye(3)
    gap = mean[:, 1] - mean[:, 0]
    variance = spread[:, 0, 0] + spread[:, 1, 1] - 2 * spread[:, 0, 1]
    np.testing.assert_allclose(ndtr(gap / np.sqrt(variance)), before, atol=1e-9)


def test_full_covariance_of_three_classes_is_sampled_from_its_own_matrix():
    X, y = three_classes()
    clf = SureClassifier("stdev", covariance="full", passes=5, probability="exact", scale=False)
    clf.set_params(dtype="float64", random_state=0)
    p = clf.fit(X, y, calibrate=False).predict_proba(X[:40])
    np.testing.assert_array_equal(p, clf.predict_proba(X[:40]))
    np.testing.assert_array_equal(p[7:9], clf.predict_proba(X[7:9]))
    # Draws of whole weight vectors, as the paper has it.
    weights = np.random.default_rng(1).multivariate_normal(
        np.column_stack([clf.coef_, clf.intercept_]).ravel(), clf.sigma_, size=20_000
    )
    rows = np.column_stack([X[:40], np.ones(40)])
    scores = np.einsum("skj,ij->isk", weights.reshape(20_000, 3, -1), rows)
    want = np.stack([np.bincount(s.argmax(axis=1), minlength=3) for s in scores]) / 20_000
    np.testing.assert_allclose(p, want, atol=0.03)


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_sampled_probabilities_come_near_the_exact_ones(n_classes, covariance):
    X, y = three_classes()
    clf = SureClassifier(
        "arow", covariance=covariance, probability="exact", random_state=0, scale=False
    )
    clf.fit(X, y % n_classes)
    exact = clf.predict_proba(X[:30])
    drawn = clf.sample_proba(X[:30], 20_000, random_state=3)
    np.testing.assert_array_equal(drawn, clf.sample_proba(X[:30], 20_000, random_state=3))
    assert (drawn != clf.sample_proba(X[:30], 20_000, random_state=4)).any()
    np.testing.assert_allclose(drawn, exact, atol=0.03)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_logarithms_go_where_probabilities_end(n_classes):
    X = np.eye(3)[np.arange(90) % n_classes]
    y = np.arange(90) % n_classes
    clf = SureClassifier("arow", dtype="float64", shuffle=False, scale=False).fit(X, y)
    logs, p = clf.predict_log_proba(X[:3]), clf.predict_proba(X[:3])
    np.testing.assert_allclose(np.exp(logs), p, atol=1e-9)
    clf.temperature_ = 1e-3
    logs = clf.predict_log_proba(X[:3])
    assert np.isfinite(logs).all()
    assert (logs.min(axis=1) < -1000).all()


@pytest.mark.parametrize(
    ("clf", "may_differ"),
    [
        (SureClassifier(scale=False), False),
        (SureClassifier(multiclass="ovo", scale=False), False),
        (SoftmaxClassifier(), False),
        (SureClassifier(multiclass="ovo", probability="exact", scale=False), True),
        (SureKernelClassifier(), True),
        (MulticlassSVM(), True),
        (SoftmaxClassifier(moderated=True), True),
    ],
)
def test_the_most_probable_label_is_that_of_predict_where_the_guide_says_so(clf, may_differ):
    """See docs/howto/probabilities.md."""
    random = np.random.default_rng(0)
    X, new = random.normal(size=(400, 6)), random.normal(size=(10_000, 6))
    scores = X @ random.normal(size=(6, 4)) + random.normal(size=(400, 4))
    for y, differs in ((scores.argmax(axis=1), may_differ), (scores[:, 0] > 0, False)):
        clf = clone(clf).set_params(random_state=0).fit(X, y)
        likeliest = clf.classes_[clf.predict_proba(new).argmax(axis=1)]
        assert (likeliest != clf.predict(new)).any() == differs


def test_entropy_is_normalised(digits):
    X, y = digits
    clf = SureClassifier("probit", random_state=0, scale=False).fit(X[:500], y[:500])
    H = clf.entropy(X[500:])
    assert ((H >= 0) & (H <= 1)).all()
    wrong = clf.predict(X[500:]) != y[500:]
    assert H[wrong].mean() > 10 * H[~wrong].mean()  # it doubts where it errs
    fresh = SureClassifier(fit_intercept=False, scale=False).partial_fit(
        X[:1] * 0, y[:1], np.arange(10)
    )
    assert fresh.entropy(X[:1]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("rule", "covariance", "n_classes"),
    [("stdev", "diagonal", 3), ("arow", "diagonal", 2), ("probit", "diagonal", 3),
     ("stdev", "full", 3)],
)  # fmt: skip
@pytest.mark.parametrize("form", ["softmax", "exact"])
def test_calibration_lowers_the_log_loss_and_changes_no_prediction(
    rule, covariance, n_classes, form
):
    X, y = three_classes(900)
    y = y % n_classes
    clf = SureClassifier(
        rule, covariance=covariance, dtype="float64", passes=5, random_state=0, scale=False
    )
    clf.set_params(probability=form).fit(X[:300], y[:300], calibrate=False)
    before = log_loss(y[600:], clf.predict_proba(X[600:]))
    predicted = clf.predict(X)
    assert clf.calibrate(X[300:600], y[300:600]) is clf
    assert 1e-4 <= clf.temperature_ <= 1e4
    assert log_loss(y[600:], clf.predict_proba(X[600:])) < before + 0.002
    np.testing.assert_array_equal(clf.predict(X), predicted)
    # Twice is once: what is fitted does not depend on what was fitted before.
    tau = clf.temperature_
    assert clf.calibrate(X[300:600], y[300:600]).temperature_ == tau
    assert not hasattr(clf.fit(X[:300], y[:300], calibrate=False), "temperature_")


def test_the_temperature_is_kept_in_the_file(tmp_path):
    X, y = three_classes()
    clf = SureClassifier("stdev", random_state=0, scale=False).fit(X[:200], y[:200])
    clf.calibrate(X[200:], y[200:]).save(tmp_path / "m.sure")
    twin = load(tmp_path / "m.sure")
    assert twin.temperature_ == clf.temperature_
    np.testing.assert_array_equal(twin.predict_proba(X), clf.predict_proba(X))


def test_bins_of_the_2009_paper(digits):
    X, y = digits
    clf = SureClassifier("stdev", random_state=0, scale=False).fit(X[:600], y[:600])
    r = clf.reliability(X[600:], y[600:])
    assert isinstance(r, Reliability)
    assert r.count.sum() == len(y) - 600
    assert r.error == pytest.approx(1 - clf.score(X[600:], y[600:]))
    assert r.right_probability > r.wrong_probability
    assert r.entropy == pytest.approx(clf.entropy(X[600:]).mean())


def test_what_is_wrong_is_named():
    X, y = three_classes()
    with pytest.raises(NotFittedError):
        SureClassifier(scale=False).predict_proba(X)
    clf = SureClassifier(scale=False).fit(X, y)
    with pytest.raises(ValueError, match="y must"):
        clf.calibrate(X, np.full(len(y), 7))
    with pytest.raises(ValueError, match="one label for each of 300 rows"):
        clf.calibrate(X, y[:-1])
    with pytest.raises(ValueError, match="n_samples must be at least 1, got 0"):
        clf.sample_proba(X, 0)
    for name in ("predict_proba", "predict_log_proba", "sample_proba", "entropy", "calibrate",
                 "reliability", "margin"):  # fmt: skip
        assert not hasattr(SureClassifier("pa", scale=False).fit(X, y), name)


def test_sparse_and_dense_agree():
    X, y = three_classes()
    clf = SureClassifier(projection="precision", random_state=0, scale=False).fit(X, y)
    np.testing.assert_array_equal(clf.predict_proba(X), clf.predict_proba(sparse.csr_matrix(X)))


def noise(n_classes=3, n=60, d=4):
    random = np.random.default_rng(2)
    return random.normal(size=(n, d)), random.integers(0, n_classes, n)


def test_probabilities_survive_a_covariance_that_rounding_made_negative():
    X, y = load_wine(return_X_y=True)
    order = np.random.default_rng(7).permutation(len(y))
    X, y = X[order], y[order]
    clf = SureClassifier("nherd", covariance="full", scale=False)
    clf.partial_fit(X[y < 2], y[y < 2]).partial_fit(X[y == 2][:3], y[y == 2][:3])
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1)


def test_a_row_without_features_is_a_tie_also_with_full_covariance():
    X, y = noise()
    clf = SureClassifier(covariance="full", fit_intercept=False, random_state=0, scale=False).fit(
        X, y
    )
    np.testing.assert_allclose(clf.predict_proba(np.zeros((1, 4))), 1 / 3, atol=0.03)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_draws_share_a_tie(n_classes):
    X, y = noise(n_classes)
    clf = SureClassifier(fit_intercept=False, random_state=0, scale=False).fit(X, y)
    drawn = clf.sample_proba(np.zeros((1, 4)), 1000, random_state=0)
    np.testing.assert_allclose(drawn, clf.predict_proba(np.zeros((1, 4))), atol=0.1)


def test_full_probabilities_of_huge_rows_are_finite_as_diagonal_ones_are():
    X, y = noise()
    clf = SureClassifier(covariance="full", random_state=0, scale=False).fit(X, y)
    np.testing.assert_allclose(clf.predict_proba(1e200 * X[:3]).sum(axis=1), 1)


@pytest.mark.parametrize("asked", ["calibrate", "reliability"])
def test_labels_of_another_kind_are_refused_by_name(asked):
    X, y = noise()
    clf = SureClassifier(random_state=0, scale=False).fit(X, np.array(list("abc"), dtype=object)[y])
    with pytest.raises((TypeError, ValueError), match="y must"):
        getattr(clf, asked)(X, y)


def test_missing_labels_are_refused_by_reliability_too():
    X, y = noise()
    clf = SureClassifier(random_state=0, scale=False).fit(X, y)
    with pytest.raises(ValueError, match="y must have no missing labels"):
        clf.reliability(X[:3], [None, 0, 1])


def test_labels_are_named_as_the_user_typed_them():
    X, y = noise()
    clf = SureClassifier(random_state=0, scale=False).fit(X, y)
    with pytest.raises(ValueError, match="got 9 at row 2"):
        clf.calibrate(X[:3], [0, 1, 9])


def test_separable_rows_ask_for_no_higher_temperature():
    y = noise()[1]
    X = np.eye(3)[y]
    clf = SureClassifier(covariance="full", random_state=0, scale=False).fit(X, y)
    assert clf.calibrate(X, y).temperature_ <= 1.0


def test_reliability_sees_one_model_while_classes_arrive():
    X, y = noise(5, n=400, d=30)
    errors = []
    clf = SureClassifier(scale=False)
    done = threading.Event()

    def read():
        while not done.is_set():
            try:
                clf.reliability(X[:4], [0, 1, 1, 0])
            except Exception as error:
                errors.append(error)

    clf.fit(X[:50], y[:50] % 2)
    reader = threading.Thread(target=read)
    reader.start()
    for number in range(400):
        clf.fit(X[:50], y[:50] if number % 2 else y[:50] % 2)
    done.set()
    reader.join()
    assert not errors, errors[0]

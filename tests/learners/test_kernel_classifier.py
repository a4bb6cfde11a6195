"""SureKernelClassifier: with a linear kernel it is full covariance; budgets, classes, bad input."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score

import kernelled
from surelearn import SureClassifier, SureKernelClassifier, active, evaluate, kernels, merge, rules

X, Y = kernelled.rows(n=80)
X3, Y3 = kernelled.rows(n=90, n_classes=3, seed=1)
NEW = np.random.default_rng(5).normal(size=(20, 5))


def made(rule="arow", **params):
    return SureKernelClassifier(rule, **{"random_state": 0, **params})


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


# ------------------------------------------------------------------- the same as full covariance


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("rule", rules.RULES)
def test_a_linear_kernel_is_full_covariance(rule, fit_intercept):
    how = {"passes": 3, "initial_variance": 2.0, "fit_intercept": fit_intercept, "random_state": 0}
    weight = np.linspace(0.5, 2.0, 80)
    peer = kernelled.unfitted(rule, **how).fit(X, Y, weight, calibrate=False)
    clf = made(rule, kernel="linear", budget=None, **how).fit(X, Y, weight)
    close(clf.decision_function(NEW), peer.decision_function(NEW))
    assert clf.mistakes_.tolist() == peer.mistakes_.tolist()
    # A row that has met its constraint exactly may need a step of 1e-16, or none.
    assert abs(clf.n_updates_ - peer.n_updates_) <= 3
    assert clf.n_iter_ == 3
    if not rules.get(rule).first_order:
        close(clf.margin(NEW), peer.margin(NEW))
        close(clf.predict_proba(NEW), peer.predict_proba(NEW))
        np.testing.assert_allclose(
            clf.predict_log_proba(NEW), peer.predict_log_proba(NEW), rtol=1e-6, atol=1e-9
        )


@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "ecoc"])
@pytest.mark.parametrize("rule", kernelled.SECOND_ORDER)
def test_each_problem_of_a_code_is_full_covariance(rule, multiclass):
    clf = made(rule, kernel="linear", multiclass=multiclass, shuffle=False, passes=2).fit(X3, Y3)
    mean, variance = clf.margin(NEW)
    code = clf.model_.code.matrix
    for column in range(code.shape[1]):
        sides = code[Y3, column]
        own = sides != 0
        peer = kernelled.unfitted(rule, passes=2, shuffle=False).fit(X3[own], sides[own])
        close((mean[:, column], variance[:, column]), peer.margin(NEW))


def test_partial_fit_continues_as_full_covariance_does():
    peer, clf = kernelled.unfitted("stdev"), made("stdev", kernel="linear")
    for part in np.array_split(np.arange(80), 7):
        peer.partial_fit(X[part], Y[part], classes=[0, 1])
        clf.partial_fit(X[part], Y[part], classes=[0, 1])
        close(clf.margin(NEW), peer.margin(NEW))
    assert clf.mistakes_.tolist() == peer.mistakes_.tolist()


# --------------------------------------------------------------------------------------- kernels


def rbf(X, Z):
    return rbf_kernel(X, Z, gamma=0.3)


def test_a_function_is_a_kernel():
    expected = made(gamma=0.3).fit(X3, Y3)
    clf = made(kernel=rbf).fit(X3, Y3)
    close(clf.margin(NEW), expected.margin(NEW))


def test_kernel_values_can_be_computed_before():
    expected = made(gamma=0.3).fit(X3, Y3)
    clf = made(kernel="precomputed").fit(rbf(X3, X3), Y3)
    close(clf.margin(rbf(NEW, X3)), expected.margin(NEW))
    assert clf.points_.tolist() == clf.support_.tolist() == expected.support_.tolist()
    np.testing.assert_array_equal(expected.points_, X3[expected.support_])


def test_computed_values_tell_the_kernel_of_rows_with_themselves():
    expected = made(kernel="linear").fit(X3, Y3)
    clf = made(kernel="precomputed").fit(linear_kernel(X3, X3), Y3)
    rows = linear_kernel(NEW, X3)
    close(clf.decision_function(rows), expected.decision_function(NEW))
    with pytest.raises(ValueError, match="Append a column with them"):
        clf.predict_proba(rows)
    own = np.column_stack([rows, (NEW**2).sum(axis=1)])
    close(clf.predict_proba(own), expected.predict_proba(NEW))
    with pytest.raises(ValueError, match="X must have 90 columns for kernel='precomputed'"):
        clf.predict(rows[:, 1:])


def test_rows_without_weight_are_left_out_of_computed_values():
    weight = (np.arange(90) % 3 > 0).astype(float)
    kept = weight > 0
    gram = rbf(X3, X3)
    clf = made(kernel="precomputed", shuffle=False).fit(gram, Y3, weight)
    expected = made(kernel="precomputed", shuffle=False).fit(gram[np.ix_(kept, kept)], Y3[kept])
    close(clf.margin(rbf(NEW, X3)), expected.margin(rbf(NEW, X3[kept])))
    assert kept[clf.support_].all()
    other = made(gamma=0.3, shuffle=False).fit(X3, Y3, weight)
    assert other.support_.tolist() == clf.support_.tolist()


def test_cross_validation_cuts_computed_values():
    gram = rbf(X3, X3)
    found = cross_val_score(made(kernel="precomputed"), gram, Y3, cv=3)
    expected = cross_val_score(made(gamma=0.3), X3, Y3, cv=3)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "cosine"])
def test_sparse_rows_are_dense_ones(kernel):
    rows = X3 * (np.random.default_rng(0).random(X3.shape) < 0.6)
    dense, thin = (made(kernel=kernel, gamma=0.3, shuffle=False, passes=1) for _ in range(2))
    dense.fit(rows, Y3)
    thin.fit(sparse.csr_matrix(rows), Y3)
    close(thin.margin(sparse.csr_array(NEW)), dense.margin(NEW))
    assert sparse.issparse(thin.points_)


def test_entries_of_a_sparse_row_that_occur_twice_are_added():
    twice = sparse.csr_matrix((np.ones(4), [0, 0, 1, 1], [0, 2, 4]), shape=(2, 2))
    clf = made(kernel="rbf", gamma=0.1).fit(twice, [0, 1])
    close(clf.decision_function(twice), clf.decision_function(twice.toarray()))
    assert twice.nnz == 4


def test_gamma_is_that_of_the_first_rows():
    clf = made().partial_fit(X[:40], Y[:40])
    first = clf.kernel_
    assert first.gamma == pytest.approx(1 / (5 * X[:40].var()))
    assert clf.partial_fit(X[40:], Y[40:]).kernel_ is first
    assert made().fit(X, Y).kernel_.gamma == pytest.approx(1 / (5 * X.var()))


# ----------------------------------------------------------------------------- budget and support


def test_a_budget_bounds_every_problem():
    clf = made(budget=10, multiclass="ovo").fit(X3, Y3)
    assert clf.n_support_.shape == (3,)
    assert clf.n_support_.max() == 10
    assert len(clf.points_) <= 30


@pytest.mark.parametrize("rule", ["arow", "stdev", "probit", "scw1"])
def test_a_budget_does_not_collect_mislabelled_rows(rule):
    """The points that the others predict worst would be mostly noise."""
    moons, sides = make_moons(1500, noise=0.25, random_state=0)
    clf = made(rule, budget=60).fit(moons[:1000], sides[:1000])
    assert clf.score(moons[1000:], sides[1000:]) > 0.85


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_the_default_stands_noisy_labels(share):
    moons, sides = make_moons(1500, noise=0.15, random_state=0)
    flipped = np.random.default_rng(0).random(1000) < share
    clf = made("scw1", passes=3).fit(moons[:1000], sides[:1000] ^ flipped)
    assert clf.score(moons[1000:], sides[1000:]) > 0.9


def test_a_budget_above_the_rows_changes_no_bit():
    found = [made(budget=budget).fit(X3, Y3).margin(NEW) for budget in (None, 90, 10_000)]
    assert np.array(found[0]).tobytes() == np.array(found[1]).tobytes()
    assert np.array(found[0]).tobytes() == np.array(found[2]).tobytes()


def test_n_jobs_changes_no_bit():
    found = [made(n_jobs=n, passes=2).fit(X3, Y3).margin(NEW) for n in (1, 2, 5)]
    assert np.array(found[0]).tobytes() == np.array(found[1]).tobytes()
    assert np.array(found[0]).tobytes() == np.array(found[2]).tobytes()


# ------------------------------------------------------------------------------------- classes


def test_classes_can_come_late():
    clf = made(gamma=0.3)
    clf.partial_fit(X3[Y3 == 0][:3], [0] * 3)
    assert clf.predict(NEW).tolist() == [0] * 20
    with pytest.raises(ValueError, match="at least two known classes"):
        clf.decision_function(NEW)
    clf.partial_fit(X3[Y3 < 2], Y3[Y3 < 2])
    assert clf.decision_function(NEW).shape == (20,)
    clf.partial_fit(X3[Y3 == 2], Y3[Y3 == 2])
    assert clf.decision_function(NEW).shape == (20, 3)
    assert clf.classes_.tolist() == [0, 1, 2]
    assert clf.n_iter_ == 1
    assert clf.model_.counts.sum() == 3 + 90


def test_a_class_has_its_problem_from_its_first_row_on():
    order = np.concatenate([np.flatnonzero(Y3 != 1)[:30], np.flatnonzero(Y3 == 1)[:10]])
    mean, _ = made(kernel="linear").partial_fit(X3[order], Y3[order]).margin(NEW)
    second = np.flatnonzero(Y3[order] != Y3[order[0]])[0]  # before it there is nothing to learn
    for label, rows in ((0, order[second:]), (1, order[30:])):
        peer = kernelled.unfitted("arow")
        peer.partial_fit(X3[rows], Y3[rows] == label, classes=[False, True])
        close(mean[:, label], peer.decision_function(NEW))


def test_names_and_texts_are_labels():
    labels = np.array(["low", "high"])[Y]
    clf = made().fit(X, labels)
    assert set(clf.predict(NEW)) <= {"low", "high"}
    assert clf.classes_.tolist() == ["high", "low"]


def test_class_weights():
    heavy = made(class_weight={0: 5.0}).fit(X, Y)
    close(heavy.margin(NEW), made().fit(X, Y, np.where(Y == 0, 5.0, 1.0)).margin(NEW))
    balanced = made(class_weight="balanced").fit(X, Y)
    weight = 80 / (2 * np.bincount(Y)[Y])
    close(balanced.margin(NEW), made().fit(X, Y, weight).margin(NEW))
    stream = made(class_weight="balanced", kernel="linear").partial_fit(X, Y)
    peer = kernelled.unfitted("arow", class_weight="balanced").partial_fit(X, Y)
    close(stream.margin(NEW), peer.margin(NEW))


# -------------------------------------------------------------------------- scikit-learn's methods


def test_probabilities_are_calibrated_and_judged():
    clf = made("probit").fit(X3, Y3)
    p = clf.predict_proba(NEW)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert clf.entropy(NEW).shape == (20,)
    before = clf.predict(NEW)
    clf.calibrate(X3, Y3)
    assert clf.temperature_ > 0
    assert clf.predict(NEW).tolist() == before.tolist()
    assert clf.reliability(X3, Y3, bins=5).error == pytest.approx(1 - clf.score(X3, Y3))
    assert not hasattr(clf.fit(X3, Y3), "temperature_")


def test_first_order_rules_have_no_probabilities():
    clf = made("pa1").fit(X, Y)
    assert not hasattr(clf, "predict_proba")
    assert clf.score(X, Y) > 0.6


@pytest.mark.parametrize("strategy", ["acl", "margin", "entropy", "least-confident"])
@pytest.mark.parametrize("data", [(X, Y), (X3, Y3)])
def test_rows_to_ask_about(data, strategy):
    clf = made().fit(*data)
    asked = active.query(clf, NEW, n=3, strategy=strategy)
    assert len(set(asked.tolist())) == 3
    if strategy == "acl" and len(clf.classes_) == 2:
        mean, variance = clf.margin(NEW)
        assert asked[0] == np.argmin(np.abs(mean) / np.sqrt(variance))


def test_a_batch_of_rows_to_ask_about_needs_a_linear_model():
    with pytest.raises(ValueError, match="batch must be False for SureKernelClassifier"):
        active.query(made().fit(X, Y), NEW, n=2, batch=True)


def test_a_pool_teaches_it():
    pool = active.Pool(made(gamma=0.3), X, random_state=0)
    for _ in range(12):
        (row,) = pool.ask(1)
        pool.tell([row], [int(Y[row])])
    assert pool.model.score(X, Y) > 0.5


def test_evaluate_takes_it():
    assert evaluate(made().fit(X, Y), X, Y).accuracy > 0.6


def test_parameters_are_searched():
    grid = {"gamma": [0.01, 0.3], "rule__r": [0.1, 1.0]}
    found = GridSearchCV(SureKernelClassifier(rules.AROW(), random_state=0), grid, cv=2)
    assert found.fit(*load_iris(return_X_y=True)).best_score_ > 0.9


def test_copies_are_equal():
    clf = made(kernel="poly").fit(X3, Y3)
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.margin(NEW), clf.margin(NEW))
    again.partial_fit(X3, Y3)
    assert clone(clf).get_params() == clf.get_params()


def test_frames_have_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcde"))
    clf = made().fit(frame, Y)
    assert clf.feature_names_in_.tolist() == list("abcde")
    with pytest.raises(ValueError, match="feature names should match"):
        clf.predict(frame.rename(columns={"a": "z"}))


def test_a_thread_reads_while_another_learns():
    clf = made(gamma=0.3).partial_fit(X3, Y3)
    errors = []

    def read():
        try:
            for _ in range(30):
                assert clf.predict(NEW).shape == (20,)
                clf.predict_proba(NEW)
        except Exception as error:
            errors.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    while reader.is_alive():
        clf.partial_fit(X3[:5], Y3[:5])
    assert errors == []


def test_verbose_prints_a_line_a_pass(capsys):
    made(verbose=1, passes=2).fit(X, Y)
    assert capsys.readouterr().out.count("pass ") == 2


# ------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"budget": 1}, ValueError, "budget must be at least 2, got 1"),
        ({"kernel": "gauss"}, ValueError, "kernel must be one of 'linear'"),
        ({"gamma": -1.0}, ValueError, r"gamma must be in \(0, inf\)"),
        ({"coef0": -1.0}, ValueError, r"coef0 must be in \[0, inf\)"),
        ({"degree": 0}, ValueError, "degree must be at least 1"),
        ({"multiclass": "joint"}, ValueError, "multiclass must be 'ovr', 'ovo'.* got 'joint'"),
        ({"decoding": "votes"}, ValueError, "needs a problem for every two classes"),
        ({"passes": 0}, ValueError, "passes must be at least 1"),
        ({"initial_variance": 0.0}, ValueError, "initial_variance must be"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be"),
    ],
)
def test_bad_parameters_are_refused(params, error, message):
    with pytest.raises(error, match=message):
        made(**params).fit(X, Y)


def test_functions_that_are_no_kernels_are_refused():
    with pytest.raises(ValueError, match="must be positive semi-definite"):
        made(kernel=lambda X, Z: -linear_kernel(X, Z)).fit(X, Y)
    with pytest.raises(ValueError, match="must be symmetric"):
        made(kernel="precomputed").fit(np.arange(6400.0).reshape(80, 80), Y)
    with pytest.raises(ValueError, match="must be positive semi-definite"):
        made(kernel=lambda X, Z: -linear_kernel(X, Z)).partial_fit(X, Y)


def test_bad_rows_are_refused():
    bad = X.copy()
    bad[7, 1] = np.nan
    with pytest.raises(ValueError, match="X must be finite, got NaN or infinity in row 7"):
        made().fit(bad, Y)
    clf = made().fit(X, Y)
    with pytest.raises(ValueError, match="X must be finite"):
        clf.predict(bad)
    with pytest.raises(ValueError, match="X has 4 features"):
        clf.predict(X[:, 1:])
    with pytest.raises(ValueError, match="square matrix for kernel='precomputed'"):
        made(kernel="precomputed").fit(X, Y)
    with pytest.raises(ValueError, match="Pass all rows to fit"):
        made(kernel="precomputed").partial_fit(X, Y)
    with pytest.raises(NotFittedError):
        made().predict(X)


def test_rows_without_weight_teach_nothing():
    nothing = np.zeros(80)
    assert not hasattr(made().partial_fit(X, Y, sample_weight=nothing), "classes_")
    with pytest.raises(ValueError, match="sample_weight must have a positive entry"):
        made().partial_fit(X, Y, classes=[0, 1], sample_weight=nothing)
    clf = made().partial_fit(X, Y)
    before = clf.margin(NEW)
    clf.partial_fit(X, Y, sample_weight=nothing)
    np.testing.assert_array_equal(clf.margin(NEW), before)
    clf.partial_fit(X, Y, classes=[0, 1, 2], sample_weight=nothing)
    assert clf.decision_function(NEW).shape == (20, 3)


def test_a_refused_call_changes_nothing():
    clf = made().fit(X, Y)
    before = clf.margin(NEW)
    with pytest.raises(ValueError, match="X must have values whose kernel is finite"):
        clf.partial_fit(X * 1e200, Y)
    with pytest.raises(ValueError, match="X must have values whose kernel is finite"):
        clf.set_params(kernel="linear").fit(X * 1e200, Y)
    np.testing.assert_array_equal(clf.margin(NEW), before)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"budget": 50}, "budget must stay 1000 in a fitted model, got 50"),
        ({"kernel": "linear"}, r"kernel must stay RBF\(gamma=.*\).*, got Linear\(\)"),
        ({"gamma": 0.7}, "kernel must stay RBF"),
        ({"fit_intercept": False}, "fit_intercept must stay True"),
        ({"initial_variance": 2.0}, "initial_variance must stay 1.0"),
        ({"multiclass": "ovo"}, "multiclass must stay 'ovr'"),
        ({"rule": "pa1"}, "rule"),
        ({"kernel": "precomputed"}, "Pass all rows to fit"),
    ],
)
def test_a_fitted_model_keeps_its_settings(params, message):
    clf = made().fit(X, Y).set_params(**params)
    with pytest.raises(ValueError, match=message):
        clf.partial_fit(X, Y)


def test_it_is_not_merged():
    with pytest.raises(TypeError, match="common features to be merged, got SureKernelClassifier"):
        merge([made().fit(X, Y), made().fit(X, Y)])
    with pytest.raises(TypeError, match="common features to be merged, got SureKernelClassifier"):
        merge([made().fit(X, Y), made().fit(X, [f"other {label}" for label in Y])])
    with pytest.raises(TypeError, match="common features to be merged, got SureKernelClassifier"):
        merge([SureClassifier(scale=False).fit(X, Y), made()])


def test_it_has_no_projection():
    for classifier in (made(), made().fit(X, Y)):
        with pytest.raises(AttributeError, match="object has no attribute 'projection_'"):
            classifier.projection_  # noqa: B018


def test_support_numbers_belong_to_fit():
    clf = made().partial_fit(X, Y)
    with pytest.raises(AttributeError, match="support_ needs the rows of one fit"):
        _ = clf.support_
    assert kernels.RBF(1.0) != clf.kernel_


@pytest.mark.parametrize("rule", ["perceptron", "pa1"])
def test_first_order_rules_keep_the_newest_points(rule):
    X, y = kernelled.rows(n=300)
    clf = SureKernelClassifier(rule, budget=20, shuffle=False).fit(X, y)
    every = SureKernelClassifier(rule, budget=None, shuffle=False).fit(X, y)
    assert len(clf.support_) == 20 < len(every.support_)
    assert clf.support_.min() > every.support_[len(every.support_) // 4]


def test_memory_counts_the_rows_of_a_problem(monkeypatch):
    """Of all pairs of 60 classes, each has 4 rows: no megabyte."""
    monkeypatch.setattr("surelearn.weights.MEMORY_LIMIT", 10**7)
    X = np.random.default_rng(0).normal(size=(120, 3))
    clf = SureKernelClassifier(multiclass="ovo").fit(X, np.arange(120) % 60)
    assert clf.n_support_.max() <= 4
    with pytest.raises(MemoryError, match="problems"):
        SureKernelClassifier("probit").fit(np.tile(X, (4, 1)), np.arange(480) % 60)


def test_a_kernel_in_single_precision():
    X, y = kernelled.rows(n=150)
    clf = SureKernelClassifier(kernel=lambda a, b: (a @ b.T).astype(np.float32)).fit(X, y)
    assert clf.score(X, y) > 0.5

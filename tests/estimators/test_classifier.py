"""SureClassifier: what users are promised, each with a test that fails when it is broken."""

from __future__ import annotations

import contextlib
import copy
import itertools
import pickle
import signal
import threading

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import ndtr
from sklearn.model_selection import GridSearchCV

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


def test_one_pass_of_fit_is_partial_fit():
    X, y = spread()
    one = SureClassifier(passes=1, shuffle=False).fit(X, y)
    other = SureClassifier().partial_fit(X, y, classes=[0, 1, 2])
    assert fingerprint(one) == fingerprint(other)


def test_same_seed_same_bits_and_n_jobs_changes_nothing():
    X, y = spread()
    one = SureClassifier(random_state=3).fit(X, y)
    assert fingerprint(one) == fingerprint(SureClassifier(random_state=3, n_jobs=2).fit(X, y))
    assert fingerprint(one) != fingerprint(SureClassifier(random_state=4).fit(X, y))


def test_input_is_left_alone():
    X, y = spread()
    csr = sparse.csr_matrix(X)
    before = (X.copy(), y.copy(), csr.data.copy(), csr.indices.copy())
    SureClassifier().fit(X, y).predict(X)
    SureClassifier().fit(csr, y).predict(csr)
    for array, kept in zip((X, y, csr.data, csr.indices), before, strict=True):
        np.testing.assert_array_equal(array, kept)
    X.flags.writeable = False
    SureClassifier().fit(X, y)


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
    clf = SureClassifier(rules.Stdev(phi=1.0), dtype="float64", projection="precision")
    clf.partial_fit(X, y)
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


def test_one_class_teaches_nothing_until_a_second_appears():
    clf = SureClassifier().partial_fit([[1.0, 2.0]], ["a"])
    assert clf.classes_.tolist() == ["a"]
    assert clf.predict([[1.0, 1.0], [0.0, 0.0]]).tolist() == ["a", "a"]
    assert clf.n_updates_ == 0
    with pytest.raises(ValueError, match="coef_ needs at least two known classes"):
        _ = clf.coef_
    with pytest.raises(ValueError, match="decision_function needs at least two known classes"):
        clf.decision_function([[1.0, 1.0]])
    clf.learn_one([1.0, 0.0], "b")
    fresh = SureClassifier(projection="covariance").partial_fit([[1.0, 0.0]], ["b"], ["a", "b"])
    np.testing.assert_array_equal(clf.coef_, fresh.coef_)


def test_many_classes_in_a_small_chunk_are_nothing_to_warn_of():
    X, y = np.eye(31), np.array([f"c{i}" for i in range(31)])
    clf = SureClassifier().partial_fit(X, y, classes=y)
    clf.partial_fit(X[:9], y[:9])
    assert len(clf.classes_) == 31


def test_a_declared_class_is_a_rival_at_once():
    X = np.eye(3)
    clf = SureClassifier().partial_fit(X, [0, 1, 0], classes=[0, 1, 2])
    assert clf.classes_.tolist() == [0, 1, 2]
    assert clf.coef_.shape == (3, 3)
    clf.partial_fit(X, [0, 1, 0], classes=[5])
    assert clf.classes_.tolist() == [0, 1, 2, 5]


# ------------------------------------------------------------ promise 5: weights


@given(problem=strategies.problems(), rule=strategies.rules())
def test_zero_weight_changes_nothing(problem, rule):
    kept = problem.sample_weight > 0
    options = {"passes": 2, "shuffle": False, "projection": "covariance"}
    with_zeros = classifier(rule, **options)
    without = classifier(rule, **options)
    with_zeros.fit(problem.X, problem.y, sample_weight=problem.sample_weight)
    without.fit(problem.X[kept], problem.y[kept], sample_weight=problem.sample_weight[kept])
    assert fingerprint(with_zeros) == fingerprint(without)


def test_no_weight_at_all_is_refused_by_fit_and_nothing_to_a_stream():
    clf = SureClassifier().partial_fit(X4, Y4)
    before = fingerprint(clf)
    with pytest.raises(ValueError, match="sample_weight must have a positive entry, got zero"):
        clf.fit(X4, Y4, sample_weight=np.zeros(4))
    clf.partial_fit(X4, Y4, sample_weight=np.zeros(4))
    clf.learn_one(X4[0], "yes", sample_weight=0.0)
    assert fingerprint(clf) == before
    fresh = SureClassifier().partial_fit(X4, Y4, sample_weight=np.zeros(4))
    assert fingerprint(fresh.partial_fit(X4, Y4)) == before


# -------------------------------------------------------------------- predicting


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_predictions_are_those_of_the_coefficients(n_classes, average, fit_intercept):
    X, y = spread(n_classes=n_classes)
    clf = SureClassifier(average=average, fit_intercept=fit_intercept, random_state=0).fit(X, y)
    scores = X @ clf.coef_.T.astype(float) + clf.intercept_
    variance = X**2 @ clf.sigma_.T.astype(float) + clf.intercept_sigma_
    if n_classes == 2:
        scores, variance = scores[:, 0], variance[:, 0]
        assert clf.coef_.shape == clf.sigma_.shape == (1, 6)
    np.testing.assert_allclose(clf.decision_function(X), scores, rtol=1e-6, atol=1e-9)
    mean, v = clf.margin(X)
    np.testing.assert_array_equal(mean, clf.decision_function(X))
    np.testing.assert_allclose(v, variance, rtol=1e-6)
    winners = (scores > 0).astype(int) if n_classes == 2 else scores.argmax(axis=1)
    assert clf.predict(X).tolist() == clf.classes_[winners].tolist()
    assert [clf.predict_one(x) for x in X] == clf.predict(X).tolist()
    csr = sparse.csr_matrix(X)
    assert [clf.predict_one(csr[i]) for i in range(9)] == clf.predict(X[:9]).tolist()
    assert clf.predict_one(dict(enumerate(X[0]))) == clf.predict(X[:1])[0]
    assert not fit_intercept or clf.intercept_.any()
    assert fit_intercept or not clf.intercept_.any()


def test_averaging_changes_the_prediction_but_not_the_learning():
    X, y = spread()
    plain = SureClassifier(random_state=0, passes=2).fit(X, y)
    averaged = SureClassifier(random_state=0, passes=2, average=True).fit(X, y)
    np.testing.assert_array_equal(plain.sigma_, averaged.sigma_)
    assert plain.mistakes_.tolist() == averaged.mistakes_.tolist()
    assert not np.allclose(plain.coef_, averaged.coef_)


def test_two_class_probability_is_that_of_the_margin():
    X, y = spread(n_classes=2)
    for rule, noise in [(rules.Stdev(phi=1.0), 0.0), (rules.Probit(noise=4.0), 4.0)]:
        clf = SureClassifier(rule, random_state=0).fit(X, y)
        mean, variance = clf.margin(X)
        want = ndtr(mean / np.sqrt(variance + noise))
        np.testing.assert_allclose(clf.predict_proba(X)[:, 1], want, rtol=1e-14)
        np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1.0, rtol=1e-14)
        assert np.isfinite(clf.predict_log_proba(1e3 * X)).all()
        np.testing.assert_allclose(np.exp(clf.predict_log_proba(X)), clf.predict_proba(X))


@pytest.mark.parametrize("name", sorted(FIRST_ORDER))
def test_first_order_rules_lack_what_needs_variances(name):
    clf = SureClassifier(name).fit(X4, Y4)
    for attribute in ("margin", "predict_proba", "predict_log_proba", "sigma_"):
        assert not hasattr(clf, attribute)
    with pytest.raises(AttributeError, match="has no attribute 'margin'") as caught:
        _ = clf.margin
    assert "rule must keep variances for this" in str(caught.value.__cause__)


def test_coef_is_a_read_only_view():
    clf = SureClassifier().fit(X4, Y4)
    view = clf.coef_
    for array in (view, clf.sigma_, clf.intercept_, clf.intercept_sigma_):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    before = view.copy()
    clf.partial_fit(10 * X4, np.where(Y4 == "no", "yes", "no"))
    assert not np.array_equal(view, before)


# ------------------------------------------------------------------- the estimator


def test_one_row_of_pandas_is_dense():
    X = spread()[0]
    assert SureClassifier().learn_one(pd.Series(X[0]), 0).projection_ == "covariance"
    assert SureClassifier().learn_one(sparse.coo_array(X[0]), 0).projection_ == "precision"


def test_what_was_fitted_tells_what_there_is():
    X, y = spread()
    clf = SureClassifier("perceptron", average=True).fit(X, y).set_params(rule="arow")
    assert not hasattr(clf, "sigma_")
    assert not hasattr(clf, "margin")
    clf = SureClassifier("arow").fit(X, y).set_params(rule="perceptron")
    assert clf.sigma_.shape == (*clf.margin(X)[1][0].shape, 6)


def test_labels_may_come_in_mixed_clothes():
    for labels in ([np.str_("a"), "b"], [np.int64(1), 2], np.array([1, 2], object)):
        clf = SureClassifier().fit(X4, [*labels, *labels])
        assert clf.classes_.tolist() == sorted(map(type(clf.classes_.tolist()[0]), labels))
    with pytest.raises(TypeError, match="labels of the kind known so far"):
        SureClassifier().fit(X4, np.array([b"a", b"b"] * 2)).partial_fit(X4, [1, 2, 1, 2])
    with pytest.raises(ValueError, match="classes must be a list of labels, got 3"):
        SureClassifier().partial_fit(X4, Y4, classes=3)
    with pytest.raises(ValueError, match="no missing labels, got NaT at row 3"):
        SureClassifier().fit(X4, np.array(["2020", "2021", "2020", "NaT"], "datetime64[Y]"))


def test_counts_are_of_rows_not_of_passes():
    X, y = spread()
    clf = SureClassifier(passes=5, random_state=0).fit(X, y)
    assert clf._model.counts.tolist() == np.bincount(y).tolist()


def test_another_thread_meets_the_old_model_until_fit_is_done():
    X, y = spread(2000)
    wide = np.hstack([X] * 20)
    clf = SureClassifier(random_state=0).fit(X, y)
    want = clf.decision_function(X[:3])
    other = threading.Thread(target=SureClassifier.fit, args=(clf.set_params(passes=40), wide, y))
    other.start()
    answers = []
    while other.is_alive():
        with contextlib.suppress(ValueError):  # 6 features are too few once fit has ended
            answers.append(clf.decision_function(X[:3]))
    other.join()
    assert answers
    assert all(np.array_equal(answer, want) for answer in answers)
    assert clf.n_features_in_ == 120


def test_interrupted_learning_counts_what_it_learnt():
    X = np.ones((600_000, 2))
    y = np.tile([0, 1], 300_000)
    clf = SureClassifier("arow").partial_fit(X[:10], y[:10], classes=[0, 1])

    def interrupt(*_):
        raise KeyboardInterrupt

    def learn_for_long():
        for _ in range(100):
            clf.partial_fit(X, y)

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.03)
    try:
        with pytest.raises(KeyboardInterrupt):
            learn_for_long()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    rounds = clf._model.weights.state()["rounds"]
    assert rounds == clf._model.counts.sum()


def test_rule_parameters_can_be_set_and_searched():
    X, y = spread()
    clf = SureClassifier(rules.Stdev(eta=0.9))
    assert clf.get_params()["rule__phi"] == rules.Stdev(eta=0.9).phi
    clf.set_params(rule__eta=0.5)
    assert clf.rule == rules.Stdev(phi=0.0)
    clf.set_params(rule="arow", rule__r=5.0)
    assert clf.rule == rules.AROW(r=5.0)
    with pytest.raises(TypeError, match=r"AROW\(r=5.0\) must be given 'r', got 'eta'"):
        clf.set_params(rule__eta=0.9)
    with pytest.raises(ValueError, match="Invalid parameter 'rules'"):
        clf.set_params(rules=1)
    for grid in ({"rule__r": [0.1, 10.0]}, {"rule": [rules.AROW(r=0.1), rules.AROW(r=10.0)]}):
        search = GridSearchCV(clf, grid, cv=3).fit(X, y)
        assert search.best_score_ > 0.5


def test_names_of_features_are_kept():
    X, y = spread()
    frame = pd.DataFrame(X, columns=list("uvwxyz"))
    clf = SureClassifier().fit(frame, y)
    assert clf.feature_names_in_.tolist() == list("uvwxyz")
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(frame[list("zyxwvu")])


def test_pickle_and_copy_go_on_learning_alike():
    X, y = spread()
    clf = SureClassifier(average=True).partial_fit(X, y)
    clf.learn_one(X[0], y[0])
    twins = [pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf)]
    clf.partial_fit(X, y)
    for twin in twins:
        assert fingerprint(twin) != fingerprint(clf)
        assert fingerprint(twin.partial_fit(X, y)) == fingerprint(clf)


def test_verbose_reports_every_pass(capsys):
    X, y = spread()
    SureClassifier(passes=2, verbose=1, random_state=0).fit(X, y)
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("pass 1/2: 200 of 200 rows, ")
    assert second.startswith("pass 2/2: ")
    assert " mistakes (" in second
    assert second.endswith(" rows/s")


def test_mistakes_have_one_entry_a_pass():
    X, y = spread()
    clf = SureClassifier(passes=3, random_state=0).fit(X, y)
    assert len(clf.mistakes_) == 3
    last = clf.mistakes_[-1]
    clf.partial_fit(X, (y + 1) % 3)
    assert len(clf.mistakes_) == 3
    assert clf.mistakes_[-1] > last

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
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import strategies
from reference.learner import Learner
from reference.rules import FIRST_ORDER
from surelearn import SureClassifier, constraints, load, rules
from surelearn.estimators._model import Refused


def classifier(rule, **options):
    name, params = rule
    return SureClassifier(rules.RULES[name](**params), **options)


def fingerprint(clf):
    """Every bit of what a classifier has learnt."""
    model = clf._model
    state = model.weights.state() if model.weights else {}
    cells = {k: np.asarray(v).tobytes() for k, v in state.items() if k != "layout"}
    return (model.classes.tolist(), model.projection, model.mistakes, model.updates,
            model.counts.tolist(), cells)  # fmt: skip


def spread(n=200, d=6, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    centres = rng.normal(size=(n_classes, d)) * 2
    return centres[y] + rng.normal(size=(n, d)), y


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
        class_weight={"b": 0.5},
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


# --------------------------------------------------------- promise 4: bad input


def _tuples():
    y = np.empty(4, object)
    y[:] = [(0, 1), (1, 0)] * 2
    return y


X4 = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [0.5, 3.0]])
Y4 = np.array(["no", "yes", "yes", "no"])


@pytest.mark.parametrize(
    ("X", "y", "weight", "error", "message"),
    [
        (X4 * np.nan, Y4, None, ValueError, "X must be finite, got NaN or infinity in row 0"),
        (np.where(X4 == 3, np.inf, X4), Y4, None, ValueError, "infinity in row 3"),
        (sparse.csr_matrix(X4 * np.nan), Y4, None, ValueError, "X must be finite"),
        (X4[:, :1], Y4, None, ValueError, "X has 1 features, but SureClassifier is expecting 2"),
        (X4, Y4[:3], None, ValueError, "y must have one label for each of 4 rows of X, got 3"),
        (X4, ["no", None, "yes", "no"], None, ValueError, "no missing labels, got None at row 1"),
        (X4, [0.0, np.nan, 1.0, 0.0], None, ValueError, "no missing labels, got nan at row 1"),
        (X4, [0.0, 0.5, 1.0, 0.0], None, ValueError, "y must hold classes, got 0.5 at row 1"),
        (X4, ["no", 1, "yes", "no"], None, TypeError, "labels of one kind, got int and str"),
        (X4, [1, 2, 1, 2], None, TypeError, "labels of the kind known so far, such as 'no'"),
        (X4, Y4, [1, 1, -1, 1], ValueError, "sample_weight must be .* got -1.0 at row 2"),
        (X4, Y4, [1, np.nan, 1, 1], ValueError, "sample_weight must be .* got nan at row 1"),
        (X4, Y4, [1, 1], ValueError, r"sample_weight must have shape \(4,\) as y has"),
        (X4, Y4, ["a"] * 4, TypeError, "sample_weight must be numbers, got"),
        (X4, ["a", pd.NA, "b", "a"], None, ValueError, "no missing labels, got <NA> at row 1"),
        (X4, _tuples(), None, TypeError, r"y must hold texts, numbers or booleans, got \(0, 1\)"),
    ],
)
def test_bad_input_is_named_and_leaves_the_model(X, y, weight, error, message):
    clf = SureClassifier().partial_fit(X4, Y4)
    before, attributes = fingerprint(clf), dict(clf.__dict__)
    with pytest.raises(error, match=message):
        clf.partial_fit(X, y, sample_weight=weight)
    assert fingerprint(clf) == before
    assert clf.__dict__.keys() == attributes.keys()
    if "1 features" not in message and "kind known" not in message:
        with pytest.raises(error, match=message):
            clf.fit(X, y, sample_weight=weight)
        assert fingerprint(clf) == before
        assert clf.n_features_in_ == 2


@pytest.mark.parametrize(
    ("x", "y", "error", "message"),
    [
        ([1.0, np.nan], "no", ValueError, "x must be finite, got NaN or infinity"),
        ([1.0, 2.0, 3.0], "no", ValueError, "x must have 2 features as in fit, got 3"),
        ({2: 1.0}, "no", ValueError, "x must have indices of its own columns"),
        ({-1: 1.0}, "no", ValueError, "x must have indices of its own columns"),
        ({"word": 1.0}, "no", TypeError, "x must be a dict of feature numbers and values, got"),
        ({0: None}, "no", TypeError, "x must be a dict of feature numbers and values, got"),
        ({2**70: 1.0}, "no", TypeError, "x must be a dict of feature numbers and values, got"),
        ([], "no", ValueError, r"x must be one row of at least one feature, got shape \(1, 0\)"),
        (1.0, "no", ValueError, "x must be one row of at least one feature, got shape"),
        ([1j, 1.0], "no", TypeError, "x must be a row of numbers, got dtype complex128"),
        (["a", "b"], "no", TypeError, "x must be a row of numbers, got dtype <U1"),
        (np.eye(2), "no", ValueError, r"x must be one row .*, got shape \(2, 2\)"),
        ([1.0, 2.0], None, ValueError, "y must have no missing labels, got None"),
        ([1.0, 2.0], 3, TypeError, "labels of the kind known so far"),
        ([1.0, 2.0], ["no", "yes"], ValueError, "y"),
    ],
)
def test_a_bad_row_is_named_and_leaves_the_model(x, y, error, message):
    clf = SureClassifier().partial_fit(X4, Y4)
    before = fingerprint(clf)
    with pytest.raises(error, match=message):
        clf.learn_one(x, y)
    assert fingerprint(clf) == before


def test_one_class_is_not_enough_for_fit():
    clf = SureClassifier().fit(X4, Y4)
    before = fingerprint(clf)
    with pytest.raises(ValueError, match="fit needs at least two classes, got 1 class: 'no'"):
        clf.fit(X4, ["no"] * 4)
    with pytest.raises(ValueError, match="got 1 class: 'no'"):
        clf.fit(X4, Y4, sample_weight=(Y4 == "no").astype(float))
    assert fingerprint(clf) == before


@pytest.mark.parametrize("method", ["predict", "decision_function", "margin", "predict_proba"])
def test_predict_before_fit(method):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(SureClassifier(), method)(X4)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        SureClassifier().predict_one(X4[0])
    assert not hasattr(SureClassifier(), "coef_")
    with pytest.raises(NotFittedError, match="coef_ must be learnt first"):
        _ = SureClassifier().coef_


@pytest.mark.parametrize(
    "scheme",
    [constraints.Sequential(2), constraints.Parallel(mixing=[1, 1]), constraints.Exact(2)],
)
def test_fit_refuses_more_rivals_than_there_are(scheme):
    """A stream may still bring them: partial_fit uses those there are."""
    clf = SureClassifier("variance", constraints=scheme, shuffle=False, passes=1)
    with pytest.raises(ValueError, match=r"needs at least 3 classes for 2 rivals, got 2\. Use"):
        clf.fit(X4, Y4)
    some = type(scheme)(1)
    want = SureClassifier("variance", constraints=some, shuffle=False, passes=1).fit(X4, Y4)
    clf.partial_fit(X4, Y4, classes=np.unique(Y4))
    assert clf.coef_.tobytes() == want.coef_.tobytes()


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"rule": "cw"}, ValueError, "rule must be one of 'variance', 'variance-exact'.*got 'cw'"),
        ({"projection": "both"}, ValueError, "projection must be one of 'auto', 'precision', 'cov"),
        ({"constraints": "double"}, ValueError, "constraints must be one of 'single', 'sequ"),
        ({"multiclass": "all"}, ValueError, "multiclass must be one of 'joint', 'ovr'"),
        ({"combine": "sum"}, ValueError, "combine must be one of 'bayes', 'weighted'"),
        ({"passes": 0}, ValueError, "passes must be at least 1, got 0"),
        ({"passes": 1.5}, TypeError, "passes must be a whole number, got 1.5"),
        ({"shuffle": "yes"}, TypeError, "shuffle must be True or False, got 'yes'"),
        ({"initial_variance": 0}, ValueError, r"initial_variance must be in \(0, inf\), got 0"),
        ({"initial_variance": 1e60}, ValueError, "initial_variance must be within .* 'float32'"),
        ({"dtype": "float16"}, ValueError, "dtype must be 'float32' or 'float64', got 'float16'"),
        ({"class_weight": "even"}, ValueError, "class_weight must be None, 'balanced' or a dict"),
        ({"class_weight": {"no": -1}}, ValueError, r"class_weight\['no'\] must be in \[0, inf\)"),
        ({"n_jobs": "all"}, TypeError, "n_jobs must be a whole number"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be None, -1 or at least 1, got 0"),
        ({"verbose": "a lot"}, TypeError, "verbose must be a whole number, got 'a lot'"),
        ({"rule": rules.Rule()}, TypeError, "rule must be one of 'variance'"),
        ({"covariance": "half"}, ValueError, "covariance must be one of 'diagonal', 'full', got"),
        ({"covariance": "full", "rule": "pa"}, ValueError, "keeps variances, got PA\\(\\)"),
        ({"constraints": "exact"}, ValueError, "Exact.* needs rule Variance, .*got AROW"),
        ({"constraints": "exact", "rule": "scw1"}, ValueError, "needs rule Variance.*got SCW1"),
        ({"constraints": constraints.Exact}, TypeError, r"value such as Exact\(\), got the class"),
        ({"multiclass": "ecoc"}, NotImplementedError, "multiclass='ecoc' is not available yet"),
        ({"multiclass": np.eye(2)}, NotImplementedError, "coding matrix.* is not available yet"),
        ({"cost": np.eye(2)}, ValueError, "cost must be 0 where the label is right"),
        ({"cost": "high"}, TypeError, "cost must be a square matrix of numbers, got 'high'"),
        ({"cost": [[0, 1]]}, ValueError, r"cost must be a square matrix, got shape \(1, 2\)"),
        ({"cost": [[0, -1], [1, 0]]}, ValueError, r"cost must hold numbers in \[0, 1e6\]"),
        ({"cost": 1 - np.eye(3)}, ValueError, r"cost must be a \(2, 2\) matrix for classes .*3, 3"),
        ({"cost": 1 - np.eye(2), "rule": "probit"}, ValueError, "asks for a margin, got Probit"),
        ({"n_shards": 2}, NotImplementedError, "n_shards=2 is not available yet"),
    ],
)
def test_wrong_parameters_are_named(params, error, message):
    clf = SureClassifier().fit(X4, Y4)
    before = fingerprint(clf)
    clf.set_params(**params)
    for call in (clf.fit, clf.partial_fit):
        with pytest.raises(error, match=message):
            call(X4, Y4)
    with pytest.raises(error, match=message):
        clf.learn_one(X4[0], "no")
    assert fingerprint(clf) == before


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"dtype": "float64"}, "dtype must stay 'float32' in a fitted model, got 'float64'"),
        ({"fit_intercept": False}, "fit_intercept must stay True"),
        ({"average": True}, "average must stay False"),
        ({"initial_variance": 2.0}, "initial_variance must stay 1.0"),
        ({"rule": "perceptron"}, "rule must stay a second-order one"),
    ],
)
def test_a_fitted_model_keeps_its_form(params, message):
    clf = SureClassifier().fit(X4, Y4).set_params(**params)
    with pytest.raises(ValueError, match=message):
        clf.partial_fit(X4, Y4)
    clf.fit(X4, Y4)


def collapsing():
    """Dense, correlated, labels at random: the precision form loses every variance."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 8)) + 3 * rng.normal(size=(400, 1))
    return X, rng.integers(0, 2, 400)


def test_a_collapsing_fit_names_the_other_projection_and_keeps_the_model():
    X, y = collapsing()
    clf = SureClassifier(rules.Stdev(phi=2.0), projection="covariance", random_state=0).fit(X, y)
    before = fingerprint(clf)
    clf.set_params(projection="precision")
    with pytest.raises(ValueError, match=r"row \d+ must .*Use projection='covariance'"):
        clf.fit(X, y)
    assert fingerprint(clf) == before


def test_a_collapsing_stream_keeps_the_rows_before_and_names_the_row():
    X, y = collapsing()
    clf = SureClassifier(rules.Stdev(phi=2.0), projection="precision")
    with pytest.raises(ValueError, match=r"row \d+ must leave") as caught:
        clf.partial_fit(X, y)
    row = int(str(caught.value).split()[1])
    assert row > 1
    kept = SureClassifier(rules.Stdev(phi=2.0), projection="precision")
    kept.partial_fit(X[:row], y[:row])
    assert fingerprint(clf) == fingerprint(kept)
    assert np.isfinite(clf.coef_).all()
    with pytest.raises(ValueError, match=r"row 0 must leave"):
        clf.learn_one(X[row], y[row])
    assert fingerprint(clf) == fingerprint(kept)


def test_classes_after_the_refused_row_stay_unknown():
    X, y = collapsing()
    y = np.concatenate([[2], y, [3]])
    X = np.concatenate([X[:1], X, X[:1]])
    clf = SureClassifier(rules.Stdev(phi=3.0), projection="precision")
    with pytest.raises(ValueError, match=r"row \d+ must leave"):
        clf.partial_fit(X, y)
    assert clf.classes_.tolist() == [0, 1, 2]
    assert clf.coef_.shape[0] == 3


def test_the_refused_row_is_named_by_its_number_in_x():
    X = np.ones((10, 2))
    X[7] = 1e200
    weight = np.ones(10)
    weight[:4] = 0
    for call in (SureClassifier().partial_fit, SureClassifier(shuffle=False).fit):
        with pytest.raises(ValueError, match="row 7 must leave"):
            call(X, [0, 1] * 5, sample_weight=weight)


@pytest.mark.parametrize("n_known", [2, 3])
def test_a_refused_row_makes_no_class_known(n_known):
    clf = SureClassifier().partial_fit(np.eye(3), np.arange(3) % n_known)
    before = fingerprint(clf)
    with pytest.raises(ValueError, match="row 0 must leave"):
        clf.learn_one(np.full(3, 1e200), 7)
    assert fingerprint(clf) == before
    with pytest.raises(ValueError, match="row 1 must leave"):
        clf.partial_fit([[1.0, 0.0, 0.0], [1e200, 1.0, 1.0]], [0, 7])
    assert clf.classes_.tolist() == list(range(n_known))


def test_averages_stay_finite():
    """The sum behind the average may overflow where the mean does not: the row is refused."""
    clf = SureClassifier("perceptron", average=True, fit_intercept=False)
    clf.partial_fit([[0.0, 1.0]] * 3000, [1] * 3000, classes=[0, 1])
    before = fingerprint(clf)
    with pytest.raises(ValueError, match="row 0 must leave"):
        clf.partial_fit([[3e38, 0.0]], [1])
    assert fingerprint(clf) == before
    assert np.isfinite(clf.coef_).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("projection", ["precision", "covariance"])
def test_stdev_can_be_rescaled_for_ever(projection, dtype, tmp_path):
    """Contradicting rows shrink the variances without end; a late class still fits in."""
    clf = SureClassifier(
        rules.Stdev(phi=3.0), fit_intercept=False, projection=projection, dtype=dtype
    )
    clf.partial_fit([[1.0]] * 2000, [0, 1] * 1000)
    assert np.isfinite(clf._model.weights.prior)
    clf.save(tmp_path / "m.sure")
    assert fingerprint(load(tmp_path / "m.sure")) == fingerprint(clf)
    clf.partial_fit([[2.0], [1.0]], [2, 0])
    assert np.isfinite(clf.sigma_).all()


@given(seed=st.integers(0, 10**6), chunk=st.integers(1, 200))
def test_rescaling_does_not_depend_on_the_chunking(seed, chunk):
    """Classes that come later in a batch have their columns from its start; they must not count."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 2))
    y = np.concatenate([rng.integers(0, 3, 195), [3, 3, 4, 0, 3]])

    def learnt(size):
        clf = SureClassifier(rules.Stdev(phi=3.0), fit_intercept=False, projection="precision")
        with contextlib.suppress(Refused):
            for a in range(0, 200, size):
                clf.partial_fit(X[a : a + size], y[a : a + size])
        return fingerprint(clf)

    assert learnt(chunk) == learnt(200)


def test_odd_rows_have_one_outcome_each():
    empty = sparse.csr_matrix((1, 2))
    for dense in (True, False):
        X = empty.toarray() if dense else empty
        clf = SureClassifier(fit_intercept=False).partial_fit(X4, Y4)
        before = np.array(clf.coef_)
        mistakes, updates = clf.mistakes_[0], clf.n_updates_
        clf.partial_fit(X, ["no"])  # nothing to learn from; a tie is a mistake
        np.testing.assert_array_equal(clf.coef_, before)
        assert (clf.mistakes_[0], clf.n_updates_) == (mistakes + 1, updates)
        assert clf.predict(X).tolist() == ["no"]  # the first class of a tie
        np.testing.assert_array_equal(clf.predict_proba(X), [[0.5, 0.5]])
        clf = SureClassifier().partial_fit(X, ["yes"], classes=["no", "yes"])
        assert clf.intercept_[0] > 0  # only the intercept learns
        assert not clf.coef_.any()


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


def test_class_weights_and_sample_weights_multiply():
    X, y = spread()
    options = {"shuffle": False, "passes": 1}
    by_class = SureClassifier(class_weight={1: 3.0, 2: 0.0}, **options).fit(X, y)
    by_row = SureClassifier(**options).fit(
        X, y, sample_weight=np.select([y == 1, y == 2], [3.0, 0.0], 1.0)
    )
    assert fingerprint(by_class) == fingerprint(by_row)
    assert by_class.classes_.tolist() == [0, 1]


def test_balanced_weights_use_all_counts_in_fit_and_running_ones_in_a_stream():
    X, y = spread(60)
    y = np.where(np.arange(60) % 5 == 0, y, 0)
    options = {"shuffle": False, "passes": 1, "projection": "covariance"}
    counts = np.bincount(y)
    by_row = SureClassifier(**options).fit(X, y, sample_weight=60 / (3 * counts[y]))
    fitted = SureClassifier(class_weight="balanced", **options).fit(X, y)
    assert fingerprint(by_row) == fingerprint(fitted)

    running, seen = [], {}
    for n, label in enumerate(y, 1):
        seen[label] = seen.get(label, 0) + 1
        running.append(n / (len(seen) * seen[label]))
    by_row = SureClassifier(**options).partial_fit(X, y, sample_weight=running)
    whole = SureClassifier(class_weight="balanced", **options).partial_fit(X, y)
    pieces = SureClassifier(class_weight="balanced", **options)
    for a in range(0, 60, 7):
        pieces.partial_fit(X[a : a + 7], y[a : a + 7])
    pieces_one = SureClassifier(class_weight="balanced", **options)
    for x, label in zip(X, y, strict=True):
        pieces_one.learn_one(x, label)
    assert fingerprint(by_row) == fingerprint(whole) == fingerprint(pieces)
    assert fingerprint(pieces_one) == fingerprint(whole)


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


def test_projection_is_decided_once():
    X, y = spread()
    assert SureClassifier().fit(X, y).projection_ == "covariance"
    clf = SureClassifier().fit(sparse.csr_matrix(X), y)
    assert clf.projection_ == "precision"
    assert clf.partial_fit(X, y).projection_ == "precision"
    assert clf.fit(X, y).projection_ == "covariance"
    assert SureClassifier(projection="precision").fit(X, y).projection_ == "precision"
    one = SureClassifier().learn_one(sparse.csr_matrix(X[:1]), 0)
    assert one.projection_ == "precision"


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


# --------------------------------------------------------- promise 9: many threads


def test_predictions_during_learning_see_whole_blocks():
    """A hundred equal features move together, so a mixture would show as unequal weights."""
    d, n = 100, 40_000
    X = np.ones((n, d))
    y = np.tile([0, 1, 1], n)[:n]
    clf = SureClassifier("pa1", fit_intercept=False, projection="precision")
    clf.partial_fit(X[:2], y[:2], classes=[0, 1])
    halves = np.zeros((2, d))
    halves[0, : d // 2] = 1.0
    halves[1, d // 2 :] = 1.0
    unequal, seen, done = [], [], threading.Event()

    def look():
        while not done.is_set():
            a, b = clf.decision_function(halves)
            seen.append(a)
            if a != b:
                unequal.append((a, b))

    readers = [threading.Thread(target=look) for _ in range(3)]
    for reader in readers:
        reader.start()
    for _ in range(5):
        clf.partial_fit(X, y)
    done.set()
    for reader in readers:
        reader.join()
    assert not unequal
    assert len(seen) > 10


def test_a_copy_during_learning_is_of_one_moment():
    """Two features always move together; a copy taken in the midst must have them equal."""
    n = 30_000
    X = np.ones((n, 64))
    y = np.tile([0, 1, 1], n)[:n]
    clf = SureClassifier(rules.Probit(), fit_intercept=False).partial_fit(X[:2], y[:2])
    learner = threading.Thread(target=lambda: [clf.partial_fit(X, y) for _ in range(3)])
    learner.start()
    copies = []
    while learner.is_alive():
        copies.append(copy.deepcopy(clf._model.weights))
    learner.join()
    assert copies
    for weights in copies:
        assert len(set(weights.means[0].tolist())) == 1
        assert len(set(weights.variances[0].tolist())) == 1

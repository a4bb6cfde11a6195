"""Promise 4: bad input is named before anything is learnt, and no bad row enters a model."""

from __future__ import annotations

import contextlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError

from estimators.test_classifier import X4, Y4, fingerprint
from surelearn import SureClassifier, constraints, load, rules
from surelearn.models.rows import Refused


def _tuples():
    y = np.empty(4, object)
    y[:] = [(0, 1), (1, 0)] * 2
    return y


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
        ({"constraints": "exact"}, ValueError, "Exact.* needs rule Variance, .*got Probit"),
        ({"constraints": "exact", "rule": "scw1"}, ValueError, "needs rule Variance.*got SCW1"),
        ({"constraints": constraints.Exact}, TypeError, r"value such as Exact\(\), got the class"),
        ({"multiclass": None}, TypeError, "multiclass must be one of 'joint'.* matrix, got None"),
        ({"multiclass": np.eye(2)}, ValueError, "must have a .1 and a -1 in every column"),
        ({"cost": np.eye(2)}, ValueError, "cost must be 0 where the label is right"),
        ({"cost": "high"}, TypeError, "cost must be a square matrix of numbers, got 'high'"),
        ({"cost": [[0, 1]]}, ValueError, r"cost must be a square matrix, got shape \(1, 2\)"),
        ({"cost": [[0, -1], [1, 0]]}, ValueError, r"cost must hold numbers in \[0, 1e6\]"),
        (
            {"cost": 1 - np.eye(3), "rule": "arow"},
            ValueError,
            r"cost must be a \(2, 2\) matrix for classes .*3, 3",
        ),
        ({"cost": 1 - np.eye(2), "rule": "probit"}, ValueError, "asks for a margin, got Probit"),
        ({"n_shards": 0}, ValueError, "n_shards must be at least 1, got 0"),
        ({"merge_every": 0}, ValueError, "merge_every must be at least 1, got 0"),
        (
            {"n_shards": 2, "rule": "pa"},
            ValueError,
            r"combine must be 'uniform' for rule PA\(\), which keeps no variances, got 'bayes'",
        ),
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


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        (
            {"initial_variance": 10**400},
            ValueError,
            r"initial_variance must be in \(0, inf\), got 1",
        ),
        ({"class_weight": {0: 10**400}}, ValueError, r"class_weight\[0\] must be in \[0, inf\)"),
        ({"cost": [[0, 10**400], [1, 0]]}, TypeError, "cost must be a square matrix of numbers"),
    ],
)
def test_numbers_beyond_all_doubles_are_refused(params, error, message):
    with pytest.raises(error, match=message):
        SureClassifier("arow", **params).fit(X4, [0, 1, 0, 1])


def test_weights_beyond_all_doubles_are_refused():
    with pytest.raises(TypeError, match="sample_weight must be numbers, got"):
        SureClassifier().fit(X4, Y4, sample_weight=[1, 2, 3, 10**400])
    with pytest.raises(TypeError, match="mixing must be a list of numbers, got"):
        constraints.Parallel(mixing=[1, 10**400])

"""A refused row leaves no trace, and weights stay finite."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from classifiers import X4, Y4, fingerprint
from surelearn import SureClassifier, load, rules
from surelearn.training.protocol import Refused


def collapsing():
    """Dense, correlated, labels at random: the precision form loses every variance."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 8)) + 3 * rng.normal(size=(400, 1))
    return X, rng.integers(0, 2, 400)


def test_a_collapsing_fit_names_the_other_projection_and_keeps_the_model():
    X, y = collapsing()
    clf = SureClassifier(
        rules.Stdev(phi=2.0), projection="covariance", random_state=0, scale=False
    ).fit(X, y)
    before = fingerprint(clf)
    clf.set_params(projection="precision")
    with pytest.raises(ValueError, match=r"row \d+ must .*Use projection='covariance'"):
        clf.fit(X, y)
    assert fingerprint(clf) == before


def test_a_collapsing_stream_keeps_the_rows_before_and_names_the_row():
    X, y = collapsing()
    clf = SureClassifier(rules.Stdev(phi=2.0), projection="precision", scale=False)
    with pytest.raises(ValueError, match=r"row \d+ must leave") as caught:
        clf.partial_fit(X, y)
    row = int(str(caught.value).split()[1])
    assert row > 1
    kept = SureClassifier(rules.Stdev(phi=2.0), projection="precision", scale=False)
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
    clf = SureClassifier(rules.Stdev(phi=3.0), projection="precision", scale=False)
    with pytest.raises(ValueError, match=r"row \d+ must leave"):
        clf.partial_fit(X, y)
    assert clf.classes_.tolist() == [0, 1, 2]
    assert clf.coef_.shape[0] == 3


def test_the_refused_row_is_named_by_its_number_in_x():
    X = np.ones((10, 2))
    X[7] = 1e200
    weight = np.ones(10)
    weight[:4] = 0
    for call in (
        SureClassifier(scale=False).partial_fit,
        SureClassifier(shuffle=False, scale=False).fit,
    ):
        with pytest.raises(ValueError, match="row 7 must leave"):
            call(X, [0, 1] * 5, sample_weight=weight)


@pytest.mark.parametrize("n_known", [2, 3])
def test_a_refused_row_makes_no_class_known(n_known):
    clf = SureClassifier(scale=False).partial_fit(np.eye(3), np.arange(3) % n_known)
    before = fingerprint(clf)
    with pytest.raises(ValueError, match="row 0 must leave"):
        clf.learn_one(np.full(3, 1e200), 7)
    assert fingerprint(clf) == before
    with pytest.raises(ValueError, match="row 1 must leave"):
        clf.partial_fit([[1.0, 0.0, 0.0], [1e200, 1.0, 1.0]], [0, 7])
    assert clf.classes_.tolist() == list(range(n_known))


def test_averages_stay_finite():
    """The sum behind the average may overflow where the mean does not: the row is refused."""
    clf = SureClassifier("perceptron", average=True, fit_intercept=False, scale=False)
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
        rules.Stdev(phi=3.0), fit_intercept=False, projection=projection, dtype=dtype, scale=False
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
        clf = SureClassifier(
            rules.Stdev(phi=3.0), fit_intercept=False, projection="precision", scale=False
        )
        with contextlib.suppress(Refused):
            for a in range(0, 200, size):
                clf.partial_fit(X[a : a + size], y[a : a + size])
        return fingerprint(clf)

    assert learnt(chunk) == learnt(200)


def test_odd_rows_have_one_outcome_each():
    empty = sparse.csr_matrix((1, 2))
    for dense in (True, False):
        X = empty.toarray() if dense else empty
        clf = SureClassifier(fit_intercept=False, scale=False).partial_fit(X4, Y4)
        before = np.array(clf.coef_)
        mistakes, updates = clf.mistakes_[0], clf.n_updates_
        clf.partial_fit(X, ["no"])  # nothing to learn from; a tie is a mistake
        np.testing.assert_array_equal(clf.coef_, before)
        assert (clf.mistakes_[0], clf.n_updates_) == (mistakes + 1, updates)
        assert clf.predict(X).tolist() == ["no"]  # the first class of a tie
        np.testing.assert_array_equal(clf.predict_proba(X), [[0.5, 0.5]])
        clf = SureClassifier(scale=False).partial_fit(X, ["yes"], classes=["no", "yes"])
        assert clf.intercept_[0] > 0  # only the intercept learns
        assert not clf.coef_.any()

"""Ellipses of two weights: they hold the share of draws that they promise."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.path import Path
from numpy.testing import assert_allclose, assert_array_equal

from surelearn import SureClassifier
from surelearn.plot import EllipseDisplay


def fitted(n_classes=2, **options):
    rng = np.random.default_rng(0)
    y = np.arange(90) % n_classes
    X = rng.normal(size=(n_classes, 4))[y] + rng.normal(size=(90, 4))
    names = np.array([f"class {k}" for k in range(n_classes)])
    return SureClassifier(random_state=0, passes=1, **options, scale=False).fit(X, names[y]), X


def drawn(display):
    figure = Figure(layout="constrained")
    ax = display.plot(figure.subplots(), title="a $ title").ax_
    figure.draw_without_rendering()
    return ax


# -------------------------------------------------------------------- computing


@pytest.mark.parametrize(("deviations", "share"), [(1, 0.3935), (2, 0.8647)])
def test_an_ellipse_holds_its_share_of_draws(deviations, share):
    covariance = np.array([[2.0, -1.2], [-1.2, 1.0]])
    display = EllipseDisplay([[3.0, -1.0]], [covariance])
    draws = np.random.default_rng(0).multivariate_normal([3, -1], covariance, size=40_000)
    inside = Path(display.outline(0, deviations)).contains_points(draws)
    assert inside.mean() == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_the_half_plane_of_scaled_columns_is_that_of_values_above_their_centre(covariance):
    X = np.random.default_rng(0).normal(size=(60, 3)) * [1, 100, 0.1] + [5, -300, 2]
    clf = SureClassifier(covariance=covariance, random_state=0).fit(X, X[:, 1] > -300)
    display = EllipseDisplay.from_estimator(clf, row=X[3], label=True)
    margin = float(clf.decision_function(X[3:4])[0])
    assert display.row_ @ display.means_[0] + display.offset_ == pytest.approx(margin)
    np.testing.assert_allclose(display.row_, (X[3] - X.mean(axis=0))[:2])


def test_the_half_plane_holds_its_share_of_draws():
    covariance = np.array([[2.0, -1.2], [-1.2, 1.0]])
    display = EllipseDisplay([[0.5, 0.2]], [covariance], row=[1.0, -2.0], offset=0.7)
    draws = np.random.default_rng(0).multivariate_normal([0.5, 0.2], covariance, size=40_000)
    assert display.probability()[0] == pytest.approx(
        np.mean(draws @ [1.0, -2.0] + 0.7 >= 0), abs=0.01
    )


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_weights_of_two_classes_with_full_covariance(fit_intercept):
    clf, _ = fitted(covariance="full", fit_intercept=fit_intercept)
    display = EllipseDisplay.from_estimator(clf, features=(3, 1))
    assert_array_equal(display.means_, clf.coef_[:, [3, 1]])
    assert_array_equal(display.covariances_, [clf.sigma_[np.ix_([3, 1], [3, 1])]])
    assert display.names_ is None


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_an_ellipse_for_each_of_three_classes(fit_intercept):
    clf, _ = fitted(3, covariance="full", fit_intercept=fit_intercept)
    display = EllipseDisplay.from_estimator(clf)
    assert display.names_ == ["class 0", "class 1", "class 2"]
    # Rows with only these two features: the variances of their scores, less the intercepts.
    x = np.zeros((1, 4))
    x[0, :2] = 1.0, -2.0
    expected = np.einsum("i,nij,j->n", x[0, :2], display.covariances_, x[0, :2])
    if not fit_intercept:
        assert_allclose(clf.margin(x)[1][0], expected)
    assert_array_equal(display.means_, clf.coef_[:, :2])
    stride = len(clf.sigma_) // 3
    assert_array_equal(
        display.covariances_[2], clf.sigma_[2 * stride : 2 * stride + 2, 2 * stride :][:, :2]
    )


def test_a_diagonal_covariance_has_no_tilt():
    clf, _ = fitted(3)
    display = EllipseDisplay.from_estimator(clf, (0, 2))
    for own, sigma in zip(display.covariances_, clf.sigma_, strict=True):
        assert_array_equal(own, np.diag(sigma[[0, 2]]))


def test_features_by_name():
    clf, X = fitted()
    frame = pd.DataFrame(X, columns=["red", "green", "blue", "grey"])
    named = SureClassifier(random_state=0, scale=False).fit(frame, clf.predict(X))
    display = EllipseDisplay.from_estimator(named, ("blue", 0))
    assert_array_equal(display.means_, named.coef_[:, [2, 0]])
    assert display.features_ == ("weight of blue", "weight of red")


def test_the_probability_of_a_row_is_that_of_the_model():
    """With two features and no intercept the picture shows all weights."""
    X, y = np.array([[1.0, 0.2], [-1.0, 0.5], [0.3, -2.0]]), ["yes", "no", "yes"]
    clf = SureClassifier(
        "arow", covariance="full", fit_intercept=False, passes=1, probability="exact", scale=False
    )
    clf.fit(X, y)
    for label, column in (("no", 0), ("yes", 1)):
        display = EllipseDisplay.from_estimator(clf, row=[0.8, 1.5], label=label)
        assert_allclose(display.probability()[0], clf.predict_proba([[0.8, 1.5]])[0, column])


def test_other_weights_of_a_row_move_the_line():
    clf, X = fitted()
    for label, sign in (("class 0", -1), ("class 1", 1)):
        display = EllipseDisplay.from_estimator(clf, (0, 1), row=X[0], label=label)
        margin = display.means_[0] @ display.row_ + display.offset_
        assert margin == pytest.approx(sign * clf.decision_function(X[:1])[0])


def test_a_row_shrinks_the_ellipse_along_itself():
    before = SureClassifier("arow", covariance="full", fit_intercept=False, scale=False)
    before.partial_fit([[1.0, 0.2], [-1.0, 0.5]], [1, 0], classes=[0, 1])
    x = np.array([0.8, 1.5])
    after = deepcopy(before).partial_fit([x], [0])
    display = EllipseDisplay.from_estimators({"before": before, "after": after}, row=x, label=0)
    assert display.names_ == ["before", "after"]
    along = [x @ own @ x for own in display.covariances_]
    assert along[1] < 0.5 * along[0]
    across = np.linalg.inv(display.covariances_) @ [-x[1], x[0]]  # the precision changes along x
    assert_allclose(across[0], across[1], rtol=1e-5)
    assert display.probability()[1] > display.probability()[0]


# ---------------------------------------------------------------------- drawing


def test_outlines_and_means_are_drawn():
    clf, _ = fitted(3)
    display = EllipseDisplay.from_estimator(clf)
    ax = drawn(display)
    assert len(ax.lines) == 9
    for place in range(3):
        two, one, mean = ax.lines[3 * place : 3 * place + 3]
        assert_allclose(np.transpose(two.get_data()), display.outline(place, 2))
        assert_allclose(np.transpose(one.get_data()), display.outline(place, 1))
        assert_allclose(np.ravel(mean.get_data()), display.means_[place])
    assert ax.get_aspect() == 1.0
    assert [text.get_text() for text in ax.get_legend().get_texts()] == display.names_
    low, high = np.transpose([ax.get_xlim(), ax.get_ylim()])
    points = np.concatenate([display.outline(place, 2) for place in range(3)])
    least, most = points.min(axis=0), points.max(axis=0)
    assert_allclose(least - low, high - most)  # the ellipses stand in the middle
    assert_allclose(high - low, 1.08 * (most - least).max())


def test_the_line_of_a_row_is_drawn():
    display = EllipseDisplay([[0, 0]], [np.eye(2)], row=[1.0, -2.0], offset=0.5)
    ax = drawn(display)
    shade, line = ax.collections
    (corners,) = line.get_paths()
    assert_allclose(corners.vertices @ [1.0, -2.0] + 0.5, 0, atol=1e-9)
    (half,) = shade.get_paths()
    assert (half.vertices @ [1.0, -2.0] + 0.5 >= -1e-9).all()
    assert ax.get_legend().get_texts()[0].get_text() == "59 % right"


def test_a_line_outside_the_frame(tmp_path):
    for offset in (2.5, -2.5):
        display = EllipseDisplay([[0, 0]], [np.eye(2)], row=[1, 0], offset=offset)
        display.save(tmp_path / "a.png")
        assert len(display.ax_.collections) == (offset > 0)
    EllipseDisplay([[0, 0]], np.zeros((1, 2, 2)), row=[0, 0]).save(tmp_path / "a.png")


# ----------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("arguments", "options", "says"),
    [
        (([0, 0], [np.eye(2)]), {}, r"means must have shape \(n, 2\), got shape \(2,\)"),
        (([[0, 0]], np.eye(2)), {}, r"covariances must have shape \(1, 2, 2\) for 1 means, got"),
        (([[0, 0]], [[[1, 2], [2, 1]]]), {}, "covariances must be symmetric without negative"),
        (([[0, 0]], [[[1, 1], [0, 1]]]), {}, "covariances must be symmetric without negative"),
        (([[0, 0]], [np.eye(2)]), {"names": ["a", "b"]}, "names must be 1, one for each"),
        (([[0, 0]], [np.eye(2)]), {"features": ["a"]}, "features must be two, got 1"),
        (([[0, 0]], [np.eye(2)]), {"row": [1]}, r"row must have shape \(2,\), got shape \(1,\)"),
    ],
)  # fmt: skip
def test_what_is_no_gaussian_is_refused(arguments, options, says):
    with pytest.raises(ValueError, match=says):
        EllipseDisplay(*arguments, **options)


@pytest.mark.parametrize(
    ("features", "error", "says"),
    [
        ((0, 4), ValueError, "features must be at most 3, got 4"),
        ((0, "red"), ValueError, "features must be among the names of the .*, got .red"),
        ("ab", TypeError, "features must be two columns or names, got 'ab'"),
        ((0,), ValueError, "features must be two columns or names, got 1"),
    ],
)  # fmt: skip
def test_unknown_features_are_refused(features, error, says):
    with pytest.raises(error, match=says):
        EllipseDisplay.from_estimator(fitted()[0], features)


def test_what_has_no_row_or_no_estimator_is_refused():
    clf, X = fitted(3)
    with pytest.raises(ValueError, match=r"row needs a model of 2 classes, got 3\."):
        EllipseDisplay.from_estimator(clf, row=X[0], label="class 0")
    two, _ = fitted()
    with pytest.raises(ValueError, match="label must be one of 'class 0', 'class 1', got None"):
        EllipseDisplay.from_estimator(two, row=X[0])
    with pytest.raises(ValueError, match=r"row must have shape \(4,\), got shape \(2,\)"):
        EllipseDisplay.from_estimator(two, row=[1, 2], label="class 0")
    with pytest.raises(TypeError, match=r"estimators must be a dict of \{name: estimator\}, got"):
        EllipseDisplay.from_estimators([two])
    with pytest.raises(ValueError, match="row must be given for probability, got None"):
        EllipseDisplay.from_estimator(two).probability()

"""Regions and boundaries over two features: they are those of `predict`."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron

from surelearn import SureClassifier, SureKernelClassifier
from surelearn.plot import BoundaryDisplay, style


def rows(n_classes=2):
    rng = np.random.default_rng(1)
    y = np.arange(90) % n_classes
    centres = np.array([[0.0, 0.0], [2.0, 1.0], [-1.0, 3.0]])
    return centres[y] + rng.normal(size=(90, 2)), np.array(["red", "green", "blue"])[y]


def fitted(kind=SureClassifier, n_classes=2, **options):
    X, y = rows(n_classes)
    return kind(random_state=0, **options).fit(X, y), X, y


def drawn(display):
    figure = Figure(layout="constrained")
    ax = display.plot(figure.subplots(), title="a $ title").ax_
    figure.draw_without_rendering()
    return ax


def black_lines(ax):
    """The points of all boundary lines."""
    lines = [c for c in ax.collections if c.get_linewidth()[0] == style.LINE]
    return [path.vertices for c in lines for path in c.get_paths() if len(path.vertices)]


# -------------------------------------------------------------------- computing

MODELS = [
    (SureClassifier, {}),
    (SureClassifier, {"covariance": "full"}),
    (SureClassifier, {"multiclass": "ovo"}),
    (SureKernelClassifier, {}),
    (LogisticRegression, {}),
    (RandomForestClassifier, {"n_estimators": 10}),
]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("kind", "options"), MODELS)
def test_regions_are_those_of_predict(kind, options, n_classes):
    clf, X, y = fitted(kind, n_classes, **options)
    display = BoundaryDisplay.from_estimator(clf, X, y, grid_resolution=20)
    for i, j in np.random.default_rng(0).integers(20, size=(30, 2)):
        at = [[display.x0_[j], display.x1_[i]]]
        assert display.classes_[display.winner_[i, j]] == clf.predict(at)[0]
        own = clf.predict_proba(at)[0, display.winner_[i, j]]
        assert display.certainty_[i, j] == pytest.approx(own, abs=1e-9)


@pytest.mark.parametrize("kind", [SureClassifier, SureKernelClassifier])
def test_deviations_of_two_classes_are_those_of_the_margin(kind):
    clf, X, _ = fitted(kind)
    display = BoundaryDisplay.from_estimator(clf, X, response="deviation", grid_resolution=9)
    mean, variance = clf.margin([[display.x0_[5], display.x1_[2]]])
    assert display.certainty_[2, 5] == pytest.approx(abs(mean[0]) / np.sqrt(variance[0]))


def test_deviations_of_three_classes_are_those_of_the_closest_rival():
    clf, X, _ = fitted(n_classes=3)
    display = BoundaryDisplay.from_estimator(clf, X, response="deviation", grid_resolution=9)
    for i, j in [(0, 0), (8, 1), (4, 7)]:
        mean, variance = (part[0] for part in clf.margin([[display.x0_[j], display.x1_[i]]]))
        best = display.winner_[i, j]
        leads = [(mean[best] - mean[k]) / np.sqrt(variance[best] + variance[k])
                 for k in range(3) if k != best]  # fmt: skip
        assert display.certainty_[i, j] == pytest.approx(min(leads))


def test_the_grid_covers_the_rows_with_a_margin():
    clf, X, _ = fitted()
    display = BoundaryDisplay.from_estimator(clf, X, grid_resolution=7, margin=0.5)
    for values, column in ((display.x0_, X[:, 0]), (display.x1_, X[:, 1])):
        assert len(values) == 7
        assert values[0] == pytest.approx(1.5 * column.min() - 0.5 * column.max())
        assert values[-1] == pytest.approx(1.5 * column.max() - 0.5 * column.min())
    assert display.points_ is None
    default = BoundaryDisplay.from_estimator(clf, X)
    assert default.x0_[0] == pytest.approx(1.1 * X[:, 0].min() - 0.1 * X[:, 0].max())
    assert default.winner_.shape == (100, 100)
    BoundaryDisplay.from_estimator(clf, X[:1], grid_resolution=7)  # no range at all


def test_a_frame_gives_names():
    X, y = rows()
    frame = pd.DataFrame(X, columns=["width", "height"])
    display = BoundaryDisplay.from_estimator(LogisticRegression().fit(frame, y), frame, y)
    assert display.features_ == ("width", "height")
    assert drawn(display).get_xlabel() == "width"


# ---------------------------------------------------------------------- drawing


@pytest.mark.parametrize("response", ["probability", "deviation"])
@pytest.mark.parametrize("kind", [SureClassifier, SureKernelClassifier])
def test_the_boundary_of_two_classes_has_margin_zero(kind, response):
    clf, X, y = fitted(kind)
    ax = drawn(BoundaryDisplay.from_estimator(clf, X, y, response=response, grid_resolution=200))
    lines = black_lines(ax)
    assert lines
    scale = np.abs(clf.decision_function(X)).mean()
    for points in lines:
        assert np.abs(clf.decision_function(points)).max() < 0.01 * scale


def test_boundaries_of_three_classes_separate_predictions():
    clf, X, y = fitted(n_classes=3)
    display = BoundaryDisplay.from_estimator(clf, X, y, grid_resolution=60)
    step = np.array([display.x0_[1] - display.x0_[0], display.x1_[1] - display.x1_[0]])
    lines = black_lines(drawn(display))
    assert len(lines) >= 2
    around = np.array([[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, -1], [1, -1], [-1, 1]])
    for point in np.concatenate(lines)[::7]:
        assert len(set(clf.predict(point + step * around))) > 1


def test_certain_cells_are_darker():
    display = BoundaryDisplay(
        [0, 1, 2], [0, 1], [[0, 0, 0], [1, 1, 1]], [[0.5, 0.75, 1.0], [1.0, 0.5, 0.6]],
        classes=["a", "b"],
    )  # fmt: skip
    (image,) = drawn(display).get_images()
    assert image.get_extent() == [-0.5, 2.5, -0.5, 1.5]  # the centres of cells are the values
    tints = np.asarray(image.get_array())
    for place in range(2):
        full = np.array(to_rgb(style.COLOURS[place]))
        strength = 0.1 + 0.6 * (2 * display.certainty_[place] - 1)
        assert_allclose(tints[place], 1 - strength[:, None] * (1 - full))


def test_points_have_the_colours_of_their_classes():
    clf, X, y = fitted(n_classes=3)
    ax = drawn(BoundaryDisplay.from_estimator(clf, X, y, grid_resolution=20))
    for place, dots in enumerate(ax.collections[-3:]):
        assert_array_equal(dots.get_offsets(), X[y == clf.classes_[place]])
        assert_allclose(dots.get_facecolor()[0, :3], to_rgb(style.COLOURS[place]))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["blue", "green", "red"]


def test_one_region_has_no_boundary(tmp_path):
    display = BoundaryDisplay(
        [0, 1], [0, 1], np.zeros((2, 2), int), np.full((2, 2), 0.7), classes=["a", "b"],
        points=[[0.5, 0.5]],
    )  # fmt: skip
    display.save(tmp_path / "a.png")
    assert not black_lines(display.ax_)
    assert (tmp_path / "a.png").stat().st_size > 5000


# ----------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"x0": [1, 0]}, ValueError, "x0 must be at least two increasing numbers"),
        ({"winner": [[0, 0]]}, ValueError, r"winner must have shape \(2, 2\), got shape \(1, 2\)"),
        ({"certainty": [1.0]}, ValueError, r"certainty must have shape \(2, 2\), got"),
        ({"lead": [1.0]}, ValueError, r"lead must have shape \(2, 2\), got shape \(1,\)"),
        ({"winner": [[0, 0], [0, 2]]}, ValueError, "winner must be within 0 and 1 for 2 classes"),
        ({"winner": [[0.0, 0], [0, 1]]}, TypeError, "winner must hold whole numbers, got float64"),
        ({"response": "rank"}, ValueError, "response must be one of 'probability', 'deviation'"),
        ({"points": [1, 2]}, ValueError, r"points must have shape \(n, 2\), got shape \(2,\)"),
        ({"points": [[1, 2]], "labels": [1, 2]}, ValueError, "labels must have one label for each"),
        ({"features": ["a"]}, ValueError, "features must be two, got 1"),
    ],
)  # fmt: skip
def test_what_is_no_grid_is_refused(changes, error, says):
    known = {"x0": [0, 1], "x1": [0, 1], "winner": [[0, 0], [1, 1]], "certainty": np.ones((2, 2)),
             "classes": ["a", "b"], **changes}  # fmt: skip
    with pytest.raises(error, match=says):
        BoundaryDisplay(**known)


def test_what_cannot_be_predicted_is_refused():
    clf, X, y = fitted()
    with pytest.raises(
        ValueError, match=r"X must have shape \(n_samples, 2\), got shape \(90, 1\)"
    ):
        BoundaryDisplay.from_estimator(clf, X[:, :1])
    with pytest.raises(TypeError, match=r"estimator must have predict_proba, got Perceptron\(\)"):
        BoundaryDisplay.from_estimator(Perceptron().fit(X, y), X)
    with pytest.raises(TypeError, match="estimator must have margin for response='deviation'"):
        BoundaryDisplay.from_estimator(LogisticRegression().fit(X, y), X, response="deviation")
    with pytest.raises(ValueError, match="response must be one of"):
        BoundaryDisplay.from_estimator(clf, X, response="rank")
    with pytest.raises(ValueError, match="grid_resolution must be at least 2, got 1"):
        BoundaryDisplay.from_estimator(clf, X, grid_resolution=1)
    codes, X, _ = fitted(n_classes=3, multiclass="ecoc")
    if codes.coef_.shape[0] != 3:
        with pytest.raises(ValueError, match="estimator must have a score for each of 3 classes"):
            BoundaryDisplay.from_estimator(codes, X, response="deviation")


@pytest.mark.parametrize(
    ("response", "most", "levels"),
    [
        ("probability", 1.0, ["0.6", "0.75", "0.9", "0.99"]),
        ("probability", 0.9, ["0.6", "0.75"]),
        ("deviation", 9.0, ["1", "2", "3"]),
        ("deviation", 1.0, []),
    ],
)
def test_thin_lines_are_labelled_with_their_certainty(response, most, levels):
    certainty = np.tile(np.linspace(0.5, most, 400), (2, 1))
    display = BoundaryDisplay(
        np.linspace(0, 9, 400), [0, 1], np.zeros((2, 400), int), certainty,
        classes=["a", "b"], response=response,
    )  # fmt: skip
    ax = drawn(display)
    assert [text.get_text() for text in ax.texts if text.get_text()[:1].isdigit()] == levels

"""The four panels of reliability, drawn from made-up numbers."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression, Perceptron

from surelearn import SureClassifier
from surelearn.plot import ReliabilityDisplay, style


def reliability(**changes):
    """Bins of a tenth; the first five and one more have no example."""
    count = np.array([0, 0, 0, 0, 0, 40, 0, 60, 100, 200])
    wrong = np.array([0, 0, 0, 0, 0, 20, 0, 15, 10, 4])
    with np.errstate(invalid="ignore"):
        parts = {
            "edges": np.linspace(0, 1, 11),
            "count": count,
            "error_share": wrong / count.sum(),
            "conditional_error": wrong / count,
            "mean_probability": np.where(count, np.arange(10) / 10 + 0.06, np.nan),
            "entropy": 0.4,
            "error": wrong.sum() / count.sum(),
            "right_probability": 0.91,
            "wrong_probability": 0.64,
        }
    return SimpleNamespace(**{**parts, **changes})


def drawn(models):
    figure = Figure(figsize=(10, 8), layout="constrained")
    display = ReliabilityDisplay(models).plot(figure.subplots(2, 2))
    figure.draw_without_rendering()
    return display


def two():
    return {"CW": reliability(), "Maxent": reliability(entropy=0.1, error=0.2)}


def test_error_by_probability_leaves_out_empty_bins():
    ax = drawn(two()).axes_[0]
    x, y = ax.lines[0].get_data()
    assert_allclose(x, [0.56, 0.76, 0.86, 0.96])
    assert_allclose(y, [50, 25, 10, 2])
    assert to_hex(ax.lines[1].get_color()) == style.COLOURS[1].lower()


@pytest.mark.parametrize("first", [3, 5, 7])
def test_what_the_probability_promises(first):
    count = np.where(np.arange(10) >= first, 10, 0)
    ax = drawn({"CW": reliability(count=count, conditional_error=np.full(10, 0.1))}).axes_[0]
    x, y = ax.lines[-1].get_data()
    assert_allclose(x, [first / 10, 1.0])
    assert_allclose(y, [100 - 10 * first, 0], atol=1e-9)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["expected"]


@pytest.mark.parametrize(("panel", "part", "times"), [(1, "count", 1), (2, "error_share", 100)])
def test_bars(panel, part, times):
    models = two()
    bars = drawn(models).axes_[panel].patches
    assert len(bars) == 20
    for place, found in enumerate(models.values()):
        own = bars[10 * place : 10 * place + 10]
        assert_allclose([bar.get_height() for bar in own], times * getattr(found, part))
        assert {to_hex(bar.get_facecolor()) for bar in own} == {style.COLOURS[place].lower()}
    spans = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in bars]
    for place, (low, high) in enumerate(spans):
        assert place % 10 / 10 < low < high < place % 10 / 10 + 0.1
    spans.sort()
    assert all(a[1] <= b[0] + 1e-12 for a, b in pairwise(spans))


def test_error_against_entropy_as_points_and_paths():
    models = {"one": reliability(), "path": reliability(entropy=[0.9, 0.5], error=[0.5, 0.25])}
    lines = drawn(models).axes_[3].lines
    assert_allclose(lines[0].get_data(), [[0.4], [12.25]])
    assert_allclose(lines[2].get_data(), [[0.9, 0.5], [50, 25]])
    assert_allclose(lines[3].get_data(), [[0.5], [25]])
    assert lines[3].get_markersize() > lines[2].get_markersize()  # the last model is marked


def test_words():
    display = drawn(two())
    assert [text.get_text() for text in display.figure_.legends[0].get_texts()] == [
        "CW: error 12.2 %, mean probability 0.91 where right, 0.64 where wrong",
        "Maxent: error 20.0 %, mean probability 0.91 where right, 0.64 where wrong",
    ]
    assert all(ax.get_title(loc="left") and ax.get_xlabel() for ax in display.axes_)
    assert all(ax.get_ylabel() for ax in display.axes_)
    for ax in display.axes_[:3]:
        assert_allclose(ax.get_xlim(), (0.5, 1.0))


def test_no_text_lies_on_another():
    display = drawn({**two(), "Third": reliability(), "A fourth": reliability()})
    texts = [text for legend in display.figure_.legends for text in legend.get_texts()]
    for ax in display.axes_:
        texts += [ax._left_title, ax.xaxis.label, ax.yaxis.label, *ax.get_yticklabels()]
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    assert all(box.x0 >= 0 and box.x1 <= display.figure_.bbox.x1 for box in boxes)


def test_no_example_and_no_mistake(tmp_path: Path):
    nothing = np.zeros(10)
    empty = reliability(count=nothing, wrong_probability=np.nan, error=0.0)
    display = ReliabilityDisplay({"empty": empty}).save(tmp_path / "empty.png")
    assert display.axes_[0].get_xlim() == (0, 1)
    assert (tmp_path / "empty.png").stat().st_size > 0


def test_own_figure_and_file(tmp_path: Path):
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    display = ReliabilityDisplay(two())
    assert display.save(tmp_path / "four.png") is display
    assert not plt.get_fignums()
    assert display.plot() is display
    assert display.figure_ is plt.gcf()
    assert len(display.figure_.axes) == 4
    plt.close("all")


def test_errors():
    with pytest.raises(TypeError, match=r"reliabilities must be a dict of \{name: rel.*got \[\]"):
        ReliabilityDisplay([])
    with pytest.raises(TypeError, match="reliabilities must be a dict"):
        ReliabilityDisplay({})
    found = reliability()
    del found.entropy, found.count
    with pytest.raises(TypeError, match=r"reliabilities\['CW'\] must have count, entropy, got"):
        ReliabilityDisplay({"CW": found})
    pattern = r"reliabilities\['CW'\]\.count must have shape \(10,\) for 10 bins, got shape \(9,\)"
    with pytest.raises(ValueError, match=pattern):
        ReliabilityDisplay({"CW": reliability(count=np.ones(9))})
    with pytest.raises(ValueError, match=r"axes must be four Axes, got 2\."):
        ReliabilityDisplay(two()).plot(Figure().subplots(2))


# -------------------------------------------------------------------- computing


def rows(n_classes=3):
    rng = np.random.default_rng(0)
    y = np.arange(300) % n_classes
    X = rng.normal(size=(n_classes, 5))[y] + 1.5 * rng.normal(size=(300, 5))
    return X, np.array(["red", "green", "blue"])[y]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", [SureClassifier, LogisticRegression])
def test_bins_of_an_estimator_are_counted_by_hand(kind, n_classes):
    X, y = rows(n_classes)
    clf = kind(random_state=0).fit(X[:200], y[:200])
    display = ReliabilityDisplay.from_estimator(clf, X[200:], y[200:], n_bins=5)
    found = display.reliabilities_[kind.__name__]
    predicted, p = clf.predict(X[200:]), clf.predict_proba(X[200:])
    sure = p[np.arange(100), np.searchsorted(clf.classes_, predicted)]
    wrong = predicted != y[200:]
    for b in range(5):
        inside = (sure >= b / 5) & (sure < (b + 1) / 5)
        assert found.count[b] == inside.sum()
        assert found.error_share[b] == pytest.approx((inside & wrong).mean())
    assert found.error == pytest.approx(1 - clf.score(X[200:], y[200:]))


def test_several_estimators_on_the_same_rows(tmp_path):
    X, y = rows()
    models = {"CW": SureClassifier(random_state=0), "Maxent": LogisticRegression()}
    for clf in models.values():
        clf.fit(X[:200], y[:200])
    display = ReliabilityDisplay.from_estimators(models, X[200:], y[200:])
    assert list(display.reliabilities_) == ["CW", "Maxent"]
    for name, clf in models.items():
        one = ReliabilityDisplay.from_estimator(clf, X[200:], y[200:], name="one")
        assert_array_equal(one.reliabilities_["one"].count, display.reliabilities_[name].count)
    display.save(tmp_path / "four.png")


def test_predictions_without_an_estimator():
    p = np.array([0.05, 0.32, 0.65, 0.95, 0.92])
    y = [0, 1, 1, 1, 0]
    for proba in (p, np.stack([1 - p, p], axis=1)):
        found = ReliabilityDisplay.from_predictions(y, proba, name="mine").reliabilities_["mine"]
        assert_array_equal(found.count, [0, 0, 0, 0, 0, 0, 2, 0, 0, 3])
        assert found.error == pytest.approx(0.4)
    three = [[0.2, 0.8, 0.0], [0.1, 0.3, 0.6]]
    found = ReliabilityDisplay.from_predictions(["b", "b"], three, classes=["a", "b", "c"])
    assert found.reliabilities_["classifier"].error == 0.5


def test_errors_of_estimators_and_predictions():
    X, y = rows()
    with pytest.raises(TypeError, match=r"estimator must have predict_proba, got Perceptron\(\)"):
        ReliabilityDisplay.from_estimator(Perceptron().fit(X, y), X, y)
    with pytest.raises(TypeError, match=r"estimators must be a dict of \{name: estimator\}, got"):
        ReliabilityDisplay.from_estimators([], X, y)
    clf = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="n_bins must be at least 1, got 0"):
        ReliabilityDisplay.from_estimator(clf, X, y, n_bins=0)
    with pytest.raises(
        ValueError, match="y must hold labels among 'blue', 'green', 'red', got 'x'"
    ):
        ReliabilityDisplay.from_estimator(clf, X[:2], ["red", "x"])
    with pytest.raises(ValueError, match="classes must have a label for each of 2 columns"):
        ReliabilityDisplay.from_predictions(["a", "a"], [0.5, 0.6])
    with pytest.raises(ValueError, match="y_proba must be within 0 and 1, got"):
        ReliabilityDisplay.from_predictions([0, 1], [0.5, 1.5])

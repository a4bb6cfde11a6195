"""Tests of the displays: computed on small made-up rows, drawn without a window."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import image
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state, shuffle

from surelearn import SureClassifier, rules
from surelearn.plot import LearningCurveDisplay, style

SIZES = [3, 10, 40, 120]

# For a fresh interpreter in which matplotlib cannot be imported.
WITHOUT_MATPLOTLIB = """
import sys
sys.modules["matplotlib"] = None
from surelearn.plot import LearningCurveDisplay
display = LearningCurveDisplay([1, 2], {"a": [[0.5, 1.0]]})
for draw in (display.plot, lambda: display.save("never.png")):
    try:
        draw()
    except ImportError as error:
        print(error)
"""


class Rows:
    """120 rows to learn and 60 to test, 3 classes, 8 features, not quite separable."""

    def __init__(self) -> None:
        random = np.random.default_rng(0)
        centres = random.normal(size=(3, 8))
        labels = np.arange(180) % 3
        X = centres[labels] + random.normal(scale=0.8, size=(180, 8))
        y = np.array(["red", "green", "blue"])[labels]
        self.train = (X[:120], y[:120])
        self.test: dict[str, Any] = {"X_test": X[120:], "y_test": y[120:]}


@pytest.fixture(scope="module")
def rows() -> Rows:
    return Rows()


@pytest.fixture(autouse=True)
def _no_window(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    import matplotlib.pyplot as plt

    monkeypatch.setitem(mpl.rcParams, "backend", "agg")
    plt.switch_backend("agg")
    yield
    plt.close("all")


def learners() -> dict[str, Any]:
    return {
        "AROW": SureClassifier("arow", scale=False),
        "Perceptron": SureClassifier("perceptron", scale=False),
    }


def computed(rows: Rows, estimators: Any = None, **options: Any) -> LearningCurveDisplay:
    known = {"sizes": SIZES, "random_state": 0, **rows.test, **options}
    return LearningCurveDisplay.from_estimators(estimators or learners(), *rows.train, **known)


def made(n_repeats: int = 2) -> LearningCurveDisplay:
    """A display of made-up numbers, two of its curves with almost the same end."""
    shape = np.linspace(0, 0.02, n_repeats)[:, None] + [0.2, 0.5, 0.8]
    return LearningCurveDisplay([10, 100, 1000], {"a": shape, "b": shape - 0.01, "c": shape / 2})


# -------------------------------------------------------------------- computing


def test_shapes(rows: Rows) -> None:
    display = computed(rows, n_repeats=4)
    assert_array_equal(display.sizes_, SIZES)
    assert list(display.accuracy_) == ["AROW", "Perceptron"]
    for values in display.accuracy_.values():
        assert values.shape == (4, 4)
        assert ((values >= 0) & (values <= 1)).all()


def test_every_point_is_partial_fit_over_so_many_rows(rows: Rows) -> None:
    display = computed(rows, n_repeats=2, random_state=7)
    generator = check_random_state(7)
    for repeat in range(2):
        X, y = shuffle(*rows.train, random_state=generator)
        for name, learner in learners().items():
            for place, size in enumerate(SIZES):
                model = type(learner)(learner.rule, scale=learner.scale)
                model.partial_fit(X[:size], y[:size], classes=np.unique(y))
                expected = model.score(rows.test["X_test"], rows.test["y_test"])
                assert display.accuracy_[name][repeat, place] == expected


def test_learns(rows: Rows) -> None:
    mean = computed(rows, n_repeats=5).mean("AROW")
    assert mean[-1] > 0.8
    assert mean[-1] > mean[0]


def test_same_seed_same_numbers(rows: Rows) -> None:
    first, second, other = (computed(rows, random_state=seed) for seed in (3, 3, 4))
    for name in first.accuracy_:
        assert_array_equal(first.accuracy_[name], second.accuracy_[name])
    assert any((first.accuracy_[name] != other.accuracy_[name]).any() for name in first.accuracy_)


def test_all_learners_see_the_same_orders(rows: Rows) -> None:
    twins = {"one": SureClassifier("pa", scale=False), "two": SureClassifier("pa", scale=False)}
    display = computed(rows, twins)
    assert_array_equal(display.accuracy_["one"], display.accuracy_["two"])


def test_estimators_stay_untrained(rows: Rows) -> None:
    estimators = learners()
    computed(rows, estimators)
    assert not any(hasattr(estimator, "coef_") for estimator in estimators.values())


def test_learners_of_scikit_learn_too(rows: Rows) -> None:
    display = computed(rows, {"SGD": SGDClassifier(random_state=0)})
    assert display.accuracy_["SGD"].shape == (3, 4)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, pd.DataFrame, list])
def test_kinds_of_input(rows: Rows, kind: Any) -> None:
    X, y = rows.train
    test = {"X_test": kind(rows.test["X_test"]), "y_test": list(rows.test["y_test"])}
    # Sparse and dense rows would resolve "auto" differently.
    estimators = {"AROW": SureClassifier("arow", projection="covariance", scale=False)}
    options = {"sizes": SIZES, "random_state": 0}
    expected = LearningCurveDisplay.from_estimators(estimators, X, y, **rows.test, **options)
    display = LearningCurveDisplay.from_estimators(
        estimators, kind(X), pd.Series(y) if kind is pd.DataFrame else list(y), **test, **options
    )
    assert_array_equal(display.accuracy_["AROW"], expected.accuracy_["AROW"])


class Longest(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learns from raw texts, and only how many there were."""

    def partial_fit(self, X: list[str], y: Any, classes: Any = None) -> Longest:
        assert all(isinstance(text, str) for text in X)
        self.classes_ = classes
        return self

    def predict(self, X: list[str]) -> Any:
        return np.repeat(self.classes_[-1], len(X))


def test_raw_texts_and_declared_classes() -> None:
    texts = ["a", "bb", "ccc", "dddd"]
    display = LearningCurveDisplay.from_estimators(
        {"longest": Longest()},
        texts,
        [0, 1, 0, 1],
        X_test=texts,
        y_test=[2, 2, 2, 0],
        classes=[0, 1, 2],
    )
    assert (display.accuracy_["longest"] == 0.75).all()


def test_many_classes_in_small_chunks_raise_no_warning() -> None:
    X, y = np.eye(60), np.array([f"class {i}" for i in range(60)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        display = LearningCurveDisplay.from_estimators(
            {"AROW": SureClassifier(scale=False)},
            X,
            y,
            X_test=X,
            y_test=y,
            sizes=[30, 60],
            n_repeats=1,
        )
    assert display.mean("AROW")[-1] > 0.5


def test_default_sizes(rows: Rows) -> None:
    sizes = computed(rows, sizes=None, n_repeats=1).sizes_
    spaced = np.geomspace(1.2, 120, 12)  # from a hundredth of the rows to all of them
    assert_array_equal(sizes, np.unique(spaced.round()))


def test_progress_counts_every_test(rows: Rows) -> None:
    calls: list[tuple[int, int]] = []
    computed(rows, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(done, 24) for done in range(1, 25)]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, list])
def test_one_estimator_is_tested_on_rows_held_out(rows: Rows, kind: Any) -> None:
    X, y = kind(rows.train[0]), rows.train[1]
    options: dict[str, Any] = {"sizes": [3, 30, 90], "n_repeats": 2}
    clf = SureClassifier("arow", projection="covariance", scale=False)
    display = LearningCurveDisplay.from_estimator(
        clf, X, y, test_size=30, random_state=3, **options
    )
    generator = check_random_state(3)
    parts = train_test_split(X, y, test_size=30, stratify=y, random_state=generator)
    expected = LearningCurveDisplay.from_estimators(
        {"SureClassifier": clf}, parts[0], parts[2], X_test=parts[1], y_test=parts[3],
        random_state=generator, **options,
    )  # fmt: skip
    assert list(display.accuracy_) == ["SureClassifier"]
    assert_array_equal(display.accuracy_["SureClassifier"], expected.accuracy_["SureClassifier"])
    assert not hasattr(clf, "coef_")


def test_one_estimator_has_a_name_and_a_quarter_is_held_out(rows: Rows) -> None:
    display = LearningCurveDisplay.from_estimator(
        SureClassifier(scale=False), *rows.train, name="mine"
    )
    assert list(display.accuracy_) == ["mine"]
    assert display.sizes_[-1] == 90


def test_rows_needed() -> None:
    display = LearningCurveDisplay(
        [10, 100, 1000], {"a": [[0.25, 0.5, 0.75], [0.25, 0.5, 1.0]], "b": [[0.5, 0.25, 0.5]]}
    )
    assert display.rows_needed("a", 0.1) == 10
    assert display.rows_needed("a", 0.375) == pytest.approx(10**1.5)
    assert display.rows_needed("a", 0.5) == pytest.approx(100)
    assert display.rows_needed("a", 0.875) == pytest.approx(1000)
    assert display.rows_needed("a", 0.9) == np.inf
    assert display.rows_needed("b", 0.5) == 10


# ----------------------------------------------------------------------- errors


def test_estimator_without_partial_fit(rows: Rows) -> None:
    pattern = r"estimators\['tree'\] must have partial_fit, got DecisionTreeClassifier\(\)\."
    with pytest.raises(TypeError, match=pattern):
        computed(rows, {"AROW": SureClassifier(scale=False), "tree": DecisionTreeClassifier()})


@pytest.mark.parametrize(
    "estimators", [[SureClassifier(scale=False)], SureClassifier(scale=False), "arow"]
)
def test_estimators_must_be_a_dict(rows: Rows, estimators: Any) -> None:
    with pytest.raises(TypeError, match=r"estimators must be a dict of \{name: estimator\}, got"):
        computed(rows, estimators)


def test_no_estimator(rows: Rows) -> None:
    with pytest.raises(TypeError, match=r"estimators must be a dict .*, got \{\}\."):
        LearningCurveDisplay.from_estimators({}, *rows.train, **rows.test)


@pytest.mark.parametrize(
    ("sizes", "error", "pattern"),
    [
        ([10, 121], ValueError, r"sizes must be at most 120, the rows of X_train, got 121\."),
        ([0, 10], ValueError, r"sizes must be increasing and at least 1, got \[0, 10\]\."),
        ([10, 10], ValueError, r"sizes must be increasing and at least 1, got \[10, 10\]\."),
        ([20, 10], ValueError, r"sizes must be increasing and at least 1, got \[20, 10\]\."),
        ([0.1, 1.0], TypeError, r"sizes must be a list of whole numbers, got \[0\.1, 1\.0\]\."),
        ([], TypeError, r"sizes must be a list of whole numbers, got \[\]\."),
        (10, TypeError, r"sizes must be a list of whole numbers, got 10\."),
    ],
)
def test_bad_sizes(rows: Rows, sizes: Any, error: type[Exception], pattern: str) -> None:
    with pytest.raises(error, match=pattern):
        computed(rows, sizes=sizes)


def test_bad_number_of_repeats(rows: Rows) -> None:
    with pytest.raises(ValueError, match=r"n_repeats must be at least 1, got 0\."):
        computed(rows, n_repeats=0)


def test_rows_and_labels_must_match(rows: Rows) -> None:
    X, y = rows.train
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        LearningCurveDisplay.from_estimators(learners(), X, y[:-1], **rows.test)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        LearningCurveDisplay.from_estimators(learners(), X, y, X_test=X, y_test=y[:-1])


def test_bad_table() -> None:
    pattern = r"accuracy\['a'\] must have shape \(n_repeats, 3\) for 3 sizes, got shape \(3,\)\."
    with pytest.raises(ValueError, match=pattern):
        LearningCurveDisplay([1, 2, 3], {"a": [0.1, 0.2, 0.3]})
    with pytest.raises(ValueError, match="accuracy must have at least one learner, got none"):
        LearningCurveDisplay([1, 2, 3], {})


@pytest.mark.slow
def test_without_matplotlib_computing_works_and_drawing_names_the_remedy() -> None:
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_MATPLOTLIB], capture_output=True, text=True, check=True
    )
    remedy = "needs matplotlib, got none. In a clone of surelearn, run: pip install '.[plot]'"
    assert run.stdout.splitlines() == [
        f"LearningCurveDisplay.{method} {remedy}" for method in ("plot", "save")
    ]


# ---------------------------------------------------------------------- drawing


def test_plot_makes_a_figure_and_returns_itself() -> None:
    import matplotlib.pyplot as plt

    display = made()
    assert display.plot() is display
    assert display.figure_ is plt.gcf()
    assert display.ax_ in display.figure_.axes


def test_plot_into_given_axes() -> None:
    figure = Figure()
    left, right = figure.subplots(1, 2)
    display = made().plot(right)
    assert display.ax_ is right
    assert display.figure_ is figure
    assert not left.lines


def test_draws_means_and_bands() -> None:
    display = made()
    ax = display.plot(Figure().subplots()).ax_
    assert len(ax.lines) == len(ax.collections) == 3
    drawn = zip(ax.lines, ax.collections, display.accuracy_.items(), strict=True)
    for line, band, (name, values) in drawn:
        assert_array_equal(line.get_xdata(), display.sizes_)
        np.testing.assert_allclose(line.get_ydata(), 100 * display.mean(name))
        (corners,) = band.get_paths()
        mean, deviation = 100 * values.mean(axis=0), 100 * values.std(axis=0)
        edges = np.unique(np.round([mean - deviation, mean + deviation], 9))
        assert_array_equal(np.unique(corners.vertices[:, 1].round(9)), edges)


def test_one_repeat_has_no_band() -> None:
    ax = made(n_repeats=1).plot(Figure().subplots()).ax_
    assert len(ax.lines) == 3
    assert not ax.collections
    assert "One random order of the training rows" in [text.get_text() for text in ax.texts]


def test_words_on_the_picture() -> None:
    ax = made().plot(Figure().subplots(), title="The finding", unit="texts").ax_
    assert ax.get_title(loc="left") == "The finding"
    assert ax.get_xlabel() == "Training texts, seen once (log scale)"
    assert ax.get_ylabel() == "Accuracy on test texts (%)"
    texts = [text.get_text() for text in ax.texts]
    assert "Mean and standard deviation over 2 random orders of the training texts" in texts
    assert {"a  81.0 %", "b  80.0 %", "c  40.5 %"} < set(texts)


def test_labels_have_the_colour_of_their_line_and_keep_apart() -> None:
    figure = Figure(figsize=(8, 5), layout="constrained")
    ax = made().plot(figure.subplots()).ax_
    figure.draw_without_rendering()
    labels = [text for text in ax.texts if text.get_text().endswith("%")]
    for label, line in zip(labels, ax.lines, strict=True):
        assert to_hex(label.get_color()) == to_hex(line.get_color())
    boxes = sorted((label.get_window_extent() for label in labels), key=lambda box: box.y0)
    assert all(low.y1 <= high.y0 for low, high in pairwise(boxes))
    assert all(box.x0 >= ax.get_window_extent().x1 for box in boxes)
    assert all(box.x1 <= figure.bbox.x1 for box in boxes)


def test_drawn_many_times_from_one_computation() -> None:
    display = made()
    before = {name: values.copy() for name, values in display.accuracy_.items()}
    axes = [display.plot(Figure().subplots()).ax_ for _ in range(2)]
    assert len(axes[0].lines) == len(axes[1].lines) == 3
    assert_array_equal(before["a"], display.accuracy_["a"])


def test_more_curves_than_colours() -> None:
    many = {f"{i}": [[0.1, 0.1 + i / 100]] for i in range(len(style.COLOURS) + 2)}
    ax = LearningCurveDisplay([1, 10], many).plot(Figure().subplots()).ax_
    assert len(ax.lines) == len(many)


@pytest.mark.parametrize("sizes", [[5], [1], [1, 2], [3, 4, 5]])
def test_few_and_close_sizes(sizes: list[int], tmp_path: Path) -> None:
    display = LearningCurveDisplay(sizes, {"a": np.full((2, len(sizes)), 0.5)})
    display.save(tmp_path / "few.png")
    assert display.ax_.get_xticks()[-1] == sizes[-1]


def test_save(tmp_path: Path) -> None:
    import matplotlib.pyplot as plt

    display = made()
    assert display.save(tmp_path / "curve.png", title="Found") is display
    assert image.imread(tmp_path / "curve.png").shape[:2] == (750, 1200)
    assert not plt.get_fignums()


def test_save_as_svg(tmp_path: Path) -> None:
    made().save(str(tmp_path / "curve.svg"))
    assert "<svg" in (tmp_path / "curve.svg").read_text(encoding="utf-8")


# ------------------------------------------------------------------------ story


def test_confidence_learns_faster_from_rare_words() -> None:
    """Bags of words with a few telling words each: CW is ahead of the perceptron early."""
    random = np.random.default_rng(1)
    y = np.arange(1200) % 4
    common = (random.random((1200, 200)) < 0.2).astype(float)
    telling = np.zeros((1200, 160))
    telling[np.arange(1200), 40 * y + random.integers(0, 40, 1200)] = 1
    X = sparse.csr_array(np.hstack([common, telling]))
    display = LearningCurveDisplay.from_estimators(
        {
            "CW": SureClassifier(rules.Variance(phi=1.0), scale=False),
            "Perceptron": SureClassifier("perceptron", scale=False),
        },
        X[:800],
        y[:800],
        X_test=X[800:],
        y_test=y[800:],
        random_state=0,
    )
    goal = display.mean("Perceptron")[-1]
    assert display.mean("CW")[-1] > goal + 0.05
    assert display.rows_needed("CW", goal) < 0.8 * display.sizes_[-1]

"""The picture of a confusion table: which cells are drawn, in which colours, with which names."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import image
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix

from surelearn import SureClassifier
from surelearn.evaluation import Evaluation
from surelearn.plot import ConfusionDisplay
from surelearn.plot._confusion import _count

mpl.use("Agg")

BLUE, ORANGE = to_rgb("#0072B2"), to_rgb("#D55E00")


def evaluation(table, unknown=0):
    table = np.asarray(table)
    names = np.array([f"class {k}" for k in range(table.shape[1])])
    labels = np.array([*names, *(f"new {k}" for k in range(unknown))])
    return Evaluation(names, labels, table)


def colours(display):
    return np.asarray(display.ax_.get_images()[0].get_array())


def texts(display):
    return {(t.get_position()): t.get_text() for t in display.ax_.texts if t.get_text().isdigit()}


def test_right_answers_are_blue_and_mistakes_orange():
    display = ConfusionDisplay([[3, 1], [0, 5], [0, 4]], ["a", "b", "c"], ["a", "b"]).plot()
    drawn = colours(display)
    strength = np.sqrt([[0.75, 0.25], [0.0, 1.0], [0.0, 1.0]])
    for line, column, full in ((0, 0, BLUE), (0, 1, ORANGE), (1, 1, BLUE), (2, 1, ORANGE)):
        expected = 1 - strength[line, column] * (1 - np.array(full))
        np.testing.assert_allclose(drawn[line, column], expected)
    np.testing.assert_array_equal(drawn[1, 0], [1, 1, 1])
    assert texts(display) == {(0, 0): "3", (1, 0): "1", (1, 1): "5", (1, 2): "4"}
    mpl.pyplot.close(display.figure_)


def test_names_and_title():
    table = np.eye(3, dtype=int)
    display = ConfusionDisplay.from_evaluation(evaluation(table)).plot(title="Costs $5 or $6")
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == [
        "class 0",
        "class 1",
        "class 2",
    ]
    assert display.ax_.get_title(loc="left") == r"Costs \$5 or \$6"
    assert display.ax_.get_xlabel() == "Predicted label"
    assert display.ax_.texts[-1].get_text() == "Rows by label; blue: right, orange: mistakes"
    mpl.pyplot.close(display.figure_)
    assert ConfusionDisplay([[1]], ["a"], ["a"]).left_out_ == 0


@pytest.mark.parametrize(("n", "shape"), [(20, (20, 20)), (21, (21, 20)), (21, (20, 21))])
def test_counts_are_written_where_there_is_room_for_them(n, shape):
    names = [f"class {k}" for k in range(n)]
    display = ConfusionDisplay(np.ones(shape), names[: shape[0]], names[: shape[1]])
    display.plot(Figure().subplots())
    assert bool(texts(display)) == (n == 20)


def test_of_many_labels_the_most_confused_are_drawn():
    table = 100 * np.eye(60, 50, dtype=int)
    table[7, 3], table[55, 40], table[20, 30] = 8, 9, 1
    found = evaluation(table, unknown=10)
    display = ConfusionDisplay.from_evaluation(found, top=4)
    assert display.labels_ == ["class 3", "class 7", "class 40", "new 5"]
    assert display.classes_ == ["class 3", "class 7", "class 40"]
    np.testing.assert_array_equal(
        display.confusion_, [[100, 0, 0], [8, 100, 0], [0, 0, 100], [0, 0, 9]]
    )
    assert display.left_out_ == 56
    assert ConfusionDisplay.from_evaluation(found, top=None).confusion_.shape == (60, 50)
    only_new = evaluation([[0, 0], [0, 0], [5, 0]], unknown=1)
    assert ConfusionDisplay.from_evaluation(only_new, top=1).labels_ == ["class 0"]


@pytest.mark.parametrize("n", [1, 2, 10, 45])
def test_files_of_every_size(n, tmp_path):
    table = np.random.default_rng(n).integers(0, 10**6, (n, n))
    display = ConfusionDisplay.from_evaluation(evaluation(table), top=None)
    display.save(tmp_path / "confusion.png", title="All of it")
    pixels = image.imread(tmp_path / "confusion.png")
    assert min(pixels.shape[:2]) >= 480
    heights = [label.get_window_extent() for label in display.ax_.get_yticklabels()]
    assert all(low.y1 <= high.y0 for high, low in pairwise(heights))
    side = abs(np.diff(display.ax_.transData.transform([[0, 0], [1, 1]]), axis=0))[0]
    for text in display.ax_.texts[:-1]:  # the last one is the subtitle
        assert text.get_window_extent().width < side[0]
    assert side[0] < max(900 / n, 120)  # few cells fill a small figure
    assert 0.01 < np.mean(pixels[..., :3].min(axis=2) < 0.9) < 0.95
    assert mpl.pyplot.get_fignums() == []


def test_numbers_are_short():
    numbers = [1, 9999, 10_000, 123_456, 999_499, 1_234_567, 98_765_432]
    assert [_count(n) for n in numbers] == ["1", "9999", "10k", "123k", "999k", "1.23M", "98.8M"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1, 2]], ["a"], ["a"]), r"confusion must have shape \(1, 1\) for 1 labels and 1 class"),
        ((np.zeros((0, 0)), [], []), "at least one of each"),
        (([[-1]], ["a"], ["a"]), "confusion must hold counts, got -1"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        ConfusionDisplay(*arguments)


def test_what_is_no_evaluation_is_refused():
    with pytest.raises(TypeError, match="evaluation must have confusion, got 3"):
        ConfusionDisplay.from_evaluation(3)


@pytest.mark.slow
def test_nothing_is_imported_before_it_is_drawn():
    code = (
        "import sys; from surelearn.plot import ConfusionDisplay; "
        "ConfusionDisplay([[1]], ['a'], ['a']); assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def rows():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 3
    X = rng.normal(size=(3, 4))[y] + 1.5 * rng.normal(size=(200, 4))
    return X, np.array(["red", "green", "blue"])[y]


@pytest.mark.parametrize("kind", [SureClassifier, LogisticRegression])
def test_counts_are_those_of_scikit_learn(kind):
    X, y = rows()
    clf = kind(random_state=0).fit(X[:100], y[:100])
    predicted = clf.predict(X[100:])
    expected = confusion_matrix(y[100:], predicted)
    assert (np.diag(expected).sum() < 100).all()
    for display in (
        ConfusionDisplay.from_estimator(clf, X[100:], y[100:]),
        ConfusionDisplay.from_predictions(y[100:], list(predicted)),
    ):
        np.testing.assert_array_equal(display.confusion_, expected)
        assert display.labels_ == display.classes_ == ["blue", "green", "red"]


def test_unknown_labels_are_the_last_rows():
    X, y = rows()
    known = y != "green"
    clf = SureClassifier(random_state=0).fit(X[known], y[known])
    display = ConfusionDisplay.from_estimator(clf, X, y)
    assert (display.labels_, display.classes_) == (["blue", "red", "green"], ["blue", "red"])
    assert display.confusion_[2].sum() == np.sum(~known)


def test_the_most_confused_of_predictions():
    display = ConfusionDisplay.from_predictions([0, 1, 2, 2], [0, 2, 1, 2], top=2)
    assert display.labels_ == [1, 2]
    assert display.left_out_ == 1


def test_labels_and_predictions_must_match():
    with pytest.raises(
        ValueError, match=r"must have the same shape .*, got shapes \(2,\) and \(1,\)"
    ):
        ConfusionDisplay.from_predictions([0, 1], [0])
    with pytest.raises(TypeError, match="estimator must be a classifier, got 3"):
        ConfusionDisplay.from_estimator(3, [[1]], [1])


def test_labels_of_another_type_are_refused():
    clf = SureClassifier(random_state=0).fit([[0, 1], [1, 0]], ["no", "yes"])
    with pytest.raises(TypeError, match="labels of the same type as before, such as 'no', got 0"):
        ConfusionDisplay.from_estimator(clf, [[0, 1], [1, 0]], [0, 1])
    for truth in (["a", "b"], np.array(["a", "b"], dtype=object)):
        with pytest.raises(TypeError, match="labels of the same type as before, such as 1, got"):
            ConfusionDisplay.from_predictions(truth, [1, 2])

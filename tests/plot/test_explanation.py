"""The picture of an explanation: what is drawn is what the table says."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from surelearn import SoftmaxClassifier, SureClassifier, SureTextClassifier, rules
from surelearn.plot import ExplanationDisplay, style


def fitted(rule="arow", n_classes=2, d=20, **options):
    rng = np.random.default_rng(0)
    y = np.arange(200) % n_classes
    X = (rng.normal(size=(n_classes, d)))[y] + rng.normal(size=(200, d))
    labels = np.array([f"class {k}" for k in range(n_classes)])
    return SureClassifier(rule, random_state=0, passes=1, **options, scale=False).fit(
        X, labels[y]
    ), X


def drawn(display, **options):
    figure = Figure(figsize=(8, 6), layout="constrained")
    ax = display.plot(figure.subplots(), **options).ax_
    figure.draw_without_rendering()
    return ax


def names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def lengths(ax):
    return [bar.get_width() for bar in ax.patches]


def whiskers(ax):
    return [np.array([segment[:, 0] for segment in lines.get_segments()])
            for lines in ax.collections if hasattr(lines, "get_segments")]  # fmt: skip


# -------------------------------------------------------------------- computing


@pytest.mark.parametrize("top", [3, 15])
def test_a_model(top):
    clf, _ = fitted()
    display = ExplanationDisplay.from_estimator(clf, top=top)
    assert display.explanation_.to_dict() == clf.explain(top=top).to_dict()
    assert display.title() == f"The {top} surest weights"
    assert display.probability_ is None


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("top", [1, 6, 15, 21, None])
def test_the_bars_of_a_row_add_up(n_classes, top):
    clf, X = fitted(n_classes=n_classes)
    for x in X[:4]:
        table = ExplanationDisplay.from_estimator(clf, x, top=top).explanation_
        mean, variance = (np.atleast_1d(part[0]) for part in clf.margin([x]))
        best = int(np.argmax(mean))
        assert table.margin.sum() == pytest.approx(mean[best], rel=1e-9)
        assert table.variance.sum() == pytest.approx(variance[best], rel=1e-9)
        assert len(table) == (20 if top is None else min(20, top)) + 1
        assert table.feature[-1] == "(others)"


@pytest.mark.parametrize("rule", ["arow", rules.Probit(noise=4.0)])
def test_the_title_of_a_row(rule):
    clf, X = fitted(rule)
    for x in X[:6]:
        mean, variance = (part[0] for part in clf.margin([x]))
        label, proba = clf.predict([x])[0], clf.predict_proba([x])[0].max()
        display = ExplanationDisplay.from_estimator(clf, x)
        assert display.probability_ == proba
        number = f"{mean:.3g}".replace("-", "−")
        start = f"{label}: margin {number} ± {np.sqrt(variance):.3g}, probability "
        assert display.title().startswith(start)


def test_a_class_with_a_hyphen_keeps_it():
    clf = SureClassifier("arow", passes=1, shuffle=False, scale=False)
    clf.fit([[0, 1], [1, 0]], ["non-spam", "spam"])
    title = ExplanationDisplay.from_estimator(clf, [0, 1]).title()
    assert title.startswith("non-spam: margin −0.333 ± ")


@pytest.mark.parametrize(
    ("probability", "text"),
    [(0.5, "0.50"), (0.987, "0.99"), (0.9962, "0.996"), (0.99999, ">0.999"), (0.0003, "0.0003")],
)
def test_a_probability_is_no_certainty(probability, text):
    clf, X = fitted()
    table = ExplanationDisplay.from_estimator(clf, X[0]).explanation_
    display = ExplanationDisplay(table, classes=clf.classes_, probability=probability)
    assert display.title().endswith(f", probability {text}")


def test_three_classes_show_the_best_or_the_one_asked_for():
    clf, X = fitted(n_classes=3)
    best = clf.predict(X[:1])[0]
    display = ExplanationDisplay.from_estimator(clf, X[0])
    assert set(display.explanation_.label) == {best}
    assert display.title().startswith(f"{best}: score ")
    for place, label in enumerate(clf.classes_):
        asked = ExplanationDisplay.from_estimator(clf, X[0], label=label)
        assert set(asked.explanation_.label) == {label}
        assert asked.explanation_.margin.sum() == pytest.approx(clf.margin(X[:1])[0][0, place])


def test_every_form_of_a_row():
    clf, X = fitted()
    frame = pd.DataFrame(X, columns=[f"word {j}" for j in range(20)])
    named = SureClassifier(random_state=0, scale=False).fit(frame, clf.predict(X))
    forms = [X[0], X[:1], list(X[0]), dict(enumerate(X[0])), sparse.csr_array(X[:1]), frame[:1]]
    shown = [ExplanationDisplay.from_estimator(named, row) for row in forms]
    assert len({display.title() for display in shown}) == 1
    assert len({str(display.explanation_) for display in shown}) == 1


def test_a_text_and_named_features():
    clf = SureTextClassifier(random_state=0).fit(["good film", "bad film"], ["yes", "no"])
    p = clf.predict_proba(["a good film"])[0, 1]
    display = ExplanationDisplay.from_estimator(clf, "a good film")
    assert display.probability_ == pytest.approx(p)
    assert display.title().startswith("yes: margin")
    assert "good" in names(drawn(display))
    rows = [{"good": 1.0}, {"bad": 1.0}]
    named = SureClassifier(random_state=0, scale=False).fit(rows, ["yes", "no"])
    display = ExplanationDisplay.from_estimator(named, {"good": 2.0})
    assert display.probability_ == pytest.approx(named.predict_proba([{"good": 2.0}])[0, 1])
    assert "good" in display.explanation_.feature


def test_a_batch_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    clf = SoftmaxClassifier().fit(X, np.arange(30) % 3)
    display = ExplanationDisplay.from_estimator(clf, X[0], label=2)
    assert display.probability_ == pytest.approx(clf.predict_proba(X[:1])[0, 2])


def test_names_of_ones_own():
    clf, X = fitted()
    for row in (None, X[0]):
        found = ExplanationDisplay.from_estimator(clf, row, names=["word"] * 20, top=None)
        assert set(found.explanation_.feature) - {"(others)"} == {"word"}


def test_first_order_has_no_probability():
    clf, X = fitted("pa1")
    assert ExplanationDisplay.from_estimator(clf).title() == "Largest weights"
    display = ExplanationDisplay.from_estimator(clf, X[0])
    margin = f"{clf.decision_function(X[:1])[0]:.3g}".replace("-", "−")
    assert display.title() == f"{clf.predict(X[:1])[0]}: margin {margin}"


def test_errors():
    clf, X = fitted(n_classes=3)
    with pytest.raises(ValueError, match=r"label must be one of 'class 0', .*, got 'no'\."):
        ExplanationDisplay.from_estimator(clf, X[0], label="no")
    with pytest.raises(ValueError, match=r"top must be at least 1, got 0\."):
        ExplanationDisplay.from_estimator(clf, top=0)
    pattern = "explanation must have the lines of one class, got 'class 0', 'class 2'"
    with pytest.raises(ValueError, match=pattern):
        ExplanationDisplay(clf.explain(X[0]), classes=clf.classes_)


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_chosen_columns(covariance):
    clf, _ = fitted(covariance=covariance)
    table = ExplanationDisplay.from_estimator(clf, features=[7, 3, 12]).explanation_
    order = sorted([7, 3, 12], key=lambda j: -clf.coef_[0, j])
    assert table.feature.tolist() == [f"x{j}" for j in order]
    assert_allclose(table.mean, clf.coef_[0, order])
    variances = clf.sigma_[0] if covariance == "diagonal" else np.diag(clf.sigma_)
    assert_allclose(table.deviation, np.sqrt(variances[order]))


def test_chosen_columns_by_name():
    clf, X = fitted()
    frame = pd.DataFrame(X, columns=[f"word {j}" for j in range(20)])
    named = SureClassifier(random_state=0, scale=False).fit(frame, clf.predict(X))
    display = ExplanationDisplay.from_estimator(named, features={"word 4": "four", "word 5": "5"})
    table = display.explanation_
    by_name = dict(zip(table.feature.tolist(), table.mean.tolist(), strict=True))
    assert by_name == pytest.approx({"four": named.coef_[0, 4], "5": named.coef_[0, 5]})
    assert display.title() == "2 chosen weights"
    assert names(drawn(display)) == table.feature.tolist()


def test_chosen_words_and_unseen_ones():
    clf = SureTextClassifier(random_state=0, initial_variance=4.0)
    clf.fit(["good film", "bad film", "good plot"], ["yes", "no", "yes"])
    words = ["bad", "spellbinding", "good"]
    table = ExplanationDisplay.from_estimator(clf, features=words).explanation_
    assert table.feature.tolist() == ["good", "spellbinding", "bad"]
    columns = clf.vectorizer_.transform(table.feature.tolist()).indices
    assert_allclose(table.mean, clf.coef_[0, columns])
    assert (table.mean[1], table.deviation[1]) == (0.0, 2.0)  # the prior
    ax = drawn(ExplanationDisplay.from_estimator(clf, features=words))
    assert to_hex(ax.patches[1].get_facecolor()) == style.GREY


def test_chosen_features_of_many_classes():
    clf, _ = fitted(n_classes=3)
    every = ExplanationDisplay.from_estimator(clf, features=[2, 5]).explanation_
    assert sorted(every.mean) == pytest.approx(sorted(clf.coef_[:, [2, 5]].ravel()))
    one = ExplanationDisplay.from_estimator(clf, features=[2, 5], label="class 1").explanation_
    assert set(one.label) == {"class 1"}
    assert sorted(one.mean) == pytest.approx(sorted(clf.coef_[1, [2, 5]]))


def test_chosen_features_of_a_first_order_rule():
    clf, _ = fitted("pa1")
    table = ExplanationDisplay.from_estimator(clf, features=[2]).explanation_
    assert table.columns == ("feature", "label", "mean")
    assert table.mean[0] == pytest.approx(clf.coef_[0, 2])


def test_what_is_no_feature_is_refused():
    clf, X = fitted()
    with pytest.raises(ValueError, match=r"features must be None for a row, got \[1\]"):
        ExplanationDisplay.from_estimator(clf, X[0], features=[1])
    with pytest.raises(TypeError, match="features must be a list of features, got 'good'"):
        ExplanationDisplay.from_estimator(clf, features="good")
    with pytest.raises(ValueError, match="features must have at least one feature, got none"):
        ExplanationDisplay.from_estimator(clf, features=[])
    texts = SureTextClassifier().fit(["good film", "bad film"], ["yes", "no"])
    pattern = "features must each be one feature of the model, got 'good film', which is 'good', "
    with pytest.raises(ValueError, match=pattern):
        ExplanationDisplay.from_estimator(texts, features=["good film"])
    with pytest.raises(ValueError, match=r"one feature of the model, got '\?', which is none"):
        ExplanationDisplay.from_estimator(texts, features=["?"])


# ---------------------------------------------------------------------- drawing


def test_a_model_is_drawn_with_one_and_two_deviations():
    clf, _ = fitted()
    display = ExplanationDisplay.from_estimator(clf, top=8)
    table, ax = display.explanation_, drawn(display)
    assert names(ax) == list(table.feature)
    assert_array_equal(lengths(ax), table.mean)
    one, two = whiskers(ax)
    side = np.outer(table.deviation, [-1, 1])
    assert_allclose(one, table.mean[:, None] + side)
    assert_allclose(two, table.mean[:, None] + 2 * side)
    low, high = ax.get_ylim()
    assert low > high  # the surest is on top


def test_a_row_is_drawn_with_the_roots_of_its_variances():
    clf, X = fitted()
    display = ExplanationDisplay.from_estimator(clf, X[0], top=5)
    table, ax = display.explanation_, drawn(display)
    assert names(ax) == [*table.feature[:5], "(others)"]
    assert_array_equal(lengths(ax), table.margin)
    (found,) = whiskers(ax)
    assert_allclose(found, table.margin[:, None] + np.outer(np.sqrt(table.variance), [-1, 1]))


def test_negative_shares_of_the_variance_have_whiskers_too():
    columns = {
        "feature": ["a", "b"],
        "label": ["yes", "yes"],
        "mean": [1.0, 1.0],
        "deviation": [1.0, 1.0],
        "margin": [2.0, 1.0],
        "variance": [-4.0, 13.0],
    }
    table = type(fitted()[0].explain())({k: np.array(v) for k, v in columns.items()})
    display = ExplanationDisplay(table, classes=["no", "yes"])
    (found,) = whiskers(drawn(display))
    assert_array_equal(found[0], [0.0, 4.0])
    assert display.title() == "yes: margin 3 ± 3"


def test_a_bar_has_the_colour_of_the_class_it_speaks_for():
    clf, X = fitted()
    ax = drawn(ExplanationDisplay.from_estimator(clf, X[0]))
    for bar in ax.patches:
        assert to_hex(bar.get_facecolor()) == style.COLOURS[int(bar.get_width() > 0)].lower()
    sides = {text.get_text(): to_hex(text.get_color()) for text in ax.texts}
    assert sides["← class 0"] == style.COLOURS[0].lower()
    assert sides["class 1 →"] == style.COLOURS[1].lower()
    ax = drawn(ExplanationDisplay.from_estimator(clf, features=[0, 1, 2], label="class 0"))
    sides = {text.get_text(): to_hex(text.get_color()) for text in ax.texts}
    assert sides == {
        "← class 1": style.COLOURS[1].lower(),
        "class 0 →": style.COLOURS[0].lower(),
    } | {text: colour for text, colour in sides.items() if "class" not in text}


@pytest.mark.parametrize("of_row", [True, False])
def test_a_class_of_many_keeps_its_colour(of_row):
    """Whatever is listed first, and whichever class is asked about."""
    clf, X = fitted(n_classes=4)
    for place, label in enumerate(clf.classes_):
        if of_row:
            display = ExplanationDisplay.from_estimator(clf, X[0], label=label)
        else:
            display = ExplanationDisplay.from_estimator(clf, features=[3, 1], label=label)
        ax = drawn(display)
        for bar in ax.patches:
            is_own = to_hex(bar.get_facecolor()) == style.COLOURS[place].lower()
            assert is_own == (bar.get_width() > 0 or not of_row)


@pytest.mark.parametrize(("n_classes", "by_class"), [(3, True), (12, False)])
def test_classes_are_named_beside_their_bars(n_classes, by_class):
    clf, _ = fitted(n_classes=n_classes)
    display = ExplanationDisplay.from_estimator(clf, top=60)
    ax = drawn(display)
    table = display.explanation_
    column = [text for text in ax.texts if text.get_text().startswith("class ")]
    assert [text.get_text() for text in column] == list(table.label)
    pairs = {(text.get_text(), to_hex(text.get_color())) for text in column}
    assert (len(pairs) == len(set(table.label))) == by_class


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("of_row", [True, False])
def test_no_text_lies_on_another(n_classes, of_row):
    clf, X = fitted(n_classes=n_classes)
    display = ExplanationDisplay.from_estimator(clf, X[0] if of_row else None)
    ax = drawn(display)
    fixed = [*ax.texts, *ax.get_yticklabels(), ax.xaxis.label, ax._left_title]
    low, high = ax.get_xlim()
    ticks = [tick.label1 for tick in ax.xaxis.get_major_ticks() if low <= tick.get_loc() <= high]
    texts = [*fixed, *ticks]
    boxes = [text.get_window_extent() for text in texts if text.get_text() and text.get_visible()]
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    assert all(box.x0 >= 0 and box.x1 <= ax.figure.bbox.x1 for box in boxes)


def test_hostile_names(tmp_path: Path):
    frame = pd.DataFrame(np.eye(3), columns=["$\\frac", "a\nb" * 50, "$x$"])
    clf = SureClassifier(scale=False).fit(frame, ["$\\no$", "$", "$"])
    for row in (None, frame[:1]):
        ExplanationDisplay.from_estimator(clf, row).save(tmp_path / "hostile.png")
    assert any("\\$x\\$" in name for name in names(drawn(ExplanationDisplay.from_estimator(clf))))


def test_nothing_to_draw(tmp_path: Path):
    clf, _ = fitted(n_classes=3, fit_intercept=False)
    display = ExplanationDisplay.from_estimator(clf, {}).save(tmp_path / "empty.png")
    assert not display.ax_.patches
    assert (tmp_path / "empty.png").stat().st_size > 0


def test_a_title_of_ones_own_and_an_axes_of_pyplot():
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    clf, _ = fitted()
    display = ExplanationDisplay.from_estimator(clf)
    assert display.plot(title="Mine") is display
    assert display.ax_.get_title(loc="left") == "Mine"
    assert display.figure_ is plt.gcf()
    plt.close("all")

"""Curves of risk against coverage: what is computed, and what is drawn of it."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression, Perceptron

from surelearn import SureClassifier, SureRanker, evaluate
from surelearn.decide import risk_coverage
from surelearn.plot import RiskCoverageDisplay, style

mpl.use("Agg")


def curve(n=200, noise=0.3, seed=0):
    random = np.random.default_rng(seed)
    hard = random.random(n) ** 2
    loss = (random.random(n) < hard).astype(float)
    return risk_coverage(random.normal(0, noise, n) - hard, loss)


def drawn(display, **how):
    figure = Figure(figsize=display._size(), layout="constrained")
    display.plot(figure.subplots(), **how)
    figure.draw_without_rendering()
    return display


def entries(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def two(**more):
    return RiskCoverageDisplay({"mine": curve(), "other": curve(noise=2)}, **more)


def test_curves_are_drawn_in_percent_with_their_areas():
    display = drawn(two())
    for place, (name, own) in enumerate(display.curves_.items()):
        line = display.ax_.lines[place]
        assert_allclose(line.get_data(), [100 * own.coverage, 100 * own.risk])
        assert to_hex(line.get_color()) == style.COLOURS[place].lower()
        assert entries(display)[place] == f"{name} (area {own.area:.4f})"
    assert len(display.ax_.lines) == 2
    assert display.ax_.get_xlim() == (0, 100)


def test_many_records_are_drawn_at_fewer_points():
    own = curve(50_000)
    x, y = drawn(RiskCoverageDisplay({"mine": own})).ax_.lines[0].get_data()
    assert len(x) == 2000
    assert_allclose([x[0], x[-1], y[-1]], [100 / 50_000, 100, 100 * own.risk[-1]])


def test_the_risk_the_certified_point_and_the_least_possible_risk():
    display = drawn(two(risk=0.1, certified={"other": (0.6, 0.08)}), perfect=True)
    mine, best, other, best_other, point, _, level = display.ax_.lines
    assert_allclose(best.get_data()[1], 100 * display.curves_["mine"].least)
    assert best.get_linestyle() == best_other.get_linestyle() == "--"
    assert best.get_color() == mine.get_color() != other.get_color() == point.get_color()
    assert_allclose(point.get_data(), [[60], [8]])
    assert_allclose(level.get_ydata(), [10, 10])
    assert entries(display)[2:] == [
        "certified: 60 % answered, bound 8.0 %",
        "least possible",
        "risk 10 %",
    ]
    assert len(drawn(display).ax_.lines) == 4


def test_the_first_few_records_do_not_stretch_the_axis():
    loss = np.zeros(1000)
    loss[0] = loss[-40:] = 1
    own = risk_coverage(-np.arange(1000.0), loss)
    assert own.risk[0] == 1
    assert drawn(RiskCoverageDisplay({"mine": own})).ax_.get_ylim()[1] < 5
    assert drawn(RiskCoverageDisplay({"mine": own}, risk=0.2)).ax_.get_ylim()[1] > 20
    far = RiskCoverageDisplay({"mine": own}, certified={"mine": (0.5, 0.3)})
    assert drawn(far).ax_.get_ylim()[1] > 30


def test_no_mistake_can_be_drawn():
    display = RiskCoverageDisplay({"mine": risk_coverage(np.arange(3.0), np.zeros(3))})
    assert drawn(display, perfect=True).ax_.get_ylim() == (0, 1)


def test_no_text_lies_on_another():
    display = two(risk=0.1, certified={"other": (0.6, 0.08)})
    display = drawn(display, title="Costs $5 or $6", perfect=True)
    ax = display.ax_
    texts = [ax._left_title, ax.xaxis.label, ax.yaxis.label, *ax.texts]
    texts += [*ax.get_legend().get_texts(), *ax.get_yticklabels(), *ax.get_xticklabels()]
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
    assert all(box.x0 >= 0 and box.y0 >= 0 for box in boxes)
    assert not any(box.overlaps(ax.bbox) for box in boxes)


def test_own_figure_and_file(tmp_path: Path):
    import matplotlib.pyplot as plt

    display = two()
    assert display.save(tmp_path / "curve.png", title="Mine", perfect=True) is display
    assert not plt.get_fignums()
    assert display.plot().figure_ is plt.gcf()
    plt.close("all")


# -------------------------------------------------------------------- computing


def rows(n=900, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    return X, np.where(X[:, 0] + 0.7 * random.normal(size=n) > 0, "yes", "no")


def test_predictions_without_an_estimator():
    y, answers, sure = ["a", "b", "b", "a"], ["a", "a", "b", "a"], [3.0, 1.0, 2.0, 2.0]
    display = RiskCoverageDisplay.from_predictions(y, answers, sure, name="mine", risk=0.3)
    own = display.curves_["mine"]
    assert_allclose(own.risk, [0, 0, 0, 0.25])
    assert_allclose(own.least, [0, 0, 0, 0.25])
    assert display.risk_ == 0.3


def test_models_of_several_libraries_on_the_same_rows():
    X, y = rows()
    models = {"surelearn": SureClassifier(random_state=0), "Maxent": LogisticRegression()}
    for clf in models.values():
        clf.fit(X[:400], y[:400])
    X, y = X[400:], y[400:]
    display = RiskCoverageDisplay.from_estimators(models, X, y, risk=0.1)
    for name, clf in models.items():
        sure = clf.predict_proba(X).max(axis=1)
        by_hand = RiskCoverageDisplay.from_predictions(y, clf.predict(X), sure)
        assert_allclose(display.curves_[name].risk, by_hand.curves_["classifier"].risk)
    assert (display.risk_, display.certified_) == (0.1, {})
    one = RiskCoverageDisplay.from_estimator(models["Maxent"], X, y)
    assert_array_equal(one.curves_["LogisticRegression"].risk, display.curves_["Maxent"].risk)
    assert one.risk_ is None


def test_a_promise_is_marked():
    X, y = rows()
    clf = SureClassifier(random_state=0).fit(X[:400], y[:400])
    clf.choose_abstention(X[400:700], y[400:700], risk=0.15)
    display = RiskCoverageDisplay.from_estimator(clf, X[700:], y[700:], name="mine")
    assert display.certified_ == {"mine": (clf.coverage_, clf.risk_bound_)}
    assert display.risk_ == 0.15
    assert RiskCoverageDisplay.from_estimator(clf, X, y, risk=0.4).risk_ == 0.4
    evaluation = evaluate(clf, X[700:], y[700:])
    same = RiskCoverageDisplay.from_evaluation(evaluation, name="mine")
    assert_array_equal(same.curves_["mine"].risk, display.curves_["mine"].risk)
    assert (same.certified_, same.risk_) == (display.certified_, 0.15)
    by_label = clf.choose_abstention(X[400:700], y[400:700], risk={"yes": 0.25})
    display = RiskCoverageDisplay.from_estimator(by_label, X[700:], y[700:])
    assert (display.certified_, display.risk_) == ({}, None)


def test_groups_of_a_ranker():
    X, group = np.random.default_rng(0).normal(size=(120, 2)), [4] * 30
    y = X[:, 0] > 0.5
    ranker = SureRanker(random_state=0).fit(X, y, group=group)
    display = RiskCoverageDisplay.from_estimator(ranker, X, y, group=group)
    assert len(display.curves_["SureRanker"].risk) == 30
    assert display.risk_ is None


def test_errors():
    X, y = rows()
    with pytest.raises(TypeError, match=r"curves must be a dict of \{name: curve\}, got \[\]"):
        RiskCoverageDisplay([])
    with pytest.raises(TypeError, match=r"curves\['a'\] must be a RiskCoverage, got 3"):
        RiskCoverageDisplay({"a": 3})
    with pytest.raises(ValueError, match=r"risk must be in \(0, 1\), got 5"):
        two(risk=5)
    with pytest.raises(ValueError, match=r"certified must be .*'mine'.*got 'm'"):
        two(certified={"m": (0.1, 0.1)})
    with pytest.raises(TypeError, match=r"estimators must be a dict of \{name: estimator\}"):
        RiskCoverageDisplay.from_estimators({}, X, y)
    for clf in (Perceptron().fit(X, y), SureClassifier("pa1").fit(X, y)):
        with pytest.raises(TypeError, match="estimator must have probabilities, got "):
            RiskCoverageDisplay.from_estimator(clf, X, y)
        with pytest.raises(TypeError, match="evaluation must be of a model with probabilities"):
            RiskCoverageDisplay.from_evaluation(evaluate(clf, X, y))
    with pytest.raises(ValueError, match=r"y_pred must have shape \(2,\), as y_true has, got"):
        RiskCoverageDisplay.from_predictions([1, 2], [1], [0.1, 0.2])
    with pytest.raises(ValueError, match=r"sureness must have shape \(2,\), as y_true has, got"):
        RiskCoverageDisplay.from_predictions([1, 2], [1, 2], [[0.1, 0.2]])
    with pytest.raises(TypeError, match="of the same type as before, such as 1, got 'a'"):
        RiskCoverageDisplay.from_predictions([1, 2], ["a", "b"], [0.1, 0.2])
    with pytest.raises(ValueError, match="y_true must have at least one label, got none"):
        RiskCoverageDisplay.from_predictions([], [], [])

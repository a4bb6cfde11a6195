"""`LearningCurveDisplay.from_simulation`: what is drawn of labels that were asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import image
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from surelearn.active import Simulation
from surelearn.plot import LearningCurveDisplay

PAIRS = [("PA", "random"), ("PA", "margin"), ("CW", "random"), ("CW", "margin"), ("CW", "acl")]


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    random = np.random.default_rng(0)
    rise = 0.5 + 0.4 * (1 - np.exp(-np.arange(99) / 20))
    curves = {pair: rise + random.normal(scale=0.02, size=(6, 99)) for pair in PAIRS}
    full = {"PA": np.full(6, 0.955), "CW": np.full(6, 0.96)}
    return Simulation(range(2, 101), curves, full, pool=[500] * 6)


def drawn(simulation: Simulation, **options: Any) -> LearningCurveDisplay:
    return LearningCurveDisplay.from_simulation(simulation, **options).plot(
        Figure(layout="constrained").subplots(), unit="texts"
    )


def test_numbers_are_those_of_the_simulation(simulation: Simulation) -> None:
    display = LearningCurveDisplay.from_simulation(simulation)
    assert_array_equal(display.sizes_, simulation.labels)
    assert list(display.accuracy_) == [" ".join(pair) for pair in PAIRS]
    for pair in PAIRS:
        assert_array_equal(display.accuracy_[" ".join(pair)], simulation.smooth[pair])
    assert_array_equal(display.full_["CW"], simulation.full["CW"])


def test_lines_are_means_and_bands_standard_errors(simulation: Simulation) -> None:
    ax = drawn(simulation).ax_
    lines = [line for line in ax.lines if len(line.get_xdata()) == 99]
    for pair, line, band in zip(PAIRS, lines, ax.collections, strict=True):
        percent = 100 * simulation.smooth[pair]
        assert_allclose(line.get_ydata(), percent.mean(axis=0))
        (corners,) = band.get_paths()
        error = percent.std(axis=0, ddof=1) / np.sqrt(6)
        edges = np.round([percent.mean(axis=0) - error, percent.mean(axis=0) + error], 9)
        assert_array_equal(np.unique(corners.vertices[:, 1].round(9)), np.unique(edges))


def test_a_colour_for_each_strategy_and_a_style_for_each_learner(simulation: Simulation) -> None:
    ax = drawn(simulation).ax_
    looks = {
        pair: (to_hex(line.get_color()), line.get_linestyle())
        for pair, line in zip(PAIRS, ax.lines, strict=False)
    }
    assert looks["PA", "margin"][0] == looks["CW", "margin"][0] != looks["CW", "acl"][0]
    assert looks["PA", "margin"][1] == looks["PA", "random"][1] == "--"
    assert {looks["CW", how][1] for how in ("random", "margin", "acl")} == {"-"}
    names = {text.get_text().split("  ")[0]: to_hex(text.get_color()) for text in ax.texts}
    for pair in PAIRS:
        assert names[" ".join(pair)] == looks[pair][0]


def test_all_labels_are_thin_lines_with_names(simulation: Simulation) -> None:
    ax = drawn(simulation).ax_
    levels = {round(line.get_ydata()[0], 6): line.get_linestyle() for line in ax.lines[5:]}
    assert levels == {95.5: "--", 96.0: "-"}
    texts = [text.get_text() for text in ax.texts]
    assert "PA, all labels  95.5 %" in texts
    assert "CW, all labels  96.0 %" in texts


def test_axes_say_what_is_drawn(simulation: Simulation) -> None:
    ax = drawn(simulation).ax_
    assert ax.get_xlabel() == "Labels asked for (log scale)"
    assert ax.get_ylabel() == "Accuracy on test texts (%)"
    assert ax.get_xscale() == "log"
    low, high = ax.get_ylim()
    means = [100 * simulation.smooth[pair].mean(axis=0) for pair in PAIRS]
    spread = 96.0 - np.min(means)  # the best line is that of all labels
    assert np.min(means) - 0.1 * spread < low < np.min(means) - 0.01 * spread
    assert 96.0 + 0.05 * spread < high < 96.0 + 0.15 * spread
    said = [text.get_text() for text in ax.texts]
    assert any("standard error over 6 runs, smoothed over nine tests" in text for text in said)


def test_names_do_not_run_into_each_other(simulation: Simulation) -> None:
    display = drawn(simulation)
    display.figure_.draw_without_rendering()
    boxes = [text.get_window_extent() for text in display.ax_.texts if " %" in text.get_text()]
    for place, box in enumerate(boxes):
        for other in boxes[place + 1 :]:
            assert not box.overlaps(other)


def test_some_curves_only(simulation: Simulation) -> None:
    display = LearningCurveDisplay.from_simulation(
        simulation, curves=[("CW", "acl"), ("CW", "random")]
    )
    assert list(display.accuracy_) == ["CW acl", "CW random"]
    assert list(display.full_) == ["CW"]


def test_one_run_has_no_bands() -> None:
    found = Simulation([2, 3], {("CW", "acl"): [[0.5, 0.6]]}, {"CW": [0.9]}, pool=[9])
    ax = drawn(found).ax_
    assert not ax.collections
    assert any(text.get_text().startswith("One run, ") for text in ax.texts)


def test_it_is_saved(simulation: Simulation, tmp_path: Path) -> None:
    LearningCurveDisplay.from_simulation(simulation).save(tmp_path / "a.png", title="a $ title")
    assert image.imread(tmp_path / "a.png").shape[:2] == (750, 1200)


def test_names_with_blanks_are_told_apart() -> None:
    full = {"a": [0.9], "a b": [0.8]}
    display = LearningCurveDisplay([2], {"a margin": [[0.5]], "a b margin": [[0.6]]}, full=full)
    styles = [line.get_linestyle() for line in display.plot(Figure().subplots()).ax_.lines[:2]]
    assert styles == ["--", "-"]


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: LearningCurveDisplay.from_simulation({"CW": 1}), TypeError,
         "simulation must be a result of simulate, got"),
        (lambda: LearningCurveDisplay([2], {"CW acl": [[0.5]]}, full={"PA": [0.9]}), ValueError,
         "full must have the learner of 'CW acl', got PA"),
        (lambda: LearningCurveDisplay([2], {"CW acl": [[0.5]]}, full={"CW": [0.9, 0.9]}),
         ValueError, r"full\['CW'\] must have shape \(1,\)"),
    ],
)  # fmt: skip
def test_what_is_no_simulation_is_refused(make: Any, error: Any, says: str) -> None:
    with pytest.raises(error, match=says):
        make()


def test_unknown_curves_are_refused(simulation: Simulation) -> None:
    with pytest.raises(ValueError, match=r"curves must be among .*, got \('CW', 'guess'\)"):
        LearningCurveDisplay.from_simulation(simulation, curves=[("CW", "guess")])

"""The four panels of reliability, drawn from made-up numbers."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

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
    ReliabilityDisplay({"empty": empty}).save(tmp_path / "empty.png")
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

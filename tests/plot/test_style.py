"""Looks of pictures: colours that can be told apart, quiet axes, plain texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from surelearn.plot import style


def test_learners_are_told_apart_by_colour_and_marker():
    n = len(style.COLOURS)
    looks = [style.look(i) for i in range(n)]
    assert len({look["color"] for look in looks}) == len({look["marker"] for look in looks}) == n
    assert style.look(n) == style.look(0)


def test_every_colour_can_be_seen_on_white():
    for colour in style.COLOURS:
        red, green, blue = to_rgb(colour)
        assert 0.299 * red + 0.587 * green + 0.114 * blue < 0.75


def test_titles_are_the_largest_text_and_data_the_widest_lines():
    sizes = [style.TINY, style.SMALL, style.FONT, style.TITLE]
    assert sizes == sorted(set(sizes))
    assert style.THIN < style.LINE


@pytest.mark.parametrize("axis", ["x", "y", "both"])
def test_a_quiet_axes_has_a_grid_and_no_frame(axis):
    figure = Figure()
    ax = figure.subplots()
    style.quiet(ax, axis)
    figure.draw_without_rendering()
    lines = {name: getattr(ax, f"{name}axis").get_gridlines() for name in "xy"}
    shown = {name for name, grid in lines.items() if any(line.get_visible() for line in grid)}
    assert shown == ({"x", "y"} if axis == "both" else {axis})
    visible = [name for name, spine in ax.spines.items() if spine.get_visible()]
    assert sorted(visible) == ["bottom", "left"]


def test_the_title_is_above_the_subtitle_and_both_above_the_left_end_of_the_axes():
    figure = Figure(layout="constrained", dpi=72)  # a pixel is a point
    ax = figure.subplots()
    style.head(ax, "B title", "Between title and axes")
    figure.draw_without_rendering()
    subtitle = ax.texts[0].get_window_extent()
    title = next(text for text in ax.findobj(Text) if text.get_text() == "B title")
    assert title.get_window_extent().y0 >= subtitle.y1
    assert title.get_window_extent().x0 == pytest.approx(subtitle.x0, abs=0.5) == ax.bbox.x0
    assert ax.bbox.y1 < subtitle.y0 < ax.bbox.y1 + style.SMALL
    bare = Figure().subplots()
    style.head(bare, None, "what is drawn")
    assert bare.get_title(loc="left") == ""


@given(st.text("a$_^{}", max_size=8))
def test_a_plain_text_is_no_formula(text):
    """Half a formula would be an error when it is drawn."""
    figure = Figure()
    figure.text(0, 0, style.plain(text))
    figure.draw_without_rendering()
    assert style.plain(text).replace("\\$", "$") == text


def test_a_title_is_no_formula():
    figure = Figure()
    ax = figure.subplots()
    style.head(ax, "$1 and $x^", "what is drawn")
    figure.draw_without_rendering()
    assert ax.get_title(loc="left") == r"\$1 and \$x^"

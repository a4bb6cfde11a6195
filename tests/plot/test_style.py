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


@pytest.mark.parametrize("axis", ["x", "y"])
def test_a_quiet_axes_has_a_grid_along_one_axis_and_no_frame(axis):
    figure = Figure()
    ax = figure.subplots()
    style.quiet(ax, axis)
    figure.draw_without_rendering()
    lines = {name: getattr(ax, f"{name}axis").get_gridlines() for name in "xy"}
    shown = {name for name, grid in lines.items() if any(line.get_visible() for line in grid)}
    assert shown == {axis}
    visible = [name for name, spine in ax.spines.items() if spine.get_visible()]
    assert sorted(visible) == ["bottom", "left"]


def test_the_title_is_above_what_is_drawn():
    figure = Figure(layout="constrained")
    ax = figure.subplots()
    style.head(ax, "A title", "what is drawn")
    figure.draw_without_rendering()
    (subtitle,) = ax.texts
    title = next(text for text in ax.findobj(Text) if text.get_text() == "A title")
    assert title.get_window_extent().y0 >= subtitle.get_window_extent().y1
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

"""What every picture can do: be drawn where asked for, and saved without a window."""

from __future__ import annotations

import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

from surelearn.plot._display import Display


class Word(Display):
    """A picture of one word."""

    def _size(self):
        return 3.0, 2.0

    def _draw(self, ax, title):
        ax.text(0.5, 0.5, "word")
        ax.set_title(title or "none")


@pytest.fixture(autouse=True)
def _no_window():
    pyplot.close("all")
    yield
    pyplot.close("all")


def test_a_new_figure_has_the_size_that_is_wanted():
    display = Word()
    assert display.plot(title="a title") is display
    assert pyplot.get_fignums() == [display.figure_.number]
    assert tuple(display.figure_.get_size_inches()) == (3.0, 2.0)
    assert display.ax_.get_title() == "a title"


def test_axes_that_are_given_are_drawn_into():
    figure = Figure()
    part = figure.subfigures(1, 2)[1]
    ax = part.subplots()
    display = Word().plot(ax)
    assert display.ax_ is ax
    assert display.figure_ is figure  # not the part of it
    assert [text.get_text() for text in ax.texts] == ["word"]
    assert pyplot.get_fignums() == []


@pytest.mark.parametrize(
    ("ending", "begin"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")]
)
def test_the_ending_decides_the_format_of_a_file(ending, begin, tmp_path):
    path = tmp_path / f"picture.{ending}"
    display = Word()
    assert display.save(path, title="a title") is display
    assert path.read_bytes().startswith(begin)
    assert display.ax_.get_title() == "a title"
    assert pyplot.get_fignums() == []


def test_it_can_be_drawn_again():
    display = Word()
    first, second = display.plot().ax_, display.plot().ax_
    assert first is not second
    assert display.ax_ is second

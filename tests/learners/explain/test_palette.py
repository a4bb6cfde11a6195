"""Colours of classes: each its own, and seen without colours as well."""

from __future__ import annotations

from itertools import pairwise

from matplotlib.colors import to_rgb

from surelearn.learners.explain.highlight import COLOURS, GREY, colour_of, line_of, rgb


def test_colours_begin_anew_after_the_last():
    n = len(COLOURS)
    assert [colour_of(place) for place in range(2 * n)] == [*COLOURS, *COLOURS]
    assert len({*COLOURS, GREY}) == n + 1


def test_neighbours_have_other_lines():
    assert all(line_of(a) != line_of(b) for a, b in pairwise(range(len(COLOURS))))


def test_a_colour_in_numbers():
    for colour in (*COLOURS, GREY):
        numbers = [int(number) / 255 for number in rgb(colour).split(", ")]
        assert tuple(numbers) == to_rgb(colour)

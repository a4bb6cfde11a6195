"""The colours of classes, one for each by its place among them; must not know what is drawn."""

from __future__ import annotations

# Okabe & Ito 2008: distinct with any kind of colour vision. Their yellow is too pale for a line.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
#: What is of no class, or against one of many.
GREY = "#555555"
#: Lines below words, as CSS names them: colours that are alike in grey have others.
LINES = ("solid", "dashed", "double")


def colour_of(place: int) -> str:
    """The colour of the class at this place of `classes_`; after the last they begin anew."""
    return COLOURS[place % len(COLOURS)]


def line_of(place: int) -> str:
    """The line below words of the class at this place."""
    return LINES[place % len(LINES)]


def rgb(colour: str) -> str:
    """A colour as CSS takes it beside an opacity.

    >>> rgb("#0072B2")
    '0, 114, 178'
    """
    return ", ".join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))

"""What all pictures share: colours, sizes, axes; must not know what is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from surelearn import _check
from surelearn.learners.explain.highlight import COLOURS as COLOURS
from surelearn.learners.explain.highlight import GREY as GREY
from surelearn.learners.explain.highlight import colour_of as colour_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


#: Sizes of text in points: titles, labels of axes, what stands around a drawing, what is in it.
TITLE, FONT, SMALL, TINY = 13.0, 11.0, 10.0, 9.0
#: Widths in points: lines of data, and those that help to read them.
LINE, THIN = 1.8, 0.8
DPI = 150
_MARKERS = "os^DvPX"


def need_matplotlib(who: str) -> None:
    _check.need(who, "matplotlib", "plot")


def blank(who: str, size: tuple[float, float]) -> Figure:
    """A figure to save, without a window and without pyplot."""
    need_matplotlib(who)
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained")


def look(place: int) -> dict[str, Any]:
    """Colour and marker of a class, or of a learner among several."""
    return {"color": colour_of(place), "marker": _MARKERS[place % len(_MARKERS)]}


def unframed(ax: Axes) -> None:
    """Write small numbers at the ticks, and draw no frame at the top and right."""
    ax.tick_params(labelsize=SMALL)
    ax.spines[["top", "right"]].set_visible(False)


def quiet(ax: Axes, axis: Literal["x", "y", "both"] = "y") -> None:
    """Draw a pale grid along an axis, and no frame at the top and right."""
    unframed(ax)
    ax.grid(axis=axis, color="#DDDDDD", linewidth=THIN)
    ax.set_axisbelow(True)


def head(ax: Axes, title: str | None, subtitle: str) -> None:
    """Write a title at the left edge, and a subtitle below it."""
    ax.annotate(
        subtitle, (0, 1), (0, 8), "axes fraction", "offset points", fontsize=SMALL, color=GREY
    )
    if title is not None:
        ax.set_title(plain(title), loc="left", pad=26, fontsize=TITLE, fontweight="bold")


def root(ax: Axes) -> Figure:
    """The figure of the axes, even if they are in a subfigure."""
    return ax.get_figure(root=True)  # type: ignore[return-value]


def plain(text: str) -> str:
    """The text, escaped so that matplotlib does not parse formulas in it."""
    return text.replace("$", r"\$")

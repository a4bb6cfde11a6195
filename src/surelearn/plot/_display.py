"""Base class of displays in one Axes: `plot` and `save`; must not know what is drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

from surelearn.plot.style import DPI, blank, need_matplotlib, root

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Display(ABC):
    """A picture in one Axes; subclasses set its size and draw it."""

    ax_: Axes
    figure_: Figure

    @abstractmethod
    def _size(self) -> tuple[float, float]:
        """Width and height of a new figure, in inches."""

    @abstractmethod
    def _draw(self, ax: Axes, title: str | None) -> None: ...

    def plot(self, ax: Axes | None = None, *, title: str | None = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw. The default is a new pyplot figure.
        title : str, optional

        Returns
        -------
        self
            With `ax_` and `figure_`.
        """
        return self._plot(ax, title)

    def save(self, path: str | PathLike[str], *, title: str | None = None) -> Self:
        """Draw into a file, without a window and without pyplot.

        Parameters
        ----------
        path : str or path
            The extension decides the format: ``.png``, ``.svg``, ``.pdf``.
        title : str, optional
            As in `plot`.

        Returns
        -------
        self
        """
        return self._save(path, title=title)

    def _plot(self, ax: Axes | None, title: str | None, **words: Any) -> Self:
        need_matplotlib(f"{type(self).__name__}.plot")
        if ax is None:
            from matplotlib import pyplot

            _, ax = pyplot.subplots(figsize=self._size(), layout="constrained")
        self._draw(ax, title, **words)
        self.ax_, self.figure_ = ax, root(ax)
        return self

    def _save(self, path: str | PathLike[str], **words: Any) -> Self:
        figure = blank(f"{type(self).__name__}.save", self._size())
        self.plot(figure.subplots(), **words)
        figure.savefig(path, dpi=DPI)
        return self

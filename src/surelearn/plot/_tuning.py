"""The candidates of a search and their errors, best first; must not know how they were trained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from surelearn import _check
from surelearn.plot._display import Display
from surelearn.plot.style import COLOURS, FONT, GREY, THIN, head, plain, quiet
from surelearn.table import word
from surelearn.tuning import Standings
from surelearn.tuning.candidates import described

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TOP = 15


class TuningDisplay(Display):
    """How far each candidate of `tune` is behind the winner, with error bars.

    Make it with `from_table`, then draw it with `plot` or `save`. The winner is on top.

    Parameters
    ----------
    names : list of str
        The settings of each candidate, the winner first.
    behind, deviation : array of shape (n_candidates,)
        The error of each candidate minus that of the winner, and the standard error of this
        difference.
    error : float
        The error of the winner.

    Attributes
    ----------
    names_ : list of str
    behind_, deviation_ : ndarray of shape (n_candidates,)
    error_ : float
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.

    Examples
    --------
    >>> from surelearn.plot import TuningDisplay
    >>> display = TuningDisplay(["AROW", "PA1"], [0.0, 0.02], [0.0, 0.005], error=0.1)
    >>> display.behind_
    array([0.  , 0.02])
    """

    def __init__(
        self, names: Sequence[str], behind: ArrayLike, deviation: ArrayLike, *, error: float
    ) -> None:
        self.names_ = list(names)
        self.behind_ = _check.numbers("behind", behind)
        self.deviation_ = _check.numbers("deviation", deviation)
        self.error_ = _check.number("error", error, "[0, 1]", low=0.0, high=np.nextafter(1, 2))
        for name, values in (("behind", self.behind_), ("deviation", self.deviation_)):
            if values.shape != (len(self.names_),) or not self.names_:
                raise ValueError(
                    f"{name} must have a number for each of {len(self.names_)} names, at least "
                    f"one, got shape {values.shape}."
                )

    @classmethod
    def from_table(cls, table: Standings, *, top: int | None = _TOP) -> Self:
        """The best candidates of a table of `tune`, of those that were judged by all passes.

        Parameters
        ----------
        table : Standings
        top : int or None, default 15
            How many to draw; None means all.
        """
        if not isinstance(table, Standings):
            raise TypeError(f"table must be a table of tune, got {table!r}.")
        most = _check.top(top, auto=None)
        kept = np.flatnonzero(~np.isnan(table.error))[:most]
        names = [described(table.parameters[i]) for i in kept]
        error = float(table.error[0])
        return cls(names, table.behind[kept], table.behind_deviation[kept], error=error)

    def _size(self) -> tuple[float, float]:
        return 8.0, 1.6 + 0.3 * len(self.names_)

    def _draw(self, ax: Axes, title: str | None) -> None:
        places = np.arange(len(self.names_))
        percent, bars = 100 * self.behind_, 200 * self.deviation_
        level = percent <= bars  # within two standard errors of the winner
        for chosen, colour in ((level, COLOURS[0]), (~level, GREY)):
            style: dict[str, Any] = {"fmt": "o", "color": colour, "capsize": 3}
            ax.errorbar(percent[chosen], places[chosen], xerr=bars[chosen], **style)
        ax.axvline(0.0, color=COLOURS[0], linewidth=THIN)
        ax.set_yticks(places, [plain(word(name, 50)) for name in self.names_])
        ax.invert_yaxis()
        ax.set_xlabel("More errors than the winner (% of judged rows)", fontsize=FONT)
        quiet(ax, "x")
        told = f"Bars: two standard errors. The winner has {100 * self.error_:.2f} % errors."
        head(ax, title, told)

"""The table of `tune`; must not know how candidates are trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from surelearn.table import Table, word
from surelearn.tuning.candidates import Entrant, described
from surelearn.tuning.final import Verdict, compared
from surelearn.tuning.sweep import Candidate

#: Columns of the final.
_JUDGED = ("error", "deviation", "behind", "behind_deviation", "log_loss")


class Standings(Table):
    """The candidates of `tune`: the winner, the other finalists, those that the first round left.

    Each column is a read-only attribute. Finalists are in the order of their error, and those that
    did not reach the final in the order of the first pass; failed ones come last.

    Attributes
    ----------
    columns : tuple of str
        The names of the columns, in order.
    parameters : ndarray of dict
        The parameters that the candidate sets; an empty dict is the estimator as it is.
    error, deviation : ndarray of float
        Error on rows that were kept back, after all passes, and its standard error; NaN if the
        candidate did not reach the final.
    behind, behind_deviation : ndarray of float
        Difference to the winner's error, and its standard error. The comparison is paired, row by
        row, so this is smaller than the standard errors of the two errors suggest.
    log_loss : ndarray of float
        Mean log loss of the calibrated probabilities of these rows; NaN for a first-order rule.
    first_pass : ndarray of float
        Progressive validation error of the first round, NaN if the candidate failed; the column is
        absent if there was no such round.
    failure : ndarray of str
        Why a candidate failed; the column is absent if none did.

    Examples
    --------
    >>> from surelearn import SureClassifier, tune
    >>> X, y = [[0, 1], [1, 0], [0, 2], [3, 0], [1, 2], [2, 1]], [0, 1, 0, 1, 0, 1]
    >>> _, table = tune(SureClassifier(random_state=0), X, y, {"rule": ["arow", "pa"]})
    >>> table.columns[:3]
    ('parameters', 'error', 'deviation')
    """

    _kind = "Standings"
    _right = "fiu"

    @staticmethod
    def _cell(name: str, value: Any) -> str:
        if name == "parameters":
            return word(described(value), 60)
        if isinstance(value, float) and not np.isnan(value):
            return f"{value:.4f}"
        return Table._cell(name, value)


def standings(
    entrants: Sequence[Entrant],
    entries: Sequence[Candidate],
    final: Mapping[int, Verdict],
    *,
    places: Sequence[int],
    n_rows: int | None,
) -> Standings:
    """The table.

    Parameters
    ----------
    entrants, entries : list
        Parameters, and results of the first round.
    final : dict of {int: Verdict}
        The results of those that were judged by all passes, by their number.
    places : list of int
        The numbers of all candidates, the winner first.
    n_rows : int or None
        Rows of the first round; None: there was none.
    """
    best = final[places[0]]
    lines = [{**_of_final(final.get(i), best), **_of_first(entries[i], n_rows)} for i in places]
    params = np.empty(len(places), dtype=object)
    params[:] = [entrants[i].params for i in places]
    table = {"parameters": params}
    table |= {name: np.array([line[name] for line in lines]) for name in lines[0]}
    if n_rows is None:
        del table["first_pass"]
    if not any(line["failure"] for line in lines):
        del table["failure"]
    return Standings(table)


def _of_final(own: Verdict | None, best: Verdict) -> dict[str, Any]:
    if own is None:
        return dict.fromkeys(_JUDGED, np.nan)
    behind = compared(own.missed, best.missed)
    deviation = np.sqrt(own.error * (1 - own.error) / len(own.missed))
    return dict(zip(_JUDGED, (own.error, deviation, *behind, own.log_loss), strict=True))


def _of_first(entry: Candidate, n_rows: int | None) -> dict[str, Any]:
    first = np.nan if entry.failure or n_rows is None else entry.mistakes / n_rows
    return {"first_pass": first, "failure": entry.failure}

"""What a table or figure of a paper is made of; must not know how cases are run or written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: What a case has found, or a line of a table: plain values by name.
Row = dict[str, Any]
Rows = list[Row]
Case = Callable[[], Rows]

HELD, NOT_HELD, OPEN = "held", "did not hold", "not decided"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence of a document, and what speaks for or against it.

    Parameters
    ----------
    text : str
        The claim, in a sentence.
    theirs, ours : str
        Figures of the document and of this run.
    lead : float
        By how much the claim holds: positive if it does, in the unit of `ours`.
    error : float
        Standard error of `lead`; 0 for what has none, such as an identity.
    note : str
        A sentence on what stands in for what, or why the two differ.

    Attributes
    ----------
    verdict : str
        ``"held"`` or ``"did not hold"`` if `lead` is beyond two standard errors of zero, else
        ``"not decided"``.

    Examples
    --------
    >>> Claim(text="Variance is better than PA.", theirs="+2", ours="+3", lead=3, error=1).verdict
    'held'
    >>> Claim(text="It is better.", theirs="+2", ours="+1", lead=1, error=1).verdict
    'not decided'
    """

    text: str
    theirs: str
    ours: str
    lead: float
    error: float = 0.0
    note: str = ""

    @property
    def verdict(self) -> str:
        if not abs(self.lead) > 2 * self.error:  # also where the error is NaN
            return OPEN
        return HELD if self.lead > 0 else NOT_HELD


def _none(rows: Rows) -> tuple[Claim, ...]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A table or figure of a document.

    Parameters
    ----------
    name : str
        Such as ``"variance-table2"``: the document, then the place in it.
    title : str
        What it shows, in a line.
    cases : function of (quick,)
        Cases by name. Each is run alone, in any process and order, and returns rows. With `quick`
        they are few and small.
    tables : function of (rows,)
        Tables by title: lines of text, with the figures of the document beside ours.
    claims : function of (rows,)
    draw : function of (rows, folder), optional
        Writes pictures into the folder.
    notes : str
        Markdown: what was done, and what stands in for data that is not open. The link
        ``[table 2](variance-table2)`` leads to another entry.
    is_timed : bool
        Whether cases measure time: they are then run one after the other, with no other case.

    Examples
    --------
    >>> from experiments.papers import chosen
    >>> chosen(["lecture-ecoc"])["lecture-ecoc"].is_timed
    False
    """

    name: str
    title: str
    cases: Callable[[bool], Mapping[str, Case]]
    tables: Callable[[Rows], Mapping[str, Sequence[Row]]]
    claims: Callable[[Rows], Sequence[Claim]] = _none
    draw: Callable[[Rows, Path], None] | None = None
    notes: str = ""
    is_timed: bool = False

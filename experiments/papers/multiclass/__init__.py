"""Entries of the 2009 multi-class paper; must not know how entries are run."""

from __future__ import annotations

from experiments.papers.entry import Entry
from experiments.papers.multiclass import (
    figure1,
    figure2,
    newsgroups,
    probabilities,
    sampling,
    seconds,
    table1,
    table2,
    table3,
)

ENTRIES: tuple[Entry, ...] = tuple(
    module.ENTRY
    for module in (
        table1,
        table2,
        table3,
        newsgroups,
        figure1,
        seconds,
        figure2,
        probabilities,
        sampling,
    )
)

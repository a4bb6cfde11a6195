"""Entries of the 2008 Variance paper; must not know how entries are run."""

from __future__ import annotations

from experiments.papers.entry import Entry
from experiments.papers.variance import equation18, figure1, figure2, runtime, table2, variants

ENTRIES: tuple[Entry, ...] = (
    table2.ENTRY,
    figure1.ENTRY,
    variants.ENTRY,
    equation18.ENTRY,
    figure2.ENTRY,
    runtime.ENTRY,
)

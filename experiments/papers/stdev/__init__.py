"""Entries of the 2008 Stdev paper; must not know how entries are run."""

from __future__ import annotations

from experiments.papers.entry import Entry
from experiments.papers.stdev import figure2, figure2c, figure3, kernel, lemma3, theorem4

ENTRIES: tuple[Entry, ...] = (
    figure2.ENTRY,
    figure2c.ENTRY,
    figure3.ENTRY,
    lemma3.ENTRY,
    theorem4.ENTRY,
    kernel.ENTRY,
)

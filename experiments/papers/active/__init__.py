"""Entries of the 2008 active learning paper; must not know how entries are run."""

from __future__ import annotations

from experiments.papers.active import figure1
from experiments.papers.entry import Entry

ENTRIES: tuple[Entry, ...] = (figure1.ENTRY,)

"""Entries of the 2008 Stdev paper; must not know how entries are run."""

from __future__ import annotations

from surelearn.reproduce.entry import Entry

ENTRIES: tuple[Entry, ...] = ()

"""Entries of the 2009 multi-class paper; must not know how entries are run."""

from __future__ import annotations

from surelearn.reproduce.entry import Entry

ENTRIES: tuple[Entry, ...] = ()

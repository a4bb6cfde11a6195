"""Entries of the 2008 active learning paper; must not know how entries are run."""

from __future__ import annotations

from surelearn.reproduce.active import figure1
from surelearn.reproduce.entry import Entry

ENTRIES: tuple[Entry, ...] = (figure1.ENTRY,)

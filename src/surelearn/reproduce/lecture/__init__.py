"""Entries of the lecture; must not know how entries are run."""

from __future__ import annotations

from surelearn.reproduce.entry import Entry
from surelearn.reproduce.lecture import ecoc

ENTRIES: tuple[Entry, ...] = (ecoc.ENTRY,)

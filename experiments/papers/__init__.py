"""The papers rebuilt: their tables, figures and claims, from open data; must not know formats.

An `Entry` is one table or figure: cases that are run apart, the tables and pictures that are made
of what they found, and the claims that these decide. `reproduce` runs entries, continues where it
was stopped, and writes tables, pictures and the page of all claims.
"""

from __future__ import annotations

from experiments.papers.entry import Claim, Entry
from experiments.papers.registry import DOCUMENTS, chosen, entries
from experiments.papers.run import reproduce

__all__ = ["DOCUMENTS", "Claim", "Entry", "chosen", "entries", "reproduce"]

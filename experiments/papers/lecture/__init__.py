"""Entries of the lecture; must not know how entries are run."""

from __future__ import annotations

from experiments.papers.entry import Entry
from experiments.papers.lecture import (
    conll2000,
    ecoc,
    four_classes,
    gradients,
    losses,
    messages,
    reductions,
    svm,
    viterbi,
)

ENTRIES: tuple[Entry, ...] = (
    four_classes.ENTRY,
    ecoc.ENTRY,
    reductions.ENTRY,
    losses.ENTRY,
    gradients.ENTRY,
    svm.ENTRY,
    viterbi.ENTRY,
    messages.ENTRY,
    conll2000.ENTRY,
)

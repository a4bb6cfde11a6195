"""All entries, by document; must not know what they compute."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple

from experiments.papers.entry import Entry


class Document(NamedTuple):
    """A paper or lecture, and the module with its entries."""

    title: str
    module: str


DOCUMENTS = {
    "variance": Document(
        "Dredze, Crammer & Pereira 2008, Confidence-Weighted Linear Classification",
        "experiments.papers.variance",
    ),
    "stdev": Document(
        "Crammer, Dredze & Pereira 2008, Exact Convex Confidence-Weighted Learning",
        "experiments.papers.stdev",
    ),
    "multiclass": Document(
        "Crammer, Dredze & Kulesza 2009, Multi-Class Confidence Weighted Algorithms",
        "experiments.papers.multiclass",
    ),
    "active": Document(
        "Dredze & Crammer 2008, Active Learning with Confidence",
        "experiments.papers.active",
    ),
    "lecture": Document(
        "New York University, lecture on multiclass and structured prediction",
        "experiments.papers.lecture",
    ),
}


def entries(document: str) -> tuple[Entry, ...]:
    """The entries of a document, in its order.

    Examples
    --------
    >>> from experiments.papers import entries
    >>> entries("active")[0].name
    'active-figure1'
    """
    found: tuple[Entry, ...] = import_module(DOCUMENTS[document].module).ENTRIES
    return found


def document_of(name: str) -> str:
    """The document of an entry."""
    return name.split("-")[0]


def chosen(names: Sequence[str] = ()) -> dict[str, Entry]:
    """Entries by name: those named, those of the documents named, or all.

    Parameters
    ----------
    names : sequence of str
        Names of entries or documents; none: all.

    Returns
    -------
    dict of {str: Entry}

    Examples
    --------
    >>> from experiments.papers import chosen
    >>> list(chosen(["lecture-ecoc"]))
    ['lecture-ecoc']
    """
    every = {entry.name: entry for document in DOCUMENTS for entry in entries(document)}
    known = [*DOCUMENTS, *every]
    for name in names:
        if name not in known:
            raise ValueError(f"name must be one of {', '.join(map(repr, known))}, got {name!r}.")
    wanted = {*names}
    return {
        name: entry
        for name, entry in every.items()
        if not names or {name, document_of(name)} & wanted
    }


def named(name: str) -> Entry:
    """One entry, without importing other documents."""
    return next(entry for entry in entries(document_of(name)) if entry.name == name)

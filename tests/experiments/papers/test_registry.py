"""Entries are found by their names and by their documents."""

from __future__ import annotations

import pytest

from experiments.papers import DOCUMENTS, chosen, entries
from experiments.papers.registry import document_of, named


def test_names_begin_with_their_document_and_are_unique():
    names = [(document, entry.name) for document in DOCUMENTS for entry in entries(document)]
    assert len({name for _, name in names}) == len(names)
    for document, name in names:
        assert document_of(name) == document
        assert named(name).name == name


def test_entries_and_documents_are_chosen_by_name():
    assert list(chosen(["lecture-ecoc"])) == ["lecture-ecoc"]
    assert list(chosen(["lecture"])) == [entry.name for entry in entries("lecture")]
    assert set(chosen(["lecture", "lecture-ecoc"])) == set(chosen(["lecture"]))
    assert len(chosen()) == sum(len(entries(document)) for document in DOCUMENTS)


def test_other_names_are_refused():
    with pytest.raises(ValueError, match=r"name must be one of 'variance', .*, got 'nothing'"):
        chosen(["lecture", "nothing"])

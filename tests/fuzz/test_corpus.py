"""The files that damaged ones are made from, and those that once did harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.readers import check

CORPUS = Path(__file__).parents[1] / "corpus"
READERS = ("conll", "conllu", "csv", "groups", "jsonl", "parquet")
FILES = [path for reader in READERS for path in (CORPUS / reader).iterdir()]


@pytest.mark.parametrize("path", sorted(FILES), ids=lambda path: path.name)
def test_a_file_gives_batches_or_says_what_is_wrong(path):
    check(path)

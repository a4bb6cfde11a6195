"""Sources that are looked at before they are read."""

from __future__ import annotations

import pytest


@pytest.fixture
def files(tmp_path):
    """A file of each kind, empty: a flag is looked at before anything is read."""
    names = ("a.jsonl", "a.csv", "a.tsv", "a.parquet", "a.arrow", "a.svm", "a.vw", "a.conll")
    for name in names:
        (tmp_path / name).write_text("")
    return {name.partition(".")[2]: tmp_path / name for name in names}

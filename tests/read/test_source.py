"""The format of a source: told by its name, or given."""

from __future__ import annotations

import pandas
import pytest

from reading import dumped, rows
from surelearn import read
from surelearn.read._source import FORMATS, told_formats

PAIRS = [("a", "x"), ("b", "y")]


def test_the_format_is_in_the_name_or_given(tmp_path):
    for name in ("records", "a.jsonl", "a.csv"):
        (tmp_path / name).write_bytes(dumped(PAIRS))
    assert rows(tmp_path / "records", format="jsonl") == (PAIRS, 0)
    with pytest.raises(read.BadInput, match=r"records must have an extension .*, got ''. Name the"):
        rows(tmp_path / "records")
    with pytest.raises(ValueError, match=r"format must be one of 'jsonl', 'csv', .*, got 'xml'."):
        rows(tmp_path / "records", format="xml")
    with pytest.raises(read.BadInput, match=r"files must have one format, got csv and jsonl."):
        rows([tmp_path / "a.csv", tmp_path / "a.jsonl"])


@pytest.mark.parametrize("packed", ["", ".gz", ".ZST"])
@pytest.mark.parametrize(("kind", "endings"), FORMATS.items(), ids=FORMATS)
def test_every_ending_tells_its_format(kind, endings, packed, tmp_path):
    files = [tmp_path / f"a{ending.upper()}{packed}" for ending in endings]
    for file in files:
        file.touch()
    assert told_formats(files) == {kind}


def test_names_that_tell_no_format(tmp_path):
    for name in ("a", "a.csv.bak", "a.jsonl"):
        (tmp_path / name).touch()
    assert told_formats([tmp_path / "a", tmp_path / "a.csv.bak"]) == {None}
    assert told_formats(sorted(tmp_path.iterdir())) == {None, "jsonl"}
    assert told_formats(pandas.DataFrame()) == set()


def test_a_source_remembers_what_was_said_of_it(tmp_path):
    """What the name tells is not said: the next file may have another."""
    path = tmp_path / "a.csv"
    path.write_text("text,label\na,x\n")
    assert read.batches(path).settings == {}
    assert read.batches(path, format="csv").settings == {"format": "csv"}
    assert read.batches(path, quote="'").settings == {"format": "csv", "quote": "'"}
    sparse = tmp_path / "a.svm"
    sparse.write_text("1 0:1\n")
    told = read.batches(sparse, zero_based=True).settings
    assert told == {"format": "svmlight", "zero_based": True}

"""The format of a source: told by its name, or given."""

from __future__ import annotations

import pandas
import pytest

from reading import dumped, rows
from surelearn import read
from surelearn.read._source import FORMATS, formats_by_extension

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
    assert formats_by_extension(files) == {kind}


def test_names_that_tell_no_format(tmp_path):
    for name in ("a", "a.csv.bak", "a.jsonl"):
        (tmp_path / name).touch()
    assert formats_by_extension([tmp_path / "a", tmp_path / "a.csv.bak"]) == {None}
    assert formats_by_extension(sorted(tmp_path.iterdir())) == {None, "jsonl"}
    assert formats_by_extension(pandas.DataFrame()) == set()


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


@pytest.mark.parametrize("name", ["a.svm", "a.vw", "a.csv"])
@pytest.mark.parametrize(
    ("n_features", "error"),
    [(0, ValueError), (2**31, ValueError), ("a", TypeError), (2.5, TypeError)],
)
def test_the_number_of_features_is_checked(name, n_features, error, tmp_path):
    (tmp_path / name).write_text("1 1:1\n")
    with pytest.raises(error, match="n_features must be"):
        read.batches(tmp_path / name, n_features=n_features)


@pytest.mark.parametrize(
    ("name", "options", "match"),
    [
        ("a.svm", {"weight": "w"}, "weight is for formats with columns, got svmlight"),
        ("a.vw", {"weight": "w"}, "weight is for formats with columns, got vw"),
        ("a.vw", {"zero_based": True}, "zero_based is for svmlight, got vw"),
        ("a.csv", {"zero_based": True}, "zero_based is for svmlight, got csv"),
    ],
)
def test_options_of_other_formats_are_refused(name, options, match, tmp_path):
    (tmp_path / name).write_text("")
    with pytest.raises(ValueError, match=match):
        read.batches(tmp_path / name, **options)


def test_feature_numbers_of_a_frame_are_refused():
    frame = pandas.DataFrame({"text": ["a"]})
    with pytest.raises(ValueError, match="zero_based is for svmlight, got a frame"):
        read.batches(frame, zero_based=True)

"""Files of sentences: found by their names, cut into blocks of whole sentences."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys

import pytest

from conll import SAID, TEXT, X, Y, whole
from reading import blocks_of, check_going_on
from surelearn import read


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "x.txt"
    found.write_text(TEXT)
    return found


@pytest.mark.parametrize(
    ("ending", "pack"), [("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress)]
)
def test_packed_files(ending, pack, tmp_path):
    path = tmp_path / f"x.txt.{ending}"
    path.write_bytes(pack((TEXT + "\n").encode() * 50))
    with blocks_of(300):
        assert whole(path) == (X * 50, Y * 50, 0)
        assert check_going_on(read.sentences(path)) > 5


def test_many_files(path, tmp_path):
    (tmp_path / "y.txt").write_text("No UH O")  # no newline: a sentence ends with its file
    both = read.sentences(str(tmp_path / "*.txt"))
    assert whole(both) == ([*X, [("No", "UH")]], [*Y, ["O"]], 0)
    assert both.n_bytes == len(TEXT) + 7
    assert check_going_on(both) == 2
    (tmp_path / "y.txt").write_text("\nNo O\n")
    with pytest.raises(
        read.BadInput, match=r"y.txt, line 2: expected 3 columns, got 2\. With skip"
    ):
        whole(both)
    (tmp_path / "z.conllu").write_text(SAID)
    with pytest.raises(read.BadInput, match=r"^files must have one format, got conll and conllu.$"):
        read.sentences([path, tmp_path / "z.conllu"])


def test_standard_input_gives_sentences_as_they_are_whole(monkeypatch):
    parts = iter([b"-DOCSTART- -X-\n\n", b"a A\n", b"b B\n", b"\nc", b" C\n\n", b"d D"])

    class Slow(io.RawIOBase):
        def read1(self, size):
            return next(parts, b"")

    monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": Slow()}))
    found = [(batch.X, batch.y) for batch in read.sentences("-")]
    assert found == [([["a", "b"]], [["A", "B"]]), ([["c"]], [["C"]]), ([["d"]], [["D"]])]


def test_a_file_without_blank_lines_is_one_sentence_up_to_a_limit(tmp_path, monkeypatch):
    path = tmp_path / "x.txt"
    path.write_text("word TAG\n" * 100)
    with blocks_of(64):
        assert [len(words) for words in whole(path)[0]] == [100]
    monkeypatch.setattr("surelearn.read._lines.LONGEST", 500)
    with blocks_of(64), pytest.raises(read.BadInput, match=r"x.txt must be made of sentences"):
        whole(path)


@pytest.mark.parametrize(
    "name", ["a.jsonl", "a.JSON", "a.csv", "a.parquet", "a.arrow.gz", "a.svm", "a.vw", "a.ndjson"]
)
def test_files_of_rows_are_refused_by_their_endings(tmp_path, name):
    path = tmp_path / name
    path.write_text("We B-NP\nagree B-VP\n")
    ending = name[1:].lower().removesuffix(".gz")
    with pytest.raises(
        read.BadInput,
        match=rf"{name} must have one token a line, got a name that ends in {ending}\. If it does, "
        "name its format: conll or conllu",
    ):
        read.sentences(path)
    with pytest.raises(read.BadInput, match="must have one token a line"):
        read.sentences([tmp_path / "b.txt", path])
    if not name.endswith(".gz"):
        assert read.sentences(path, format="conll").first(1).y == [["B-NP", "B-VP"]]


@pytest.mark.parametrize("name", ["a.txt", "a.tsv", "a", "a.conll", "a.iob2"])
def test_other_endings_are_taken_for_columns(tmp_path, name):
    path = tmp_path / name
    path.write_text("We\tB-NP\nagree\tB-VP\n")
    assert read.sentences(path).first(1).X == [["We", "agree"]]


@pytest.mark.parametrize("name", ["a.csv.gz", "a.vw", "a.conllu", "a.txt", "a.ldf", "a.dat"])
def test_files_that_some_reader_knows(name):
    assert read.is_known(f"data/{name}")
    assert not read.is_known(f"data/.{name}")
    assert not read.is_known("data/a.sure")


def test_first_reads_no_more_than_it_needs(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("a A\n\nb B\n\n" + "bad\n\n")
    with blocks_of(5):
        assert [len(batch.X) for batch in read.sentences(path, skip_bad=True)][:2] == [1, 1]
        assert read.sentences(path).first(2).y == [["A"], ["B"]]
        with pytest.raises(read.BadInput, match="line 5"):
            read.sentences(path).first(3)

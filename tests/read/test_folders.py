"""Folders as sources: their files in the order of names, hidden ones and others passed over."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest
from pyarrow import fs
from typer.testing import CliRunner

import surelearn
from surelearn import SureTagger, SureTextClassifier, predict, read
from surelearn.cli import _app


def line(text, label):
    return json.dumps({"text": text, "label": label}) + "\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "data"
    path.mkdir()
    (path / "b.jsonl").write_text(line("b", "no"))
    (path / "a.ndjson").write_text(line("a", "yes"))
    (path / "c.jsonl.gz").write_bytes(gzip.compress(line("c", "yes").encode()))
    (path / ".hidden.jsonl").write_text("no JSON")
    (path / "_SUCCESS.json").write_text("no JSON")
    (path / "README.md").write_text("no JSON")
    (path / "inner.jsonl").mkdir()
    (path / "inner.jsonl" / "d.jsonl").write_text("no JSON")
    return path


def texts(source, **reading):
    return [text for batch in read.batches(source, **reading) for text in batch.X.to_pylist()]


@pytest.mark.parametrize("name", ["data", "data/", "./data/."])
def test_the_files_of_a_folder_in_order(folder, name):
    assert texts(name) == ["a", "b", "c"]
    assert texts(Path(name)) == ["a", "b", "c"]
    assert texts([name, "data/b.jsonl"]) == ["a", "b", "c", "b"]
    assert [os.path.basename(n) for n in read.batches(name).names] == [
        "a.ndjson", "b.jsonl", "c.jsonl.gz",
    ]  # fmt: skip


@pytest.mark.parametrize("filesystem", [fs.LocalFileSystem(), "fsspec"])
def test_folders_of_filesystems(folder, filesystem):
    if filesystem == "fsspec":
        import fsspec

        filesystem = fsspec.filesystem("file")
    assert texts(str(folder), filesystem=filesystem) == ["a", "b", "c"]
    assert texts(f"file://{folder}") == ["a", "b", "c"]


def test_formats_that_are_mixed_are_refused(folder):
    (folder / "d.csv").write_text("text,label\nd,yes\n")
    with pytest.raises(read.BadInput, match="files must have one format, got csv and jsonl"):
        read.batches("data")
    assert texts("data", format="jsonl") == ["a", "b", "c"]
    assert texts("data", format="csv") == ["d"]


def test_a_format_reads_all_files_where_none_has_its_ending(tmp_path):
    (tmp_path / "part-00001").write_text("text,label\nb,yes\n")
    (tmp_path / "part-00000").write_text("text,label\na,yes\n")
    (tmp_path / "_SUCCESS").write_text("")
    with pytest.raises(
        read.BadInput,
        match=rf"{tmp_path.name} must have at least one file with a known extension, such as "
        r"\.jsonl, got none\. Name the format",
    ):
        read.batches(tmp_path)
    assert texts(tmp_path, format="csv") == ["a", "b"]


def test_a_folder_without_files_is_refused(tmp_path):
    for format in (None, "csv"):
        with pytest.raises(read.BadInput, match="must have at least one file"):
            read.batches(tmp_path, format=format)
    with pytest.raises(read.BadInput, match="must have at least one file"):
        read.sentences(tmp_path)


def test_sentences(tmp_path):
    (tmp_path / "b.txt").write_text("b B\n\n")
    (tmp_path / "a.conll").write_text("a A\n\n")
    (tmp_path / "rows.jsonl").write_text("{}\n")
    (tmp_path / "notes.md").write_text("three words here\n")
    assert read.sentences(tmp_path).first(5).X == [["a"], ["b"]]
    (tmp_path / "c.conllu").write_text("1\tc" + "\t_" * 8 + "\n\n")
    with pytest.raises(read.BadInput, match="files must have one format, got conll and conllu"):
        read.sentences(tmp_path)
    assert read.sentences(tmp_path, format="conllu").first(5).X == [["c"]]


# ---------------------------------------------------------------------- commands


def run(*words):
    return CliRunner().invoke(_app.app, [*map(str, words)])


def test_commands_take_folders(folder):
    done = run("train", "data", "-o", "m.sure", "--passes", 2)
    assert done.exit_code == 0, done.output
    assert done.output.startswith("Learnt 3 rows of 2 classes from data in 2 passes.")
    by_hand = SureTextClassifier(random_state=0).fit_stream("data", passes=2)
    assert surelearn.load("m.sure").coef_.tobytes() == by_hand.coef_.tobytes()
    done = run("predict", "m.sure", "data", "--keep", "text")
    assert [json.loads(row)["text"] for row in done.output.splitlines()] == ["a", "b", "c"]
    assert run("evaluate", "m.sure", "data").output.startswith("3 rows, 2 classes")
    assert len(list(predict(by_hand, "data"))) == 3


def test_going_on_learns_files_that_were_added_behind(folder):
    run("train", "data", "-o", "m.sure", "--passes", 1)
    (folder / "d.jsonl").write_text(line("d", "no"))
    done = run("train", "data", "-o", "m.sure", "--passes", 1, "--resume", "--json")
    assert json.loads(done.output)["learnt"] == 1


def test_commands_of_sentences_take_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    Path("data/a.txt").write_text("a A\nb B\n\n")
    assert run("tag", "train", "data", "-o", "t.sure").exit_code == 0
    assert run("tag", "predict", "t.sure", "data").output == "a A A\nb B B\n\n"
    assert isinstance(surelearn.load("t.sure"), SureTagger)


@pytest.mark.parametrize("name", ["labels.jsonl", "b.jsonl", "labels.csv.gz"])
def test_output_that_would_be_read_the_next_time_is_refused(folder, name):
    run("train", "data", "-o", "data/m.sure")
    before = sorted(os.listdir("data"))
    done = run("predict", "data/m.sure", "data", "--output", f"data/{name}")
    assert done.exit_code == 2
    assert "output must not be one of the inputs, got" in " ".join(done.stderr.split())
    assert sorted(os.listdir("data")) == before


def test_output_that_is_never_read_may_be_in_the_folder(folder):
    assert run("train", "data", "-o", "data/m.sure").exit_code == 0
    assert run("predict", "data/m.sure", "data", "--output", "data/.labels.jsonl").exit_code == 0
    assert run("predict", "data/m.sure", "data", "--output", "data/inner.jsonl/x").exit_code == 0

"""What `save`, `load` and the readers refuse as a file or a source, each by name."""

from __future__ import annotations

import io
import sys

import pandas
import pytest

from containers import classifier, content
from surelearn import FormatError, SureClassifier, SureRanker, SureTagger, load, read

WHOLE = content(classifier())


class Texts:
    """One of text that does not say so."""

    def read(self, n):
        return "x" * n


def closed(file):
    file.close()
    return file


@pytest.mark.parametrize(
    ("file", "error", "message"),
    [
        (
            lambda p: WHOLE,
            TypeError,
            r"path must be a path or an open binary file, got bytes\. Use",
        ),
        (lambda p: bytearray(WHOLE), TypeError, "got bytearray. Use io.BytesIO for a model in mem"),
        (lambda p: None, TypeError, "path must be a path or an open binary file, got NoneType"),
        (lambda p: 3, TypeError, "path must be a path or an open binary file, got int"),
        (
            lambda p: io.StringIO("text"),
            TypeError,
            "path must be a file opened with mode 'rb', got",
        ),
        (lambda p: p.open(), TypeError, r"mode 'rb', got a text file: <_io\.TextIOWrapper"),
        (lambda p: Texts(), TypeError, "path must be a binary file, got one that returns str"),
        (lambda p: closed(io.BytesIO(WHOLE)), ValueError, "must be an open file, got a closed one"),
        (lambda p: closed(p.open("rb")), ValueError, "path must be an open file, got a closed"),
        (lambda p: p.open("ab"), ValueError, "path must be a file opened for reading, got <_io."),
        (lambda p: io.BytesIO(), FormatError, r"<BytesIO> must be .*: 8 bytes are missing at its"),
        (lambda p: p.open("rb"), FormatError, r"m\.txt must be a safetensors file, got a damaged"),
    ],
)
def test_what_cannot_be_read_from(tmp_path, file, error, message):
    (tmp_path / "m.txt").write_text("text")
    given = file(tmp_path / "m.txt")
    with pytest.raises(error, match=message):
        load(given)
    if hasattr(given, "close"):
        given.close()


@pytest.mark.parametrize(
    ("file", "error", "message"),
    [
        (lambda p: b"m.sure", TypeError, "path must be a path or an open binary file, got bytes"),
        (lambda p: None, TypeError, "path must be a path or an open binary file, got NoneType"),
        (
            lambda p: sys.__stdout__,
            TypeError,
            "path must be a file opened with mode 'wb', got a text file",
        ),
        (
            lambda p: io.StringIO(),
            TypeError,
            "path must be a file opened with mode 'wb', got a text file",
        ),
        (lambda p: closed(io.BytesIO()), ValueError, "path must be an open file, got a closed one"),
        (
            lambda p: p.open("rb"),
            ValueError,
            "path must be a file opened for writing, got <_io.Bu",
        ),
    ],
)
def test_what_cannot_be_written_to(tmp_path, file, error, message):
    (tmp_path / "m.txt").write_text("text")
    given = file(tmp_path / "m.txt")
    with pytest.raises(error, match=message):
        load(io.BytesIO(WHOLE)).save(given)
    if hasattr(given, "close") and given is not sys.__stdout__:
        given.close()


@pytest.mark.parametrize("reader", [read.sentences, read.groups])
def test_a_source_of_lines_must_be_named(reader):
    with pytest.raises(TypeError, match=r"source must be a list of paths, got one with \['a'\]"):
        read.batches([["a"]])
    with pytest.raises(TypeError, match=r"source must be a path, .* or a Source, got DataFrame\."):
        reader(pandas.DataFrame({"a": [1]}))


def test_a_source_must_hold_what_a_model_learns(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("1 qid:1 1:1\n0 qid:1 2:1\n")
    for model, reader, other in (
        (SureRanker(), "groups", "batches"),
        (SureClassifier(), "batches", "groups"),
        (SureTagger(), "sentences", "groups"),
    ):
        message = rf"source must be made by read\.{reader}, got one made by read\.{other}\."
        with pytest.raises(TypeError, match=message):
            model.fit_stream(getattr(read, other)(path))

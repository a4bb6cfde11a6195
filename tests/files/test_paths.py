"""`save` and `load` with files that are open already: the same bytes as with a path."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import sys
import tempfile
import threading
import zipfile

import fsspec
import pytest

from containers import KINDS, classifier, content
from surelearn import FormatError, SureClassifier, load

WHOLE = content(SureClassifier().fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"]))


@pytest.fixture(params=KINDS)
def model(request):
    return KINDS[request.param]()


class Slow(io.RawIOBase):
    """A file without a buffer, which takes and gives a few bytes at a time."""

    def __init__(self, data=b""):
        self.inner = io.BytesIO(data)

    def readable(self):
        return True

    def writable(self):
        return True

    def write(self, part):
        return self.inner.write(bytes(part[:7]))

    def readinto(self, part):
        return self.inner.readinto(memoryview(part)[:7])


class Least:
    """No more than a method to read, and one to write that does not tell how much it took."""

    def __init__(self, data=b""):
        self.inner = io.BytesIO(data)

    def write(self, part):
        self.inner.write(part)

    def read(self, n):
        return self.inner.read(n)


@pytest.mark.parametrize("kind", [io.BytesIO, Slow, Least])
def test_a_model_goes_through_any_binary_file(model, kind):
    file = kind()
    model.save(file)
    whole = file.getvalue() if kind is io.BytesIO else file.inner.getvalue()
    assert whole == content(model)
    assert content(load(kind(whole))) == whole


def opened(kind, folder, mode):
    path = os.path.join(folder, "m")
    return {
        "open": lambda: open(path, mode),
        "unbuffered": lambda: open(path, mode, buffering=0),
        "gzip": lambda: gzip.open(path, mode),
        "bz2": lambda: bz2.open(path, mode),
        "fsspec": lambda: fsspec.open(f"memory://{folder}/m", mode).open(),
        "fsspec, local": lambda: fsspec.open(path, mode, compression="gzip").open(),
    }[kind]()


@pytest.mark.parametrize("kind", ["open", "unbuffered", "gzip", "bz2", "fsspec", "fsspec, local"])
def test_files_of_every_library(model, kind, tmp_path):
    with opened(kind, tmp_path, "wb") as file:
        model.save(file)
        assert not file.closed
    with opened(kind, tmp_path, "rb") as file:
        assert content(load(file)) == content(model)
        assert not file.closed


def test_files_in_an_archive(model, tmp_path):
    with zipfile.ZipFile(tmp_path / "m", "w") as archive, archive.open("m.sure", "w") as file:
        model.save(file)
    with zipfile.ZipFile(tmp_path / "m") as archive, archive.open("m.sure") as file:
        assert content(load(file)) == content(model)


def test_temporary_files_and_pipes(model):
    with tempfile.TemporaryFile() as file:
        model.save(file)
        file.seek(0)
        assert content(load(file)) == content(model)
    ends = os.pipe()
    with open(ends[0], "rb") as read, open(ends[1], "wb") as write:
        thread = threading.Thread(target=lambda: (model.save(write), write.flush()))
        thread.start()
        assert content(load(read)) == content(model)  # without waiting for an end
        thread.join()


def test_models_one_after_the_other():
    """A file is read from where it stands to the end of the model."""
    models = [make() for make in KINDS.values()]
    file = io.BytesIO(b"before")
    file.seek(6)
    for model in models:
        model.save(file)
    file.write(b"after")
    file.seek(6)
    assert [content(load(file)) for _ in models] == [content(model) for model in models]
    assert file.read() == b"after"


def test_what_cannot_be_saved_leaves_the_file_as_it_was():
    file = io.BytesIO()
    clf = SureClassifier(rule=lambda m, v: (0.0, 0.0)).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    with pytest.raises(ValueError, match="rule must have a name to be saved"):
        clf.save(file)
    assert file.getvalue() == b""


def test_max_bytes_holds_for_files():
    with pytest.raises(FormatError, match=r"<BytesIO> must have at most max_bytes=100 bytes"):
        load(io.BytesIO(WHOLE), max_bytes=100)
    with pytest.raises(FormatError, match=rf"must have at most max_bytes=.* got {len(WHOLE)}\."):
        load(io.BytesIO(WHOLE), max_bytes=len(WHOLE) - 1)
    with pytest.raises(TypeError, match="max_bytes must be a whole number, got 'all'"):
        load(io.BytesIO(WHOLE), max_bytes="all")
    endless = Slow((99_000_000).to_bytes(8, "little") + b"{" * 1000)
    with pytest.raises(FormatError, match="bytes are missing at its end"):
        load(endless)


def test_a_file_that_takes_nothing_is_an_error():
    class Full(Slow):
        def write(self, part):
            return None  # as a pipe that would block

    with pytest.raises(BlockingIOError, match="the file must accept all bytes"):
        load(io.BytesIO(WHOLE)).save(Full())


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

"""Data files: the folder that is named comes first, then the cache, then the publisher."""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import signal
import subprocess
import sys
import tarfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from serving import serving
from surelearn.datasets import find
from surelearn.datasets.sources import SOURCES

TEST = "conll2000/test.txt.xz"
TOKENS = b"Rockwell NNP B-NP\nsaid VBD B-VP\n\n" * 200
PACKED = gzip.compress(TOKENS, mtime=0)
BOOKS, DVD = "amazon-processed-acl/books.txt.xz", "amazon-processed-acl/dvd.txt.xz"


def summed(content):
    return hashlib.sha256(content).hexdigest()


def text(path):
    return lzma.decompress(path.read_bytes())


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, and no folder of data."""
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("SURELEARN_DATA", raising=False)
    return tmp_path / "home" / "surelearn"


@pytest.fixture
def published(monkeypatch):
    """Make a file come from another address, with checksums of other contents."""

    def change(name, address, checksums):
        source = replace(SOURCES[name], address=address, checksums=checksums)
        monkeypatch.setitem(SOURCES, name, source)

    return change


@pytest.fixture
def tokens(published):
    """A server with the test part of CoNLL-2000, cut down to a few sentences."""
    with serving({"test.txt.gz": PACKED}) as (address, asked):
        published(TEST, f"{address}/test.txt.gz", {TEST: summed(TOKENS)})
        yield asked


def everything(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


# ------------------------------------------------------------------------ the folder


def test_a_file_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("SURELEARN_DATA", str(tmp_path))
    (tmp_path / "a.xz").write_bytes(b"")
    assert find("a.xz") == tmp_path / "a.xz"


@pytest.mark.usefixtures("cache")
def test_a_missing_folder_and_a_missing_file_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("SURELEARN_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"must name a folder with a\.xz, got .*test_a_m"):
        find("a.xz")
    monkeypatch.setenv("SURELEARN_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match=r"SURELEARN_DATA must name a folder, got .*where"):
        find(TEST)
    monkeypatch.setenv("SURELEARN_DATA", "")
    with pytest.raises(FileNotFoundError, match=r"must name a folder with a\.xz, got nothing"):
        find("a.xz")


def test_the_folder_wins_over_the_cache(tmp_path, monkeypatch, cache, tokens):
    find(TEST)
    given = tmp_path / "given" / TEST
    given.parent.mkdir(parents=True)
    given.write_bytes(lzma.compress(b"given"))
    monkeypatch.setenv("SURELEARN_DATA", str(tmp_path / "given"))
    assert find(TEST) == given
    given.unlink()
    assert find(TEST) == cache / TEST
    assert len(tokens) == 1


# ------------------------------------------------------------------------ the publisher


def test_a_file_is_fetched_once(cache, tokens):
    path = find(TEST)
    assert path == cache / TEST
    assert text(path) == TOKENS
    assert everything(cache) == ["conll2000", TEST]
    assert find(TEST) == path
    assert tokens == ["/test.txt.gz"]


def test_an_archive_is_downloaded_once_for_all_its_files(cache, published):
    content, made = io.BytesIO(), {}
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for domain in ("books", "dvd", "electronics", "kitchen"):
            for label in ("positive", "negative"):
                line = f"a_{domain}:1 caf".encode() + b"\xe9:2 #label#:" + label.encode() + b"\n"
                member = tarfile.TarInfo(f"processed_acl/{domain}/{label}.review")
                member.size = len(line)
                archive.addfile(member, io.BytesIO(line))
    lines = "a_{0}:1 caf\ufffd:2 #label#:positive\na_{0}:1 caf\ufffd:2 #label#:negative\n"
    made = {BOOKS: lines.format("books").encode(), DVD: lines.format("dvd").encode()}
    with serving({"acl.tar.gz": content.getvalue()}) as (address, asked):
        sums = {name: summed(content) for name, content in made.items()}
        published(BOOKS, f"{address}/acl.tar.gz", sums)
        for name, content in made.items():
            assert text(find(name)) == content
        assert asked == ["/acl.tar.gz"]
    assert len(everything(cache)) == 5


def refused(name, what):
    """An error that says what is wrong, and names file, address and remedy."""
    with pytest.raises(FileNotFoundError, match=what) as caught:
        find(name)
    said = str(caught.value)
    assert said.startswith(f"{name} must be fetched from {SOURCES[name].address}, got ")
    assert f"Set SURELEARN_DATA to a folder with {name}, or write it to " in said


def test_content_that_has_changed_is_refused(cache, tokens, published):
    published(TEST, SOURCES[TEST].address, {TEST: summed(b"other")})
    refused(TEST, rf"must be {summed(b'other')}, got {summed(TOKENS)}")
    assert not cache.exists()


def test_a_server_that_is_not_there_is_named(cache, published):
    with serving({}) as (address, _):
        pass
    published(TEST, f"{address}/test.txt.gz", {})
    refused(TEST, "Connection refused")
    assert not cache.exists()


def test_a_file_that_is_gone_is_named(cache, published):
    with serving({}) as (address, _):
        published(TEST, f"{address}/test.txt.gz", {})
        refused(TEST, "HTTP Error 404")
    assert not cache.exists()


@pytest.mark.parametrize(
    ("content", "cut", "what"),
    [
        (PACKED, 10, "IncompleteRead"),
        (PACKED[:-10], 0, "EOFError"),
        (b"<html>Sorry", 0, "Not a gzipped file"),
        (PACKED[:20] + b"damage" * 20, 0, "error: Error"),
    ],
    ids=["the server stops", "a part", "a page", "damaged"],
)
def test_cut_and_damaged_downloads_leave_nothing(cache, published, content, cut, what):
    with serving({"test.txt.gz": content}, cut=cut) as (address, _):
        published(TEST, f"{address}/test.txt.gz", {})
        refused(TEST, what)
    assert not cache.exists()


@pytest.mark.parametrize("content", [b"no archive", None], ids=["damaged", "empty"])
def test_archives_that_are_damaged_or_lack_a_file_are_refused(cache, published, content):
    if content is None:
        made = io.BytesIO()
        tarfile.open(fileobj=made, mode="w:gz").close()
        content = made.getvalue()
    with serving({"acl.tar.gz": content}) as (address, _):
        published(BOOKS, f"{address}/acl.tar.gz", {})
        refused(BOOKS, r"ReadError|filename 'processed_acl/books/positive.review' not found")
    assert not cache.exists()


def test_callers_at_the_same_time_get_the_same_file(cache, tokens):
    gate = threading.Barrier(8)

    def call(_):
        gate.wait()
        return text(find(TEST))

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(call, range(8))) == {TOKENS}
    assert everything(cache) == ["conll2000", TEST]


KILLED = """
import os, signal, sys
from dataclasses import replace
from pathlib import Path
from surelearn.datasets import find
from surelearn.datasets.sources import SOURCES
name, address = sys.argv[1:]
SOURCES[name] = replace(SOURCES[name], address=address, checksums={})
Path.replace = lambda self, to: os.kill(os.getpid(), signal.SIGKILL)
find(name)
"""


def test_a_process_that_is_killed_leaves_no_part_of_a_file(cache, tokens):
    """It dies with everything written but the last step, and the next call starts anew."""
    words = [sys.executable, "-c", KILLED, TEST, SOURCES[TEST].address]
    assert subprocess.run(words, check=False).returncode == -signal.SIGKILL
    assert not (cache / TEST).exists()
    assert text(find(TEST)) == TOKENS


def test_a_full_disk_is_named_and_leaves_nothing(cache, tokens, no_room):
    with no_room(100), pytest.raises(OSError, match="File too large"):
        find(TEST)
    assert everything(cache) == ["conll2000"]


# ------------------------------------------------------------------------ all of them


@pytest.mark.parametrize("name", [name for name, source in SOURCES.items() if source.get is None])
def test_files_that_are_not_published_as_they_are_say_what_they_hold(cache, name):
    source = SOURCES[name]
    with pytest.raises(FileNotFoundError, match=f"must name a folder with {name}") as caught:
        find(name)
    for part in (source.title, source.address, source.layout):
        assert part in str(caught.value)
    assert not cache.exists()


def test_checksums_are_those_of_the_real_files(data_folder):
    checksums = {}
    for source in SOURCES.values():
        checksums |= source.checksums
    assert len(checksums) == 6
    assert {name: summed(text(data_folder / name)) for name in checksums} == checksums


def test_every_source_is_of_a_real_file(data_folder):
    names = {path.relative_to(data_folder).as_posix() for path in data_folder.rglob("*.xz")}
    assert set(SOURCES) <= names

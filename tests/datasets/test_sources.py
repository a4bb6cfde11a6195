"""Data files as they are published, and what is made of them."""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
import sklearn.datasets
from sklearn.utils import Bunch

from serving import serving
from surelearn.datasets import find, sources
from surelearn.datasets.sources import (
    SOURCES,
    STORY_FIELDS,
    download,
    reuters_lines,
    stories,
    with_two_headers,
)

HEAD = "From: a@b (A)\nOrganization: C\nSubject: Re: d\n  and e\nLines: 2\n"


@pytest.fixture(params=[True, False], ids=["cached", "new"])
def fetched(request, monkeypatch, tmp_path):
    """Two messages in place of all, which scikit-learn has already or not."""
    cached = request.param
    bunch = Bunch(
        data=[HEAD + "\nfrom: here\n\nLast.\n", "Subject: s\nFrom: f\n\nFran\xe7ais\n"],
        target=[1, 0],
        target_names=["alt.atheism", "sci.med"],
        filenames=["x/20news-bydate-train/sci.med/58", "x/20news-bydate-test/alt.atheism/5"],
    )
    asked = []

    def fetch(*, subset, shuffle, download_if_missing=True, data_home=None):
        assert (subset, shuffle) == ("all", False)
        asked.append(data_home)
        if data_home is None and not cached:
            assert not download_if_missing
            raise OSError("20Newsgroups dataset not found")
        return bunch

    monkeypatch.setattr(sklearn.datasets, "fetch_20newsgroups", fetch)
    monkeypatch.setattr(sources, "_MESSAGES", 2)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.delenv("SURELEARN_DATA", raising=False)
    return asked, cached


def test_messages_have_our_fields(fetched, tmp_path):
    path = find("20news-18828.jsonl.xz")
    assert path == tmp_path / "surelearn" / "20news-18846.jsonl.xz"
    lines = lzma.decompress(path.read_bytes()).decode().splitlines()
    assert [json.loads(line) for line in lines] == [
        {
            "id": "alt.atheism/5",
            "label": "alt.atheism",
            "text": "Subject: s\nFrom: f\n\nFran\xe7ais\n",
        },
        {
            "id": "sci.med/58",
            "label": "sci.med",
            "text": "From: a@b (A)\nSubject: Re: d\n  and e\n\nfrom: here\n\nLast.\n",
        },
    ]
    assert "Fran\xe7ais" in lines[0]
    assert find("20news-18828.jsonl.xz") == path
    by_hand = path.with_name("20news-18828.jsonl.xz")
    by_hand.write_bytes(b"")
    assert find("20news-18828.jsonl.xz") == by_hand
    asked, cached = fetched
    assert asked[0] is None
    assert len(asked) == 1 if cached else not Path(asked[1]).exists()


@pytest.mark.usefixtures("fetched")
def test_messages_are_counted(monkeypatch):
    monkeypatch.setattr(sources, "_MESSAGES", 18_846)
    with pytest.raises(FileNotFoundError, match="must have 18,846 messages, got 2"):
        find("20news-18828.jsonl.xz")


def test_a_message_without_a_body_keeps_its_headers():
    assert with_two_headers("Lines: 1\nSubject: s") == "Subject: s\n"


def test_headers_of_the_version_with_two_stay_as_they_are(data_folder):
    with lzma.open(data_folder / "20news-18828.jsonl.xz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    changed = [text for text in texts if with_two_headers(text) != text]
    assert changed == []


HEAD_REUTERS = (
    '<REUTERS TOPICS="{topics}" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="9" NEWID="{id}">'
)
FULL = (
    HEAD_REUTERS.format(topics="YES", id=2)
    + """
<DATE> 4-MAR-1987 17:33:09.41&#5;&#5;&#5;T C</DATE>
<TOPICS><D>tea</D><D>rubber</D></TOPICS>
<PLACES><D>sri-lanka</D></PLACES>
<PEOPLE><D>somers</D></PEOPLE>
<UNKNOWN> \n&#5;&#5;&#5;T C\n&#22;&#22;&#1;f0956&#31;reute\nu f BC-TEA   03-04 0038</UNKNOWN>
<TEXT>&#2;
<TITLE>TEA &lt;TEA.L> AT RECORD, S&amp;P SAYS</TITLE>
<AUTHOR>    By A. Writer, Reuters</AUTHOR>
<DATELINE>    COLOMBO, March 4 - </DATELINE><BODY>Tea rose,
a M\xfcller of Reuters said.
    Low 1.0      High 2.0    \n
REUTER
 Reuter
&#3;</BODY></TEXT>
</REUTERS>
"""
)
BRIEF = (
    HEAD_REUTERS.format(topics="NO", id=3)
    + """
<DATE>26-FEB-1987 17:02:22.77</DATE>
<TOPICS></TOPICS>
<PLACES></PLACES>
<TEXT TYPE="BRIEF">&#2;
******<TITLE>TEA SPLITS
</TITLE>Blah blah blah.
&#3;

</TEXT>
</REUTERS>
"""
)
RAW = (
    HEAD_REUTERS.format(topics="BYPASS", id=1)
    + """
<DATE>26-FEB-1987 17:07:18.66</DATE>
<TOPICS><D>money-supply</D></TOPICS>
<PLACES><D>usa</D></PLACES>
<TEXT TYPE="UNPROC">&#2;
WEEKLY REPORT
    Reserves.............644     REUTER
&#3;

</TEXT>
</REUTERS>
"""
)


@pytest.fixture
def archive(monkeypatch):
    """Three stories in place of all, in two files beside one that is none."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as files:
        for name, content in {
            "README.txt": FULL,
            "reut2-000.sgm": FULL + BRIEF,
            "b.sgm": RAW,
        }.items():
            member = tarfile.TarInfo(name)
            member.size = len(content.encode("latin-1"))
            files.addfile(member, io.BytesIO(content.encode("latin-1")))
    monkeypatch.setattr(sources, "ARCHIVE", hashlib.sha256(made.getvalue()).hexdigest())
    monkeypatch.setattr(sources, "_STORIES", 3)
    return made.getvalue()


def test_stories_have_our_fields(archive):
    raw, full, brief = map(json.loads, reuters_lines(archive).decode().splitlines())
    assert full == {
        "id": 2,
        "date": "4-MAR-1987 17:33:09.41&#5;&#5;&#5;T C",
        "lewissplit": "TRAIN",
        "cgisplit": "TRAINING-SET",
        "has_topics": "YES",
        "topics": ["tea", "rubber"],
        "places": ["sri-lanka"],
        "title": "TEA <TEA.L> AT RECORD, S&P SAYS",
        "text": "TEA <TEA.L> AT RECORD, S&P SAYS\nTea rose,\na M\xfcller of Reuters said.\n"
        "    Low 1.0      High 2.0    \n\nREUTER",
    }
    assert brief["title"] == "TEA SPLITS"
    assert brief["text"] == "TEA SPLITS\n******Blah blah blah."
    assert (brief["has_topics"], brief["topics"]) == ("NO", [])
    assert (raw["id"], raw["title"]) == (1, "")
    assert raw["text"] == "WEEKLY REPORT\n    Reserves.............644"
    assert list(raw) == list(STORY_FIELDS)


def test_other_archives_and_other_numbers_of_stories_are_refused(archive, monkeypatch):
    with pytest.raises(ValueError, match=r"SHA-256 of the archive must be [0-9a-f]{64}, got "):
        reuters_lines(archive + b"\n")
    monkeypatch.setattr(sources, "_STORIES", 21_578)
    with pytest.raises(ValueError, match=r"must have stories 1 to 21,578, got 3"):
        reuters_lines(archive)


def test_the_file_is_fetched(archive, monkeypatch, tmp_path):
    name = "reuters-21578.jsonl.xz"
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("SURELEARN_DATA", raising=False)
    with serving({"r.tar.gz": archive}) as (address, _):
        source = replace(SOURCES[name], address=f"{address}/r.tar.gz")
        monkeypatch.setitem(SOURCES, name, source)
        assert lzma.decompress(find(name).read_bytes()) == reuters_lines(archive)


def test_our_file_has_these_fields_and_numbers(data_folder):
    with lzma.open(data_folder / "reuters-21578.jsonl.xz", "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    assert [list(story) for story in found] == [list(STORY_FIELDS)] * len(found)
    assert [story["id"] for story in found] == list(range(1, sources._STORIES + 1))


def test_stories_are_read_from_sgml_files_only(archive):
    assert sorted(story["id"] for story in stories(archive)) == [1, 2, 3]


def test_all_that_a_server_has_is_downloaded(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    content = bytes(range(256)) * 5000
    with serving({"a": content}) as (address, _):
        assert download(f"{address}/a") == content


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_has_authors_and_a_year(name):
    assert SOURCES[name].title.rstrip(")")[-4:].isdigit() or "(" in SOURCES[name].title
    assert SOURCES[name].layout
    assert SOURCES[name].address.startswith(("https://", "http://", "sklearn.datasets."))


def test_checksums_are_of_the_files_that_are_asked_for():
    for name, source in SOURCES.items():
        if source.checksums:
            assert name in source.checksums

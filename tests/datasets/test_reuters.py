"""Reuters-21578: stories of the published archive in our fields."""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import tarfile
from dataclasses import replace

import pytest

from serving import serving
from surelearn.datasets import find, reuters
from surelearn.datasets.reuters import FIELDS, converted, stories
from surelearn.datasets.sources import SOURCES

HEAD = (
    '<REUTERS TOPICS="{topics}" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="9" NEWID="{id}">'
)
FULL = (
    HEAD.format(topics="YES", id=2)
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
    HEAD.format(topics="NO", id=3)
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
    HEAD.format(topics="BYPASS", id=1)
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
    monkeypatch.setattr(reuters, "ARCHIVE", hashlib.sha256(made.getvalue()).hexdigest())
    monkeypatch.setattr(reuters, "_STORIES", 3)
    return made.getvalue()


def test_stories_have_our_fields(archive):
    raw, full, brief = map(json.loads, converted(archive).decode().splitlines())
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
    assert list(raw) == list(FIELDS)


def test_other_archives_and_other_numbers_of_stories_are_refused(archive, monkeypatch):
    with pytest.raises(ValueError, match=r"SHA-256 of the archive must be [0-9a-f]{64}, got "):
        converted(archive + b"\n")
    monkeypatch.setattr(reuters, "_STORIES", 21_578)
    with pytest.raises(ValueError, match=r"must have stories 1 to 21,578, got 3"):
        converted(archive)


def test_the_file_is_fetched(archive, monkeypatch, tmp_path):
    name = "reuters-21578.jsonl.xz"
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("SURELEARN_DATA", raising=False)
    with serving({"r.tar.gz": archive}) as (address, _):
        source = replace(SOURCES[name], address=f"{address}/r.tar.gz")
        monkeypatch.setitem(SOURCES, name, source)
        assert lzma.decompress(find(name).read_bytes()) == converted(archive)


def test_our_file_has_these_fields_and_numbers(data_folder):
    with lzma.open(data_folder / "reuters-21578.jsonl.xz", "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    assert [list(story) for story in found] == [list(FIELDS)] * len(found)
    assert [story["id"] for story in found] == list(range(1, reuters._STORIES + 1))


def test_stories_are_read_from_sgml_files_only(archive):
    assert sorted(story["id"] for story in stories(archive)) == [1, 2, 3]

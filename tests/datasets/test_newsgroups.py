"""20 Newsgroups: the messages that scikit-learn fetches, in our fields."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest
import sklearn.datasets
from sklearn.utils import Bunch

from surelearn.datasets import find, newsgroups
from surelearn.datasets.newsgroups import with_two_headers

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
    monkeypatch.setattr(newsgroups, "_MESSAGES", 2)
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
    monkeypatch.setattr(newsgroups, "_MESSAGES", 18_846)
    with pytest.raises(FileNotFoundError, match="must have 18,846 messages, got 2"):
        find("20news-18828.jsonl.xz")


def test_a_message_without_a_body_keeps_its_headers():
    assert with_two_headers("Lines: 1\nSubject: s") == "Subject: s\n"


def test_headers_of_the_version_with_two_stay_as_they_are(data_folder):
    with lzma.open(data_folder / "20news-18828.jsonl.xz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    changed = [text for text in texts if with_two_headers(text) != text]
    assert changed == []

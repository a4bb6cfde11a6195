"""Who publishes which data file, and how it becomes ours; must not know where files are kept."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import tarfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from html import unescape
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class Source:
    """A data set as its publishers offer it.

    Parameters
    ----------
    title : str
        Name, authors and year: what to cite.
    address : str
        Where it is published.
    layout : str
        What our files of it hold.
    get : function of (address,), optional
        Downloads and converts: contents of files by name, without compression. None if what is
        published cannot be turned into exactly our file.
    checksums : dict of {str: str}
        SHA-256 of contents by name; where there is none, `get` checks the content.
    stand_in : str, optional
        Name of the file that `get` makes in place of the one asked for.
    """

    title: str
    address: str
    layout: str
    get: Callable[[str], Mapping[str, bytes]] | None = None
    checksums: Mapping[str, str] = field(default_factory=dict)
    stand_in: str | None = None


def download(address: str) -> bytes:
    """What a server sends, which must be complete."""
    try:
        with urlopen(address, timeout=_SECONDS) as answer:
            content: bytes = answer.read()
    except HTTPError as error:
        error.close()  # it holds the connection
        raise
    return content


# ------------------------------------------------------------------------ 20 Newsgroups


_MESSAGES = 18_846
#: A header that is kept, with the lines that continue it.
_HEADER = re.compile(r"^(?:From|Subject):.*\n(?:[ \t].*\n)*", re.MULTILINE | re.IGNORECASE)


def newsgroups_lines() -> bytes:
    """All messages as JSON lines with id, label and text, sorted by id.

    This is the version with 18,846 messages ("bydate"), a stand-in for that with 18,828, which has
    fewer repeated messages. Of the headers, From and Subject are kept, as in the latter.
    scikit-learn checks what it downloads.
    """
    bunch = _bunch()
    if len(bunch.data) != _MESSAGES:
        raise ValueError(f"20 Newsgroups must have {_MESSAGES:,} messages, got {len(bunch.data):,}")
    records = []
    for text, target, path in zip(bunch.data, bunch.target, bunch.filenames, strict=True):
        label = bunch.target_names[target]
        name = f"{label}/{Path(path).name}"
        records.append({"id": name, "label": label, "text": with_two_headers(text)})
    records.sort(key=itemgetter("id"))
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    return "".join(lines).encode()


def _bunch() -> Any:
    """All messages, of scikit-learn's cache if it has them.

    Otherwise they are downloaded into a new folder, because scikit-learn unpacks them in a place
    that processes share, and each removes it at the end.
    """
    from sklearn.datasets import fetch_20newsgroups

    fetch = partial(fetch_20newsgroups, subset="all", shuffle=False)
    with suppress(OSError):
        return fetch(download_if_missing=False)
    with TemporaryDirectory() as folder:
        return fetch(data_home=folder)


def with_two_headers(text: str) -> str:
    """A message without headers other than From and Subject.

    Examples
    --------
    >>> with_two_headers("From: a@b\\nLines: 1\\nSubject: c\\n\\nHello\\n")
    'From: a@b\\nSubject: c\\n\\nHello\\n'
    """
    head, blank, body = text.partition("\n\n")
    return "".join(_HEADER.findall(head + "\n")) + blank[1:] + body


# ------------------------------------------------------------------------ Reuters-21578


#: Of the published archive; an example of scikit-learn checks it as well.
ARCHIVE = "3bae43c9b14e387f76a61b6d82bf98a4fb5d3ef99ef7e7075ff2ccbcf59f9d30"

STORY_FIELDS = (
    "id",
    "date",
    "lewissplit",
    "cgisplit",
    "has_topics",
    "topics",
    "places",
    "title",
    "text",
)

_STORIES = 21_578
_STORY = re.compile(r"<REUTERS (.*?)>(.*?)</REUTERS>", re.DOTALL)
_CONTROL = re.compile(r"&#\d+;")
_MARKUP = re.compile(r"<(TITLE|AUTHOR|DATELINE)>.*?</\1>|</?BODY>", re.DOTALL)
_CLOSING = re.compile(r"\s*(?:Reuter|REUTER)\s*\Z")


def reuters_lines(archive: bytes) -> bytes:
    """All stories of the published archive as JSON lines, sorted by id.

    The archive is compared with its SHA-256, and the stories are counted. The rules of `story`
    were compared with parts of the archive only, so a few characters of a text may differ from
    other copies of the file.
    """
    got = hashlib.sha256(archive).hexdigest()
    if got != ARCHIVE:
        raise ValueError(f"SHA-256 of the archive must be {ARCHIVE}, got {got}")
    found = sorted(stories(archive), key=itemgetter("id"))
    if [story["id"] for story in found] != list(range(1, _STORIES + 1)):
        raise ValueError(f"the archive must have stories 1 to {_STORIES:,}, got {len(found):,}")
    return "".join(json.dumps(story, ensure_ascii=False) + "\n" for story in found).encode()


def stories(archive: bytes) -> Iterator[dict[str, Any]]:
    """The stories of all SGML files of an archive."""
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as files:
        for member in files:
            file = files.extractfile(member) if member.name.endswith(".sgm") else None
            if file is not None:
                for attributes, sgml in _STORY.findall(file.read().decode("latin-1")):
                    yield story(attributes, sgml)


def story(attributes: str, sgml: str) -> dict[str, Any]:
    """One story in our fields.

    The text is the title and the body, without author, dateline, control characters and one
    closing "Reuter". A story without a body has the rest of its text.

    Examples
    --------
    >>> attributes = 'TOPICS="YES" LEWISSPLIT="TEST" CGISPLIT="TRAINING-SET" NEWID="7"'
    >>> sgml = "<DATE> 1-MAY-1987</DATE><TOPICS><D>tea</D></TOPICS><PLACES></PLACES>"
    >>> sgml += "<TEXT>&#2;<TITLE>TEA &lt;T></TITLE><BODY>Tea rose.\\n Reuter\\n&#3;</BODY></TEXT>"
    >>> found = story(attributes, sgml)
    >>> found["id"], found["topics"], found["text"]
    (7, ['tea'], 'TEA <T>\\nTea rose.')
    """
    given = dict(re.findall(r'(\w+)="(.*?)"', attributes))
    title, whole = _plain(_inside("TITLE", sgml)), _inside("TEXT", sgml)
    body = _plain(_CLOSING.sub("", _CONTROL.sub("", _MARKUP.sub("", whole))))
    values = (
        int(given["NEWID"]),
        _inside("DATE", sgml).strip(),
        given["LEWISSPLIT"],
        given["CGISPLIT"],
        given["TOPICS"],
        _items("TOPICS", sgml),
        _items("PLACES", sgml),
        title,
        f"{title}\n{body}".strip(),
    )
    return dict(zip(STORY_FIELDS, values, strict=True))


def _inside(tag: str, sgml: str) -> str:
    found = re.search(rf"<{tag}[^>]*>(.*?)</{tag}>", sgml, re.DOTALL)
    return found[1] if found else ""


def _items(tag: str, sgml: str) -> list[str]:
    return re.findall(r"<D>(.*?)</D>", _inside(tag, sgml))


def _plain(sgml: str) -> str:
    return unescape(_CONTROL.sub("", sgml)).strip()


# ------------------------------------------------------------------------ CoNLL-2000


_TOKENS = "a token a line, 'word POS chunk', and an empty line after each sentence"


def _unpack(name: str, address: str) -> dict[str, bytes]:
    return {name: gzip.decompress(download(address))}


def _chunks(part: str, checksum: str) -> dict[str, Source]:
    name = f"conll2000/{part}.txt.xz"
    return {
        name: Source(
            title="CoNLL-2000 shared task on chunking (Tjong Kim Sang & Buchholz 2000)",
            address=f"https://www.clips.uantwerpen.be/conll2000/chunking/{part}.txt.gz",
            layout=_TOKENS,
            get=partial(_unpack, name),
            checksums={name: checksum},
        )
    }


# ------------------------------------------------------------------------ Amazon reviews


_SENTIMENT = "https://www.cs.jhu.edu/~mdredze/datasets/sentiment"
_BLITZER = "Multi-Domain Sentiment Dataset (Blitzer, Dredze & Pereira 2007)"
_DOMAINS = {
    "books": "886931075b8a89fad26ee0e33502047efd8eda4709609cb036824229e20d2540",
    "dvd": "1f2bb6180f9dcf6c42463266fbdf8ead91e73349838effd3b37f1febf835777e",
    "electronics": "7633f30c05239d83730da595702172a1e8df72063a460784acc09b84b99fc7af",
    "kitchen": "3f03a1938bdfde836c6a9b2662dff458fe901ecfb503fccd7155bf0d483a81b8",
}


def _counts(domain: str) -> str:
    return f"amazon-processed-acl/{domain}.txt.xz"


def _reviews(address: str) -> dict[str, bytes]:
    """The positive reviews of each domain, then the negative ones."""
    with tarfile.open(fileobj=io.BytesIO(download(address)), mode="r:gz") as archive:
        return {
            _counts(domain): b"".join(
                _member(archive, f"processed_acl/{domain}/{label}.review")
                for label in ("positive", "negative")
            )
            for domain in _DOMAINS
        }


def _member(archive: tarfile.TarFile, name: str) -> bytes:
    """A file of the archive as UTF-8; single bytes of other encodings are replaced."""
    file = archive.extractfile(name)
    if file is None:
        raise ValueError(f"{name} must be a file in the archive")
    return file.read().decode(errors="replace").encode()


_PROCESSED = Source(
    title=_BLITZER,
    address=f"{_SENTIMENT}/processed_acl.tar.gz",
    layout="a review a line, 'feature:count ... #label#:positive', positive reviews first",
    get=_reviews,
    checksums={_counts(domain): checksum for domain, checksum in _DOMAINS.items()},
)


# ------------------------------------------------------------------------ all


SOURCES: dict[str, Source] = {
    **_chunks("train", "82033cd7a72b209923a98007793e8f9de3abc1c8b79d646c50648eb949b87cea"),
    **_chunks("test", "73b7b1e565fa75a1e22fe52ecdf41b6624d6f59dacb591d44252bf4d692b1628"),
    **{_counts(domain): _PROCESSED for domain in _DOMAINS},
    "20news-18828.jsonl.xz": Source(
        title="20 Newsgroups (Lang 1995)",
        address="sklearn.datasets.fetch_20newsgroups",
        layout="JSON lines with id, label and text",
        get=lambda _: {"20news-18846.jsonl.xz": newsgroups_lines()},
        stand_in="20news-18846.jsonl.xz",
    ),
    "reuters-21578.jsonl.xz": Source(
        title="Reuters-21578, Distribution 1.0 (Lewis 1997)",
        address="https://kdd.ics.uci.edu/databases/reuters21578/reuters21578.tar.gz",
        layout=f"JSON lines with {', '.join(STORY_FIELDS)}",
        get=lambda address: {"reuters-21578.jsonl.xz": reuters_lines(download(address))},
    ),
    "amazon-multidomain.jsonl.xz": Source(
        title="FDU-MTL, 14 Amazon domains (Liu, Qiu & Huang 2017)",
        address="http://nlp.fudan.edu.cn/data/",
        layout="JSON lines with text, label (positive, negative), domain and split (train, test)",
    ),
    "amazon-raw-4domains.jsonl.xz": Source(
        title=f"{_BLITZER}, sorted_data_acl",
        address=f"{_SENTIMENT}/",
        layout="JSON lines with text, title, label, rating, domain, product and id",
    ),
    "sentiment140-100k.jsonl.xz": Source(
        title="Sentiment140 (Go, Bhayani & Huang 2009), 50,000 tweets of each class",
        address="http://cs.stanford.edu/people/alecmgo/trainingandtestdata.zip",
        layout="JSON lines with text and label",
    ),
    "stackoverflow-titles.jsonl.xz": Source(
        title="Stack Overflow titles (Xu et al. 2015)",
        address="https://github.com/jacoxu/StackOverflow",
        layout="JSON lines with text and label",
    ),
}

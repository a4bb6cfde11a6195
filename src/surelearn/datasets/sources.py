"""Who publishes which data file, and how it becomes ours; must not know where files are kept."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from urllib.error import HTTPError
from urllib.request import urlopen

from surelearn.datasets import newsgroups, reuters

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


# ------------------------------------------------------------------------ CoNLL-2000


_TOKENS = "a token a line, 'word POS chunk', and an empty line after each sentence"


def _unpacked(name: str, address: str) -> dict[str, bytes]:
    return {name: gzip.decompress(download(address))}


def _chunks(part: str, checksum: str) -> dict[str, Source]:
    name = f"conll2000/{part}.txt.xz"
    return {
        name: Source(
            title="CoNLL-2000 shared task on chunking (Tjong Kim Sang & Buchholz 2000)",
            address=f"https://www.clips.uantwerpen.be/conll2000/chunking/{part}.txt.gz",
            layout=_TOKENS,
            get=partial(_unpacked, name),
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
        get=lambda _: {"20news-18846.jsonl.xz": newsgroups.fetched()},
        stand_in="20news-18846.jsonl.xz",
    ),
    "reuters-21578.jsonl.xz": Source(
        title="Reuters-21578, Distribution 1.0 (Lewis 1997)",
        address="https://kdd.ics.uci.edu/databases/reuters21578/reuters21578.tar.gz",
        layout=f"JSON lines with {', '.join(reuters.FIELDS)}",
        get=lambda address: {"reuters-21578.jsonl.xz": reuters.converted(download(address))},
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

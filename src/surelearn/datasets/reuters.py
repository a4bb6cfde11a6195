"""Reuters-21578 from its SGML files to our fields; must not know where files are kept."""

from __future__ import annotations

import hashlib
import io
import json
import re
import tarfile
from collections.abc import Iterator
from html import unescape
from operator import itemgetter
from typing import Any

#: Of the published archive; an example of scikit-learn checks it as well.
ARCHIVE = "3bae43c9b14e387f76a61b6d82bf98a4fb5d3ef99ef7e7075ff2ccbcf59f9d30"

FIELDS = (
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


def converted(archive: bytes) -> bytes:
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
    return dict(zip(FIELDS, values, strict=True))


def _inside(tag: str, sgml: str) -> str:
    found = re.search(rf"<{tag}[^>]*>(.*?)</{tag}>", sgml, re.DOTALL)
    return found[1] if found else ""


def _items(tag: str, sgml: str) -> list[str]:
    return re.findall(r"<D>(.*?)</D>", _inside(tag, sgml))


def _plain(sgml: str) -> str:
    return unescape(_CONTROL.sub("", sgml)).strip()

"""20 Newsgroups as scikit-learn fetches it, in our fields; must not know where files are kept."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from functools import partial
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

_MESSAGES = 18_846
#: A header that is kept, with the lines that continue it.
_HEADER = re.compile(r"^(?:From|Subject):.*\n(?:[ \t].*\n)*", re.MULTILINE | re.IGNORECASE)


def fetched() -> bytes:
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

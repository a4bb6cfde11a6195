"""Where data files are: a folder that is named, or a cache; must not know what is in them."""

from __future__ import annotations

import hashlib
import lzma
import os
import tarfile
import zlib
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory

from surelearn.datasets.sources import SOURCES, Source

#: The environment variable with the folder of data sets.
VARIABLE = "SURELEARN_DATA"

#: What a download or its conversion may raise: unreachable, cut, damaged, or not what it was.
_FAILURES = (OSError, HTTPException, EOFError, tarfile.TarError, zlib.error, KeyError, ValueError)


def find(name: str) -> Path:
    """The path of a data file, which is fetched if need be.

    A file is looked for in the folder that the environment variable ``SURELEARN_DATA`` names, then
    in ``surelearn`` below `sklearn.datasets.get_data_home`. If it is in neither and its publishers
    offer it, it is downloaded, converted, checked and written there for the next time.

    Parameters
    ----------
    name : str
        Such as ``"20news-18828.jsonl.xz"`` or ``"conll2000/train.txt.xz"``.

    Returns
    -------
    Path
        For 20 Newsgroups this may be ``"20news-18846.jsonl.xz"``: scikit-learn fetches the version
        with 18,846 messages, which stands in for the one with 18,828.

    Raises
    ------
    FileNotFoundError
        If the file is nowhere and cannot be fetched. The message has address and remedy.

    Examples
    --------
    >>> from surelearn.datasets import find
    >>> find("20news-18828.jsonl.xz").exists()    # doctest: +SKIP
    True
    """
    given = _named_folder()
    if given is not None and (given / name).exists():
        return given / name
    source = SOURCES.get(name)
    if source is None:
        raise FileNotFoundError(
            f"{VARIABLE} must name a folder with {name}, got {given or 'nothing'}."
        )
    cache = _cache()
    if (cache / name).exists():
        return cache / name
    path = cache / (source.stand_in or name)
    if not path.exists():
        _fetch(name, source, cache)
    return path


def _named_folder() -> Path | None:
    """The folder that the variable names."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        return None
    if not Path(folder).is_dir():
        raise FileNotFoundError(f"{VARIABLE} must name a folder, got {folder}.")
    return Path(folder)


def _cache() -> Path:
    from sklearn.datasets import get_data_home

    return Path(get_data_home()) / "surelearn"


# ------------------------------------------------------------------------ fetching


def _fetch(name: str, source: Source, folder: Path) -> None:
    """Write all files of a source into the folder; one that is killed leaves none of them."""
    remedy = f"Set {VARIABLE} to a folder with {name}, or write it to {folder}."
    if source.get is None:
        raise FileNotFoundError(
            f"{VARIABLE} must name a folder with {name}, got none: no published file has exactly "
            f"this content. It holds {source.layout}. Source: {source.title}, {source.address}"
        )
    try:
        contents = source.get(source.address)
        for made, content in contents.items():
            _check_sum(made, content, source)
    except _FAILURES as error:
        what = f"{type(error).__name__}: {error}"
        raise FileNotFoundError(
            f"{name} must be fetched from {source.address}, got {what}. {remedy}"
        ) from error
    for made, content in contents.items():
        _write(folder / made, content)


def _check_sum(name: str, content: bytes, source: Source) -> None:
    expected, got = source.checksums.get(name), hashlib.sha256(content).hexdigest()
    if expected not in (None, got):
        raise ValueError(f"SHA-256 of {name} without compression must be {expected}, got {got}")


def _write(path: Path, content: bytes) -> None:
    """Write a compressed file in one step: a reader never sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        made = Path(folder) / path.name
        made.write_bytes(lzma.compress(content, preset=1))
        made.replace(path)

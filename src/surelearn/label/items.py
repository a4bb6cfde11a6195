"""The pool: texts or sentences from files, each once; must not know who labels them."""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, read

#: A label that is no label: a missing value, or an empty cell of csv.
_NONE = (None, "")


@dataclass(frozen=True, eq=False)
class Items:
    """The texts or sentences of a pool, each once, in the order of the files.

    Parameters
    ----------
    X : pyarrow.StringArray or list of lists of tokens
        Whatever a model takes.
    start : dict of {int: label}
        Labels that the files had: a text, a list of texts, or the tags of a sentence.
    files : list of str
    n_duplicates, n_empty, n_bad, n_clashes : int
        What was left out: texts met before, texts without a letter, records that could not be
        parsed, labels that contradict an earlier one of the same text.
    text_column, label_column : str
        What exports call the columns.
    """

    X: Any
    start: dict[int, Any] = field(default_factory=dict)
    files: Sequence[str] = ()
    n_duplicates: int = 0
    n_empty: int = 0
    n_bad: int = 0
    n_clashes: int = 0
    text_column: str = "text"
    label_column: str = "label"

    def __len__(self) -> int:
        return len(self.X)

    def text(self, item: int) -> str:
        """An item as one text, to show and to search."""
        return self.X[item].as_py() if hasattr(self.X, "to_pylist") else " ".join(self.words(item))

    def words(self, item: int) -> list[str]:
        """The words of a sentence."""
        return [token if isinstance(token, str) else token[0] for token in self.X[item]]

    def digest(self, n: int) -> str:
        """A checksum of the first n items, by which a store knows its pool."""
        found = hashlib.sha256()
        for item in range(n):
            content = self.text(item) if hasattr(self.X, "to_pylist") else repr(self.X[item])
            found.update(content.encode("utf-8", "surrogatepass") + b"\0")
        return found.hexdigest()

    def told(self) -> list[str]:
        """What was left out of the pool, one sentence each."""
        counts = {
            "skipped because they were there before: {}": self.n_duplicates,
            "skipped because they are empty: {}": self.n_empty,
            "skipped because they could not be parsed: {}": self.n_bad,
            "labels that contradict an earlier one, which was kept: {}": self.n_clashes,
        }
        return [text.format(f"{n:,}") for text, n in counts.items() if n]


def read_texts(
    source: str | os.PathLike[str] | Sequence[str],
    *,
    label: str | None = None,
    label_separator: str | None = None,
    **reading: Any,
) -> Items:
    """Read a pool of texts from files.

    Parameters
    ----------
    source : str, path or list of them
        As in `surelearn.read.batches`.
    label : str, optional
        A column of labels that are known already. A missing value or empty text is no label.
    label_separator : str, optional
        What separates the labels of a text, such as ``;``.
    **reading
        More keywords of `surelearn.read.batches`, such as ``text`` and ``skip_bad``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "pool.csv"
    ...     _ = path.write_text("text,label\\nfine,good\\ndull,\\nfine,bad\\n")
    ...     pool = read_texts(path, label="label")
    >>> pool.X.to_pylist(), pool.start, pool.n_duplicates, pool.n_clashes
    (['fine', 'dull'], {0: 'good'}, 1, 1)
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    keep = [] if label is None else [label]
    found = read.batches(source, label=False, keep=keep, **reading).first(sys.maxsize)
    if not hasattr(found.X, "to_pylist"):
        raise _check.FormatError("a pool must have a column of texts, got numbers. Name it: text=")
    texts = pa.array(found.X) if not isinstance(found.X, pa.ChunkedArray) else found.X
    texts = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    filled = pc.not_equal(pc.utf8_trim_whitespace(texts), "").to_numpy(zero_copy_only=False)
    coded = texts.dictionary_encode()
    places = _places(coded.indices.to_numpy(), filled)
    kept = np.flatnonzero(_first_time(places))
    labels = found.kept[label] if label is not None else ()
    start, n_clashes = _known(places, labels, partial(_one_or_more, separator=label_separator))
    # Apart from the rest of what was read, which can be given back then: it is as much again.
    texts = pc.take(texts, pa.array(kept), memory_pool=pa.system_memory_pool())
    n_bad = found.n_bad
    del found, coded
    give_back()
    return Items(
        texts,
        start,
        _names(source),
        n_duplicates=int(filled.sum()) - len(kept),
        n_empty=int((~filled).sum()),
        n_bad=n_bad,
        n_clashes=n_clashes,
        text_column=reading.get("text") or "text",
        label_column=label or "label",
    )


def read_sentences(
    source: str | os.PathLike[str] | Sequence[str], *, tagged: bool = False, **reading: Any
) -> Items:
    """Read a pool of sentences from files with one token a line.

    Parameters
    ----------
    source : str, path or list of them
        As in `surelearn.read.sentences`.
    tagged : bool, default False
        Whether the files have tags that are known already.
    **reading
        More keywords of `surelearn.read.sentences`, such as ``columns``.
    """
    if not tagged:
        reading["label"] = False
    found = read.sentences(source, **reading).first(sys.maxsize)
    numbers: dict[tuple[Any, ...], int] = {}
    codes = np.array([numbers.setdefault(tuple(x), len(numbers)) for x in found.X], dtype=np.int64)
    filled = np.array([bool(x) for x in found.X], dtype=bool)
    places = _places(codes, filled)
    kept = np.flatnonzero(_first_time(places)).tolist()
    start, n_clashes = _known(places, found.y or (), list)
    return Items(
        [found.X[i] for i in kept],
        start,
        _names(source),
        n_duplicates=int(filled.sum()) - len(kept),
        n_empty=int((~filled).sum()),
        n_bad=found.n_bad,
        n_clashes=n_clashes,
    )


def give_back() -> None:
    """Give memory that is free back to the system: a page may be open for days."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    with suppress(AttributeError, OSError):  # the C library of Linux keeps it otherwise
        ctypes.CDLL(None).malloc_trim(0)


def _places(codes: NDArray[Any], filled: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The item of each record, numbered in order of appearance; -1 for empty ones."""
    _, first, inverse = np.unique(codes[filled], return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    places = np.full(len(codes), -1, dtype=np.int64)
    places[filled] = rank[inverse]
    return places


def _first_time(places: NDArray[np.int64]) -> NDArray[np.bool_]:
    seen = np.maximum.accumulate(np.append(-1, places))[:-1]
    return np.asarray(places > seen)


def _known(
    places: NDArray[np.int64], labels: Iterable[Any], plain: Any
) -> tuple[dict[int, Any], int]:
    """The first label of each item, and how many labels contradict it."""
    start: dict[int, Any] = {}
    n_clashes = 0
    for place, label in zip(places.tolist(), labels, strict=False):
        if place >= 0 and not (isinstance(label, str | None) and label in _NONE):
            n_clashes += start.setdefault(place, plain(label)) != plain(label)
    return start, n_clashes


def _one_or_more(label: Any, separator: str | None) -> Any:
    """A label as a text; the labels of a list in order, each once."""
    if separator is not None and isinstance(label, str):
        label = [name.strip() for name in label.split(separator) if name.strip()]
    if isinstance(label, str) or not hasattr(label, "__len__"):
        return str(label)
    return sorted(map(str, set(label)))


def _names(source: Any) -> list[str]:
    listed = [source] if isinstance(source, str | os.PathLike) else source
    return [os.fspath(name) for name in listed]

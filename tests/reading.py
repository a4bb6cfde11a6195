"""What the tests of the readers share: a source read whole, and laws of all sources."""

from __future__ import annotations

import csv
import io
import json
from contextlib import contextmanager
from unittest import mock

import numpy as np
from hypothesis import strategies as st

from surelearn import read
from surelearn.read import _lines, _stores

#: Any text that can be written as UTF-8.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)

#: Labels of each kind, by its name.
labels = {
    "texts": texts.filter(bool),
    "whole numbers": st.integers(-(2**63), 2**63 - 1),
    "numbers": st.floats(-1e300, 1e300).map(lambda x: x + 0.5),
    "flags": st.booleans(),
}


def records(kinds=tuple(labels), min_size=1):
    """Lists of (text, label), the labels of one type."""
    return st.sampled_from(kinds).flatmap(
        lambda kind: st.lists(st.tuples(texts, labels[kind]), min_size=min_size, max_size=12)
    )


def many_labelled(kinds=tuple(labels)):
    """Lists of (text, list of labels), the labels of one type; the first list is not empty."""
    return st.sampled_from(kinds).flatmap(
        lambda kind: st.lists(
            st.tuples(texts, st.lists(labels[kind], max_size=4)), min_size=1, max_size=12
        ).filter(lambda pairs: pairs[0][1])
    )


def as_sets(pairs):
    """What is read of lists of labels: each label once, in order."""
    return [(text, tuple(sorted(set(labels)))) for text, labels in pairs]


@contextmanager
def blocks_of(size):
    """Blocks of so many bytes."""
    with mock.patch.object(_lines, "BLOCK", size), mock.patch.object(_stores, "BLOCK", size):
        yield


def without_core():
    """A context in which JSON lines are read by pyarrow and Python alone."""
    return mock.patch("surelearn._core.parse_jsonl", return_value=None)


def rows(source, **options):
    """All records as (text, label), and how many were left out."""
    return joined(read.batches(source, **options))


def joined(batches):
    found, n_bad = [], 0
    for batch in batches:
        y = batch.y if isinstance(batch.y, list) else batch.y.tolist()  # a list: many labels
        found += zip(batch.X.to_pylist(), y, strict=True)
        n_bad += batch.n_bad
    return found, n_bad


def content(batch):
    """Everything in a batch, to be compared."""
    if isinstance(batch, read.Sentences):
        return batch.X, batch.y, batch.n_bad
    if isinstance(batch, read.Groups):
        return grouped(batch), batch.n_bad
    X = batch.X.tolist() if isinstance(batch.X, np.ndarray) else batch.X.to_pylist()
    weight = None if batch.weight is None else batch.weight.tolist()
    y = batch.y.tolist() if isinstance(batch.y, np.ndarray) else batch.y
    return X, y, weight, batch.n_bad


def grouped(batch):
    """The groups of a batch: (id, [(label, name, {feature: value}), ...])."""
    found = []
    labels = batch.cost if batch.relevance is None else batch.relevance
    for g in range(len(batch)):
        rows = []
        for i in range(batch.bounds[g], batch.bounds[g + 1]):
            row = batch.X[[i]].tocoo()
            label = None if labels is None else float(labels[i])
            name = None if batch.names is None else int(batch.names[i])
            entries: dict[int, float] = {}
            for j, x in zip(row.coords[1].tolist(), row.data.tolist(), strict=True):
                entries[j] = entries.get(j, 0.0) + x
            rows.append((label, name, {j: x for j, x in entries.items() if x != 0}))
        found.append((None if batch.ids is None else int(batch.ids[g]), rows))
    return found


def check_going_on(source):
    """From the end of any block on, reading gives the rest of the blocks, and nothing else.

    Tried with a few blocks, the first and the last among them; how many there are is given back.
    """
    blocks = list(source.blocks())
    ends = [block.end for block in blocks]
    parsed = [content(block.parse()) for block in blocks]
    n = len(blocks)
    for i in {1, n // 3 + 1, n // 2 + 1, n}:
        rest = list(source.blocks(ends[i - 1]))
        assert [block.end for block in rest] == ends[i:]
        assert [content(block.parse()) for block in rest] == parsed[i:]
    return n


def written(pairs, delimiter=",", quote='"'):
    """The bytes of csv in UTF-8."""
    text = io.StringIO(newline="")
    marks = {"quotechar": quote, "quoting": csv.QUOTE_ALL} if quote else {}
    none = {} if quote else {"quoting": csv.QUOTE_NONE, "quotechar": None}
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n", **marks, **none)
    writer.writerow(["id", "text", "label"])
    writer.writerows([i, text, label] for i, (text, label) in enumerate(pairs))
    return text.getvalue()


def dumped(pairs, **options):
    lines = (json.dumps({"text": text, "label": label}, **options) for text, label in pairs)
    return "".join(f"{line}\n" for line in lines).encode()

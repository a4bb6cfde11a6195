"""Batches: some of their records, several as one, and the source they come from."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from conll import TEXT, X, Y
from reading import blocks_of, dumped, joined
from surelearn import read
from surelearn.read import _lines
from surelearn.read._batch import Batch, Groups, joined_groups
from surelearn.read._batch import joined as joined_batches
from surelearn.read._labels import Labels


def test_a_source_can_be_read_twice_and_adds_up(tmp_path):
    path = tmp_path / "reviews.jsonl"
    path.write_bytes(dumped([("a", "x")]) * 1000)
    with blocks_of(1000):
        source = read.batches(path)
        assert joined(source) == joined(source) == ([("a", "x")] * 1000, 0)
        assert sum(block.n_bytes for block in source.blocks()) == source.n_bytes
    assert source.n_bytes == path.stat().st_size
    assert source.can_restart
    assert source.name == str(path)
    assert read.batches(source) is source


def test_the_first_records_may_be_in_several_blocks(tmp_path):
    path = tmp_path / "reviews.jsonl"
    path.write_bytes(dumped([(f"text {i}", i) for i in range(20)]))
    with blocks_of(100):
        source = read.batches(path)
        assert len(list(source)) > 3
        for n in (1, 7, 99):
            assert source.first(n).y.tolist() == list(range(min(n, 20)))


def test_no_more_is_parsed_than_the_first_records_need(tmp_path):
    path = tmp_path / "reviews.jsonl"
    path.write_bytes(dumped([("a", "x")] * 3) + b"no JSON\n")
    with blocks_of(30):
        assert len(read.batches(path).first(3)) == 3
        with pytest.raises(read.BadInput, match="line 4"):
            read.batches(path).first(4)


def test_weights_of_some_blocks_are_ones_in_others(tmp_path, monkeypatch):
    monkeypatch.setattr(_lines, "BLOCK", 10)
    path = tmp_path / "rows.vw"
    path.write_text("1 |t a\n1 3.0 |t b\n")
    assert read.batches(path).first(9).weight.tolist() == [1.0, 3.0]


def test_some_of_a_batch_of_sentences(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text(TEXT)
    (batch,) = read.sentences(path)
    assert len(batch) == 2
    assert (batch[1:].X, batch[1:].y) == (X[1:], Y[1:])
    few = read.sentences([path, path]).first(3)
    assert (few.X, few.y) == ([*X, X[0]], [*Y, Y[0]])
    assert read.sentences(path, label=False).first(9).y is None


#: Records in each of the forms that readers give.
FORMS = {
    "texts": lambda n: pyarrow.array([f"text {i}" for i in range(n)], pyarrow.string()),
    "numbers": lambda n: np.arange(2.0 * n).reshape(n, 2),
    "sparse": lambda n: sparse.csr_array(np.diag(np.arange(1.0, 10.0))[:n]),
}


def records(batch):
    """All that a batch says of each of its records."""
    rows = batch.X.toarray() if sparse.issparse(batch.X) else batch.X
    weight = np.ones(len(batch)) if batch.weight is None else batch.weight
    rows = rows.tolist() if isinstance(rows, np.ndarray) else rows.to_pylist()
    return list(zip(rows, batch.y.tolist(), weight, batch.kept["id"].tolist(), strict=True))


@pytest.mark.parametrize("form", FORMS)
@given(
    n=st.integers(1, 9),
    cuts=st.lists(st.integers(0, 9), max_size=3).map(sorted),
    n_bad=st.integers(0, 3),
    weighted=st.booleans(),
)
def test_the_parts_of_a_batch_joined_are_the_batch(form, n, cuts, n_bad, weighted):
    labels = Labels(np.arange(n, dtype=np.int32) % 3, np.array(["z", "a", "m"]))
    weight = np.arange(1.0, n + 1) if weighted else None
    whole = Batch(FORMS[form](n), labels, weight, n_bad, {"id": np.arange(n)})
    places = [0, *(min(cut, n) for cut in cuts), n]
    parts = [whole[a:b] for a, b in pairwise(places)]
    assert [record for part in parts for record in records(part)] == records(whole)
    again = joined_batches(parts)
    assert records(again) == records(whole)
    assert again.n_bad == n_bad * len(parts)
    assert (again.weight is None) == (not weighted)


def test_records_without_labels_stay_without_them():
    batch = Batch(np.eye(3))
    assert (batch.y, batch[:2].y, joined_batches([batch, batch]).y) == (None, None, None)
    assert not joined_batches([batch, batch]).is_labelled


def ranked():
    X = sparse.csr_array(np.arange(12.0).reshape(6, 2))
    relevance = np.array([1.0, 0, 2, 0, 0, 1])
    return Groups(X, bounds=np.array([0, 2, 2, 6]), relevance=relevance, ids=np.array([5, 6, 7]))


def test_a_part_of_a_batch_of_groups():
    batch = ranked()
    assert len(batch) == 3
    assert batch.is_labelled
    chosen = batch[[2, 0]]
    assert chosen.sizes.tolist() == [4, 2]
    assert chosen.ids.tolist() == [7, 5]
    assert chosen.y.tolist() == [2, 0, 0, 1, 1, 0]
    assert chosen.X.toarray()[:, 0].tolist() == [4, 6, 8, 10, 0, 2]
    assert batch[:2].bounds.tolist() == [0, 2, 2]
    assert len(batch[:0]) == 0
    assert batch[:0].X.shape == (0, 2)


def test_batches_of_groups_are_joined():
    batch = ranked()
    again = joined_groups([batch[:1], batch[:0], batch[1:]])
    for name in ("bounds", "relevance", "ids"):
        np.testing.assert_array_equal(getattr(again, name), getattr(batch, name))
    np.testing.assert_array_equal(again.X.toarray(), batch.X.toarray())
    assert again.cost is None

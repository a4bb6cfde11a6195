"""Where training is in its source, and in which sources it goes on."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import numpy as np
import pandas
import pytest

from streaming import bits, model, records, write
from surelearn import read
from surelearn.files import Fields
from surelearn.read import Place
from surelearn.training.position import StreamPosition

pytestmark = pytest.mark.usefixtures("small_blocks")


def test_another_source_or_a_shorter_one_is_refused(reviews, tmp_path):
    more = write(tmp_path / "more.jsonl", records(100, seed=7))
    begun = model(passes=2)
    with pytest.raises(ZeroDivisionError):
        begun.fit_stream(reviews, progress=lambda p: 1 // (p.rows < 100))
    with pytest.raises(
        ValueError, match=r"source must be .*reviews\.jsonl, which training has not"
    ):
        begun.fit_stream(more, resume=True)
    write(reviews, records(3))
    with pytest.raises(read.BadInput, match="must be the file that was read before, got one that"):
        begun.fit_stream(reviews, resume=True)


@pytest.mark.parametrize("packed", ["", ".gz"])
def test_a_file_that_was_replaced_is_refused(tmp_path, packed):
    opener = gzip.open if packed else open
    path = tmp_path / f"a.jsonl{packed}"
    texts = ["".join(json.dumps(row) + "\n" for row in records(300, seed=s)) for s in (0, 1)]
    with opener(path, "wt") as file:
        file.write(texts[0])
    begun = model()
    with pytest.raises(ZeroDivisionError):
        begun.fit_stream(path, progress=lambda p: 1 // (p.rows < 100))
    with opener(path, "wt") as file:
        file.write(texts[1] * 2)
    with pytest.raises(read.BadInput, match=r"must be the file that was read before, got one that"):
        begun.fit_stream(path, resume=True)


def test_a_table_that_was_cut_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    frame = pandas.DataFrame(list(records(300)))
    frame.to_parquet(path)
    fitted = model().fit_stream(path)
    frame[:200].to_parquet(path)
    with pytest.raises(read.BadInput, match=r"must be the file that was read before, got one that"):
        fitted.fit_stream(path, resume=True)


def test_a_file_has_one_name_however_it_is_spelt(reviews, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fitted = model().fit_stream("reviews.jsonl")
    before = bits(fitted)
    for name in ("./reviews.jsonl", reviews, f"../{tmp_path.name}/reviews.jsonl"):
        assert bits(fitted.fit_stream(name, resume=True)) == before


# ------------------------------------------------------------------------ as a value


def test_a_position_comes_back_from_json():
    position = StreamPosition(
        ("a.csv", "b.csv"),
        {"text": "body", "features": ["x", "y"], "zero_based": True},
        number=2,
        place=Place(1, 20, 3, 4),
        begin=Place(0, 9, 1, 2),
        block=5,
        rows=6,
        n_bad=7,
        seed=8,
        passes=9,
        ended=True,
        kept_until=4,
    )
    plain = json.loads(json.dumps(position.plain()))
    assert StreamPosition.of(Fields(plain, "a.sure")) == position


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"place": [1, 2, 3]}, "place must have 4 numbers, got 3"),
        ({"begin": [0, -1, 0, 0]}, "begin must be at least 0, got -1"),
        ({"files": ["a", 3]}, "names must be texts, got others"),
        ({"columns": {"features": [1]}}, "names must be texts, got others"),
    ],
)
def test_a_damaged_position_is_refused(change, message):
    plain = {**json.loads(json.dumps(StreamPosition(("a",)).plain())), **change}
    with pytest.raises(ValueError, match=message):
        StreamPosition.of(Fields(plain, "a.sure"))


def test_blocks_add_up_and_passes_begin_anew():
    start = StreamPosition(("a",), begin=Place(0, 5))
    first = start.after(Place(0, 10), rows=3, n_bad=1).after(Place(0, 20), rows=0, n_bad=2)
    assert (first.block, first.rows, first.n_bad, first.place.at) == (1, 3, 3, 20)
    second = first.next_pass()
    assert (second.number, second.place, second.block, second.rows) == (2, Place(0, 5), 0, 0)
    assert second.after(Place(0, 10), rows=3, n_bad=1).n_bad == 3  # bad ones count once


def test_every_block_of_every_later_pass_has_an_order_of_its_own():
    first = StreamPosition(("a",), seed=3)
    assert first.order(9) is None
    second = first.next_pass()
    orders = [
        second.order(9),
        second.after(Place(0, 10), rows=1, n_bad=0).order(9),
        second.next_pass().order(9),
        replace(second, seed=4).order(9),
    ]
    assert all(sorted(order) == list(range(9)) for order in orders)
    assert len({tuple(order) for order in orders}) == 4
    np.testing.assert_array_equal(orders[0], second.order(9))

"""Files that change between two passes: all passes learn the same, or training ends and says so."""

from __future__ import annotations

import gzip
import json
import os
import warnings

import pandas
import pytest

from streaming import bits, model, records, write
from surelearn import SureTagger, load

pytestmark = pytest.mark.usefixtures("small_blocks")

CACHES = pytest.mark.parametrize("cache", [0, 2**30], ids=["no cache", "cache"])


class Once:
    """Does something when a pass over so many rows has ended."""

    def __init__(self, change, rows=300):
        self._change, self._rows, self.is_done = change, rows, False

    def __call__(self, now):
        if now.rows == self._rows and not self.is_done:
            self.is_done = True
            self._change()


def lines(n, seed=9):
    return "".join(json.dumps(row) + "\n" for row in records(n, seed=seed))


def add(path, text):
    with path.open("a") as file:
        file.write(text)


def replace(path, text):
    """As editors and `mv` do: another file gets the name."""
    new = path.with_suffix(".new")
    new.write_text(text)
    os.replace(new, path)


def fitted(path, cache, change=None, **how):
    rows = how.pop("rows", 300)
    progress = None if change is None else Once(change, rows)
    made = model(passes=3, **how).fit_stream(path, cache_bytes=cache, progress=progress)
    assert change is None or progress.is_done
    return made


@CACHES
@pytest.mark.parametrize("n_shards", [1, 2])
def test_what_is_added_after_the_first_pass_is_not_learnt(reviews, cache, n_shards):
    want = bits(fitted(reviews, cache, n_shards=n_shards))
    with pytest.warns(UserWarning, match=r"reviews.jsonl has grown since the first pass. All"):
        found = fitted(reviews, cache, lambda: add(reviews, lines(50)), n_shards=n_shards)
    assert bits(found) == want
    assert found.stream_.rows == 300
    found.fit_stream(reviews, resume=True)
    assert found._model.counts.sum() == 350


def test_a_last_line_that_was_not_ended_is_learnt_as_it_was(reviews):
    reviews.write_text(reviews.read_text().rstrip("\n"))
    want = bits(fitted(reviews, 0))
    with pytest.warns(UserWarning, match="has grown"):
        assert bits(fitted(reviews, 0, lambda: add(reviews, "\n" + lines(50)))) == want


def test_every_file_is_read_up_to_where_it_ended(reviews, tmp_path):
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    files = [reviews, empty, write(tmp_path / "more.jsonl", records(40, seed=3))]
    want = bits(fitted(files, 0))

    def grow():
        add(reviews, lines(50))
        add(empty, lines(5))

    with pytest.warns(UserWarning, match="has grown") as told:
        assert bits(fitted(files, 0, grow, rows=340)) == want
    assert ["reviews" in str(w.message) for w in told] == [True, False]


def test_csv_and_packed_files_may_grow_as_well(reviews, tmp_path):
    rows = [json.loads(line) for line in reviews.read_text().splitlines()]
    table, packed = tmp_path / "a.csv", tmp_path / "a.jsonl.gz"
    pandas.DataFrame(rows).to_csv(table, index=False)
    packed.write_bytes(gzip.compress(reviews.read_bytes()))

    def grow():
        add(table, "good,class 1,1.0\n")
        with packed.open("ab") as file:
            file.write(gzip.compress(lines(5).encode()))

    want = [bits(fitted(path, 0)) for path in (table, packed)]
    with pytest.warns(UserWarning, match="has grown"):
        assert bits(fitted(table, 0, grow)) == want[0]
    packed.write_bytes(gzip.compress(reviews.read_bytes()))
    with pytest.warns(UserWarning, match="has grown"):
        assert bits(fitted(packed, 0, grow)) == want[1]


@pytest.mark.parametrize("longer", [False, True])
@pytest.mark.parametrize("change", [replace, lambda path, text: path.write_text(text)])
def test_a_file_that_was_replaced_ends_training(reviews, tmp_path, change, longer):
    first = bits(model(passes=1).fit_stream(reviews, calibrate=False))
    other = lines(400 if longer else 300)
    begun, path = model(passes=3), tmp_path / "m.sure"
    with pytest.raises(ValueError, match=r"reviews.jsonl must stay as it was in the first pass"):
        begun.fit_stream(
            reviews,
            cache_bytes=0,
            calibrate=False,
            checkpoint=path,
            progress=Once(lambda: change(reviews, other)),
        )
    assert bits(begun)[:3] == first[:3]  # what the first pass has taught
    assert bits(load(path)) == bits(begun)


def test_a_file_that_is_overwritten_while_it_is_read_ends_training(reviews):
    """Bytes that were not read yet; the size stays."""
    data = reviews.read_text()
    other = data.replace("class 0", "class 2")
    begun = model(passes=3, n_jobs=1)
    passes = []

    def change(now):
        passes.append(now.number)
        if now.number == 2 and now.rows < 100:
            reviews.write_text(data[:15_000] + other[15_000:])

    with pytest.raises(ValueError, match="must stay as it was"):
        begun.fit_stream(reviews, cache_bytes=0, progress=change)
    assert max(passes) == 2


def test_a_table_that_was_replaced_ends_training(tmp_path):
    path = tmp_path / "a.parquet"
    pandas.DataFrame(records(300)).to_parquet(path)
    with pytest.raises(ValueError, match=r"a.parquet must stay as it was in the first pass"):
        fitted(path, 0, lambda: pandas.DataFrame(records(310)).to_parquet(path))


def test_with_a_cache_a_replaced_file_is_not_needed_any_more(reviews):
    want = bits(fitted(reviews, 2**30))
    with pytest.warns(UserWarning, match="has changed since the first pass. All passes learnt"):
        assert bits(fitted(reviews, 2**30, lambda: replace(reviews, lines(300)))) == want
    write(reviews, records(300))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bits(fitted(reviews, 2**30, reviews.unlink)) == want


def test_sentences_may_grow(tmp_path):
    path = tmp_path / "a.conll"
    path.write_text("We PRON\nagree VERB\n\nNo INTJ\n\n" * 100)

    def tagger(progress=None):
        made = SureTagger(random_state=0, passes=3)
        return made.fit_stream(path, cache_bytes=0, progress=progress)

    want = tagger().coef_.tobytes()
    with pytest.warns(UserWarning, match="has grown"):
        found = tagger(Once(lambda: add(path, "New ADJ\n\n" * 9), rows=200))
    assert found.coef_.tobytes() == want

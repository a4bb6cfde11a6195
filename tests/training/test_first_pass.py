"""Files that change between two passes: all passes learn the same, or training ends and says so."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import warnings

import numpy as np
import pandas
import pytest

from streaming import TRAIN, bits, model, records, write
from surelearn import SureTagger, load
from surelearn.read import Stamp
from surelearn.training import first_pass

pytestmark = pytest.mark.usefixtures("small_blocks")

CACHES = pytest.mark.parametrize("cache", [0, 2**30], ids=["no cache", "cache"])

pytestmark = pytest.mark.usefixtures("small_blocks")


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


def test_several_passes_over_standard_input_come_from_the_cache(tmp_path, reviews):
    out = tmp_path / "live.sure"
    code = TRAIN.format(source="-", out=str(out), passes=3, every="60s", more={"passes": 3})
    subprocess.run([sys.executable, "-c", code], input=reviews.read_text(), text=True, check=True)
    assert len(load(out).mistakes_) == 3


def test_the_cache_gives_back_what_it_was_given_and_leaves_nothing(tmp_path):
    cache = first_pass.Cache(10_000)
    blocks = [(np.arange(5, dtype=np.int32), np.ones((2, 3))), (np.zeros(0), np.zeros(4, np.int8))]
    for i, arrays in enumerate(blocks):
        cache.add(arrays, i)
    folders = list((tmp_path / "temporary").iterdir())
    assert len(folders) == 1
    for kept, arrays in zip(cache.blocks(), blocks, strict=True):
        for found, given_ in zip(cache.read(kept), arrays, strict=True):
            np.testing.assert_array_equal(found, given_)
            assert found.dtype == given_.dtype
    cache.close()
    assert not list((tmp_path / "temporary").iterdir())


def test_a_full_cache_forgets_everything(tmp_path):
    cache = first_pass.Cache(100)
    cache.add((np.zeros(10),), 0)
    cache.add((np.zeros(10),), 1)
    assert cache.n_blocks == 0
    cache.add((np.zeros(1),), 2)
    assert cache.n_blocks == 0
    assert not list((tmp_path / "temporary").iterdir())


def test_what_a_killed_process_left_is_removed_and_what_lives_is_not(tmp_path):
    code = (
        "import os, numpy, time\n"
        "from surelearn.training.first_pass import Cache\n"
        "c = Cache(10**6)\nc.add((numpy.zeros(3),), 0)\nprint('made', flush=True)\ntime.sleep(60)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=os.environ.copy()
    )
    assert process.stdout.readline() == "made\n"
    folder = tmp_path / "temporary"
    first_pass.remove_forgotten()
    assert len(list(folder.iterdir())) == 1
    process.kill()
    process.communicate()
    first_pass.remove_forgotten()
    assert not list(folder.iterdir())


def test_a_stream_leaves_no_cache_behind_even_after_an_error(reviews, tmp_path):
    model(passes=2).fit_stream(reviews)
    with pytest.raises(ZeroDivisionError):
        model(passes=2).fit_stream(reviews, progress=lambda p: 1 // 0)
    assert not list((tmp_path / "temporary").iterdir())


def test_standard_input_that_does_not_fit_in_the_cache_is_gone_through_once(reviews, tmp_path):
    code = TRAIN.format(
        source="-", out=str(tmp_path / "m.sure"), passes=3, every="60s",
        more={"passes": 3, "cache_bytes": 2000},
    )  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code], input=reviews.read_text(), capture_output=True, text=True
    )
    assert done.returncode == 0
    assert "passes must be 1 for standard input" in done.stderr
    assert len(load(tmp_path / "m.sure").mistakes_) == 1


def test_a_file_that_was_cut_short_is_told(tmp_path):
    cache = first_pass.Cache(10_000)
    cache.add((np.zeros(100),), 0)
    (kept,) = cache.blocks()
    cut(tmp_path, 300)
    with pytest.raises(OSError, match=r"cache of the first pass .* was cut short at 300 bytes"):
        cache.read(kept)
    cache.close()


def cut(tmp_path, size):
    (file,) = (tmp_path / "temporary").glob("*/rows")
    os.truncate(file, size)


def test_a_file_without_a_size_has_not_grown():
    """One behind a network may have none."""
    small, large, none = Stamp(1, 10, 0), Stamp(1, 11, 0), Stamp(1, None, 0)
    assert first_pass._is_longer(small, large)
    assert not first_pass._is_longer(small, small)
    assert not first_pass._is_longer(large, small)
    assert not first_pass._is_longer(small, Stamp(2, 11, 0))
    assert not first_pass._is_longer(none, large)
    assert not first_pass._is_longer(small, none)

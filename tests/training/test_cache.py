"""The cache of later passes: what comes back, what is forgotten, what is left behind."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from streaming import TRAIN, model
from surelearn import load
from surelearn.training import cache as _cache

pytestmark = pytest.mark.usefixtures("small_blocks")


def test_several_passes_over_standard_input_come_from_the_cache(tmp_path, reviews):
    out = tmp_path / "live.sure"
    code = TRAIN.format(source="-", out=str(out), passes=3, every="60s", more={"passes": 3})
    subprocess.run([sys.executable, "-c", code], input=reviews.read_text(), text=True, check=True)
    assert len(load(out).mistakes_) == 3


def test_the_cache_gives_back_what_it_was_given_and_leaves_nothing(tmp_path):
    cache = _cache.Cache(10_000)
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
    cache = _cache.Cache(100)
    cache.add((np.zeros(10),), 0)
    cache.add((np.zeros(10),), 1)
    assert cache.n_blocks == 0
    cache.add((np.zeros(1),), 2)
    assert cache.n_blocks == 0
    assert not list((tmp_path / "temporary").iterdir())


def test_what_a_killed_process_left_is_removed_and_what_lives_is_not(tmp_path):
    code = (
        "import os, numpy, time\n"
        "from surelearn.training.cache import Cache\n"
        "c = Cache(10**6)\nc.add((numpy.zeros(3),), 0)\nprint('made', flush=True)\ntime.sleep(60)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=os.environ.copy()
    )
    assert process.stdout.readline() == "made\n"
    folder = tmp_path / "temporary"
    _cache.remove_forgotten()
    assert len(list(folder.iterdir())) == 1
    process.kill()
    process.communicate()
    _cache.remove_forgotten()
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
    cache = _cache.Cache(10_000)
    cache.add((np.zeros(100),), 0)
    (kept,) = cache.blocks()
    cut(tmp_path, 300)
    with pytest.raises(OSError, match=r"cache of the first pass .* was cut short at 300 bytes"):
        cache.read(kept)
    cache.close()


def cut(tmp_path, size):
    (file,) = (tmp_path / "temporary").glob("*/rows")
    os.truncate(file, size)

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import gettempdir

import numpy as np
import pyarrow as pa
import pytest

from surelearn import SureTextClassifier
from surelearn.label.texts import TextFile

TEXTS = ["fine", "", "größer \U0001f600", "a\nb\0", "x" * 100_000]


def test_texts_come_back_by_number_and_in_order():
    file = TextFile(TEXTS[:2])
    file.extend(TEXTS[2:])
    assert len(file) == len(TEXTS)
    assert [file[i] for i in range(len(file))] == list(file) == file.to_pylist() == TEXTS
    with pytest.raises(IndexError):
        file[len(TEXTS)]


def test_texts_are_taken_as_arrow_takes_them():
    for rows in ([2, 0, 2], np.array([4, 1]), []):
        expected = pa.array(TEXTS, pa.large_string()).take(pa.array(rows, pa.int64()))
        assert TextFile(TEXTS).take(rows).equals(expected)


def test_a_model_takes_it_as_a_column():
    texts, labels = ["a fine film", "a dull film", "fine", "dull"], ["good", "bad"] * 2
    found = SureTextClassifier(random_state=0).fit(TextFile(texts), labels)
    expected = SureTextClassifier(random_state=0).fit(texts, labels)
    assert found.coef_.tobytes() == expected.coef_.tobytes()


def test_threads_read_at_the_same_time():
    texts = [f"{i} " * (i % 50) for i in range(2000)]
    file = TextFile(texts)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda part: [file[i] for i in part], [range(2000)] * 4))
    assert found == [texts] * 4


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_named():
    file = TextFile(["a"])
    with open("/dev/full", "wb", buffering=0) as full:
        file._file = full
        with pytest.raises(OSError, match="No space left") as found:
            file.extend(["b"])
    assert found.value.filename == gettempdir()
    assert len(file) == 1

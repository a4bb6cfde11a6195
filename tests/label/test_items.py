"""A pool is read once: its texts, what is known of them, and what was left out."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import gettempdir

import numpy as np
import pyarrow as pa
import pytest

from surelearn import SureTextClassifier
from surelearn.label import Items, read_sentences, read_texts
from surelearn.label.items import TextFile
from surelearn.read import BadInput


def written(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_texts_are_there_once_and_empty_ones_are_left_out(tmp_path):
    texts = ["b", "a", "b", "", " \n", "c", "a"]
    path = written(tmp_path / "pool.jsonl", *({"text": text} for text in texts))
    found = read_texts(path)
    assert found.X.to_pylist() == ["b", "a", "c"]
    assert (found.n_duplicates, found.n_empty, found.start) == (2, 2, {})
    assert found.told() == [
        "skipped because they occur more than once: 2",
        "skipped because they are empty: 2",
    ]


def test_labels_of_the_files_are_known_and_the_first_one_counts(tmp_path):
    records = [
        {"body": "a", "topic": None},
        {"body": "b", "topic": "x"},
        {"body": "a", "topic": "y"},
        {"body": "b", "topic": "z"},
        {"body": "", "topic": "z"},
        {"body": "c"},
    ]
    found = read_texts(written(tmp_path / "p.jsonl", *records), text="body", label="topic")
    assert found.start == {1: "x", 0: "y"}
    assert found.n_clashes == 1
    assert (found.text_column, found.label_column) == ("body", "topic")


def test_nan_is_no_label(tmp_path):
    records = [{"text": "a", "label": float("nan")}, {"text": "b", "label": 1.0}]
    found = read_texts(written(tmp_path / "p.jsonl", *records), label="label")
    assert found.start == {1: "1"}


def test_lists_of_labels_are_known(tmp_path):
    path = written(tmp_path / "p.jsonl", {"text": "a", "label": ["y", "x"]}, {"text": "b"})
    assert read_texts(path, label="label").start == {0: ["x", "y"]}


def test_a_missing_field_is_named_by_line_or_skipped(tmp_path):
    path = written(tmp_path / "pool.jsonl", {"text": "a"}, {"title": "b"})
    with pytest.raises(BadInput, match=r"pool\.jsonl, line 2: 'text' must be a text"):
        read_texts(path)
    found = read_texts(path, skip_bad=True)
    assert (len(found), found.n_bad) == (1, 1)


def test_sentences_are_there_once(tmp_path):
    path = tmp_path / "s.conll"
    path.write_text("we O\nagree O\n\nno X\n\nwe O\nagree X\n")
    found = read_sentences(path, tagged=True)
    assert found.X == [["we", "agree"], ["no"]]
    assert found.start == {0: ["O", "O"], 1: ["X"]}
    assert (found.n_duplicates, found.n_clashes, found.text(0)) == (1, 1, "we agree")
    assert read_sentences(path).start == {}


def test_a_pool_is_known_by_its_first_items():
    import pyarrow as pa

    one, more = Items(pa.array(["a", "b"])), Items(pa.array(["a", "b", "c"]))
    assert one.digest(2) == more.digest(2) != more.digest(3)
    assert one.digest(2) != Items(pa.array(["ab", ""])).digest(2)


def test_a_cell_may_have_several_labels(tmp_path):
    path = tmp_path / "pool.csv"
    path.write_text("text,label\na b,y; x\nc d,x\ne f,\n")
    found = read_texts(path, label="label", label_separator=";")
    assert found.start == {0: ["x", "y"], 1: ["x"]}


def test_texts_are_in_a_file_and_not_in_memory(tmp_path):
    texts = [f"text {i}" for i in range(5)]
    found = read_texts(written(tmp_path / "pool.jsonl", *({"text": text} for text in texts)))
    assert isinstance(found.X, TextFile)
    assert [found.text(i) for i in range(5)] == texts


def test_labels_that_are_numbers_are_the_same_in_every_block(tmp_path):
    numbers = [1] * 30_000 + [1.0, 2.5]
    records = [{"text": f"{'x' * 80} {i}", "label": n} for i, n in enumerate(numbers)]
    found = read_texts(written(tmp_path / "pool.jsonl", *records), label="label")
    assert set(found.start.values()) == {"1", "2.5"}


def test_an_empty_file_is_named(tmp_path):
    with pytest.raises(BadInput, match=r"pool\.jsonl must have at least one record"):
        read_texts(written(tmp_path / "pool.jsonl"))


def test_numbers_are_no_pool(tmp_path):
    (tmp_path / "pool.csv").write_text("a,b\n1,2\n")
    with pytest.raises(BadInput, match=r"pool\.csv must have a column of texts, got numbers"):
        read_texts(tmp_path / "pool.csv")


TEXTS = ["fine", "", "größer \U0001f600", "a\nb\0", "x" * 100_000]


def test_what_was_left_out_is_told_by_number():
    assert Items([["a", "dog"]]).told() == []
    for name in ("n_duplicates", "n_empty", "n_bad", "n_clashes"):
        (said,) = Items([["a", "dog"]], **{name: 1234}).told()
        assert said.endswith(": 1,234")


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

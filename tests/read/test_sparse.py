"""Batches of svmlight and Vowpal Wabbit text."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from surelearn import SureClassifier, evaluate, load, read
from surelearn.read import _lines


@pytest.fixture
def rows(tmp_path):
    random = np.random.default_rng(0)
    path = tmp_path / "rows.svm"
    with path.open("w") as file:
        for _ in range(200):
            y = int(random.integers(2))
            found = np.flatnonzero(random.random(12) < 0.4) + 1
            entries = " ".join(f"{j}:{random.normal() + y:.4f}" for j in found)
            file.write(f"{2 * y - 1} {entries} # comment\n")
    return path


def test_rows_are_those_of_scikit_learn(rows, monkeypatch):
    monkeypatch.setattr(_lines, "BLOCK", 500)
    X, y = load_svmlight_file(str(rows))
    found = list(read.batches(rows))
    assert len(found) > 5
    whole = read.batches(rows).first(10**6)
    np.testing.assert_array_equal(whole.X.toarray(), X.toarray().astype(np.float32))
    np.testing.assert_array_equal(whole.y, y)
    assert whole.y.dtype == np.int64
    assert read.batches(rows, n_features=50).first(1).X.shape == (1, 50)


def test_learning_from_rows_is_learning_from_the_matrix(rows):
    X, y = load_svmlight_file(str(rows), dtype=np.float32)
    streamed = SureClassifier(random_state=0).fit_stream(rows, passes=1)
    whole = SureClassifier(random_state=0).partial_fit(X, y.astype(int))
    assert streamed.coef_.tobytes() == whole.coef_.tobytes()
    assert streamed.projection_ == "precision"
    judged = evaluate(streamed, rows)
    assert judged.accuracy == pytest.approx(whole.score(X, y.astype(int)))


def test_features_from_zero(tmp_path):
    path = tmp_path / "zero.svm"
    path.write_text("1 0:2 3:1\n0 1:1\n")
    with pytest.raises(
        read.BadInput, match=r"zero\.svm, line 1: expected an index of at least 1, got '0:2'"
    ):
        read.batches(path).first(1)
    assert read.batches(path, zero_based=True).first(1).X.toarray().tolist() == [[2, 0, 0, 1]]


BAD = {
    "label": ("1 1:1\n0.5 1:1\n", r"line 2: expected a whole number as label, got 0\.5\."),
    "wide": ("1 1:1\n\n0 9:1\n", r"line 3: expected at most 3 features, got 9\."),
    "text": ("1 1:1\n0 good\n", r"line 2: expected index:value, got 'good'\."),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_lines_are_named_or_skipped(tmp_path, monkeypatch, case):
    text, message = BAD[case]
    path = tmp_path / "bad.svm"
    path.write_text(text)
    monkeypatch.setattr(_lines, "BLOCK", 4)  # the first line alone decides what labels are
    with pytest.raises(read.BadInput, match=message):
        list(read.batches(path, n_features=3))
    found = list(read.batches(path, n_features=3, skip_bad=True))
    assert sum(batch.n_bad for batch in found) == 1
    assert sum(map(len, found)) == 1


def test_vowpal_wabbit_text(tmp_path):
    path = tmp_path / "rows.vw"
    path.write_text("1 2.0 |t good film\n-1 |t bad film\n")
    batch = read.batches(path, n_features=64).first(9)
    assert batch.y.tolist() == [1, -1]
    assert batch.weight.tolist() == [2.0, 1.0]
    assert batch.X.shape == (2, 64)
    assert (batch.X.toarray() >= 0).all()
    model = SureClassifier(random_state=0).fit_stream(path)
    assert model.n_features_in_ == 2**18
    path.write_text("|t good film\n|t bad film\n")
    assert read.batches(path).first(9).y is None
    path.write_text("1 |t good film\n|t bad film\n")
    with pytest.raises(read.BadInput, match=r"rows\.vw, line 2: expected a label, got none\."):
        list(read.batches(path))


def test_standard_input_needs_to_be_told_how_wide_it_is():
    code = (
        "from surelearn import read\nprint(read.batches('-', format='svmlight'{}).first(9).X.shape)"
    )
    command = [sys.executable, "-c", code.format("")]
    done = subprocess.run(command, input="1 2:1\n", capture_output=True, text=True, check=False)
    assert "n_features must be given for svmlight from standard input" in done.stderr
    command = [sys.executable, "-c", code.format(", n_features=5")]
    done = subprocess.run(command, input="1 2:1\n", capture_output=True, text=True, check=True)
    assert done.stdout == "(1, 5)\n"


def test_empty_and_blank_files(tmp_path):
    path = tmp_path / "empty.svm"
    path.write_text("# nothing\n\n")
    with pytest.raises(ValueError, match="must have at least one record"):
        SureClassifier().fit_stream(path)


def test_labels_need_not_be_read(tmp_path):
    path = tmp_path / "rows.vw"
    path.write_text("1 |t good film\n|t bad film\n")
    batch = read.batches(path, label=False, n_features=8).first(9)
    assert batch.y is None
    assert len(batch) == 2


@pytest.mark.parametrize("opened", [read.batches, read.groups])
def test_a_width_that_would_fill_the_memory_must_be_given(tmp_path, opened):
    path = tmp_path / "rows.svm"
    path.write_text(f"1 qid:1 1:1\n0 qid:1 {2**26}:1\n")
    assert opened(path).first(2).X.shape == (2, 2**26)
    path.write_text("1 qid:1 1:1\n\n0 qid:1 2147483647:0\n")
    said = r"n_features must .* more than 67,108,864 .*, got 2,147,483,647 in .*rows\.svm, line 3\."
    for skip_bad in (False, True):
        with pytest.raises(read.BadInput, match=said):
            opened(path, skip_bad=skip_bad).first(2)
    assert opened(path, n_features=2**31 - 1).first(2).X.shape == (2, 2**31 - 1)
    path.write_text("1 qid:1 1:1\n0 qid:2 2147483647:1\n")
    found = opened(path, n_features=5, skip_bad=True).first(2)
    assert (found.X.shape, found.n_bad) == ((1, 5), 1)


# -------------------------------------------------------------------- lists of labels


@pytest.fixture
def lists(tmp_path):
    path = tmp_path / "many.svm"
    path.write_text("3,1 1:1 5:2\n 2:1\n1,1 3:0.5\n7 9:1\n" * 30)
    return path


def test_lists_of_labels_are_read(lists, monkeypatch):
    monkeypatch.setattr(_lines, "BLOCK", 100)
    source = read.batches(lists, label_separator=",", keep=["label"])
    whole = source.first(120)
    assert whole.y == [(1, 3), (), (1,), (7,)] * 30
    assert whole.kept["label"].tolist() == [[3, 1], [], [1, 1], [7]] * 30
    assert whole.X.shape == (120, 9)
    assert len(list(source)) > 3
    assert read.batches(lists, label_separator=",", label=False).first(1).labels is None


def test_a_bad_list_is_a_bad_record(tmp_path):
    path = tmp_path / "bad.svm"
    path.write_text("1,2 1:1\n1;2 2:1\n3 9:1\n4 4:1\n")
    with pytest.raises(read.BadInput, match=r"bad\.svm, line 2: expected whole .* got '1;2'"):
        read.batches(path, label_separator=",", n_features=4).first(1)
    found = read.batches(path, label_separator=",", skip_bad=True, n_features=4).first(4)
    assert (found.y, found.n_bad) == ([(1, 2), (4,)], 2)


def test_a_list_where_one_label_is_read_names_the_remedy(lists):
    with pytest.raises(read.BadInput, match=r"got '3,1'. With label_separator=',' a row has a li"):
        read.batches(lists).first(1)


def test_learning_from_lists_is_learning_from_the_matrix(lists, tmp_path):
    whole = read.batches(lists, label_separator=",").first(120)
    streamed = SureClassifier(random_state=0).fit_stream(lists, label_separator=",", passes=1)
    by_hand = SureClassifier(random_state=0).partial_fit(whole.X, whole.y)
    assert streamed.coef_.tobytes() == by_hand.coef_.tobytes()
    streamed.save(tmp_path / "m.sure")
    again = load(tmp_path / "m.sure")  # it remembers the separator
    assert evaluate(again, lists).micro_f1 == evaluate(by_hand, whole.X, whole.y).micro_f1


def test_the_first_block_decides_whether_rows_have_labels(tmp_path, monkeypatch):
    monkeypatch.setattr(_lines, "BLOCK", 14)
    path = tmp_path / "a.vw"
    path.write_text("1 |f a\n2 |f b\n" + "|f c\n|f d\n")
    assert [len(batch) for batch in read.batches(path, label=False)] == [2, 2]
    with pytest.raises(read.BadInput, match=r"a\.vw, line 3: expected a label, got none\."):
        list(read.batches(path))
    found = list(read.batches(path, skip_bad=True))
    assert [(batch.y.tolist(), batch.n_bad) for batch in found] == [([1, 2], 0), ([], 2)]
    path.write_text("|f c\n|f d\n" + "1 |f a\n2 |f b\n")
    assert [batch.y for batch in read.batches(path)] == [None, None]

"""Labels that are whole numbers: those of 64 bits stay apart, larger ones are refused by name."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifiers import X4
from surelearn import SureClassifier, SureTagger, SureTextClassifier, _check, load, read

BEYOND = [10**30, -(2**70), 2**64, 10**5000]
MESSAGE = "must hold whole numbers that fit int64, or uint64 if none is negative, got"


def learners(label):
    """Every way in which a label can come in."""
    y = [label, 1, label, 1]
    tokens = [list("abcd")]
    fitted = SureClassifier().fit(X4, [0, 1, 0, 1])
    return {
        "fit": lambda: SureClassifier().fit(X4, y),
        "an array of objects": lambda: SureClassifier().fit(X4, np.array(y, object)),
        "partial_fit": lambda: SureClassifier().partial_fit(X4, y),
        "classes": lambda: SureClassifier().partial_fit(X4, [1] * 4, classes=y[:2]),
        "learn_one": lambda: SureClassifier().learn_one(X4[0], label),
        "learn_one of a fitted model": lambda: fitted.learn_one(X4[0], label),
        "calibrate": lambda: fitted.calibrate(X4, y),
        "texts": lambda: SureTextClassifier().fit(list("abcd"), y),
        "tagger": lambda: SureTagger().fit(tokens, [y]),
        "classes of a tagger": lambda: SureTagger().partial_fit(tokens, [[1] * 4], classes=y[:2]),
    }


@pytest.mark.parametrize("way", learners(0))
@pytest.mark.parametrize("label", BEYOND, ids=["1e30", "-2**70", "2**64", "1e5000"])
def test_whole_numbers_beyond_64_bits_are_refused(way, label):
    with pytest.raises(ValueError, match=MESSAGE):
        learners(label)[way]()


def test_the_first_one_is_named():
    with pytest.raises(ValueError, match=rf"y {MESSAGE} {10**30} at row 2\. Use texts as labels"):
        SureClassifier().fit(X4, [0, 1, 10**30, 1])
    with pytest.raises(ValueError, match=rf"y {MESSAGE} a number of 16610 bits at row 0\."):
        SureClassifier().fit(X4, [10**5000, 1, 0, 1])
    with pytest.raises(ValueError, match=rf"classes {MESSAGE} {2**63} at row 1\."):
        SureClassifier().partial_fit(X4, [-1] * 4, classes=[-1, 2**63])


def test_tags_are_named_by_their_sequence():
    X = [["a", "b"], ["a", "b"]]
    with pytest.raises(ValueError, match=rf"y\[1\] {MESSAGE} {10**30} at row 1\."):
        SureTagger().fit(X, [[0, 1], [1, 10**30]])
    with pytest.raises(ValueError, match=rf"y {MESSAGE} {2**63} at row"):  # each alone would do
        SureTagger().fit(X, [[0, 2**63], [-1, 1]])


@given(
    st.one_of(
        st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=4, unique=True),
        st.lists(st.integers(0, 2**64 - 1), min_size=2, max_size=4, unique=True),
    ),
    st.sampled_from([list, lambda y: np.array(y, object)]),
)
def test_whole_numbers_of_64_bits_stay_apart(labels, form):
    """numpy makes doubles of 1 and 2**63, which tell no neighbours apart."""
    y = [*labels, *labels[:1]]
    clf = SureClassifier().fit(np.eye(len(y)), form(y))
    assert clf.classes_.tolist() == sorted(labels)
    tagger = SureTagger().fit([list("abcdefg")[: len(y)]], [y])
    assert tagger.classes_.tolist() == sorted(labels)


def test_unsigned_labels_come_back_from_a_file(tmp_path):
    clf = SureClassifier(class_weight={2**64 - 1: 2.0}).fit(X4, [2**64 - 1, 2**64 - 2] * 2)
    clf.save(tmp_path / "m.sure")
    back = load(tmp_path / "m.sure")
    assert back.classes_.tolist() == [2**64 - 2, 2**64 - 1]
    assert back.class_weight == clf.class_weight


def test_large_numbers_that_are_floats_are_labels():
    assert SureClassifier().fit(X4, [1e30, 1.0, 1e30, 1.0]).classes_.tolist() == [1.0, 1e30]
    with pytest.raises(TypeError, match="y must hold labels of one type, got float and int"):
        SureClassifier().fit(X4, [2**63, 1.0, 2**63, 1.0])


def test_other_kinds_of_numbers_are_refused():
    with pytest.raises(TypeError, match=r"y must hold texts, numbers or booleans, got Fraction"):
        SureClassifier().fit(X4, [Fraction(1, 2), Fraction(3)] * 2)


def test_doubles_do_not_join_whole_numbers_that_they_cannot_tell_apart():
    clf = SureClassifier().partial_fit(X4, [2**53, 2**53 + 1] * 2)
    with pytest.raises(ValueError, match="y must hold labels that fit one type with int64, got fl"):
        clf.partial_fit(X4, [1.0, 2.0, 1.0, 2.0])
    assert clf.classes_.tolist() == [2**53, 2**53 + 1]
    small = SureClassifier().partial_fit(X4, [1, 2, 1, 2]).partial_fit(X4, [3.0, 1.0, 2.0, 1.0])
    assert small.classes_.tolist() == [1, 2, 3]


@pytest.mark.parametrize("label", BEYOND, ids=["1e30", "-2**70", "2**64", "1e5000"])
def test_keys_of_class_weight_are_labels(label):
    clf = SureClassifier(class_weight={label: 2.0})
    message = "class_weight must have labels as keys, whole numbers of at most 64 bits, got"
    with pytest.raises(ValueError, match=message):
        clf.partial_fit(X4, [0, 1, 0, 1])


@pytest.mark.parametrize("label", [10**30, 2**63, -(2**63) - 1])
def test_records_with_such_labels_are_named(tmp_path, label):
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"a": 1, "label": 1}}\n{{"a": 2, "label": {label}}}\n')
    message = rf"rows.jsonl, line 2: 'label' must be a whole number that fits int64, got {label}\."
    with pytest.raises(read.BadInput, match=message):
        SureClassifier().fit_stream(path)
    assert sum(batch.n_bad for batch in read.batches(path, skip_bad=True)) == 1


@pytest.mark.parametrize("label", [10**30, -(2**53) - 2, 9007199254740993])
@pytest.mark.parametrize("form", ["svm", "vw"])
def test_sparse_rows_with_such_labels_are_named(tmp_path, label, form):
    """Their labels are read as doubles, which hold 53 bits."""
    features = {"svm": "1:1", "vw": "|f a"}[form]
    path = tmp_path / f"rows.{form}"
    path.write_text(f"1 {features}\n{label} {features}\n")
    message = rf"rows.{form}, line 2: expected a label of 53 bits at most, got "
    with pytest.raises(read.BadInput, match=message):
        SureClassifier().fit_stream(path)
    assert sum(batch.n_bad for batch in read.batches(path, skip_bad=True)) == 1


def test_merged_models_have_labels_of_one_type():
    _check.labels_agree(np.array([0, 1]), np.array([True, False]))
    with pytest.raises(TypeError, match=r"one type to be merged, got 'a' \(<U1\) and 0 \(int64\)"):
        _check.labels_agree(np.array(["a"]), np.array([0]))


def test_settings_of_many_labels_are_compared_by_value_and_type():
    nan = float("nan")
    for got, allowed in (("".join(["o", "vr"]), ["ovr"]), (nan, [nan]), (None, ["a", None])):
        _check.for_many_labels("multiclass", got, allowed)
    for got, allowed in ((1, [True]), ("ovo", ["ovr"]), (None, ["a"])):
        with pytest.raises(ValueError, match=f"multiclass must be .*{got!r}"):
            _check.for_many_labels("multiclass", got, allowed)


def test_a_missing_date_is_named_by_its_row():
    dates = np.array(["2026-01-01", "NaT", "NaT"], "datetime64[D]")
    with pytest.raises(ValueError, match=r"y must have no missing labels, got NaT at row 1\."):
        _check.labels(dates)
    assert _check.labels(dates[:1]) is not None

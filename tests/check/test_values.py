"""Numbers, counts, flags and functions: each parameter is checked before anything is done."""

from __future__ import annotations

import math
import os
import sys
from fractions import Fraction

import joblib
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from classifiers import X4, Y4
from surelearn import (
    SureClassifier,
    SureTagger,
    SureTextClassifier,
    _check,
    evaluate,
    predict,
    read,
    rules,
    tune,
)
from surelearn._check import _values
from surelearn.active import query, simulate
from surelearn.datasets import load_docstrings
from surelearn.evaluation import evaluate_tagger
from surelearn.prediction import predict_tags

TEXTS = ["a fine film", "a dull film", "how fine", "how dull"]
SEQUENCES, TAGS = [["the", "dog"], ["a", "cat"]], [["DET", "NOUN"], ["DET", "NOUN"]]


@pytest.mark.parametrize("fitted", [False, True])
def test_resume_is_a_flag(files, fitted):
    """The name of a model once started it anew without a word."""
    clf = SureClassifier().fit(X4, Y4) if fitted else SureClassifier()
    text = SureTextClassifier().fit(TEXTS, Y4) if fitted else SureTextClassifier()
    tagger = SureTagger().fit(SEQUENCES, TAGS) if fitted else SureTagger()
    for estimator, kind in ((clf, "jsonl"), (text, "jsonl"), (tagger, "conll")):
        with pytest.raises(TypeError, match=r"resume must be True or False, got 'model\.sure'"):
            estimator.fit_stream(files[kind], resume="model.sure")


@pytest.mark.parametrize("kind", ["jsonl", "csv", "tsv", "parquet", "arrow", "svm", "vw"])
def test_flags_of_readers(files, kind):
    with pytest.raises(TypeError, match="skip_bad must be True or False, got 'no'"):
        read.batches(files[kind], skip_bad="no")
    with pytest.raises(TypeError, match="zero_based must be True or False, got 1"):
        read.batches(files[kind], zero_based=1)
    clf = SureClassifier().fit(X4, Y4)
    with pytest.raises(TypeError, match="skip_bad must be True or False, got 'no'"):
        clf.fit_stream(files[kind], skip_bad="no")
    with pytest.raises(TypeError, match="skip_bad must be True or False, got 'no'"):
        evaluate(clf, files[kind], skip_bad="no")
    with pytest.raises(TypeError, match="skip_bad must be True or False, got 'no'"):
        predict(clf, files[kind], skip_bad="no")


def test_flags_of_other_functions(files, no_registered_rules):
    with pytest.raises(TypeError, match="skip_bad must be True or False, got 'no'"):
        read.sentences(files["conll"], skip_bad="no")
    tagger = SureTagger().fit(SEQUENCES, TAGS)
    with pytest.raises(TypeError, match="confidence must be True or False, got 'no'"):
        predict_tags(tagger, files["conll"], confidence="no")
    with pytest.raises(TypeError, match="replace must be True or False, got 'no'"):
        rules.register("timid", lambda m, v: (0.1, 0.1), replace="no")
    with pytest.raises(TypeError, match="verbose must be a whole number, got 'no'"):
        tune(SureClassifier(), X4, Y4, verbose="no")
    with pytest.raises(TypeError, match="return_X_y must be True or False, got 'no'"):
        load_docstrings(return_X_y="no")
    with pytest.raises(TypeError, match="batch must be True or False, got 'no'"):
        query(SureClassifier().fit(X4, Y4), X4, batch="no")


def test_progress_is_a_function(files):
    clf = SureClassifier().fit(X4, Y4)
    tagger = SureTagger().fit(SEQUENCES, TAGS)
    for call in (
        lambda: clf.fit_stream(files["jsonl"], progress=True),
        lambda: tagger.fit_stream(files["conll"], progress=True),
        lambda: evaluate(clf, X4, Y4, progress=True),
        lambda: evaluate_tagger(tagger, SEQUENCES, TAGS, progress=True),
        lambda: simulate(X4, Y4, progress=True),
    ):
        with pytest.raises(TypeError, match="progress must be a function or None, got True"):
            call()


# ---------------------------------------------------------------------------- numbers


@given(
    x=st.one_of(st.floats(), st.integers(-3, 3), st.just(10**400)),
    low=st.integers(-2, 2),
    width=st.integers(0, 3),
    closed=st.booleans(),
)
@example(x=1.0, low=0, width=1, closed=True)
@example(x=0, low=0, width=1, closed=False)
def test_a_number_is_in_its_interval_or_named_with_it(x, low, width, closed):
    high = low + width
    where = f"{'[' if closed else '('}{low}, {high})"
    if (low <= x if closed else low < x) and x < high:
        assert _check.number("eta", x, where, low=low, high=high) == float(x)
    else:
        with pytest.raises(ValueError, match=f"^eta must be in .{low}, {high}., got "):
            _check.number("eta", x, where, low=low, high=high)


@pytest.mark.parametrize("value", [True, "1", None, 1j, [1.0]])
def test_what_is_no_number(value):
    with pytest.raises(TypeError, match=r"^r must be a number, got "):
        _check.positive("r", value)


def test_parameters_of_rules_are_within_what_formulas_bear():
    for value in (1e-30, Fraction(1, 3), np.float32(1), 1e30):
        assert _check.positive("r", value) == float(value)
    for value in (0, 9e-31, 1.1e30, math.inf, math.nan):
        with pytest.raises(ValueError, match=r"^r must be in \[1e-30, 1e30\], got "):
            _check.positive("r", value)


@given(st.integers(), st.integers(-3, 3))
def test_counts_have_a_least_and_a_largest_value(value, least):
    if least <= value <= 100:
        assert type(_check.count("k", np.int64(value), least=least, most=100)) is int
    else:
        bound = f"at least {least}" if value < least else "at most 100"
        with pytest.raises(ValueError, match=f"^k must be {bound}, got {value}.$"):
            _check.count("k", value, least=least, most=100)


@pytest.mark.parametrize(
    ("value", "n"), [(False, 0), (True, 1), (np.True_, 1), (0, 0), (3, 3)], ids=repr
)
def test_verbosity_is_a_flag_or_a_count(value, n):
    assert _check.verbosity(value) == n


@pytest.fixture
def six_cores(monkeypatch):
    monkeypatch.setattr(_values, "cores", lambda: 6)


@pytest.mark.usefixtures("six_cores")
def test_threads_are_as_in_scikit_learn():
    asked = (None, -1, -2, -6, -7, -99, 1, 2, 6)
    assert [_check.threads("n_jobs", n) for n in asked] == [1, 6, 5, 1, 1, 1, 1, 2, 6]
    with pytest.raises(ValueError, match=r"^n_jobs must be None, negative or at least 1, got 0\.$"):
        _check.threads("n_jobs", 0)
    for value in ("2", 1.0, True):
        with pytest.raises(TypeError, match=r"^n_jobs must be a whole number, got "):
            _check.threads("n_jobs", value)


@pytest.mark.parametrize("n", [None, *range(-9, 0)])
def test_threads_are_those_of_joblib(real_cores, monkeypatch, n):
    monkeypatch.setattr(_values, "cores", real_cores)
    assert _check.threads("n_jobs", n) == joblib.effective_n_jobs(n)


@pytest.mark.usefixtures("six_cores")
def test_more_threads_than_cores_would_only_wait():
    assert [_check.threads("n_jobs", n) for n in (7, 10**9)] == [6, 6]
    with joblib.parallel_config(n_jobs=16):
        assert _check.threads("n_jobs", None) == 6


@pytest.mark.parametrize("how", [{"backend": "threading"}, {}])
@pytest.mark.usefixtures("six_cores")
def test_a_context_of_joblib_says_how_many_threads(how):
    with joblib.parallel_config(n_jobs=3, **how):
        assert [_check.threads("n_jobs", n) for n in (None, 1, 2)] == [3, 1, 2]
    assert _check.threads("n_jobs", None) == 1


def test_without_joblib_one_thread_is_enough(monkeypatch):
    monkeypatch.delitem(sys.modules, "joblib")
    assert _check.threads("n_jobs", None) == 1
    assert "joblib" not in sys.modules  # its import takes half a second


@pytest.mark.parametrize("most", ["1", "2", "1000", "many"])
def test_cores_are_those_of_joblib(real_cores, monkeypatch, most):
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1" if most == "many" else most)
    expected = joblib.cpu_count()
    if most == "many":  # joblib raises: this is no number
        monkeypatch.delenv("LOKY_MAX_CPU_COUNT")
        expected = joblib.cpu_count()
        monkeypatch.setenv("LOKY_MAX_CPU_COUNT", most)
    assert real_cores() == expected


def test_cores_are_those_that_the_process_is_bound_to(real_cores, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 5, 9}, raising=False)
    assert real_cores() <= 3
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert real_cores() == 1


@pytest.mark.parametrize(
    ("written", "n"),
    [
        ({"cpu.max": "250000 100000\n"}, 3),
        ({"cpu.max": "max 100000\n"}, None),
        ({"cpu/cpu.cfs_quota_us": "50000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 1),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ({"cpu.max": ""}, None),
        ({}, None),
    ],
)
def test_the_quota_of_a_container_counts(tmp_path, written, n):
    for name, text in written.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert _values.quota(str(tmp_path)) == n

"""Histories and models that a pool cannot go on from."""

from __future__ import annotations

import re

import numpy as np
import pytest

from surelearn import _check

GOOD = {"random_state": 3, "steps": []}


@pytest.mark.parametrize(
    "more",
    [{}, {"drawn": [1]}, {"learnt_before": None}, {"learnt_before": 5}]
    + [{"label_type": kind} for kind in (None, "bool", "int64", "float32")],
)
def test_a_history_may_leave_out_what_pools_did_not_write_at_first(more):
    _check.history({**GOOD, **more})


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ([GOOD], TypeError, "history must be a dict like Pool.history, got [{'random_state': 3"),
        ({"steps": []}, ValueError, "history['random_state'] must be an int, got None."),
        ({**GOOD, "steps": {}}, ValueError, "history['steps'] must be a list, got {}."),
        ({**GOOD, "drawn": None}, ValueError, "history['drawn'] must be a list, got None."),
        ({**GOOD, "learnt_before": "x"}, ValueError, "must be an int or None, got 'x'."),
        ({**GOOD, "label_type": 3}, ValueError, "must be a str or None, got 3."),
        ({**GOOD, "label_type": "object"}, ValueError, "history['label_type'] must be one of"),
    ],
)
def test_what_no_pool_has_written(value, error, message):
    with pytest.raises(error, match=re.escape(message)):
        _check.history(value)


@pytest.mark.parametrize("kind", ["tell", "skip"])
def test_a_step_has_the_list_that_its_kind_needs(kind):
    part = {"tell": "answers", "skip": "rows"}
    assert _check.history_step("step 0", {"kind": kind, part[kind]: []}, part) == kind
    other = {"kind": kind, part["tell" if kind == "skip" else "skip"]: []}
    with pytest.raises(ValueError, match=f"step 0 must have {part[kind]}, a list, got {{'kind'"):
        _check.history_step("step 0", other, part)


def test_the_seed_of_a_history_may_be_given_again():
    for again in (None, 7, np.int64(7)):
        _check.same_seed(again, 7)
    for other in (8, 7.0, np.random.default_rng(7)):
        with pytest.raises(ValueError, match=r"random_state must be None or 7 with history, got"):
            _check.same_seed(other, 7)


def test_a_row_without_a_fingerprint_is_taken_for_the_same():
    _check.same_row(4, None, 17)
    _check.same_row(4, 17, 17)
    with pytest.raises(
        ValueError, match="row 4 of X must be the row that was answered before, got anot"
    ):
        _check.same_row(4, 17, 18)


@pytest.mark.parametrize(
    ("expected", "n_answers", "got"),
    [(0, 5, 0), (0, 5, 5), (0, 5, None), (3, 5, 3), (None, 5, None)],
)
def test_models_that_are_as_the_pool_found_or_left_them(expected, n_answers, got):
    _check.learnt_before(expected, n_answers, got)


@pytest.mark.parametrize(
    ("expected", "n_answers", "got", "message"),
    [
        (0, 5, 4, "learnt 0 rows, .* history, or 5 as after the last, got one that has learnt 4"),
        (3, 5, 8, "learnt 3 rows, as before the first answer of history, got .* learnt 8"),
        (3, 5, 0, "learnt 3 rows, .* got one that has learnt nothing"),
        (3, 5, None, "learnt 3 rows, .* got one that has learnt rows"),
        (None, 5, 0, "learnt rows, .* got one that has learnt nothing"),
    ],
)
def test_models_that_have_learnt_something_else(expected, n_answers, got, message):
    with pytest.raises(ValueError, match=f"model must have {message}"):
        _check.learnt_before(expected, n_answers, got)


def test_labels_of_a_start_are_for_models_that_know_nothing():
    _check.not_learnt(0)
    with pytest.raises(ValueError, match="for a model that has learnt 3 rows, which may be these"):
        _check.not_learnt(3)
    with pytest.raises(ValueError, match="for a model that has learnt rows, which may be these"):
        _check.not_learnt(None)


def test_batches_need_a_linear_model():
    _check.linear_batch("model", is_linear=True)
    with pytest.raises(ValueError, match="batch must be False for str, got True"):
        _check.linear_batch("model", is_linear=False)

"""Settings and labels of a model's file: through JSON and back, or refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surelearn import constraints, rules
from surelearn._check import FormatError
from surelearn.decode import all_pairs
from surelearn.files import Fields
from surelearn.learners.file_parts import (
    labels_in,
    labels_out,
    params_in,
    plain,
    temperature_in,
    within,
)

PARAMS = {"rule": "arow", "constraints": "single"}


def through_json(**params):
    """Parameters as a file gives them back."""
    made = {name: plain(name, value) for name, value in {**PARAMS, **params}.items()}
    return params_in(json.loads(json.dumps(made)))


@pytest.mark.parametrize(
    "params",
    [
        {"rule": rules.SCW1(phi=2.0, C=3.0)},
        {"constraints": constraints.Parallel(mixing=[1, 3])},
        {"multiclass": all_pairs(3)},
        {"multiclass": "ovr"},
        {"ngram_range": (1, 3)},
        {"class_weight": {"a": 2.0, "b": 0.5}},
        {"class_weight": "balanced"},
        {"random_state": 7},
    ],
    ids=repr,
)
def test_parameters_come_back(params):
    assert through_json(**params) == {**PARAMS, **params}


def test_threads_of_a_file_of_an_older_version_are_left_out():
    assert params_in({**PARAMS, "n_jobs": 2}) == PARAMS


def test_what_json_has_no_word_for_is_plain():
    found = through_json(
        passes=np.int64(3),
        dtype=np.float64,
        cost=np.eye(2, dtype=int),
        random_state=np.random.default_rng(0),
        class_weight={np.int64(1): np.float32(2)},
        templates=("w[0]", np.str_("w[1]")),
    )
    assert found == {
        **PARAMS, "passes": 3, "dtype": "float64", "cost": [[1.0, 0.0], [0.0, 1.0]],
        "random_state": None, "class_weight": {1: 2.0}, "templates": ["w[0]", "w[1]"],
    }  # fmt: skip


def test_a_name_stays_one_while_it_means_the_same():
    assert through_json(rule="arow")["rule"] == "arow"
    assert through_json(rule=rules.AROW())["rule"] == rules.AROW()
    old = plain("rule", "arow")
    old["params"] = {"r": 0.25}  # what the default was then
    assert params_in({**PARAMS, "rule": old})["rule"] == rules.AROW(r=0.25)


def test_a_function_needs_a_name():
    with pytest.raises(ValueError, match="rule must have a name to be saved, got "):
        plain("rule", lambda m, v: (0.0, 0.0))
    with pytest.raises(TypeError, match=r"class_weight must have labels as keys .*, got \(1, 2\)"):
        plain("class_weight", {(1, 2): 1.0})


LABELS = st.one_of(
    st.lists(st.text("ab\u00e9", min_size=1), unique=True, max_size=5),
    st.lists(st.integers(-(2**63), 2**63 - 1), unique=True, max_size=5),
    st.lists(st.booleans(), unique=True),
    st.lists(st.integers(-99, 99).map(float), unique=True, max_size=5),
)


@given(LABELS)
def test_labels_come_back_with_their_type(labels):
    classes = np.unique(labels) if labels else np.zeros(0, np.int64)
    fields = Fields(json.loads(json.dumps(labels_out(classes))), "m.sure")
    found = labels_in(fields, 2**20)
    assert (found.tolist(), found.dtype) == (classes.tolist(), classes.dtype)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"kind": "str", "values": ["b", "a"]}, "values must be sorted and distinct"),
        ({"kind": "str", "values": ["a", "a"]}, "values must be sorted and distinct"),
        ({"kind": "str", "values": ["a", 3]}, "values must all be of kind 'str'"),
        (
            {"kind": "complex128", "values": []},
            r"kind must be one of \('str', .*, got 'complex128'",
        ),
        ({"kind": "str", "values": ["a", "b" * 300]}, "at most 2000 bytes .*, got 2400"),
    ],
)
def test_damaged_labels_are_refused(labels, message):
    with pytest.raises(FormatError, match=message):
        labels_in(Fields(labels, "m.sure"), 2000)


def test_labels_that_no_file_holds():
    with pytest.raises(TypeError, match=r"labels must be texts, numbers or .*, got 1j"):
        labels_out(np.array([1j]))


def test_a_temperature_may_be_missing_and_has_a_range():
    assert temperature_in(Fields({}, "m.sure")) is None
    assert temperature_in(Fields({"temperature": 2.5}, "m.sure")) == 2.5
    with pytest.raises(ValueError, match=r"temperature must be in \[1e-5, 1e5\), got 0"):
        temperature_in(Fields({"temperature": 0.0}, "m.sure"))


def test_bytes_are_counted_to_the_last_one():
    within(100, 100, "m.sure")
    with pytest.raises(FormatError, match=r"m\.sure must need at most 0 bytes .*, got 1\. Pass"):
        within(1, -5, "m.sure")

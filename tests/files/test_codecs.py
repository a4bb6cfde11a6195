"""Kinds of models in files: what is packed is unpacked, and what does not fit is damage."""

from __future__ import annotations

import io

import numpy as np
import pytest

from surelearn._check import FormatError
from surelearn.files import Codec, _codecs, load, register, save


@pytest.fixture(autouse=True)
def kinds(monkeypatch):
    """A list of kinds of the test's own."""
    monkeypatch.setattr(_codecs, "_CODECS", dict(_codecs._CODECS))


def packed(model):
    name, numbers = model
    return {"name": name}, {"numbers": np.asarray(numbers, dtype=np.float64)}


def unpacked(fields, tensors, budget):
    return fields.text("name"), tensors["numbers"].tolist(), budget


def written(kind, model, unpack=unpacked):
    """The file of a model, at its begin."""
    register(kind, Codec(packed, unpack))
    file = io.BytesIO()
    save(kind, model, file)
    file.seek(0)
    return file


def test_a_new_kind_comes_back_with_the_bytes_that_are_left():
    file = written("toy", ("a", [1.0, 2.0]))
    assert load(file, max_bytes=1000) == ("a", [1.0, 2.0], 1000 - 16)


def test_each_kind_is_read_by_its_codec():
    first = written("toy", ("a", [1.0]))
    second = written("other", ("b", [2.0]), lambda fields, tensors, budget: "of the other kind")
    assert load(second) == "of the other kind"
    assert load(first)[0] == "a"


def test_kinds_that_are_not_known_are_refused_with_those_that_are():
    file = written("toy", ("a", [1.0]))
    del _codecs._CODECS["toy"]
    with pytest.raises(FormatError, match=r"kind must be one of .*, got 'toy'"):
        load(file)


@pytest.mark.parametrize(
    "error", [KeyError("mu"), ValueError("too small"), TypeError("no array"), OverflowError("inf")]
)
def test_what_does_not_fit_is_damage(error):
    def unpack(fields, tensors, budget):
        raise error

    file = written("toy", ("a", [1.0]), unpack)
    with pytest.raises(FormatError, match="must be a valid model, got a damaged one: "):
        load(file)


@pytest.mark.parametrize("error", [FormatError("in its own words"), MemoryError("none left")])
def test_other_errors_come_out_as_they_are(error):
    def unpack(fields, tensors, budget):
        raise error

    with pytest.raises(type(error), match=rf"^{error}$") as caught:
        load(written("toy", ("a", [1.0]), unpack))
    assert caught.value is error


def test_the_bytes_allowed_are_a_count():
    with pytest.raises(ValueError, match="max_bytes must be at least 1, got 0"):
        load(written("toy", ("a", [1.0])), max_bytes=0)

"""The container of docs/format.md: what a file is made of, and its checksum."""

from __future__ import annotations

import io
import json
import re
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load as load_tensors

from containers import (
    KINDS,
    MODELS,
    classifier,
    content,
    put_together,
    refused,
    settings_of,
    taken_apart,
    tensors_of,
    with_settings,
)
from surelearn import FormatError, SureClassifier, load
from surelearn.files import FORMAT_VERSION, _container

PAGE = Path(__file__).parents[2] / "docs" / "format.md"


@pytest.fixture(scope="module", params=KINDS)
def whole(request):
    """The file of a small model of every kind."""
    return content(KINDS[request.param]())


# --------------------------------------------------------------------- checksum


def flipped(data, bit):
    damaged = bytearray(data)
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)


def test_a_flipped_bit_is_found(whole):
    """Sampled: all of the length, and every 23rd bit of the rest."""
    bits = 8 * len(whole)
    assert not refused(whole)
    passed = [bit for bit in (*range(64), *range(64, bits, 23)) if not refused(flipped(whole, bit))]
    assert passed == []


@pytest.mark.slow
def test_every_flipped_bit_is_found(whole):
    assert [bit for bit in range(8 * len(whole)) if not refused(flipped(whole, bit))] == []


@given(data=st.data())
def test_damage_of_any_size_is_found(data):
    whole = bytearray((MODELS / "0.1.0-format2-text-classifier.sure").read_bytes())
    before = bytes(whole)
    at = data.draw(st.integers(0, len(whole) - 1))
    length = data.draw(st.integers(1, 64))
    whole[at : at + length] = data.draw(st.binary(max_size=64))
    assert refused(bytes(whole)) or bytes(whole).startswith(before)


def test_what_is_wrong_is_said(tmp_path, whole):
    path = tmp_path / "m.sure"
    settings = settings_of(whole)
    header, body = taken_apart(whole)
    text = json.dumps(header).encode()
    without = struct.pack("<Q", len(text)) + text + body
    early = {**header, "last": {"dtype": "U8", "shape": [0], "data_offsets": [len(body)] * 2}}
    early = put_together(early, body).replace(b'"last"', b'"~~~~"')
    for data, message in [
        (flipped(whole, 8 * len(whole) - 300), "m.sure must match its checksum, got other bytes"),
        (early, "m.sure must match its checksum"),
        (without, "m.sure must have a checksum, got none"),
        (whole + b"\0", r"m.sure must be a safetensors file, .*: \d+ bytes must be there, got"),
        (whole[:-1], r"m.sure must be a safetensors file, .*: \d+ bytes must be there, got"),
        (whole[:100], r"m.sure must be a safetensors file, .*: \d+ bytes are missing at its end"),
        (b"\xff" * 64, r"m\.sure must be a surelearn model, got another kind of file\."),
        (b'{"text": "no model"}', "got another kind of file"),
        (with_settings(whole, {**settings, "format": 3}), "must have format 2 or older, got 3"),
        (with_settings(whole, "{"), "m.sure must have settings in JSON, got a damaged one"),
        (with_settings(whole, '{"format": NaN}'), "m.sure must have settings in JSON"),
        (with_settings(whole, "[" * 10**5), "m.sure must have settings in JSON"),
    ]:
        path.write_bytes(data)
        with pytest.raises(FormatError, match=message):
            load(path)


@pytest.mark.parametrize(
    "entry",
    [
        None,
        {"dtype": "F32"},
        {"dtype": "F16", "shape": [0], "data_offsets": [0, 0]},
        {"dtype": "U8", "shape": [-1], "data_offsets": [0, 0]},
        {"dtype": "U8", "shape": [1.0], "data_offsets": [0, 1]},
        {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
        {"dtype": "F64", "shape": [2**61, 0], "data_offsets": [0, 0]},
        {"dtype": "U8", "shape": [2**61, 2**61], "data_offsets": [0, 2**61]},
        {"dtype": "U8", "shape": [0, 0, 0], "data_offsets": [0, 0]},
        {"dtype": "U8", "shape": [0], "data_offsets": [1, 1]},
        {"dtype": "U8", "shape": [0], "data_offsets": [0]},
        {"dtype": "F64", "shape": [2**40], "data_offsets": [0, 2**43]},
    ],
)
def test_tensors_that_do_not_fit_are_refused(whole, entry):
    header, body = taken_apart(whole)
    with pytest.raises(FormatError, match=r"<BytesIO>.* must"):
        load(io.BytesIO(put_together({**header, "more": entry}, body)))


def test_a_file_of_version_1_is_checked_where_it_has_a_checksum(whole):
    old = with_settings(whole, {**settings_of(whole), "format": 1})
    assert not refused(old)
    assert refused(flipped(old, 8 * len(old) - 300))


def test_labels_that_take_too_long_a_header_are_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(_container, "_LONGEST", 500)
    message = "labels and parameters must take at most 500 bytes in a file, got"
    with pytest.raises(ValueError, match=message):
        classifier().save(tmp_path / "m.sure")
    assert not list(tmp_path.iterdir())


def test_large_files_are_checked_in_a_thread(monkeypatch):
    """As a file of more than four megabytes is."""
    whole = content(classifier())
    monkeypatch.setattr(_container, "_CHUNK", 16)
    assert content(load(io.BytesIO(whole))) == whole
    assert all(refused(flipped(whole, bit)) for bit in range(64, 8 * len(whole), 497))


# ---------------------------------------------------------------------- container


def test_the_page_is_enough_to_write_a_reader(tmp_path):
    (reader,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert reader.count("\n") < 22
    scope: dict[str, object] = {}
    exec(reader, scope)
    assert f"version {FORMAT_VERSION}" in PAGE.read_text().partition("\n")[0]
    for path in sorted(MODELS.glob("*.sure")):
        settings, tensors = scope["read"](path)
        model = load(path)
        assert settings["kind"] == type(model).__name__
        if isinstance(model, SureClassifier) and "cells" in tensors:
            K = settings["weights"]["n_columns"]
            means = np.zeros((K, model.n_features_in_ + 1))
            means[:, tensors["features"]] = tensors["cells"][:, :K].T
            factors = tensors.get("scale_factors", np.zeros(0))
            means[:, : len(factors)] *= factors
            if not settings["layout"]["averaged"]:
                np.testing.assert_array_equal(means[:, :-1], model.coef_)
    damaged = tmp_path / "m.sure"
    damaged.write_bytes(flipped((MODELS / "0.1.0-format2-full.sure").read_bytes(), 9000))
    with pytest.raises(ValueError, match=r"m\.sure is damaged"):
        scope["read"](damaged)


def test_other_readers_of_safetensors_can_read_it(whole):
    found = load_tensors(whole)
    assert found["checksum"].shape == (32,)
    assert {"features", "cells"} <= found.keys()
    header, _ = taken_apart(whole)
    assert list(header["__metadata__"]) == ["surelearn"]
    assert (8 + struct.unpack("<Q", whole[:8])[0]) % 8 == 0  # numbers are aligned
    for name, tensor in tensors_of(whole).items():
        assert header[name]["data_offsets"][0] % tensor.itemsize == 0


def test_the_same_model_gives_the_same_bytes(tmp_path, whole):
    model = load(io.BytesIO(whole))
    assert content(model) == whole
    model.save(tmp_path / "m.sure")
    assert (tmp_path / "m.sure").read_bytes() == whole


@pytest.mark.parametrize("value", [b"[]", b"{}", b'{"a":{}}', b"1"])
def test_settings_that_would_take_much_memory_are_not_parsed(value):
    """Parsed JSON takes up to thirty times the bytes of its text."""
    list_of = b"[" + b",".join([value] * 1_000_000) + b"]"
    header = b'{"a":' + list_of + b"}"
    file = io.BytesIO(struct.pack("<Q", len(header)) + header)
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match="settings that fit into max_bytes=20000000, got up"):
            load(file, max_bytes=20_000_000)
        assert tracemalloc.get_traced_memory()[1] < 4 * len(header)
    finally:
        tracemalloc.stop()


@given(
    st.recursive(st.integers() | st.text(), lambda v: st.lists(v) | st.dictionaries(st.text(), v))
)
def test_values_are_never_more_than_their_marks_tell(value):
    def count(value):
        inner = (
            value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        )
        return 1 + sum(map(count, inner))

    text = json.dumps({"a": value}).encode()
    assert count(value) <= sum(map(text.count, _container._MARKS))

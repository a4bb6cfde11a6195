"""Settings from a file: of the kind and range that was asked for, or a `FormatError`."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from containers import (
    KINDS,
    MODELS,
    content,
    put_together,
    refused,
    settings_of,
    taken_apart,
    with_settings,
)
from surelearn import FormatError
from surelearn.files import Fields


@pytest.fixture(scope="module", params=KINDS)
def whole(request):
    """The file of a small model of every kind."""
    return content(KINDS[request.param]())


FIELDS = Fields({"a": 3, "b": True, "c": "x", "d": [1, 2], "e": {}, "f": 0.5, "g": None}, "m.sure")


def test_settings_of_the_kind_that_is_asked_for():
    assert (FIELDS.integer("a"), FIELDS.number("a"), FIELDS.number("f")) == (3, 3.0, 0.5)
    assert (FIELDS.flag("b"), FIELDS.text("c", ["x"]), FIELDS.list("d")) == (True, "x", [1, 2])
    assert (FIELDS.naturals("d", 2), FIELDS.object("e"), FIELDS.has("g")) == ([1, 2], {}, True)
    assert FIELDS.text("none", default="y") == "y"
    assert list(FIELDS) == list("abcdefg")


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda f: f.integer("b"), "m.sure: b must be a whole number, got 'True'"),
        (lambda f: f.integer("f"), r"m.sure: f must be a whole number, got '0\.5'"),
        (lambda f: f.integer("a", high=2), r"m.sure: a must be in \[0, 2\], got 3"),
        (lambda f: f.number("c"), "m.sure: c must be a number, got 'x'"),
        (lambda f: Fields({"a": 10**400}, "m").number("a"), "m: a must be finite, got 1000"),
        (lambda f: f.flag("a"), "m.sure: a must be true or false, got '3'"),
        (lambda f: f.text("g"), "m.sure: g must be a text, got 'None'"),
        (lambda f: f.text("c", ["y"]), r"m.sure: c must be one of \['y'\], got 'x'"),
        (lambda f: f.list("e"), "m.sure: e must be a list, got"),
        (lambda f: f.naturals("d", 3), "m.sure: d must be 3 numbers, got 2"),
        (lambda f: Fields({"a": [1.0]}, "m").naturals("a"), "m: a must be whole numbers, not neg"),
        (lambda f: f.inner("d"), "m.sure: d must be an object, got"),
        (lambda f: Fields([], "m.sure"), "m.sure must be an object, got list"),
    ],
)
def test_others_are_refused(ask, message):
    with pytest.raises(FormatError, match=message):
        ask(FIELDS)


# ------------------------------------------------------------------- odd settings

HUGE = 10**400  # more than a double holds
ODD = [
    None, True, False, -1, 0, 1, 2, 3, 0.5, -0.0, 1e308, 1e-320, 2**31, 2**62, 2**63, 2**64, HUGE,
    "", "x", "w", "\x00", "\ud800", "NaN", [], {}, [1], [[]], ["w"], [None], {"x": 1}, [1, HUGE],
]  # fmt: skip
#: As JSON writes what Python's own would not.
RAW = ["1e3081", "-1e3081", "NaN", "Infinity", "[1, 1e3081]", "1" * 5000]


def places(settings, at=()):
    """Where values are in settings, however deep."""
    items = settings.items() if isinstance(settings, dict) else enumerate(settings)
    for key, value in items:
        yield (*at, key)
        if isinstance(value, dict | list):
            yield from places(value, (*at, key))


def with_value(settings, place, value):
    changed = copy.deepcopy(settings)
    inner = changed
    for key in place[:-1]:
        inner = inner[key]
    if value is ...:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    return changed


def test_the_range_of_ngrams_that_overflowed(whole):
    """Found once in 1.9 million damaged files."""
    settings = with_value(settings_of(whole), ("params", "ngram_range"), "@")
    text = json.dumps(settings).replace('"@"', "[1, 1e3081]")
    assert refused(with_settings(whole, text))


def test_one_odd_setting_gives_a_model_or_a_format_error(whole):
    settings = settings_of(whole)
    every = list(places(settings))
    assert len(every) > 40
    for n, place in enumerate(every):
        for m, odd in enumerate([..., *ODD]):
            if (n + m) % 3 == 0 or odd is ...:  # each value for a third of the places
                refused(with_settings(whole, json.dumps(with_value(settings, place, odd))))
        text = json.dumps(with_value(settings, place, "@@"))
        refused(with_settings(whole, text.replace('"@@"', RAW[n % len(RAW)])))


@pytest.mark.slow
def test_every_odd_setting_gives_a_model_or_a_format_error(whole):
    settings = settings_of(whole)
    for place in places(settings):
        for odd in [..., *ODD]:
            refused(with_settings(whole, json.dumps(with_value(settings, place, odd))))
        text = json.dumps(with_value(settings, place, "@@"))
        for raw in RAW:
            refused(with_settings(whole, text.replace('"@@"', raw)))


@given(data=st.data())
def test_several_odd_settings_give_a_model_or_a_format_error(data):
    name = data.draw(st.sampled_from(sorted(path.name for path in MODELS.glob("*format2*.sure"))))
    whole = (MODELS / name).read_bytes()
    settings = settings_of(whole)
    for _ in range(data.draw(st.integers(1, 4))):
        every = list(places(settings))
        place = every[data.draw(st.integers(0, len(every) - 1))]
        settings = with_value(settings, place, data.draw(st.sampled_from([..., *ODD])))
        if not settings:
            break
    refused(with_settings(whole, settings))


@given(data=st.data())
def test_odd_tensors_give_a_model_or_a_format_error(data):
    """Numbers changed, and the checksum taken anew."""
    name = data.draw(st.sampled_from(sorted(path.name for path in MODELS.glob("*format2*.sure"))))
    header, body = taken_apart((MODELS / name).read_bytes())
    body = bytearray(body)
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(0, len(body) - 1))
        body[at] = data.draw(st.sampled_from([0, 1, 127, 128, 192, 255]))
    refused(put_together(header, bytes(body)))

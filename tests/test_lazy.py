"""Names of a module that are imported on first use."""

from __future__ import annotations

import decimal
import json
from json import decoder

import pytest

from surelearn._lazy import lazily

GET = lazily("json", {"Decimal": "decimal", "decoder": ""})


def test_a_name_comes_from_its_module() -> None:
    assert GET("Decimal") is decimal.Decimal


def test_a_name_may_be_a_module_inside() -> None:
    assert GET("decoder") is decoder
    assert json.decoder is decoder


def test_others_are_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'json' has no attribute 'gone'"):
        GET("gone")

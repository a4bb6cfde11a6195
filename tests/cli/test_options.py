"""Values of options: rules, sizes, and what was asked for as keywords."""

from __future__ import annotations

import pytest

from surelearn import rules
from surelearn.cli import _options


@pytest.mark.parametrize(
    ("n_bytes", "shown"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (2**32, "4.3 GB"),
        (1e16, "10,000.0 TB"),
    ],
)
def test_sizes(n_bytes: float, shown: str) -> None:
    assert _options.size(n_bytes) == shown


def test_reading_leaves_out_what_was_not_asked() -> None:
    asked = _options.reading(text=None, label="y", features="a,b", skip_bad=False)
    assert asked == {"label": "y", "features": ["a", "b"]}


def test_rules_are_read_as_they_are_shown() -> None:
    assert _options.rule("AROW(r=0.5)") == rules.AROW(r=0.5)
    assert _options.rule("scw1(phi=1, C=2)") == rules.SCW1(phi=1, C=2)
    assert _options.rule("pa1") == "pa1"

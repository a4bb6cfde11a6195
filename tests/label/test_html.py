"""Markup is built of tags, and whatever is no tag is text."""

from __future__ import annotations

import re
from pathlib import Path

from surelearn import label
from surelearn.label.html import Html, hue_of, join, key_of, label_search, shown, tag
from surelearn.learners.explain.highlight import COLOURS, line_of, rgb

EVIL = "<script>alert('x')</script>&\"'"


def test_children_and_values_are_escaped():
    found = tag("p", EVIL, title=EVIL)
    assert "<script>" not in found
    assert found.count("&lt;script&gt;") == 2
    assert '"' not in found.partition('title="')[2].partition('"')[0]
    assert join([EVIL, Html("<b>")]).endswith("<b>")


def test_attributes_without_a_value_and_absent_ones():
    assert tag("input", disabled=True, name=None, value=False, data_key="s") == (
        '<input disabled data-key="s">'
    )
    assert tag("rect", x=1) == '<rect x="1"></rect>'
    assert tag("p", None, False, 0) == "<p>0</p>"


def test_what_cannot_be_seen_is_shown():
    found = shown("a\u202eb\x00c\u2066<\n")
    for code in ("U+202E", "U+0000", "U+2066"):
        assert f'<span class="unseen">{code}</span>' in found
    assert "\u202e" not in found
    assert found.endswith("&lt;\n")
    assert "U+200B" in shown("zero\u200bwidth")
    assert "U+000D" in shown("a\rb")
    assert shown("lines\r\nof Windows") == "lines\r\nof Windows"
    assert shown("שלום, naïve 🙂") == "שלום, naïve 🙂"


def test_ten_labels_have_keys_and_more_are_searched():
    assert [key_of(i) for i in (0, 8, 9, 10)] == ["1", "9", "0", None]
    assert label_search(10) is None
    assert 'id="find-label"' in str(label_search(11))


def test_the_page_has_the_colours_of_the_plots():
    style = (Path(label.__file__).parent / "static" / "style.css").read_text()
    for place, colour in enumerate(COLOURS):
        hue = hue_of(place)
        assert re.search(
            rf"^\.{hue}, \[data-hue=\"{hue}\"\] {{ --label: {rgb(colour)}; "
            rf"--line: {line_of(place)}; }}$",
            style,
            re.MULTILINE,
        )
    assert hue_of(len(COLOURS)) == hue_of(0)
    assert ".none," in style

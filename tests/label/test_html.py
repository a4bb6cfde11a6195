from __future__ import annotations

from surelearn.label.html import Html, join, shown, tag

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

"""Template files of CRF++ as templates of ours."""

from __future__ import annotations

import re

import pytest

from surelearn.templates import TokenFeatures, read_crfpp


def test_a_template_file_of_crfpp_is_read():
    lines = """# Unigram
U00:%x[-2,0]
U01:%x[0,0]

U05:%x[-1,0]/%x[0,0]
U10:word %x[0, 1] and %x[1,2]
U11:%x[0,0]
U
# Bigram
B
B01:%x[0,1]
""".splitlines(keepends=True)
    wanted = ["w[-2]", "w[0]", "w[-1]|w[0]", "pos[0]|c2[1]", "bias", "B:", "B:pos[0]"]
    assert read_crfpp(lines) == wanted
    assert read_crfpp(lines[1:3], ["form"]) == ["form[-2]", "form[0]"]
    features = TokenFeatures(templates=read_crfpp(lines))
    features.learn([[("a", "b", "c")]])
    assert features.templates == wanted


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("X01:%x[0,0]", "expected U or B, and places such as %x[-1,0], got 'X01:%x[0,0]'."),
        ("U01:%t[0,0]", "expected U or B, and places such as %x[-1,0], got 'U01:%t[0,0]'."),
        ("U01:%x[0]", "expected U or B, and places such as %x[-1,0], got 'U01:%x[0]'."),
        ("U01:%x[0,2]", "expected a column below 2, got 2."),
        ("U01:%x[-101,0]", "expected an offset from -100 to 100, got -101."),
    ],
)
def test_other_lines_are_refused_with_their_number(line, message):
    with pytest.raises(ValueError, match=re.escape(f"template, line 2: {message}")):
        read_crfpp(["U", line], ["w", "pos"])

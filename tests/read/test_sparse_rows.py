"""Lines that the core could not read, in words."""

from __future__ import annotations

import numpy as np
import pytest

from surelearn.read import BadInput
from surelearn.read._sparse_rows import bad_lines, bytes_of

TEXT = b"1 good 2:1\n0 bad\n"
#: Line, column, begin and size of what was found, what was expected.
FOUND = [(0, 2, 2, 4, "index:value"), (1, 2, 13, 3, "index:value")]


def test_every_bad_line_is_told_with_its_place_in_the_file():
    bad = bad_lines(FOUND, bytes_of(TEXT), first_line=10, name="a.svm", skip_bad=True)
    assert bad == [
        (10, "expected index:value, got 'good'."),
        (11, "expected index:value, got 'bad'."),
    ]


def test_the_first_bad_line_is_raised_with_the_lines_before_it():
    with pytest.raises(BadInput, match=r"a\.svm, line 11: .* got 'bad'\. With skip_bad") as caught:
        bad_lines(FOUND[1:], bytes_of(TEXT), first_line=10, name="a.svm", skip_bad=False)
    assert caught.value.n_before == 1


def test_no_bad_line_is_no_error():
    assert bad_lines([], bytes_of(TEXT), first_line=1, name="a.svm", skip_bad=False) == []


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, np.array])
def test_bytes_are_read_where_they_lie(kind):
    block = kind(np.frombuffer(TEXT, np.uint8)) if kind is np.array else kind(TEXT)
    found = bytes_of(block)
    assert found.tobytes() == TEXT
    assert np.shares_memory(found, np.frombuffer(block, np.uint8))

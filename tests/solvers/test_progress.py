"""Lines of progress."""

from __future__ import annotations

import pytest

from surelearn.solvers import Progress, printed


@pytest.mark.parametrize(
    ("gap", "line"),
    [
        (0.0123456, "iteration 12: objective 12,345.7, gap 0.0123, 3.2 s\n"),
        (None, "iteration 12: objective 12,345.7, 3.2 s\n"),
    ],
)
def test_a_line_names_objective_gap_and_seconds(capsys, gap, line):
    report = printed(1)
    report(Progress(12, 12345.6789, gap, 3.21))
    assert capsys.readouterr().out == line


def test_nothing_is_printed_unless_asked():
    assert printed(0) is None

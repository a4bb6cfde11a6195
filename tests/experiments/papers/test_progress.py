"""The bar is for terminals; a warning is one line, once."""

from __future__ import annotations

import io
import warnings
from contextlib import redirect_stderr

from experiments.papers.progress import counted, warnings_shown


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self):
        return True


def test_the_bar_counts_and_goes():
    with redirect_stderr(Terminal()) as terminal, counted("Cases", quiet=False) as show:
        show(1, 2)
    shown = terminal.getvalue().split("\r\x1b[K")
    assert shown == ["", "Cases " + 20 * "-", "Cases ##########---------- 1/2 0:00:00", ""]


def test_the_bar_is_for_terminals():
    for stream, quiet in ((Terminal(), True), (io.StringIO(), False)):
        with redirect_stderr(stream), counted("Cases", quiet=quiet) as show:
            assert show is None
        assert stream.getvalue() == ""


def test_a_warning_is_one_line_and_the_same_one_only_once(capsys):
    with warnings_shown():
        for said in ("first", "first", "second"):
            warnings.warn(said, stacklevel=1)
    assert capsys.readouterr().err == "papers: first\npapers: second\n"


def test_a_warning_takes_the_place_of_the_bar():
    with redirect_stderr(Terminal()) as terminal, warnings_shown():
        warnings.warn("first", stacklevel=1)
    assert terminal.getvalue() == "\r\x1b[Kpapers: first\n"

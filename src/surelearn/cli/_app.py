"""The group of sub-commands, one file each; must not know what they compute.

This module imports only what typer needs: ``surelearn --help`` waits for every import here.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import rich  # noqa: F401  (sub-commands print with it: fail here if it is missing, not midway)
import typer
from typer.core import TyperGroup

from surelearn import __version__
from surelearn.cli._stopping import stoppable
from surelearn.cli.demo import demo
from surelearn.cli.evaluate import evaluate
from surelearn.cli.explain import explain
from surelearn.cli.info import info
from surelearn.cli.label import label
from surelearn.cli.merge import merge
from surelearn.cli.predict import predict
from surelearn.cli.simulate import simulate
from surelearn.cli.tag import tag
from surelearn.cli.train import train

#: The exit code of a process that a shell saw die of SIGPIPE (13): the reader of its pipe is gone.
_BROKEN_PIPE = 128 + 13


class _Commands(TyperGroup):
    """Sub-commands that print an error as one line, without a traceback."""

    def main(self, *args: Any, **more: Any) -> Any:
        try:
            return super().main(*args, **more)
        except OSError as error:  # the help page could not be written
            _say(_line(error, self))
            sys.exit(1)

    def invoke(self, ctx: Any) -> Any:
        if hasattr(sys.stdout, "reconfigure"):  # escape characters that the terminal cannot show
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            with stoppable():
                return super().invoke(ctx)
        except BrokenPipeError:
            raise typer.Exit(_BROKEN_PIPE) from None
        except (ImportError, MemoryError, OSError, TypeError, ValueError) as error:
            line = _line(error, self)
            if line is None:
                raise
            _say(line)
            raise typer.Exit(1) from None


def _say(line: str | None) -> None:
    typer.echo(f"surelearn: {line}", err=True)


def _line(error: Exception, commands: TyperGroup) -> str | None:
    """The error as one line; None if it is a bug of surelearn and needs its traceback."""
    from surelearn.cli._wording import in_options

    text = in_options(error, commands)
    if isinstance(error, MemoryError) and text in ("", "std::bad_alloc"):
        text = "there must be enough memory for this, got too little."
    if isinstance(error, ImportError) and "pip install" not in text:
        return None
    if isinstance(error, OSError) and error.strerror:
        where = "" if error.filename is None else f"{os.fspath(error.filename)}: "
        text = f"{where}{error.strerror}."
    notes = [in_options(note, commands) for note in getattr(error, "__notes__", ())]
    return " ".join(" ".join([text, *notes]).split())


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},  # sub-commands inherit it
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(train)
app.command()(predict)
app.command()(evaluate)
app.command()(explain)
app.command()(info)
app.command()(merge)
app.command()(simulate)
app.command()(label)
app.add_typer(tag, name="tag")
app.command()(demo)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"surelearn {__version__}")
        raise typer.Exit


@app.callback()
def _surelearn(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Linear classifiers that know how sure they are of every weight."""

"""The group of sub-commands, one file each; must not know what they compute.

Imports no more than typer needs: ``surelearn --help`` waits for every module named here.
"""

from __future__ import annotations

from typing import Annotated

import rich  # noqa: F401  (sub-commands print with it: better missed here than midway)
import typer

from surelearn import __version__
from surelearn.cli.demo import demo
from surelearn.cli.merge import merge

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(demo)
app.command()(merge)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"surelearn {__version__}")
        raise typer.Exit


# A callback makes this a group also while there is one sub-command only.
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

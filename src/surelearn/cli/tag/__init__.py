"""The group `surelearn tag`, one file a command; must not know what they compute.

As all modules of the command it imports no more than typer needs.
"""

from __future__ import annotations

import typer

from surelearn.cli.tag.evaluate import evaluate
from surelearn.cli.tag.predict import predict
from surelearn.cli.tag.train import train

tag = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Words of sentences: learn to tag them, tag them, count what is right.",
)
tag.command()(train)
tag.command()(predict)
tag.command()(evaluate)

"""The group `surelearn tag`, one file a command; must not know what they compute.

This module imports only what typer needs, so that ``surelearn --help`` stays quick.
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
    help="Train, use and evaluate taggers of sentences.",
)
tag.command()(train)
tag.command()(predict)
tag.command()(evaluate)

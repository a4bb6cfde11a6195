"""Options that the `tag` commands share; must not know what the commands do with them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surelearn.cli._options import Encoding, model_in

if TYPE_CHECKING:
    from surelearn.learners import Tagger

Files = Annotated[
    list[str],
    typer.Argument(
        help="CoNLL files (one token a line, in columns) or CoNLL-U (.conllu), compressed or not, "
        "or folders of them; - is standard input.",
        metavar="FILE",
        show_default=False,
    ),
]
#: The options of every command that reads sentences, in the order of the help.
SENTENCES: dict[str, Any] = {
    "columns": Annotated[
        str | None,
        typer.Option(metavar="W,POS,...", help="Names of the columns; _ skips a column."),
    ],
    "label": Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Column of tags; by default the last, or upos in CoNLL-U."
        ),
    ],
    "format": Annotated[
        str | None,
        typer.Option(metavar="FORMAT", help="conll or conllu, if the file names do not show it."),
    ],
    "encoding": Encoding,
    "skip_bad": Annotated[
        bool,
        typer.Option("--skip-bad", help="Skip and count sentences that cannot be parsed."),
    ],
}


def tagger_in(path: Path) -> Tagger:
    """Load a tagger; refuse other kinds of models."""
    tagger: Tagger = model_in(path, "tagger")
    return tagger

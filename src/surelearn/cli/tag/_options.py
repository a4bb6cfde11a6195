"""What the commands of sentences ask for, and in which words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surelearn.cli._options import Encoding

if TYPE_CHECKING:
    from surelearn import SureTagger

Files = Annotated[
    list[str],
    typer.Argument(
        help="A word a line in columns, or CoNLL-U (.conllu), or folders of them; .gz and the "
        "like are fine; - is standard input.",
        metavar="FILE",
        show_default=False,
    ),
]
#: How sentences are read, in the order of the help.
SENTENCES: dict[str, Any] = {
    "columns": Annotated[
        str | None,
        typer.Option(metavar="W,POS,...", help="Names of the columns, _ for those not to read."),
    ],
    "label": Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column of tags: the last one, upos in CoNLL-U."),
    ],
    "format": Annotated[
        str | None, typer.Option(metavar="FORMAT", help="conll or conllu, if names do not tell.")
    ],
    "encoding": Encoding,
    "skip_bad": Annotated[
        bool,
        typer.Option("--skip-bad", help="Leave out sentences that cannot be read, and count them."),
    ],
}


def tagger_in(path: Path) -> SureTagger:
    """The tagger of a file; other models are refused by name."""
    import surelearn

    model = surelearn.load(path)
    if not isinstance(model, surelearn.SureTagger):
        raise ValueError(f"{path} must be a tagger, got a {type(model).__name__}.")
    return model

"""`surelearn tag evaluate`: how good a tagger is; must not know how that is found."""

from __future__ import annotations

from typing import Any

import typer

from surelearn.cli import _options
from surelearn.cli._options import Json, Model, Quiet, reads
from surelearn.cli._progress import progress_bar
from surelearn.cli.tag._options import SENTENCES, Files, tagger_in


@reads(SENTENCES)
def evaluate(
    model: Model,
    files: Files,
    *,
    reading: dict[str, Any],
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Judge a tagger by sentences with known tags.

    Prints the share of right tags, and precision, recall and F1 of chunks, of all and of each type,
    counted as the script of the CoNLL shared tasks does. Of tags that mark no chunks, such as parts
    of speech, each word is one.

    \b
    Examples:
      surelearn tag evaluate chunks.sure test.txt
      surelearn tag evaluate pos.sure en-test.conllu --json
    """
    from surelearn.evaluation import evaluate_tagger

    tagger = tagger_in(model)
    with progress_bar("Judging", quiet=quiet) as progress:
        found = evaluate_tagger(tagger, files, progress=progress, **reading)
    if as_json:
        _options.print_json(found.to_dict())
    else:
        typer.echo(str(found))

"""`surelearn tag evaluate`: how good a tagger is; must not know how that is found."""

from __future__ import annotations

import typer

from surelearn.cli import _options
from surelearn.cli._options import Json, Model, Quiet
from surelearn.cli._progress import progress_bar
from surelearn.cli.tag._options import (
    Columns,
    Encoding,
    Files,
    Format,
    Label,
    SkipBad,
    reading,
    tagger_in,
)


def evaluate(
    model: Model,
    files: Files,
    *,
    columns: Columns = None,
    label: Label = None,
    format: Format = None,
    encoding: Encoding = None,
    skip_bad: SkipBad = False,
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

    asked = reading(
        columns=columns, label=label, format=format, encoding=encoding, skip_bad=skip_bad
    )
    tagger = tagger_in(model)
    with progress_bar("Judging", quiet=quiet) as progress:
        found = evaluate_tagger(tagger, files, progress=progress, **asked)
    if as_json:
        _options.print_json(found.to_dict())
    else:
        typer.echo(str(found))

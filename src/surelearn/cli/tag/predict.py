"""`surelearn tag predict`: the input with predicted tags; must not know how tags are predicted."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

from surelearn.cli import _options
from surelearn.cli._options import Model, Quiet, reads
from surelearn.cli._output import Output, opened
from surelearn.cli.predict import begun, prediction_bar
from surelearn.cli.tag._options import SENTENCES, Files, tagger_in

_BLANK_AT_END = re.compile(r"\n[ \t\r]*\n\Z")


@reads(SENTENCES, without=("label",))
def predict(
    model: Model,
    files: Files,
    *,
    reading: dict[str, Any],
    confidence: Annotated[
        bool,
        typer.Option(
            "--confidence",
            help="Add how sure the weights are of each tag, from 0.5 to 1. Tags with less are "
            "more often wrong; it is not the share of tags that are right.",
        ),
    ] = False,
    output: Output = None,
    quiet: Quiet = False,
) -> None:
    """Tag every token of a file; print its lines with the tag as the last column.

    In CoNLL-U the tag goes into the column that the tagger learnt, and the confidence into the
    last column.

    \b
    Examples:
      surelearn tag predict chunks.sure new.txt > tagged.txt
      surelearn tag predict pos.sure new.conllu --confidence
    """
    from surelearn.prediction import predict_tags

    if output is not None:
        _options.check_apart(output, [str(model), *files])
        _options.check_lines(output, "--output")
    tagger = tagger_in(model)
    n_bad, between = 0, ""
    with prediction_bar(output, quiet=quiet) as progress:
        found = predict_tags(tagger, files, confidence=confidence, progress=progress, **reading)
        batches = begun(found)
        with opened(output) as out:
            for batch in batches:
                text = between + _whole_lines(batch.text)
                # A file may end without a blank line: the next file must still start a sentence.
                between = "" if _BLANK_AT_END.search(text) else "\n"
                out.write(text.encode("utf-8", "backslashreplace"))
                n_bad += batch.n_bad
    if n_bad:
        sentences = "sentence was" if n_bad == 1 else "sentences were"
        typer.echo(f"surelearn: {n_bad:,} bad {sentences} skipped.", err=True)


def _whole_lines(text: str) -> str:
    """The text with a newline at its end."""
    return text if text.endswith("\n") or not text else f"{text}\n"

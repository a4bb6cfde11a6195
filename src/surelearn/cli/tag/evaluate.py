"""`surelearn tag evaluate`: scores of a tagger; must not know how they are computed."""

from __future__ import annotations

from typing import Any

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
    """Evaluate a tagger on tagged sentences.

    Prints tag accuracy, and precision, recall and F1 of chunks, overall and for each type, counted
    like the script of the CoNLL shared tasks. If the tags mark no chunks, as parts of speech do,
    each token counts as a chunk.

    \b
    Examples:
      surelearn tag evaluate chunks.sure test.txt
      surelearn tag evaluate pos.sure en-test.conllu --json
    """
    from surelearn.evaluation import evaluate_tagger

    tagger = tagger_in(model)
    with progress_bar("Evaluating", quiet=quiet) as progress:
        found = evaluate_tagger(tagger, files, progress=progress, **reading)
    _options.say(found.to_dict(), str(found), as_json=as_json)

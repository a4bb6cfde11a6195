"""`surelearn tag train`: from files of sentences to a tagger; must not know how it learns."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surelearn.cli import _options, _training
from surelearn.cli._options import Json, Quiet, reads
from surelearn.cli._training import CheckpointEvery, Jobs, Output, Passes, Resume, Rule, Seed
from surelearn.cli.tag._options import SENTENCES, Files, tagger_in

if TYPE_CHECKING:
    from surelearn import SureTagger


@reads(SENTENCES)
def train(
    files: Files,
    *,
    output: Output,
    reading: dict[str, Any],
    template: Annotated[
        list[str] | None,
        typer.Option(metavar="TEMPLATE", help="What to look at, such as 'w[-1]|w[0]'; repeat it."),
    ] = None,
    templates: Annotated[
        Path | None,
        typer.Option(dir_okay=False, help="A file of templates, one a line, or one of CRF++."),
    ] = None,
    n_features: Annotated[
        int | None, typer.Option(min=1, help="Places that features are hashed to.")
    ] = None,
    rule: Rule = None,
    passes: Passes = None,
    resume: Resume = False,
    checkpoint_every: CheckpointEvery = "60s",
    jobs: Jobs = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Learn to tag words, from files of any size or from a stream.

    The model is written every minute, in the end, and when Ctrl-C stops training; --resume then
    goes on where it was.

    \b
    Examples:
      surelearn tag train train.txt -o chunks.sure
      surelearn tag train train.txt --columns w,pos,_,ner --label ner -o names.sure
      surelearn tag train en-train.conllu --template 'w[0]' --template 'w[0][-3:]' -o pos.sure
    """
    begin = time.monotonic()
    asked = {
        "templates": _templates(template, templates, reading.get("columns")),
        "n_features": n_features,
        "rule": None if rule is None else _options.rule(rule),
        "n_jobs": jobs,
    }
    asked = {name: value for name, value in asked.items() if value is not None}
    with _training.writing(output, files) as checkpoint:
        model, going_on = _prepared(output, asked, resume=resume, seed=seed)
        learnt = _training.learn(
            model, files, checkpoint, quiet=quiet, every=checkpoint_every, passes=passes,
            resume=going_on, **reading,
        )  # fmt: skip
    report = _training.report(model, output, learnt, begin, what="sentences")
    if as_json:
        _options.print_json(report)
    else:
        typer.echo(_training.in_words(report, files, "sentences", "tags"))


def _prepared(
    output: Path, asked: dict[str, Any], *, resume: bool, seed: int
) -> tuple[SureTagger, bool]:
    """The tagger, and whether it goes on with what it knows."""
    import surelearn

    if resume and output.exists():
        return tagger_in(output).set_params(**asked), True
    return surelearn.SureTagger(random_state=seed, **asked), False


def _templates(
    given: list[str] | None, path: Path | None, columns: list[str] | None
) -> list[str] | None:
    """Templates one by one, and those of a file."""
    found = list(given or ())
    if path is not None:
        found += _in_file(path, columns)
        if not found:
            raise ValueError(f"{path} must have at least one template, got none.")
    return found or None


def _in_file(path: Path, columns: list[str] | None) -> list[str]:
    from surelearn.templates import read_crfpp

    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    if any("%x[" in line for line in lines):
        return read_crfpp(lines, columns)
    return [line for line in lines if line and not line.startswith("#")]

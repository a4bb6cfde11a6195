"""`surelearn tag train`: trains a tagger on files; must not know how taggers learn."""

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
        typer.Option(metavar="TEMPLATE", help="A feature, such as 'w[-1]|w[0]'; may be repeated."),
    ] = None,
    templates: Annotated[
        Path | None,
        typer.Option(dir_okay=False, help="A file with one template a line, or of CRF++."),
    ] = None,
    n_features: Annotated[
        int | None, typer.Option(min=1, help="Size of the hashed feature space.")
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
    """Train a tagger on files of any size, or on a stream.

    The model is written every minute, at the end, and when Ctrl-C stops training. --resume
    continues from there.

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
    """The tagger, and whether training continues from an earlier run."""
    import surelearn

    if resume and output.exists():
        return tagger_in(output).set_params(**asked), True
    return surelearn.SureTagger(random_state=seed, **asked), False


def _templates(
    given: list[str] | None, path: Path | None, columns: list[str] | None
) -> list[str] | None:
    """Templates given one by one, followed by those of a file."""
    found = list(given or ())
    if path is not None:
        found += _in_file(path, columns)
        if not found:
            raise ValueError(f"{path} must have at least one template, got none.")
    return found or None


def _in_file(path: Path, columns: list[str] | None) -> list[str]:
    from surelearn.templates import read_crfpp

    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    if any("%x[" in line for line in lines):  # the syntax of CRF++
        return read_crfpp(lines, columns)
    return [line for line in lines if line and not line.startswith("#")]

"""`surelearn tag train`: trains a tagger on files; must not know how taggers learn."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surelearn.cli import _options, _solving, _training
from surelearn.cli._options import reads, takes
from surelearn.cli._training import Output, Passes, Rule, Run
from surelearn.cli.tag._options import SENTENCES, Files, tagger_in

if TYPE_CHECKING:
    from surelearn.training.claim import Claim

#: Kinds of taggers, and which of them an option is for.
_KINDS = {"sure": "SureTagger", "crf": "CRFTagger", "svm": "SVMTagger"}
_FOR = {"rule": "sure", "passes": "sure", "l2": "crf", "l1": "crf", "C": "svm"}

Kind = Annotated[
    str | None,
    typer.Option(metavar="KIND", help="sure, which learns online and is the default, crf or svm."),
]
L2 = Annotated[float | None, typer.Option(help="crf: penalty of squared weights; default 1.")]
L1 = Annotated[float | None, typer.Option(help="crf: penalty of absolute weights; default 0.")]
LossWeight = Annotated[
    float | None, typer.Option("--C", help="svm: weight of the losses; default 1.")
]


@takes("run", Run)
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
    model: Kind = None,
    l2: L2 = None,
    l1: L1 = None,
    C: LossWeight = None,
    rule: Rule = None,
    passes: Passes = None,
    run: Run,
) -> None:
    """Train a tagger on files.

    By default it learns online, from files of any size or a stream. The model is written every
    minute, at the end, and when Ctrl-C stops training. --resume continues from there.

    With --model crf it is a conditional random field, and with --model svm a support vector machine
    over sequences. These need all sentences in memory. Ctrl-C writes the best model so far.
    --resume starts a crf from the weights in --output.

    \b
    Examples:
      surelearn tag train train.txt -o chunks.sure
      surelearn tag train train.txt --model crf --l2 0.5 -o chunks.sure
      surelearn tag train train.txt --columns w,pos,_,ner --label ner -o names.sure
      surelearn tag train en-train.conllu --template 'w[0]' --template 'w[0][-3:]' -o pos.sure
    """
    begin = time.monotonic()
    asked = {
        "templates": _templates(template, templates, reading.get("columns")),
        "n_features": n_features,
        "rule": None if rule is None else _options.rule(rule),
        "n_jobs": run.jobs or -1,
        "l2": l2,
        "l1": l1,
        "C": C,
    }
    asked = {name: value for name, value in asked.items() if value is not None}
    with _training.writing(output, files) as checkpoint:
        tagger, going_on = _prepared(output, asked, kind=model, resume=run.resume, seed=run.seed)
        how: dict[str, Any] = {"quiet": run.quiet, "resume": going_on, **reading}
        if _kind(tagger) == "sure":
            how |= {"every": run.checkpoint_every, "passes": passes}
            report, said = _learnt(tagger, files, checkpoint, begin, **how)
        else:
            _check_option("passes", passes, _kind(tagger))
            report, said = _solved(tagger, files, checkpoint, begin, **how)
    _options.say(report, said, as_json=run.as_json)


def _learnt(
    tagger: Any, files: list[str], output: Claim, begin: float, **how: Any
) -> tuple[dict[str, Any], str]:
    """Learn online; the report as JSON has it, and in words."""
    learnt = _training.learn(tagger, files, output, **how)
    report = _training.report(tagger, Path(output), learnt, begin)
    return report, _training.in_words(report, files, tagger.task)


def _solved(
    tagger: Any, files: list[str], output: Claim, begin: float, **how: Any
) -> tuple[dict[str, Any], str]:
    """The same by a solver."""
    _solving.solve(tagger, files, output, **how)
    report = _solving.report(tagger, Path(output), begin)
    return report, _solving.in_words(report, files, tagger.task)


def _prepared(
    output: Path, asked: dict[str, Any], *, kind: str | None, resume: bool, seed: int
) -> tuple[Any, bool]:
    """The tagger, and whether training continues from an earlier run."""
    from surelearn import _check
    from surelearn.learners.file import class_named

    if resume and output.exists():
        tagger: Any = tagger_in(output)
        if kind not in (None, _kind(tagger)):
            raise typer.BadParameter(
                f"model must be {_kind(tagger)}, the kind of {output}, got {kind!r}.",
                param_hint="--model",
            )
        going_on = True
    else:
        made = _KINDS[_check.choice("--model", kind or "sure", _KINDS)]
        tagger, going_on = class_named(made)(random_state=seed), False
    for name, value in asked.items():
        _check_option(name, value, _kind(tagger))
    if going_on:
        _training.check_resumed(tagger, asked, output)
    return tagger.set_params(**asked), going_on


def _kind(tagger: Any) -> str:
    return next(kind for kind, name in _KINDS.items() if name == type(tagger).__name__)


def _check_option(name: str, value: object, kind: str) -> None:
    """Refuse an option of another kind of tagger."""
    if value is not None and _FOR.get(name, kind) != kind:
        raise typer.BadParameter(
            f"{name} is for --model {_FOR[name]}, got --model {kind}.", param_hint=f"--{name}"
        )


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

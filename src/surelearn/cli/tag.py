"""The group `surelearn tag`: trains, uses and evaluates taggers; must not know how taggers learn.

This module imports only what typer needs, so that ``surelearn --help`` stays quick.
"""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surelearn.cli import _options, _training
from surelearn.cli._decisions import (
    Decisions,
    Delta,
    Promise,
    Promised,
    Risk,
    promise_in_words,
)
from surelearn.cli._options import Encoding, Jobs, Json, Model, Quiet, model_in, reads, takes
from surelearn.cli._output import Output, opened
from surelearn.cli._progress import progress_bar, solver_line, warnings_shown
from surelearn.cli._training import ModelOutput, Passes, Rule, Run, written
from surelearn.cli.predict import begun, prediction_bar

if TYPE_CHECKING:
    from surelearn.learners.task import Task
    from surelearn.training.checkpoint import Claim

Files = Annotated[
    list[str],
    typer.Argument(
        help="CoNLL files (one token a line, in columns) or CoNLL-U (.conllu), compressed or not, "
        "or folders of them; - is standard input.",
        metavar="FILE",
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
    output: ModelOutput,
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
    risk: Risk = None,
    delta: Delta = None,
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
        "n_jobs": run.jobs,
        "l2": l2,
        "l1": l1,
        "C": C,
    }
    asked = {name: value for name, value in asked.items() if value is not None}
    with _training.writing(output, files) as checkpoint:
        tagger, going_on = _prepare(output, asked, kind=model, resume=run.resume, seed=run.seed)
        promise = Promise(risk, delta)
        promise.check(resume=run.resume)
        how: dict[str, Any] = {"quiet": run.quiet, "resume": going_on, **reading}
        how |= promise.keywords
        if _kind(tagger) == "sure":
            how |= {"every": run.checkpoint_every, "passes": passes}
            report, said = _train_online(tagger, files, checkpoint, begin, **how)
        else:
            _check_option("passes", passes, _kind(tagger))
            report, said = _train_by_solver(tagger, files, checkpoint, begin, **how)
        report |= promise.told(tagger)
        if "promise" in report:
            said += f"\n{promise_in_words(report['promise'], tagger.task)}"
    _options.say(report, said, as_json=run.as_json)


def _train_online(
    tagger: Any, files: list[str], output: Claim, begin: float, **how: Any
) -> tuple[dict[str, Any], str]:
    """Learn online; the report as JSON has it, and in words."""
    learnt = _training.learn(tagger, files, output, **how)
    report = _training.report(tagger, Path(output), learnt, begin)
    return report, _training.in_words(report, files, tagger.task)


def _train_by_solver(
    tagger: Any, files: list[str], output: Claim, begin: float, **how: Any
) -> tuple[dict[str, Any], str]:
    """The same by a solver."""
    fit(tagger, files, output, **how)
    report = {
        **written(tagger, Path(output)),
        "iterations": tagger.n_iter_,
        "objective": tagger.objective_,
        "gap": tagger.gap_,
        "seconds": round(time.monotonic() - begin, 3),
    }
    return report, solver_words(report, files, tagger.task)


def _prepare(
    output: Path, asked: dict[str, Any], *, kind: str | None, resume: bool, seed: int
) -> tuple[Any, bool]:
    """The tagger, and whether training continues from an earlier run."""
    from surelearn import _check
    from surelearn.learners.file import class_named

    if resume and output.exists():
        tagger: Any = model_in(output, "tagger")
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
    templates = list(given or ())
    if path is not None:
        from surelearn.templates import read_crfpp

        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
        if any("%x[" in line for line in lines):  # the syntax of CRF++
            templates += read_crfpp(lines, columns)
        else:
            templates += [line for line in lines if line and not line.startswith("#")]
        if not templates:
            raise ValueError(f"{path} must have at least one template, got none.")
    return templates or None


def fit(model: Any, files: list[str], output: Claim, *, quiet: bool, **reading: Any) -> None:
    """Fit a model to files and write it; Ctrl-C writes the best that was found so far."""
    from surelearn.solvers import Interrupted

    try:
        with warnings_shown(), solver_line(quiet=quiet) as shown:
            model.fit_stream(files, progress=shown, **reading)
    except Interrupted:
        model.save(output)
        typer.echo(
            f"surelearn: interrupted after {_iterations(model.n_iter_)} at an objective of "
            f"{model.objective_:,.6g}. The best model so far is in {os.fspath(output)}.",
            err=True,
        )
        raise
    except KeyboardInterrupt:
        typer.echo("surelearn: interrupted before anything was learnt.", err=True)
        raise
    model.save(output)


def solver_words(report: dict[str, Any], files: list[str], task: Task) -> str:
    """The report as a few lines of text."""
    what = f"{task.unit}s"
    source = "standard input" if files == ["-"] else ", ".join(files)
    taken = f" ({report['seconds']:.1f} s)" if sys.stdout.isatty() else ""
    rows = f"{report[what]:,} {what} of {len(report['classes'])} {task.labels}"
    lines = [f"Learnt {rows} from {source} in {_iterations(report['iterations'])}{taken}."]
    gap = report["gap"]
    near = "" if gap is None else f", at most {gap:.2g} above the least"
    lines.append(f"Objective: {report['objective']:,.6g}{near}.")
    if report["skipped"]:
        lines.append(f"Skipped because they could not be parsed: {report['skipped']:,} {what}.")
    lines.append(f"The model is in {report['model']} ({_options.size(report['bytes'])}).")
    return "\n".join(lines)


def _iterations(n: int) -> str:
    return "one iteration" if n == 1 else f"{n:,} iterations"


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
    risk: Promised = None,
    output: Output = None,
    jobs: Jobs = -1,
    quiet: Quiet = False,
) -> None:
    """Tag every token of a file; print its lines with the tag as the last column.

    In CoNLL-U the tag goes into the column that the tagger learnt, and the confidence into the
    last column. With --risk the tags of a sentence that is not answered are '_'.

    \b
    Examples:
      surelearn tag predict chunks.sure new.txt > tagged.txt
      surelearn tag predict pos.sure new.conllu --confidence
    """
    from surelearn.prediction import predict_tags

    if output is not None:
        _options.check_apart(output, [str(model), *files])
        _options.check_lines(output, "--output")
    tagger = model_in(model, "tagger", jobs=jobs)
    how = Decisions(risk).keywords(tagger, model)
    n_bad, between = 0, ""
    with prediction_bar(output, quiet=quiet) as progress:
        batches = begun(
            predict_tags(tagger, files, confidence=confidence, progress=progress, **how, **reading)
        )
        with opened(output) as out:
            for batch in batches:
                text = between + batch.text
                text += "" if text.endswith("\n") or not batch.text else "\n"
                # A file may end without a blank line: the next file must still start a sentence.
                between = "" if _BLANK_AT_END.search(text) else "\n"
                out.write(text.encode("utf-8", "backslashreplace"))
                n_bad += batch.n_bad
    if n_bad:
        sentences = "sentence was" if n_bad == 1 else "sentences were"
        typer.echo(f"surelearn: {n_bad:,} bad {sentences} skipped.", err=True)


@reads(SENTENCES)
def evaluate(
    model: Model,
    files: Files,
    *,
    reading: dict[str, Any],
    jobs: Jobs = -1,
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

    tagger = model_in(model, "tagger", jobs=jobs)
    with progress_bar("Evaluating", quiet=quiet) as progress:
        found = evaluate_tagger(tagger, files, progress=progress, **reading)
    _options.say(found.to_dict(), str(found), as_json=as_json)


tag = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Train, use and evaluate taggers of sentences.",
)
tag.command()(train)
tag.command()(predict)
tag.command()(evaluate)

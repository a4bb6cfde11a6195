"""`surelearn train`: trains a classifier on files; must not know how classifiers learn."""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surelearn.cli import _labels, _options, _training
from surelearn.cli._decisions import Promise, promise_in_words
from surelearn.cli._options import GROUPS, ROWS, Files, reads, takes
from surelearn.cli._tables import (
    TableOptions,
    check_no_table,
    columns_in_words,
    table_classifier,
)
from surelearn.cli._training import ModelOutput, Rule, Run

if TYPE_CHECKING:
    from surelearn.learners.classifier import SureClassifier
    from surelearn.read import Batch, Source

Passes = Annotated[
    int | None,
    typer.Option(
        min=1, help="Passes over the data; by default 3, for rankers 5, for standard input 1."
    ),
]

Thresholds = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        exists=True,
        help="Rows with many labels: choose the margin for a label on this file, for micro F1.",
    ),
]
Rank = Annotated[
    bool, typer.Option("--rank", help="Train a ranker on groups: svmlight with qid, or vw.")
]
Average = Annotated[
    bool, typer.Option("--average", help="Predict with weights averaged over training.")
]
Balanced = Annotated[
    bool, typer.Option("--balanced", help="Give rare classes the same total weight as others.")
]
Idf = Annotated[
    bool | None,
    typer.Option("--idf/--no-idf", help="Weigh rare words more, or all words alike."),
]
Calibrate = Annotated[
    bool | None,
    typer.Option(
        "--calibrate/--no-calibrate",
        help="Keep one row in 20 back until the last pass to calibrate probabilities, or learn all "
        "rows in every pass.",
    ),
]
Tune = Annotated[
    bool, typer.Option("--tune", help="Choose rule and settings on the first 20,000 rows.")
]
NFeatures = Annotated[
    int | None,
    typer.Option(
        min=1, max=2**31 - 1, help="Size of the hashed feature space; columns of svmlight."
    ),
]

#: Number of rows that --tune tries settings on.
_TRIED = 20_000


@takes("run", Run)
@takes("promise", Promise)
@takes("tables", TableOptions)
@reads(ROWS | GROUPS)
def train(
    files: Files,
    *,
    output: ModelOutput,
    rank: Rank = False,
    reading: dict[str, Any],
    tables: TableOptions,
    passes: Passes = None,
    rule: Rule = None,
    bigrams: Annotated[bool, typer.Option("--bigrams", help="Add pairs of words.")] = False,
    idf: Idf = None,
    calibrate: Calibrate = None,
    n_features: NFeatures = None,
    average: Average = False,
    balanced: Balanced = False,
    thresholds: Thresholds = None,
    tune: Tune = False,
    promise: Promise,
    run: Run,
) -> None:
    """Train a classifier, or a ranker, on files of any size or on a stream.

    The model is written every minute, at the end, and when Ctrl-C stops training. --resume
    continues from there.

    \b
    Examples:
      surelearn train reviews.jsonl -o reviews.sure
      surelearn train part-*.csv.gz --text body --label stars -o stars.sure
      surelearn train reviews.jsonl -o reviews.sure --tune --bigrams
      surelearn train flats.csv --label rent -o flats.sure --category floor --ignore id
      surelearn train numbers.parquet --features age,height -o people.sure
      cat stream.jsonl | surelearn train - -o live.sure --resume
      surelearn train --rank clicks.svm -o clicks.sure
      surelearn train news.jsonl --label topics -o news.sure --thresholds kept.jsonl
      surelearn train reviews.jsonl -o reviews.sure --risk 0.05
    """
    begin = time.monotonic()
    reading |= {} if n_features is None else {"n_features": n_features}
    asked = _settings(
        rule=rule, bigrams=bigrams, idf=idf, average=average, balanced=balanced,
        n_features=n_features, jobs=run.jobs,
    )  # fmt: skip
    how: dict[str, Any] = {"quiet": run.quiet, "every": run.checkpoint_every, "passes": passes,
                           **promise.keywords}  # fmt: skip
    how |= {} if calibrate is None else {"calibrate": calibrate}
    promise.check(resume=run.resume, tune=tune, thresholds=thresholds)
    with _training.writing(output, files) as checkpoint:
        going_on = run.resume and output.exists()
        _check_tuned(tune=tune, rule=rule, resumed=output if going_on else None)
        model, ignored = (
            (_resumed(output, tables, rank=rank), list[str]())
            if going_on
            else _new(files, reading, tables, seed=run.seed, rank=rank)
        )
        _options.check_takes(
            model, reading, bigrams=bigrams, idf=idf is not None, balanced=balanced,
            calibrate=calibrate is not None, thresholds=thresholds, tune=tune, novel=promise.novel,
        )  # fmt: skip
        _set(model, asked, output if going_on else None)
        if tune:
            model = _tune(model, files, reading, passes=passes, quiet=run.quiet or run.as_json)
        before = model.task.facts(model) if going_on else {}
        kept = None if thresholds is None else _kept_back(model, thresholds, reading)
        learnt = _training.learn(model, files, checkpoint, resume=going_on, **how, **reading)
        chosen = {} if kept is None else _thresholds(model, output, kept)
        report = _training.report(model, output, learnt, begin)
        report |= (
            _columns(model, ignored)
            | chosen
            | model.task.learnt(model, before)
            | promise.told(model)
        )
    said = columns_in_words(report, model) + _in_words(report, files, model, resumed=going_on)
    said += _at_the_end(report, model, thresholds)
    _options.say(report, said, as_json=run.as_json)


def _check_tuned(*, tune: bool, rule: str | None, resumed: Path | None) -> None:
    """Refuse --tune for what is chosen already."""
    if tune and rule is not None:
        raise typer.BadParameter(
            f"rule is chosen by --tune, got {rule!r}. Leave out one of them.", param_hint="--rule"
        )
    if tune and resumed is not None:
        raise typer.BadParameter(
            f"--tune chooses settings of a new model, got --resume with {resumed}.",
            param_hint="--tune",
        )


def _in_words(report: dict[str, Any], files: list[str], model: Any, *, resumed: bool) -> str:
    """The report as a few lines of text, after a warning of labels that look alike."""
    if "class_rows" not in report:
        return _training.in_words(report, files, model.task)
    _labels.warn_alike(model)
    labels = "labels" if model.model_.many_labels else None
    said = _training.in_words(report, files, model.task, labels)
    if not report["learnt"]:
        return said
    first, *others = said.split("\n")
    return "\n".join([first, _labels.in_words(model, resumed=resumed), *others])


def _at_the_end(report: dict[str, Any], model: Any, thresholds: Path | None) -> str:
    """What the report says of thresholds and of a promise, if these were asked for."""
    said = ""
    if "threshold_rows" in report:
        said = f"\nThresholds were chosen on {report['threshold_rows']:,} rows of {thresholds}."
    if "promise" in report:
        said += f"\n{promise_in_words(report['promise'], model.task)}"
    return said


def _kept_back(model: SureClassifier, kept: Path, reading: dict[str, Any]) -> Batch:
    """The rows to choose thresholds on, read before the training so that a bad file costs none."""
    from surelearn.learners.sources import opened

    how = {name: value for name, value in reading.items() if name != "weight"}
    fitted = model if hasattr(model, "stream_") else None
    source = opened([str(kept)], how, model=fitted, columns=("text", "features", "label"))
    records = source.first(sys.maxsize) if source.may_list else None
    if records is None or records.labels is None or records.labels.starts is None:
        raise ValueError(
            f"--thresholds needs rows with many labels, got {kept} with one label a row or none. "
            "Use lists in jsonl, or --label-separator for csv."
        )
    return records


def _thresholds(model: SureClassifier, output: Path, records: Batch) -> dict[str, Any]:
    """Choose the thresholds of many labels, and write the model once more."""
    model.choose_thresholds(records.X, records.y)
    model.save(output)
    return {"threshold_rows": len(records), "thresholds": model.thresholds_.tolist()}


def _columns(model: SureClassifier, ignored: list[str]) -> dict[str, list[str]]:
    """Which numeric columns were used, and which were not, if that is known."""
    features = model.stream_.columns.get("features")
    if features is None:
        return {}
    return {"features": features} | ({"ignored": ignored} if ignored else {})


# -------------------------------------------------------------------- model and settings


def _settings(**asked: Any) -> dict[str, Any]:
    """Turn the options into parameters of an estimator."""
    settings: dict[str, Any] = {}
    if asked["rule"] is not None:
        settings["rule"] = _options.rule(asked["rule"])
    if asked["bigrams"]:
        settings["ngram_range"] = (1, 2)
    if asked["idf"] is not None:
        settings["idf"] = asked["idf"]
    if asked["average"]:
        settings["average"] = True
    if asked["balanced"]:
        settings["class_weight"] = "balanced"
    if asked["n_features"] is not None:
        settings["n_features"] = asked["n_features"]
    return settings | {"n_jobs": asked["jobs"]}


def _resumed(output: Path, tables: TableOptions, *, rank: bool) -> Any:
    """The model of an earlier run, which must learn from files."""
    from surelearn.learners.file import load

    model = load(output)
    if not hasattr(model, "fit_stream"):
        raise ValueError(
            f"{output} must be a model that learns from files to go on with, got a "
            f"{type(model).__name__}. Use partial_fit in Python."
        )
    model.task.check_command(output, model, "ranker" if rank else "classifier")
    check_no_table(model, tables)
    model.n_jobs = -1  # a command may use all cores
    return model


def _new(
    files: list[str], reading: dict[str, Any], tables: TableOptions, *, seed: int, rank: bool
) -> tuple[Any, list[str]]:
    """A new model, and the columns that it ignores."""
    if rank:
        from surelearn.learners.ranker import SureRanker

        model = SureRanker(random_state=seed)
        check_no_table(model, tables)
        return model, []
    if tables.given:
        return table_classifier(tables, reading, seed=seed), []
    from surelearn.learners.classifier import SureClassifier
    from surelearn.learners.text_classifier import SureTextClassifier
    from surelearn.read import BadInput, batches

    if "cross" in reading:
        return SureClassifier(random_state=seed), []  # which refuses it, before a source does
    _labels.warn_own(files, reading)
    source = batches(files, **reading)
    try:
        texts = _has_texts(source, reading)
    except BadInput:
        if not _is_table(files, reading):
            raise
        return table_classifier(tables, reading, seed=seed), []
    kind = SureTextClassifier if texts else SureClassifier
    return kind(random_state=seed), source.ignored


def _set(model: Any, asked: dict[str, Any], resumed: Path | None) -> None:
    """Set the parameters that were asked for; a model of numbers has none for texts."""
    known = model.get_params(deep=False)
    idf = "--idf" if asked.get("idf") else "--no-idf"
    for name, option in (("ngram_range", "--bigrams"), ("idf", idf)):
        if name in asked and name not in known:
            raise ValueError(f"{option} needs texts, got rows of numbers.")
    settings = {name: value for name, value in asked.items() if name in known}
    if resumed is not None:
        _training.check_resumed(model, settings, resumed)
    model.set_params(**settings)


def _has_texts(source: Source, reading: dict[str, Any]) -> bool:
    """Whether the rows are texts.

    A stream cannot be read twice to find out, so it counts as texts unless the options say
    otherwise.
    """
    if "features" in reading or "text" in reading or not source.can_restart:
        return "features" not in reading and reading.get("format") not in ("svmlight", "vw")
    return not hasattr(source.first(1).X, "shape")


def _is_table(files: list[str], reading: dict[str, Any]) -> bool:
    """Whether files that have no column of texts can be read as a table."""
    from surelearn.read import BadInput, batches

    try:
        names = batches(files, **reading, table=True).first(1).X.columns
    except (BadInput, ValueError):
        return False
    return "text" not in names


def _tune(
    model: SureClassifier,
    files: list[str],
    reading: dict[str, Any],
    *,
    passes: int | None,
    quiet: bool,
) -> SureClassifier:
    """A new model with the settings that do best on the first rows, in as many passes."""
    from sklearn.base import clone

    from surelearn import tune
    from surelearn.learners.base import settings_of

    source = model.task.opened(files, reading)
    if not source.can_restart:
        raise ValueError("--tune needs files that can be read again, got standard input.")
    records = source.first(_TRIED)
    if records.labels is not None and records.labels.starts is not None:
        raise ValueError("--tune needs rows with one label each, got lists of labels.")
    if passes is None:
        passes = settings_of(model).passes
    asked = clone(model).set_params(passes=passes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the training after it says the same
        found = tune(asked, records.X, records.y, sample_weight=records.weight)
    if not quiet:
        typer.echo(f"{found}\n")
    chosen: SureClassifier = clone(found.best).set_params(passes=model.passes)
    return chosen

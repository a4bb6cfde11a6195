"""`surelearn train`: from files to a model; must not know how it learns."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surelearn.cli import _options, _training
from surelearn.cli._options import ROWS, Files, Json, Quiet, reads
from surelearn.cli._training import CheckpointEvery, Jobs, Output, Passes, Resume, Rule, Seed

if TYPE_CHECKING:
    from surelearn import SureClassifier
    from surelearn.read import Source

#: Records that settings are tried on.
_TRIED = 20_000


@reads(ROWS)
def train(
    files: Files,
    *,
    output: Output,
    reading: dict[str, Any],
    passes: Passes = None,
    rule: Rule = None,
    bigrams: Annotated[bool, typer.Option("--bigrams", help="Learn pairs of words, too.")] = False,
    n_features: Annotated[
        int | None,
        typer.Option(
            min=1, max=2**31 - 2, help="Places that words are hashed to; columns of svmlight."
        ),
    ] = None,
    average: Annotated[
        bool, typer.Option("--average", help="Predict by the mean of all weights over time.")
    ] = False,
    balanced: Annotated[
        bool, typer.Option("--balanced", help="Give all classes the same weight.")
    ] = False,
    tune: Annotated[
        bool, typer.Option("--tune", help="Find rule and settings on the first 20,000 rows.")
    ] = False,
    resume: Resume = False,
    checkpoint_every: CheckpointEvery = "60s",
    jobs: Jobs = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Learn from files of any size, or from a stream.

    The model is written every minute, in the end, and when Ctrl-C stops training; --resume then
    goes on where it was.

    \b
    Examples:
      surelearn train reviews.jsonl -o reviews.sure
      surelearn train part-*.csv.gz --text body --label stars -o stars.sure
      surelearn train reviews.jsonl -o reviews.sure --tune --bigrams
      surelearn train numbers.parquet --features age,height -o people.sure
      cat stream.jsonl | surelearn train - -o live.sure --resume
    """
    begin = time.monotonic()
    if n_features is not None:
        reading["n_features"] = n_features
    asked = _settings(
        rule=rule, bigrams=bigrams, average=average, balanced=balanced, n_features=n_features,
        jobs=jobs,
    )  # fmt: skip
    with _training.writing(output, files) as checkpoint:
        model, ignored = _prepared(files, output, reading, asked, resume=resume)
        going_on = ignored is None
        if going_on and tune:
            raise typer.BadParameter(
                f"--tune chooses settings of a new model, got --resume with {output}.",
                param_hint="--tune",
            )
        if not going_on:
            model.set_params(random_state=seed)
            if tune:
                model = _tuned(model, files, reading, quiet=quiet or as_json)
        learnt = _training.learn(
            model, files, checkpoint, quiet=quiet, every=checkpoint_every, passes=passes,
            resume=going_on, **reading,
        )  # fmt: skip
    report = _training.report(model, output, learnt, begin)
    report |= _columns(model, ignored)
    if as_json:
        _options.print_json(report)
    else:
        typer.echo(_training.in_words(report, files))


def _columns(model: SureClassifier, ignored: list[str] | None) -> dict[str, list[str]]:
    """Which columns of numbers were learnt, and which were there besides, if that is known."""
    features = model.stream_.columns.get("features")
    if features is None:
        return {}
    return {"features": features} | ({"ignored": ignored} if ignored else {})


# -------------------------------------------------------------------- what is learnt


def _settings(**asked: Any) -> dict[str, Any]:
    """What was asked for, as parameters of an estimator."""
    settings: dict[str, Any] = {}
    if asked["rule"] is not None:
        settings["rule"] = _options.rule(asked["rule"])
    if asked["bigrams"]:
        settings["ngram_range"] = (1, 2)
    if asked["average"]:
        settings["average"] = True
    if asked["balanced"]:
        settings["class_weight"] = "balanced"
    if asked["n_features"] is not None:
        settings["n_features"] = asked["n_features"]
    if asked["jobs"] is not None:
        settings["n_jobs"] = asked["jobs"]
    return settings


def _prepared(
    files: list[str],
    output: Path,
    reading: dict[str, Any],
    asked: dict[str, Any],
    *,
    resume: bool,
) -> tuple[SureClassifier, list[str] | None]:
    """The model, and columns that it will not read; None: it goes on with those it knows."""
    import surelearn

    if resume and output.exists():
        model = _options.classifier_in(output)
        model.set_params(**_that_fit(model, asked))
        return model, None
    source = surelearn.read.batches(files, **reading)
    texts = _has_texts(source, reading)
    model = surelearn.SureTextClassifier() if texts else surelearn.SureClassifier()
    model.set_params(**_that_fit(model, asked))
    return model, source.ignored


def _that_fit(model: SureClassifier, asked: dict[str, Any]) -> dict[str, Any]:
    """Without settings of texts where there are none."""
    known = model.get_params(deep=False)
    if "ngram_range" in asked and "ngram_range" not in known:
        raise ValueError("--bigrams needs texts, got rows of numbers.")
    return {name: value for name, value in asked.items() if name in known}


def _has_texts(source: Source, reading: dict[str, Any]) -> bool:
    """Whether the records are texts; a stream is taken for one of texts unless told otherwise."""
    if "features" in reading or "text" in reading or not source.can_restart:
        return "features" not in reading and reading.get("format") not in ("svmlight", "vw")
    return not hasattr(source.first(1).X, "shape")


def _tuned(
    model: SureClassifier, files: list[str], reading: dict[str, Any], *, quiet: bool
) -> SureClassifier:
    """A model with the settings that make the fewest mistakes on the first records."""
    from sklearn.base import clone

    from surelearn import read, tune

    source = read.batches(files, **reading)
    if not source.can_restart:
        raise ValueError("--tune needs files that can be read again, got standard input.")
    records = source.first(_TRIED)
    best, table = tune(model, records.X, records.y, sample_weight=records.weight)
    if not quiet:
        typer.echo(f"{table}\n")
    chosen: SureClassifier = clone(best)
    return chosen

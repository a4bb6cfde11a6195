"""What commands do with rankers; must not know how rankers learn or rank."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from surelearn.cli import _training
from surelearn.cli._options import is_ranker, json_number

if TYPE_CHECKING:
    from surelearn import SureRanker
    from surelearn.prediction import Ranked
    from surelearn.training.claim import Claim

#: The option that only groups have.
GROUPS: dict[str, Any] = {
    "cross": Annotated[
        bool,
        typer.Option(
            "--cross", help="Rankers: cross shared features of vw with those of each candidate."
        ),
    ],
}

#: Options for reading that apply to groups.
_READ = ("format", "encoding", "zero_based", "cross", "skip_bad", "n_features")


def ranker_in(path: Path) -> SureRanker:
    """Load a ranker; refuse other kinds of models."""
    from surelearn.learners.file import load

    model: Any = load(path)
    if not is_ranker(model):
        raise ValueError(f"{path} must be a ranker for --rank, got a {type(model).__name__}.")
    ranker: SureRanker = model
    return ranker


def check_ranker(reading: Mapping[str, Any], **others: object) -> None:
    """Refuse options that do not apply to rankers."""
    unread = {name: True for name in reading if name not in _READ}
    _refuse(unread | others, "classifiers", "a ranker")


def check_classifier(reading: Mapping[str, Any], **others: object) -> None:
    """Refuse options that apply to rankers only."""
    given = {name: True for name in reading if name in GROUPS}
    _refuse(given | others, "rankers", "a classifier")


def _refuse(asked: Mapping[str, object], who: str, got: str) -> None:
    for name, value in asked.items():
        if value:
            option = f"--{name.replace('_', '-')}"
            name = option.removeprefix("--")
            raise typer.BadParameter(f"{name} is for {who}, got {got}.", param_hint=option)


# ----------------------------------------------------------------------- training


def trained(
    files: list[str],
    checkpoint: Claim,
    reading: dict[str, Any],
    asked: Mapping[str, Any],
    *,
    begin: float,
    resume: bool,
    seed: int,
    **how: Any,
) -> tuple[dict[str, Any], str]:
    """Train a ranker; the report as JSON has it, and in words."""
    from surelearn.learners.ranker import SureRanker

    output = Path(checkpoint)
    going_on = resume and output.exists()
    ranker = ranker_in(output) if going_on else SureRanker(random_state=seed)
    before = ranker.n_skipped_ if going_on else 0
    known = ranker.get_params(deep=False)
    settings = {name: value for name, value in asked.items() if name in known}
    if going_on:
        _training.check_resumed(ranker, settings, output)
    ranker.set_params(**settings)
    learnt = _training.learn(ranker, files, checkpoint, resume=going_on, **how, **reading)
    report = _training.report(ranker, output, learnt, begin, what="groups")
    report["equal"] = ranker.n_skipped_ - before
    return report, _in_words(report, files)


def _in_words(report: dict[str, Any], files: list[str]) -> str:
    said = _training.in_words(report, files, "groups")
    if not report["equal"]:
        return said
    *lines, last = said.split("\n")
    equal = f"Not learnt because all candidates are equally good: {report['equal']:,} groups."
    return "\n".join([*lines, equal, last])


# --------------------------------------------------------------------- prediction


class Asked(NamedTuple):
    """What `predict` is asked for."""

    files: list[str]
    reading: dict[str, Any]
    keep: list[str] | None
    proba: bool
    everything: bool


def answers(ranker: SureRanker, asked: Asked, progress: Any) -> Iterator[tuple[str, int]]:
    """The lines of each batch, and the number of its bad groups."""
    from surelearn.prediction import predict_groups

    check_ranker(asked.reading, keep=asked.keep)
    for batch in predict_groups(ranker, asked.files, progress=progress, **asked.reading):
        yield "".join(_lines(batch, asked)), batch.n_bad


def _lines(batch: Ranked, asked: Asked) -> Iterator[str]:
    """One line of JSON for each group: its id, and the best candidate."""
    groups = batch.groups
    order = batch.order if asked.everything else []
    for g, (a, b) in enumerate(pairwise(groups.bounds.tolist())):
        best = int(batch.best[g])
        parts = [] if groups.ids is None else [f'"qid": {groups.ids[g]}']
        parts.append(f'"best": {best}')
        if groups.names is not None:
            parts.append(f'"label": {_label(groups.names[a + best])}')
        if batch.probability is not None:
            parts.append(f'"probability": {json_number(batch.probability[g])}')
        if asked.everything:
            parts.append(f'"order": {json.dumps(order[g].tolist())}')
            parts.append(f'"scores": {_numbers(batch.scores[a:b])}')
        if asked.proba and batch.probabilities is not None:
            parts.append(f'"probabilities": {_numbers(batch.probabilities[a:b])}')
        yield f"{{{', '.join(parts)}}}\n"


def _label(name: int) -> str:
    return "null" if name < 0 else str(name)


def _numbers(values: Any) -> str:
    return f"[{', '.join(json_number(x) for x in values.tolist())}]"

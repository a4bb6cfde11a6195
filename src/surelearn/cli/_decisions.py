"""Options and words of promises and decisions; must not know how they are made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

if TYPE_CHECKING:
    from surelearn.learners.task import Task

#: The key of no answer in a file of costs.
NO_ANSWER = ""

Promised = Annotated[
    float | None,
    typer.Option(help="Answer only what training with this --risk has certified."),
]
SetCoverage = Annotated[
    float | None,
    typer.Option(
        "--set", metavar="COVERAGE", help="Add sets of labels with this coverage, such as 0.95."
    ),
]
Cost = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help='Give the answers of the least expected cost, by a file such as {"spam": {"ham": 1}}, '
        'true label first; the answer "" is none.',
    ),
]
Novel = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="Give no answer to rows that are newer than all but this share of known ones.",
    ),
]
Risk = Annotated[
    float | None,
    typer.Option(
        help="Keep rows back to certify that at most this share of answers is wrong where predict "
        "--risk answers."
    ),
]
Delta = Annotated[
    float | None,
    typer.Option(help="The probability that the promise of --risk fails; 0.1 by default."),
]
KeptNovel = Annotated[
    float | None,
    typer.Option(
        "--novel",
        metavar="SHARE",
        help="With --risk: answer no row that is newer than all but this share of known ones.",
    ),
]


class Decisions(NamedTuple):
    """The options of prediction, in the order of the help."""

    risk: Promised = None
    coverage: SetCoverage = None
    cost: Cost = None
    novel: Novel = None

    def keywords(self, model: Any, path: Path) -> dict[str, Any]:
        """Keywords of `surelearn.predict`; refuses what the model in a file does not promise."""
        how: dict[str, Any] = {"coverage": self.coverage, "novel": self.novel}
        if self.risk is not None:
            _check_risk(told(model), self.risk, path)
            how["abstain"] = True
        elif self.novel is not None:
            _check_has("novel", model, path, "novelty")
        if self.coverage is not None:
            _check_has("set", model, path, "sets")
        if self.cost is not None:
            how["cost"] = _costs(self.cost, getattr(model, "classes_", None))
        return {name: value for name, value in how.items() if value is not None}


class Promise(NamedTuple):
    """The options of training, in the order of the help; taggers have no `novel`."""

    risk: Risk = None
    delta: Delta = None
    novel: KeptNovel = None

    @property
    def keywords(self) -> dict[str, Any]:
        """Keywords of `fit_stream`."""
        return {name: value for name, value in self._asdict().items() if value is not None}

    def told(self, model: Any) -> dict[str, Any]:
        """What the report says of the promise, if one was asked for."""
        return {} if self.risk is None else {"promise": told(model)}

    def check(self, **others: Any) -> None:
        """Refuse options that need --risk, and those that would break its promise.

        `others` are further options of the command: they use the records that are kept back, or
        change answers.
        """
        if self.risk is None:
            for name in self.keywords:
                raise typer.BadParameter(f"{name} needs --risk, got none.", param_hint=f"--{name}")
            return
        for name, value in others.items():
            if value:
                raise typer.BadParameter(
                    f"risk certifies a new model as it is trained, got --{name}. {_INSTEAD[name]}",
                    param_hint="--risk",
                )


#: What to do in place of an option beside --risk.
_INSTEAD = {
    "resume": "Train without it, or call choose_abstention in Python with other rows.",
    "tune": "Tune first, and train with the settings that were chosen.",
    "thresholds": "Call choose_thresholds and then choose_abstention in Python.",
}


def told(model: Any) -> dict[str, Any] | None:
    """What a model promises, as JSON has it; None if it promises nothing."""
    from surelearn.learners.deciding import promise_of

    return promise_of(model)


def shortly(promise: dict[str, Any]) -> str:
    """A promise in a few words."""
    risk, bound, coverage = (_shares(promise[k]) for k in ("risk", "risk_bound", "coverage"))
    sure = _percent(1 - promise["delta"])
    novel = f", not the newest {_percent(promise['novel'])}" if "novel" in promise else ""
    return (
        f"risk {risk} with confidence {sure}, coverage {coverage}{novel} "
        f"(bound at this threshold {bound})"
    )


def promise_in_words(promise: dict[str, Any] | None, task: Task) -> str:
    """A line of the report of a training."""
    if promise is None:
        return "No risk was certified, so the model makes no promise."
    counts = promise["certified_by"]
    n = max(counts.values()) if isinstance(counts, dict) else counts
    return f"Certified by {n:,} kept-back {task.unit}s: {shortly(promise)}."


def _shares(value: Any) -> str:
    """A share in per cent, or one for each label."""
    if isinstance(value, dict):
        return ", ".join(f"{_percent(share)} of {label}" for label, share in value.items())
    return _percent(value)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _check_has(name: str, model: Any, path: Path, part: str) -> None:
    """Refuse an option for a model without what it takes from rows that were kept back."""
    from surelearn.learners.deciding import decisions_of

    options = "--risk and --novel" if name == "novel" else "--risk"
    if getattr(decisions_of(model), part) is None:
        raise typer.BadParameter(
            f"{name} needs a model with rows that were kept back, got {path}, which has none. "
            f"Train with {options}, or call choose_{part} in Python.",
            param_hint=f"--{name}",
        )


def _check_risk(promise: dict[str, Any] | None, risk: float, path: Path) -> None:
    """Refuse another risk than the one that the model in a file promises."""
    if promise is None:
        raise typer.BadParameter(
            f"risk needs a model that promises one, got {path}, which promises none. Train with "
            "--risk, or call choose_abstention in Python.",
            param_hint="--risk",
        )
    if promise["risk"] != risk:
        raise typer.BadParameter(
            f"risk must be that of {path}, which promises {shortly(promise)}, got {risk:g}.",
            param_hint="--risk",
        )


def _costs(path: Path, classes: Any) -> dict[Any, float]:
    """Costs by (true label, answer) of a file; None as an answer is no answer."""
    from surelearn import _check

    wrong = f'{path} must hold {{"true label": {{"answer": cost, ...}}, ...}}, got '
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise _check.BadInput(f"{wrong}no JSON: {error}.") from None
    if not isinstance(rows, dict):
        raise _check.BadInput(f"{wrong}{_check.shown(rows)}.")
    known = {_key(label): label for label in ([] if classes is None else classes.tolist())}
    costs: dict[Any, float] = {}
    for true, row in rows.items():
        if true == NO_ANSWER:  # one price for all true labels
            costs[None] = row
        elif not isinstance(row, dict):
            raise _check.BadInput(f"{wrong}{_check.shown(row)} for {true!r}.")
        else:
            pairs = {known.get(answer, answer): cost for answer, cost in row.items()}
            true = known.get(true, true)
            costs |= {(true, None if a == NO_ANSWER else a): cost for a, cost in pairs.items()}
    return costs


def _key(label: Any) -> str:
    """A label as a key of JSON."""
    return label if isinstance(label, str) else json.dumps(label)

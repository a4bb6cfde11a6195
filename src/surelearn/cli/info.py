"""`surelearn info`: what is in a model file; must not know the file format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from surelearn.cli import _options
from surelearn.cli._decisions import shortly, told
from surelearn.cli._options import Json, Model

_NAMES = {
    "file": "file",
    "bytes": "size",
    "version": "written by surelearn",
    "kind": "kind",
    "rule": "rule",
    "l2": "l2",
    "l1": "l1",
    "C": "C",
    "covariance": "covariance",
    "kernel": "kernel",
    "budget": "budget",
    "points": "support points",
    "multiclass": "multiclass",
    "labels": "labels of a row",
    "right": "right",
    "rows": "rows learnt",
    "labels_learnt": "labels learnt",
    "equal": "groups skipped",
    "passes": "passes",
    "updates": "updates",
    "mistakes": "mistakes by pass",
    "objective": "objective",
    "gap": "gap",
    "iterations": "iterations",
    "features": "features",
    "edge_features": "features of an edge",
    "edge_types": "types of edges",
    "edges": "edges",
    "pair_features": "tag pair features",
    "columns": "columns",
    "scaled": "scaled columns",
    "templates": "templates",
    "words": "words known",
    "clashes": "hash collisions",
    "documents": "texts counted for idf",
    "temperature": "temperature",
    "thresholds": "thresholds",
    "promise": "promise",
    "stream": "stream",
}

#: What a solver has found.
_SOLVED = {"objective": "objective_", "gap": "gap_", "iterations": "n_iter_"}


def info(model: Model, as_json: Json = False) -> None:
    """Show what is in a model file: rule, sizes, mistakes and classes.

    \b
    Examples:
      surelearn info reviews.sure
      surelearn info reviews.sure --json
    """
    from surelearn.learners.file import load
    from surelearn.table import word

    found = _facts(model, load(model))
    if as_json:
        _options.print_json(found)
        return
    wide = max(len(_NAMES[name]) for name in found if name in _NAMES)
    for name in found:
        if name in _NAMES:
            # Names come from the file: none may steer the terminal.
            shown = word(_value_words(name, found[name]), widest=10_000)
            typer.echo(f"{_NAMES[name]:<{wide}}  {shown}")
    if found.get("classes"):
        head = "label" if "labels" in found else "class"
        typer.echo(f"\n{_classes(found['classes'], head)}")


def _facts(path: Path, model: Any) -> dict[str, Any]:
    """All facts as JSON has them, without those that do not apply to this kind of model."""
    from surelearn import files

    facts: dict[str, Any] = {
        "file": str(path),
        "bytes": path.stat().st_size,
        "version": files.settings(path).text("version", default="unknown"),
        "kind": type(model).__name__,
        **model.task.facts(model),
        **(_of_rule(model) if hasattr(model, "rule") else _of_solver(model)),
    }
    if hasattr(model, "temperature_"):
        facts["temperature"] = float(model.temperature_)
    promise = told(model)
    if promise is not None:
        facts["promise"] = promise
    if hasattr(model, "stream_") and model.stream_.files:
        facts["stream"] = model.stream_.plain()
    # In the order of printing, with the classes last.
    return {name: facts[name] for name in (*_NAMES, "classes") if name in facts}


def _of_rule(model: Any) -> dict[str, Any]:
    from surelearn import rules

    return {
        "rule": repr(rules.get(model.rule)),
        "passes": len(model.mistakes_),
        "updates": int(model.n_updates_),
        "mistakes": model.mistakes_.tolist(),
    }


def _of_solver(model: Any) -> dict[str, Any]:
    facts = {name: getattr(model, name, None) for name in ("l2", "l1", "C")}
    for name, attribute in _SOLVED.items():  # a merged model has none of these
        facts[name] = getattr(model, attribute, None)
    return {name: value for name, value in facts.items() if value is not None}


def _value_words(name: str, value: Any) -> str:
    if name == "bytes":
        return _options.size(value)
    if name == "objective":
        return f"{value:,.6g}"
    if name == "mistakes":
        return ", ".join(f"{count:,}" for count in value)
    if name == "promise":
        return shortly(value)
    if name == "stream":
        return _stream(value)
    if name == "thresholds":
        return f"margins from {min(value):.4g} to {max(value):.4g}"
    if name == "edge_types":
        return ", ".join(map(str, value))
    if isinstance(value, list):
        named = (x if isinstance(x, str) else f"{x['column']} ({x['kind']})" for x in value)
        return " ".join(named)
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _stream(position: dict[str, Any]) -> str:
    """The position of training in its source."""
    first, *others = position["files"]
    source = f"{first} and {len(others)} more" if others else first
    skipped = f", {position['n_bad']:,} bad rows skipped" if position["n_bad"] else ""
    end = "the end" if position["ended"] else f"row {position['rows']:,}"
    return f"{source}, at {end} of pass {position['number']} of {position['passes']}{skipped}"


def _classes(counted: list[dict[str, Any]], head: str) -> str:
    """A table of the classes and their row counts; a tagger stores no counts."""
    import numpy as np

    from surelearn.table import Table

    class Counts(Table):
        _right = "fi"

        @staticmethod
        def _cell(name: str, value: Any) -> str:
            return f"{value:,}" if name == "rows" else Table._cell(name, value)

    names = {"label": head, "rows": "rows"}
    found = [name for name in names if name in counted[0]]
    return str(Counts({names[n]: np.array([line[n] for line in counted]) for n in found}))

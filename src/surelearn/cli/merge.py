"""`surelearn merge`: merges model files into one; must not know how models are merged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from surelearn.cli import _labels, _options
from surelearn.cli._options import Json


def merge(
    models: Annotated[list[Path], typer.Argument(metavar="MODEL", help="Saved models to merge.")],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", dir_okay=False, help="Where to write the merged model."),
    ],
    *,
    how: Annotated[
        Literal["evidence", "bayes", "weighted", "kl", "uniform"],
        typer.Option(help="Merge method; models of first-order rules need evidence or uniform."),
    ] = "evidence",
    any_labels: Annotated[
        bool,
        typer.Option("--any-labels", help="Merge models even if they have no label in common."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Merge models that were trained separately into one.

    Example: surelearn merge monday.sure tuesday.sure -o week.sure
    """
    _options.check_model(output, "--output")
    from surelearn.learners.file import load
    from surelearn.learners.merge_models import merge as merge_models

    merged = merge_models([load(path) for path in models], how, any_labels=any_labels)
    merged.save(output)
    if as_json:
        report: dict[str, Any] = {
            "model": str(output),
            "bytes": output.stat().st_size,
            "how": how,
            "merged": [str(path) for path in models],
        }
        if hasattr(merged, "classes_"):
            report["classes"] = merged.classes_.tolist()
        _options.print_json(report)
        return
    number = "one model" if len(models) == 1 else f"{len(models):,} models"
    typer.echo(f"Merged {number} into {output}.")
    if hasattr(merged, "classes_"):
        typer.echo(_labels.in_words(merged))
        _labels.warn_alike(merged)

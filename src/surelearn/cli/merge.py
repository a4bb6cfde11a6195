"""`surelearn merge`: merges model files into one; must not know how models are merged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from surelearn.cli import _options
from surelearn.cli._options import Json


def merge(
    models: Annotated[list[Path], typer.Argument(metavar="MODEL", help="Saved models to merge.")],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", dir_okay=False, help="Where to write the merged model."),
    ],
    how: Annotated[
        Literal["evidence", "bayes", "weighted", "kl", "uniform"],
        typer.Option(help="Merge method; models of first-order rules need evidence or uniform."),
    ] = "evidence",
    as_json: Json = False,
) -> None:
    """Merge models that were trained separately into one.

    Example: surelearn merge monday.sure tuesday.sure -o week.sure
    """
    _options.check_model(output, "--output")
    from surelearn.estimators.file import load
    from surelearn.estimators.merge_models import merge as merge_models

    merged = merge_models([load(path) for path in models], how)
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
    else:
        typer.echo(f"Merged {len(models)} models into {output}")

"""`surelearn merge`: models in files as one model in a file; must not know how they are merged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from surelearn.cli import _options
from surelearn.cli._options import Json


def merge(
    models: Annotated[list[Path], typer.Argument(metavar="MODEL", help="Saved models to merge.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", dir_okay=False, help="Where to write the result.")
    ],
    how: Annotated[
        Literal["evidence", "bayes", "weighted", "kl", "uniform"],
        typer.Option(help="How to merge; rules without variances take evidence or uniform."),
    ] = "evidence",
    as_json: Json = False,
) -> None:
    """Make one model of many that were trained apart.

    Example: surelearn merge monday.sure tuesday.sure -o week.sure
    """
    _options.check_model(output, "--output")
    import surelearn

    merged = surelearn.merge([surelearn.load(path) for path in models], how)
    merged.save(output)
    if as_json:
        report = {
            "model": str(output),
            "bytes": output.stat().st_size,
            "how": how,
            "merged": [str(path) for path in models],
            "classes": merged.classes_.tolist(),
        }
        _options.print_json(report)
    else:
        typer.echo(f"Merged {len(models)} models into {output}")

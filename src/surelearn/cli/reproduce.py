"""`surelearn reproduce`: tables and figures of the papers; must not know what they compute."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surelearn.cli._options import Json, Quiet, print_json
from surelearn.cli._progress import count_bar, warnings_shown

if TYPE_CHECKING:
    from surelearn.reproduce import Claim, Entry


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Entries or documents; all by default."),
    ] = None,
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer and smaller cases: minutes instead of hours.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            file_okay=False,
            help="Folder of tables, pictures and pages; reproduced, or reproduced-quick.",
        ),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; does not change the result.")
    ] = None,
    names_only: Annotated[bool, typer.Option("--list", help="List the entries and exit.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Rebuild the tables and figures of the papers behind surelearn.

    Each entry is one table or figure. The command writes its tables, its pictures and a page, and
    one page of all claims with what held. Stopped runs continue where they were.

    Data sets are looked for in the folder that SURELEARN_DATA names, then in scikit-learn's data
    folder; those that their publishers offer are fetched.

    \b
    Examples:
      surelearn reproduce --list
      surelearn reproduce --quick
      surelearn reproduce stdev
      surelearn reproduce variance-table2 multiclass-table3 -o results
    """
    from surelearn import _check
    from surelearn.reproduce import chosen
    from surelearn.reproduce import reproduce as rebuilt

    entries = chosen(names or ())
    if names_only:
        _list(entries)
        return
    for package in ("matplotlib", "pycrfsuite"):  # now, not after an hour
        _check.need("surelearn reproduce", package, "reproduce")
    folder = output or Path("reproduced-quick" if quick else "reproduced")
    with warnings_shown(), count_bar("Cases", quiet=quiet) as progress:
        found = rebuilt(list(entries), folder=folder, quick=quick, n_jobs=jobs, progress=progress)
    if as_json:
        print_json({name: [_claim(one) for one in claims] for name, claims in found.items()})
        return
    _say(entries, found, folder)


def _list(entries: Mapping[str, Entry]) -> None:
    width = max(map(len, entries))
    for name, entry in entries.items():
        typer.echo(f"{name:<{width}}  {entry.title}")


def _say(entries: Mapping[str, Entry], found: Mapping[str, Sequence[Claim]], folder: Path) -> None:
    from surelearn.reproduce.pages import read_csv

    for name, entry in entries.items():
        typer.echo(f"\n{name}: {entry.title}")
        for path in sorted((folder / name).glob("table*.csv")):
            typer.echo("\n" + _columns(read_csv(path)))
        for claim in found[name]:
            typer.echo(f"{claim.verdict:>12}: {claim.text} Paper: {claim.theirs}; {claim.ours}.")
    typer.echo(f"\nTables, pictures and pages are in {folder}; start with {folder / 'README.md'}.")


def _columns(lines: Sequence[Mapping[str, str]]) -> str:
    """Lines of a table in columns of equal width."""
    rows = [list(lines[0]), *(list(line.values()) for line in lines)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    cells = ((cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "".join("  " + "  ".join(row).rstrip() + "\n" for row in cells)


def _claim(claim: Claim) -> dict[str, object]:
    return {
        "claim": claim.text,
        "paper": claim.theirs,
        "ours": claim.ours,
        "lead": _or_none(claim.lead),
        "error": _or_none(claim.error),
        "verdict": claim.verdict,
    }


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None  # JSON has no NaN and no infinity

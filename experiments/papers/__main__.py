"""Lists entries, runs them and says what held; must not know what they compute."""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from experiments.papers.entry import Claim, Entry
from experiments.papers.pages import read_csv
from experiments.papers.progress import counted, warnings_shown
from experiments.papers.registry import chosen
from experiments.papers.run import reproduce

_ABOUT = """\
Rebuild the tables and figures of the papers behind surelearn.

Each entry is one table or figure. The command writes its tables and its pictures, a page for each
document, and one page of all claims with what held. Stopped runs continue where they were.

Data sets are looked for in the folder that SURELEARN_DATA names, then in scikit-learn's data
folder; those that their publishers offer are fetched.
"""
_EXAMPLES = """\
examples:
  python -m experiments.papers --list
  python -m experiments.papers --quick
  python -m experiments.papers stdev
  python -m experiments.papers variance-table2 multiclass-table3 -o results
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    given = _parser().parse_intermixed_args(arguments)
    try:
        entries = chosen(given.names)
        if given.list:
            _list(entries)
        else:
            _rebuild(entries, given)
    except (ImportError, OSError, TypeError, ValueError) as error:
        if isinstance(error, ImportError) and "pip install" not in str(error):
            raise  # a bug, which needs its traceback
        print(f"papers: {_line(error)}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.papers",
        description=_ABOUT,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help="entries or documents; all by default")
    add("--quick", action="store_true", help="fewer and smaller cases: minutes instead of hours")
    add(
        "--output",
        "-o",
        type=_folder,
        metavar="FOLDER",
        help="folder of tables, pictures and pages; reproduced, or reproduced-quick",
    )
    add("--jobs", type=_count, metavar="N", help="processes; does not change the result")
    add("--list", action="store_true", help="list the entries and exit")
    add("--quiet", "-q", action="store_true", help="show no progress")
    add("--json", action="store_true", help="print one line of JSON")
    return parser


def _folder(text: str) -> Path:
    if Path(text).is_file():
        raise argparse.ArgumentTypeError(f"must be a folder, got the file {text!r}.")
    return Path(text)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text!r}.")
    return int(text)


def _line(error: Exception) -> str:
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        where = "" if error.filename is None else f"{os.fspath(error.filename)}: "
        text = f"{where}{error.strerror}."
    return " ".join(" ".join([text, *getattr(error, "__notes__", ())]).split())


def _list(entries: Mapping[str, Entry]) -> None:
    width = max(map(len, entries))
    for name, entry in entries.items():
        print(f"{name:<{width}}  {entry.title}")


def _rebuild(entries: Mapping[str, Entry], given: argparse.Namespace) -> None:
    for package in ("matplotlib", "pycrfsuite"):  # now, not after an hour
        if find_spec(package) is None:
            raise ImportError(
                f"experiments.papers needs {package}, got none. "
                "In a clone of surelearn, run: pip install . --group papers"
            )
    folder = given.output or Path("reproduced-quick" if given.quick else "reproduced")
    how: dict[str, Any] = {"folder": folder, "quick": given.quick, "n_jobs": given.jobs}
    with warnings_shown(), counted("Cases", quiet=given.quiet) as progress:
        found = reproduce(list(entries), **how, progress=progress)
    if given.json:
        plain = {name: [_plain(one) for one in claims] for name, claims in found.items()}
        print(json.dumps(plain, ensure_ascii=False, allow_nan=False))
    else:
        _say(entries, found, folder)


def _say(entries: Mapping[str, Entry], found: Mapping[str, Sequence[Claim]], folder: Path) -> None:
    for name, entry in entries.items():
        print(f"\n{name}: {entry.title}")
        for path in sorted((folder / name).glob("table*.csv")):
            print("\n" + _columns(read_csv(path)))
        for claim in found[name]:
            print(f"{claim.verdict:>12}: {claim.text} Paper: {claim.theirs}; {claim.ours}.")
    print(f"\nTables, pictures and pages are in {folder}; start with {folder / 'README.md'}.")


def _columns(lines: Sequence[Mapping[str, str]]) -> str:
    """Lines of a table in columns of equal width."""
    rows = [list(lines[0]), *(list(line.values()) for line in lines)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    cells = ((cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "".join("  " + "  ".join(row).rstrip() + "\n" for row in cells)


def _plain(claim: Claim) -> dict[str, object]:
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


def _stop(number: int, frame: object) -> None:
    """Leave as at Ctrl-C, so that no process of a case is left behind."""
    sys.exit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _stop)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)

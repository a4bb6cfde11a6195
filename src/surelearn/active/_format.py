"""A simulation as text and as plain values; must not know how its curves were drawn."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from surelearn.table import word

if TYPE_CHECKING:
    from surelearn.active._curves import Simulation

_WIDTH = 79


def table(found: Simulation, shares: Sequence[float]) -> str:
    """A headline, one line per curve, and notes on the numbers."""
    last = int(found.labels[-1])
    head = [
        "learner",
        "strategy",
        f"at {last:,} labels",
        *(f"{100 * share:g} % of all" for share in shares),
    ]
    curves = _curves(found, shares)
    lines = [head, *curves, *_full(found, len(shares))]
    wide = [max(map(len, column)) for column in zip(*lines, strict=True)]
    made = ["  ".join(_pad_cells(line, wide)).rstrip() for line in lines]
    return "\n".join([_headline(found), "", *made, "", *_notes(found, shares, curves)])


def _headline(found: Simulation) -> str:
    runs = "1 run" if found.n_runs == 1 else f"{found.n_runs} runs"
    first, last = found.labels[[0, -1]].tolist()
    least, most = int(found.pool.min()), int(found.pool.max())
    pool = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    return f"{runs}, {first:,} to {last:,} labels from a pool of {pool} rows"


def _curves(found: Simulation, shares: Sequence[float]) -> list[list[str]]:
    needed = [found.labels_needed(share) for share in shares]
    by_pair = [{line[:2]: line for line in one} for one in needed]
    lines = []
    for pair, curve in found.curves.items():
        cells = [_words_on_labels(one[pair], one.get((pair[0], "random"))) for one in by_pair]
        lines.append([*map(word, pair), _accuracy(curve[:, -1]), *cells])
    return lines


def _full(found: Simulation, n_shares: int) -> list[list[str]]:
    return [
        [word(name), "(all)", _accuracy(values), *[""] * n_shares]
        for name, values in found.full.items()
    ]


def _accuracy(values: Any) -> str:
    if len(values) == 1:
        return f"{100 * values[0]:.1f} %"
    error = values.std(ddof=1) / np.sqrt(len(values))
    return f"{100 * values.mean():.1f}+-{100 * error:.1f} %"


def _words_on_labels(line: Any, random: Any) -> str:
    """Labels needed; for all but random order also the ratio to random order."""
    labels = "never" if np.isinf(line.labels) else f"{line.labels:,.0f}"
    if random is None or line is random:
        return labels
    if np.isinf(line.labels):
        return labels if np.isinf(random.labels) else f"{labels}: >{100 * line.ratio:.0f} %"
    bound = "<" if np.isinf(random.labels) else ""
    error = "" if np.isnan(line.ratio_error) else f"+-{100 * line.ratio_error:.0f}"
    return f"{labels}: {bound}{100 * line.ratio:.0f}{error} %"


def _notes(found: Simulation, shares: Sequence[float], curves: list[list[str]]) -> list[str]:
    """What the columns are, and the signs in them."""
    *most, last = [f"{100 * share:g}" for share in shares]
    note = (
        f"Columns: accuracy at {found.labels[-1]:,} labels; then the labels needed to reach "
        f"{', '.join(most)} and {last} % of the accuracy with all labels"
    )
    if any(strategy == "random" for _, strategy in found.curves):
        note += ", and that number as a percentage of what random order needs"
    note += "."
    if any(sign in cell for line in curves for cell in line[3:] for sign in "<>"):
        note += " < and >: bounds, since one of the two did not get there."
    if found.n_runs > 1:
        note += " +-: one standard error over runs."
    # A number stays with its sign.
    lines = textwrap.wrap(note.replace(" %", "\N{NO-BREAK SPACE}%"), _WIDTH)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def _pad_cells(cells: list[str], wide: list[int]) -> list[str]:
    left = [cell.ljust(width) for cell, width in zip(cells[:2], wide[:2], strict=True)]
    return left + [cell.rjust(width) for cell, width in zip(cells[2:], wide[2:], strict=True)]


def plain(found: Simulation, shares: Sequence[float]) -> dict[str, Any]:
    """The simulation as lists, strings and numbers; None for unknown values."""
    mean, error = found.mean, found.error
    curves = [
        {
            "learner": pair[0],
            "strategy": pair[1],
            "accuracy": mean[pair].tolist(),
            "error": [_finite_or_none(x) for x in error[pair].tolist()],
        }
        for pair in found.curves
    ]
    needed = [
        {"share": share, **{name: _finite_or_none(value) for name, value in line._asdict().items()}}
        for share in shares
        for line in found.labels_needed(share)
    ]
    return {
        "runs": found.n_runs,
        "labels": found.labels.tolist(),
        "curves": curves,
        "all_labels": {name: float(values.mean()) for name, values in found.full.items()},
        "labels_needed": needed,
    }


def _finite_or_none(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value

"""Prints an evaluation as text of 80 columns and as HTML; must not know how it is computed."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from surelearn.estimators.table import word

if TYPE_CHECKING:
    from surelearn.evaluation._result import Evaluation

_WIDTH = 79
_WIDEST = 16
#: HTML shows the whole confusion matrix up to this many classes.
_MOST_IN_HTML = 30


def text(found: Evaluation) -> str:
    parts = [
        headline(found),
        "\n".join(f"{name:<18} {value}" for name, value in measures(found)),
        *map(_wrapped, notes(found)),
        str(found.scores),
        mistakes(found),
    ]
    if found.comparison is not None:
        parts.append("\n".join(map(_wrapped, str(found.comparison).splitlines())))
    return "\n\n".join(part for part in parts if part)


def _wrapped(sentence: str) -> str:
    return textwrap.fill(sentence, _WIDTH, break_long_words=False)


def headline(found: Evaluation) -> str:
    skipped = f", {found.n_bad:,} skipped as bad" if found.n_bad else ""
    return f"{_many(found.n, 'row')}{skipped}, {_many(len(found.classes), 'class', 'es')}"


def measures(found: Evaluation) -> Iterator[tuple[str, str]]:
    """Names and values of the scores that are single numbers."""
    yield "accuracy", f"{found.accuracy:.4f} +- {found.standard_error:.4f}"
    for name in ("macro F1", "weighted F1", "log loss", "Brier", "calibration error"):
        value = getattr(found, name.lower().replace(" ", "_"))
        if value is not None:
            yield name, f"{value:.4f}"


def notes(found: Evaluation) -> Iterator[str]:
    """Remarks on missing scores and on unknown labels."""
    if found.no_probabilities:
        yield f"No log loss, Brier and calibration error: {found.no_probabilities}."
    if len(found.unknown):
        times = _many(int(found.support[len(found.classes) :].sum()), "row")
        some = ", ".join(word(str(label), _WIDEST) for label in found.unknown[:3].tolist())
        more = ", ..." if len(found.unknown) > 3 else ""
        yield (
            f"{_many(len(found.unknown), 'label')} that the model does not know, "
            f"on {times}: {some}{more}."
        )


def mistakes(found: Evaluation) -> str:
    """The whole confusion matrix if it fits in 80 columns, else its largest entries."""
    lines = _lines(found)
    if max(map(len, lines)) <= _WIDTH and len(lines) <= 40:
        title = "Rows: true labels; columns: predicted labels."
        return "\n".join([title, *lines])
    listed = found.mistakes()
    if not len(listed):
        return "No mistakes."
    return f"The most frequent mistakes:\n{listed}"


def _lines(found: Evaluation) -> list[str]:
    """The confusion matrix: names left-aligned, numbers right-aligned in their columns."""
    names = [word(str(label), _WIDEST) for label in found.labels.tolist()]
    heads = names[: len(found.classes)]
    columns = [
        [head, *(str(times or ".") for times in column)]
        for head, column in zip(heads, found.confusion.T.tolist(), strict=True)
    ]
    wide = [max(map(len, column)) for column in columns]
    first = max(map(len, names))
    lines = []
    for name, cells in zip(["", *names], zip(*columns, strict=True), strict=True):
        sized = [cell.rjust(width) for cell, width in zip(cells, wide, strict=True)]
        lines.append("  ".join([name.ljust(first), *sized]))
    return lines


def html(found: Evaluation) -> str:
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>"
        for name, value in measures(found)
    )
    parts = [f"<p>{escape(headline(found))}</p><table>{rows}</table>"]
    parts += [f"<p>{escape(note)}</p>" for note in notes(found)]
    parts.append(found.scores._repr_html_())
    parts.append(_confusion(found))
    if found.comparison is not None:
        parts.append(f"<p>{escape(str(found.comparison))}</p>")
    return "".join(parts)


def _confusion(found: Evaluation) -> str:
    """The confusion matrix as HTML, escaped: a label may contain markup."""
    if len(found.labels) > _MOST_IN_HTML:
        return f"<p>The most frequent mistakes:</p>{found.mistakes()._repr_html_()}"
    names = [escape(word(str(label))) for label in found.labels.tolist()]
    head = "".join(f"<th>{name}</th>" for name in names[: len(found.classes)])
    body = "".join(
        f"<tr><th>{name}</th>{''.join(f'<td>{times}</td>' for times in row)}</tr>"
        for name, row in zip(names, found.confusion.tolist(), strict=True)
    )
    return f"<table><caption>predicted</caption><tr><th>true</th>{head}</tr>{body}</table>"


def _many(count: int, what: str, ending: str = "s") -> str:
    return f"{count:,} {what}{'' if count == 1 else ending}"

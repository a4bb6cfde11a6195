"""Prints an evaluation as text of 80 columns and as HTML; must not know how it is computed."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from surelearn.scores._comparison import in_words
from surelearn.table import word

if TYPE_CHECKING:
    from surelearn.scores._comparison import Comparison
    from surelearn.scores._decisions import DecisionScores
    from surelearn.scores._label_scores import LabelScores
    from surelearn.scores._result import Evaluation

_WIDTH = 79
_WIDEST = 16
#: HTML shows the whole confusion matrix up to this many classes.
_MOST_IN_HTML = 30


class Looks(NamedTuple):
    """What is printed of an evaluation, from top to bottom."""

    headline: str
    measures: list[tuple[str, str]]  # names and values
    notes: list[str]
    tables: list[str]
    comparison: Comparison | None

    def text(self) -> str:
        parts = [
            self.headline,
            "\n".join(f"{name:<18} {value}" for name, value in self.measures),
            *map(_wrap, self.notes),
            *self.tables,
        ]
        if self.comparison is not None:
            parts.append("\n".join(map(_wrap, str(self.comparison).splitlines())))
        return "\n\n".join(part for part in parts if part)

    def html(self) -> str:
        """The same as HTML; the tables are HTML already."""
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>"
            for name, value in self.measures
        )
        parts = [f"<p>{escape(self.headline)}</p><table>{rows}</table>"]
        parts += [f"<p>{escape(note)}</p>" for note in self.notes]
        parts += self.tables
        if self.comparison is not None:
            parts.append(f"<p>{escape(str(self.comparison))}</p>")
        return "".join(parts)


def text(found: Evaluation) -> str:
    return _format(found, [str(found.scores), mistakes(found)]).text()


def html(found: Evaluation) -> str:
    return _format(found, [found.scores._repr_html_(), _confusion(found)], html=True).html()


def _format(found: Evaluation, tables: list[str], *, html: bool = False) -> Looks:
    measured, noted = list(measures(found)), list(notes(found))
    looks = Looks(headline(found), measured, noted, tables, found.comparison)
    return with_decisions(looks, found.decisions, html=html)


def with_decisions(looks: Looks, own: DecisionScores | None, *, html: bool) -> Looks:
    """What is printed, with what is to be said of decisions."""
    if own is None:
        return looks
    return looks._replace(
        measures=[*looks.measures, *own.measures()],
        notes=[*looks.notes, *own.notes()],
        tables=[*looks.tables, *own.tables(html=html)],
    )


def _wrap(sentence: str) -> str:
    return textwrap.fill(sentence, _WIDTH, break_long_words=False)


def headline(found: Evaluation) -> str:
    return f"{rows_of(found)}, {many(len(found.classes), 'class', 'es')}"


def rows_of(found: Evaluation | LabelScores) -> str:
    """The number of rows, and of those that were skipped."""
    skipped = f", {found.n_bad:,} skipped as bad" if found.n_bad else ""
    return f"{many(found.n, 'row')}{skipped}"


def measures(found: Evaluation) -> Iterator[tuple[str, str]]:
    """Names and values of the scores that are single numbers."""
    yield "accuracy", in_words(found.accuracy, found.accuracy_interval)
    for name in ("macro F1", "weighted F1", "log loss", "Brier", "calibration error"):
        value = getattr(found, name.lower().replace(" ", "_"))
        if value is not None:
            yield name, f"{value:.4f}"


def notes(found: Evaluation) -> Iterator[str]:
    """Remarks on missing scores and on unknown labels."""
    if found.no_probabilities:
        yield f"No log loss, Brier and calibration error: {found.no_probabilities}."
    yield from unknown(found, "on {}", "row")


def unknown(found: Evaluation | LabelScores, how_often: str, what: str) -> Iterator[str]:
    """A remark on labels that the model does not know, if there are any."""
    if not len(found.unknown):
        return
    times = how_often.format(many(int(found.support[len(found.classes) :].sum()), what))
    some = ", ".join(word(str(label), _WIDEST) for label in found.unknown[:3].tolist())
    more = ", ..." if len(found.unknown) > 3 else ""
    yield (
        f"{many(len(found.unknown), 'label')} that the model does not know, {times}: {some}{more}."
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


def many(count: int, what: str, ending: str = "s") -> str:
    return f"{count:,} {what}{'' if count == 1 else ending}"

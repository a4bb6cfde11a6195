"""Tables, pages and the list of claims as files; must not know how anything was found."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from experiments.papers.entry import Claim, Entry, Row, Rows
from experiments.papers.registry import DOCUMENTS, document_of, entries

_CLAIMS = ("entry", "claim", "paper", "ours", "lead", "standard error", "verdict", "note")
_INDEX = """# What held and what did not

Every claim of the five documents that open data can decide, with the figure of the document and
ours. *Lead* says by how much a claim holds, in the unit of the figures. It **held**, or did not,
where the lead is more than two standard errors from zero; otherwise it is *not decided*.

`python -m experiments.papers{quick}` has made this page and the tables behind it.
"""
_PAGE = """# {title}

[What held and what did not](README.md) lists the claims of all documents.
"""
#: What a section of a page begins with: its title, and the name of its entry.
_SECTION = re.compile(r"^## .*\n\nEntry `([\w-]+)`\.$", re.MULTILINE)
#: A link in the notes of an entry to another one, by its name.
_LINK = re.compile(r"\]\(([\w-]+)\)")


def write_entry(entry: Entry, rows: Rows, folder: Path) -> Sequence[Claim]:
    """Write the tables and pictures of an entry, and its section of the document's page.

    Returns its claims.
    """
    own, page = folder / entry.name, folder / f"{document_of(entry.name)}.md"
    tables, claims = entry.tables(rows), entry.claims(rows)
    for place, lines in enumerate(tables.values(), 1):
        write_csv(own / f"table{place}.csv", lines)
    write_csv(own / "claims.csv", [_line(entry, claim) for claim in claims], _CLAIMS)
    if entry.draw is not None:
        entry.draw(rows, own)
    found = sections(page.read_text(encoding="utf-8")) if page.exists() else {}
    found[entry.name] = _section(entry, tables, claims, own)
    page.write_text(document_page(document_of(entry.name), found), encoding="utf-8")
    return claims


def write_index(folder: Path, *, quick: bool) -> None:
    """Write the page of all claims that the folder has."""
    found = {
        document: [
            line
            for path in sorted(folder.glob(f"{document}-*/claims.csv"))
            for line in read_csv(path)
        ]
        for document in DOCUMENTS
    }
    write_csv(folder / "claims.csv", [line for part in found.values() for line in part], _CLAIMS)
    (folder / "README.md").write_text(index(found, quick=quick), encoding="utf-8")


def index(found: Mapping[str, Sequence[Row]], *, quick: bool) -> str:
    """The page of claims, by document."""
    parts = [_INDEX.format(quick=" --quick" if quick else "")]
    for document, lines in found.items():
        if not lines:
            continue
        parts += [f"## {DOCUMENTS[document].title}\n"]
        parts += [table([_shown(line) for line in lines]), _notes(lines)]
    return "\n".join(part for part in parts if part)


def table(lines: Sequence[Row]) -> str:
    """Lines as a Markdown table."""
    if not lines:
        return ""
    rows = [list(lines[0]), ["---"] * len(lines[0]), *(line.values() for line in lines)]
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in rows)


def read_csv(path: Path) -> list[Row]:
    """The lines of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_csv(path: Path, lines: Sequence[Row], columns: Iterable[str] | None = None) -> None:
    """A table; `columns` name those of one that may have no lines."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(columns or lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def address(name: str) -> str:
    """Where the section of an entry is, for the pages of the same folder."""
    titles = {entry.name: entry.title for entry in entries(document_of(name))}
    # As GitHub and the manual name headings.
    anchor = re.sub(r"[^\w\- ]", "", titles.get(name, "").lower()).replace(" ", "-")
    return f"{document_of(name)}.md" + (f"#{anchor}" if anchor else "")


def with_links(notes: str) -> str:
    """The notes of an entry, with links to the sections that they name."""
    return _LINK.sub(lambda found: f"]({address(found[1])})", notes.strip())


def sections(page: str) -> dict[str, str]:
    """The sections of a document's page, by entry."""
    starts = list(_SECTION.finditer(page))
    ends = [start.start() for start in starts[1:]] + [len(page)]
    return {
        start[1]: page[start.start() : end].rstrip("\n") + "\n"
        for start, end in zip(starts, ends, strict=True)
    }


def document_page(document: str, found: Mapping[str, str]) -> str:
    """The page of a document: the sections that there are, in the order of its entries."""
    names = [entry.name for entry in entries(document)]
    order = [name for name in names if name in found] + [
        name for name in found if name not in names
    ]
    return "\n".join(
        [_PAGE.format(title=DOCUMENTS[document].title), *map(found.__getitem__, order)]
    )


def _section(
    entry: Entry, tables: Mapping[str, Sequence[Row]], claims: Sequence[Claim], folder: Path
) -> str:
    parts = [f"## {entry.title}\n", f"Entry `{entry.name}`.\n", with_links(entry.notes) + "\n"]
    pictures = sorted(folder.glob("*.png"))
    parts += [f"![{path.stem}]({entry.name}/{path.name})\n" for path in pictures]
    for name, lines in tables.items():
        parts += [f"**{name}**\n", table(lines)]
    if claims:
        lines = [_line(entry, claim) for claim in claims]
        parts += ["**Claims**\n", table([_shown(line, link=False) for line in lines])]
        parts += [_notes(lines)]
    return "\n".join(part for part in parts if part.strip())


def _line(entry: Entry, claim: Claim) -> Row:
    values = (
        entry.name,
        claim.text,
        claim.theirs,
        claim.ours,
        f"{claim.lead:+.3g}",
        f"{claim.error:.2g}",
        claim.verdict,
        claim.note,
    )
    return dict(zip(_CLAIMS, values, strict=True))


def _shown(line: Row, *, link: bool = True) -> Row:
    """A claim as the pages have it."""
    shown = {name: value for name, value in line.items() if name not in ("entry", "note")}
    shown["verdict"] = f"**{line['verdict']}**" if line["verdict"] == "held" else line["verdict"]
    if not link:
        return shown
    where = line["entry"].split("-", 1)[1]
    return {"where": f"[{where}]({address(line['entry'])})", **shown}


def _notes(lines: Sequence[Row]) -> str:
    return "".join(f"- {line['claim']} {line['note']}\n" for line in lines if line["note"])

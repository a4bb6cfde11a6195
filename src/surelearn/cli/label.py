"""`surelearn label`: a page to label in; must not know how it works."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surelearn.cli._options import ROWS, Files, check_apart, reads, takes
from surelearn.cli._tables import TableOptions, table_classifier

if TYPE_CHECKING:
    from surelearn.label import Items, Session

_EXPORT = "Write the answers to this file instead of serving the page: .jsonl, .csv, .parquet."
_READING = ("text", "label", "label_separator", "format", "delimiter", "quote", "encoding",
            "skip_bad")  # fmt: skip
#: Options of sentences as well.
_SENTENCES = ("label", "format", "encoding", "skip_bad")
_WITHOUT = [name for name in ROWS if name not in _READING]

Names = Annotated[
    str | None,
    typer.Option(metavar="A,B,...", help="Labels to choose from; more can be added on the page."),
]
Many = Annotated[bool, typer.Option("--many", help="Any number of labels for each text.")]
Tags = Annotated[
    str | None,
    typer.Option(metavar="A,B,...", help="Tags for each token of sentences in CoNLL files."),
]
Spans = Annotated[
    str | None,
    typer.Option(metavar="A,B,...", help="Types of spans in sentences: tags O, B-A, I-A, ..."),
]
Columns = Annotated[
    str | None, typer.Option(metavar="W,POS,...", help="CoNLL: names of the columns.")
]
StoreFile = Annotated[
    Path | None,
    typer.Option(dir_okay=False, help="File of the answers; by default FILE.answers."),
]
Start = Annotated[
    Path | None, typer.Option(dir_okay=False, exists=True, help="A saved model to start from.")
]
Overlap = Annotated[
    float, typer.Option(min=0, max=1, help="Share of the texts that two people label.")
]
Explore = Annotated[
    float, typer.Option(min=0, max=0.99, help="Share of the questions drawn at random.")
]
Budget = Annotated[int | None, typer.Option(min=1, help="Suggest to stop after so many labels.")]
Error = Annotated[
    float | None, typer.Option(min=0, max=1, help="Suggest to stop at an error this low.")
]
Host = Annotated[str, typer.Option(help="Address to serve at; other machines can reach 0.0.0.0.")]
Port = Annotated[
    int, typer.Option(min=1, max=65535, help="Port; the next free one if it is in use.")
]
Browser = Annotated[bool, typer.Option(help="Open the page in the browser.")]
Rebuild = Annotated[
    bool, typer.Option("--rebuild", help="Rebuild all from the log, compare the bytes and exit.")
]
Seed = Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Random seed of a new store.")]
Id = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="Column with another value in each record."),
]
Export = Annotated[Path | None, typer.Option(dir_okay=False, help=_EXPORT)]
Agreed = Annotated[
    bool,
    typer.Option("--agreed", help="Export one line a text, with the label that counts."),
]


@takes("table", TableOptions)
@reads(ROWS, without=_WITHOUT)
def label(
    files: Files,
    *,
    reading: dict[str, Any],
    table: TableOptions,
    labels: Names = None,
    many: Many = False,
    tags: Tags = None,
    spans: Spans = None,
    columns: Columns = None,
    store: StoreFile = None,
    model: Start = None,
    overlap: Overlap = 0.0,
    explore: Explore = 0.1,
    budget: Budget = None,
    error: Error = None,
    host: Host = "127.0.0.1",
    port: Port = 8765,
    browser: Browser = True,
    rebuild: Rebuild = False,
    seed: Seed = 0,
    id: Id = None,
    export: Export = None,
    agreed: Agreed = False,
) -> None:
    """Label texts, sentences or tables in the browser; a model learns from every answer.

    Every answer is on disk before the next text is shown. Started again, the page goes on where it
    was. With --label, texts that have a label in this column start with it. With --table, the model
    learns from all columns of a file, and the page shows all of them.

    --export writes a line for each answer, with all columns of the files, the file and the line
    that it comes from, and who gave it.

    \b
    Examples:
      surelearn label pool.jsonl --text text --labels spam,ham
      surelearn label pool.csv known.csv --label topic --store topics.answers
      surelearn label pool.jsonl --labels urgent,billing,bug --many
      surelearn label flats.csv --table --labels high,low --id id
      surelearn label sentences.conll --spans PER,LOC
      surelearn label pool.jsonl --labels spam,ham --host 0.0.0.0 --overlap 0.1
      surelearn label pool.jsonl --id doc --export labels.jsonl --agreed
    """
    from surelearn import _check
    from surelearn.label import Session, Store, read_table
    from surelearn.label.progress import Goal

    _check.need("surelearn label", "uvicorn", "label")
    names = _names(labels, tags, spans)
    is_tagger = tags is not None or spans is not None
    kind = "tags" if is_tagger else "many" if many else "texts"
    path = store or Path(f"{files[0]}.answers")
    reading |= {"id": id} if id is not None else {}
    known = _check_table(table, reading, is_other=many or is_tagger)
    _check_kind(reading, many=many, columns=columns, is_tagger=is_tagger)
    _check_export(export, [*files, str(path)], kind, agreed=agreed)
    for option, is_given in (("--rebuild", rebuild), ("--export", export is not None)):
        if is_given and not path.exists():
            raise typer.BadParameter(f"{option} needs a file of answers, got none at {path}.")
    items = (
        _items(files, reading, columns, is_tagger=is_tagger)
        if known is None
        else read_table(files, **reading)
    )
    with Store(path) as opened:
        more: dict[str, Any] = {"overlap": overlap, "explore": explore, "seed": seed}
        session = Session(items, opened, names, kind=kind, model=model, columns=known, **more)
        if rebuild:
            _rebuild(session)
            return
        if export is not None:
            _export(session, export, agreed=agreed)
            return
        _say_pool(session, path)
        _serve(session, host=host, port=port, goal=Goal(budget, error), browser=browser)


def _names(labels: str | None, tags: str | None, spans: str | None) -> list[str]:
    from surelearn.label.spans import span_tags

    given = {"--labels": labels, "--tags": tags, "--spans": spans}
    used = [option for option, value in given.items() if value is not None]
    if len(used) > 1:
        raise typer.BadParameter(f"labels must be given once, got {' and '.join(used)}.")
    text = labels or tags or spans or ""
    names = [name.strip() for name in text.split(",") if name.strip()]
    return span_tags(names) if spans is not None else names


def _check_table(
    table: TableOptions, reading: dict[str, Any], *, is_other: bool
) -> dict[str, Any] | None:
    """What columns of a table were said to be; None where texts or sentences are labelled."""
    if not table.given:
        return None
    option = f"--{table.given[0]}"
    for what, has in (("--many, --tags and --spans", is_other),
                      ("--interaction", bool(table.interaction)),
                      ("--label-separator", "label_separator" in reading)):  # fmt: skip
        if has:
            raise typer.BadParameter(f"{option} cannot be with {what}.", param_hint=option)
    return table_classifier(table, reading, seed=0).columns or {}


def _check_kind(
    reading: dict[str, Any], *, many: bool, columns: str | None, is_tagger: bool
) -> None:
    """Refuse options of texts for sentences, and the reverse."""
    texts = {name: True for name in reading if name not in _SENTENCES} | {"many": many}
    asked, what = (texts, "texts") if is_tagger else ({"columns": columns}, "sentences")
    for name in (name for name, value in asked.items() if value):
        option = f"--{name.replace('_', '-')}"
        raise typer.BadParameter(f"{option} is for {what}.", param_hint=option)


def _check_export(export: Path | None, files: list[str], kind: str, *, agreed: bool) -> None:
    """Refuse a file of another format, or one of the inputs, before anything is read."""
    from surelearn.label.export import formats

    if export is None:
        if agreed:
            raise typer.BadParameter("--agreed needs a file to export to, got none. Use --export.")
        return
    known = formats(kind, agreed=agreed)
    if export.suffix[1:] not in known:
        endings = ", ".join(f".{name}" for name in known)
        raise typer.BadParameter(
            f"--export must name a file that ends in one of {endings}, got '{export}'."
        )
    check_apart(export, files, "export")


def _export(session: Session, path: Path, *, agreed: bool) -> None:
    from surelearn.label.export import exported

    data = exported(session, path.suffix[1:], agreed=agreed)
    path.write_bytes(data)
    typer.echo(f"{sum(1 for _ in session.label_steps()):,} labelled texts are in {path}.")


def _items(
    files: list[str], reading: dict[str, Any], columns: str | None, *, is_tagger: bool
) -> Items:
    from surelearn.label import read_sentences, read_texts

    if not is_tagger:
        return read_texts(files, **reading)
    tagged = "label" in reading
    if columns is not None:
        reading["columns"] = columns.split(",")
    return read_sentences(files, tagged=tagged, **reading)


def _say_pool(session: Session, path: Path) -> None:
    from surelearn.columns import Columns
    from surelearn.columns.known import Known

    if session.items.columns is not None:
        typer.echo(Columns.of([Known.of(one) for one in session.items.columns]))
    typer.echo(f"{len(session.items):,} {session.items.plural} to choose from.")
    for line in session.told():
        typer.echo(f"{line[0].upper()}{line[1:]}.")
    n_labels = sum(1 for _ in session.label_steps())
    have = f" {n_labels:,} are there already." if n_labels else ""
    typer.echo(f"Answers are kept in {path}.{have}")


def _serve(session: Session, *, host: str, port: int, goal: Any, browser: bool) -> None:
    from surelearn.label.serve import serve

    def ready(address: str, taken: int) -> None:
        if taken != port:
            typer.echo(f"Port {port} is in use, so this is port {taken}.")
        typer.echo(f"Open {address}\nCtrl-C stops. Started again, it goes on where it was.")
        if browser:
            typer.launch(address)

    serve(session, host=host, port=port, goal=goal, ready=ready)


def _rebuild(session: Session) -> None:
    from surelearn.label.rebuild import rebuilt

    found = rebuilt(session)
    typer.echo(
        f"Rebuilt from {found.n_events:,} events: {found.n_labels:,} labels, and a model of "
        f"{found.n_bytes:,} bytes. All bytes are the same."
    )

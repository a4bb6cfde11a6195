"""What `train` asks and says of tables: which columns are what; must not know how they learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

if TYPE_CHECKING:
    from surelearn.learners.table_classifier import SureTableClassifier

#: How to change what was inferred.
_REMEDY = "Change what a column is by --text, --category, --number, --date or --ignore."


def _named(kind: str) -> Any:
    return Annotated[
        str | None, typer.Option(metavar="A,B,...", help=f"Tables: columns that are {kind}.")
    ]


class TableOptions(NamedTuple):
    """The options of tables, in the order of the help."""

    table: Annotated[
        bool,
        typer.Option(
            "--table", help="Learn from all columns, as is the default without a column 'text'."
        ),
    ] = False
    category: _named("categories") = None  # type: ignore[valid-type]
    number: _named("numbers") = None  # type: ignore[valid-type]
    date: _named("dates") = None  # type: ignore[valid-type]
    ignore: _named("left out") = None  # type: ignore[valid-type]
    interaction: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B", help="Tables: two columns whose features are multiplied; repeatable."
        ),
    ] = None

    @property
    def given(self) -> list[str]:
        """The names of the options that were given."""
        return [name for name in self._fields if getattr(self, name)]


def table_classifier(
    options: TableOptions, reading: dict[str, Any], *, seed: int
) -> SureTableClassifier:
    """A new classifier of tables; `--text` names columns of it, and none to read alone."""
    from surelearn.learners.table_classifier import SureTableClassifier

    if "features" in reading:
        raise typer.BadParameter(
            "features is for rows of numbers, got columns of a table. Use --number.",
            param_hint="--features",
        )
    columns: dict[str, str] = {}
    asked = {"text": reading.pop("text", None), **options._asdict()}
    for kind in ("text", "category", "number", "date", "ignore"):
        for name in (asked[kind] or "").split(","):
            if name and columns.setdefault(name, kind) != kind:
                raise typer.BadParameter(
                    f"{kind} must not name a column of --{columns[name]}, got {name!r}.",
                    param_hint=f"--{kind}",
                )
    pairs = [tuple(pair.split(",")) for pair in options.interaction or ()]
    return SureTableClassifier(
        columns=columns or None, interactions=pairs or None, random_state=seed
    )


def check_no_table(model: Any, options: TableOptions) -> None:
    """Refuse the options of tables for another model, and for one that knows its columns."""
    if options.given:
        option = f"--{options.given[0]}"
        raise typer.BadParameter(
            f"{option.removeprefix('--')} is for new classifiers of tables, got a "
            f"{type(model).__name__}.",
            param_hint=option,
        )


def columns_in_words(report: dict[str, Any], model: Any) -> str:
    """The table of columns, if the model has one."""
    return "" if "columns" not in report else f"{model.columns_}\n{_REMEDY}\n"

"""Options that several commands share; must not know what the commands do with them."""

from __future__ import annotations

import glob
import inspect
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args, get_type_hints

import typer

_UNITS = ("bytes", "kB", "MB", "GB", "TB")
_ENDINGS = (".png", ".svg", ".pdf")

Model = Annotated[Path, typer.Argument(help="A saved model.", metavar="MODEL")]
Files = Annotated[
    list[str],
    typer.Argument(
        help="jsonl, csv, tsv, parquet, arrow, svmlight or vw files, compressed or not, or "
        "folders of them; - is standard input.",
        metavar="FILE",
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Text encoding, such as latin-1; utf-8 by default."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Json = Annotated[bool, typer.Option("--json", help="Print one line of JSON.")]


def _some_jobs(n: int) -> int:
    if n == 0:
        raise typer.BadParameter("0 is neither a number of threads nor negative.")
    return n


Jobs = Annotated[
    int,
    typer.Option(
        callback=_some_jobs,
        help="Threads; -1, the default, is one for each core, -2 leaves one out. Changes no "
        "result.",
    ),
]


#: The options of every command that reads rows, in the order of the help.
ROWS: dict[str, Any] = {
    "text": Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of texts; 'text' by default.")
    ],
    "label": Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Column of labels; 'label' by default."),
    ],
    "weight": Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of sample weights.")
    ],
    "features": Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...", help="Numeric columns to use instead of texts; '*' for all."
        ),
    ],
    "format": Annotated[
        str | None,
        typer.Option(metavar="FORMAT", help="File format, if the file names do not show it."),
    ],
    "delimiter": Annotated[
        str | None,
        typer.Option(metavar="CHARACTER", help="Column separator of csv, such as ';' or '\\t'."),
    ],
    "quote": Annotated[
        str | None, typer.Option(metavar="CHARACTER", help="Quote character of csv; '' for none.")
    ],
    "encoding": Encoding,
    "label_type": Annotated[
        str | None, typer.Option(metavar="str|int", help="Type of csv labels; guessed by default.")
    ],
    "label_separator": Annotated[
        str | None,
        typer.Option(
            metavar="CHARACTER",
            help="Separator of the labels of a row: such as ; in csv, a comma in svmlight.",
        ),
    ],
    "zero_based": Annotated[
        bool, typer.Option("--zero-based", help="Feature indices of svmlight start at 0, not 1.")
    ],
    "skip_bad": Annotated[
        bool,
        typer.Option("--skip-bad", help="Skip and count lines that cannot be parsed."),
    ],
}

#: The option that only groups have.
GROUPS: dict[str, Any] = {
    "cross": Annotated[
        bool,
        typer.Option(
            "--cross", help="Rankers: cross shared features of vw with those of each candidate."
        ),
    ],
}


def reads(
    options: Mapping[str, Any], *, without: Sequence[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replace the parameter `reading` of a command by these options.

    The command is then called with the given options as keywords of `read.batches`.

    Parameters
    ----------
    options : dict of {name: annotation}
        The default of a flag is False, that of any other option None.
    without : list of str
        Options that the command does not have.
    """
    chosen = {name: kind for name, kind in options.items() if name not in without}
    parameters = [_parameter(name, kind) for name, kind in chosen.items()]
    return _gather("reading", parameters, reading)


def takes(
    place: str, options: type[NamedTuple]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replace the parameter `place` of a command by the fields of a named tuple.

    The command is then called with the given options as one such tuple.
    """
    hints = get_type_hints(options, include_extras=True)
    fields = inspect.signature(options).parameters
    parameters = [_parameter(name, hints[name], field.default) for name, field in fields.items()]
    return _gather(place, parameters, options)


def _gather(
    place: str, options: list[inspect.Parameter], make: Callable[..., Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Put options in the place of one parameter, which gets what `make` makes of them."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**given: Any) -> None:
            asked = {option.name: given.pop(option.name) for option in options}
            command(**given, **{place: make(**asked)})

        # typer reads the signature.
        hints = get_type_hints(command, include_extras=True)
        own = inspect.signature(command).parameters
        others = [parameter for name, parameter in own.items() if name != place]
        parameters = [p.replace(annotation=hints[p.name]) for p in others]
        at = list(own).index(place)
        parameters[at:at] = options
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        return run

    return decorated


def _parameter(name: str, kind: Any, default: Any = None) -> inspect.Parameter:
    if get_args(kind)[0] is bool:
        default = False
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def reading(**asked: Any) -> dict[str, Any]:
    """Turn options into keywords of `read.batches` or `read.sentences`."""
    for name in ("features", "columns"):
        if asked.get(name) is not None:
            asked[name] = asked[name].split(",")
    for name in ("delimiter", "label_separator"):
        if asked.get(name) == r"\t":
            asked[name] = "\t"
    if asked.get("label_type") is not None:
        asked["label_type"] = {"str": str, "int": int}.get(asked["label_type"], asked["label_type"])
    return {name: value for name, value in asked.items() if value not in (None, False)}


def model_in(path: Path, wanted: str = "classifier", *, jobs: int = -1) -> Any:
    """Load a model for so many threads; refuse one that other commands handle, such as a tagger."""
    from surelearn.learners.file import load

    model = load(path)
    model.task.check_command(path, model, wanted)
    model.n_jobs = jobs
    return model


def check_takes(model: Any, reading: dict[str, Any], **options: object) -> None:
    """Refuse options that do not apply to models of this kind."""
    for name, value in {**dict.fromkeys(reading, True), **options}.items():
        if value and not model.task.takes(name):
            option = f"--{name.replace('_', '-')}"
            who = "rankers" if name in ("all", "cross") else "classifiers"
            raise typer.BadParameter(
                f"{option.removeprefix('--')} is for {who}, got a {model.task.noun}.",
                param_hint=option,
            )


def rule(text: str, option: str = "--rule") -> Any:
    """Parse a rule: a name, or a name with parameters such as ``arow(r=0.3)``."""
    from surelearn import rules

    wrong = f"{option} must be a name such as 'arow' or 'arow(r=0.3)', got {text!r}."
    found = re.fullmatch(r"([\w-]+)(?:\((.*)\))?", text.strip())
    if found is None:
        raise ValueError(wrong)
    name, inner = found[1].lower(), found[2]
    found_rule = rules.get(name, who=option)
    if inner is None:
        return name
    pairs = [part.partition("=") for part in inner.split(",") if part.strip()]
    try:
        values = {key.strip(): float(value) for key, _, value in pairs}
    except ValueError:
        raise ValueError(wrong) from None
    try:
        return found_rule.replace(**values)
    except TypeError as error:
        raise ValueError(
            f"{option} must have the parameters of {name}, got {text!r}: {error}"
        ) from None


def check_picture(path: Path, option: str) -> None:
    """Check before the work that a picture can be written after it."""
    name = option.removeprefix("--")
    if path.suffix.lower() not in _ENDINGS:
        raise typer.BadParameter(
            f"{name} must end in .png, .svg or .pdf, got '{path}'.", param_hint=option
        )
    check_lines(path, option)


def check_drawable(path: Path, option: str) -> None:
    """Check before the work that a picture can be drawn and written after it."""
    from surelearn import _check

    check_picture(path, option)
    _check.need(option, "matplotlib", "plot")


def check_lines(path: Path, option: str) -> None:
    """Check before the work that lines can be written to this file after it."""
    check_folder(path, option)
    from surelearn import files

    files.check_appendable(path)


def check_model(path: Path, option: str) -> None:
    """Check before the work that a model can be written to this file after it."""
    check_folder(path, option)
    from surelearn import files

    files.check_writable(path)


def check_folder(path: Path, option: str) -> None:
    if not path.absolute().parent.is_dir():
        name = option.removeprefix("--")
        raise typer.BadParameter(
            f"{name} must be in a folder that exists, got '{path}'.", param_hint=option
        )


def check_apart(output: Path, inputs: list[str], option: str = "output") -> None:
    """Refuse an output that is one of the inputs, or that the next run would read as an input.

    The second case is a file written into an input folder, with a name of a known format.
    """
    from surelearn.read import is_known

    folder = output.absolute().parent
    for name in [path for given in inputs for path in (given, *glob.glob(given, recursive=True))]:
        if _is_same(output, name) or (_is_same(folder, name) and is_known(output)):
            raise typer.BadParameter(
                f"{option} must not be one of the inputs, got '{output}'.", param_hint=f"--{option}"
            )


def _is_same(one: Path, other: str) -> bool:
    return one.exists() and os.path.exists(other) and os.path.samefile(one, other)


def size(n_bytes: float) -> str:
    """A number of bytes with its unit, such as ``2.9 kB``."""
    for unit in _UNITS:
        if n_bytes < 1000 or unit == _UNITS[-1]:
            break
        n_bytes /= 1000
    return f"{n_bytes:,.0f} {unit}" if unit == "bytes" else f"{n_bytes:,.1f} {unit}"


def print_json(found: dict[str, Any]) -> None:
    typer.echo(json.dumps(found, ensure_ascii=False, allow_nan=False))


def say(report: dict[str, Any], said: str, *, as_json: bool) -> None:
    """Print a report as JSON or in words."""
    if as_json:
        print_json(report)
    else:
        typer.echo(said)

"""Pages of the manual that are written from the code: the reference, the commands, the papers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import typer.main

import surelearn
from surelearn.cli._app import app as commands

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"

#: Public modules under their heading in the reference, with what each is for.
MODULES = {
    "Modules": {
        "surelearn": "Estimators, and functions that take any of them",
    },
    "Parts of a model": {
        "surelearn.rules": "Update rules",
        "surelearn.constraints": "Which wrong classes an update uses",
        "surelearn.kernels": "Kernels",
        "surelearn.decode": "Codes for many classes, and chains",
        "surelearn.graph": "Graphs, and inference on them",
        "surelearn.probability": "Margins and variances to probabilities",
        "surelearn.weights": "Gaussian weights, without an estimator",
        "surelearn.solvers": "Solvers of batch losses",
    },
    "Data": {
        "surelearn.text": "Texts to sparse rows",
        "surelearn.columns": "What the columns of a table are",
        "surelearn.read": "Files, pipes and frames to batches of rows",
        "surelearn.datasets": "Data sets",
        "surelearn.templates": "Features of tokens",
        "surelearn.candidates": "Features of candidates and labels",
    },
    "Work with models": {
        "surelearn.active": "Which rows to label next",
        "surelearn.evaluation": "Scores of models",
        "surelearn.decide": "Decisions with finite-sample promises, from scores and losses",
        "surelearn.tuning": "Results of tuning",
        "surelearn.prediction": "Predictions for whole files",
        "surelearn.merging": "States of models, to be added up and merged",
        "surelearn.label": "The labelling page, and labelling without a browser",
        "surelearn.plot": "Displays",
        "surelearn.dask": "Training on Dask (extra `dask`)",
        "surelearn.spark": "Training on Spark (extra `spark`)",
    },
}


#: Where only these names are for users.
ONLY = {"surelearn.merging": ("Evidence", "MergeState")}


def index_page() -> Iterator[str]:
    """All estimators, modules under their headings, then the commands and the file format."""
    yield from ("# Reference", "", "**Estimators**", "")
    for name in estimators():
        about = (getattr(surelearn, name).__doc__ or "").strip().splitlines()[0]
        yield f"- [`{name}`](names/surelearn.{name}.rst): {about}"
    yield ""
    for title, modules in MODULES.items():
        yield from (f"**{title}**", "")
        yield from (f"- [`{module}`]({module}.rst): {about}." for module, about in modules.items())
        yield ""
    yield from ("**Commands and files**", "")
    yield "- [Commands](commands.md): every command with its options."
    yield from ("- [File format](../format.md): enough to write a reader of model files.", "")
    pages = [module for modules in MODULES.values() for module in modules]
    yield from ("```{toctree}", ":hidden:", ":maxdepth: 1", "")
    yield from (*pages, "commands", "../format", "```")


def estimators() -> list[str]:
    """The public estimators, those that learn online first."""
    found = [name for name in surelearn.__all__ if hasattr(getattr(surelearn, name), "fit")]
    return sorted(found, key=lambda name: (not name.startswith("Sure"), name))


def names_of(module: str) -> tuple[list[str], list[str], list[str]]:
    """Public classes, functions and other values of a module."""
    package = import_module(module)
    kinds: tuple[list[str], list[str], list[str]] = ([], [], [])
    for name in sorted(ONLY.get(module, package.__all__), key=str.lower):
        found = getattr(package, name)
        if isinstance(found, type):
            kinds[0].append(name)
        elif callable(found):
            kinds[1].append(name)
        elif type(found).__name__ != "module":
            kinds[2].append(name)
    return kinds


def module_page(module: str, about: str) -> Iterator[str]:
    """One page: a table of names, each with a page that `autosummary` writes."""
    yield from (module, "=" * len(module), "", f"{about}.".replace("`", "``"), "")
    yield from (f".. currentmodule:: {module}", "")
    for title, names in zip(("Classes", "Functions", "Values"), names_of(module), strict=True):
        if names and title != "Values":
            yield from (title, "-" * len(title), "", ".. autosummary::", "   :toctree: names", "")
            yield from (f"   {name}" for name in names)
            yield ""
        elif names:
            yield from (title, "-" * len(title), "")
            yield from (f"``{name}``\n" for name in names)


def command_page() -> Iterator[str]:
    """All commands with their arguments and options, from the command itself."""
    group = typer.main.get_command(commands)
    yield from ("# Commands", "")
    yield "The extra `cli` installs the command `surelearn`; `surelearn label` also needs the extra"
    yield from ("`label`. The [guide](../howto/command_line.md) shows them at work.", "")
    yield from described(group, "surelearn")


def described(command: Any, path: str) -> Iterator[str]:
    """A command with its options, or a group with the commands in it."""
    for name, sub in getattr(command, "commands", {}).items():
        if not sub.hidden:
            yield from described(sub, f"{path} {name}")
    if hasattr(command, "commands"):
        return
    context = command.make_context(path, [], resilient_parsing=True)
    yield from (f"## `{path}`", "")
    for part in (command.help or "").split("\n\n"):
        verbatim = part.startswith("\b\n")  # a list of examples
        yield from ("```text", part[2:], "```", "") if verbatim else (cleaned(part), "")
    yield from ("```text", f"{path} {' '.join(command.collect_usage_pieces(context))}", "```", "")
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    rows = [f"| `{cleaned(names)}` | {cleaned(told)} |" for names, told in filter(None, records)]
    yield from ("| option | meaning |", "|---|---|", *rows, "")


def cleaned(text: str) -> str:
    """A help text without the marks of rich, with vertical bars escaped."""
    text = re.sub(r"\[/?(?:bold|dim|italic|cyan|green|red|yellow)\]", "", text)
    return " ".join(text.replace("\\[", "[").replace("|", "\\|").split())


def papers_page() -> Iterator[str]:
    """The tables of all pages of theory, joined: paper, equation, code, test."""
    yield from ("# Papers and code", "")
    yield "Where each equation is in the code, and which test compares the two. The rows are those"
    yield from ("at the end of each page of theory.", "")
    for page in sorted((ROOT / "docs" / "theory").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if page.name in ("index.md", "papers.md") or "## Paper and code\n" not in text:
            continue
        title = text.splitlines()[0].removeprefix("# ")
        table = text.split("## Paper and code\n")[1].strip("\n").split("\n\n")[0]
        yield from (f"## [{title}]({page.name})", "", table, "")


def write() -> list[str]:
    """Write all generated pages, but those that are as they were; the pages of modules."""
    pages = []
    for modules in MODULES.values():
        for module, about in modules.items():
            pages.append(str(REFERENCE / f"{module}.rst"))
            save(Path(pages[-1]), module_page(module, about))
    save(REFERENCE / "index.md", index_page())
    save(REFERENCE / "commands.md", command_page())
    save(ROOT / "docs" / "theory" / "papers.md", papers_page())
    remove_old_names()
    return pages


def remove_old_names() -> None:
    """Remove pages that `autosummary` wrote for names that are gone."""
    modules = [module for part in MODULES.values() for module in part]
    names = {f"{module}.{name}" for module in modules for kind in names_of(module) for name in kind}
    for page in (REFERENCE / "names").glob("*.rst"):
        if page.stem not in names:
            page.unlink()


def save(path: Path, lines: Iterator[str]) -> None:
    text = "\n".join(lines).rstrip() + "\n"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def skipped(*event: Any) -> bool | None:
    """Leave out what the docstring of a class describes, and scikit-learn's plumbing."""
    _, _, name, member, *_ = event
    described = isinstance(member, property) and name.endswith("_")
    plumbing = re.fullmatch(r"get_metadata_routing|set_\w+_request", name)
    return True if described or plumbing else None


def reworded(*event: Any) -> None:
    """Take a link to scikit-learn's manual out of what its classes pass on."""
    lines: list[str] = event[-1]
    lines[:] = [re.sub(r":ref:`([^<`]+?) *<[^`]*>`", r"\1", line) for line in lines]


def setup(app: Any) -> dict[str, bool]:
    app.connect("autodoc-skip-member", skipped)
    app.connect("autodoc-process-docstring", reworded)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

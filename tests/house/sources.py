"""The files under watch: read and parsed once, with the lines that count as code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

#: Columns of the table, and the folders behind each, without what another column has of them.
COLUMNS = {
    "src": ("src",),
    "cpp": ("cpp",),
    "tests": ("tests",),
    "papers": ("experiments/papers",),
    "scripts": ("benchmarks", "examples", "experiments"),
}
_SUFFIXES = {".py", ".hpp", ".cpp"}

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Budget(NamedTuple):
    """A line of the table: a figure for each column, and by name what is over the limit."""

    title: str
    limit: str
    figures: dict[str, object]
    over: dict[str, str]


@dataclass(frozen=True)
class Source:
    """A file of either language; the path is relative to the root, with slashes."""

    path: str
    text: str

    @property
    def is_python(self) -> bool:
        return self.path.endswith(".py")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the tree."""
        return list(ast.walk(self.tree))

    @cached_property
    def definitions(self) -> list[tuple[str, Definition]]:
        """Every class and function with its qualified name, outer ones first."""
        return list(_definitions(self.tree))

    @cached_property
    def code(self) -> dict[int, str]:
        """Lines of code by number: neither blank nor comment nor docstring."""
        text = self.text if self.is_python else _without_comments(self.text)
        lines = ((n, line.strip()) for n, line in enumerate(text.splitlines(), 1))
        kept = {n: line for n, line in lines if line and not line.startswith("#")}
        return {n: line for n, line in kept.items() if n not in self._docstrings}

    @cached_property
    def _docstrings(self) -> set[int]:
        if not self.is_python:
            return set()
        nodes = [self.tree, *(node for _, node in self.definitions)]
        found = [node.body[0] for node in nodes if ast.get_docstring(node, clean=False) is not None]
        return {n for node in found for n in range(node.lineno, (node.end_lineno or 0) + 1)}

    def functions(self) -> Iterator[tuple[str, int]]:
        """Name and lines of code of every function."""
        spans = _python_spans(self.definitions) if self.is_python else _cpp_spans(self.code)
        for name, first, last in spans:
            yield name, sum(n in self.code for n in range(first, last + 1))


def read(root: Path, folders: tuple[str, ...]) -> list[Source]:
    """The files of code below some folders of the root, in order, but for inner columns."""
    every = [name for names in COLUMNS.values() for name in names]
    inner = [root / name for name in every if str(Path(name).parent) in folders]
    paths = sorted(
        path
        for name in folders
        for path in (root / name).rglob("*")
        if path.suffix in _SUFFIXES and not any(path.is_relative_to(other) for other in inner)
    )
    return [Source(path.relative_to(root).as_posix(), path.read_text()) for path in paths]


def _definitions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, Definition]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Definition):
            yield prefix + child.name, child
            yield from _definitions(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield from _definitions(child, prefix)


def _python_spans(found: list[tuple[str, Definition]]) -> Iterator[tuple[str, int, int]]:
    for name, node in found:
        if not isinstance(node, ast.ClassDef):
            yield name, node.lineno, node.end_lineno or node.lineno


# ------------------------------------------------------------------------------ C++

_IGNORED = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'(?!\d)', re.DOTALL
)
_NO_FUNCTION = re.compile(
    r"\b(namespace|class|struct|union|enum)\b[^()]*$|\brequires\s*\([^()]*\)\s*$|[=,(]\s*$"
)
_ALIGNED = re.compile(r"\balignas\s*\(.*?\)")


def _without_comments(text: str) -> str:
    """The text without comments and with empty literals, on as many lines as before."""
    return _IGNORED.sub(lambda found: "\n" * found[0].count("\n"), text)


def _cpp_spans(code: dict[int, str]) -> Iterator[tuple[str, int, int]]:
    """Functions by a count of braces: what opens after a head with parentheses is one.

    A lambda is part of the function around it.
    """
    head, name, first, depth = "", "", 0, 0
    for number, letter in ((n, letter) for n, line in code.items() for letter in line + " "):
        if name:
            depth += (letter == "{") - (letter == "}")
            if not depth:
                yield name, first, number
                name, head = "", ""
        elif letter == "{" and (name := _function(head)):
            first, depth = number, 1
        else:
            head = "" if letter in "{};" else head + letter


def _function(head: str) -> str:
    """The name of the function that a head declares; empty if it declares something else."""
    head = _ALIGNED.sub("", head)
    found = re.search(r"([\w~:]+|operator\S+)\s*\(", head)
    return found[1] if found and not _NO_FUNCTION.search(head) else ""

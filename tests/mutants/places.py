"""Where a source can be changed by one token: comparisons, operators and small constants."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import NamedTuple

#: Constants beyond this size are limits and seeds, which no test should know.
LARGEST = 1000

#: What takes the place of a comparison: the one that differs least.
_COMPARISONS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "in": "not in",
    "not in": "in",
    "is": "is not",
    "is not": "is",
}
_BOOLEAN = {"and": "or", "or": "and"}
_ARITHMETIC = {
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "//": "/",
    "%": "*",
    "**": "*",
    "|": "&",
    "&": "|",
    "^": "|",
    "<<": ">>",
    ">>": "<<",
}
_ASSIGNED = {f"{old}=": f"{new}=" for old, new in _ARITHMETIC.items()}
_PYTHON = _COMPARISONS | _BOOLEAN | _ARITHMETIC | _ASSIGNED

_CPP = {
    **{old: new for old, new in _COMPARISONS.items() if not old.isalpha() and " " not in old},
    **{old: new for old, new in (_ARITHMETIC | _ASSIGNED).items() if "//" not in old},
    "&&": "||",
    "||": "&&",
}
#: Binary operators have a space on each side, brackets of templates have none.
_CPP_TOKEN = re.compile(
    r"(?<= )(?:" + "|".join(map(re.escape, sorted(_CPP, key=len, reverse=True))) + r")(?=[ \n])"
    r"|(?<![\w.'])\d+(?:\.\d+)?(?![\w.'])|\btrue\b|\bfalse\b"
)
#: Comments, literals, directives, and what is checked by the compiler or never in a release.
_CPP_SILENT = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'(?!\d)"
    r"|^[ ]*#(?:\\\n|[^\n])*|\b(?:static_assert|assert)\b[^;]*;"
    r"|\b(?:concept|requires|using)\b[^;{]*|\[\[.*?\]\]|\balignas\([^)]*\)|\boperator\s*\S+",
    re.DOTALL | re.MULTILINE,
)


class Change(NamedTuple):
    """One token of a text and what takes its place; `function` is the first line of the def."""

    start: int
    stop: int
    new: str
    line: int
    function: int | None = None

    def applied(self, text: str) -> str:
        return text[: self.start] + self.new + text[self.stop :]

    def told(self, text: str) -> str:
        """Old and new token, numbered where the line has several such."""
        line, begin = self.source(text), text.rfind("\n", 0, self.start) + 1
        old = text[self.start : self.stop]
        said = f"{old} -> {self.new or 'nothing'}"
        token = rf"(?<![\w.]){re.escape(old)}(?![\w.])" if old[0].isalnum() else re.escape(old)
        places = [found.start() for found in re.finditer(token, line)]
        indent = len(text[begin : self.start]) - len(text[begin : self.start].lstrip())
        if len(places) < 2:
            return said
        return f"{said} (number {1 + places.index(self.start - begin - indent)})"

    def source(self, text: str) -> str:
        """The line of the text, without its indent."""
        return text.splitlines()[self.line - 1].strip()


# --------------------------------------------------------------------------- Python


def python_changes(text: str) -> list[Change]:
    """What can be changed in a file of Python, in order."""
    return sorted(_Places(text).walk())


class _Places:
    """The walk through one tree, and the tokens that belong to its nodes."""

    def __init__(self, text: str) -> None:
        self.text, self.tree = text, ast.parse(text)
        self._lines = text.splitlines(keepends=True)
        self._begins = [0, *accumulate(map(len, self._lines))]
        read = tokenize.generate_tokens(io.StringIO(text).readline)
        self._tokens = [
            (self._begins[token.start[0] - 1] + token.start[1], token.string)
            for token in read
            if token.string in _PYTHON or token.string == "not"
        ]

    def walk(self) -> Iterator[Change]:
        yield from self._below(self.tree, None)

    def _below(self, node: ast.AST, function: int | None) -> Iterator[Change]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            function = min(part.lineno for part in (node, *node.decorator_list))
        for start, stop, new in self._own(node, outside=function is None):
            yield Change(start, stop, new, bisect_right(self._begins, start), function)
        for child in _spoken(node):
            yield from self._below(child, function)

    def _own(self, node: ast.AST, outside: bool) -> Iterator[tuple[int, int, str]]:
        match node:
            case ast.Constant(value=bool() | int() | float() as value) if abs(value) <= LARGEST:
                new = repr(not value) if isinstance(value, bool) else repr(value + 1)
                yield self._begin(node), self._end(node), new
            case ast.Compare():
                yield from self._between([node.left, *node.comparators])
            case ast.BoolOp():
                yield from self._between(node.values)
            case ast.UnaryOp(op=ast.Not()):
                yield self._begin(node), self._begin(node) + len("not"), ""
            case ast.UnaryOp(op=ast.USub()):
                yield self._begin(node), self._begin(node) + 1, "+"
            case ast.BinOp() if not (_is_text(node.left) or _is_text(node.right)):
                if not (outside and isinstance(node.op, ast.BitOr)):  # an alias of types
                    yield from self._between([node.left, node.right])
            case ast.AugAssign() if not _is_text(node.value):
                yield from self._between([node.target, node.value])

    def _between(self, nodes: list[ast.expr]) -> Iterator[tuple[int, int, str]]:
        """The operators between operands that follow one another."""
        for left, right in pairwise(nodes):
            first, last = self._end(left), self._begin(right)
            here = [token for token in self._tokens if first <= token[0] < last]
            # Two words in `not in` and `is not`, none here in `@`.
            if old := " ".join(word for _, word in here):
                yield here[0][0], here[-1][0] + len(here[-1][1]), _PYTHON[old]

    def _begin(self, node: ast.expr) -> int:
        return self._offset(node.lineno, node.col_offset)

    def _end(self, node: ast.expr) -> int:
        return self._offset(node.end_lineno or 0, node.end_col_offset or 0)

    def _offset(self, line: int, column: int) -> int:
        """Columns of a tree count bytes."""
        return self._begins[line - 1] + len(self._lines[line - 1].encode()[:column].decode())


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _spoken(node: ast.AST) -> Iterator[ast.AST]:
    """The parts that compute: no annotations, texts, lists of names, or checks of the code.

    An `assert`, a `strict=` and the words of a dataclass change nothing in a program that is right.
    """
    match node:
        case ast.JoinedStr() | ast.Assert() | ast.Assign(targets=[ast.Name(id="__all__")]):
            return
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            parts = node.orelse
        case ast.keyword(arg="strict"):
            return
        case ast.AnnAssign():
            parts = [part for part in (node.target, node.value) if part]
        case ast.arg():
            return
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            if any(ast.unparse(part) == "overload" for part in node.decorator_list):
                return
            parts = [*node.decorator_list, node.args, *node.body]
        case ast.ClassDef():
            words = [part for part in node.decorator_list if "dataclass" not in ast.unparse(part)]
            parts = [*words, *node.bases, *node.keywords, *node.body]
        case _:
            parts = list(ast.iter_child_nodes(node))
    yield from parts


# ------------------------------------------------------------------------------ C++


def header_changes(text: str) -> list[Change]:
    """What can be changed in a header, in order; the compiler may refuse it."""
    bare = _CPP_SILENT.sub(lambda found: re.sub(r"[^\n]", "_", found[0]), text)
    bare = _without_templates(bare)
    return [
        Change(found.start(), found.end(), new, text.count("\n", 0, found.start()) + 1)
        for found in _CPP_TOKEN.finditer(bare)
        if (new := _cpp_new(found[0]))
    ]


def _without_templates(text: str) -> str:
    """The heads of templates name types."""
    return re.sub(r"\btemplate <[^\n]*", lambda found: "_" * len(found[0]), text)


def _cpp_new(old: str) -> str:
    if old in _CPP:
        return _CPP[old]
    if old in {"true", "false"}:
        return "false" if old == "true" else "true"
    value = float(old) if "." in old else int(old)
    return repr(value + 1) if value <= LARGEST else ""

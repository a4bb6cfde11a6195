"""Budgets of names: docstrings, tests that mirror the tree, private names that stay at home."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from house.sources import Budget, Definition, Source

#: A module without a source in Python.
_NATIVE = "surelearn._core"
#: Public in spite of their look: named tuples, the data model of notebooks, the system's exit.
_PUBLIC = {"_asdict", "_fields", "_make", "_replace", "_repr_html_", "_repr_mimebundle_", "_exit"}


def budgets(columns: dict[str, list[Source]]) -> list[Budget]:
    """What the package's names promise, and who looks behind them."""
    package, tests = columns["src"], {source.path for source in columns["tests"]}
    modules = {source.path for source in package}
    ours = {column: columns[column] for column in ("src", "papers")}
    silent = {column: list(undocumented(of)) for column, of in ours.items()}
    alone = {c: [s.path for s in of if not has_test(s.path, tests)] for c, of in ours.items()}
    users = {column: columns[column] for column in ("src", "papers", "scripts")}
    private = {c: [x for s in of for x in private_names(s, modules)] for c, of in users.items()}
    hidden = {c: [x for s in of for x in private_files(s, modules)] for c, of in users.items()}
    return [
        _named("public names without docstring", silent),
        _named("modules without own test file", alone),
        _named("private names of other files", private),
        _named("private files of other rooms", hidden),
    ]


def _named(title: str, found: dict[str, list[str]]) -> Budget:
    over = {f"{title}: {name}": "" for names in found.values() for name in names}
    return Budget(title, "0", {column: len(set(names)) for column, names in found.items()}, over)


# ----------------------------------------------------------------------- docstrings


def undocumented(package: list[Source]) -> Iterator[str]:
    """Public names that say nothing of themselves; a property may leave it to its class."""
    public = _exported(package)
    found = [
        (f"{source.path}: {name}", node)
        for source in package
        for name, node in _members(source.tree.body)
        if name.partition(".")[0] in public
    ]
    classes = [ast.get_docstring(node) or "" for _, node in found if isinstance(node, ast.ClassDef)]
    rows = re.findall(r"^(\w[\w, ]*) : ", "\n".join(classes), re.MULTILINE)
    attributes = {name for row in rows for name in row.split(", ")}
    for name, node in found:
        listed = node.name in attributes and _is_property(node)
        if ast.get_docstring(node) is None and not listed and not _takes_docstring(node):
            yield name


def _takes_docstring(node: Definition) -> bool:
    """Whether a class has the docstring of another: ``__doc__ = Other.__doc__``."""
    first = node.body[0]
    return isinstance(first, ast.Assign) and ast.unparse(first.targets[0]) == "__doc__"


def _exported(package: list[Source]) -> set[str]:
    """What files and folders without an underscore list in ``__all__``, and bases of classes."""
    open_files = [s for s in package if "/_" not in s.path.removesuffix("__init__.py")]
    names = {name for source in open_files for name in _listed(source.tree)}
    names -= {
        part for source in package for part in PurePosixPath(source.path).with_suffix("").parts
    }
    bases = {
        node.name: {base.id for base in node.bases if isinstance(base, ast.Name)}
        for source in package
        for _, node in source.definitions
        if isinstance(node, ast.ClassDef)
    }
    while more := {base for name in names for base in bases.get(name, ())} - names:
        names |= more
    return names


def _listed(tree: ast.Module) -> list[str]:
    values = (node.value for node in tree.body if isinstance(node, ast.Assign) and _is_all(node))
    return [name for value in values for name in ast.literal_eval(value)]


def _is_all(node: ast.Assign) -> bool:
    return isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__"


def _members(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, Definition]]:
    """Classes, functions and methods without an underscore; overloads share their docstring."""
    for node in body:
        if isinstance(node, Definition) and node.name[0] != "_" and not _shares(node):
            yield prefix + node.name, node
            if isinstance(node, ast.ClassDef):
                yield from _members(node.body, f"{prefix}{node.name}.")


def _shares(node: Definition) -> bool:
    said = _decorators(node)
    return any(text == "overload" or text.endswith(".setter") for text in said)


def _is_property(node: Definition) -> bool:
    return any(text.endswith("property") for text in _decorators(node))


def _decorators(node: Definition) -> list[str]:
    return [ast.unparse(decorator) for decorator in node.decorator_list]


# --------------------------------------------------------------------------- mirror


def has_test(path: str, tests: set[str]) -> bool:
    """Whether a module has a test file, or needs none."""
    places = mirrors(path)
    return not places or bool(tests & set(places))


def mirrors(path: str) -> list[str]:
    """Where the test file of a module may be; nowhere for what only opens a package.

    >>> mirrors("src/surelearn/read/_jsonl.py")
    ['tests/read/test_jsonl.py', 'tests/test_read_jsonl.py']
    >>> mirrors("experiments/papers/run.py")[0]
    'tests/experiments/papers/test_run.py'
    """
    *rooms, name = PurePosixPath(path.removeprefix("src/surelearn/")).with_suffix("").parts
    if name.startswith("__"):
        return []
    name = name.removeprefix("_")
    rooms = [room.removeprefix("_") for room in rooms]
    folder, flat = "/".join(["tests", *rooms]), "_".join(["test", *rooms, name])
    return [f"{folder}/test_{name}.py", f"tests/{flat}.py"]


# -------------------------------------------------------------------- private names


def private_names(source: Source, modules: set[str]) -> Iterator[str]:
    """Private attributes of others, and names that are private to another file."""
    own = _own_names(source)
    attributes = [node for node in source.nodes if isinstance(node, ast.Attribute)]
    for node in attributes:
        if is_private(node.attr) and node.attr not in own and not _is_self(node.value):
            yield f"{source.path}: .{node.attr}"
    for name in _imported(source):
        if is_private(name.rpartition(".")[2]) and not _is_module(name, modules):
            yield f"{source.path}: {name}"


def private_files(source: Source, modules: set[str]) -> Iterator[str]:
    """Modules marked as private that are imported from outside their folder."""
    for name in _imported(source):
        parts = name.split(".") if _is_module(name, modules) else name.split(".")[:-1]
        for i, part in enumerate(parts):
            folder = "/".join(["src", *parts[:i], ""])
            if i and is_private(part) and not source.path.startswith(folder):
                yield f"{source.path}: {'.'.join(parts)}"


def is_private(name: str) -> bool:
    """Whether a name is marked as not for others."""
    return name.startswith("_") and not name.startswith("__") and name not in _PUBLIC


def _own_names(source: Source) -> set[str]:
    """What the file itself defines: functions, classes, fields, attributes of self."""
    names = {node.name for _, node in source.definitions}
    for node in source.nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names |= {node.attr} if _is_self(node.value) else set()
    return names


def _is_self(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "super"
    return isinstance(node, ast.Name) and node.id in {"self", "cls"}


def _imported(source: Source) -> Iterator[str]:
    for node in source.nodes:
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _is_module(name: str, modules: set[str]) -> bool:
    file = f"src/{name.replace('.', '/')}"
    return name == _NATIVE or bool({f"{file}.py", f"{file}/__init__.py"} & modules)

"""Datasets: a text corpus without a download; must not know rules or weights."""

from __future__ import annotations

import ast
import gc
import os
import sysconfig
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from surelearn import _check

_PACKAGES = ("numpy", "scipy", "sklearn")
_STDLIB = "stdlib"

# A shorter text ("Return a copy of the array.") does not show which package it comes from.
_MIN_LENGTH = 45
# A label with fewer texts has too few rows for training and testing.
_MIN_TEXTS = 100

_SKIPPED = frozenset(
    {
        # Tests.
        "test",
        "tests",
        # Copies of other projects.
        "_external",
        "_lib",
        "_vendor",
        "_vendored",
        "array_api_compat",
        "array_api_extra",
        "externals",
        # Programs and generated text rather than a library.
        "idlelib",
        "lib2to3",
        "pydoc_data",
        "turtledemo",
        # Removed in Python 3.12: with it, the labels would depend on the version of Python.
        "distutils",
    }
)

_DESCR = (
    "Docstrings of the modules, classes and functions of the installed numpy, scipy, scikit-learn "
    "and the Python standard library, read from their source files without importing them. The "
    "label of a text is the sub-package it was found in, such as 'scipy.stats' or "
    f"'stdlib.asyncio'. Texts of fewer than {_MIN_LENGTH} characters, repeated texts, tests, "
    f"copies of other projects and sub-packages with fewer than {_MIN_TEXTS} texts are left out. "
    "The corpus is the same on every call, but changes a little with the installed versions."
)

_Definition: TypeAlias = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class _Text(NamedTuple):
    label: str
    source: str
    text: str


@overload
def load_docstrings(*, return_X_y: Literal[False] = False) -> Bunch: ...


@overload
def load_docstrings(*, return_X_y: Literal[True]) -> tuple[list[str], NDArray[np.str_]]: ...


@overload
def load_docstrings(*, return_X_y: bool) -> Bunch | tuple[list[str], NDArray[np.str_]]: ...


def load_docstrings(*, return_X_y: bool = False) -> Bunch | tuple[list[str], NDArray[np.str_]]:
    """Load docstrings labelled by the sub-package they come from.

    This is a real corpus for text classification that needs no download: about 7,800 texts in 31
    classes, parsed with `ast` from the source files of the installed numpy, scipy, scikit-learn and
    the Python standard library, without importing them. The first call in a process takes a few
    seconds.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    bunch : Bunch
        With the attributes

        data : list of str
            The docstrings, without their indentation.
        target : ndarray of str of shape (n_samples,)
            The label of each text, such as ``'scipy.stats'`` or ``'stdlib.asyncio'``.
        target_names : list of str
            The labels, sorted.
        source : list of str
            Where each text was found, ``'module:qualified name'``; the docstring of a module has
            the name ``<module>``.
        DESCR : str
            A description of the corpus.
    (data, target) : tuple
        If `return_X_y` is true.

    Notes
    -----
    The texts are sorted by package, path and line. Of equal texts the first is kept. The numbers of
    texts and classes differ a little between versions of the packages.

    Examples
    --------
    >>> from surelearn.datasets import load_docstrings
    >>> corpus = load_docstrings()
    >>> len(corpus.data) == len(corpus.target) == len(corpus.source)
    True
    >>> corpus.target_names[:2]
    ['numpy._core', 'numpy.lib']
    """
    _check.flag("return_X_y", return_X_y)
    texts = _texts()
    data = [text.text for text in texts]
    target = np.array([text.label for text in texts], dtype=np.str_)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        target_names=sorted({text.label for text in texts}),
        source=[text.source for text in texts],
        DESCR=_DESCR,
    )


@cache
def _texts() -> list[_Text]:
    """All texts of the installed packages; cached, because parsing them takes seconds."""
    with _collector_paused():
        return _select(text for name, root in _roots() for text in _collect(root, name))


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Pause the garbage collector: syntax trees have no cycles, and it adds 60 % to the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _roots() -> Iterator[tuple[str, Path]]:
    """Yield the name and folder of each package, without importing it."""
    for name in _PACKAGES:
        spec = find_spec(name)
        if spec is not None:
            yield from ((name, Path(root)) for root in spec.submodule_search_locations or ())
    yield _STDLIB, Path(sysconfig.get_path("stdlib"))


def _collect(root: Path, name: str) -> Iterator[_Text]:
    """Read every docstring below the sub-packages of `root`, by path and line."""
    for parts in _files(root):
        tree = _parse(root.joinpath(*parts))
        if tree is not None:
            module = _module(parts, name)
            for qualified, text in _docstrings(tree):
                yield _Text(f"{name}.{parts[0]}", f"{module}:{qualified}", text)


def _files(root: Path) -> list[tuple[str, ...]]:
    """List the source files in sub-packages of `root`, as sorted parts of relative paths."""
    found: list[tuple[str, ...]] = []
    for folder, names, files in os.walk(root):
        # Only identifiers can be packages; this also skips site-packages and lib-dynload.
        names[:] = [name for name in names if name.isidentifier() and name not in _SKIPPED]
        inner = Path(folder).relative_to(root).parts
        if inner:
            found.extend((*inner, file) for file in files if file.endswith(".py"))
    # Parts, not paths: a Path ignores case in comparisons on Windows.
    return sorted(found)


def _parse(path: Path) -> ast.Module | None:
    """Parse a source file; None if it cannot be read, decoded or parsed."""
    with warnings.catch_warnings():
        # Warnings about invalid escapes in these files do not concern the caller.
        warnings.simplefilter("ignore")
        try:
            return ast.parse(path.read_bytes())
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            # The last two mean that the stack of the parser is full, depending on the version.
            return None


def _module(parts: tuple[str, ...], name: str) -> str:
    names = [*parts[:-1], parts[-1].removesuffix(".py")]
    if names[-1] == "__init__":
        names.pop()
    return ".".join(names if name == _STDLIB else [name, *names])


def _docstrings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the qualified name and the docstring of the module and of all its definitions."""
    named: list[tuple[str, ast.Module | _Definition]] = [("<module>", tree)]
    for qualified, node in chain(named, _definitions(tree, "")):
        text = (ast.get_docstring(node) or "").strip()
        if text:
            yield qualified, text


def _definitions(node: ast.AST, prefix: str) -> Iterator[tuple[str, _Definition]]:
    """Yield all definitions; visits statements only, since expressions define nothing."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Definition):
            qualified = prefix + child.name
            yield qualified, child
            yield from _definitions(child, qualified + ".")
        elif isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield from _definitions(child, prefix)


def _select(texts: Iterable[_Text]) -> list[_Text]:
    """Keep the first of equal texts, then the labels with enough texts."""
    first: dict[str, _Text] = {}
    for text in texts:
        if len(text.text) >= _MIN_LENGTH:
            first.setdefault(text.text, text)
    count = Counter(text.label for text in first.values())
    return [text for text in first.values() if count[text.label] >= _MIN_TEXTS]

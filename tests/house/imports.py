"""Budget of imports: the longest chain of modules that load one another."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from house.sources import Budget, Source

#: How many files somebody goes through at most.
DEEPEST = 15


def budgets(columns: dict[str, list[Source]]) -> list[Budget]:
    """How deep package and papers are; a chain that is too long is named by its length."""
    title = "longest chain of imports"
    figures: dict[str, object] = {}
    over: dict[str, str] = {}
    for column in ("src", "papers"):
        try:
            chain = longest_chain(edges(columns[column]))
        except CycleError as error:
            figures[column] = "cycle"
            over[f"cycle of imports: {' > '.join(error.args[1])}"] = ""
            continue
        figures[column] = len(chain)
        if len(chain) > DEEPEST:
            over[f"{title}: {len(chain)}"] = " > ".join(chain)
    return [Budget(title, str(DEEPEST), figures, over)]


def edges(sources: list[Source]) -> dict[str, set[str]]:
    """What each module of a column imports of it when it is loaded."""
    trees = {_module(source.path): source.tree for source in sources}
    return {
        module: {_found(name, trees) for name in _loaded(tree.body)} - {"", module}
        for module, tree in trees.items()
    }


def longest_chain(graph: dict[str, set[str]]) -> list[str]:
    """The longest path, from the module on top; the first by name among equals."""
    chains: dict[str, list[str]] = {}
    for module in TopologicalSorter(graph).static_order():
        below = [chains[name] for name in sorted(graph[module])]
        chains[module] = [module, *max(below, key=len, default=[])]
    return max((chains[module] for module in sorted(chains)), key=len, default=[])


def _module(path: str) -> str:
    return path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _loaded(body: list[ast.stmt]) -> Iterator[str]:
    """Names imported by statements outside functions, but for those of types only."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Try) or (isinstance(node, ast.If) and not _for_types(node)):
            yield from _loaded([*node.body, *node.orelse])


def _for_types(node: ast.If) -> bool:
    return ast.unparse(node.test).endswith("TYPE_CHECKING")


def _found(name: str, modules: dict[str, ast.Module]) -> str:
    """The module that a dotted name is or is in; empty for one of another package."""
    return next((part for part in (name, name.rpartition(".")[0]) if part in modules), "")

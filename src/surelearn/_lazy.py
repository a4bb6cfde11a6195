"""Public names that are imported on first use: scikit-learn alone takes a second."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

#: Whether this process is the command, which must start at once; see `surelearn._scikit_learn`.
IS_COMMAND = False


def lazily(module: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The function ``__getattr__`` of a module.

    Parameters
    ----------
    module : str
        The name of this module.
    homes : dict of {str: str}
        The module that defines each name; ``""`` for a name that is a module inside `module`.
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home = homes[name]
        return getattr(import_module(home), name) if home else import_module(f"{module}.{name}")

    return get

"""Checks of optional packages, and the command that installs them."""

from __future__ import annotations

from importlib import import_module

#: What pip installs: a clone, as no package index has a release yet. `install` names it in errors,
#: and a test finds the pages that say otherwise.
PACKAGE = "."


def install(extra: str) -> str:
    """The command that installs the packages of an extra."""
    return f"In a clone of surelearn, run: pip install '{PACKAGE}[{extra}]'"


def missing(who: str, error: ImportError, extra: str) -> ImportError:
    """The error for a missing package that `who` needs and `extra` installs."""
    package = str(error.name).partition(".")[0]
    return ImportError(f"{who} needs {package}, got none. {install(extra)}")


def need(who: str, package: str, extra: str) -> None:
    """Raise unless a package is installed."""
    try:
        import_module(package)
    except ModuleNotFoundError as error:
        raise missing(who, error, extra) from error

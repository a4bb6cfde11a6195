"""Packages that come with an extra of surelearn, and the line that installs them."""

from __future__ import annotations

from importlib import import_module


def install(extra: str) -> str:
    """What to run for the packages of an extra."""
    return f"Run: pip install 'surelearn[{extra}]'"


def missing(who: str, error: ImportError, extra: str) -> ImportError:
    """The error for a package that `who` needs, and that `extra` of surelearn brings."""
    package = str(error.name).partition(".")[0]
    return ImportError(f"{who} needs {package}, got none. {install(extra)}")


def need(who: str, package: str, extra: str) -> None:
    """Refuse what cannot be done without a package."""
    try:
        import_module(package)
    except ModuleNotFoundError as error:
        raise missing(who, error, extra) from error

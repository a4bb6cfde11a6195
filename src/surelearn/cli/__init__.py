"""Entry point of the command `surelearn`; must not know the sub-commands."""

from __future__ import annotations

import os
import sys
from typing import Any

from surelearn import _lazy
from surelearn.cli._streams import stand_in

__all__ = ["main"]

_EXTRA = ("typer", "rich")


def main() -> None:
    """Run the command. If the extra `cli` is missing, print how to install it and exit with 1."""
    stand_in()
    _lazy.IS_COMMAND = True
    try:
        from surelearn.cli._app import app
    except ModuleNotFoundError as error:
        if error.name not in _EXTRA:
            raise
        from surelearn._check import missing

        print(f"surelearn: {missing('this command', error, 'cli')}", file=sys.stderr)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    try:
        app()
    except SystemExit as stop:
        _leave(stop.code)
        raise


def _leave(code: Any) -> None:
    """Exit at once if a thread still waits for a network.

    The libraries of some filesystems wait for such a thread when the process exits.
    """
    read = sys.modules.get("surelearn.read")  # not imported for this, which takes a second
    if read is not None and read.is_waiting():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)

"""Entry point of the command `surelearn`; must not know the sub-commands."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any, NoReturn, cast

from surelearn import _lazy

__all__ = ["main"]

_EXTRA = ("typer", "rich")


def main() -> None:
    """Run the command. If the extra `cli` is missing, print how to install it and exit with 1."""
    _replace_closed_streams()
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


def _replace_closed_streams() -> None:
    """Replace closed standard streams.

    The descriptors 0, 1 and 2 are opened, so that no other file gets one of them and receives what
    is printed. Error messages are dropped; printing a result raises. Standard input stays None.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    if sys.stdout is None:
        # Unbuffered: what is left in a buffer would raise once more when the process exits.
        sys.stdout = io.TextIOWrapper(cast(Any, _Closed()), write_through=True)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - until the process ends


class _Closed(io.RawIOBase):
    """A closed standard output: every write raises."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> NoReturn:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")

"""Standard streams that were closed before the command started; must not know the sub-commands."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any, NoReturn, cast


def stand_in() -> None:
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

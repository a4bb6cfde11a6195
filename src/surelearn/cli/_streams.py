"""Standard streams that were closed before the command began; must not know the sub-commands."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any, NoReturn, cast


def stand_in() -> None:
    """Put something in the place of closed streams.

    Their numbers are taken, so that no file is opened under one and gets what is printed. Errors go
    nowhere; whatever is printed as a result fails. Who reads standard input sees that it is None.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free: this one
    if sys.stdout is None:
        # Without a buffer, whose rest would fail once more when the process ends.
        sys.stdout = io.TextIOWrapper(cast(Any, _Closed()), write_through=True)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - until the process ends


class _Closed(io.RawIOBase):
    """Standard output that nothing can be written to."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> NoReturn:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")

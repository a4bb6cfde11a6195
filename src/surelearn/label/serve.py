"""Serve the page on this machine; must not know what it shows."""

from __future__ import annotations

import errno
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from surelearn import _check
from surelearn.label.progress import Goal
from surelearn.label.rebuild import leave_mark
from surelearn.label.session import Session
from surelearn.label.store import NotSaved

#: Ports that are tried one after the other.
_TRIES = 50


def bound(host: str, port: int) -> socket.socket:
    """A listening socket at this port, or at the next one that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in range(port, min(port + _TRIES, 65536)):
        # Named as TCP, or asyncio lets small packets wait, 40 ms for each answer.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, number))
            listener.listen(64)
        except OSError as error:
            listener.close()
            if error.errno != errno.EADDRINUSE:
                raise OSError(error.errno, f"{error.strerror}", f"{host}:{number}") from None
            continue
        return listener
    raise OSError(f"port must be free, got {port} and {_TRIES - 1} after it, which are in use.")


def serve(
    session: Session,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    goal: Goal | None = None,
    ready: Callable[[str, int], Any] = print,
) -> None:
    """Serve the page until Ctrl-C.

    Parameters
    ----------
    session : Session
    host : str, default "127.0.0.1"
        Only this machine can reach the default.
    port : int, default 8765
        If it is in use, the next free one is taken.
    goal : Goal, optional
        When to suggest to stop.
    ready : function
        Called with the address to open, which holds the token, and the port.
    """
    _check.need("surelearn label", "starlette", "label")
    _check.need("surelearn label", "uvicorn", "label")
    import uvicorn

    from surelearn.label.app import application

    listener = bound(host, port)
    taken = int(listener.getsockname()[1])
    token = secrets.token_urlsafe(32)
    app = application(session, token=token, host=host, port=taken, goal=goal)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, date_header=False
    )
    ready(f"http://{_name(host)}:{taken}/?token={token}", taken)
    try:
        with listener:
            uvicorn.Server(config).run(sockets=[listener])
    finally:
        with suppress(NotSaved):  # the answers themselves are saved
            leave_mark(session)


def _name(host: str) -> str:
    """The host as others can type it."""
    if host in ("0.0.0.0", "::"):
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host

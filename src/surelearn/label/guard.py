"""Who may talk to the page, and what browsers may do with it; must not know the pages."""

from __future__ import annotations

import hmac
import ipaddress
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: Bytes that a request may bring: the tags of a very long sentence fit.
LARGEST_BODY = 1 << 18

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with no-referrer, browsers send Origin: null
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Refused(Exception):
    """A request that must not reach the page: status and reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(status, reason)
        self.status, self.reason = status, reason


class Guard:
    """Lets through requests with the right Host, Origin and token, and adds headers.

    The token comes once in the address and then in a cookie that scripts cannot read and other
    sites cannot send.

    Parameters
    ----------
    app : ASGI application
    token : str
    host, port : str, int
        Where the page is served. A name must be this one, or an address, which no other site can
        point at us; on the loopback only loopback names pass.
    """

    def __init__(self, app: App, *, token: str, host: str = "127.0.0.1", port: int = 80) -> None:
        self._app, self._token, self._host, self._port = app, token, host.lower(), port
        self.cookie = f"surelearn-{port}"  # browsers share cookies between ports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value for name, value in scope["headers"]}
        try:
            self._check_site(scope, {k: v.decode("latin-1") for k, v in headers.items()})
            if self._brings_token(scope):
                await self._let_in(scope, send)
                return
            tokens = cookies(headers.get("cookie", b"").decode("latin-1"), self.cookie)
            if not any(hmac.compare_digest(v.encode(), self._token.encode()) for v in tokens):
                raise Refused(403, "Open the link that surelearn label has printed.")
            body = await _body(headers.get("content-length", b"0"), receive)
        except Refused as error:
            await _say(send, error.status, error.reason)
            return
        await self._app(scope, _replay(body, receive), _with_headers(send))

    def _check_site(self, scope: Scope, headers: dict[str, str]) -> None:
        if not self._is_ours(headers.get("host", "")):
            raise Refused(421, "This page is not served under that name.")
        origin = headers.get("origin")
        is_here = origin is not None and _site(origin) == headers["host"]
        if scope["method"] not in ("GET", "HEAD"):
            if not is_here:
                raise Refused(403, "Answers are taken from this page only.")
        elif origin is not None and not is_here:
            raise Refused(403, "This page is not for other sites.")

    def _is_ours(self, host: str) -> bool:
        try:
            parts = urlsplit(f"//{host}")
            name, port = (parts.hostname or ""), parts.port or 80
        except ValueError:
            return False
        if port != self._port:
            return False
        if self._host in _LOOPBACK:
            return name in _LOOPBACK
        return name in {self._host, *_LOOPBACK, socket.gethostname().lower()} or _is_address(name)

    def _brings_token(self, scope: Scope) -> bool:
        """Whether the address has the token; refuses a wrong one."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        if given is None:
            return False
        if not hmac.compare_digest(given[0].encode(), self._token.encode()):
            raise Refused(403, "This link is old. Use the one that surelearn label has printed.")
        return True

    async def _let_in(self, scope: Scope, send: Send) -> None:
        """Keep the token in a cookie, and take it out of the address."""
        query = parse_qs(scope["query_string"].decode("latin-1"))
        left = urlencode({k: v for k, v in query.items() if k != "token"}, doseq=True)
        # Not the path as it came: //other.site and /\other.site would lead there.
        path = quote(scope["path"].lstrip("/"), errors="replace")
        place = f"/{path}?{left}" if left else f"/{path}"
        cookie = f"{self.cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"
        await _say(send, 303, "", location=place, **{"set-cookie": cookie})


def _site(origin: str) -> str:
    """Host and port of an origin, or ``""``."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def cookies(header: str, name: str) -> list[str]:
    """The values of the cookies of this name, whatever else the header holds.

    Browsers send those of all programs on this machine, which need not follow any rule, and may
    send several of one name.
    """
    pairs = [pair.strip().partition("=") for pair in header.split(";")]
    return [value.strip() for key, _, value in pairs if key.strip() == name]


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


async def _body(length: bytes, receive: Receive) -> bytes:
    """The body of a request, which must not be too long, whatever its header says."""
    if not length.isdigit() or len(length) > 9 or int(length) > LARGEST_BODY:
        raise Refused(413, f"A request must have at most {LARGEST_BODY:,} bytes.")
    body = b""
    more = True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > LARGEST_BODY:
            raise Refused(413, f"A request must have at most {LARGEST_BODY:,} bytes.")
    return body


def _replay(body: bytes, receive: Receive) -> Receive:
    """Give the body once more, and then whatever comes."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            there = {name for name, _ in message.get("headers", [])}
            ours = [(k.encode(), v.encode()) for k, v in HEADERS.items()]
            more = [pair for pair in ours if pair[0] not in there]
            message = {**message, "headers": [*message.get("headers", []), *more]}
        await send(message)

    return sending


async def _say(send: Send, status: int, text: str, **headers: str) -> None:
    """Answer with one line of text."""
    body = text.encode()
    listed = {"content-type": "text/plain; charset=utf-8", "content-length": str(len(body))}
    encoded = [(k.encode(), v.encode("latin-1")) for k, v in (listed | headers).items()]
    send = _with_headers(send)
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})

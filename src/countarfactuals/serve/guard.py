"""`Guard`: who may ask and how much, before any route sees a request. An ASGI layer around the app.

1. **Host**: a name that is not this server's is refused, so that a foreign page can not reach it by pointing its own
   name here (DNS rebinding). Addresses in figures are those of the connection.
2. **Origin**: a browser says which page a request comes from. One from elsewhere is refused; programs say none.
3. **Token**, where one is needed: every route but the page's own files, which hold no data, asks for it.
4. **Body**: JSON alone, which no form of another site can send; read whole, up to its limit, within its time.
5. Every answer bears headers that forbid to frame it, to guess its type, to keep it, and to load from elsewhere.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from countarfactuals.exceptions import ParameterError
from countarfactuals.serve.allowances import Allowances
from countarfactuals.serve.problems import LOG, Refusal

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_SHORTEST_TOKEN = 32
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_DRAINED, _DRAIN_SECONDS = 200_000, 1.0  # bytes and seconds
_NO_BODY = ("GET", "HEAD", "OPTIONS", "DELETE")
_PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_DATA_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


@dataclass(frozen=True)
class Access:
    """Who may ask.

    Parameters
    ----------
    hosts : names of this server besides those of the loopback, such as the one that a proxy is reached by.
    token : of at least 32 characters, without which nothing is answered; None where only this machine can ask.
    """

    hosts: tuple[str, ...] = ()
    token: str | None = None

    def __post_init__(self) -> None:
        if self.token is not None and (len(self.token) < _SHORTEST_TOKEN or not self.token.isascii()):
            raise ParameterError(
                f"The token must have at least {_SHORTEST_TOKEN} characters, all of ASCII. Make one: python -c 'import "
                "secrets; print(secrets.token_urlsafe(32))'"
            )

    def knows(self, host: str, own: str | None) -> bool:
        """Whether a name or address is this server's; `own` is the address of the connection."""
        name = host.lower().rstrip(".")
        return name in (*_LOOPBACK, *(known.lower() for known in self.hosts)) or (own is not None and name == own)

    def allows(self, authorization: str) -> bool:
        """Whether a header has the token, compared in constant time."""
        if self.token is None:
            return True
        scheme, _, given = authorization.partition(" ")
        is_same = hmac.compare_digest(given.strip().encode("utf-8", "replace"), self.token.encode("ascii"))
        return scheme.lower() == "bearer" and is_same


class Guard:
    """The layer; `app` sees only what may be answered."""

    def __init__(self, app: App, access: Access, allowances: Allowances) -> None:
        self.app = app
        self.access = access
        self.allowances = allowances

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, then hand it on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = _headers_of(scope)
        send = _with_headers(send, _is_page(scope["path"]))
        try:
            self._check(scope, headers)
            body = await self._body(scope, headers, receive)
        except Refusal as refusal:
            await _drain(headers, receive)
            await _refuse(send, refusal)
            return
        if body:
            LOG.debug("%s", body.decode("utf-8", "replace"))
        await self.app(scope, _replayed(body, receive), send)

    def _check(self, scope: Scope, headers: dict[str, str]) -> None:
        host = _hostname(headers.get("host", ""))
        server = scope.get("server") or (None, None)
        if host is None or not self.access.knows(host, _address(server[0])):
            raise Refusal(421, "This server does not go by that name.", "Name it by --allow-host if it is yours.")
        self._check_origin(headers)
        if not _is_page(scope["path"]) and not self.access.allows(headers.get("authorization", "")):
            raise Refusal(401, "This needs a token.", "Send it as the header Authorization: Bearer …")

    def _check_origin(self, headers: dict[str, str]) -> None:
        origin, is_foreign = headers.get("origin"), False
        if origin is not None:
            split = _split(origin)
            is_own = split is not None and split.netloc == headers.get("host", "") and split.scheme != ""
            named = split is not None and (split.hostname or "") in self.access.hosts
            is_foreign = not (is_own or named)
        if headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
            is_foreign = is_foreign or origin is None
        if is_foreign:
            raise Refusal(403, "Requests from pages of another origin are not answered.", "Open the page from here.")

    async def _body(self, scope: Scope, headers: dict[str, str], receive: Receive) -> bytes:
        if scope["method"] in _NO_BODY:
            await _drain(headers, receive)
            return b""
        content_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        if content_type != "application/json":
            raise Refusal(415, f"The content type is {content_type[:80]!r}.", "Send application/json.")
        stated = headers.get("content-length", "0")
        if stated.isascii() and stated.isdigit() and int(stated[:20]) > self.allowances.bytes:
            raise self._too_large()
        try:
            async with asyncio.timeout(self.allowances.body_seconds):
                return await self._read(receive)
        except TimeoutError:
            raise Refusal(408, f"No whole body within {self.allowances.body_seconds:g} seconds.") from None

    async def _read(self, receive: Receive) -> bytes:
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Refusal(400, "The request ended before its body did.")
            body += message.get("body", b"")
            if len(body) > self.allowances.bytes:
                raise self._too_large()
            if not message.get("more_body", False):
                return bytes(body)

    def _too_large(self) -> Refusal:
        most = self.allowances.bytes
        return Refusal(413, f"The body has more than {most:,} bytes.", "Send fewer rows at a time.")


def _headers_of(scope: Scope) -> dict[str, str]:
    """The headers; of one that comes twice both, which no check lets pass."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def _hostname(host: str) -> str | None:
    split = _split(f"//{host}")
    is_plain = split is not None and not (split.username or split.path or split.query or split.fragment)
    return split.hostname if split is not None and is_plain else None


def _split(address: str) -> Any:
    try:
        split = urlsplit(address)
        _ = split.port  # a port that is none is an error
    except ValueError:
        return None
    return split


def _address(server: Any) -> str | None:
    """The address of a connection as a host names it; None for what is none."""
    try:
        return str(ipaddress.ip_address(str(server)))
    except ValueError:
        return None


def _is_page(path: str) -> bool:
    """Whether a path is one of the page's own files."""
    return path == "/" or path.startswith("/page/")


def _with_headers(send: Send, is_page: bool) -> Send:
    fixed = {**_HEADERS, "content-security-policy": _PAGE_POLICY if is_page else _DATA_POLICY}
    if not is_page:
        fixed["cache-control"] = "no-store"
    pairs = [(name.encode("ascii"), value.encode("ascii")) for name, value in fixed.items()]

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *pairs]
        await send(message)

    return sending


async def _drain(headers: dict[str, str], receive: Receive) -> None:
    """Read a body that nobody wants, if it is short: a connection that is closed before would cut off the answer."""
    n_read = 0 if headers.keys() & {"content-length", "transfer-encoding"} else _DRAINED
    with suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            while n_read < _DRAINED:
                message = await receive()
                n_read += len(message.get("body", b""))
                if message["type"] == "http.disconnect" or not message.get("more_body", False):
                    return


async def _refuse(send: Send, refusal: Refusal) -> None:
    body = refusal.body()
    headers = {**refusal.headers(), "content-length": str(len(body)), "connection": "close"}
    pairs = [(name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": refusal.status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})


def _replayed(body: bytes, receive: Receive) -> Receive:
    """What hands the body on, and after it what comes from the connection: that it ended."""
    sent = False

    async def receiving() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receiving

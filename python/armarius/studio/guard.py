"""Who may speak to the studio: this machine, holding the token, from a page of its own."""

import hmac
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qs, urlencode

from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["COOKIE", "Guard"]

COOKIE = "armarius-studio"
_HOSTS = ("127.0.0.1", "localhost", "[::1]")
_READING = ("GET", "HEAD")
_MOST_BYTES = 4 * 1024 * 1024  # of a form
_HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with none at all a browser sends forms of our own pages without their origin
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """Middleware that refuses other hosts, other origins and whoever lacks the token; sets headers on every answer.

    The token comes once in the address and then rides in a cookie of this host and port alone, so that it stays in no
    history and no referrer. A name that merely resolves to this machine is refused, and so is a form of another page.

    Args:
        app: What is guarded.
        token: Never logged, never in a page.
        port: A cookie belongs to a host whatever its port; the port in its name keeps two studios apart.
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app = app
        self._token = token
        self._port = port
        self._cookie = f"{COOKIE}-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or hand on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refused = self._refused(scope["method"], headers)
        respond = _with_headers(send)
        if refused is not None:
            await refused(scope, receive, respond)
            return
        asked = parse_qs(scope["query_string"].decode("latin-1"))
        if (given := asked.pop("token", None)) is not None:
            await self._enter(scope["path"], given[0], asked)(scope, receive, respond)
        elif not self._known(headers.get("cookie", "")):
            say = "This page needs the address that `armarius studio` printed, with its token."
            await PlainTextResponse(say, status_code=403)(scope, receive, respond)
        else:
            await self._app(scope, receive, respond)

    def _refused(self, method: str, headers: dict[str, str]) -> Response | None:
        host = headers.get("host", "")
        if host not in {f"{name}:{self._port}" for name in _HOSTS}:
            return PlainTextResponse("another host", status_code=421)
        origin = headers.get("origin")
        if method not in _READING and origin != f"http://{host}":
            return PlainTextResponse("a form of another page", status_code=403)
        try:
            size = int(headers.get("content-length", "0"))
        except ValueError:
            return PlainTextResponse("no length", status_code=400)
        if size > _MOST_BYTES or (method not in _READING and "content-length" not in headers):
            return PlainTextResponse("too much", status_code=413)
        return None

    def _enter(self, path: str, given: str, asked: dict[str, list[str]]) -> Response:
        if not hmac.compare_digest(given.encode(), self._token.encode()):
            return PlainTextResponse("another token", status_code=403)
        rest = f"?{urlencode(asked, doseq=True)}" if asked else ""
        answer = RedirectResponse(f"/{path.lstrip('/')}{rest}", status_code=303)
        answer.set_cookie(self._cookie, self._token, httponly=True, samesite="strict", path="/")
        return answer

    def _known(self, header: str) -> bool:
        given = cookie_parser(header).get(self._cookie, "")
        return hmac.compare_digest(given.encode("latin-1", "replace"), self._token.encode())


def _with_headers(send: Send) -> Callable[[Message], Awaitable[None]]:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", ()), *own]}
        await send(message)

    return sent

"""The studio as an ASGI application over one engine: routes, access guard, notification of changes."""

import asyncio
import hmac
import json
import tomllib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request, cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from armarius.engine.engine import ContextEngine
from armarius.errors import ArmariusError, ContractError, StoreError, UnknownDocument, UnknownId
from armarius.studio.drawing import Appearances
from armarius.studio.pages import Asking, Packs, ProjectPages

COOKIE = "armarius-studio"
_HOSTS = ("127.0.0.1", "localhost", "[::1]")
_READING = ("GET", "HEAD")
_MOST_BYTES = 4 * 1024 * 1024  # of a form
_HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with "no-referrer" browsers would send our own forms with Origin: null
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """Middleware that refuses other hosts, other origins and requests without the token; sets security headers.

    The token is in the URL once and then in a cookie for this host and port, so that it does not appear in the browser
    history or in referrers. Host names that only resolve to this machine (DNS rebinding) and forms of other origins
    (CSRF) are refused.

    Args:
        app: The application.
        token: Never logged, never in a page.
        port: Part of the cookie's name, because cookies are shared by all ports of a host.
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app = app
        self._token = token
        self._port = port
        self._cookie = f"{COOKIE}-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or pass it to the application."""
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


_LOOK_S = 0.3
_BEAT_S = 15.0  # interval of keep-alive comments, which detect closed connections


async def watched(engine: ContextEngine, request: Request) -> StreamingResponse:
    """Server-sent events with the state of the index, now and after every change."""
    return StreamingResponse(_told(engine, request), media_type="text/event-stream")


async def _told(engine: ContextEngine, request: Request) -> AsyncIterator[str]:
    said, quiet = "", 0.0
    while not await request.is_disconnected():
        try:
            status = await asyncio.to_thread(engine.index.status)
        except StoreError:  # the engine was closed; the page shows that it is disconnected
            return
        now = json.dumps(
            {
                "state": status.state,
                "generation": status.generation,
                "documents": status.documents,
                "done": status.progress.done,
                "total": status.progress.total,
            }
        )
        quiet += _LOOK_S
        if now != said:
            said, quiet = now, 0.0
            yield f"data: {now}\n\n"
        elif quiet >= _BEAT_S:
            quiet = 0.0
            yield ": still here\n\n"
        await asyncio.sleep(_LOOK_S)


LANGUAGES = ("en", "zh")


@cache
def texts(language: str) -> dict[str, str]:
    """Texts of the pages by key; English for an unknown language."""
    tables: dict[str, dict[str, str]] = tomllib.loads(
        files("armarius.studio").joinpath("texts.toml").read_text(encoding="utf-8")
    )
    return tables.get(language, tables["en"])


def chosen(asked: str | None, kept: str | None, accepted: str) -> str:
    """The language: of the query string, else of the cookie, else the first that the browser accepts."""
    for one in (asked, kept, *(part.split(";")[0].strip()[:2].lower() for part in accepted.split(","))):
        if one in LANGUAGES:
            return str(one)
    return "en"


class Changes:
    """Handlers of forms; each returns the page to redirect to. Errors of the engine are shown on the page.

    Args:
        engine: The engine to change.
    """

    def __init__(self, engine: ContextEngine) -> None:
        self._engine = engine

    def level(self, form: dict[str, str]) -> str:
        """Set the context level of an entity."""
        self._engine.codex.update(form["id"], level=form["level"])
        return _entity(form["id"])

    def alias(self, form: dict[str, str]) -> str:
        """Add an alias to an entity."""
        entity = self._engine.codex.get(form["id"])
        self._engine.codex.update(entity.id, aliases=[*entity.aliases, _text(form, "alias")])
        return _entity(entity.id)

    def memory(self, form: dict[str, str]) -> str:
        """Add a memory."""
        self._engine.memories.create(_text(form, "text"))
        return "/entities#memories"

    def forget(self, form: dict[str, str]) -> str:
        """Delete a memory."""
        self._engine.memories.delete(form["id"])
        return "/entities#memories"

    def pin(self, form: dict[str, str]) -> str:
        """Pin or mute an entity, a document, a paragraph or a tag, for the project.

        A form on a prompt's page redirects to a new prompt for the same question.
        """
        self._engine.pins.add(_text(form, "target"), mute=form.get("mute") == "yes")
        number = form.get("number", "")
        return f"/again/{number}" if number.isascii() and number.isdigit() else "/entities#pins"

    def unpin(self, form: dict[str, str]) -> str:
        """Remove a pin or mute."""
        self._engine.pins.delete(form["id"])
        return "/entities#pins"


def _entity(id_: str) -> str:
    return f"/entity/{quote(id_, safe='')}"


def _text(form: dict[str, str], name: str) -> str:
    text = form.get(name, "").strip()
    if not text:
        raise ContractError(f"{name} is empty")
    return text


_LANGUAGE = "armarius-language"
_STATIC = {"studio.css": "text/css", "studio.js": "text/javascript"}
_NOT_FOUND, _BAD = 404, 400

Page = Callable[[Any], tuple[str, dict[str, Any]]]


def build_app(engine: ContextEngine, token: str, port: int) -> ASGIApp:
    """Build the application with its access guard.

    Args:
        engine: An open engine with `watch=True`; the caller closes it.
        token: Gives read and write access to the project.
        port: The port that the server listens on.
    """
    environment = Environment(
        loader=PackageLoader("armarius.studio"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    packs, appearances = Packs(), Appearances(engine)
    asking, pages, changes = Asking(engine, packs), ProjectPages(engine, appearances), Changes(engine)

    def endpoint(page: Page) -> Callable[[Request], Awaitable[Response]]:
        return partial(_shown, environment, engine, page)

    def changed(change: Callable[[Any], str]) -> Callable[[Request], Awaitable[Response]]:
        return partial(_changed, environment, engine, change)

    routes = [
        Route("/", endpoint(asking.form)),
        Route("/pack", endpoint(asking.ask)),
        Route("/pack/{number:int}", endpoint(asking.pack)),
        Route("/again/{number:int}", endpoint(asking.again)),
        Route("/budget/{number:int}", endpoint(asking.what_if)),
        Route("/diff", endpoint(asking.diff)),
        Route("/chapters", endpoint(pages.chapters)),
        Route("/chapter/{path:path}", endpoint(pages.chapter)),
        Route("/entities", endpoint(pages.entities)),
        Route("/entity/{id:path}", endpoint(pages.entity)),
        Route("/conflicts", endpoint(pages.conflicts)),
        Route("/health", endpoint(pages.health)),
        Route("/change/level", changed(changes.level), methods=["POST"]),
        Route("/change/alias", changed(changes.alias), methods=["POST"]),
        Route("/change/memory", changed(changes.memory), methods=["POST"]),
        Route("/change/forget", changed(changes.forget), methods=["POST"]),
        Route("/change/pin", changed(changes.pin), methods=["POST"]),
        Route("/change/unpin", changed(changes.unpin), methods=["POST"]),
        Route("/events", partial(watched, engine)),
        Route("/static/{name}", _static),
    ]

    @asynccontextmanager
    async def prepared(_app: Starlette) -> AsyncIterator[None]:
        """Compute what the first pages need while the browser starts."""
        making = asyncio.create_task(run_in_threadpool(_prepare, environment, appearances))
        yield
        await making

    return Guard(Starlette(routes=routes, lifespan=prepared), token, port)


def _prepare(environment: Environment, appearances: Appearances) -> None:
    for name in environment.list_templates():
        environment.get_template(name)
    with suppress(ArmariusError):  # the engine may have been closed
        appearances.totals()


async def _shown(environment: Environment, engine: ContextEngine, page: Page, request: Request) -> Response:
    asked = {**request.query_params, **request.path_params}
    try:
        template, values = await run_in_threadpool(page, asked)
    except (UnknownId, UnknownDocument, KeyError) as error:
        return _rendered(environment, engine, request, "wrong.html", {"said": _said(error)}, status=_NOT_FOUND)
    except (ArmariusError, ValueError) as error:
        return _rendered(environment, engine, request, "wrong.html", {"said": _said(error)}, status=_BAD)
    return _rendered(environment, engine, request, template, values)


async def _changed(
    environment: Environment, engine: ContextEngine, change: Callable[[Any], str], request: Request
) -> Response:
    form = {name: value for name, value in (await request.form()).items() if isinstance(value, str)}
    try:
        back = await run_in_threadpool(change, form)
    except (ArmariusError, ValueError, KeyError) as error:
        return _rendered(environment, engine, request, "wrong.html", {"said": _said(error)}, status=_BAD)
    return RedirectResponse(back, status_code=303)


def _rendered(
    environment: Environment,
    engine: ContextEngine,
    request: Request,
    template: str,
    values: dict[str, Any],
    *,
    status: int = 200,
) -> Response:
    asked = request.query_params.get("lang")
    language = chosen(asked, request.cookies.get(_LANGUAGE), request.headers.get("accept-language", ""))
    said = texts(language)
    page = environment.get_template(template)
    text = page.render(t=said, language=language, project=engine.project_id, here=request.url.path, **values)
    answer = HTMLResponse(text.encode("utf-8", "replace"), status_code=status)
    if asked in ("en", "zh"):
        answer.set_cookie(_LANGUAGE, asked, httponly=True, samesite="strict", path="/")
    return answer


def _said(error: Exception) -> str:
    return error.message if isinstance(error, ArmariusError) else str(error)


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        return Response(status_code=_NOT_FOUND)
    text = files("armarius.studio").joinpath("static", name).read_text(encoding="utf-8")
    return Response(text, media_type=_STATIC[name])

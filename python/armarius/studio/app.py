"""The studio as an ASGI application over one engine: routes, access guard, notification of changes."""

import asyncio
import hmac
import json
import logging
import tomllib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request, cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from armarius.engine.engine import ContextEngine
from armarius.errors import ArmariusError, ContextWarning, StoreError, UnknownDocument, UnknownId, message_of
from armarius.headings import reasons_table, say
from armarius.io.write import changed_files
from armarius.studio.changes import Changes, Form, place_of
from armarius.studio.drawing import Appearances, plain_quote
from armarius.studio.inbox import Inbox
from armarius.studio.pages import Desk, Page, ProjectPages, Refused
from armarius.text.unicode import join_parts
from armarius.warnings import INDEX_BUILDING

COOKIE = "armarius-studio"
_HOSTS = ("127.0.0.1", "localhost", "[::1]")
_READING = ("GET", "HEAD")
_KEPT_S = 365 * 24 * 3600  # of the cookie: a bookmark without the token works as long
_MOST_BYTES = 32 * 1024 * 1024  # of a form: a book in one file
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
        refused = self._refuse_request(scope["method"], headers)
        respond = _add_headers(send)
        if refused is not None:
            await refused(scope, receive, respond)
            return
        query = parse_qs(scope["query_string"].decode("latin-1"))
        if (tokens := query.pop("token", None)) is not None:
            await self._sign_in(scope["path"], tokens[0], query)(scope, receive, respond)
        elif not self._has_token(headers.get("cookie", "")):
            language = choose_language(None, None, headers.get("accept-language", ""))
            await PlainTextResponse(texts(language)["error.token"], status_code=403)(scope, receive, respond)
        else:
            await self._app(scope, receive, respond)

    def _refuse_request(self, method: str, headers: dict[str, str]) -> Response | None:
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

    def _sign_in(self, path: str, token: str, query: dict[str, list[str]]) -> Response:
        if not hmac.compare_digest(token.encode(), self._token.encode()):
            return PlainTextResponse("another token", status_code=403)
        rest = f"?{urlencode(query, doseq=True)}" if query else ""
        answer = RedirectResponse(f"/{path.lstrip('/')}{rest}", status_code=303)
        answer.set_cookie(self._cookie, self._token, max_age=_KEPT_S, httponly=True, samesite="strict", path="/")
        return answer

    def _has_token(self, header: str) -> bool:
        cookie = cookie_parser(header).get(self._cookie, "")
        return hmac.compare_digest(cookie.encode("latin-1", "replace"), self._token.encode())


def _add_headers(send: Send) -> Callable[[Message], Awaitable[None]]:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", ()), *own]}
        await send(message)

    return sent


_LOOK_S = 0.1
_BEAT_S = 15.0  # interval of keep-alive comments, which detect closed connections


async def watch_index(engine: ContextEngine, request: Request) -> StreamingResponse:
    """Server-sent events with the state of the index, now and after every change."""
    return StreamingResponse(_sse_events(engine, request), media_type="text/event-stream")


async def _sse_events(engine: ContextEngine, request: Request) -> AsyncIterator[str]:
    event, quiet = ("", 0, 0, 0), 0.0
    while not await request.is_disconnected():
        try:
            now = await asyncio.to_thread(engine.index.moment)
        except StoreError:  # the engine was closed; the page shows that it is disconnected
            return
        quiet += _LOOK_S
        if now != event:
            event, quiet = now, 0.0
            yield f"data: {json.dumps(now)}\n\n"
        elif quiet >= _BEAT_S:
            quiet = 0.0
            yield ": still here\n\n"
        await asyncio.sleep(_LOOK_S)


LANGUAGES = ("en", "zh")


@cache
def texts(language: str) -> dict[str, str]:
    """Texts of the pages by key, those of a group by `group.key`; English for an unknown language."""
    at = LANGUAGES.index(language) if language in LANGUAGES else 0
    table = tomllib.loads(files("armarius.studio").joinpath("texts.toml").read_text(encoding="utf-8"))
    result = {code: row[LANGUAGES[at]] for code, row in reasons_table().items()}
    for name, value in table.items():
        rows = {f"{name}.{key}": row for key, row in value.items()} if isinstance(value, dict) else {name: value}
        result |= {key: row[at] for key, row in rows.items()}
    return result


def choose_language(query: str | None, kept: str | None, accepted: str) -> str:
    """The language: of the query string, else of the cookie, else the first that the browser accepts."""
    for code in (query, kept, *(part.split(";")[0].strip()[:2].lower() for part in accepted.split(","))):
        if code in LANGUAGES:
            return str(code)
    return "en"


_LANGUAGE = "armarius-language"
_STATIC = {"studio.css": "text/css", "studio.js": "text/javascript"}
_OK, _NOT_FOUND, _BAD, _BROKEN = 200, 404, 400, 500
_EXPECTED = (ArmariusError, ValueError, KeyError)
_LOG = logging.getLogger(__name__)


def build_app(engine: ContextEngine, token: str, port: int) -> ASGIApp:
    """Build the application with its access guard.

    Args:
        engine: An open engine with `watch=True`; the caller closes it.
        token: Gives read and write access to the project.
        port: The port that the server listens on.
    """
    environment = _templates()
    types = {
        texts(language)[key]: key.removeprefix("types.")
        for language in LANGUAGES
        for key in reversed(texts(language))
        if key.startswith("types.")
    }
    appearances, changes = Appearances(engine), Changes(engine, types)
    desk = Desk(engine)
    inbox = Inbox(engine, desk.chosen, changes.settled)
    pages = ProjectPages(engine, appearances, desk, inbox)

    def route(path: str, page: Callable[[Any], str | Page], *methods: str) -> Route:
        return Route(path, partial(_answer_page, environment, engine, changes, page), methods=list(methods) or ["GET"])

    views = {
        "/": pages.home,
        "/chapter/{path:path}": pages.chapter,
        "/entities": pages.entities,
        "/entity/{id:path}": pages.entity,
        "/card/{id:path}": pages.card,
        "/inbox": inbox.page,
        "/question": inbox.question,
        "/search": pages.search,
        "/notes": pages.notes,
        "/bring": pages.bring,
        "/book/{id:path}": pages.book,
    }
    routes: list[Route] = [
        *(route(path, page) for path, page in views.items()),
        *(route(f"/change/{name}", change, "POST") for name, change in changes.handlers().items()),
        route("/prompt", desk.prompt, "POST"),
        route("/why", desk.why, "POST"),
        route("/text", desk.text, "POST"),
        Route("/events", partial(watch_index, engine)),
        Route("/static/{name}", _serve_static),
        route("/{path:path}", _refuse_page),
    ]

    @asynccontextmanager
    async def prepared(_app: Starlette) -> AsyncIterator[None]:
        """Compute what the first pages need while the browser starts."""
        making = asyncio.create_task(run_in_threadpool(_prepare, environment, appearances))
        yield
        await making

    return Guard(Starlette(routes=routes, lifespan=prepared), token, port)


@cache
def _templates() -> Environment:
    """Compiled once in a process, whatever it serves."""
    made = Environment(
        loader=PackageLoader("armarius.studio"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {"failed": None, "saved": None}
    made.filters |= {"joined": join_parts, "plain": plain_quote, "say": say}
    return made


def _prepare(environment: Environment, appearances: Appearances) -> None:
    for name in environment.list_templates():
        environment.get_template(name)
    with suppress(ArmariusError):  # the engine may have been closed
        appearances.totals()


async def _answer_page(
    environment: Environment,
    engine: ContextEngine,
    history: Changes,
    page: Callable[[Any], str | Page],
    request: Request,
) -> Response:
    """A page, a redirect to one, or what is wrong."""
    accepted = request.headers.get("accept-language", "")
    language = choose_language(request.query_params.get("lang"), request.cookies.get(_LANGUAGE), accepted)
    form: Form = {**request.query_params, **request.path_params}
    if request.method == "POST":
        every = await request.form()
        form |= {name: value for name, value in every.items() if isinstance(value, str)} | {"every": every}
    stale: list[ContextWarning] = []

    def answered() -> str | Page:
        stale.extend(warning for warning in engine.index.freshen() if warning.code == INDEX_BUILDING.code)
        return page(form | {"language": language})

    labels = texts(language)
    render = partial(
        _page_html,
        environment,
        labels,
        language=language,
        project=engine.project_id,
        method=request.method,
        here=request.url.path,
        back=_form_page(request.headers.get("referer", "")),
        index_stale=stale,
    )
    with changed_files() as changes:
        try:
            try:
                answer = await run_in_threadpool(answered)
            except _EXPECTED as error:
                answer = "wrong.html", {"failed": error, "changed": _paths_in_project(changes, engine)}
            step = history.keep(changes) if request.method == "POST" else request.query_params.get("saved", "")
            if isinstance(answer, str):
                return RedirectResponse(_add_saved(answer, step), status_code=303)
            template, values = answer
            if (made := history.step(step)) is not None:
                values = {**values, "saved": (step, place_of(made))}
            failed = values.get("failed")
            status = _OK if failed is None else _NOT_FOUND if _is_missing(failed, request) else _BAD
            text = render(template, values)
        except Exception as error:  # noqa: BLE001 - a fault of ours has a page of its own, and the log its trace
            _LOG.exception("%s %s", request.method, request.url.path)
            status = _BROKEN
            text = render("wrong.html", {"failed": error, "changed": _paths_in_project(changes, engine)})
        finally:
            await request.close()  # what was uploaded
    response = HTMLResponse(text.encode("utf-8", "replace"), status_code=status)
    if request.query_params.get("lang") in LANGUAGES:
        response.set_cookie(_LANGUAGE, language, httponly=True, samesite="strict", path="/")
    return response


def _add_saved(address: str, step: str) -> str:
    """The address of a page that says what was saved."""
    page, _, part = address.partition("#")
    added = f"{'&' if '?' in page else '?'}saved={step}" if step else ""
    return f"{page}{added}{'#' if part else ''}{part}"


def _is_missing(failed: Exception, request: Request) -> bool:
    nowhere = isinstance(failed, Refused) and failed.kind == "page"
    return request.method == "GET" and (nowhere or isinstance(failed, (UnknownId, UnknownDocument)))


def _page_html(environment: Environment, labels: dict[str, str], template: str, values: Form, **common: object) -> str:
    if (failed := values.get("failed")) is not None:
        values = {**values, "failed": _error_words(failed, labels)}
    words, word = SimpleNamespace(**labels), lambda group, key: labels.get(f"{group}.{key}", key)
    return environment.get_template(template).render(t=words, w=word, **common, **values)


def _paths_in_project(changes: Iterable[Path], engine: ContextEngine) -> list[str]:
    """The changed files of the project, by their paths in it."""
    if (root := engine.root) is None:
        return []
    return [*dict.fromkeys(path.relative_to(root).as_posix() for path in changes if path.is_relative_to(root))]


def _form_page(referer: str) -> str:
    """The page that a form was on, as a path of ours."""
    place = urlsplit(referer)
    return f"/{place.path.lstrip('/')}{'?' if place.query else ''}{place.query}"


def _refuse_page(form: Form) -> Page:
    raise Refused("page")


_WHOLE = frozenset(
    {"page", "empty", "number", "meanwhile", "asked", "PageChanged", "BudgetTooSmall"}
)  # whose sentence says all


def _error_words(error: Exception, labels: dict[str, str]) -> tuple[str, str, bool]:
    """What is wrong in the language of the page and as the error says it; whether the first says all."""
    kind = error.kind if isinstance(error, Refused) else type(error).__name__
    keys = (kind, getattr(error, "code", "other"), "other" if isinstance(error, _EXPECTED) else "broken")
    sentence = next(labels[f"error.{key}"] for key in keys if f"error.{key}" in labels)
    return sentence.format(getattr(error, "minimum", "")), message_of(error), kind in _WHOLE


async def _serve_static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        return Response(status_code=_NOT_FOUND)
    text = files("armarius.studio").joinpath("static", name).read_text(encoding="utf-8")
    return Response(text, media_type=_STATIC[name])

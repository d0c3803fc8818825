"""The studio as an ASGI application over one engine."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from armarius.engine.engine import ContextEngine
from armarius.errors import ArmariusError, UnknownDocument, UnknownId
from armarius.studio.appearances import Appearances
from armarius.studio.asking import Asking
from armarius.studio.changes import Changes
from armarius.studio.events import watched
from armarius.studio.guard import Guard
from armarius.studio.language import chosen, texts
from armarius.studio.packs import Packs
from armarius.studio.project_pages import ProjectPages

__all__ = ["build_app"]

_LANGUAGE = "armarius-language"
_STATIC = {"studio.css": "text/css", "studio.js": "text/javascript"}
_NOT_FOUND, _BAD = 404, 400

Page = Callable[[Any], tuple[str, dict[str, Any]]]


def build_app(engine: ContextEngine, token: str, port: int) -> ASGIApp:
    """The application, guarded.

    Args:
        engine: Open, watching; closed by whoever opened it.
        token: Whoever has it may read and change the project.
        port: That the server listens on.
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

    def shown(page: Page) -> Callable[[Request], Awaitable[Response]]:
        return partial(_shown, environment, engine, page)

    def changed(change: Callable[[Any], str]) -> Callable[[Request], Awaitable[Response]]:
        return partial(_changed, environment, engine, change)

    routes = [
        Route("/", shown(asking.form)),
        Route("/pack", shown(asking.ask)),
        Route("/pack/{number:int}", shown(asking.pack)),
        Route("/again/{number:int}", shown(asking.again)),
        Route("/budget/{number:int}", shown(asking.what_if)),
        Route("/diff", shown(asking.diff)),
        Route("/chapters", shown(pages.chapters)),
        Route("/chapter/{path:path}", shown(pages.chapter)),
        Route("/entities", shown(pages.entities)),
        Route("/entity/{id:path}", shown(pages.entity)),
        Route("/conflicts", shown(pages.conflicts)),
        Route("/health", shown(pages.health)),
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
        """What the first pages need is made while the browser starts."""
        making = asyncio.create_task(run_in_threadpool(_prepare, environment, appearances))
        yield
        await making

    return Guard(Starlette(routes=routes, lifespan=prepared), token, port)


def _prepare(environment: Environment, appearances: Appearances) -> None:
    for name in environment.list_templates():
        environment.get_template(name)
    with suppress(ArmariusError):  # it was closed meanwhile
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

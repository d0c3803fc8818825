"""A web application over projects on a server: `ARMARIUS_DSN=postgresql://… uvicorn app:app`.

First, once: `armarius server migrate`. One shelf for the process, opened and closed with it; coroutines all the way.
Who the tenant is, your own login says.
"""

import asyncio
import math
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Body, FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse

import armarius


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    dsn, quota = os.environ["ARMARIUS_DSN"], armarius.Quota(files=5_000, bytes=100_000_000)
    with armarius.connect(dsn, memory="1 GiB", connections=8, max_concurrent=8, max_waiting=16, quota=quota) as shelf:
        app.state.shelf = shelf
        yield


app = FastAPI(lifespan=lifespan)


@app.exception_handler(armarius.Backpressure)
async def busy(request: Request, error: armarius.Backpressure) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, 503, {"Retry-After": f"{math.ceil(error.seconds)}"})


def novel_of(request: Request, project: str) -> Any:
    return request.app.state.shelf.project(project, tenant=request.headers.get("x-tenant", "demo"))


@app.put("/{project}/{path:path}")
async def write(project: str, path: str, request: Request, text: str = Body(embed=True), expect: int | None = None):
    try:
        return {"version": await novel_of(request, project).awrite({path: text}, expect=expect)}
    except armarius.errors.StoreConflict as conflict:
        raise HTTPException(409, str(conflict)) from None


@app.get("/{project}/prompt")
async def prompt(project: str, request: Request, query: str, document: str = "", at_least: int | None = None):
    novel = novel_of(request, project)
    try:  # a client that goes away cancels this, and the work behind it
        pack = await novel.aassemble(query, document=document, budget=4000, at_least=at_least, timeout_s=5)
    except armarius.UnknownId as unknown:
        raise HTTPException(404, str(unknown)) from None
    except armarius.StoreUnavailable as away:
        raise HTTPException(503, str(away)) from None
    return {"prompt": pack.prompt, "tokens": pack.token_count, "warnings": pack.warnings, "ms": pack.timings}


@app.get("/live")
async def live():
    """Whether the process should go on: no I/O."""
    return {"ok": True}


@app.get("/ready")
async def ready(request: Request):
    """For a load balancer: 503 where no request would be answered, of projects in memory neither."""
    state = await asyncio.to_thread(request.app.state.shelf.health)
    if not state.ready:
        raise HTTPException(503, state.why)
    return {"ok": state.ok, "why": state.why}

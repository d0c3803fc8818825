"""What happens to the index, as server-sent events: a page shows it while files are saved."""

import asyncio
import json
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import StreamingResponse

from armarius.engine.engine import ContextEngine
from armarius.errors import StoreError

__all__ = ["watched"]

_LOOK_S = 0.3
_BEAT_S = 15.0  # a comment, so that a connection that is gone is noticed


async def watched(engine: ContextEngine, request: Request) -> StreamingResponse:
    """The state of the index now and after every change, until the page goes away."""
    return StreamingResponse(_told(engine, request), media_type="text/event-stream")


async def _told(engine: ContextEngine, request: Request) -> AsyncIterator[str]:
    said, quiet = "", 0.0
    while not await request.is_disconnected():
        try:
            status = await asyncio.to_thread(engine.index.status)
        except StoreError:  # it was closed: the page says that nobody is there
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

"""An MCP server as a child process, spoken to from ordinary code: a thread owns the event loop and the SDK.

Works with both generations of the official SDK (1.30 and 2.x): only what they share is used.
"""

import asyncio
import json
import logging
import os
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from pathlib import Path
from typing import Any

from armarius.errors import MissingExtra

__all__ = ["REQUEST_CAP", "Disconnected", "McpProcess", "TimedOut"]

REQUEST_CAP = 512 * 1024  # bytes of one request; CKB loops forever on a line of 1 MiB
_AT_ONCE = 64  # questions on the way: hides the latency of the pipe, keeps its buffers small
_TAIL = 4096  # bytes of stderr kept


class Disconnected(Exception):
    """The server is gone."""


class TimedOut(Exception):
    """The server did not answer in time."""


class McpProcess:
    """One server process and a session with it.

    Args:
        command: The program.
        args: Its arguments.
        cwd: Its working folder.
        env: Environment variables beside the SDK's few defaults, and instead of them.
        timeout: Seconds for the handshake and for each answer.

    Raises:
        MissingExtra: The SDK is not installed.
        Disconnected: The program cannot be started or dies during the handshake.
        TimedOut: The handshake takes too long.
    """

    def __init__(self, command: str, args: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout: float) -> None:
        try:
            import mcp  # noqa: F401
        except ImportError:
            raise MissingExtra("asking CKB", "code") from None
        self.timeout = timeout
        self.pid: int | None = None
        self._stderr: deque[bytes] = deque()
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._ready: Future[Any] = Future()
        self._session: Any = None
        self._launch = (command, list(args), str(cwd), dict(env))
        self._thread = threading.Thread(target=self._run, name="armarius-mcp", daemon=True)
        self._thread.start()
        try:
            self._session = self._ready.result(timeout * 2)
        except (TimeoutError, TimedOut):
            self.close()
            raise TimedOut(f"no handshake within {timeout:g} s") from None
        except Disconnected as error:
            self.close()
            raise self._gone(error) from None
        except BaseException:
            self.close()
            raise

    def call_many(self, calls: Sequence[tuple[str, dict[str, Any]]]) -> list[str]:
        """The text of each answer, in order.

        Raises:
            ValueError: A request above `REQUEST_CAP`; nothing was sent.
            Disconnected, TimedOut: The server is gone or silent.
        """
        for tool, arguments in calls:
            if (size := len(json.dumps(arguments))) > REQUEST_CAP:
                raise ValueError(f"a request of {size} bytes to {tool} is above the cap of {REQUEST_CAP}")
        if not self._thread.is_alive():
            raise self._gone("the server has ended")
        future = asyncio.run_coroutine_threadsafe(self._call_many(calls), self._loop)
        try:
            return future.result()
        except (ExceptionGroup, CancelledError) as error:
            cause = _plain(error)
            raise (cause if isinstance(cause, TimedOut) else self._gone(cause)) from None

    def _gone(self, error: object) -> Disconnected:
        tail = self._stderr_tail()
        return Disconnected(f"{error or 'the server has ended'}{f' ({tail})' if tail else ''}")

    def _stderr_tail(self) -> str:
        """The last telling line that the server wrote to stderr."""
        lines = [line for line in b"".join(self._stderr).decode("utf-8", "replace").splitlines() if line.strip()]
        telling = [line for line in lines if "panic" in line or "error" in line.lower()]
        return (telling or lines or [""])[-1][:200]

    def close(self) -> None:
        """Stop the server: end of input, then termination, then kill, each bounded by the SDK. Idempotent."""
        if self._thread.is_alive():
            with suppress(RuntimeError):  # the loop has ended by itself: the server closed the connection
                self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(15)

    async def _call_many(self, calls: Sequence[tuple[str, dict[str, Any]]]) -> list[str]:
        answers: list[str] = [""] * len(calls)
        todo = iter(enumerate(calls))

        async def worker() -> None:
            for place, (tool, arguments) in todo:
                answers[place] = await self._call(tool, arguments)

        async with asyncio.TaskGroup() as group:
            for _ in range(min(_AT_ONCE, len(calls))):
                group.create_task(worker())
        return answers

    async def _call(self, tool: str, arguments: dict[str, Any]) -> str:
        try:
            result = await asyncio.wait_for(self._session.call_tool(tool, arguments), self.timeout)
        except TimeoutError:
            raise TimedOut(f"no answer to {tool} within {self.timeout:g} s") from None
        except Exception as error:  # noqa: BLE001 - the SDKs raise different classes, nested in groups
            raise Disconnected(f"{type(error).__name__}: {error}") from None
        return "".join(getattr(part, "text", "") or "" for part in result.content)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        except BaseException as error:  # noqa: BLE001 - groups of SDK exceptions; handed to whoever waits
            if not self._ready.done():
                self._ready.set_exception(_plain(error))
        finally:
            if not self._ready.done():
                self._ready.set_exception(Disconnected("the server ended during the handshake"))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    async def _serve(self) -> None:
        from mcp import ClientSession, StdioServerParameters
        from mcp.client.stdio import stdio_client

        # CKB answers tools that it does not list; the SDK warns of that, and unhandled warnings land on stderr
        logging.getLogger("client").addHandler(logging.NullHandler())
        command, args, cwd, env = self._launch
        server = StdioServerParameters(command=command, args=args, cwd=cwd, env={**_inherited(), **env})
        read_end, write_end = os.pipe()
        drain = threading.Thread(target=self._drain, args=(read_end,), daemon=True)
        drain.start()
        try:
            with os.fdopen(write_end, "w") as errors:
                before = _children()
                async with stdio_client(server, errlog=errors) as (read, write):
                    self.pid = next(iter(_children() - before), None)
                    async with ClientSession(read, write) as session:
                        await asyncio.wait_for(session.initialize(), self.timeout)
                        self._ready.set_result(session)
                        await self._stop.wait()
        finally:
            self._stop.set()

    def _drain(self, descriptor: int) -> None:
        """Read stderr to its end, whatever is written, and keep only its tail: a full pipe would block the server."""
        kept = 0
        with os.fdopen(descriptor, "rb", buffering=0) as stream:
            while chunk := stream.read(65536):
                self._stderr.append(chunk[-_TAIL:])
                kept += len(self._stderr[-1])
                while kept - len(self._stderr[0]) >= _TAIL:
                    kept -= len(self._stderr.popleft())


def _inherited() -> dict[str, str]:
    return {name: value for name in ("HOME", "PATH", "USERPROFILE", "SYSTEMROOT") if (value := os.environ.get(name))}


def _children() -> set[int]:
    """Process ids of our children where the system tells (Linux); empty elsewhere."""
    try:
        listed = Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text()
    except OSError:
        return set()
    return {int(pid) for pid in listed.split()}


def _plain(error: BaseException) -> BaseException:
    """The cause inside nested exception groups, as one of our two."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return TimedOut("no handshake in time")
    if isinstance(error, Disconnected | TimedOut):
        return error
    return Disconnected(f"{type(error).__name__}: {error}")

"""CKB as a source: starts its MCP server, queries all references, and stops it."""

import asyncio
import json
import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NoReturn, Self

from armarius.code.scip import Reference
from armarius.errors import ConfigError, MissingExtra, SourceReason, SourceUnavailable
from armarius.io import remove_file, remove_folder
from armarius.trust.folders import child_path, find_program, named_by_user

REQUEST_CAP = 512 * 1024  # bytes of one request; CKB loops forever on a line of 1 MiB
_AT_ONCE = 64  # requests in flight: hides the latency of the pipe, keeps buffers small
_TAIL = 4096  # bytes of stderr kept


class Disconnected(Exception):
    """The server is gone."""


class TimedOut(Exception):
    """The server did not answer in time."""


class McpProcess:
    """A server process with an MCP session.

    Args:
        command: The program.
        args: Its arguments.
        cwd: Its working folder.
        env: Environment variables; added to the SDK's defaults and overriding them.
        timeout: Seconds for the handshake and for each answer.

    Raises:
        MissingExtra: The SDK is not installed.
        Disconnected: The program cannot be started or exits during the handshake.
        TimedOut: The handshake takes too long.
    """

    def __init__(self, command: str, args: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout: float) -> None:
        try:
            from anyio.from_thread import start_blocking_portal
            from mcp import ClientSession, StdioServerParameters
            from mcp.client.stdio import stdio_client
        except ImportError:
            raise MissingExtra("asking CKB", "code") from None
        # CKB answers tools that it does not list; the SDK warns of that on stderr
        logging.getLogger("client").addHandler(logging.NullHandler())
        self.timeout = timeout
        self._stderr: deque[bytes] = deque()
        server = StdioServerParameters(command=command, args=list(args), cwd=str(cwd), env=dict(env))
        try:
            with ExitStack() as stack:
                self._portal = stack.enter_context(start_blocking_portal(name="armarius-mcp"))
                read_end, write_end = os.pipe()
                threading.Thread(target=self._drain, args=(read_end,), daemon=True).start()
                errors = stack.enter_context(os.fdopen(write_end, "w"))
                enter = self._portal.wrap_async_context_manager
                read, write = stack.enter_context(enter(stdio_client(server, errlog=errors)))
                self._session = stack.enter_context(enter(ClientSession(read, write)))
                self._portal.call(asyncio.wait_for, self._session.initialize(), timeout)
                self._stack = stack.pop_all()
        except Exception as error:  # noqa: BLE001 - the SDKs raise different classes, nested in groups
            raise self._failure(error) from None

    def call_many(self, calls: Sequence[tuple[str, dict[str, Any]]]) -> list[str]:
        """The text of each answer, in order.

        Raises:
            ValueError: A request above `REQUEST_CAP`; nothing was sent.
            Disconnected, TimedOut: The server has exited or does not answer.
        """
        for tool, arguments in calls:
            if (size := len(json.dumps(arguments))) > REQUEST_CAP:
                raise ValueError(f"a request of {size} bytes to {tool} is above the cap of {REQUEST_CAP}")
        try:
            return self._portal.call(self._call_many, calls)
        except Exception as error:  # noqa: BLE001 - likewise
            raise self._failure(error) from None

    def _failure(self, error: BaseException) -> Exception:
        """The cause in nested exception groups: `TimedOut`, or `Disconnected` with the last line that tells why."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, TimedOut):
            return error
        if isinstance(error, TimeoutError):
            return TimedOut(f"no handshake within {self.timeout:g} s")
        lines = [line for line in b"".join(self._stderr).decode("utf-8", "replace").splitlines() if line.strip()]
        telling = [line for line in lines if "panic" in line or "error" in line.lower()]
        tail = (telling or lines or [""])[-1][:200]
        return Disconnected(f"{type(error).__name__}: {error}{f' ({tail})' if tail else ''}")

    def close(self) -> None:
        """Stop the server: end of input, then termination, then kill, each bounded by the SDK. Idempotent."""
        with suppress(Exception):  # the server closed the connection
            self._stack.close()

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
        return "".join(getattr(part, "text", "") or "" for part in result.content)

    def _drain(self, descriptor: int) -> None:
        """Read stderr to its end and keep its tail: a full pipe would block the server."""
        kept = 0
        with os.fdopen(descriptor, "rb", buffering=0) as stream:
            while chunk := stream.read(65536):
                self._stderr.append(chunk[-_TAIL:])
                kept += len(self._stderr[-1])
                while kept - len(self._stderr[0]) >= _TAIL:
                    kept -= len(self._stderr.popleft())


_LITTER: dict[str, Callable[..., bool]] = {".ckb": remove_folder, ".codecartographer_cache.json": remove_file}
LIMIT = 100_000  # of every listing: a smaller one truncates silently


def find_ckb(explicit: str | None = None, project: Path | None = None) -> str:
    """The CKB program: `explicit`, else `CKB_BIN`, else the user's configuration, else `ckb` on the PATH.

    A bare name is never resolved inside `project`.

    Raises:
        SourceUnavailable: `no_binary`, with advice.
    """
    try:
        named = ("the configuration", explicit) if explicit else named_by_user("ckb", "CKB_BIN", project=project)
    except ConfigError as error:
        raise SourceUnavailable("no_binary", str(error)) from None
    origin, name = named or ("", "ckb")
    if path := find_program(name, project=project):
        return str(Path(path).absolute())
    lacking = "ckb is neither named by CKB_BIN nor on the PATH: npm install -g @tastehub/ckb (see its licence)"
    raise SourceUnavailable("no_binary", f"{origin} names {name!r}, which is no program" if origin else lacking)


class CkbSource:
    """CKB's MCP server over one repository; a context manager that owns the process.

    The server must serve this folder and have an index, which is checked first. It is restarted once when it exits; the
    second time the source fails. Its own call graph is not used, because only its references are exact.

    Args:
        root: The repository.
        binary: The CKB program; see `find_ckb`.
        timeout: Seconds for the handshake and for each answer.
        env: Environment variables, added to the few that a child needs.

    Raises:
        SourceUnavailable: From `__enter__` and every query.
    """

    name = "ckb"

    def __init__(
        self,
        root: str | Path,
        *,
        binary: str | None = None,
        timeout: float = 20.0,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.root = Path(root).resolve()
        self.binary = find_ckb(binary, self.root)
        self.timeout = timeout
        self.restarts = 0
        self._env = {"CKB_NO_UPDATE_CHECK": "1", "PATH": child_path(self.root), **(env or {})}
        self._litter = [name for name in _LITTER if not os.path.lexists(self.root / name)]
        self._process: McpProcess | None = None

    def __enter__(self) -> Self:
        try:
            self._connect()
        except (Disconnected, TimedOut) as error:
            self._restart(error)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the server and remove the files that it created."""
        if self._process is not None:
            self._process.close()
            self._process = None
            # Keep what existed before (also a dangling link), and links in general.
            for name in self._litter:
                with suppress(OSError):
                    _LITTER[name](self.root / name, below=self.root)

    def symbols(self) -> Sequence[str]:
        """Ids of the symbols that the server lists."""
        data = self._ask([("searchSymbols", {"query": "", "limit": LIMIT})])[0]
        listed = data.get("symbols") or []
        return [str(item["stableId"]) for item in listed if str(item.get("stableId", "")).count(" ") >= 4]

    def references(self, symbol: str, /) -> Sequence[Reference]:
        """Every occurrence of `symbol`; () for an unknown one."""
        return self.references_of([symbol])[0]

    def references_of(self, symbols: Sequence[str], /) -> Sequence[Sequence[Reference]]:
        """Occurrences of each of `symbols`, in one batch."""
        answers = self._ask([("findReferences", {"symbolId": symbol, "limit": LIMIT}) for symbol in symbols])
        return [_references(data) for data in answers]

    def _connect(self) -> None:
        self.close()
        args = ["mcp", "--preset=core", "--repo", str(self.root)]
        self._process = McpProcess(self.binary, args, cwd=self.root, env=self._env, timeout=self.timeout)
        answers = self._process.call_many([("getActiveRepo", {}), ("getStatus", {})])
        served = self._data(answers[0])
        path = served.get("path")
        if not path or Path(path).resolve() != self.root:
            raise SourceUnavailable("wrong_repo", f"CKB serves {path!r}, not {str(self.root)!r}")
        status = self._data(answers[1])
        scip: dict[str, Any] = next((b for b in status.get("backends") or [] if b.get("id") == "scip"), {})
        if not scip.get("available"):
            details = scip.get("details", "no SCIP backend")
            if (self.root / "index.scip").exists():
                raise SourceUnavailable("crashed", f"CKB cannot read index.scip: {details}")
            raise SourceUnavailable("no_index", f"CKB has no index of the project: {details}")

    def _restart(self, error: Exception) -> None:
        """Restart once: of two servers that start on one repository one crashes, and succeeds the second time."""
        if self.restarts:
            self._close_failed(error)
        self.restarts += 1
        try:
            self._connect()
        except (Disconnected, TimedOut) as again:
            self._close_failed(again)
        except BaseException:
            self.close()
            raise

    def _close_failed(self, error: Exception) -> NoReturn:
        self.close()
        reason: SourceReason = "timeout" if isinstance(error, TimedOut) else "crashed"
        raise SourceUnavailable(reason, f"CKB failed twice: {error}") from None

    def _ask(self, calls: Sequence[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
        while True:
            try:
                if self._process is None:
                    self._connect()
                assert self._process is not None
                return [self._data(text) for text in self._process.call_many(calls)]
            except (Disconnected, TimedOut) as error:
                self._restart(error)

    def _data(self, text: str) -> dict[str, Any]:
        """The payload of an answer, which may contain an error."""
        try:
            answer = json.loads(text)
            data, error = answer.get("data"), answer.get("error")
        except (ValueError, AttributeError):
            raise SourceUnavailable("crashed", f"CKB answered no JSON object: {text[:200]!r}") from None
        if data is None and "SYMBOL_NOT_FOUND" in str(error):
            return {}
        if not isinstance(data, dict):
            raise SourceUnavailable("crashed", f"CKB answered an error: {error}")
        if data.get("isTruncated") or data.get("truncated"):
            raise SourceUnavailable("crashed", f"CKB truncated a list at {LIMIT}")
        return data


def _references(data: Mapping[str, Any]) -> list[Reference]:
    result = []
    for item in data.get("references") or []:
        at = item["location"]
        one_line = at.get("endLine", at["startLine"]) == at["startLine"]
        end = at.get("endColumn", at["startColumn"]) if one_line else at["startColumn"]
        definition = item.get("kind") == "definition"
        result.append(Reference(at["fileId"], at["startLine"], at["startColumn"], end, definition))
    return result

"""JSON-RPC 2.0 on two byte streams, for hosts written in other languages.

    -> {"jsonrpc": "2.0", "id": 1, "method": "context:prompt:assemble", "params": {...}, "timeoutMs": 300}
    <- {"jsonrpc": "2.0", "id": 1, "result": {...}}
    <- {"jsonrpc": "2.0", "id": 2, "error": {"code": -32000, "message": "...", "data": {"code": "UNKNOWN_DOCUMENT"}}}
    <- {"jsonrpc": "2.0", "method": "$/progress", "params": {"token": "index", "value": {"done": 3, "total": 120}}}
    -> {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 1}}     request 1 is answered by CANCELLED

A message is a line, or has `Content-Length` headers before it as in LSP; the first byte of the input says which, and
answers are framed alike. No text holds a lone surrogate: one in `params` is refused with INVALID_TEXT, and one in what
a file says is U+FFFD in an answer; only the `id` of a request goes back as it came. Requests run concurrently and are
answered in the order in which they finish, each id once; a notification is not answered. With `timeoutMs`, what is late
is left out with its warning. The channel ends when its input does, after the requests under way are answered.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

from armarius.deadline import CANCEL, Cancelled, calling, request_id
from armarius.errors import Backpressure, ContractError
from armarius.validation import near, shown, suggestion
from armarius.verbs.table import WRITES
from armarius.verbs.wire import Failure, describe

Method = Callable[[Mapping[str, Any]], Any]

MAX_MESSAGE_BYTES = 64 << 20
"""A longer message is refused and skipped."""
MAX_WAITING = 256
"""More requests at once than this are refused with CONTEXT_BACKPRESSURE."""

_LONGEST_MS: Final = 3_600_000
_MAX_HEADER_BYTES: Final = 1000
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]")
"""What half a pair may be written as; a whole pair too, so the params are looked at."""
_LONE: Final = re.compile("[\ud800-\udfff]")

FAILED: Final = -32000
"""The number of every error that JSON-RPC and LSP have none for; `data.code` says which."""
NUMBERS: Final = {
    "INVALID_JSON": -32700,
    "REQUEST_TOO_LARGE": -32600,
    "UNKNOWN_METHOD": -32601,
    "INVALID_REQUEST": -32602,
    "INVALID_TEXT": -32602,
    "INTERNAL": -32603,
    "CANCELLED": -32800,
}
"""Our code to the number that JSON-RPC 2.0, or LSP for CANCELLED, has for it."""
_INVALID_MESSAGE: Final = -32600
"""The number where the message itself is wrong; its code is INVALID_REQUEST too, as with wrong params."""


@dataclass(slots=True, eq=False)
class _Request:
    """A request under way; `id` is None for a notification, which is not answered."""

    id: str | int | None
    method: str
    params: dict[str, Any]
    timeout_s: float | None
    cancelled: threading.Event = field(default_factory=threading.Event)
    future: Future[None] | None = None


class Channel:
    """Serves a table of methods over a pair of byte streams.

    Args:
        methods: From name to function of the params object; its result must be JSON.
        root: The project folder, removed from error messages.
        workers: How many requests run at once.
    """

    def __init__(self, methods: Mapping[str, Method], *, root: Path | None = None, workers: int = 8) -> None:
        self._methods = dict(methods)
        self._root = root
        self._workers = workers
        self._writing = threading.Lock()
        self._state = threading.Lock()
        self._open: dict[object, _Request] = {}
        self._output: IO[bytes] | None = None
        self._has_headers = False
        self._early: dict[str, bytes] | None = {}  # the last notification of each method, until the framing is known

    def add(self, methods: Mapping[str, Method]) -> None:
        """Answer these methods too."""
        self._methods.update(methods)

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification.

        Until the host has sent its first byte, the last one of each method is kept for then; after `serve` has
        returned, nothing is sent.
        """
        body = _encode({"method": method, "params": dict(params)})
        with self._writing:
            if self._early is not None:
                self._early[method] = body
                return
        self._write(body)

    def serve(self, source: IO[bytes], output: IO[bytes]) -> None:
        """Answer every request of `source` on `output`; returns when `source` ends."""
        first = source.readline(MAX_MESSAGE_BYTES + 1)
        self._has_headers = first[:1] in (b"C", b"c")
        with self._writing:
            early, self._early, self._output = self._early or {}, None, output
        for body in early.values():
            self._write(body)
        try:
            with ThreadPoolExecutor(self._workers, thread_name_prefix="armarius-channel") as pool:
                for message in _read_frames(first, source) if self._has_headers else _lines(first, source):
                    if message is None:
                        self._refuse(None, "REQUEST_TOO_LARGE", f"a message may have {MAX_MESSAGE_BYTES} bytes")
                    else:
                        self._accept(message, pool)
        finally:
            self._output = None

    def _accept(self, body: bytes, pool: ThreadPoolExecutor) -> None:
        try:
            message = json.loads(body)
        except (ValueError, RecursionError):
            self._refuse(None, "INVALID_JSON", "the message is not valid JSON in UTF-8")
            return
        key = message.get("id") if isinstance(message, dict) else None
        if isinstance(key, bool) or not isinstance(key, str | int | None):
            key = None
        if fault := _fault(message):
            self._refuse(key, "INVALID_REQUEST", fault, number=_INVALID_MESSAGE)
            return
        if _SURROGATE.search(body):
            wrong = [name for name, value in message.get("params", {}).items() if not _is_text([name, value])]
            if wrong:
                detail = f"params.{shown(wrong[0]).strip(chr(39))}: a text holds a lone surrogate, which is no Unicode"
                self._refuse(key, "INVALID_TEXT", detail)
                return
        method, params, patience = message["method"], message.get("params", {}), message.get("timeoutMs")
        if key is None and method == "$/cancelRequest":
            self._cancel(params.get("id"))
        elif method in self._methods:
            self._start(_Request(key, method, params, None if patience is None else patience / 1000), pool)
        elif key is not None:
            close = near(method, self._methods)
            detail = suggestion(close) or f"; known: {', '.join(sorted(self._methods))}"
            detail = " without --allow-write" if method in (verb.name for verb in WRITES) else detail
            self._refuse(key, "UNKNOWN_METHOD", f"no method {shown(method)}{detail}")

    def _start(self, request: _Request, pool: ThreadPoolExecutor) -> None:
        slot = _slot(request)
        with self._state:
            clash, full = slot in self._open, len(self._open) >= MAX_WAITING
            if not clash and not full:
                self._open[slot] = request
        if clash:
            fault = f"id {shown(request.id)} is already under way"
            self._refuse(None, "INVALID_REQUEST", fault, number=_INVALID_MESSAGE)
        elif full:
            if request.id is not None:
                self._refuse(request.id, Backpressure.code, f"{MAX_WAITING} requests are under way; try again later")
        else:
            request.future = pool.submit(self._run, request)

    def _run(self, request: _Request) -> None:
        token = CANCEL.set(request.cancelled)
        request_id.set("" if request.id is None else str(request.id))
        try:
            with calling(request.method, request.timeout_s):
                result = self._methods[request.method](request.params)
            body = _encode({"id": request.id, "result": result})
        except Cancelled:  # it was answered when it was cancelled
            return
        except Exception as error:  # noqa: BLE001 - every error of a method is answered
            body = _encode(_error_reply(request.id, describe(error, root=self._root)))
        finally:
            CANCEL.reset(token)
        if self._close(request) and request.id is not None:
            self._write(body)

    def _cancel(self, key: object) -> None:
        if isinstance(key, bool) or not isinstance(key, str | int):  # True == 1 as a key
            return
        with self._state:
            request = self._open.get(key)
        # It is answered now; its thread stops at the next stage of the work, and at once where it waits.
        if request is not None and self._close(request):
            request.cancelled.set()
            if request.future is not None:
                request.future.cancel()
            self._refuse(key, "CANCELLED", "cancelled by the host")

    def _close(self, request: _Request) -> bool:
        """Whether this caller is the one to answer `request`."""
        with self._state:
            if self._open.get(_slot(request)) is not request:
                return False
            del self._open[_slot(request)]
            return True

    def _refuse(self, key: str | int | None, code: str, message: str, *, number: int | None = None) -> None:
        self._write(_encode(_error_reply(key, Failure(code, message), number)))

    def _write(self, body: bytes) -> None:
        message = b"Content-Length: %d\r\n\r\n%b" % (len(body), body) if self._has_headers else body + b"\n"
        with self._writing:
            output = self._output
            if output is None:
                return
            try:
                output.write(message)
                output.flush()
            except (OSError, ValueError):  # the host has gone, or its pipe takes no more
                self._output = None


def _slot(request: _Request) -> object:
    """The key of a request among those under way; a notification has itself."""
    return request if request.id is None else request.id


def _lines(line: bytes, source: IO[bytes]) -> Iterator[bytes | None]:
    """Each line that is not blank, `line` first; None for one that is too long."""
    while line:
        if len(line) > MAX_MESSAGE_BYTES:
            while line and not line.endswith(b"\n"):
                line = source.readline(MAX_MESSAGE_BYTES)
            yield None
        elif line.strip():
            yield line
        line = source.readline(MAX_MESSAGE_BYTES + 1)


def _read_frames(line: bytes, source: IO[bytes]) -> Iterator[bytes | None]:
    """Each message after its headers, of which `line` is the first; None for one that is too long.

    Without a length the next message cannot be found: that ends the input, with b"", which is no JSON.
    """
    while line:
        length = b""
        while line.rstrip(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                length = value.strip()
            while line and not line.endswith(b"\n"):  # the rest of a long header, which is no header of its own
                line = source.readline(_MAX_HEADER_BYTES)
            line = source.readline(_MAX_HEADER_BYTES)
        if not length.isdigit():
            yield b""
            return
        left = int(length[:20])
        if left <= MAX_MESSAGE_BYTES:
            yield source.read(left)
        else:
            while left > 0 and (part := source.read(min(left, MAX_MESSAGE_BYTES))):
                left -= len(part)
            yield None
        line = source.readline(_MAX_HEADER_BYTES)


def _fault(message: Any) -> str:  # noqa: ANN401 - any JSON
    """What is wrong with a message before its method is looked at; "" where nothing is."""
    if not isinstance(message, dict):
        return "a request is an object; there are no batches"
    if "id" in message and (isinstance(message["id"], bool) or not isinstance(message["id"], str | int)):
        return "`id` must be a string or an integer"
    if message.get("jsonrpc") != "2.0":
        return '`jsonrpc` must be "2.0"'
    if not isinstance(message.get("method"), str):
        return "a request is an object with a string `method`"
    if not isinstance(message.get("params", {}), dict):
        return "`params` must be an object"
    patience = message.get("timeoutMs")
    if patience is not None and (type(patience) not in (int, float) or not 0 < patience <= _LONGEST_MS):
        return f"`timeoutMs` must be a number above 0, at most {_LONGEST_MS:,}"
    return ""


def _is_text(value: object) -> bool:
    """Whether UTF-8 can hold every text of a JSON value, which may be nested as deeply as a parser reads."""
    values = [value]
    while values:
        value = values.pop()
        if isinstance(value, str) and _LONE.search(value):
            return False
        if isinstance(value, dict):
            values += value.keys()
            values += value.values()
        elif isinstance(value, list):
            values += value
    return True


def _error_reply(key: str | int | None, failure: Failure, number: int | None = None) -> dict[str, Any]:
    number = NUMBERS.get(failure.code, FAILED) if number is None else number
    return {"id": key, "error": {"code": number, "message": failure.message, "data": {"code": failure.code}}}


def _encode(message: Mapping[str, Any]) -> bytes:
    def text(part: Mapping[str, Any]) -> str:
        return json.dumps(part, ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    try:
        whole = text({"jsonrpc": "2.0", **message})
        try:
            return whole.encode()
        except UnicodeEncodeError:  # a lone surrogate: an id goes back as it came, other text is made Unicode
            key = f'"id":{json.dumps(message["id"])},' if "id" in message else ""
            rest = _LONE.sub("\ufffd", text({name: value for name, value in message.items() if name != "id"}))
            return f'{{"jsonrpc":"2.0",{key}{rest[1:]}'.encode()
    except (TypeError, ValueError) as error:
        raise ContractError(f"a result is not JSON: {error}") from None

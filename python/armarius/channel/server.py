"""Newline-delimited JSON on two byte streams, for hosts written in other languages.

    -> {"id": 1, "method": "context:prompt:assemble", "params": {...}, "timeoutMs": 300}
    <- {"id": 1, "ok": true, "result": {...}}
    <- {"id": 2, "ok": false, "error": {"code": "UNKNOWN_DOCUMENT", "message": "..."}}
    <- {"method": "index:progress", "params": {"done": 3, "total": 120}}        a notification: no id
    -> {"method": "cancel", "params": {"id": 1}}                                answered by CANCELLED on id 1

Requests run concurrently and are answered in the order they finish; each id is answered exactly once. With `timeoutMs`,
what is late is left out with its warning. The channel ends when its input does, after the requests under way are
answered.
"""

import json
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from armarius.deadline import CANCEL, Cancelled, calling
from armarius.errors import Backpressure, ContractError
from armarius.validation import shown
from armarius.verbs.failures import Failure, describe

Method = Callable[[Mapping[str, Any]], Any]

MAX_LINE_BYTES = 8 << 20
"""A longer line is refused and skipped: a host that sends one is broken, and memory is not."""

_LONGEST_MS = 3_600_000

MAX_WAITING = 256
"""More requests at once than this are refused with CONTEXT_BACKPRESSURE."""


@dataclass(slots=True)
class _Request:
    """A request under way."""

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
        self._open: dict[str | int, _Request] = {}
        self._output: IO[bytes] | None = None
        self._early: dict[str, bytes] | None = {}  # the last of each kind, until there is somebody to tell

    def add(self, methods: Mapping[str, Method]) -> None:
        """Answer these methods too."""
        self._methods.update(methods)

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification; before `serve` the last of each method is kept for then, after it nothing is sent."""
        line = _encode({"method": method, "params": dict(params)})
        with self._writing:
            if self._early is not None:
                self._early[method] = line
                return
        self._write(line)

    def serve(self, source: IO[bytes], output: IO[bytes]) -> None:
        """Answer every request of `source` on `output`; returns when `source` ends."""
        with self._writing:
            early, self._early, self._output = self._early or {}, None, output
        for line in early.values():
            self._write(line)
        try:
            with ThreadPoolExecutor(self._workers, thread_name_prefix="armarius-channel") as pool:
                while line := source.readline(MAX_LINE_BYTES + 1):
                    if len(line) > MAX_LINE_BYTES:
                        while line and not line.endswith(b"\n"):
                            line = source.readline(MAX_LINE_BYTES)
                        self._refuse(None, "REQUEST_TOO_LARGE", f"a line may have {MAX_LINE_BYTES} bytes")
                    elif line.strip():
                        self._accept(line, pool)
        finally:
            self._output = None

    def _accept(self, line: bytes, pool: ThreadPoolExecutor) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._refuse(None, "INVALID_JSON", "the line is not valid JSON in UTF-8")
            return
        if not isinstance(message, dict):
            self._refuse(None, "INVALID_REQUEST", "a request is an object with a string `method`")
            return
        key, method, params = message.get("id"), message.get("method"), message.get("params", {})
        patience = message.get("timeoutMs")
        if key is not None and (isinstance(key, bool) or not isinstance(key, str | int)):
            self._refuse(None, "INVALID_REQUEST", "`id` must be a string or an integer")
        elif not isinstance(method, str):
            self._refuse(key, "INVALID_REQUEST", "a request is an object with a string `method`")
        elif not isinstance(params, dict):
            self._refuse(key, "INVALID_REQUEST", "`params` must be an object")
        elif patience is not None and (type(patience) not in (int, float) or not 0 < patience <= _LONGEST_MS):
            self._refuse(key, "INVALID_REQUEST", f"`timeoutMs` must be a number above 0, at most {_LONGEST_MS:,}")
        elif method == "cancel":
            self._cancel(params.get("id"))
            if key is not None:
                self._send({"id": key, "ok": True, "result": None})
        elif key is None:
            self._refuse(None, "INVALID_REQUEST", f"{shown(method)}: a request needs an `id`")
        elif method not in self._methods:
            self._refuse(key, "UNKNOWN_METHOD", f"no method {shown(method)}; known: {', '.join(sorted(self._methods))}")
        else:
            self._start(key, _Request(method, params, None if patience is None else patience / 1000), pool)

    def _start(self, key: str | int, request: _Request, pool: ThreadPoolExecutor) -> None:
        with self._state:
            taken, full = key in self._open, len(self._open) >= MAX_WAITING
            if not taken and not full:
                self._open[key] = request
        if taken:
            self._refuse(None, "INVALID_REQUEST", f"id {shown(key)} is already under way")
        elif full:
            self._refuse(key, Backpressure.code, f"{MAX_WAITING} requests are under way; try again later")
        else:
            request.future = pool.submit(self._run, key, request)

    def _run(self, key: str | int, request: _Request) -> None:
        told = CANCEL.set(request.cancelled)
        try:
            with calling(request.method, request.timeout_s):
                answer: dict[str, Any] = {
                    "id": key,
                    "ok": True,
                    "result": self._methods[request.method](request.params),
                }
            line = _encode(answer)
        except Cancelled:  # it was answered when it was cancelled
            return
        except Exception as error:  # noqa: BLE001 - whatever a method raises is answered, never lost
            line = _encode(_failed(key, describe(error, root=self._root)))
        finally:
            CANCEL.reset(told)
        if self._close(key, request):
            self._write(line)

    def _cancel(self, key: object) -> None:
        if isinstance(key, bool) or not isinstance(key, str | int):  # True is 1, which is another's id
            return
        with self._state:
            request = self._open.get(key)
        # It is answered now; its thread stops at the next stage of the work, and at once where it waits.
        if request is not None and self._close(key, request):
            request.cancelled.set()
            if request.future is not None:
                request.future.cancel()
            self._refuse(key, "CANCELLED", "cancelled by the host")

    def _close(self, key: str | int, request: _Request) -> bool:
        """Whether this caller is the one to answer `request`, which came as `key`."""
        with self._state:
            if self._open.get(key) is not request:
                return False
            del self._open[key]
            return True

    def _refuse(self, key: str | int | None, code: str, message: str) -> None:
        self._send(_failed(key, Failure(code, message)))

    def _send(self, message: Mapping[str, Any]) -> None:
        self._write(_encode(message))

    def _write(self, line: bytes) -> None:
        with self._writing:
            output = self._output
            if output is None:
                return
            try:
                output.write(line)
                output.flush()
            except (OSError, ValueError):
                # The host has gone, or what it reads takes no more; there is nobody left to tell.
                self._output = None


def _failed(key: str | int | None, failure: Failure) -> dict[str, Any]:
    return {"id": key, "ok": False, "error": {"code": failure.code, "message": failure.message}}


def _encode(message: Mapping[str, Any]) -> bytes:
    try:
        text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise ContractError(f"a result is not JSON: {error}") from None
    # A lone surrogate, in an id that a host has made, goes back as it came: "\\ud800", as JavaScript writes it too.
    return text.encode("utf-8", "backslashreplace") + b"\n"

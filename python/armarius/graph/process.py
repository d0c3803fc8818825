"""One run of a program: limited in time, in what it may say, and in what it is told of our environment."""

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress

from armarius.errors import GraphError
from armarius.trust.programs import end_program

__all__ = ["Finished", "run"]

_INHERITED = ("HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "USERPROFILE", "SYSTEMROOT")
_NO_WINDOW = 0x08000000 if sys.platform == "win32" else 0
_TAIL = 4096  # bytes of standard error kept for the log


class Finished:
    """What a program left: its status, its output, and the end of what it complained of."""

    __slots__ = ("errors", "output", "status")

    def __init__(self, status: int, output: bytes, errors: str) -> None:
        self.status = status
        self.output = output
        self.errors = errors


def run(command: Sequence[str], *, timeout_s: float, max_bytes: int, path: str) -> Finished:
    """Run `command` without input and wait for it.

    On POSIX whatever it has started ends with it; on Windows the program alone is ended, its children are left.

    Args:
        command: The program and its arguments.
        timeout_s: Seconds that it may take.
        max_bytes: Bytes that it may write.
        path: Its PATH.

    Raises:
        GraphError: It cannot be started, takes longer than `timeout_s`, or writes more than `max_bytes`.
    """
    environment = {name: value for name in _INHERITED if (value := os.environ.get(name)) is not None}
    environment["PATH"] = path
    try:
        process = subprocess.Popen(  # noqa: S603 - a list, no shell; the program is the user's choice
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            creationflags=_NO_WINDOW,
            start_new_session=sys.platform != "win32",
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise GraphError(f"the graph program cannot be started: {reason}") from None
    overdue = threading.Event()

    def end() -> None:
        overdue.set()
        end_program(process)

    clock = threading.Timer(timeout_s, end)
    tail: list[bytes] = []
    listener = threading.Thread(target=_drain, args=(process, tail), daemon=True)
    clock.daemon = True
    clock.start()
    listener.start()
    try:
        output = process.stdout.read(max_bytes + 1) if process.stdout is not None else b""
        if len(output) > max_bytes:
            raise GraphError(f"the graph program wrote more than {max_bytes} bytes")
        status = process.wait()
        listener.join(timeout_s)
    finally:
        clock.cancel()
        end_program(process)
        process.wait()  # a program that was ended is not left behind as a zombie
        if process.stdout is not None:
            process.stdout.close()
    if overdue.is_set():
        raise GraphError(f"the graph program did not answer within {timeout_s:g} s")
    return Finished(status, output, b"".join(tail)[-_TAIL:].decode("utf-8", "replace"))


def _drain(process: "subprocess.Popen[bytes]", tail: list[bytes]) -> None:
    """Read everything that is complained of, for a full pipe would stop the program, and close it."""
    if process.stderr is None:
        return
    with suppress(OSError, ValueError), process.stderr as stream:
        while chunk := stream.read(65536):
            tail[:] = [b"".join(tail)[-_TAIL:], chunk]

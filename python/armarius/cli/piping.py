"""A command of the user's own that reads a text and writes one: limited in time and in what it may write.

It comes from the command line that the user typed and from nowhere else: no file of a project names one. Its
environment and its standard error are the user's, for it may need a key and has things to say.
"""

import shlex
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from armarius.errors import ContractError, RewordingError
from armarius.rewording import RewordingRequest
from armarius.trust.programs import end_program, find_program

__all__ = ["command_model"]

_MOST_BYTES = 1 << 20


def command_model(command: str, *, project: Path, timeout_s: float) -> Callable[[RewordingRequest], str]:
    """A model that is a command: the messages go to its standard input as one text, its output is the reply.

    Args:
        command: As in a shell, without a shell: words, quoted where they hold spaces.
        project: A folder from which a bare name is never run.
        timeout_s: Seconds that one run may take; on POSIX all that it has started ends with it.

    Raises:
        ContractError: No command, or no such program.
    """
    try:
        words = shlex.split(command, posix=sys.platform != "win32")
    except ValueError as error:
        raise ContractError(f"--reword: {error}") from None
    program = find_program(words[0], project=project) if words else None
    if program is None:
        raise ContractError(f"--reword: no program {words[0]!r}" if words else "--reword: the command is empty")
    return lambda messages: _run([program, *words[1:]], messages.text, timeout_s)


def _run(command: Sequence[str], text: str, timeout_s: float) -> str:
    name = Path(command[0]).name
    try:
        process = subprocess.Popen(  # noqa: S603 - a list, no shell; the user typed it
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=sys.platform != "win32",
        )
    except (OSError, ValueError) as error:
        raise RewordingError(f"{name} cannot be started: {getattr(error, 'strerror', None) or error}") from None
    overdue = threading.Event()

    def end() -> None:
        overdue.set()
        end_program(process)

    clock = threading.Timer(timeout_s, end)
    clock.daemon = True
    clock.start()
    threading.Thread(target=_feed, args=(process, text), daemon=True).start()
    try:
        output = process.stdout.read(_MOST_BYTES + 1) if process.stdout is not None else b""
        if len(output) > _MOST_BYTES:
            raise RewordingError(f"{name} wrote more than {_MOST_BYTES} bytes")
        status = process.wait()
    finally:
        clock.cancel()
        end_program(process)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    if overdue.is_set():
        raise RewordingError(f"{name} did not end within {timeout_s:g} s")
    if status:
        raise RewordingError(f"{name} ended with status {status}")
    return output.decode("utf-8", "replace")


def _feed(process: "subprocess.Popen[bytes]", text: str) -> None:
    """Write the text and close: a program that does not read all of it is left in peace."""
    if process.stdin is not None:
        with suppress(OSError, ValueError), process.stdin as stream:
            stream.write(text.encode("utf-8", "replace") + b"\n")

"""`python -m armarius`, and the command `armarius`: an interrupt ends it in silence from the first import on."""

import os
import signal
import sys
from types import FrameType

__all__ = ["run"]

_INTERRUPTED = 130


def run() -> int:
    """Run the command line of this process.

    Until a command is ready to run, and after it has, nothing is at stake: an interrupt ends the process at once. An
    exception would be raised in the middle of whatever is being imported, and some of that does not survive one.

    Returns:
        The exit status of `armarius.cli.main`.
    """
    # A shell that starts a job in the background has it ignore the interrupt; so it stays.
    heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    _end_at_once(heard)
    from armarius.cli import main

    try:
        return main(ready=lambda: _raise_again(heard))
    finally:
        _end_at_once(heard)


def _end_at_once(heard: bool) -> None:
    if heard:
        signal.signal(signal.SIGINT, _end)


def _raise_again(heard: bool) -> None:
    if heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(_number: int, _frame: FrameType | None) -> None:
    os._exit(_INTERRUPTED)


if __name__ == "__main__":
    sys.exit(run())

"""Entry point of `python -m armarius` and of the command `armarius`; Ctrl-C ends it without a traceback."""

import gc
import os
import signal
import sys
from types import FrameType

import armarius.doors as doors

_INTERRUPTED = 130


def run() -> int:
    """Run the command line of this process.

    Before a command starts and after it has ended there is nothing to clean up, so SIGINT ends the process at once.
    `KeyboardInterrupt` is not used there: raised during an import, it can leave modules half initialised.

    Returns:
        The exit status of `armarius.cli.main`.
    """
    gc.set_threshold(20_000)  # of our own process: 15 collections until the first prompt, not 325, .08 s of .62
    # A shell sets SIGINT of a background job to SIG_IGN; keep that.
    heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    _end_on_interrupt(heard)
    try:
        return doors.main(ready=lambda: _restore_interrupt(heard))
    finally:
        _end_on_interrupt(heard)


def _end_on_interrupt(heard: bool) -> None:
    if heard:
        signal.signal(signal.SIGINT, _end)


def _restore_interrupt(heard: bool) -> None:
    if heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(_number: int, _frame: FrameType | None) -> None:
    os._exit(_INTERRUPTED)


if __name__ == "__main__":
    sys.exit(run())

"""How much work a call does, as a number that no busy machine changes."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


class DoesNotEnd(BaseException):
    """More lines than `most`: not an `Exception`, which the call itself might handle."""


def steps(call: Callable[[], Any], *, most: float = float("inf")) -> int:
    """Lines of Python that `call` runs, loops and all; what one call of C does inside counts as one."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "line"
        if count > most:
            raise DoesNotEnd(f"more than {most} lines of Python, at {frame.f_code.co_qualname}")
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count

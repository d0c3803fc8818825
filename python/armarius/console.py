"""The standard streams of a process; a program without console (`pythonw`) has None in their place."""

from typing import TextIO

__all__ = ["is_terminal"]


def is_terminal(stream: TextIO | None) -> bool:
    """Whether `stream` is a terminal; one that is None, closed or cannot tell is none."""
    try:
        return stream is not None and stream.isatty()
    except (AttributeError, ValueError):  # put there by a host; closed
        return False

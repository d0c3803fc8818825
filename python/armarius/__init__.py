"""Exactly the context a language model needs."""

from armarius._core import __version__

__all__ = ["__version__"]

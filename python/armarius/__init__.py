"""Exactly the context a language model needs."""

import warnings

from armarius._core import __version__, optimised

__all__ = ["__version__"]

if not optimised:
    warnings.warn(
        "armarius was built without optimisation: correct, but many times slower (build with --release)",
        RuntimeWarning,
        stacklevel=2,
    )

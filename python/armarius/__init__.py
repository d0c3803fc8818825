"""Exactly the context a language model needs."""

import warnings

from armarius._core import __version__, optimised
from armarius.counting import TokenCounter
from armarius.matching import EntityMatcher, Match, Mention, Rejection
from armarius.scanning import ScanHit, ScanHits, scan

__all__ = [
    "EntityMatcher",
    "Match",
    "Mention",
    "Rejection",
    "ScanHit",
    "ScanHits",
    "TokenCounter",
    "__version__",
    "scan",
]

if not optimised:
    warnings.warn(
        "armarius was built without optimisation: correct, but many times slower (build with --release)",
        RuntimeWarning,
        stacklevel=2,
    )

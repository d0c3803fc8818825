"""Exactly the context a language model needs."""

import warnings

from armarius._core import __version__, optimised
from armarius.assembly.fit.profile import BudgetProfile, LayerBudget
from armarius.contract import AssembleRequest, AssembleResult, InspectRequest, InspectResult
from armarius.engine import ContextEngine, open  # noqa: A004 - armarius.open reads like gzip.open
from armarius.names import Habits, learn_habits
from armarius.pack.pack import Pack
from armarius.text.grep import ScanHit, ScanHits, scan
from armarius.text.matcher import (
    EntityMatcher,
    Match,
    Mention,
    Rejection,
)
from armarius.text.tokens import TokenCounter
from armarius.text.truncate import Truncated, truncate

__all__ = [
    "AssembleRequest",
    "AssembleResult",
    "BudgetProfile",
    "ContextEngine",
    "EntityMatcher",
    "Habits",
    "InspectRequest",
    "InspectResult",
    "LayerBudget",
    "Match",
    "Mention",
    "Pack",
    "Rejection",
    "ScanHit",
    "ScanHits",
    "TokenCounter",
    "Truncated",
    "__version__",
    "learn_habits",
    "open",
    "scan",
    "truncate",
]

if not optimised:
    warnings.warn(
        "armarius was built without optimisation: correct, but many times slower (build with --release)",
        RuntimeWarning,
        stacklevel=2,
    )

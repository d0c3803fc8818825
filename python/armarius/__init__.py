"""Exactly the context a language model needs."""

import warnings

from armarius._core import __version__, optimised
from armarius.assembly.budget import BudgetProfile, LayerBudget
from armarius.assembly.report import Pack
from armarius.contract import AssembleRequest, AssembleResult, InspectRequest, InspectResult
from armarius.counting import TokenCounter
from armarius.engine import ContextEngine, open  # noqa: A004 - armarius.open reads like gzip.open
from armarius.habits import Habits, learn_habits
from armarius.matching import EntityMatcher, Match, Mention, Rejection
from armarius.scanning import ScanHit, ScanHits, scan
from armarius.truncation import Truncated, truncate

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

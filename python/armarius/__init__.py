"""Exactly the context a language model needs.

    engine = armarius.open("path/to/novel")
    pack = engine.assemble("检查第3章的角色一致性", document="chapters/ch003.md", cursor=1200, budget=8000)

The names that most hosts need are here: `open` and the other functions, exceptions, protocols, records of answers. The
others are in their packages: `armarius.lorebooks`, `armarius.code`, `armarius.workspace`, `armarius.embedders`,
`armarius.testing` (fakes and conformance suites), `armarius.frameworks` (adapters). A name is loaded when it is first
used (PEP 562), so importing the package takes a few milliseconds.
"""

import warnings

import armarius.doors as doors
from armarius._core import __version__, optimised

TABLE = {
    "codex.model": "Codex Constraint Entity Fact Memory Relation Summary",
    "documents.document": "Document",
    "documents.segments": "Paragraph",
    "engine.engine": "ContextEngine open",
    "errors": (
        "ArmariusError Backpressure BudgetError CodexError ConfigError ContextWarning ContractError MissingExtra "
        "ProjectError SourceUnavailable StoreBusy StoreError StoreUnavailable UnknownDocument UnknownId"
    ),
    "graph.protocol": "GraphStore",
    "index.project_index": "ProjectIndex",
    "index.source": "DocumentSource",
    "prompt.counter": "Counter",
    "prompt.fetchers.layers": "Style",
    "prompt.profile": "BudgetProfile LayerBudget",
    "prompt.report.items": "Explanation PackItem PackOmission",
    "prompt.report.pack": "Pack",
    "requests": "AssembleRequest AssembleResult",
    "search.contradictions.statements": "Statement Statements",
    "search.hits": "Retrieval",
    "search.models": "Reranker",
    "store.protocol": "Store",
    "store.vectors_protocol": "VectorStore",
    "text.matcher": "EntityMatcher Mention scan",
    "text.tokens": "TokenCounter Truncated truncate",
    "trust.settings": "Config",
    "types": "Candidate Evidence FetchRequest Fetched Fetcher Hit Hits",
    "workspace.engines": "Quota",
    "workspace.folder": "connect shelf",
} | doors.PUBLIC[""]
"""Module to the public names that are loaded from it on first use; `__init__.pyi` is written from it."""

MODULES = (*doors.MODULES, "errors", "workspace")
"""Public modules; their names are not in this one."""

__getattr__, __all__ = doors.lazy(__name__, TABLE)
__all__ += ["__version__", *MODULES]


def __dir__() -> list[str]:
    return sorted(__all__)


if not optimised:
    warnings.warn(
        "armarius was built without optimisation: correct, but many times slower (build with --release)",
        RuntimeWarning,
        stacklevel=2,
    )

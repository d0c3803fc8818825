"""Exactly the context a language model needs.

    engine = armarius.open("path/to/novel")
    pack = engine.assemble("检查第3章的角色一致性", document="chapters/ch003.md", cursor=1200, budget=8000)

Everything public is here: `armarius.open` and the other verbs, every exception, every protocol that a host may
implement, every record that an answer is made of, the fetchers. A name is loaded when it is first used (PEP 562):
importing the package costs a few milliseconds and brings in nothing else. Ready-made embedders are in
`armarius.embedders`, fakes and conformance suites for tests in `armarius.testing`, adapters to hosts in
`armarius.frameworks`.
"""

import warnings

from armarius._core import __version__, optimised

TYPE_CHECKING = False  # not typing's: that would be the most expensive import of this file
if TYPE_CHECKING:
    from armarius import embedders, errors, rewording, testing
    from armarius.code.index import CodeIndex
    from armarius.code.options import CodeOptions
    from armarius.code.source import BatchSource, CodeSource
    from armarius.code.subgraph import CodeEdge, CodeNode, Direction, Subgraph, TextMatch, TextMatches
    from armarius.codex.authored.codex import AuthoredCodex
    from armarius.codex.authored.collection import Constraints, Memories, Pins
    from armarius.codex.authored.protocol import Authored, RecordBook
    from armarius.codex.cards import entity_card
    from armarius.codex.load import load_codex
    from armarius.codex.model import (
        Codex,
        Constraint,
        ContextLevel,
        Entity,
        Fact,
        Memory,
        Origin,
        Overruled,
        Relation,
        Summary,
    )
    from armarius.config import Config
    from armarius.deadline import Call, Observer, observe
    from armarius.documents.classify import Kind
    from armarius.documents.document import Document, Documents, Skipped
    from armarius.documents.segments import Paragraph, Role
    from armarius.documents.titles import FrontMatter
    from armarius.embedders.protocol import AnyEmbedder, Embedder, Fingerprint, OneKindEmbedder
    from armarius.engine.engine import ContextEngine
    from armarius.engine.opening import open  # noqa: A004 - armarius.open reads like gzip.open
    from armarius.engine.summaries import ProjectSummaries
    from armarius.errors import (
        AmbiguousSymbol,
        ArmariusError,
        Backpressure,
        BookError,
        BudgetConflict,
        BudgetError,
        CodeGraphError,
        CodexError,
        ConfigError,
        ContextWarning,
        ContractError,
        CounterError,
        CursorOutOfRange,
        DimensionMismatch,
        DocumentSkipped,
        EmbeddingError,
        GraphError,
        MissingExtra,
        ProjectError,
        ProjectGone,
        QuotaExceeded,
        RewordingError,
        SchemaTooNew,
        ScopeViolation,
        SettingRefused,
        SourceReason,
        SourceUnavailable,
        StoreBusy,
        StoreConflict,
        StoreCorrupt,
        StoreError,
        StoreFull,
        StoreUnavailable,
        UnknownDocument,
        UnknownId,
        UnknownSymbol,
    )
    from armarius.evaluation.measure import Evaluation, Miss, evaluate
    from armarius.evaluation.questions import Question, read_questions
    from armarius.graph.nervusdb import NervusDBGraph
    from armarius.graph.protocol import Graph, GraphStore
    from armarius.index.graph import ProjectGraph
    from armarius.index.project_index import ProjectIndex
    from armarius.index.source import DocumentSource
    from armarius.index.status import IndexStatus, Progress
    from armarius.lorebooks.activate import activate, scan_of
    from armarius.lorebooks.active.result import Activation, Active, Left
    from armarius.lorebooks.active.scan import Message, Scan
    from armarius.lorebooks.active.state import Effect, State
    from armarius.lorebooks.book import Book
    from armarius.lorebooks.changes import Change
    from armarius.lorebooks.compare import ProfileDifference, profile_differences
    from armarius.lorebooks.export import Exported
    from armarius.lorebooks.importing import Importing, ImportReport, Proposal
    from armarius.lorebooks.keeping import BookKeeping
    from armarius.lorebooks.losses import Conflict, Loss
    from armarius.lorebooks.opening import detect_book, read_book
    from armarius.lorebooks.record import (
        Chance,
        Condition,
        Decorator,
        Entry,
        EntrySource,
        Key,
        Matching,
        Place,
        Range,
        Scope,
        Share,
        Timing,
        Wake,
    )
    from armarius.lorebooks.shelf import Books
    from armarius.names.learn import learn_names
    from armarius.names.proposals import ProposedName, propose_names
    from armarius.prompt.counter import Counter
    from armarius.prompt.fetchers.code import SubgraphFetcher
    from armarius.prompt.fetchers.detected import RetrievedFetcher
    from armarius.prompt.fetchers.entities import EntitySource
    from armarius.prompt.fetchers.immediate import ImmediateFetcher
    from armarius.prompt.fetchers.lore import LoreFetcher
    from armarius.prompt.fetchers.passages import PassageFetcher
    from armarius.prompt.fetchers.rules import ConstraintSource, RulesFetcher
    from armarius.prompt.fetchers.settings import MemorySource, SettingsFetcher, StyleSource
    from armarius.prompt.fetchers.style import Style
    from armarius.prompt.prefix import PrefixReport
    from armarius.prompt.profile import BudgetProfile, LayerBudget
    from armarius.prompt.report.items import Difference, Explanation, PackItem, PackOmission
    from armarius.prompt.report.pack import Pack
    from armarius.requests import (
        AssembleRequest,
        AssembleResult,
        InspectMeta,
        InspectRequest,
        InspectResult,
        InspectTotals,
        LayerDetail,
        LayerDetails,
        LayerResult,
        LayerResults,
        PositionEncoding,
        code_points,
    )
    from armarius.rewording.asking import RewordingRequest
    from armarius.rewording.reworder import ChatModel, Reworder
    from armarius.search.contradictions.statements import Statement
    from armarius.search.hits import Outcome, Retrieval
    from armarius.search.query.query import Understanding
    from armarius.search.rerank import Reranker, Reranking
    from armarius.store.protocol import Store
    from armarius.store.vectors_protocol import Leasing, VectorStore
    from armarius.text.grep import ScanHit, ScanHits, scan
    from armarius.text.matcher import EntityMatcher, Match, Matches, Mention, Rejection
    from armarius.text.name_model import DoubtfulAlias, LongerName, NameModel, RefusedName, ShortName
    from armarius.text.tokens import TokenCounter, Truncated, truncate
    from armarius.types import (
        LAYERS,
        Candidate,
        Confirming,
        Evidence,
        Fetched,
        Fetcher,
        FetchRequest,
        Hit,
        Hits,
        LayerName,
        Omission,
        OmitReason,
    )
    from armarius.vectors.queue import EmbeddingProgress, SemanticStatus, SimilarEntity
    from armarius.vectors.recall import ProjectRecall
    from armarius.workspace.cache import Quota
    from armarius.workspace.folder import FolderEntry, LocalNovel, LocalShelf, shelf
    from armarius.workspace.project import Health, ShelfStatus
    from armarius.workspace.workspace import connect

# "open" is among them, as in gzip and tarfile: whoever writes `from armarius import *` asks for it.
__all__ = [
    "LAYERS",
    "Activation",
    "Active",
    "AmbiguousSymbol",
    "AnyEmbedder",
    "ArmariusError",
    "AssembleRequest",
    "AssembleResult",
    "Authored",
    "AuthoredCodex",
    "Backpressure",
    "BatchSource",
    "Book",
    "BookError",
    "BookKeeping",
    "Books",
    "BudgetConflict",
    "BudgetError",
    "BudgetProfile",
    "Call",
    "Candidate",
    "Chance",
    "Change",
    "ChatModel",
    "CodeEdge",
    "CodeGraphError",
    "CodeIndex",
    "CodeNode",
    "CodeOptions",
    "CodeSource",
    "Codex",
    "CodexError",
    "Condition",
    "Config",
    "ConfigError",
    "Confirming",
    "Conflict",
    "Constraint",
    "ConstraintSource",
    "Constraints",
    "ContextEngine",
    "ContextLevel",
    "ContextWarning",
    "ContractError",
    "Counter",
    "CounterError",
    "CursorOutOfRange",
    "Decorator",
    "Difference",
    "DimensionMismatch",
    "Direction",
    "Document",
    "DocumentSkipped",
    "DocumentSource",
    "Documents",
    "DoubtfulAlias",
    "Effect",
    "Embedder",
    "EmbeddingError",
    "EmbeddingProgress",
    "Entity",
    "EntityMatcher",
    "EntitySource",
    "Entry",
    "EntrySource",
    "Evaluation",
    "Evidence",
    "Explanation",
    "Exported",
    "Fact",
    "FetchRequest",
    "Fetched",
    "Fetcher",
    "Fingerprint",
    "FolderEntry",
    "FrontMatter",
    "Graph",
    "GraphError",
    "GraphStore",
    "Health",
    "Hit",
    "Hits",
    "ImmediateFetcher",
    "ImportReport",
    "Importing",
    "IndexStatus",
    "InspectMeta",
    "InspectRequest",
    "InspectResult",
    "InspectTotals",
    "Key",
    "Kind",
    "LayerBudget",
    "LayerDetail",
    "LayerDetails",
    "LayerName",
    "LayerResult",
    "LayerResults",
    "Leasing",
    "Left",
    "LocalNovel",
    "LocalShelf",
    "LongerName",
    "LoreFetcher",
    "Loss",
    "Match",
    "Matches",
    "Matching",
    "Memories",
    "Memory",
    "MemorySource",
    "Mention",
    "Message",
    "Miss",
    "MissingExtra",
    "NameModel",
    "NervusDBGraph",
    "Observer",
    "Omission",
    "OmitReason",
    "OneKindEmbedder",
    "Origin",
    "Outcome",
    "Overruled",
    "Pack",
    "PackItem",
    "PackOmission",
    "Paragraph",
    "PassageFetcher",
    "Pins",
    "Place",
    "PositionEncoding",
    "PrefixReport",
    "ProfileDifference",
    "Progress",
    "ProjectError",
    "ProjectGone",
    "ProjectGraph",
    "ProjectIndex",
    "ProjectRecall",
    "ProjectSummaries",
    "Proposal",
    "ProposedName",
    "Question",
    "Quota",
    "QuotaExceeded",
    "Range",
    "RecordBook",
    "RefusedName",
    "Rejection",
    "Relation",
    "Reranker",
    "Reranking",
    "Retrieval",
    "RetrievedFetcher",
    "Reworder",
    "RewordingError",
    "RewordingRequest",
    "Role",
    "RulesFetcher",
    "Scan",
    "ScanHit",
    "ScanHits",
    "SchemaTooNew",
    "Scope",
    "ScopeViolation",
    "SemanticStatus",
    "SettingRefused",
    "SettingsFetcher",
    "Share",
    "ShelfStatus",
    "ShortName",
    "SimilarEntity",
    "Skipped",
    "SourceReason",
    "SourceUnavailable",
    "State",
    "Statement",
    "Store",
    "StoreBusy",
    "StoreConflict",
    "StoreCorrupt",
    "StoreError",
    "StoreFull",
    "StoreUnavailable",
    "Style",
    "StyleSource",
    "Subgraph",
    "SubgraphFetcher",
    "Summary",
    "TextMatch",
    "TextMatches",
    "Timing",
    "TokenCounter",
    "Truncated",
    "Understanding",
    "UnknownDocument",
    "UnknownId",
    "UnknownSymbol",
    "VectorStore",
    "Wake",
    "__version__",
    "activate",
    "code_points",
    "connect",
    "detect_book",
    "embedders",
    "entity_card",
    "errors",
    "evaluate",
    "learn_names",
    "load_codex",
    "observe",
    "open",
    "profile_differences",
    "propose_names",
    "read_book",
    "read_questions",
    "rewording",
    "scan",
    "scan_of",
    "shelf",
    "testing",
    "truncate",
]

# Where each is at home: what the block above says to type checkers.
_HOMES = {
    "code.index": "CodeIndex",
    "code.options": "CodeOptions",
    "code.source": "BatchSource CodeSource",
    "code.subgraph": "CodeEdge CodeNode Direction Subgraph TextMatch TextMatches",
    "codex.authored.codex": "AuthoredCodex",
    "codex.authored.collection": "Constraints Memories Pins",
    "codex.authored.protocol": "Authored RecordBook",
    "codex.cards": "entity_card",
    "codex.load": "load_codex",
    "codex.model": "Codex Constraint ContextLevel Entity Fact Memory Origin Overruled Relation Summary",
    "config": "Config",
    "deadline": "Call Observer observe",
    "documents.classify": "Kind",
    "documents.document": "Document Documents Skipped",
    "documents.segments": "Paragraph Role",
    "documents.titles": "FrontMatter",
    "embedders.protocol": "AnyEmbedder Embedder Fingerprint OneKindEmbedder",
    "engine.engine": "ContextEngine",
    "engine.opening": "open",
    "engine.summaries": "ProjectSummaries",
    "errors": (
        "AmbiguousSymbol ArmariusError Backpressure BookError BudgetConflict BudgetError CodeGraphError "
        "CodexError ConfigError ContextWarning ContractError CounterError CursorOutOfRange DimensionMismatch "
        "DocumentSkipped EmbeddingError GraphError MissingExtra ProjectError ProjectGone QuotaExceeded "
        "RewordingError SchemaTooNew ScopeViolation SettingRefused SourceReason SourceUnavailable StoreBusy "
        "StoreConflict StoreCorrupt StoreError StoreFull StoreUnavailable UnknownDocument UnknownId "
        "UnknownSymbol"
    ),
    "evaluation.measure": "Evaluation Miss evaluate",
    "evaluation.questions": "Question read_questions",
    "graph.nervusdb": "NervusDBGraph",
    "graph.protocol": "Graph GraphStore",
    "index.graph": "ProjectGraph",
    "index.project_index": "ProjectIndex",
    "index.source": "DocumentSource",
    "index.status": "IndexStatus Progress",
    "lorebooks.activate": "activate scan_of",
    "lorebooks.active.result": "Activation Active Left",
    "lorebooks.active.scan": "Message Scan",
    "lorebooks.active.state": "Effect State",
    "lorebooks.book": "Book",
    "lorebooks.changes": "Change",
    "lorebooks.compare": "ProfileDifference profile_differences",
    "lorebooks.export": "Exported",
    "lorebooks.importing": "ImportReport Importing Proposal",
    "lorebooks.keeping": "BookKeeping",
    "lorebooks.losses": "Conflict Loss",
    "lorebooks.opening": "detect_book read_book",
    "lorebooks.record": "Chance Condition Decorator Entry EntrySource Key Matching Place Range Scope Share Timing Wake",
    "lorebooks.shelf": "Books",
    "names.learn": "learn_names",
    "names.proposals": "ProposedName propose_names",
    "prompt.counter": "Counter",
    "prompt.fetchers.code": "SubgraphFetcher",
    "prompt.fetchers.detected": "RetrievedFetcher",
    "prompt.fetchers.entities": "EntitySource",
    "prompt.fetchers.immediate": "ImmediateFetcher",
    "prompt.fetchers.lore": "LoreFetcher",
    "prompt.fetchers.passages": "PassageFetcher",
    "prompt.fetchers.rules": "ConstraintSource RulesFetcher",
    "prompt.fetchers.settings": "MemorySource SettingsFetcher StyleSource",
    "prompt.fetchers.style": "Style",
    "prompt.prefix": "PrefixReport",
    "prompt.profile": "BudgetProfile LayerBudget",
    "prompt.report.items": "Difference Explanation PackItem PackOmission",
    "prompt.report.pack": "Pack",
    "requests": (
        "AssembleRequest AssembleResult InspectMeta InspectRequest InspectResult InspectTotals LayerDetail "
        "LayerDetails LayerResult LayerResults PositionEncoding code_points"
    ),
    "rewording.asking": "RewordingRequest",
    "rewording.reworder": "ChatModel Reworder",
    "search.contradictions.statements": "Statement",
    "search.hits": "Outcome Retrieval",
    "search.query.query": "Understanding",
    "search.rerank": "Reranker Reranking",
    "store.protocol": "Store",
    "store.vectors_protocol": "Leasing VectorStore",
    "text.grep": "ScanHit ScanHits scan",
    "text.matcher": "EntityMatcher Match Matches Mention Rejection",
    "text.name_model": "DoubtfulAlias LongerName NameModel RefusedName ShortName",
    "text.tokens": "TokenCounter Truncated truncate",
    "types": "Hit Hits LAYERS Candidate Confirming Evidence FetchRequest Fetched Fetcher LayerName OmitReason Omission",
    "vectors.queue": "SemanticStatus SimilarEntity EmbeddingProgress",
    "vectors.recall": "ProjectRecall",
    "workspace.cache": "Quota",
    "workspace.folder": "shelf FolderEntry LocalNovel LocalShelf",
    "workspace.project": "Health ShelfStatus",
    "workspace.workspace": "connect",
}
_HOME = {name: f"armarius.{module}" for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """A public name, loaded when it is first asked for; or a room of the package."""
    from importlib import import_module

    if (home := _HOME.get(name)) is not None:
        value = getattr(import_module(home), name)
        globals()[name] = value
        return value
    if not name.startswith("_"):
        try:
            return import_module(f"armarius.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"armarius.{name}":
                raise
    raise AttributeError(f"module 'armarius' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


if not optimised:
    warnings.warn(
        "armarius was built without optimisation: correct, but many times slower (build with --release)",
        RuntimeWarning,
        stacklevel=2,
    )

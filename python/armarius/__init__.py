"""Exactly the context a language model needs.

    engine = armarius.open("path/to/novel")
    pack = engine.assemble("检查第3章的角色一致性", document="chapters/ch003.md", cursor=1200, budget=8000)

Everything public is here: `armarius.open` and the other verbs, every exception, every protocol that a host may
implement, every record that an answer is made of, the fetchers. A name is loaded when it is first used (PEP 562):
importing the package costs a few milliseconds and brings in nothing else. Ready-made embedders are in
`armarius.embedders`, fakes and conformance suites for tests in `armarius.testing`, adapters to hosts in
`armarius.integrations`.
"""

import warnings

from armarius._core import __version__, optimised

TYPE_CHECKING = False  # not typing's: that would be the most expensive import of this file
if TYPE_CHECKING:
    from armarius import embedders, errors, rewording, testing
    from armarius.assembly.fit.cached_counter import Counter
    from armarius.assembly.fit.prefix import PrefixReport
    from armarius.assembly.fit.profile import BudgetProfile, LayerBudget
    from armarius.assembly.report.items import Difference, Explanation, PackItem, PackOmission
    from armarius.assembly.report.pack import Pack
    from armarius.books.activate import activate, scan_of
    from armarius.books.active.result import Activation, Active, Left
    from armarius.books.active.scan import Message, Scan
    from armarius.books.active.state import Effect, State
    from armarius.books.book import Book
    from armarius.books.changes import Change
    from armarius.books.compare import ProfileDifference, profile_differences
    from armarius.books.export import Exported
    from armarius.books.importing import Importing, ImportReport, Proposal
    from armarius.books.keeping import BookKeeping
    from armarius.books.losses import Conflict, Loss
    from armarius.books.opening import detect_book, read_book
    from armarius.books.record import (
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
    from armarius.books.shelf import Books
    from armarius.calls import Call, Observer, observe
    from armarius.code.index import CodeIndex
    from armarius.code.options import CodeOptions
    from armarius.code.source import BatchSource, CodeSource
    from armarius.code.subgraph import CodeEdge, CodeNode, Direction, Subgraph, TextMatch, TextMatches
    from armarius.codex.authored.codex import AuthoredCodex
    from armarius.codex.authored.collection import Constraints, Memories
    from armarius.codex.authored.pins import Pins
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
    from armarius.contract import (
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
    from armarius.documents.classify import Kind
    from armarius.documents.document import Document, Documents, Skipped
    from armarius.documents.front_matter import FrontMatter
    from armarius.documents.segments import Paragraph, Role
    from armarius.embedders.protocol import AnyEmbedder, Embedder, Fingerprint, OneKindEmbedder
    from armarius.engine.engine import ContextEngine
    from armarius.engine.opening import open  # noqa: A004 - armarius.open reads like gzip.open
    from armarius.engine.summarising import ProjectSummaries
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
    from armarius.fetchers.code import SubgraphFetcher
    from armarius.fetchers.detected import RetrievedFetcher
    from armarius.fetchers.entities import EntitySource
    from armarius.fetchers.immediate import ImmediateFetcher
    from armarius.fetchers.lore import LoreFetcher
    from armarius.fetchers.passages import PassageFetcher
    from armarius.fetchers.rules import ConstraintSource, RulesFetcher
    from armarius.fetchers.settings import MemorySource, SettingsFetcher, StyleSource
    from armarius.fetchers.style import Style
    from armarius.graph.nervusdb import NervusDBGraph
    from armarius.graph.protocol import Graph, GraphStore
    from armarius.hits import Hit, Hits
    from armarius.index.graph import ProjectGraph
    from armarius.index.project_index import ProjectIndex
    from armarius.index.source import DocumentSource
    from armarius.index.status import IndexStatus, Progress
    from armarius.names.learn import learn_names
    from armarius.names.proposed import ProposedName, propose_names
    from armarius.records import (
        LAYERS,
        Candidate,
        Confirming,
        Evidence,
        Fetched,
        Fetcher,
        FetchRequest,
        LayerName,
        Omission,
        OmitReason,
    )
    from armarius.retrieval.contradictions.statements import Statement
    from armarius.retrieval.hits import Outcome, Retrieval
    from armarius.retrieval.rerank import Reranker, Reranking
    from armarius.retrieval.understand.query import Understanding
    from armarius.rewording.asking import RewordingRequest
    from armarius.rewording.reworder import ChatModel, Reworder
    from armarius.semantic.hits import SemanticStatus, SimilarEntity
    from armarius.semantic.queue import EmbeddingProgress
    from armarius.semantic.recall import ProjectRecall
    from armarius.shelves.connecting import connect
    from armarius.shelves.limits import Quota
    from armarius.shelves.local import shelf
    from armarius.shelves.local_shelf import FolderEntry, LocalNovel, LocalShelf
    from armarius.shelves.status import Health, ShelfStatus
    from armarius.store.protocol import Store
    from armarius.store.vectors_protocol import Leasing, VectorStore
    from armarius.text.grep import ScanHit, ScanHits, scan
    from armarius.text.matcher import EntityMatcher, Match, Matches, Mention, Rejection
    from armarius.text.name_model import DoubtfulAlias, LongerName, NameModel, RefusedName, ShortName
    from armarius.text.tokens import TokenCounter
    from armarius.text.truncate import Truncated, truncate

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
    "assembly.fit.cached_counter": "Counter",
    "assembly.fit.profile": "BudgetProfile LayerBudget",
    "assembly.fit.prefix": "PrefixReport",
    "books.activate": "activate scan_of",
    "books.active.result": "Activation Active Left",
    "books.active.scan": "Message Scan",
    "books.active.state": "Effect State",
    "books.book": "Book",
    "books.compare": "ProfileDifference profile_differences",
    "books.export": "Exported",
    "books.changes": "Change",
    "books.importing": "ImportReport Importing Proposal",
    "books.keeping": "BookKeeping",
    "books.losses": "Conflict Loss",
    "books.opening": "detect_book read_book",
    "books.record": "Chance Condition Decorator Entry EntrySource Key Matching Place Range Scope Share Timing Wake",
    "books.shelf": "Books",
    "calls": "Call Observer observe",
    "code.index": "CodeIndex",
    "code.options": "CodeOptions",
    "code.source": "BatchSource CodeSource",
    "code.subgraph": "CodeEdge CodeNode Direction Subgraph TextMatch TextMatches",
    "codex.authored.codex": "AuthoredCodex",
    "codex.authored.collection": "Constraints Memories",
    "codex.authored.pins": "Pins",
    "codex.authored.protocol": "Authored RecordBook",
    "codex.cards": "entity_card",
    "codex.load": "load_codex",
    "codex.model": "Codex Constraint ContextLevel Entity Fact Memory Origin Overruled Relation Summary",
    "config": "Config",
    "contract": (
        "AssembleRequest AssembleResult InspectMeta InspectRequest InspectResult InspectTotals LayerDetail "
        "LayerDetails LayerResult LayerResults PositionEncoding code_points"
    ),
    "documents.classify": "Kind",
    "documents.document": "Document Documents Skipped",
    "documents.front_matter": "FrontMatter",
    "documents.segments": "Paragraph Role",
    "embedders.protocol": "AnyEmbedder Embedder Fingerprint OneKindEmbedder",
    "engine.engine": "ContextEngine",
    "engine.opening": "open",
    "engine.summarising": "ProjectSummaries",
    "errors": (
        "AmbiguousSymbol ArmariusError Backpressure BookError BudgetConflict BudgetError CodeGraphError "
        "CodexError ConfigError ContextWarning ContractError CounterError CursorOutOfRange DimensionMismatch "
        "DocumentSkipped EmbeddingError GraphError MissingExtra ProjectError ProjectGone QuotaExceeded RewordingError "
        "SchemaTooNew ScopeViolation SettingRefused SourceReason SourceUnavailable StoreBusy StoreConflict "
        "StoreCorrupt StoreError StoreFull StoreUnavailable UnknownDocument UnknownId UnknownSymbol"
    ),
    "evaluation.measure": "Evaluation Miss evaluate",
    "evaluation.questions": "Question read_questions",
    "fetchers.code": "SubgraphFetcher",
    "fetchers.detected": "RetrievedFetcher",
    "fetchers.entities": "EntitySource",
    "fetchers.immediate": "ImmediateFetcher",
    "fetchers.lore": "LoreFetcher",
    "fetchers.passages": "PassageFetcher",
    "fetchers.rules": "ConstraintSource RulesFetcher",
    "fetchers.settings": "MemorySource SettingsFetcher StyleSource",
    "fetchers.style": "Style",
    "graph.nervusdb": "NervusDBGraph",
    "graph.protocol": "Graph GraphStore",
    "hits": "Hit Hits",
    "index.graph": "ProjectGraph",
    "index.project_index": "ProjectIndex",
    "index.source": "DocumentSource",
    "index.status": "IndexStatus Progress",
    "names.learn": "learn_names",
    "names.proposed": "ProposedName propose_names",
    "text.name_model": "DoubtfulAlias LongerName NameModel RefusedName ShortName",
    "assembly.report.items": "Difference Explanation PackItem PackOmission",
    "assembly.report.pack": "Pack",
    "records": "LAYERS Candidate Confirming Evidence FetchRequest Fetched Fetcher LayerName OmitReason Omission",
    "retrieval.contradictions.statements": "Statement",
    "retrieval.hits": "Outcome Retrieval",
    "retrieval.rerank": "Reranker Reranking",
    "retrieval.understand.query": "Understanding",
    "rewording.asking": "RewordingRequest",
    "rewording.reworder": "ChatModel Reworder",
    "semantic.hits": "SemanticStatus SimilarEntity",
    "semantic.queue": "EmbeddingProgress",
    "semantic.recall": "ProjectRecall",
    "shelves.connecting": "connect",
    "shelves.limits": "Quota",
    "shelves.local": "shelf",
    "shelves.local_shelf": "FolderEntry LocalNovel LocalShelf",
    "shelves.status": "Health ShelfStatus",
    "store.protocol": "Store",
    "store.vectors_protocol": "Leasing VectorStore",
    "text.grep": "ScanHit ScanHits scan",
    "text.matcher": "EntityMatcher Match Matches Mention Rejection",
    "text.tokens": "TokenCounter",
    "text.truncate": "Truncated truncate",
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

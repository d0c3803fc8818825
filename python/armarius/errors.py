"""The exceptions a caller may branch on, and the warnings that travel with an answer.

    ArmariusError
    ├── ContractError (ValueError)      a request or result that breaks the contract
    │   ├── UnknownDocument (KeyError)  the request names a document the project does not have
    │   ├── CursorOutOfRange            the cursor lies outside the document's text
    │   ├── BudgetError                 a budget that is negative or below the minimum
    │   └── ScopeViolation              data of another project               CONTEXT_SCOPE_VIOLATION
    ├── ProjectError                    the folder cannot serve as a project
    │   ├── ConfigError                 armarius.toml or the user's own: file, key and what is wrong
    │   │   └── SettingRefused          armarius.toml asks for what only the user may allow; carries what would
    │   └── CodexError                  codex.json or an authored file: file, entry, field
    ├── StoreError                      the index cannot be used
    │   ├── StoreBusy                   another process holds the index
    │   ├── StoreConflict               somebody else has written since what a change was made from
    │   ├── StoreCorrupt                damaged; it is a cache and will be rebuilt
    │   ├── StoreFull                   the disk is full or the folder is read-only
    │   └── SchemaTooNew                written by a newer armarius
    ├── CounterError                    no such tokenizer, or a tokenizer file that cannot be read
    ├── EmbeddingError                  a missing or broken embedding model
    │   └── DimensionMismatch           vectors of another model
    ├── CodeGraphError                  no answer from the code graph
    │   ├── UnknownSymbol               carries near matches
    │   └── AmbiguousSymbol             carries the candidates
    ├── GraphError                      a graph store cannot answer           KG_UNAVAILABLE
    ├── BudgetConflict                  a stale budget profile version        CONTEXT_BUDGET_CONFLICT
    ├── Backpressure                    too many assemblies at once           CONTEXT_BACKPRESSURE
    └── MissingExtra (ImportError)      names the extra: pip install armarius[...]

A source that fails raises nothing: it becomes a `ContextWarning` beside the answer:

    INDEX_STALE                     answered from before the latest changes, while the index is built, or with the last
                                    settings that were right
    DOCUMENT_SKIPPED                a file that was not read: too large, a link, not text
    PROJECT_EMPTY                   no document at all
    CODEX_INVALID                   codex.json, a profile or an authored file: an entry that was passed over
    RULES_UNAVAILABLE STYLE_UNAVAILABLE MEMORY_UNAVAILABLE RAG_UNAVAILABLE
                                    the rules, the style, the memories, the passages could not be had
    ENTITY_MATCH_FAILED             names were not looked for, or not with all that is known of them
    KG_UNAVAILABLE KG_TRUNCATED     the graph did not answer; it was not walked to its end
    EMBEDDING_UNAVAILABLE           no recall by meaning: no model, or it failed
    CODE_GRAPH_UNAVAILABLE CODE_DEPTH_LIMIT
                                    text was searched instead of the code graph; there is more beyond the depth

Those of the assembly itself:

    CONTEXT_RULES_OVERBUDGET        rules take more than their share; they are never trimmed
    CONTEXT_CAPACITY_WARNING        the prompt fills 87 % or more of its budget
    CONTEXT_CAPACITY_FORCE_TRIM     more than 95 % was on offer; something was cut or left out
    CONTEXT_QUERY_TRUNCATED         the user's words did not fit and were cut
    CONTEXT_BUDGET_FALLBACK         counted by estimate: the model is not known, or its counter failed
    CONTEXT_SCOPE_VIOLATION         a candidate of another project was refused
"""

from dataclasses import dataclass

__all__ = [
    "AmbiguousSymbol",
    "ArmariusError",
    "Backpressure",
    "BudgetConflict",
    "BudgetError",
    "CodeGraphError",
    "CodexError",
    "ConfigError",
    "ContextWarning",
    "ContractError",
    "CounterError",
    "CursorOutOfRange",
    "DimensionMismatch",
    "EmbeddingError",
    "GraphError",
    "MissingExtra",
    "ProjectError",
    "SchemaTooNew",
    "ScopeViolation",
    "SettingRefused",
    "StoreBusy",
    "StoreConflict",
    "StoreCorrupt",
    "StoreError",
    "StoreFull",
    "UnknownDocument",
    "UnknownSymbol",
]


class ArmariusError(Exception):
    """Base of every error this package raises on purpose."""


class ContractError(ArmariusError, ValueError):
    """A request or a result that breaks the contract; the message names the field."""


class UnknownDocument(ContractError):
    """The request names a document that the project does not have; `near` holds the closest paths."""

    def __init__(self, message: str, near: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.near = near


class CursorOutOfRange(ContractError):
    """The cursor lies outside the document's text."""


class BudgetError(ContractError):
    """A budget that is negative, not a number, or below the minimum."""


class ScopeViolation(ContractError):
    """Data of another project reached this one (CONTEXT_SCOPE_VIOLATION)."""


class ProjectError(ArmariusError):
    """The folder cannot serve as a project; the message names the path."""


class ConfigError(ProjectError):
    """`armarius.toml`, or the user's own configuration, is wrong; the message names file and key."""


class SettingRefused(ConfigError):
    """`armarius.toml` asks for what only the user may allow; the message says how.

    Attributes:
        key: The setting, such as `documents.index_dir`.
        value: What it says.
        table: The table of the user's configuration where a line would allow it; "" when only trust does.
        line: That line; "" when only trust does.
    """

    def __init__(self, message: str, *, key: str, value: str, table: str = "", line: str = "") -> None:
        super().__init__(message)
        self.key, self.value, self.table, self.line = key, value, table, line


class CodexError(ProjectError):
    """A codex or authored file is wrong; the message names file, entry and field or line."""


class StoreError(ArmariusError):
    """The index cannot be used."""


class StoreBusy(StoreError):
    """Another process holds the index for longer than the timeout."""


class StoreConflict(StoreError):
    """The index has moved on since the generation that a change was made from."""


class StoreCorrupt(StoreError):
    """The index is damaged. It is derived: deleting it loses nothing."""


class StoreFull(StoreError):
    """The disk is full or the index folder cannot be written."""


class SchemaTooNew(StoreError):
    """The index was written by a newer armarius."""


class CounterError(ArmariusError, ValueError):
    """No such tokenizer, or a tokenizer file that cannot be read."""


class EmbeddingError(ArmariusError):
    """A missing or broken embedding model; the message says how to recover."""


class DimensionMismatch(EmbeddingError):
    """Vectors of one model met an index of another; the message names both."""


class CodeGraphError(ArmariusError):
    """The code graph cannot answer."""


class UnknownSymbol(CodeGraphError):
    """No such symbol; `near` holds the closest names."""

    def __init__(self, message: str, near: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.near = near


class AmbiguousSymbol(CodeGraphError):
    """Several symbols carry the name; `candidates` holds their qualified names."""

    def __init__(self, message: str, candidates: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.candidates = candidates


class GraphError(ArmariusError):
    """A graph store cannot answer (KG_UNAVAILABLE); the message names no path and no query."""


class BudgetConflict(ArmariusError):
    """The budget profile changed since the version that the caller read (CONTEXT_BUDGET_CONFLICT)."""


class Backpressure(ArmariusError):
    """More assemblies at once than configured (CONTEXT_BACKPRESSURE)."""


class MissingExtra(ArmariusError, ImportError):
    """An optional dependency is absent; the message names the extra that brings it."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional dependency: pip install 'armarius[{extra}]'")
        self.extra = extra


@dataclass(frozen=True, slots=True)
class ContextWarning:
    """What is missing from an answer, with a stable code; `str()` is the wire form.

    `CODE: message`, except for the two sentences that the specification fixes without a code.
    """

    code: str
    message: str

    def __str__(self) -> str:
        return self.message if self.code in _WITHOUT_PREFIX else f"{self.code}: {self.message}"


_WITHOUT_PREFIX = frozenset({"CODE_DEPTH_LIMIT", "CODE_GRAPH_UNAVAILABLE"})

KG_UNAVAILABLE = ContextWarning("KG_UNAVAILABLE", "知识图谱数据未注入")
ENTITY_MATCH_FAILED = ContextWarning("ENTITY_MATCH_FAILED", "实体匹配异常")
CODE_GRAPH_UNAVAILABLE = ContextWarning("CODE_GRAPH_UNAVAILABLE", "CKB 不可用，降级为文本搜索")


def depth_limit(maximum: int) -> ContextWarning:
    """The walk stopped at its configured maximum depth and more would have followed."""
    return ContextWarning("CODE_DEPTH_LIMIT", f"深度已达最大值 {maximum}，结果可能不完整")

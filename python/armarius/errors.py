"""The exceptions a caller may branch on. Their `code` is what a host reads, their `message` says what is wrong.

    ArmariusError
    ├── ContractError (ValueError)      a request or result that breaks the contract
    │   ├── UnknownId (KeyError)        nothing has the id or name; carries near ones
    │   │   └── UnknownProject          a shelf has no project of the name; carries near ones
    │   ├── UnknownDocument (KeyError)  the request names a document the project does not have; carries near ones
    │   │   └── DocumentSkipped         the file is there and is no document; carries the reason
    │   ├── CursorOutOfRange            the cursor lies outside the document's text
    │   ├── BudgetError                 a budget that is negative or below the minimum
    │   │   └── BudgetTooSmall          what must be in the prompt does not fit; carries the minimum
    │   └── ScopeViolation              data of another project               CONTEXT_SCOPE_VIOLATION
    ├── ProjectError                    the folder cannot serve as a project
    │   ├── ConfigError                 armarius.toml or the user's own: file, key and what is wrong
    │   ├── ProjectGone (StoreFull)     the folder of an open project is not there any more; nothing is written
    │   ├── CodexError                  codex.json or an authored file: file, entry, field
    │   │   ├── NameTaken               a name or alias belongs to another entity
    │   │   ├── PageChanged             the page is not as it was read; nothing was written
    │   │   └── DescribedElsewhere      it stands in a file that is not edited here
    │   └── BookError                   a lorebook, card or manuscript: file and place
    ├── StoreError                      the index cannot be used
    │   ├── StoreBusy                   another process holds the index
    │   ├── StoreConflict               somebody else has written since what a change was made from
    │   ├── StoreCorrupt                damaged; it is a cache and will be rebuilt
    │   ├── StoreFull                   the disk is full or the folder is read-only
    │   │   └── FileProtected           the user's file is read-only or has a second hard link
    │   ├── StoreUnavailable            the server is away, or does not answer in time
    │   ├── QuotaExceeded               more than the host allows a project or tenant
    │   └── SchemaTooNew                written by a newer armarius
    ├── CounterError (ValueError)       no such tokenizer, or a file that cannot be read; carries near ones
    ├── EmbeddingError                  a missing or broken embedding model   EMBEDDING_UNAVAILABLE
    │   └── DimensionMismatch           vectors of another model              EMBEDDING_UNAVAILABLE
    ├── RewordingError                  no other wordings of a question       REWORDING_UNAVAILABLE
    ├── CodeGraphError                  no answer from the code graph
    │   ├── SourceUnavailable           one source of it cannot serve; carries the reason in one word
    │   ├── UnknownSymbol               carries near matches
    │   └── AmbiguousSymbol             carries the candidates
    ├── GraphError                      a graph store cannot answer
    ├── BudgetConflict                  a stale budget profile version        CONTEXT_BUDGET_CONFLICT
    ├── Backpressure                    too many requests at once             CONTEXT_BACKPRESSURE
    └── MissingExtra (ImportError)      names the extra: pip install armarius[...]

An error with a code begins with it: `str(error)` is `CODE: message`. A source that fails does not raise; the result
has a warning instead. `warnings.py` lists all warnings.
"""

import re
from collections.abc import Sequence
from typing import ClassVar, Literal

from armarius.warnings import (
    CODE_GRAPH_REASON,
    CODE_GRAPH_UNAVAILABLE,
    CODEX_INVALID,
    CONTEXT_SCOPE_VIOLATION,
    EMBEDDING_UNAVAILABLE,
    KG_UNAVAILABLE,
    REWORDING_UNAVAILABLE,
)
from armarius.warnings import ContextWarning as ContextWarning  # it is imported from here, as errors are

SourceReason = Literal["no_binary", "no_index", "wrong_repo", "crashed", "timeout", "stale", "untrusted"]


class ArmariusError(Exception):
    """Base of every error this package raises on purpose.

    Attributes:
        code: Stable, for hosts that hand errors on; a subclass without one of its own has that of its base.
        says_code: Whether the text begins with it.
        near: The closest names, for one that is unknown; best first.
    """

    code: ClassVar[str] = "FAILED"
    says_code: ClassVar[bool] = False

    def __init__(self, message: str = "", near: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.near = tuple(near)

    @property
    def message(self) -> str:
        """What is wrong, without the code."""
        return str(self.args[0]) if self.args else ""

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" if self.says_code else self.message


def message_of(error: BaseException) -> str:
    """What an exception says, without a code in front."""
    return error.message if isinstance(error, ArmariusError) else str(error)


class ContractError(ArmariusError, ValueError):
    """A request or a result that breaks the contract; the message names the field."""

    code = "INVALID_REQUEST"


class UnknownId(ContractError, KeyError):
    """Nothing has the id, source or name; `near` holds the closest ones there are, best first."""


class UnknownProject(UnknownId):
    """The shelf has no project of this name; `near` holds the closest names there are."""

    code = "UNKNOWN_PROJECT"


class UnknownDocument(ContractError, KeyError):
    """The request names a document that the project does not have; `near` holds the closest paths."""

    code = "UNKNOWN_DOCUMENT"


class DocumentSkipped(UnknownDocument):
    """The file exists but is no document; the message is path and reason."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class CursorOutOfRange(ContractError):
    """The cursor lies outside the document's text."""

    code = "CURSOR_OUT_OF_RANGE"


class BudgetError(ContractError):
    """A budget that is negative, not a number, or below the minimum."""

    code = "BUDGET_INVALID"


class BudgetTooSmall(BudgetError):
    """What must be in the prompt does not fit.

    Attributes:
        minimum: Tokens that it needs.
    """

    def __init__(self, message: str, *, minimum: int = 0) -> None:
        super().__init__(message)
        self.minimum = minimum


class ScopeViolation(ContractError):
    """Data of another project reached this one."""

    code: ClassVar[str] = CONTEXT_SCOPE_VIOLATION.code
    says_code = True


class ProjectError(ArmariusError):
    """The folder cannot serve as a project; the message names the path."""

    code = "PROJECT_INVALID"


class ConfigError(ProjectError):
    """`armarius.toml`, or the user's own configuration, is wrong; the message names file and key."""

    code = "CONFIG_INVALID"


class CodexError(ProjectError):
    """A codex or authored file is wrong; the message names file, entry and field or line."""

    code: ClassVar[str] = CODEX_INVALID.code


class NameTaken(CodexError):
    """A name or an alias belongs to another entity; the message names it and its file."""


class PageChanged(CodexError):
    """The page is not as it was read, so nothing was written."""


class DescribedElsewhere(CodexError):
    """What is to be removed stands in a file that is not edited here; the message names the file."""


class BookError(ProjectError):
    """A lorebook, card or manuscript cannot be read or written; the message names file and place."""

    code = "BOOK_INVALID"


class StoreError(ArmariusError):
    """The index cannot be used."""

    code = "STORE_UNAVAILABLE"


class StoreBusy(StoreError):
    """Another process holds the index for longer than the timeout."""

    code = "STORE_BUSY"


class StoreConflict(StoreError):
    """The index has moved on since the generation that a change was made from."""

    code = "STORE_CONFLICT"


class StoreCorrupt(StoreError):
    """The index is damaged. It is derived: deleting it loses nothing."""

    code = "STORE_CORRUPT"


class StoreFull(StoreError):
    """The disk is full or the index folder cannot be written."""

    code = "STORE_FULL"


class FileProtected(StoreFull):
    """The user's file is read-only or has a second hard link; it is unchanged."""

    code = "FILE_PROTECTED"


class ProjectGone(ProjectError, StoreFull):
    """The folder of an open project is not there any more: moved, deleted, unplugged. Nothing is written."""

    code = "PROJECT_GONE"


class StoreUnavailable(StoreError):
    """The server that keeps the projects is away, or does not answer in time; nothing is half written.

    Attributes:
        seconds: How long it has been away; 0 when that has just been found out.
        written: What became of a write: False, nothing of it is there; None, it is there or nothing of it is, and that
            cannot be known. Then the same call again is safe.
    """

    code = "STORE_AWAY"

    def __init__(self, message: str, *, seconds: float = 0.0, written: Literal[False] | None = False) -> None:
        super().__init__(message)
        self.seconds = seconds
        self.written = written


class QuotaExceeded(StoreError):
    """A project or tenant would hold more than the host allows; nothing is written."""

    code = "QUOTA_EXCEEDED"


class SchemaTooNew(StoreError):
    """The index was written by a newer armarius."""

    code = "SCHEMA_TOO_NEW"


class CounterError(ArmariusError, ValueError):
    """No such tokenizer, or a tokenizer file that cannot be read; `near` holds close names."""

    code = "COUNTER_UNAVAILABLE"


class EmbeddingError(ArmariusError):
    """A missing or broken embedding model; the message says how to recover."""

    code: ClassVar[str] = EMBEDDING_UNAVAILABLE.code
    says_code = True


class DimensionMismatch(EmbeddingError):
    """Vectors of one model met an index of another; the message names both."""


class RewordingError(ArmariusError):
    """No other wordings of a question; a host's own model may raise it, and its message is shown."""

    code: ClassVar[str] = REWORDING_UNAVAILABLE.code
    says_code = True


class CodeGraphError(ArmariusError):
    """The code graph cannot answer."""

    code: ClassVar[str] = CODE_GRAPH_UNAVAILABLE.code


class SourceUnavailable(CodeGraphError):
    """A source cannot serve, with the reason in one word and in a sentence.

    Attributes:
        reason: no_binary, no_index, wrong_repo, crashed, timeout, stale or untrusted.
        detail: What exactly was wrong, and what to do.
    """

    def __init__(self, reason: SourceReason, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason: SourceReason = reason
        self.detail = detail

    @property
    def warning(self) -> ContextWarning:
        """The reason as it travels with an answer: `CODE_GRAPH_REASON: no_index: …`."""
        return CODE_GRAPH_REASON(reason=self.message)


class UnknownSymbol(CodeGraphError):
    """No such symbol; `near` holds the closest names."""

    code = "UNKNOWN_SYMBOL"


class AmbiguousSymbol(CodeGraphError):
    """Several symbols carry the name; `candidates` holds their qualified names."""

    code = "AMBIGUOUS_SYMBOL"

    def __init__(self, message: str, candidates: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.candidates = tuple(candidates)


class GraphError(ArmariusError):
    """A graph store cannot answer; the message names no path and no query."""

    code: ClassVar[str] = KG_UNAVAILABLE.code


class BudgetConflict(ArmariusError):
    """The budget profile changed since the version that the caller read."""

    code = "CONTEXT_BUDGET_CONFLICT"
    says_code = True


class Backpressure(ArmariusError):
    """More requests at once than configured, in a project or on a shelf; nothing is done.

    Attributes:
        seconds: After which to try again.
    """

    code = "CONTEXT_BACKPRESSURE"
    says_code = True

    def __init__(self, message: str, *, seconds: float = 1.0) -> None:
        super().__init__(message)
        self.seconds = seconds


class MissingExtra(ArmariusError, ImportError):
    """An optional dependency is absent or too old; the message names the extra that brings it."""

    code = "MISSING_EXTRA"

    def __init__(self, feature: str, extra: str) -> None:
        old = "".join(f"; {line}" for line in _old_packages(extra))
        super().__init__(f"{feature} needs an optional dependency: pip install 'armarius[{extra}]'{old}")
        self.extra = extra


def _old_packages(extra: str) -> list[str]:
    """What is installed in a lower version than the metadata of this package ask for with `extra`."""
    from importlib import metadata  # 50 ms, for a message

    def numbers(version: str) -> list[int]:
        return [int(number) for number in re.findall(r"\d+", version)]

    try:
        wanted = "\n".join(metadata.requires("armarius") or ())
    except metadata.PackageNotFoundError:  # run from its source
        return []
    lowest = re.findall(rf"^([\w.-]++)[^>\n]*+>=([\d.]++)[^;\n]*+; *+extra == ['\"]{extra}['\"]", wanted, re.MULTILINE)
    return [
        f"{name} {package.version} is installed and {version} or later is needed, in an environment of its own where "
        "another package wants the older one"
        for name, version in lowest
        for package in [*metadata.distributions(name=name)][:1]
        if numbers(package.version) < numbers(version)
    ]


_KINDS = [name for name, kind in globals().copy().items() if isinstance(kind, type) and issubclass(kind, ArmariusError)]
__all__ = ["ContextWarning", "SourceReason", "message_of", *_KINDS]

"""The table of all warnings: code, situation, message. No other module contains a warning code.

A source that fails does not raise: the answer carries a `ContextWarning`. Calling a row with the parts of its message
makes the warning. Several rows may share a code; callers branch on the code. A new warning needs a row here and a test
in tests/test_warnings.py that provokes it.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ContextWarning:
    """One thing that is missing from an answer; `str()` gives the wire form.

    `CODE: message`, except for the two sentences that the specification fixes without a code.

    Attributes:
        code: One of `CODES`; a host's own fetcher may give codes of its own.
        message: One sentence for the user.
    """

    code: str
    message: str

    def __str__(self) -> str:
        return self.message if self.code in _BARE else f"{self.code}: {self.message}"


@dataclass(frozen=True, slots=True)
class WarningRow:
    """One row of the table; calling it makes the warning.

    Attributes:
        code: The stable code.
        when: The situation in which it is given; docs/warnings.md prints it.
        text: The message, a template for `str.format`.
        bare: Whether the wire form has no `CODE: ` prefix, as the specification demands for two messages.
    """

    code: str
    when: str
    text: str
    bare: bool = False

    def __call__(self, **parts: object) -> ContextWarning:
        """Make the warning from the values of its template.

        Raises:
            KeyError: The template needs a value that is not given.
        """
        return ContextWarning(self.code, self.text.format(**parts))


INDEX_BUILDING: Final = WarningRow(
    "INDEX_STALE",
    "the index is being built; the answer uses the documents indexed so far",
    "the index is being built: {done} of {total} files",
)
INDEX_CANCELLED: Final = WarningRow("INDEX_STALE", "building was cancelled", "building the index was cancelled")
INDEX_FAILED: Final = WarningRow(
    "INDEX_STALE", "refreshing the index failed; the answer uses its previous state", "{kind}: {error}"
)
INDEX_UNCOMPARED: Final = WarningRow(
    "INDEX_STALE",
    "comparing the folder with the index took longer than 0.2 s; the answer uses the index as it is",
    "the folder could not be compared within 0.2 s: its disk answers slowly or not at all",
)
WATCH_UNAVAILABLE: Final = WarningRow(
    "WATCH_UNAVAILABLE",
    "the system reports no file events; the folder is compared before each answer and about every second (`status()`)",
    "changes are looked for, not told: {why}",
)
INDEX_AWAY: Final = WarningRow(
    "INDEX_STALE", "the database server cannot be reached; the answer uses the snapshot in memory",
    "{error}; answered from generation {generation}",
)  # fmt: skip
SNAPSHOT_IGNORED: Final = WarningRow(
    "SNAPSHOT_IGNORED",
    "a part of the snapshot of a project in memory is damaged, or of another version or project",
    "left out of the snapshot: {part}: {why}",
)
CONFIG_KEPT: Final = WarningRow("INDEX_STALE", "armarius.toml is invalid; the last valid settings are used", "{error}")
SETTING_IGNORED: Final = WarningRow(
    "SETTING_IGNORED",
    "armarius.toml of an untrusted project names a program, a place or a server that it may not name; it is ignored",
    "armarius.toml: ignored, for the project is not trusted: {what}. To allow it, run: {command}",
)
CODE_INDEX_STALE: Final = WarningRow(
    "INDEX_STALE", "source files changed since the code index was made", "stale: {changes}"
)
DOCUMENT_SKIPPED: Final = WarningRow(
    "DOCUMENT_SKIPPED",
    "a file that the question names was not read (too large, a symbolic link, not text); or a folder, an ignore file",
    "{path}: {reason}",
)
PROJECT_EMPTY: Final = WarningRow(
    "PROJECT_EMPTY", "the folder contains no document", "{folder}: no document to read; is this the project folder?"
)
PROJECT_GONE: Final = WarningRow(
    "PROJECT_EMPTY", "the project folder was deleted", "{folder}: the project folder is gone"
)
SOURCE_EMPTY: Final = WarningRow(
    "PROJECT_EMPTY", "a host's own source contains no document", "{project}: no document to read"
)
CODEX_INVALID: Final = WarningRow(
    "CODEX_INVALID", "an invalid entry of codex.json, a profile or an authored file was skipped", "{problem}"
)
PROFILE_INVALID: Final = WarningRow(
    "CODEX_INVALID",
    "the stored budget profile cannot be read and is ignored",
    "{problem}; the prompt is divided by {used}",
)

CHAPTER_UNKNOWN: Final = WarningRow(
    "CHAPTER_UNKNOWN", "the question or the limits of the request name chapters that do not exist", "{what}"
)
CHAPTER_UNWRITTEN: Final = WarningRow(
    "CHAPTER_UNWRITTEN",
    "the question names a chapter that is planned, or asks to write one, that no text of the story is",
    "chapter {number} is not written yet; {planned}",
)

RULES_UNAVAILABLE: Final = WarningRow("RULES_UNAVAILABLE", "the constraints could not be read", "约束未注入: {error}")
STYLE_UNAVAILABLE: Final = WarningRow("STYLE_UNAVAILABLE", "the style could not be read", "风格未注入: {error}")
MEMORY_UNAVAILABLE: Final = WarningRow("MEMORY_UNAVAILABLE", "the memories could not be read", "记忆未注入: {error}")
SCAN_FAILED: Final = WarningRow(
    "RAG_UNAVAILABLE", "searching the text for a phrase failed", "scan for {phrase!r}: {error}"
)
INDEX_NOT_READY: Final = WarningRow(
    "RAG_UNAVAILABLE", "the index is being built and contains no document yet", "the index is not ready"
)
RULES_FAILED: Final = WarningRow(
    "RULES_UNAVAILABLE", "a fetcher of the layer rules failed or timed out", "{fetcher}: {why}"
)
SETTINGS_FAILED: Final = WarningRow(
    "MEMORY_UNAVAILABLE", "a fetcher of the layer settings failed or timed out", "{fetcher}: {why}"
)
RETRIEVED_FAILED: Final = WarningRow(
    "RAG_UNAVAILABLE", "a fetcher of the layer retrieved failed or timed out", "{fetcher}: {why}"
)
IMMEDIATE_FAILED: Final = WarningRow(
    "EDITOR_UNAVAILABLE", "a fetcher of the layer immediate failed or timed out", "{fetcher}: {why}"
)

LORE_FAILED: Final = WarningRow("LORE_UNAVAILABLE", "searching the lorebooks failed", "{kind}: {error}")
LORE_INVALID: Final = WarningRow(
    "LORE_UNAVAILABLE", "a lorebook under .armarius/books cannot be read and is skipped", "{book}: {why}"
)

ENTITY_MATCH_FAILED: Final = WarningRow("ENTITY_MATCH_FAILED", "finding the names of entities failed", "实体匹配异常")
NAME_UNUSABLE: Final = WarningRow("ENTITY_MATCH_FAILED", "an entity has a name that the matcher cannot use", "{fault}")
KG_UNAVAILABLE: Final = WarningRow(
    "KG_UNAVAILABLE", "the graph or the list of entities could not be read, or only in part", "知识图谱数据未注入"
)
KG_TRUNCATED: Final = WarningRow(
    "KG_TRUNCATED", "the graph walk reached its limit of entities", "the graph was walked up to {limit} entities"
)
EMBEDDING_UNAVAILABLE: Final = WarningRow(
    "EMBEDDING_UNAVAILABLE", "vector search is missing or incomplete: there is no model, or it failed", "{why}"
)
RERANK_UNAVAILABLE: Final = WarningRow(
    "RERANK_UNAVAILABLE",
    "paragraphs were not reranked: the reranker failed, timed out or returned no scores",
    "{why}",
)

REWORDING_UNAVAILABLE: Final = WarningRow(
    "REWORDING_UNAVAILABLE",
    "no query variants were used: the model for them failed, timed out or returned none",
    "{why}",
)

CODE_GRAPH_UNAVAILABLE: Final = WarningRow(
    "CODE_GRAPH_UNAVAILABLE",
    "the code graph is not available; text search was used instead",
    "CKB 不可用，降级为文本搜索",
    bare=True,
)
CODE_GRAPH_REASON: Final = WarningRow(
    "CODE_GRAPH_REASON", "given with CODE_GRAPH_UNAVAILABLE: why a source of the graph cannot be used", "{reason}"
)
CODE_DEPTH_LIMIT: Final = WarningRow(
    "CODE_DEPTH_LIMIT",
    "the graph walk stopped at its maximum depth before it was complete",
    "深度已达最大值 {maximum}，结果可能不完整",
    bare=True,
)

CONTEXT_RULES_OVERBUDGET: Final = WarningRow(
    "CONTEXT_RULES_OVERBUDGET",
    "rules take more than their share; they are never trimmed",
    "rules take {tokens} tokens, more than {share:g} % of {available}",
)
CONTEXT_CAPACITY_WARNING: Final = WarningRow(
    "CONTEXT_CAPACITY_WARNING",
    "what must be in the prompt (rules, query, selection, pins) fills 87 % or more of its budget",
    "what must be in the prompt fills {percent:.1f} % of {available} tokens; little room is left for anything else",
)
CONTEXT_CAPACITY_FORCE_TRIM: Final = WarningRow(
    "CONTEXT_CAPACITY_FORCE_TRIM",
    "95 % of the budget or more was wanted, and something that was asked for, not merely found, was cut or left out",
    "cut or left out: {lost}; {demanded} tokens were on offer, at most {percent} % of {available} are used",
)
CONTEXT_SHARE_TRIMMED: Final = WarningRow(
    "CONTEXT_SHARE_TRIMMED",
    "a card, a style guide or a text to be read is longer than its share of the prompt, and stands there in part",
    "longer than their share of the prompt, and there in part: {cut}",
)
CONTEXT_QUERY_TRUNCATED: Final = WarningRow(
    "CONTEXT_QUERY_TRUNCATED",
    "the query did not fit and was truncated",
    "the query did not fit; {kept} of its {written} characters are in",
)
CONTEXT_CURSOR_CLAMPED: Final = WarningRow(
    "CONTEXT_CURSOR_CLAMPED",
    "cursor or selection are past the end of the saved document: the editor has unsaved text",
    "{what} {position} is past the end of {document}, taken as {end}; hand over the buffer as text",
)
CONTEXT_SCOPE_VIOLATION: Final = WarningRow(
    "CONTEXT_SCOPE_VIOLATION",
    "a fetcher returned a candidate of another project, which was refused",
    "{fetcher} offered {source!r} of another project; refused",
)
COUNTER_MISSING: Final = WarningRow(
    "CONTEXT_BUDGET_FALLBACK",
    "the token counter of the model is not available; an estimate is used",
    "no counter for {model!r} ({why}); counted by estimate",
)
COUNTER_FAILED: Final = WarningRow(
    "CONTEXT_BUDGET_FALLBACK",
    "the token counter raised an error; an estimate is used",
    "{counter} failed ({kind}: {error}); counted by estimate",
)
MODEL_UNKNOWN: Final = WarningRow(
    "MODEL_UNKNOWN",
    "the model name is unknown, often because it is misspelt",
    "no model {model!r} is known{near}; counted by estimate",
)

PIN_UNKNOWN: Final = WarningRow(
    "PIN_UNKNOWN",
    "a stored pin or mute names something that the project no longer has",
    "nothing is called {target!r} (pin {id})",
)

SERIES_UNAVAILABLE: Final = WarningRow(
    "SERIES_UNAVAILABLE",
    "a folder named in `with_` does not exist; it is read as soon as it does",
    "{root}: the folder is not there, and nothing of it is in the prompt",
)

TABLE: Final[tuple[WarningRow, ...]] = tuple(row for row in globals().copy().values() if isinstance(row, WarningRow))
CODES: Final = frozenset(row.code for row in TABLE)
_BARE: Final = frozenset(row.code for row in TABLE if row.bare)

"""Every warning that the package gives: its code, when it is given, what it says. No code is written anywhere else.

A source that fails raises nothing: it becomes a `ContextWarning` beside the answer. A row of the table is called with
what the moment knows and makes one; several rows may share a code, which is what callers branch on. A new warning is a
row here and a situation in tests/test_warnings.py that brings it about.
"""

from dataclasses import dataclass
from typing import Final, Literal, get_args

__all__ = ["TABLE", "ContextWarning", "Row", "WarningCode"]

WarningCode = Literal[
    "CHAPTER_UNKNOWN",
    "CODEX_INVALID",
    "CODE_DEPTH_LIMIT",
    "CODE_GRAPH_REASON",
    "CODE_GRAPH_UNAVAILABLE",
    "CONTEXT_BUDGET_FALLBACK",
    "CONTEXT_CAPACITY_FORCE_TRIM",
    "CONTEXT_CAPACITY_WARNING",
    "CONTEXT_CURSOR_CLAMPED",
    "CONTEXT_QUERY_TRUNCATED",
    "CONTEXT_RULES_OVERBUDGET",
    "CONTEXT_SCOPE_VIOLATION",
    "DOCUMENT_SKIPPED",
    "EDITOR_UNAVAILABLE",
    "EMBEDDING_UNAVAILABLE",
    "ENTITY_MATCH_FAILED",
    "INDEX_DIR_IGNORED",
    "INDEX_STALE",
    "KG_TRUNCATED",
    "KG_UNAVAILABLE",
    "LORE_UNAVAILABLE",
    "MEMORY_UNAVAILABLE",
    "MODEL_UNKNOWN",
    "PIN_UNKNOWN",
    "PROJECT_EMPTY",
    "RAG_UNAVAILABLE",
    "REWORDING_UNAVAILABLE",
    "RERANK_UNAVAILABLE",
    "RULES_UNAVAILABLE",
    "SERIES_UNAVAILABLE",
    "STYLE_UNAVAILABLE",
    "WATCH_UNAVAILABLE",
]
CODES: Final[tuple[WarningCode, ...]] = get_args(WarningCode)


@dataclass(frozen=True, slots=True)
class ContextWarning:
    """What is missing from an answer, with a stable code; `str()` is the wire form.

    `CODE: message`, except for the two sentences that the specification fixes without a code.

    Attributes:
        code: A `WarningCode`; a host's own fetcher may give codes of its own.
        message: One sentence, for people.
    """

    code: str
    message: str

    def __str__(self) -> str:
        return self.message if self.code in _BARE else f"{self.code}: {self.message}"


@dataclass(frozen=True, slots=True)
class Row:
    """One warning of the table; calling it with the parts of its text makes the warning.

    Attributes:
        code: What callers branch on.
        when: The situation, in a sentence.
        text: The message, parts in braces as for `str.format`.
        bare: The specification fixes the text without a code in front.
    """

    code: WarningCode
    when: str
    text: str
    bare: bool = False

    def __call__(self, **parts: object) -> ContextWarning:
        """The warning, with these parts in its text.

        Raises:
            KeyError: A part is missing.
        """
        return ContextWarning(self.code, self.text.format(**parts))


INDEX_BUILDING: Final = Row(
    "INDEX_STALE",
    "answered from what is there while the index is built",
    "the index is being built: {done} of {total} files",
)
INDEX_CANCELLED: Final = Row("INDEX_STALE", "building was cancelled", "building the index was cancelled")
INDEX_FAILED: Final = Row(
    "INDEX_STALE", "the index could not follow the folder; answered from before", "{kind}: {error}"
)
WATCH_UNAVAILABLE: Final = Row(
    "WATCH_UNAVAILABLE",
    "the system gives no events of a folder: it is compared before every answer, and every second or so; in `status()`",
    "changes are looked for, not told: {why}",
)
INDEX_AWAY: Final = Row(
    "INDEX_STALE", "the server that keeps the project is away; answered from memory",
    "{error}; answered from generation {generation}",
)  # fmt: skip
CONFIG_KEPT: Final = Row(
    "INDEX_STALE", "armarius.toml went wrong; answered with the last settings that were right", "{error}"
)
INDEX_DIR_IGNORED: Final = Row(
    "INDEX_DIR_IGNORED",
    "armarius.toml of a project that is not trusted moves its index, which lies in the user's cache instead", "{error}",
)  # fmt: skip
CODE_INDEX_STALE: Final = Row("INDEX_STALE", "source files changed since the code index was made", "stale: {changes}")
DOCUMENT_SKIPPED: Final = Row(
    "DOCUMENT_SKIPPED", "a file was not read: too large, a link, not text", "{path}: {reason}"
)
PROJECT_EMPTY: Final = Row(
    "PROJECT_EMPTY", "the folder holds no document at all", "{folder}: no document to read; is this the project folder?"
)
PROJECT_GONE: Final = Row("PROJECT_EMPTY", "the project folder has gone", "{folder}: the project folder is gone")
SOURCE_EMPTY: Final = Row(
    "PROJECT_EMPTY", "a host's own source holds no document at all", "{project}: no document to read"
)
CODEX_INVALID: Final = Row(
    "CODEX_INVALID", "an entry of codex.json, a profile or an authored file was passed over", "{problem}"
)
PROFILE_INVALID: Final = Row(
    "CODEX_INVALID",
    "the stored budget profile cannot be read; prompts are divided without it",
    "{problem}; the prompt is divided by {used}",
)

CHAPTER_UNKNOWN: Final = Row(
    "CHAPTER_UNKNOWN", "the question names, or the request is limited to, chapters that there are not", "{what}"
)

RULES_UNAVAILABLE: Final = Row("RULES_UNAVAILABLE", "the constraints could not be read", "约束未注入: {error}")
STYLE_UNAVAILABLE: Final = Row("STYLE_UNAVAILABLE", "the style could not be read", "风格未注入: {error}")
MEMORY_UNAVAILABLE: Final = Row("MEMORY_UNAVAILABLE", "the memories could not be read", "记忆未注入: {error}")
SCAN_FAILED: Final = Row(
    "RAG_UNAVAILABLE", "the text of a phrase could not be scanned for", "scan for {phrase!r}: {error}"
)
INDEX_NOT_READY: Final = Row(
    "RAG_UNAVAILABLE", "the index is being built and holds no document yet", "the index is not ready"
)
RULES_FAILED: Final = Row("RULES_UNAVAILABLE", "a fetcher of the rules failed or was late", "{fetcher}: {why}")
SETTINGS_FAILED: Final = Row("MEMORY_UNAVAILABLE", "a fetcher of the settings failed or was late", "{fetcher}: {why}")
RETRIEVED_FAILED: Final = Row("RAG_UNAVAILABLE", "a fetcher of passages failed or was late", "{fetcher}: {why}")
IMMEDIATE_FAILED: Final = Row(
    "EDITOR_UNAVAILABLE", "a fetcher of the text at the cursor failed or was late", "{fetcher}: {why}"
)

LORE_FAILED: Final = Row("LORE_UNAVAILABLE", "the lorebooks were not searched", "{kind}: {error}")
LORE_INVALID: Final = Row(
    "LORE_UNAVAILABLE", "a book under .armarius/books cannot be read; the others are", "{book}: {why}"
)

ENTITY_MATCH_FAILED: Final = Row("ENTITY_MATCH_FAILED", "names were not looked for", "实体匹配异常")
NAME_UNUSABLE: Final = Row("ENTITY_MATCH_FAILED", "an entity's name cannot be looked for", "{fault}")
HABITS_UNLEARNT: Final = Row(
    "ENTITY_MATCH_FAILED",
    "names are found without what the prose teaches about them",
    "what prose teaches about names was not learnt or not kept: {kind}: {error}",
)
KG_UNAVAILABLE: Final = Row(
    "KG_UNAVAILABLE", "the graph or the list of entities did not answer, or not all of it", "知识图谱数据未注入"
)
KG_TRUNCATED: Final = Row(
    "KG_TRUNCATED", "the graph was not walked to its end", "the graph was walked up to {limit} entities"
)
EMBEDDING_UNAVAILABLE: Final = Row(
    "EMBEDDING_UNAVAILABLE", "nothing is found by meaning, or not all: no model, or it failed", "{why}"
)
RERANK_UNAVAILABLE: Final = Row(
    "RERANK_UNAVAILABLE",
    "paragraphs stand in the order without the reranker: it was late, failed, or gave no numbers",
    "{why}",
)

REWORDING_UNAVAILABLE: Final = Row(
    "REWORDING_UNAVAILABLE",
    "the question was asked in its own words alone: the model for other wordings failed, was late or said nothing",
    "{why}",
)

CODE_GRAPH_UNAVAILABLE: Final = Row(
    "CODE_GRAPH_UNAVAILABLE",
    "text was searched instead of the code graph",
    "CKB 不可用，降级为文本搜索",
    bare=True,
)
CODE_GRAPH_REASON: Final = Row(
    "CODE_GRAPH_REASON", "beside CODE_GRAPH_UNAVAILABLE: why a source of the graph cannot serve", "{reason}"
)
CODE_DEPTH_LIMIT: Final = Row(
    "CODE_DEPTH_LIMIT",
    "the walk stopped at its maximum depth and more would have followed",
    "深度已达最大值 {maximum}，结果可能不完整",
    bare=True,
)

CONTEXT_RULES_OVERBUDGET: Final = Row(
    "CONTEXT_RULES_OVERBUDGET",
    "rules take more than their share; they are never trimmed",
    "rules take {tokens} tokens, more than {share:g} % of {available}",
)
CONTEXT_CAPACITY_WARNING: Final = Row(
    "CONTEXT_CAPACITY_WARNING",
    "the prompt fills 87 % or more of its budget",
    "the prompt fills {percent:.1f} % of {available} tokens",
)
CONTEXT_CAPACITY_FORCE_TRIM: Final = Row(
    "CONTEXT_CAPACITY_FORCE_TRIM",
    "95 % or more was on offer; something was cut or left out",
    "{demanded} tokens were on offer; trimmed to at most {percent} % of {available}",
)
CONTEXT_QUERY_TRUNCATED: Final = Row(
    "CONTEXT_QUERY_TRUNCATED",
    "the user's words did not fit and were cut",
    "the query did not fit; {kept} of its {written} characters are in",
)
CONTEXT_CURSOR_CLAMPED: Final = Row(
    "CONTEXT_CURSOR_CLAMPED",
    "cursor or selection lie behind the end of the saved document, which the editor is ahead of",
    "{what} {position} is past the end of {document}, taken as {end}; hand over the buffer as text",
)
CONTEXT_SCOPE_VIOLATION: Final = Row(
    "CONTEXT_SCOPE_VIOLATION",
    "a candidate of another project was refused",
    "{fetcher} offered {source!r} of another project; refused",
)
COUNTER_MISSING: Final = Row(
    "CONTEXT_BUDGET_FALLBACK",
    "the counter of the model could not be made",
    "no counter for {model!r} ({why}); counted by estimate",
)
COUNTER_FAILED: Final = Row(
    "CONTEXT_BUDGET_FALLBACK",
    "the counter failed while counting",
    "{counter} failed ({kind}: {error}); counted by estimate",
)
MODEL_UNKNOWN: Final = Row(
    "MODEL_UNKNOWN",
    "nobody knows a model of this name, which is most often misspelt",
    "no model {model!r} is known{near}; counted by estimate",
)

PIN_UNKNOWN: Final = Row(
    "PIN_UNKNOWN",
    "a lasting pin or mute names what the project does not have any more",
    "nothing is called {target!r} (pin {id})",
)

SERIES_UNAVAILABLE: Final = Row(
    "SERIES_UNAVAILABLE",
    "another folder of the series, one that `with_` names, is not there; it is read as soon as it is",
    "{root}: the folder is not there, and nothing of it is in the prompt",
)

TABLE: Final[tuple[Row, ...]] = tuple(row for row in globals().copy().values() if isinstance(row, Row))
_BARE: Final = frozenset(row.code for row in TABLE if row.bare)

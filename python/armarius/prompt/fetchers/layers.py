"""The layers that need no search: rules, settings (style and memories), and the immediate layer.

A project says how it is written in `style.md`, `风格.md`, …, or in `armarius.toml`:

[style]
files = ["guide/tone.md"]      # instead of those names
text = "第三人称限知。"          # in addition to them
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, Protocol

from armarius.arguments import Kind
from armarius.codex.cards import holds, one_line
from armarius.codex.model import Constraint, Entity, Fact, Memory
from armarius.documents.document import Document
from armarius.documents.kinds import title_words
from armarius.documents.titles import filled_in
from armarius.errors import ConfigError, ContextWarning
from armarius.headings import HEADINGS, Reason
from armarius.prompt.admit import marks_of
from armarius.prompt.fetchers.entities import (
    Cards,
    EntitySource,
    card_candidate,
    file_warnings,
    list_entities,
    resolve,
)
from armarius.text.unicode import fold, grapheme_floor
from armarius.trust.settings import CONFIG_NAME, Config
from armarius.types import WINDOW, Candidate, Evidence, Fetched, FetchRequest, LayerName, Omission
from armarius.validation import whole
from armarius.warnings import KG_UNAVAILABLE, MEMORY_UNAVAILABLE, RULES_UNAVAILABLE, STYLE_UNAVAILABLE

_ALWAYS = Evidence("level", Reason("level.always"))
_QUOTED = 80  # code points of what is overruled


class ConstraintSource(Protocol):
    """Where constraints are kept."""

    def constraint_list(self, project_id: str, /) -> Any:  # noqa: ANN401 - an iterable of `Constraint`, or an awaitable of one
        """The constraints of a project."""


class RulesFetcher:
    """Constraints as `constraint:<user|kg>:<id>`, entities as `kg:always:<id>` under `[知识图谱 — 始终]`.

    Nothing depends on the query, so the layer is the same from call to call; only facts that begin or end with a
    chapter change it. Constraints score by priority, entities below all of them.

    Args:
        source: Lists the `always` entities, or None.
        constraints: Lists the constraints, or None.
    """

    name = "rules"
    layer: LayerName = "rules"
    inline = True

    def __init__(self, source: EntitySource | None = None, *, constraints: ConstraintSource | None = None) -> None:
        self._source = source
        self._constraints = constraints
        self._cards = Cards()

    def fetch(self, request: FetchRequest, /) -> Fetched:
        """Everything that always holds; a failing source is a warning and leaves the other one's."""
        candidates: list[Candidate] = []
        omitted: list[Omission] = []
        warnings: list[ContextWarning] = []
        if self._constraints is not None:
            try:
                rules: Iterable[Constraint] = resolve(self._constraints.constraint_list(request.project_id))
                candidates += [_constraint(item, request) for item in rules]
                warnings += file_warnings(self._constraints)
            except Exception as error:  # noqa: BLE001 - no source failure may fail the call
                warnings.append(RULES_UNAVAILABLE(error=error))
                omitted.append(Omission("constraints", "rules", "constraint", "source failed", str(error)))
        if self._source is not None:
            try:
                listed = list_entities(self._source, request.project_id, "always")
            except Exception as error:  # noqa: BLE001
                warnings.append(KG_UNAVAILABLE())
                omitted.append(Omission("entities", "rules", "kg:always", "source failed", str(error)))
            else:
                omitted += [Omission(fault, "rules", "kg:always", "source failed", fault) for fault in listed.faults]
                for entity in listed.entities:
                    if entity.level == "always":
                        source, card = f"kg:always:{entity.id}", (self._cards.of(entity, request)[0], None)
                        candidates.append(
                            card_candidate(entity, request, source, 0.0, (_ALWAYS,), card, layer="rules", pinned=True)
                        )
                        omitted += withheld_facts(entity, source, "rules", request)
        return Fetched(tuple(candidates), tuple(omitted), tuple(warnings))


def withheld_facts(entity: Entity, source: str, layer: LayerName, request: FetchRequest) -> list[Omission]:
    """One omission per fact of `entity` that does not hold where the request stands, or is overruled."""
    if not entity.facts and not entity.overruled:
        return []
    moment, chapters = request.moment, request.chapters
    omitted = []
    for line in entity.overruled:
        why = Reason("out.overruled", path=line.origin.path, value=one_line(line.value)[:_QUOTED], by=line.by.path)
        omitted.append(Omission(f"entity:{entity.id}#{line.field}", layer, source, "excluded", why, aspect=line.field))
    for index, fact in enumerate(entity.facts):
        if not holds(fact, moment, chapters):
            what = Reason("title.fact", text=one_line(fact.text))
            id_ = f"entity:{entity.id}#fact{index}"
            omitted.append(Omission(id_, layer, source, "timeline", _chapters(fact), aspect=what))
    return omitted


def _chapters(fact: Fact) -> Reason:
    parts = compress(("from", "until"), (fact.since is not None, fact.until is not None))
    return Reason(f"out.{'_'.join(parts)}", since=fact.since, until=fact.until)


def _constraint(item: Constraint, request: FetchRequest) -> Candidate:
    return Candidate(
        id=f"constraint:{item.id}",
        layer="rules",
        source=f"constraint:{item.source}:{item.id}",
        content=f"- {item.text.strip()}",
        score=1.0 + item.priority,
        evidence=(Evidence("constraint", Reason(f"constraint.{item.source}", priority=item.priority)),),
        group=HEADINGS[request.language]["constraints"],
        pinned=True,
        project_id=request.project_id,
    )


_NAMES = title_words("style")
_MAX_DEPTH = 3
_KEYS = ("files", "text")


@dataclass(frozen=True, slots=True)
class Style:
    """One description of style: project-relative path and text; the chapters that it stands in, when it is one."""

    path: str
    text: str
    chapters: tuple[int, ...] = ()
    declared: bool = True


class ProjectStyle:
    """The style of a project, from its documents and configuration; of a form only what somebody has filled in.

    Args:
        documents: Any of the project's documents; those named for style are taken, nearest the root first, none of an
            earlier book.
        config: The `[style]` table may name files and add a text.
        declared: Kinds that the project declares, by path; a file that is declared anything but a setting is no style.

    Raises:
        ConfigError: An unknown key; `style.files` or `style.text` has the wrong type; a named file does not exist.
    """

    def __init__(
        self,
        documents: Iterable[Document],
        config: Config | None = None,
        declared: Mapping[str, Kind] = MappingProxyType({}),
    ) -> None:
        table = (config or Config()).table("style", _KEYS)
        files, text = table.get("files", []), table.get("text", "")
        if not isinstance(files, list) or not all(isinstance(item, str) for item in files):
            raise ConfigError(f"{CONFIG_NAME}: style.files must be a list of paths, got {files!r}")
        if not isinstance(text, str):
            raise ConfigError(f"{CONFIG_NAME}: style.text must be a string, got {text!r}")
        other = {path for path, kind in declared.items() if kind != "setting"}
        named = (doc for doc in documents if (doc.path in files if files else doc.path not in other and _is_style(doc)))
        by_path = {doc.path: doc for doc in named}
        if missing := [path for path in files if path not in by_path]:
            raise ConfigError(f"{CONFIG_NAME}: style.files: no document {missing[0]!r}")
        ordered = files or sorted(by_path, key=lambda path: (path.count("/"), path))
        styles = (replace(_style_of(by_path[path]), declared=bool(files)) for path in ordered)
        self._styles = [style for style in styles if style.text.strip()]
        if text.strip():
            self._styles.insert(0, Style(CONFIG_NAME, text))

    def style_list(self, project_id: str, /) -> list[Style]:
        """The descriptions of style, in a stable order."""
        return list(self._styles)


def _style_of(document: Document) -> Style:
    numbers = {document.chapter, *(part.chapter for part in document.paragraphs)} - {None}
    body = next((part.start for part in document.paragraphs if part.role != "front_matter"), len(document.text))
    prose = filled_in(document.text[body:])
    text = document.text[:body] + prose if prose.strip() else ""
    return Style(document.path, text, tuple(sorted(number for number in numbers if number is not None)))


def _is_style(document: Document) -> bool:
    pure = PurePosixPath(document.path)
    return (
        not document.past
        and document.kind not in ("code", "data")
        and len(pure.parts) <= _MAX_DEPTH
        and fold(pure.stem).replace("_", "-").replace(" ", "-") in _NAMES
    )


# Above every memory: the style of a project is omitted last.
_STYLE_SCORE = 2.0


class MemorySource(Protocol):
    """Where memories are kept."""

    def memory_list(self, project_id: str, /) -> Any:  # noqa: ANN401 - an iterable of `Memory`, or an awaitable of one
        """The memories of a project."""


class StyleSource(Protocol):
    """Where the style of a project is described."""

    def style_list(self, project_id: str, /) -> Iterable[Style]:
        """The descriptions of style, in a stable order."""


class SettingsFetcher:
    """Style as `style:<path>`, semantic memories as `memory:semantic:<id>` scored by confidence.

    Episodic and procedural memories are for other tools and are listed as excluded.

    Args:
        memories: Lists the memories, or None.
        style: Lists the descriptions of style, or None.
    """

    name = "settings"
    layer: LayerName = "settings"
    inline = True

    def __init__(self, memories: MemorySource | None = None, *, style: StyleSource | None = None) -> None:
        self._memories = memories
        self._style = style

    def fetch(self, request: FetchRequest, /) -> Fetched:
        """Style and memories; a failing source is a warning and leaves the other one's."""
        candidates: list[Candidate] = []
        omitted: list[Omission] = []
        warnings: list[ContextWarning] = []
        if self._style is not None:
            try:
                for item in self._style.style_list(request.project_id):
                    if (outside := _style_omission(item, request)) is None:
                        candidates.append(_style(item, request))
                    else:
                        omitted.append(outside)
            except Exception as error:  # noqa: BLE001 - no source failure may fail the call
                warnings.append(STYLE_UNAVAILABLE(error=error))
                omitted.append(Omission("style", "settings", "style", "source failed", str(error)))
        if self._memories is not None:
            try:
                memories: Iterable[Memory] = resolve(self._memories.memory_list(request.project_id))
                warnings += file_warnings(self._memories)
                for memory in memories:
                    if memory.kind == "semantic":
                        candidates.append(_memory(memory, request))
                    else:
                        source = f"memory:{memory.kind}:{memory.id}"
                        why = Reason("out.memory", kind=memory.kind)
                        omitted.append(Omission(f"memory:{memory.id}", "settings", source, "excluded", why))
            except Exception as error:  # noqa: BLE001
                warnings.append(MEMORY_UNAVAILABLE(error=error))
                omitted.append(Omission("memories", "settings", "memory", "source failed", str(error)))
        return Fetched(tuple(candidates), tuple(omitted), tuple(warnings))


def _memory(memory: Memory, request: FetchRequest) -> Candidate:
    return Candidate(
        id=f"memory:{memory.id}",
        layer="settings",
        source=f"memory:semantic:{memory.id}",
        content=f"- {memory.text.strip()}",
        score=memory.confidence,
        evidence=(Evidence("memory", Reason("memory", confidence=memory.confidence)),),
        group=HEADINGS[request.language]["memories"],
        project_id=request.project_id,
    )


def _style_omission(style: Style, request: FetchRequest) -> Omission | None:
    """Why a description of style is left out: chapters may serve as one, and the request may leave those out."""
    outside = [why for number in style.chapters if (why := request.bounds.leaves_out(None, number)) is not None]
    if not outside:
        return None
    reason, detail = outside[0]
    return Omission(f"style:{style.path}", "settings", f"style:{style.path}", reason, detail)


def _style(style: Style, request: FetchRequest) -> Candidate:
    return Candidate(
        id=f"style:{style.path}",
        layer="settings",
        source=f"style:{style.path}",
        content=style.text.strip(),
        score=_STYLE_SCORE,
        evidence=(Evidence("memory", Reason("memory.style" if style.declared else "memory.style_named"), style.path),),
        group=HEADINGS[request.language]["style"],
        keep="head",
        documents=(style.path,),
        project_id=request.project_id,
    )


SELECTION_SOURCE = "editor:selection"
# Code points before and after the cursor: about 30,000 and 10,000 tokens of Chinese, more than any default budget.
BEFORE = 49_152
AFTER = 16_384
# The window starts on multiples of this, so that typing does not move its start.
_STEP = 4_096
# How far back from the end a window is drawn in, to end with a line.
_SLACK = 1_024


class ImmediateFetcher:
    """The window around the cursor as `editor:cursor-window`; the budget keeps what is nearest the cursor.

    The text stays the author's, byte for byte, but for the marks of cursor and selection
    (`armarius.prompt.admit`); the place of the cursor is the candidate's `anchor`, what is
    selected its `core`, which is in the prompt whole or there is none. Without a document, the additional input is the
    window; with one, an additional input that the window does not contain follows it as `editor:selection`.

    Args:
        before: Code points before the cursor at most.
        after: Code points after it at most.
    """

    name = "immediate"
    layer: LayerName = "immediate"
    inline = True

    def __init__(self, *, before: int = BEFORE, after: int = AFTER) -> None:
        self._before, self._after = whole("before", before), whole("after", after)

    def fetch(self, request: FetchRequest, /) -> Fetched:
        """The text around the cursor; nothing when there is neither a document nor an additional input.

        Cost: slices of at most `before + after` code points, independent of the size of the document.
        """
        text = request.additional_input
        withheld = Omission(request.document, "immediate", WINDOW, "timeline", request.withheld)
        omitted = [withheld] if request.withheld else []
        if not request.text or request.text.isspace():
            if not text.strip():
                return Fetched(omitted=omitted)
            evidence = Evidence("cursor", Reason("cursor.input"))
            return Fetched((self._candidate(request, WINDOW, text, len(text), evidence),), omitted)
        content, window = self._window(request)
        candidates = [window]
        if text.strip() and text.strip() in content:
            omitted.append(
                Omission(SELECTION_SOURCE, "immediate", SELECTION_SOURCE, "duplicate", Reason("out.document"))
            )
        elif text.strip():
            evidence = Evidence("cursor", Reason("cursor.input"))
            candidates.append(self._candidate(request, SELECTION_SOURCE, text, len(text), evidence))
        return Fetched(tuple(candidates), tuple(omitted))

    def _window(self, request: FetchRequest) -> tuple[str, Candidate]:
        """The text around the cursor, or around what is selected, and the candidate of it."""
        text, cursor, selection = request.text, request.cursor, request.selection
        start, end = self._span(text, *(selection or (cursor, cursor)), request)
        evidence = [Evidence("cursor", Reason("cursor.at", cursor=cursor), request.document, (start, end))]
        core = None
        if selection is not None:
            core = (selection[0] - start, selection[1] - start)
            evidence.append(Evidence("cursor", Reason("cursor.selection"), request.document, selection))
        candidate = self._candidate(request, WINDOW, text[start:end], cursor - start, evidence[0])
        here = cursor - start if request.marks_cursor and start <= cursor <= end else None
        marks = marks_of(here, core if request.marks else None)
        if marks or core:
            candidate = replace(candidate, core=core, marks=marks, evidence=tuple(evidence))
        return candidate.content, candidate

    def _span(self, text: str, first: int, last: int, request: FetchRequest) -> tuple[int, int]:
        most, least = request.chapter_end, request.chapter_start
        first, last = min(max(first, 0), len(text)), min(max(last, 0), len(text))
        start = max(least, first - self._before)
        if start > least:
            start = min(first, -(-start // _STEP) * _STEP)
            line = text.find("\n", start, min(first, start + _STEP))
            start = line + 1 if line >= 0 else grapheme_floor(text, start)
        elif not start and first and text.startswith("\ufeff"):  # a byte order mark is no text
            start = 1
        most = len(text) if most is None else min(most, len(text))
        end = min(most, last + self._after)
        if end < most:
            line = text.rfind("\n", max(last, end - _SLACK), end)
            end = line if line > last else max(last, grapheme_floor(text, end))
        return start, end

    def _candidate(
        self, request: FetchRequest, source: str, content: str, anchor: int, evidence: Evidence
    ) -> Candidate:
        window = source == WINDOW
        return Candidate(
            id=source,
            layer="immediate",
            source=source,
            content=content,
            score=1.0 if window else 2.0,
            evidence=(evidence,),
            group=HEADINGS[request.language]["window" if window else "selection"],
            keep="around" if window else "head",
            anchor=anchor if window else 0,
            documents=(request.document,) if window and request.text and request.document else (),
            project_id=request.project_id,
        )

"""The story so far, for a request that continues it: part of the settings, because it changes with the chapter alone.

    ## 大纲：第2章
    林小雨到档案馆查沉船案，发现第十八页被裁
    ## 上一章结尾：第一章 停摆的怀表
    …
    ## 未了的伏笔：灯塔重燃
    …

What the outline says of this chapter, the one before and the one after; summaries of the chapters before, of their
front matter (`summary`) or kept by the project; how the chapter before ends; threads of the plot that the codex marks
as `foreshadowing`, unless an attribute says that they are closed. The chapters before are those of the edition of the
open document, in the order of the project's map; without an open document, all of the main edition. How much of it a
prompt holds is decided in `prompt/shares.py`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any, Final, Protocol

from armarius.codex.cards import chapter_at, holds, one_line, tidy, visible
from armarius.codex.model import Entity, Summary
from armarius.corpus.story import StoryPart, chapters_before, of_edition
from armarius.documents.document import Document
from armarius.documents.project_map import ProjectMap
from armarius.errors import ContextWarning
from armarius.headings import frame, heading
from armarius.lexicon import word_file
from armarius.prompt.fetchers.entities import file_warnings
from armarius.types import STORY, Candidate, Evidence, Fetched, FetchRequest, LayerName, Omission
from armarius.warnings import MEMORY_UNAVAILABLE

_TAIL: Final = 4_000  # code points of the end of a chapter that are offered
_SHOWN: Final = 1_000  # code points before the cursor that the window shows anyway
_SUMMED_UP: Final = 50  # chapters before, the nearest first
_SUMMARIES: Final = ("summary", "摘要", "梗概")
_WORDS: Final = re.compile(r"[^\W_]+")
# What is kept first when the share is small; all of it before a guide of style (2), which can be cut.
_SCORES: Final = {"outline": 6.0, "summary": 5.0, "thread": 4.0, "ending": 3.0}


class SummarySource(Protocol):
    """Where summaries of documents are kept."""

    def list(self) -> Sequence[Summary]:
        """All of them."""
        ...


def is_continuing(request: FetchRequest) -> bool:
    """Whether a request asks for more of the story: by its words, by its skill, or by saying nothing else.

    Cost: one search of the query.
    """
    query = request.query.strip().casefold()
    if not query:
        asks_nothing = not (request.selection or request.additional_input.strip() or request.messages)
        return (asks_nothing and bool(request.document)) or _by_skill(request.skill)
    unspaced, latin = _patterns()
    return bool(unspaced.search(query) or latin.match(query)) or _by_skill(request.skill)


class StoryFetcher:
    """What came before, what is planned and what is open, as `story:<what>:<of which>`; nothing for other requests.

    Args:
        documents: Of the project, by path.
        entities: Of its codex.
        project_map: Of the documents: their order.
        summaries: What documents are summed up by; None where nobody keeps any.
    """

    name = "story"
    layer: LayerName = "settings"
    inline = True

    def __init__(
        self,
        documents: Mapping[str, Document],
        entities: Sequence[Entity],
        project_map: ProjectMap,
        summaries: SummarySource | None = None,
    ) -> None:
        self._documents = documents
        self._entities = entities
        self._map = project_map
        self._summaries = summaries

    def fetch(self, request: FetchRequest, /) -> Fetched:
        """The candidates of the open chapter.

        Cost: what the project's outlines and the chapter before hold, read once.
        """
        opened = request.document or request.text  # a text without a name has no place in the story
        if not is_continuing(request) or (opened and of_edition(self._map, request.document) is None):
            return Fetched()
        before = chapters_before(self._documents, self._map, request.document, request.chapter)
        earlier = list(islice(before, _SUMMED_UP))
        offers = [*self._outlined(request, earlier), *self._ending(request, earlier), *self._threads(request)]
        warnings: list[ContextWarning] = []
        try:
            kept = {} if self._summaries is None else {one.document: one for one in self._summaries.list()}
            warnings += file_warnings(self._summaries)
        except Exception as error:  # noqa: BLE001 - no source failure may fail the call
            kept, source = {}, f"{STORY}summary"
            warnings.append(MEMORY_UNAVAILABLE(error=error))
            offers.append(Omission(source, "settings", source, "source failed", str(error)))
        offers += self._summed_up(request, earlier, kept)
        candidates = tuple(one for one in offers if isinstance(one, Candidate))
        omitted = tuple(one for one in offers if isinstance(one, Omission))
        return Fetched(candidates, omitted, tuple(warnings))

    def _outlined(self, request: FetchRequest, earlier: Sequence[StoryPart]) -> Iterator[Candidate | Omission]:
        here = request.chapter
        if not request.document and earlier and earlier[0].number is not None:
            here = earlier[0].number + 1
        if here is None:
            return
        for path, document in self._documents.items():
            if document.kind != "outline" or path == request.document or not self._is_of_volume(path, request.document):
                continue
            seen = visible(document, request.bounds)
            for far, number in enumerate((here, here + 1, here - 1)):
                parts = [
                    tidy(seen.text[one.start : one.end]).strip()
                    for one in document.paragraphs
                    if chapter_at(document, one) == number and one.role == "body"
                ]
                said = "\n".join(part for part in parts if part)
                if not any(chapter_at(document, one) == number for one in document.paragraphs):
                    continue
                source = f"{STORY}outline:{path}#{number}"
                if (outside := request.bounds.leaves_out("outline", number)) is not None:
                    yield Omission(source, "settings", source, *outside)
                elif said:
                    title = frame(request.language).outlined.format(number=number)
                    planned = _candidate(request, source, "outline", title, said, path)
                    yield replace(planned, score=planned.score - far / 1000)

    def _is_of_volume(self, outline: str, document: str) -> bool:
        """Whether an outline may be of the volume of the open document."""
        volumes = {None if (file := self._map.get(path)) is None else file.volume for path in (outline, document)}
        return len(volumes - {None}) < 2

    def _summed_up(
        self, request: FetchRequest, earlier: Sequence[StoryPart], kept: Mapping[str, Summary]
    ) -> Iterator[Candidate | Omission]:
        """The chapters before, the nearest first: as their front matter sums them up, else as the project does."""
        paths = [one.path for one in earlier if not one.title]  # a file of several chapters has no summary for each
        for far, path in enumerate(paths):
            document = self._documents[path]
            source = f"{STORY}summary:{path}"
            stated = next((said for key in _SUMMARIES if (said := document.front_matter.get(key))), None)
            known = kept.get(path)
            text = stated if isinstance(stated, str) else known.text if known is not None else ""
            if not text.strip():
                continue
            if (outside := request.bounds.leaves_out(document.kind, document.chapter)) is not None:
                yield Omission(source, "settings", source, *outside)
            elif stated is None and known is not None and known.content_hash != document.content_hash:
                yield Omission(source, "settings", source, "excluded", "stale: the chapter has changed since")
            else:
                title = frame(request.language).summarised.format(title=one_line(document.title))
                summary = _candidate(request, source, "summary", title, one_line(text), document.path)
                yield replace(summary, score=summary.score - far / 1000)

    def _ending(self, request: FetchRequest, earlier: Sequence[StoryPart]) -> Iterator[Candidate | Omission]:
        """How the chapter before ends."""
        if not earlier:
            return
        part = earlier[0]
        document = self._documents[part.path]
        source = f"{STORY}ending:{part.path}" + (f"#{part.number}" if part.title else "")
        if (outside := request.bounds.leaves_out(document.kind, part.number)) is not None:
            yield Omission(source, "settings", source, *outside)
            return
        if part.path == request.document and request.cursor - part.end < _SHOWN:
            yield Omission(source, "settings", source, "duplicate", "of the open document")
            return
        said = frame(request.language)
        body = [one for one in document.paragraphs if one.role == "body" and part.start <= one.start < part.end]
        while len(body) > 1 and body[-1].end - body[0].start > _TAIL:
            body.pop(0)
        if body:
            text = document.text[body[0].start : body[-1].end]
            title = said.ending.format(title=one_line(part.title or document.title))
            span = (max(body[0].start, body[-1].end - _TAIL), body[-1].end)
            yield _candidate(request, source, "ending", title, text[-_TAIL:], document.path, span)

    def _threads(self, request: FetchRequest) -> Iterator[Candidate | Omission]:
        closed = _closed()
        for one in self._entities:
            if one.type != "foreshadowing":
                continue
            source = f"{STORY}thread:{one.id}"
            if one.level != "when_detected":
                yield Omission(source, "settings", source, "level", one.level)
            elif any(value.strip().casefold() in closed for value in one.attributes.values()):
                yield Omission(source, "settings", source, "excluded", "closed")
            else:
                facts = [fact.text for fact in one.facts if holds(fact, request.moment, request.chapters)]
                said = "\n".join(one_line(text) for text in (one.description, *facts) if text.strip())
                title = frame(request.language).thread.format(name=one_line(one.name))
                path = one.origins[0].path if one.origins else ""
                yield _candidate(request, source, "thread", title, said, path)


def _candidate(
    request: FetchRequest,
    source: str,
    what: str,
    title: str,
    text: str,
    path: str,
    span: tuple[int, int] | None = None,
) -> Candidate:
    return Candidate(
        id=source,
        layer="settings",
        source=source,
        content=f"{title}\n{text.strip()}".strip(),
        score=_SCORES[what],
        evidence=(Evidence("chapter", f"continuing {_place(request)}", path, span),),
        group=heading("story", request.language),
        documents=(path,) if path else (),
        project_id=request.project_id,
    )


def _place(request: FetchRequest) -> str:
    return f"chapter {request.chapter}" if request.chapter is not None else request.document or "the story"


def _by_skill(skill: str) -> bool:
    named = {word.casefold() for word in _WORDS.findall(skill.replace("_", " "))}
    return not named.isdisjoint(_words("skills"))


@cache
def _data() -> dict[str, Any]:
    return word_file("continuing")


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(str(_data()[name]).split())


def _closed() -> frozenset[str]:
    return frozenset(word.replace("-", " ") for word in _words("closed"))


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    def either(name: str) -> str:
        ordered = sorted(_words(name), key=lambda word: (-len(word), word))
        return "|".join(re.escape(word).replace(r"\-", r"\s+") for word in ordered)

    courtesy = rf"(?:(?:{either('courtesy')})[\s,]+)*"
    return re.compile(either("unspaced")), re.compile(rf"{courtesy}(?:{either('latin')})(?:[\s.!…,]|$)")

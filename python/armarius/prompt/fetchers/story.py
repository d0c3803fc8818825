"""The story so far, for a request that continues it: part of the settings, because it changes with the chapter alone.

    ## 大纲：第2章
    林小雨到档案馆查沉船案，发现第十八页被裁
    ## 上一章结尾：第一章 停摆的怀表
    …
    ## 未了的伏笔：灯塔重燃
    …

What the outline says of the chapter that is to be written, and the first line of what it says of the one before and
the one after; what it says of the volume; summaries of the chapters before, of their front matter (`summary`) or kept
by the project; what files of the kind `state` say; how the chapter before ends; cards of whom the outline names there,
and where each was last seen; threads of the plot that the codex marks as `foreshadowing`, unless an attribute says
that they are closed, with their age.

Which of these are told is in the recipe of the request, of which chapter in its `StoryPlace`: a question about a
chapter that is planned gets its plan alone. How much of it a prompt holds is decided in `prompt/shares.py`.

The chapter is the one that the request is to write (写第202章, 写下一章), else that of the open document, else the one
after the last. The chapters before are those of the edition of the open document, in the order of the project's map;
without an open document, all of the main edition.
"""

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from typing import ClassVar, Final

from armarius.codex.cards import chapter_at, drop_blanks, holds, one_line, visible
from armarius.codex.model import Entity, Summary
from armarius.corpus.story import (
    StoryPart,
    chapters_before,
    chapters_until,
    is_written,
    of_edition,
    plans_of,
    story_end,
    story_parts,
    volume_plan,
)
from armarius.documents.document import Document
from armarius.documents.project_map import ProjectMap
from armarius.documents.segments import Paragraph
from armarius.documents.units import bare_number, chapter_number, chapter_range, volume_number
from armarius.errors import ContextWarning
from armarius.headings import HEADINGS, Reason, frame, say
from armarius.prompt.fetchers.entities import card_candidate, file_warnings
from armarius.search.query.recipe import words
from armarius.search.signals import SummarySource, stated_summary
from armarius.text.matcher import EntityMatcher
from armarius.types import STORY, THREAD, Candidate, Evidence, Fetched, FetchRequest, LayerName, Omission
from armarius.warnings import MEMORY_UNAVAILABLE

MOST_BEFORE: Final = 50  # chapters before, the nearest first
_AT_ONCE: Final = 5  # chapters


@dataclass(frozen=True, slots=True)
class StoryPlace:
    """Where a request goes on.

    Attributes:
        numbers: The chapters to be written, ascending; empty where the place has no number.
        volume: Of them, where known.
        earlier: The chapters before, the nearest first.
        named: The request names the chapter, which need not be that of the open document.
        tells: The story so far is told, and not the plan alone.
    """

    numbers: tuple[int, ...]
    volume: int | None
    earlier: Sequence[StoryPart]
    named: bool = False
    tells: bool = True


def place_of(
    documents: Mapping[str, Document], project_map: ProjectMap, request: FetchRequest, most: int = MOST_BEFORE
) -> StoryPlace | None:
    """Where the request goes on with at most so many chapters before, or what it asks the plan of; None for others."""
    recipe, tells = request.recipe, "ending" in request.recipe.parts
    opened = request.document or request.text  # a text without a name has no place in the story
    edition = of_edition(project_map, request.document) if request.document else None
    around = "neighbours" in recipe.parts
    if around and not recipe.chapters and edition is not None and request.chapter is not None:
        part, before = chapters_until(documents, project_map, request.document, request.chapter)
        volume = volume_of(project_map, part, edition)
        return StoryPlace((request.chapter,), volume, list(islice(before, 1)), tells=False)
    if recipe.chapters and ("target" in recipe.parts or not tells):
        number = recipe.chapters[0]
        if not (tells or around or recipe.plans) and is_written(documents, project_map, number):
            return None
        part, before = chapters_until(documents, project_map, edition or "", number, recipe.volume)
        earlier = list(islice(before, most if tells else int(around)))
        volume = recipe.volume if recipe.volume is not None else volume_of(project_map, part, edition)
        return StoryPlace(recipe.chapters[:_AT_ONCE], volume, earlier, named=True, tells=tells)
    if not tells or (opened and edition is None):
        return None
    volume = volume_of(project_map, None, edition)
    if recipe.next and request.chapter is not None and edition is not None:
        _, before = chapters_until(documents, project_map, edition, request.chapter + 1)
        return StoryPlace((request.chapter + 1,), volume, list(islice(before, most)), named=True)
    before = chapters_before(documents, project_map, request.document, request.chapter)
    earlier = list(islice(before, most))
    here = request.chapter
    if not request.document and earlier and earlier[0].number is not None:
        here = earlier[0].number + 1
        volume = volume_of(project_map, earlier[0], None)
    return StoryPlace(() if here is None else (here,), volume, earlier)


def plan_of_chapter(documents: Mapping[str, Document], project_map: ProjectMap, request: FetchRequest) -> str:
    """What the outlines say of the chapter that a request goes on with or asks about; "" where they plan none."""
    place = place_of(documents, project_map, request, most=1)
    if place is None:
        return ""
    rows = plans_of(documents, project_map, place.numbers, place.volume)
    plans = [plan for number in place.numbers for plan in rows[number]]
    plans = [plan for plan in plans if not plan.ranged] or plans
    return "\n".join(plan.text(visible(documents[plan.path], request.bounds)) for plan in plans)


def volume_of(project_map: ProjectMap, part: StoryPart | None, path: str | None) -> int | None:
    """The volume of a part of the story, or of a file."""
    file = project_map.get(part.path if part is not None else path or "")
    return None if file is None else file.volume


_TAIL: Final = 4_000  # code points of the end of a chapter that are offered
_SHOWN: Final = 1_000  # code points before and behind the cursor that the window shows anyway
# What is kept first when the share is small; all of it before a guide of style (2), which can be cut.
_SCORES: Final = {
    "outline": 6.0,
    "volume": 5.9,
    "state": 5.5,
    "summary": 5.0,
    "cast": 4.6,
    "thread": 4.0,
    "notes": 3.1,
    "ending": 3.0,
    "count": 7.0,
    "place": 6.0,
}
_TOUCHED: Final = 0.5  # above other threads; those that are overdue by half of that
_CARD: Final = 0.7  # above those who are named around the cursor alone
_VOLUME: Final = 1_000  # code points of what the outline says of a volume
_NOTES: Final = 1_500  # code points of what stands behind the last prose of a chapter
_NEWEST: Final = 5  # paragraphs that name somebody
_BESIDE: Final = 60  # code points of a sentence on each side of a name
_SENTENCE: Final = re.compile(r"[。！？!?…\n]+[”’」』\"]*|\.[”’\"]?\s")


@dataclass(eq=False)
class StoryFetcher:
    """What came before, what is planned and what is open, as `story:<what>:<of which>`; nothing for other requests.

    Args:
        documents: Of the project, by path.
        entities: Of its codex.
        project_map: Of the documents: their order.
        summaries: What documents are summed up by; None where nobody keeps any.
        matcher: Of its entities; without one, nobody whom the outline names has a card.
    """

    name = "story"
    layer: ClassVar[LayerName] = "settings"
    inline = True

    _documents: Mapping[str, Document]
    _entities: Sequence[Entity]
    _map: ProjectMap
    _summaries: SummarySource | None = None
    _matcher: EntityMatcher | None = None

    def fetch(self, request: FetchRequest, /) -> Fetched:
        """The candidates of the chapter to be written, or of the plan that is asked for.

        Cost: what the project's outlines and the chapter before hold, read once; for other requests their words.
        """
        recipe = request.recipe
        if "places" in recipe.parts:
            return _to_fetched([*self._name_places(request)])
        if "summaries" in recipe.parts and recipe.scope == "story":
            return self._with_summaries(request, [], self._chapters_up_to(request))
        place = place_of(self._documents, self._map, request) if "plan" in recipe.parts else None
        if place is None:
            if "latest" not in recipe.parts:
                return Fetched()
            what = Reason("story.state") if recipe.as_of is None else Reason("story.state_at", number=recipe.as_of)
            now = [*self._state_files(request), *self._story_end(request)]
            return _to_fetched([_set_reason(offer, what) if isinstance(offer, Candidate) else offer for offer in now])
        offers = list(self._plan_candidates(request, place))
        if not place.tells:
            beside: list[Candidate | Omission] = []
            if "neighbours" in recipe.parts:
                beside = [*self._ending(request, place), *self._chapter_start(request, place)]
            rows = [(offer, "story.plan") for offer in offers] + [(offer, "story.beside") for offer in beside]
            return _to_fetched(
                [_explain(offer, place, code) if isinstance(offer, Candidate) else offer for offer, code in rows]
            )
        touched = "\n".join(item.content for item in offers if isinstance(item, Candidate) and item.keep is not None)
        offers += self._state_files(request) if "states" in recipe.parts else ()
        offers += self._ending(request, place)
        offers += self._threads(request, place, touched) if "threads" in recipe.parts else ()
        offers += self._cards(request, place, touched) if "cards" in recipe.parts else ()
        fetched = self._with_summaries(request, offers, place.earlier if "summaries" in recipe.parts else ())
        if not place.named:
            return fetched
        return replace(fetched, candidates=tuple(_explain(item, place, "story.writing") for item in fetched.candidates))

    def _with_summaries(
        self, request: FetchRequest, offers: list[Candidate | Omission], earlier: Sequence[StoryPart]
    ) -> Fetched:
        warnings: list[ContextWarning] = []
        try:
            kept = {} if self._summaries is None else {summary.document: summary for summary in self._summaries.list()}
            warnings += file_warnings(self._summaries)
        except Exception as error:  # noqa: BLE001 - no source failure may fail the call
            kept, source = {}, f"{STORY}summary"
            warnings.append(MEMORY_UNAVAILABLE(error=error))
            offers.append(Omission(source, "settings", source, "source failed", str(error)))
        offers += self._chapter_summaries(request, earlier, kept)
        return _to_fetched(offers, warnings)

    def _chapters_up_to(self, request: FetchRequest) -> Sequence[StoryPart]:
        """The chapters of the story up to the one that is named, or to the open one, the nearest first."""
        last = request.recipe.chapters[-1] if request.recipe.chapters else request.chapter
        before = chapters_before(self._documents, self._map, "", None)
        return list(islice((part for part in before if last is None or (part.number or 0) <= last), MOST_BEFORE))

    def _name_places(self, request: FetchRequest) -> Iterator[Candidate]:
        """Every place of a name in the story, in its order, below their number; the name in longer names apart."""
        (old, new), chapters = request.recipe.names, request.recipe.chapters
        names = [(entity.name, *entity.aliases) for entity in self._entities]
        longer = {name for own in names for name in own if len(name) > len(old) and old.casefold() in name.casefold()}
        others = {name for own in names if old.casefold() in map(str.casefold, own) for name in own} - longer - {old}
        matcher = EntityMatcher.of_texts([old, *sorted(longer | others)])
        inside: Counter[str] = Counter()
        aliases: Counter[str] = Counter()
        elsewhere: Counter[str] = Counter()
        places: list[Candidate] = []
        paragraphs = total = 0
        story = self._map.story(request.document or None)
        for path in (*story, *sorted(self._documents.keys() - set(story) - self._map.hidden)):
            document = self._documents.get(path)
            if document is None or request.bounds.leaves_out(document.kind, document.chapter) is not None:
                continue
            seen, lines, many = visible(document, request.bounds).text, [], 0
            mentions = matcher.find_all(seen) if others or old.casefold() in seen.casefold() else []
            starts = [mention.start for mention in mentions]
            for block in document.paragraphs:
                if chapters and chapter_at(document, block) not in chapters:
                    continue
                here = mentions[bisect_left(starts, block.start) : bisect_left(starts, block.end)]
                if path in story:
                    inside.update(mention.term for mention in here if mention.entity_id in longer)
                    aliases.update(mention.term for mention in here if mention.entity_id in others)
                spans = [(mention.start, mention.end) for mention in here if mention.entity_id == old]
                if spans:
                    many += len(spans)
                    times = f" ×{len(spans)}" if len(spans) > 1 else ""
                    lines.append(f"#{block.index}{times} {_sentences_around(seen, spans, block)}")
            if path not in story:
                elsewhere.update({path: many} if many else {})
                continue
            total, paragraphs = total + many, paragraphs + len(lines)
            if lines:
                title = frame(request.language).passage.format(title=one_line(document.title), place=path)
                place = _candidate(request, f"{STORY}place:{path}", "place", title, "\n".join(lines), path)
                place = _set_reason(place, Reason("story.places", places=many, paragraphs=len(lines)))
                places.append(replace(place, score=place.score - len(places) / 1e6, keep="head"))
        counted = [Reason("places", places=total, paragraphs=paragraphs, files=len(places))]
        for code, counts in (("places.elsewhere", elsewhere), ("places.inside", inside), ("places.aliases", aliases)):
            if counts:
                listed = frame(request.language).and_.join(f"{name} ×{many}" for name, many in sorted(counts.items()))
                counted.append(Reason(code, names=listed))
        text = "\n".join(say(reason, request.language) for reason in counted)
        head = _candidate(request, f"{STORY}count:{old}", "count", f"## {old} → {new}", text, "")
        yield _set_reason(head, Reason("story.count", places=total, name=old))
        yield from places

    def _plan_candidates(self, request: FetchRequest, place: StoryPlace) -> Iterator[Candidate | Omission]:
        """The plan of the chapters, whole; its first line for those around; what the files say of the volume."""
        if not place.numbers:
            return
        first, last = place.numbers[0], place.numbers[-1]
        around = (last + 1, first - 1) if place.tells else ()
        volumes: dict[str, int | None] = {}  # outlines that plan the chapters, with their volume
        whole: list[tuple[Paragraph, ...]] = []
        plans = plans_of(self._documents, self._map, (*place.numbers, *around), place.volume)
        for number in (*place.numbers, *around):
            far = 0 if number in place.numbers else 1 + (number < first)
            for plan in plans[number]:
                document = self._documents[plan.path]
                if plan.path == request.document or plan.paragraphs in whole:  # one section for several chapters
                    continue
                source = f"{STORY}outline:{plan.path}#{number}"
                if (outside := request.bounds.leaves_out("outline", number)) is not None:
                    yield Omission(source, "settings", source, *outside)
                    continue
                if not (text := plan.text(visible(document, request.bounds))):
                    continue
                title = frame(request.language).outlined.format(number=number)
                if plan.title and (chapter_range(plan.title) or chapter_number(plan.title) == number):
                    colon = "：" if "：" in title else ": "
                    title = f"{title.partition('：')[0].partition(':')[0]}{colon}{one_line(plan.title)}"
                if far:
                    text = text.partition("\n")[0]
                else:
                    whole.append(plan.paragraphs)
                    named = map(volume_number, (*plan.paragraphs[0].heading_path[::-1], plan.path))
                    volume = volume_of(self._map, None, plan.path)
                    volumes[plan.path] = next((value for value in named if value), None) if volume is None else volume
                planned = _candidate(request, source, "outline", title, text, plan.path)
                yield replace(planned, score=planned.score - far / 1000, keep=None if far else "head")
        for path in volumes if place.tells else ():
            seen, volume = visible(self._documents[path], request.bounds), volumes[path]
            paragraphs = volume_plan(self._documents[path], place.volume if volume is None else volume)
            text = "\n".join(drop_blanks(seen.text[block.start : block.end]).strip() for block in paragraphs)[:_VOLUME]
            if text.strip():
                title = frame(request.language).summarised.format(title=one_line(self._documents[path].title))
                yield _candidate(request, f"{STORY}outline:{path}", "volume", title, text, path)

    def _state_files(self, request: FetchRequest) -> Iterator[Candidate]:
        """What holds now, as files of the kind `state` say it, each with the sections of the last chapter first.

        Those that most often name whom the request names, then short ones; the open file is shown anyway.
        """
        every = ((path, document) for path, document in self._documents.items() if document.kind == "state")
        who = set() if self._matcher is None else {hit.term for hit in self._matcher.find_in_question(request.query)}
        states = sorted(every, key=lambda pair: (-sum(map(pair[1].text.count, who)), len(pair[1].text), pair[0]))
        for at, (path, document) in enumerate(states):
            if path == request.document or path in self._map.hidden:
                continue
            if request.bounds.leaves_out("state", document.chapter) is not None:
                continue
            seen = visible(document, request.bounds)
            latest = sorted(document.paragraphs[1:], key=lambda row: -math.inf if row.chapter is None else -row.chapter)
            text = drop_blanks("\n".join(seen.text[row.start : row.end] for row in latest))
            if text.strip():
                title = frame(request.language).summarised.format(title=one_line(document.title))
                state = _candidate(request, f"{STORY}state:{path}", "state", title, text[:_TAIL], path)
                yield replace(state, score=state.score - at / 1000, keep="head")

    def _cards(self, request: FetchRequest, place: StoryPlace, planned: str) -> Iterator[Candidate]:
        """Cards of those whom the plan names, most often first, and where each was last seen."""
        if self._matcher is None or not planned:
            return
        cast = []
        counts = Counter(mention.entity_id for mention in self._matcher.find_all(planned))
        muted = {wish.key for wish in request.wishes if wish.mute}
        levels = ("when_detected", "always")
        entities = {entity.id: entity for entity in self._entities if entity.level in levels and entity.id not in muted}
        for id_, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
            if (entity := entities.pop(id_, None)) is None or entity.type == "foreshadowing":
                continue
            cast.append(entity)
            if entity.level == "always":
                continue
            why = Evidence("mention", Reason("mention.outline", number=place.numbers[0], name=one_line(entity.name)))
            yield card_candidate(entity, request, f"codex:detected:{id_}", _CARD + count / 1000, (why,))

        if seen := self._last_mentions(request, place, cast):
            title = say(Reason("cast"), request.language)
            yield _candidate(request, f"{STORY}cast:{place.numbers[0]}", "cast", title, "\n".join(seen), "")

    def _last_mentions(
        self, request: FetchRequest, place: StoryPlace, cast: Sequence[Entity], most: int = 1
    ) -> Sequence[str]:
        """For each of the cast that the chapters before name the last paragraphs that do, by a sentence each."""
        rows: dict[str, list[str]] = {entity.id: [] for entity in cast}
        names = {entity.id: one_line(entity.name) for entity in cast}
        for part in place.earlier:
            document = self._documents[part.path]
            if self._matcher is None or request.bounds.leaves_out(document.kind, part.number) is not None:
                continue
            title = one_line(part.title or document.title)
            body = [block for block in document.paragraphs if block.role == "body"]
            pairs = set[tuple[str, int]]()
            for mention in reversed(self._matcher.find_all(document.text[part.start : part.end])):
                at, id_ = part.start + mention.start, mention.entity_id
                where = next((block for block in body if id_ in names and block.start <= at < block.end), None)
                if where is None or (id_, where.index) in pairs:
                    continue
                pairs.add((id_, where.index))
                excerpt = _sentences_around(document.text, [(at, part.start + mention.end)], where)
                rows[id_].append(say(Reason("cast.seen", name=names[id_], title=title, said=excerpt), request.language))
                if len(rows[id_]) == most:
                    del names[id_]
            if not names:
                break
        return [line for lines in rows.values() for line in lines]

    def _story_end(self, request: FetchRequest) -> Iterator[Candidate | Omission]:
        """The end of the story that is written, and where those whom the request names were last seen.

        With a document of the story open it is the end of the chapter at the cursor, or of the one before while that is
        empty; where the window shows it, nothing.
        """
        path = request.document
        if (request.text and not path) or request.recipe.chapters or request.recipe.as_of is not None:
            return
        path = path if path and of_edition(self._map, path) else ""
        opened = story_parts(self._documents[path]) if path in self._documents else ()
        here = [part for part in opened if part.start <= request.cursor]
        before = chapters_before(self._documents, self._map, path, None if here else request.chapter)
        if not (earlier := [*reversed(here), *islice(before, MOST_BEFORE)]):
            return
        place = StoryPlace((), None, earlier)
        yield from self._ending(request, place)
        if path:
            return
        named = [] if self._matcher is None else self._matcher.find_in_question(request.query)
        ids = {hit.entity_id for hit in named} - {wish.key for wish in request.wishes if wish.mute}
        cast = [entity for entity in self._entities if entity.id in ids and entity.level in ("when_detected", "always")]
        if seen := self._last_mentions(request, place, cast, most=_NEWEST):
            title = say(Reason("cast"), request.language)
            newest = _candidate(request, f"{STORY}cast:now", "cast", title, "\n".join(seen), "")
            yield replace(newest, score=_SCORES["outline"])  # whom the request asks about, before all that holds now

    def _chapter_summaries(
        self, request: FetchRequest, earlier: Sequence[StoryPart], kept: Mapping[str, Summary]
    ) -> Iterator[Candidate | Omission]:
        """The chapters before, the nearest first: as their front matter sums them up, else as the project does."""
        paths = [part.path for part in earlier if not part.title]  # a file of several chapters has no summary for each
        for far, path in enumerate(paths):
            document = self._documents[path]
            source = f"{STORY}summary:{path}"
            entry = kept.get(path)
            own = stated_summary(document)
            text = own or (entry.text if entry is not None else "")
            if not text.strip():
                continue
            if (outside := request.bounds.leaves_out(document.kind, document.chapter)) is not None:
                yield Omission(source, "settings", source, *outside)
            elif not own and entry is not None and entry.content_hash != document.content_hash:
                yield Omission(source, "settings", source, "excluded", Reason("out.stale"))
            else:
                title = frame(request.language).summarised.format(title=one_line(document.title))
                summary = _candidate(request, source, "summary", title, one_line(text), document.path)
                yield replace(summary, score=summary.score - far / 1000)

    def _chapter_start(self, request: FetchRequest, place: StoryPlace) -> Iterator[Candidate | Omission]:
        """How the chapter behind begins."""
        path = request.document if request.document in self._map.story(request.document) else ""
        part, _ = chapters_until(self._documents, self._map, path, place.numbers[-1] + 1, place.volume)
        if part is None or part.path == request.document:
            return
        document, source = self._documents[part.path], f"{STORY}beginning:{part.path}"
        if (outside := request.bounds.leaves_out(document.kind, part.number)) is not None:
            yield Omission(source, "settings", source, *outside)
            return
        body = [block for block in document.paragraphs if block.role == "body" and part.start <= block.start < part.end]
        if body:
            span = (body[0].start, min(part.end, body[0].start + _TAIL // 4))
            title = frame(request.language).beginning.format(title=one_line(part.title or document.title))
            text = document.text[slice(*span)]
            yield _candidate(request, source, "ending", title, text, document.path, span)

    def _ending(self, request: FetchRequest, place: StoryPlace) -> Iterator[Candidate | Omission]:
        """How the chapter before ends, and what is noted behind it.

        Where the window shows it and the next is to be written, the one before that.
        """
        for part in place.earlier[: 1 + place.named]:
            document, source = self._documents[part.path], _ending_of(part)
            end = story_end(document, part.start, part.end)
            is_open = part.path == request.document and request.chapter_start < part.end
            if not is_open or abs(end - request.cursor) >= _SHOWN:
                break
            yield Omission(source, "settings", source, "duplicate", Reason("out.document"))
        else:
            return
        if (outside := request.bounds.leaves_out(document.kind, part.number)) is not None:
            yield Omission(source, "settings", source, *outside)
            return
        labels = frame(request.language)
        body = [block for block in document.paragraphs if block.role == "body" and part.start <= block.start < end]
        most = _TAIL if place.tells else _TAIL // 2
        while len(body) > 1 and body[-1].end - body[0].start > most:
            body.pop(0)
        if body:
            text = document.text[body[0].start : body[-1].end]
            title = labels.ending.format(title=one_line(part.title or document.title))
            span = (max(body[0].start, body[-1].end - most), body[-1].end)
            yield _candidate(request, source, "ending", title, text[-most:], document.path, span)
        text = document.text[end : part.end][-_NOTES:].strip()
        if place.tells and len(text) >= _BESIDE:
            title = labels.summarised.format(title=one_line(part.title or document.title))
            notes = _candidate(request, f"{STORY}notes:{part.path}", "notes", title, text, document.path)
            yield replace(notes, keep="head")

    def _threads(self, request: FetchRequest, place: StoryPlace, planned: str) -> Iterator[Candidate | Omission]:
        closed = _closed_words()
        here = place.numbers[0] if place.numbers else request.moment
        for entity in self._entities:
            if entity.type != "foreshadowing":
                continue
            source = THREAD + entity.id
            if entity.level != "when_detected":
                yield Omission(source, "settings", source, "level", Reason(f"level.{entity.level}"))
            elif any(value.strip().casefold() in closed for value in entity.attributes.values()):
                yield Omission(source, "settings", source, "excluded", Reason("out.closed"))
            else:
                facts = [fact.text for fact in entity.facts if holds(fact, request.moment, request.chapters)]
                age = [] if here is None else [*_thread_age(entity, here)]
                facts += [say(reason, request.language) for reason in age]
                body = "\n".join(one_line(text) for text in (entity.description, *facts) if text.strip())
                title = frame(request.language).thread.format(name=one_line(entity.name))
                path = entity.origins[0].path if entity.origins else ""
                thread = _candidate(request, source, "thread", title, body, path)
                named = any(name in planned for name in (entity.name, *entity.aliases) if len(name) > 1)
                late = any(reason.code == "thread.overdue" for reason in age)
                yield replace(thread, score=thread.score + _TOUCHED * (named + late / 2))


def _thread_age(thread: Entity, here: int) -> Iterator[Reason]:
    """Where a thread was planted and is due, as its attributes say, seen from a chapter."""
    for row in ("planted", "due"):
        keys = words("threads", row)
        values = (value for key, value in thread.attributes.items() if any(word in key.casefold() for word in keys))
        number = next((n for value in values if (n := chapter_number(value) or bare_number(value)) is not None), None)
        if number is None:
            continue
        if row == "planted" and number <= here:
            yield Reason("thread.planted", number=number, open=here - number)
        elif row == "due":
            overdue = {"late": here - number} if here > number else {}
            yield Reason("thread.overdue" if overdue else "thread.due", number=number, **overdue)


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
        evidence=(Evidence("chapter", _writing_reason(request), path, span),),
        group=HEADINGS[request.language]["story"],
        documents=(path,) if path else (),
        project_id=request.project_id,
    )


def _sentences_around(text: str, spans: Sequence[tuple[int, int]], paragraph: Paragraph) -> str:
    """The sentences of a paragraph that hold the spans, at most so much of each; `…` for what is between."""
    pieces: list[tuple[int, int]] = []
    for start, end in spans:
        first = max(paragraph.start, start - _BESIDE)
        last = min(paragraph.end, end + _BESIDE)
        first = max((match.end() for match in _SENTENCE.finditer(text, first, start)), default=first)
        last = min(last, stop.end() if (stop := _SENTENCE.search(text, end, last)) else last)
        if pieces and first <= pieces[-1][1]:
            pieces[-1] = (pieces[-1][0], max(last, pieces[-1][1]))
        else:
            pieces.append((first, last))
    return " … ".join(one_line(text[start:end]) for start, end in pieces)


def _ending_of(part: StoryPart) -> str:
    return f"{STORY}ending:{part.path}" + (f"#{part.number}" if part.title else "")


def _writing_reason(request: FetchRequest) -> Reason:
    if request.chapter is not None:
        return Reason("story.chapter", number=request.chapter)
    return Reason("story.document" if request.document else "story.on", document=request.document)


def _explain(candidate: Candidate, place: StoryPlace, code: str) -> Candidate:
    """An offer of the story with the reason that the request names the chapter."""
    if candidate.layer != "settings":
        return candidate
    return _set_reason(candidate, Reason(code, numbers=place.numbers))


def _set_reason(candidate: Candidate, what: Reason) -> Candidate:
    return replace(candidate, evidence=tuple(replace(why, detail=what) for why in candidate.evidence))


def _to_fetched(offers: Sequence[Candidate | Omission], warnings: Sequence[ContextWarning] = ()) -> Fetched:
    candidates = tuple(offer for offer in offers if isinstance(offer, Candidate))
    return Fetched(candidates, tuple(offer for offer in offers if isinstance(offer, Omission)), tuple(warnings))


@cache
def _closed_words() -> frozenset[str]:
    return frozenset(word.replace("-", " ") for word in words("threads", "closed"))

"""Requests that read chapters or a scene: who is in it, and what of it comes first, as their recipe says."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from armarius._core import Corpus as CoreCorpus
from armarius._core import CorpusGroup, CorpusQuery, CorpusScores, CorpusWeights
from armarius.corpus.part import PARAGRAPH_B, PARAGRAPH_K1
from armarius.documents.document import Document
from armarius.documents.kinds import STORY_KINDS
from armarius.headings import Reason
from armarius.search.corpus import Corpus
from armarius.search.query.query import Understanding
from armarius.search.query.words import is_unspaced, table
from armarius.types import PassageRow, Recipe, Shares

_PERSON: Final = "character"
_PEOPLE: Final = 24  # people to search paragraphs for, most often named first
_STRETCH: Final = 240  # code points that a summary takes at once
_ENDS: Final = 80  # code points of the first and the last stretch, so that many chapters have both


class Reading:
    """One request that reads.

    Attributes:
        recipe: What it asks for.
        scene: What of the open document it reads, code points; None where it reads chapters.
        counts: How often that names each entity; people before things, most often named first.
        shares: How its prompt is divided (docs/decisions/0198).
        compares: Chapters before those that are read are looked into as well.
    """

    def __init__(
        self,
        recipe: Recipe,
        counts: Mapping[str, int],
        scene: tuple[int, int] | None = None,
        scores: Sequence[CorpusScores] = (),
    ) -> None:
        self.recipe: Final = recipe
        self.scene: Final = scene
        self.counts: Final = counts
        self.shares: Final = Shares(**recipe.shares, first=tuple(f"entity:{id_}" for id_ in counts))
        self.compares: Final = bool(scores)
        self._scores = scores

    def worth(self, path: str, paragraph: int) -> float:
        """How much a paragraph tells of those people, 0 to 1: it names one and has a word for a topic; 0 of others."""
        worth = float(self.compares)
        for scores in self._scores:
            worth *= scores.score_of(path, paragraph) or 0.0
        return worth

    @property
    def mention(self) -> str:
        """The code of the reason that somebody is mentioned in what it reads."""
        return "mention.scene" if self.scene else f"mention.{'checked' if self.compares else 'read'}"

    def why(self, row: PassageRow) -> Reason:
        """What a row is in the prompt for."""
        if self.scene is not None:
            return Reason("chapter.scene")
        if not self.compares:
            return Reason("chapter.asked")
        return Reason(f"chapter.{'checked' if row.asked else 'before'}{'' if row.score > 0 else '_rest'}")

    def in_order(self, rows: Sequence[PassageRow]) -> list[PassageRow]:
        """The rows of what is read: as they stand, of a check the best of each chapter in turn, or evenly spread ones.

        Those take next from the chapter of which it has the fewest code points; of each its begin, its end, and
        what lies midway between what it has, in stretches.
        """
        if "whole" in self.recipe.parts:
            return sorted(rows, key=lambda row: row.place)
        if self.compares:
            ranks: Counter[int] = Counter()
            ranked = []
            for row in sorted(rows, key=lambda row: (-row.score, row.place)):
                ranks[row.place[0]] += 1
                ranked.append((ranks[row.place[0]], row))
            return [row for _, row in sorted(ranked, key=lambda pair: (pair[0], pair[1].place))]
        chapters: dict[tuple[int, str], list[PassageRow]] = {}
        for row in sorted((row for row in rows if any(map(str.isalnum, row.text))), key=lambda row: row.place):
            chapters.setdefault(row.place[:2], []).append(row)
        turns: list[tuple[int, int, list[PassageRow]]] = []
        for at, chapter in enumerate(chapters.values()):
            size = 0
            for stretch in _spread(_stretches(chapter)):
                turns.append((size, at, stretch))
                size += sum(len(row.text) for row in stretch)
        return [row for *_, stretch in sorted(turns, key=lambda turn: turn[:2]) for row in stretch]


def reading_of(corpus: Corpus, question: Understanding, document: Document | None, cursor: int) -> Reading | None:
    """The reading that a question is; None when it is another question.

    Args:
        corpus: Of the project.
        question: The question, understood.
        document: The open one, if it is of the story.
        cursor: Its place in there.

    Cost: of a check two searches, each over the words or names of it; of a scene one search for names.
    """
    recipe = question.recipe
    if "chapters" not in recipe.parts or (question.mentions and not recipe.stated):
        return None
    if question.reads and recipe.scope != "scene":
        tally: Counter[str] = Counter()
        for number in question.chapters:
            for key in corpus.by_chapter.get(number, ()):
                tally.update(corpus.texts[key].mentions)
        counts = _order_tally(corpus, tally)
        if "before" not in recipe.parts:
            return Reading(recipe, counts)
        people = [entity for entity in counts if corpus.entities[entity].type == _PERSON][:_PEOPLE]
        about = [CorpusGroup("main", [], entities=[(entity, 1.0) for entity in people])]
        return Reading(recipe, counts, None, (_score_story(corpus.core, about), _score_story(corpus.core, _topics())))
    is_here = recipe.scope == "scene" or any(ref.relative for ref in question.references) or recipe.opened
    if document is None or "scene" not in recipe.parts or question.chapters or not is_here or recipe.scope == "story":
        return None
    scene = scene_at(document, cursor) if recipe.scope == "scene" else (0, len(document.text))
    tally = Counter(mention.entity_id for mention in corpus.matcher.find_all(document.text[slice(*scene)]))
    return Reading(recipe, _order_tally(corpus, tally), scene)


def scene_at(document: Document, cursor: int) -> tuple[int, int]:
    """The scene around a place: between headings or lines without a letter (`***`). Cost: linear in the paragraphs."""
    start, end = 0, len(document.text)
    for block in document.paragraphs:
        if block.role == "body" and any(map(str.isalnum, document.text[block.start : block.end])):
            continue
        if block.end <= cursor:
            start = block.end
        elif block.start > cursor or block.role != "heading":
            return start, block.start
    return start, end


def _order_tally(corpus: Corpus, tally: Mapping[str, int]) -> Mapping[str, int]:
    ids = (entity for entity in tally if entity in corpus.entities)
    order = sorted(ids, key=lambda entity: (corpus.entities[entity].type != _PERSON, -tally[entity], entity))
    return {entity: tally[entity] for entity in order}


def _stretches(rows: Sequence[PassageRow]) -> list[list[PassageRow]]:
    """Neighbours together until they are long enough to be read; short ones at the begin and at the end."""
    first = _count_enough(rows, _ENDS)
    last = max(first, len(rows) - _count_enough(rows[::-1], _ENDS))
    result = [[*rows[:first]]]
    while first < last:
        length = _count_enough(rows[first:last], _STRETCH)
        result.append([*rows[first : first + length]])
        first += length
    return [stretch for stretch in (*result, [*rows[last:]]) if stretch]


def _count_enough(rows: Sequence[PassageRow], size: int) -> int:
    """How many of the rows have so many code points."""
    for at, row in enumerate(rows):
        size -= len(row.text)
        if size <= 0:
            return at + 1
    return len(rows)


def _spread(stretches: Sequence[list[PassageRow]]) -> Iterator[list[PassageRow]]:
    """The first, the last, the middle one, then what lies midway between those, and so on."""
    last = len(stretches) - 1
    order = dict.fromkeys(at for at in (0, last) if at >= 0)
    step = 1
    while len(order) <= last:
        step *= 2
        order |= dict.fromkeys(last * part // step for part in range(1, step, 2))
    return (stretches[at] for at in order)


def _score_story(core: CoreCorpus, groups: list[CorpusGroup]) -> CorpusScores:
    return core.score(CorpusQuery(_weights(), groups, kinds=[*STORY_KINDS]))


@cache
def _weights() -> CorpusWeights:
    """The paragraph alone, without the text around it."""
    families = [("main", 1.0, (PARAGRAPH_B,) * 4)]
    return CorpusWeights(families, k1=(PARAGRAPH_K1,) * 4)


@cache
def _topics() -> list[CorpusGroup]:
    """Looks, age, home, marks, kin, what is owned and known: words for each."""
    kin = [word for row in table("kin").values() for word in row]
    rows = [
        [word for word in row if len(word) > 1 or not is_unspaced(word)] for row in (*table("attributes").values(), kin)
    ] + [list(row) for row in table("told").values()]
    return [CorpusGroup("main", [(word.replace("-", " "), 1.0) for word in row]) for row in rows]

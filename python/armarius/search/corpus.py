"""The corpus of a project: texts, sections of settings, lines of the outline, and paragraphs to rank.

A `ProjectCorpus` is one immutable moment of documents and codex. `ProjectCorpus.acquire` yields its `Corpus`: the
indexes in memory, which one moment hands to the next and which are brought up to date document by document. A `Corpus`
has a scope; `within` narrows it, `without` leaves documents out as if the project had none of them, and `with_live`
puts the text of an editor in the place of a saved document.

A *text* is a chapter, or another file (a note, a source file); a file that holds several chapters is several
texts. A *section* is one entry of a settings file: a profile, a place, a rule.
"""

import hashlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from typing import Any, Final

from armarius._core import Corpus as CoreCorpus
from armarius.arguments import EVERYTHING, Bounds
from armarius.codex import Codex, Entity
from armarius.codex.cards import Visible, without_later
from armarius.corpus.part import (
    CorpusSection,
    DocumentPart,
    NamedEntities,
    OutlineLine,
    Paragraphs,
    StoredPart,
    StoredParts,
    TextPart,
    entries_of,
    lines_by_text,
    names_in,
    parts_of,
)
from armarius.corpus.story import of_edition
from armarius.documents.document import Document
from armarius.documents.project_map import ProjectMap
from armarius.text.matcher import EntityMatcher, Mention

_LAST: Final = 1 << 30  # after every chapter
_FEW: Final = 20  # so many rows are read one by one
_SCOPES, _MOST_SCOPES = ("scopes", "", None), 8
_LIVE, _MOST_LIVE = ("live", "", None), 4
_WITHOUT, _MOST_WITHOUT = ("without", "", None), 4
_SHAPING: Final = ("setting", "outline")  # kinds on which more than their own paragraphs depends


@dataclass(frozen=True, slots=True)
class Outside:
    """The documents that are no candidates.

    Attributes:
        paths: Of those, where something else answers.
        always: Those among them that are never candidates.
        barred: Those among them that plain search leaves out too: no guess keeps them out.
        counted: The numbers of chapters say what is later than the open document; where they begin again, or there are
            none, what is later is among `always`.
        asked: Documents that the question names one by one: they are shown whole.
    """

    paths: frozenset[str] = frozenset()
    always: frozenset[str] = frozenset()
    counted: bool = True
    asked: frozenset[str] = frozenset()
    barred: frozenset[str] = frozenset()


NOTHING_OUTSIDE: Final = Outside()


@dataclass(frozen=True)
class _File:
    """A document as it was taken in.

    Attributes:
        document: The document.
        matcher: Its names were found by it.
        found: The names of each text, or as JSON; decoded when first asked, as most texts are never shown.
        keys: Of its texts and sections.
    """

    document: Document
    matcher: EntityMatcher
    found: bytes | list[tuple[NamedEntities, ...]]
    keys: list[int] = field(default_factory=list)

    @cached_property
    def names(self) -> Sequence[Sequence[NamedEntities]]:
        """The names of each text; found again when the JSON is damaged. Cost: 20 µs for a chapter, once."""
        if not isinstance(self.found, bytes):
            return self.found
        try:
            return names_in(self.found)
        except ValueError:
            return [text.names for text in parts_of([self.document], self.matcher)[0].texts]

    def key(self, section: str) -> int:
        """A number that depends on nothing but path and section, so that ties fall the same way after any edit."""
        name = f"{self.document.path}\0{section}\0{len(self.keys)}"
        self.keys.append(int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest()))
        return self.keys[-1]


@dataclass(frozen=True)
class Text:
    """A chapter or another file: `document[start:end]`.

    Attributes:
        key: Its number in the corpus.
        path: Of its document.
        section: The heading that names it in a file of several chapters, else "".
        title: What it is called.
        number: Chapter number, None for a note.
        start: First code point in the document.
        end: One past the last.
        file: Its document.
        position: Of the text in its document.
    """

    key: int
    path: str
    section: str
    title: str
    number: int | None
    start: int
    end: int
    file: _File = field(repr=False, compare=False)
    position: int = field(repr=False, compare=False)

    @property
    def names(self) -> Sequence[NamedEntities]:
        """The names in it, by where each first stands."""
        return self.file.names[self.position]

    @cached_property
    def mentions(self) -> Counter[str]:
        """Entity id to how often."""
        counts: Counter[str] = Counter()
        for name in self.names:
            counts[name.entity] += name.count
        return counts

    @cached_property
    def first(self) -> dict[str, Mention]:
        """Entity id to the first mention."""
        result: dict[str, Mention] = {}
        for name in self.names:
            if name.entity not in result:
                result[name.entity] = Mention(name.entity, name.term, name.start, name.start + len(name.term))
        return result


@dataclass(frozen=True, slots=True, eq=False)
class UnitIndex:
    """The units that the core ranks, by number.

    Attributes:
        core: The corpus of the units.
        texts: Key of the text, None where it is none.
        sections: Key of the section likewise.
        owners: The entities that the section describes.
        headed: A byte for each, 1 where it is a section.
        describing: Likewise, where it describes somebody.
    """

    core: CoreCorpus
    texts: Sequence[int | None]
    sections: Sequence[int | None]
    owners: Sequence[tuple[str, ...]]
    headed: bytes
    describing: bytes

    @classmethod
    def of(cls, core: CoreCorpus, texts: Mapping[int, Text], sections: Mapping[int, CorpusSection]) -> "UnitIndex":
        """The units of `core`. Cost: one look-up per unit."""
        text_keys = {(text.path, text.section): text.key for text in texts.values()}
        section_keys = {(section.path, section.section): section.key for section in sections.values()}
        units = core.units
        keys = [section_keys.get(unit) for unit in units]
        owners = [() if key is None else sections[key].entities for key in keys]
        headed, describing = bytes(key is not None for key in keys), bytes(map(bool, owners))
        return cls(core, [text_keys.get(unit) for unit in units], keys, owners, headed, describing)


class Corpus:
    """Texts, sections, outline and their indexes, made for one codex; not thread safe. Get it from a `ProjectCorpus`.

    Args:
        codex: Its entities are looked for.
        matcher: Finds them; one of the names alone when not given.
        kept: Where documents may have been worked out before, with the same names.

    Attributes:
        scope: What of the project it shows.
        outside: What it is without.
        wider: The same with them, where nothing in it answers; None where nothing is left out.
        map: What the documents are.
        texts: Key to text.
        sections: Key to section; keys of texts and sections never meet.
        outline: Key of a text to the lines about it; `outlined` has the entities of those lines and of its title.
        paragraphs: Every paragraph of the project as the core ranks it.
        memo: What others have worked out from all this; empty again after every change.
        sections_memo: What they have worked out from sections and codex alone; empty again after a change of those.
    """

    def __init__(self, codex: Codex, matcher: EntityMatcher | None = None, kept: StoredParts | None = None) -> None:
        self.scope = EVERYTHING
        self.outside = NOTHING_OUTSIDE
        self.wider: Callable[[], Corpus] | None = None
        self.map = ProjectMap()
        self.texts: dict[int, Text] = {}
        self.sections: dict[int, CorpusSection] = {}
        self.outline: dict[int, list[OutlineLine]] = {}
        self.outlined: dict[int, frozenset[str]] = {}
        self.paragraphs = Paragraphs()
        self.memo: dict[tuple[str, str, int | None], Any] = {}
        self.sections_memo: dict[Any, Any] = {}
        self._whole: Corpus | None = None
        self._visible: Visible | None = None
        self._files: dict[str, _File] = {}
        self._set_codex(codex, matcher, kept)
        self._mark_changed()

    def _set_codex(self, codex: Codex, matcher: EntityMatcher | None, kept: StoredParts | None) -> None:
        self.codex = codex
        self.entities: dict[str, Entity] = {entity.id: entity for entity in codex.entities}
        self.matcher = EntityMatcher.from_valid(codex.entities)[0] if matcher is None else matcher
        self._kept = kept

    def _mark_changed(self) -> None:
        self._outline_stale = True
        self._forget_indexes()
        self.memo.clear()

    def _forget_indexes(self) -> None:
        self._by_chapter: dict[int, list[int]] | None = None
        self._stories: list[list[list[int]]] | None = None
        self._described: dict[str, list[int]] | None = None
        self._units: UnitIndex | None = None

    @property
    def core(self) -> CoreCorpus:
        """The paragraphs of the whole project as the core ranks them."""
        return self.paragraphs.corpus

    @property
    def whole(self) -> "Corpus":
        """The same without a scope."""
        return self if self._whole is None else self._whole

    def within(self, scope: Bounds) -> "Corpus":
        """What of this corpus lies in `scope`; the corpus itself when nothing is left out.

        Cost: linear in the texts of the project, once for each of eight scopes until something changes.
        """
        if not scope:
            return self
        cache: dict[Bounds, Corpus] = self.memo.setdefault(_SCOPES, {})
        if scope not in cache:
            if len(cache) >= _MOST_SCOPES:
                cache.clear()
            cache[scope] = self._filter_texts(scope)
        return cache[scope]

    def _filter_texts(self, scope: Bounds) -> "Corpus":
        self.refresh_outline()
        part = copy(self)
        part.scope, part._whole = scope, self
        part._visible = Visible({path: file.document for path, file in self._files.items()}, scope)
        part.texts = {key: text for key, text in self.texts.items() if scope.holds(self.kind_of(key), text.number)}
        if scope.as_of is not None:
            part.sections = {
                key: section
                if self._files[section.path].document.past
                else replace(section, text=without_later(section.text, scope.as_of))
                for key, section in self.sections.items()
            }
        part.outline = {key: lines for key, lines in self.outline.items() if key in part.texts}
        part.outlined = {key: outlined for key, outlined in self.outlined.items() if key in part.texts}
        part.memo, part.sections_memo = {}, {}
        part._forget_indexes()
        return part

    def without(self, paths: frozenset[str]) -> "Corpus":
        """This corpus as if the project had none of the documents `paths`; the corpus itself when they are none.

        Cost: linear in the texts of the project and the paragraphs of those documents, once for each of four choices
        until something changes.
        """
        if not paths:
            return self
        cache: dict[frozenset[str], Corpus] = self.memo.setdefault(_WITHOUT, {})
        if paths not in cache:
            if len(cache) >= _MOST_WITHOUT:
                cache.clear()
            cache[paths] = part = self._fork()
            part.sections_memo = {}
            for path in sorted(paths):
                part.remove(path)
        return cache[paths]

    def _fork(self) -> "Corpus":
        """The same, to be changed by itself."""
        part = copy(self)
        part._files, part.texts, part.sections = dict(self._files), dict(self.texts), dict(self.sections)
        part.paragraphs, part._kept, part.memo = self.paragraphs.fork(), None, {}
        return part

    def with_live(self, document: Document) -> "Corpus":
        """This corpus with `document` in the place of what is saved at its path, if anything is.

        Cost: the paragraphs of the document, about 1 ms for 20 kB; a look at the last four when it has not changed.
        """
        cache: list[tuple[Document, Corpus]] = self.memo.setdefault(_LIVE, [])
        result = next((corpus for doc, corpus in cache if doc is document), None)
        if result is None:
            result = self._overlay_live(document)
            cache.append((document, result))
            del cache[:-_MOST_LIVE]
        return result

    def _overlay_live(self, document: Document) -> "Corpus":
        self.refresh_outline()
        live = self._fork()
        saved = self.document(document.path)
        shapes = any(doc is not None and doc.kind in _SHAPING for doc in (document, saved))
        if shapes:
            live.sections_memo = {}
        live.update([document])
        # The lines of the outline depend on number and title of the chapters, and on nothing that is written in them.
        live._outline_stale = shapes or self._titles(document.path) != live._titles(document.path)
        if not live._outline_stale:
            live._by_chapter, live._stories = self.by_chapter, self.stories
        return live

    def _titles(self, path: str) -> list[tuple[int, str, int | None]]:
        return [(text.key, text.title, text.number) for text in self.texts_of(path)]

    def adopt(self, codex: Codex, matcher: EntityMatcher | None, kept: StoredParts | None) -> bool:
        """Go over to another codex with the same names; False when the names are others.

        Cost: the sections are read again.
        """
        if kept is None or matcher is None or self._kept is None or self._kept.names != kept.names:
            return False
        self._set_codex(codex, matcher, kept)
        for path, file in self._files.items():
            if file.document.kind == "setting":
                self._drop_keys(file)
                self._files[path] = renewed = replace(file, keys=[])
                self._add_sections(renewed)
        self._mark_changed()
        return True

    def adopt_map(self, project_map: ProjectMap) -> None:
        """Go over to another map of the same documents."""
        self.map = project_map
        self._forget_indexes()
        self.memo.clear()

    def update(self, documents: Sequence[Document]) -> None:
        """Take in new or changed documents.

        Cost: what is kept is read; of what is not, one pass over the text, about .1 s per million Chinese characters.
        """
        for document in documents:
            self.remove(document.path)
        parts: dict[str, StoredPart | DocumentPart] = {**self._read(documents)}
        missing = [document for document in documents if document.path not in parts]
        for document, part in zip(missing, parts_of(missing, self.matcher) if missing else (), strict=True):
            parts[document.path] = part
            self.paragraphs.update(document.path, part.part)
        for document in documents:
            item = parts[document.path]
            names = item.names if isinstance(item, StoredPart) else [text.names for text in item.texts]
            file = self._files[document.path] = _File(document, self.matcher, names)
            if document.kind == "setting":
                self._add_sections(file)
            elif document.kind != "outline":
                self._add_texts(file, item.texts)
        self._mark_changed()

    def _read(self, documents: Sequence[Document]) -> dict[str, StoredPart]:
        """What is kept of documents, as far as it is sound; their parts are in the corpus."""
        if self._kept is None or not documents:
            return {}
        rows = self._kept.read(None if len(documents) > _FEW else [document.path for document in documents])
        result = {doc.path: kept for doc in documents if (kept := self._kept.of(doc, rows.get(doc.path))) is not None}
        by_path, matcher = {document.path: document for document in documents}, self.matcher
        parts = [(path, by_path[path].paragraph_count, item.data, item.part) for path, item in result.items()]
        self.paragraphs.open(parts, lambda path: parts_of([by_path[path]], matcher)[0].part)
        return result

    def remove(self, path: str) -> None:
        """Forget a document; unknown paths are no error."""
        file = self._files.pop(path, None)
        if file is None:
            return
        self.paragraphs.remove(path)
        self._drop_keys(file)
        self._mark_changed()

    def _drop_keys(self, file: _File) -> None:
        for key in file.keys:
            self.texts.pop(key, None)
            if self.sections.pop(key, None) is not None:
                self.sections_memo.clear()

    def _add_texts(self, file: _File, texts: Sequence[TextPart]) -> None:
        path, title = file.document.path, file.document.title
        for position, part in enumerate(texts):
            key = file.key(part.section)
            self.texts[key] = Text(
                key, path, part.section, part.section or title, part.number, part.start, part.end, file, position
            )

    def _add_sections(self, file: _File) -> None:
        document = file.document
        owners: dict[str, list[str]] = {}
        for entity in self.codex.entities:
            for origin in entity.origins:
                if origin.path == document.path:
                    owners.setdefault(origin.section, []).append(entity.id)
        for section, paragraphs in entries_of(document, owners):
            key = file.key(section)
            start, end = paragraphs[0].start, paragraphs[-1].end
            text = document.text[start:end]
            described = tuple(dict.fromkeys(owners.get(section, ())))
            self.sections[key] = CorpusSection(key, document.path, section, start, end, text, described)
        self.sections_memo.clear()

    def place(self, key: int) -> tuple[int, str, int]:
        """Where a text or section stands in the order of the book: (chapter or last, path, first code point)."""
        text = self.whole.texts.get(key)
        if text is None:
            section = self.sections[key]
            return (_LAST, section.path, section.start)
        file = self.map.get(text.path)
        if file is not None and file.order is not None:
            return (2 * file.order, text.path, text.start)
        if file is None and text.number is not None and (order := self.map.story(of_edition(self.map, text.path))):
            # Not saved yet: behind the last of its edition with a smaller number.
            before = sum((self.map.files[path].number or 0) < text.number for path in order)
            return (2 * before - 1, text.path, text.start)
        return (_LAST if text.number is None else text.number, text.path, text.start)

    def document(self, path: str) -> Document | None:
        """The document at `path`, blanked where the scope leaves something out."""
        if self._visible is not None:
            return self._visible.get(path)
        file = self._files.get(path)
        return None if file is None else file.document

    @property
    def outlines(self) -> dict[str, Document]:
        """The outlines as they stand, by path. Cost: linear in the documents."""
        return {path: file.document for path, file in sorted(self._files.items()) if file.document.kind == "outline"}

    def kind_of(self, key: int) -> str:
        """The kind of the document that a text is of."""
        return self.whole.texts[key].file.document.kind

    def paragraph_at(self, path: str, start: int) -> int | None:
        """Position of the paragraph of a document that a code point lies in."""
        document = self.document(path)
        if document is None:
            return None
        at = bisect_right(document.paragraphs, start, key=lambda block: block.start) - 1
        return at if at >= 0 and start < document.paragraphs[at].end else None

    def text_at(self, path: str, start: int) -> Text | None:
        """The text of a document that a code point lies in."""
        return next((text for text in self.texts_of(path) if text.start <= start < text.end), None)

    def texts_of(self, path: str) -> list[Text]:
        """The texts of a document, by key."""
        file = self._files.get(path)
        return [] if file is None else [self.texts[key] for key in sorted(file.keys) if key in self.texts]

    def units(self, core: CoreCorpus) -> UnitIndex:
        """The text and the section that the core calls by each number of its units.

        Cost: one look-up per unit after a change; then none.
        """
        if self._units is None or self._units.core is not core:
            self._units = UnitIndex.of(core, self.texts, self.sections)
        return self._units

    @property
    def paths(self) -> tuple[str, ...]:
        """Of documents, sorted; within a scope, of those that hold anything to be seen."""
        visible = self._visible
        return tuple(path for path in sorted(self._files) if visible is None or visible[path].text.strip())

    @property
    def by_chapter(self) -> dict[int, list[int]]:
        """Chapter number to the keys of its texts (several when volumes count from one), ascending."""
        if self._by_chapter is None:
            result: dict[int, list[int]] = {}
            for text in sorted(self.texts.values(), key=lambda text: self.place(text.key)):
                if text.number is not None:
                    result.setdefault(text.number, []).append(text.key)
            self._by_chapter = result
        return self._by_chapter

    @property
    def stories(self) -> list[list[list[int]]]:
        """The chapters of each story in its order: the keys of the texts of each."""
        if self._stories is None:
            result: dict[str, list[list[int]]] = {}
            seen: tuple[str, int | None, int | None] | None = None
            for text in sorted(self.texts.values(), key=lambda text: self.place(text.key)):
                file = self.map.get(text.path)
                if text.number is None and (file is None or file.order is None):
                    continue
                place = ("", None, text.number) if file is None else (file.story, file.volume, text.number)
                chapters = result.setdefault(place[0], [])
                if text.number is None or place != seen:
                    chapters.append([])
                chapters[-1].append(text.key)
                seen = place
            self._stories = list(result.values())
        return self._stories

    @property
    def chapter_numbers(self) -> tuple[int, ...]:
        """The chapters that may be known, whichever kinds are looked into, ascending."""
        numbers = tuple(self.whole.by_chapter)
        return tuple(filter(self.scope.has_chapter, numbers)) if self.scope else numbers

    @property
    def described(self) -> dict[str, list[int]]:
        """Entity id to the keys of the sections that describe it."""
        if self._described is None:
            result: dict[str, list[int]] = {}
            for section in sorted(self.sections.values(), key=attrgetter("path", "start")):
                for entity_id in section.entities:
                    result.setdefault(entity_id, []).append(section.key)
            self._described = result
        return self._described

    def refresh_outline(self) -> None:
        """Bring `outline` and `outlined` up to date; called before they are read, cheap when nothing changed."""
        if not self._outline_stale:
            return
        outlines = [file.document for file in self._files.values() if file.document.kind == "outline"]
        self.outline = lines_by_text(outlines, self.by_chapter)
        self.outlined = {}
        for text in self.texts.values():
            if text.number is None:
                continue
            summary = " ".join([text.title, *(line.text for line in self.outline.get(text.key, ()))])
            self.outlined[text.key] = frozenset(mention.entity_id for mention in self.matcher.find_all(summary))
        self._outline_stale = False

"""What retrieval knows of a project: its texts, sections of settings, lines of the outline, paragraphs to rank.

Built from documents and the codex, held in memory, changed document by document. Everything in it
can be rebuilt from the files at any time.

A *text* is a chapter, or a file that is none (a note, a source file); a file that holds several
chapters is several texts. A *section* is one entry of a settings file: a profile, a place, a rule.
"""

import hashlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from armarius._core import Corpus
from armarius._core import Corpus as CoreCorpus
from armarius.arguments import EVERYTHING
from armarius.codex import Codex, Entity
from armarius.corpus.kept import Kept, KeptParts, names_in
from armarius.corpus.paragraphs import Paragraphs
from armarius.corpus.part import DocumentPart, Named, TextPart, parts_of
from armarius.corpus.units import OutlineLine, Section, entries_of, lines_by_text
from armarius.documents.document import Document
from armarius.text.matcher import EntityMatcher, Mention

__all__ = ["CorpusTables", "DocumentNames", "File", "Numbered", "Text"]


@dataclass(frozen=True)
class Text:
    """A chapter, or a file that is none: `document[start:end]`.

    Attributes:
        key: Its number in the tables.
        path: Of its document.
        section: The heading that names it in a file of several chapters, else "".
        title: What it is called.
        number: Chapter number, None for a note.
        start: First code point in the document.
        end: One past the last.
        read_names: The names in it, by where each first stands.
    """

    key: int
    path: str
    section: str
    title: str
    number: int | None
    start: int
    end: int
    read_names: Callable[[], Sequence[Named]] = field(repr=False, compare=False)

    @cached_property
    def names(self) -> Sequence[Named]:
        """Read when they are asked for: most texts are never shown."""
        return self.read_names()

    @cached_property
    def mentions(self) -> Counter[str]:
        """Entity id to how often."""
        return _summed((one.entity, one.count) for one in self.names)

    @cached_property
    def terms(self) -> Counter[str]:
        """Written alias to how often."""
        return _summed((one.term, one.count) for one in self.names)

    @cached_property
    def first(self) -> dict[str, Mention]:
        """Entity id to the first mention."""
        found: dict[str, Mention] = {}
        for one in self.names:
            if one.entity not in found:
                found[one.entity] = Mention(one.entity, one.term, one.start, one.start + len(one.term))
        return found


def _summed(rows: Iterable[tuple[str, int]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for name, count in rows:
        counts[name] += count
    return counts


Label = tuple[str, str]
"""Path, and what tells a unit from the others of its document."""


@dataclass(frozen=True, slots=True, eq=False)
class Numbered:
    """The units of one corpus, by number.

    Attributes:
        corpus: Whose.
        texts: Key of the text, None where it is none.
        sections: Key of the section likewise.
        owners: The entities that the section describes.
        headed: A byte for each, 1 where it is a section.
        describing: Likewise, where it describes somebody.
    """

    corpus: Corpus
    texts: Sequence[int | None]
    sections: Sequence[int | None]
    owners: Sequence[tuple[str, ...]]
    headed: bytes
    describing: bytes

    @classmethod
    def of(cls, corpus: Corpus, texts: Mapping[int, Text], sections: Mapping[int, Section]) -> "Numbered":
        """The units of `corpus` in these tables. Cost: one look-up per unit."""
        labelled: dict[Label, int] = {(text.path, text.section): text.key for text in texts.values()}
        named: dict[Label, int] = {(one.path, one.section): one.key for one in sections.values()}
        units = corpus.units
        keys = [named.get(one) for one in units]
        owners = [() if key is None else sections[key].entities for key in keys]
        headed, describing = bytes(key is not None for key in keys), bytes(map(bool, owners))
        return cls(corpus, [labelled.get(one) for one in units], keys, owners, headed, describing)


class DocumentNames:
    """The names of a document, text by text.

    Args:
        known: As kept, or as just worked out.
        again: Works them out, should what was kept be damaged.

    Cost: what is kept is read each time it is asked, 20 µs for a chapter; who needs it again remembers it.
    """

    __slots__ = ("_again", "_known")

    def __init__(self, known: bytes | DocumentPart, again: Callable[[], DocumentPart]) -> None:
        self._known: bytes | list[tuple[Named, ...]]
        self._known = known if isinstance(known, bytes) else [text.names for text in known.texts]
        self._again = again

    def all(self) -> list[tuple[Named, ...]]:
        """Of every text."""
        if isinstance(self._known, bytes):
            try:
                return names_in(self._known)
            except ValueError:
                self._known = [text.names for text in self._again().texts]
        return self._known

    def of(self, position: int) -> Sequence[Named]:
        """Of one text."""
        return self.all()[position]


_LAST = 1 << 30  # after every chapter
_FEW = 20  # documents whose rows are read one by one
_NUMBERS = ("chapter numbers", "", None)


@dataclass(slots=True)
class File:
    """A document as it was taken in, and the keys of its texts and sections."""

    document: Document
    names: DocumentNames
    keys: list[int] = field(default_factory=list)

    def key(self, section: str) -> int:
        """A number that depends on nothing but path and section, so that ties fall the same way after any edit."""
        name = f"{self.document.path}\0{section}\0{len(self.keys)}"
        self.keys.append(int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest()))
        return self.keys[-1]


class CorpusTables:
    """Texts, sections, outline and their indexes, made for one codex; not thread safe. Get them from a `Corpus`.

    Attributes:
        texts: Key to text.
        sections: Key to section; keys of texts and sections never meet.
        outline: Key of a text to the lines about it; `told` has the entities of those lines and of its title.
        memo: What others have worked out from all this; empty again after every change.
        sections_memo: What they have worked out from sections and codex alone; empty again after a change of those.
        paragraphs: Every paragraph as the core ranks it.
    """

    bounds = EVERYTHING
    """What of the project they show; see `armarius.search.corpus`."""

    def __init__(self) -> None:
        self.codex = Codex()
        self.entities: dict[str, Entity] = {}
        self.matcher = EntityMatcher([])
        self.texts: dict[int, Text] = {}
        self.sections: dict[int, Section] = {}
        self.outline: dict[int, list[OutlineLine]] = {}
        self.told: dict[int, frozenset[str]] = {}
        self.paragraphs = Paragraphs()
        self.memo: dict[tuple[str, str, int | None], Any] = {}
        self.sections_memo: dict[Any, Any] = {}
        self._kept: KeptParts | None = None
        self._files: dict[str, File] = {}
        self._places: dict[int, tuple[int, str, int]] = {}
        self._outline_stale = True
        self._by_chapter: dict[int, list[int]] | None = None
        self._described: dict[str, list[int]] | None = None
        self._numbered: Numbered | None = None

    @classmethod
    def of(
        cls,
        documents: Iterable[Document],
        codex: Codex,
        matcher: EntityMatcher | None = None,
        kept: KeptParts | None = None,
    ) -> "CorpusTables":
        """The tables of a whole project.

        Args:
            documents: All of it.
            codex: Its entities are looked for.
            matcher: Finds them; one of the names alone when not given.
            kept: Where documents may have been worked out before, with the same names.

        Cost: what is kept is read; of what is not, one pass over the text, about .1 s per million Chinese characters.
        """
        tables = cls()
        tables._adopt(codex, matcher, kept)
        tables.update(list(documents))
        return tables

    def _adopt(self, codex: Codex, matcher: EntityMatcher | None, kept: KeptParts | None) -> None:
        self.codex = codex
        self.entities = {entity.id: entity for entity in codex.entities}
        self.matcher = EntityMatcher.from_valid(codex.entities)[0] if matcher is None else matcher
        self._kept = kept

    @property
    def whole(self) -> "CorpusTables":
        """The same without bounds."""
        return self

    @property
    def names(self) -> str | None:
        """Digest of the names that were looked for; None where nobody knows it."""
        return None if self._kept is None else self._kept.names

    def adopt(self, codex: Codex, matcher: EntityMatcher, kept: KeptParts) -> None:
        """Another codex with the same names: what is said of them changes, not where they stand.

        Cost: the sections are read again.
        """
        self._adopt(codex, matcher, kept)
        for file in self._files.values():
            if file.document.kind == "setting":
                self._drop_texts(file)
                self._add_sections(file)
        self._changed()

    def update(self, documents: Sequence[Document]) -> None:
        """Take in new or changed documents."""
        for path in [document.path for document in documents]:
            self.remove(path)
        known = self._read(documents)
        missing = [document for document in documents if document.path not in known]
        worked = {
            document.path: part
            for document, part in zip(missing, parts_of(missing, self.matcher) if missing else (), strict=True)
        }
        for path, part in worked.items():
            self.paragraphs.update(path, part.part)
        for document in documents:
            one = known.get(document.path) or worked[document.path]
            names = DocumentNames(one.names if isinstance(one, Kept) else one, partial(self._worked_out, document))
            file = self._files[document.path] = File(document, names)
            if document.kind == "setting":
                self._add_sections(file)
            elif document.kind != "outline":
                self._add_texts(file, one.texts)
        self._changed()

    def _read(self, documents: Sequence[Document]) -> dict[str, Kept]:
        """What is kept of documents, as far as it is sound; their parts are in the corpus."""
        if self._kept is None or not documents:
            return {}
        rows = self._kept.read(None if len(documents) > _FEW else [document.path for document in documents])
        found = {one.path: kept for one in documents if (kept := self._kept.of(one, rows.get(one.path))) is not None}
        by_path = {document.path: document for document in documents}
        parts = [(path, by_path[path].paragraph_count, one.data, one.part) for path, one in found.items()]
        self.paragraphs.open(parts, lambda path: self._worked_out(by_path[path]).part)
        return found

    def _worked_out(self, document: Document) -> DocumentPart:
        return parts_of([document], self.matcher)[0]

    def remove(self, path: str) -> None:
        """Forget a document; unknown paths are no error."""
        file = self._files.pop(path, None)
        if file is None:
            return
        self.paragraphs.remove(path)
        self._drop_texts(file)
        self._changed()

    def _drop_texts(self, file: File) -> None:
        for key in file.keys:
            self._places.pop(key, None)
            self.texts.pop(key, None)
            if self.sections.pop(key, None) is not None:
                self.sections_memo.clear()
        file.keys.clear()

    def _changed(self) -> None:
        self._outline_stale = True
        self._by_chapter = self._described = self._numbered = None
        self.memo.clear()

    def _add_texts(self, file: File, texts: Sequence[TextPart]) -> None:
        document = file.document
        for position, one in enumerate(texts):
            key, read = file.key(one.section), partial(file.names.of, position)
            title = one.section or document.title
            self.texts[key] = Text(key, document.path, one.section, title, one.number, one.start, one.end, read)

    def _add_sections(self, file: File) -> None:
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
            self.sections[key] = Section(key, document.path, section, start, end, text, described)
        self.sections_memo.clear()

    def place(self, key: int) -> tuple[int, str, int]:
        """Where a text or section stands in the order of the book: (chapter or last, path, first code point)."""
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = self._place(key)
        return place

    def _place(self, key: int) -> tuple[int, str, int]:
        text = self.texts.get(key)
        if text is None:
            section = self.sections[key]
            return (_LAST, section.path, section.start)
        return (_LAST if text.number is None else text.number, text.path, text.start)

    def document(self, path: str) -> Document | None:
        """The document at `path` as it was taken in."""
        file = self._files.get(path)
        return None if file is None else file.document

    def kind_of(self, key: int) -> str:
        """The kind of the document that a text is of."""
        return self._files[self.texts[key].path].document.kind

    def paragraph_at(self, path: str, start: int) -> int | None:
        """Position of the paragraph of a document that a code point lies in."""
        document = self.document(path)
        if document is None:
            return None
        at = bisect_right(document.paragraphs, start, key=lambda one: one.start) - 1
        return at if at >= 0 and start < document.paragraphs[at].end else None

    def text_at(self, path: str, start: int) -> Text | None:
        """The text of a document that a code point lies in."""
        return next((one for one in self.texts_of(path) if one.start <= start < one.end), None)

    def numbered(self, corpus: CoreCorpus) -> Numbered:
        """The text and the section that the core calls by each number of its units.

        Cost: one look-up per unit after a change; then none.
        """
        if self._numbered is None or self._numbered.corpus is not corpus:
            self._numbered = Numbered.of(corpus, self.texts, self.sections)
        return self._numbered

    def texts_of(self, path: str) -> list[Text]:
        """The texts of a document, by key."""
        file = self._files.get(path)
        return [] if file is None else [self.texts[key] for key in sorted(file.keys) if key in self.texts]

    @property
    def paths(self) -> tuple[str, ...]:
        """Every document taken in, sorted."""
        return tuple(sorted(self._files))

    @property
    def by_chapter(self) -> dict[int, list[int]]:
        """Chapter number to the keys of its texts (several when volumes count from one), ascending."""
        if self._by_chapter is None:
            found: dict[int, list[int]] = {}
            for text in sorted(self.texts.values(), key=lambda text: self.place(text.key)):
                if text.number is not None:
                    found.setdefault(text.number, []).append(text.key)
            self._by_chapter = found
        return self._by_chapter

    @property
    def chapter_numbers(self) -> tuple[int, ...]:
        """The chapter numbers of the project, ascending."""
        numbers: tuple[int, ...] | None = self.memo.get(_NUMBERS)
        if numbers is None:
            numbers = self.memo[_NUMBERS] = tuple(self.by_chapter)
        return numbers

    @property
    def described(self) -> dict[str, list[int]]:
        """Entity id to the keys of the sections that describe it."""
        if self._described is None:
            found: dict[str, list[int]] = {}
            for section in sorted(self.sections.values(), key=lambda section: (section.path, section.start)):
                for entity_id in section.entities:
                    found.setdefault(entity_id, []).append(section.key)
            self._described = found
        return self._described

    def refresh_outline(self) -> None:
        """Bring `outline` and `told` up to date; called before they are read, cheap when nothing changed."""
        if not self._outline_stale:
            return
        outlines = [file.document for file in self._files.values() if file.document.kind == "outline"]
        self.outline = lines_by_text(outlines, self.by_chapter)
        self.told = {}
        for one in self.texts.values():
            if one.number is None:
                continue
            summary = " ".join([one.title, *(line.text for line in self.outline.get(one.key, ()))])
            self.told[one.key] = frozenset(mention.entity_id for mention in self.matcher.find_all(summary))
        self._outline_stale = False

"""One document in the form that search uses: units, texts with the names in them, its part of the core's corpus.

Computed from the document and a matcher alone, so that a store can keep it as a derived row until one of the two
changes. Files are cut into chapters, entries of settings and lines of the outline.

The row is read when the corpus is first used. Three pieces: texts as JSON, names as JSON, the part of the corpus as the
core writes it. A row of another text, other names or another form is computed again.

`Paragraphs` is the corpus of a project, `StoreCorpus` of a store. `by_words` ranks by BM25 on the paragraph alone, for
`search`; a question also scores what stands around a paragraph.
"""

import json
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import starmap
from operator import itemgetter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

from armarius._core import Corpus, CorpusGroup, CorpusPart, CorpusQuery, CorpusScores, CorpusWeights
from armarius.documents.document import Document
from armarius.documents.kinds import STORY_KINDS
from armarius.documents.segments import Paragraph
from armarius.store.protocol import DerivedCache, DerivedRow, Store, join_pieces, split_pieces

if TYPE_CHECKING:
    from armarius.text.matcher import EntityMatcher


_APART = ("setting", "outline")  # each entry, or line, is ranked by itself
_ROW = struct.Struct("<IIII")  # text, index of the entity, start, end
_ENTITY: Final = itemgetter(0)
NameHit = tuple[str, str, int]
"""Entity, the name as written, where it begins in its paragraph."""


@dataclass(frozen=True, slots=True)
class NamedEntities:
    """A name as it is written in a text.

    Attributes:
        entity: Its id.
        term: The alias as written.
        count: How often.
        start: First code point of the first of them, in the document.
    """

    entity: str
    term: str
    count: int
    start: int


@dataclass(frozen=True, slots=True)
class TextPart:
    """A chapter of a document, or the whole of one that has none.

    Attributes:
        number: Chapter number, None for a note.
        section: The heading that names it in a file of several chapters, else "".
        start: First code point in the document.
        end: One past the last.
        names: By where each first stands, then by length and entity.
    """

    number: int | None
    section: str
    start: int
    end: int
    names: tuple[NamedEntities, ...]


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """A document as retrieval takes it.

    Attributes:
        part: For the corpus.
        texts: Of a chapter, a note, a source file; none of settings and outlines.
    """

    part: CorpusPart
    texts: tuple[TextPart, ...]


def part_of(document: Document, matcher: "EntityMatcher") -> DocumentPart:
    """One document. Cost: one pass over its text, and one search for names."""
    return parts_of([document], matcher)[0]


def parts_of(documents: Sequence[Document], matcher: "EntityMatcher") -> list[DocumentPart]:
    """Several documents, in one search for names."""
    return [_part(document, hits) for document, hits in zip(documents, names_met(documents, matcher), strict=True)]


def names_met(documents: Sequence[Document], matcher: "EntityMatcher") -> list[list[list[NameHit]]]:
    """The names in each paragraph of each document, in one search on all cores."""
    texts = [document.text[block.start : block.end] for document in documents for block in document.paragraphs]
    mentions = iter(_find_names(texts, matcher))
    return [[next(mentions) for _ in document.paragraphs] for document in documents]


def parts_of_lines(lines: Mapping[str, Sequence[str]], matcher: "EntityMatcher") -> dict[str, CorpusPart]:
    """Sentences that are no document, to be ranked by themselves; each is a paragraph. By the names given."""
    mentions = iter(_find_names([line for own in lines.values() for line in own], matcher))
    parts = {}
    for name, own in lines.items():
        spans, at = list[tuple[int, int, str]](), 0
        for line in own:
            spans.append((at, at + len(line), "body"))
            at += len(line) + 1
        part = CorpusPart(name, "note", "\n".join(own), spans, [("", None, 0)] if own else [])
        parts[name] = _add_names(part, [next(mentions) for _ in own])
    return parts


def _find_names(texts: Sequence[str], matcher: "EntityMatcher") -> list[list[NameHit]]:
    """The names in each of `texts`."""
    met: list[list[NameHit]] = [[] for _ in texts]
    ids = matcher.entity_ids
    for at, entity, start, end in _ROW.iter_unpack(matcher.find_packed(texts)):
        met[at].append((ids[entity], texts[at][start:end], start))
    return met


def _part(document: Document, mentions: Sequence[Sequence[NameHit]]) -> DocumentPart:
    spans: list[tuple[int, int, str]] = [(block.start, block.end, block.role) for block in document.paragraphs]
    part = CorpusPart(
        document.path, document.kind, document.text, spans, list(_units(document)), list(_symbols(document))
    )
    part = _add_names(part, mentions)
    texts: list[TextPart] = []
    if document.kind not in _APART:
        for number, section, paragraphs in chapters_of(document):
            span = (paragraphs[0].start, paragraphs[-1].end) if paragraphs else (0, 0)
            texts.append(TextPart(number, section, *span, _names(paragraphs, mentions)))
    return DocumentPart(part, tuple(texts))


def _add_names(part: CorpusPart, mentions: Sequence[Sequence[NameHit]]) -> CorpusPart:
    rows: list[tuple[int, str, int]] = []
    for index, hits in enumerate(mentions):
        for entity, count in sorted(Counter(map(_ENTITY, hits)).items()):
            rows.append((index, entity, count))
    return part.with_entities(rows) if rows else part


def _names(paragraphs: Sequence[Paragraph], mentions: Sequence[Sequence[NameHit]]) -> tuple[NamedEntities, ...]:
    names: dict[tuple[str, str], list[int]] = {}  # how often, and where first
    for paragraph in paragraphs:
        for entity, term, start in mentions[paragraph.index]:
            entry = names.get((entity, term))
            if entry is None:
                names[entity, term] = [1, paragraph.start + start]
            else:
                entry[0] += 1
    return tuple([NamedEntities(*about, count, first) for about, (count, first) in names.items()])


def _units(document: Document) -> Iterator[tuple[str, int | None, int]]:
    """(label, chapter, first paragraph) of the stretches that are ranked as one."""
    paragraphs = document.paragraphs
    if not paragraphs:
        return
    if document.kind == "outline":
        yield from ((str(block.index), block.chapter, block.index) for block in paragraphs)
        return
    starts: dict[int, tuple[str, int | None]] = {0: ("", document.chapter)}
    if document.kind == "setting":
        before = None
        for block in paragraphs:
            title = block.heading_path[-1] if block.heading_path else ""
            if title != before:
                starts[block.index] = (title, document.chapter)
                before = title
    else:
        for number, section, inside in chapters_of(document):
            if inside:
                starts[inside[0].index] = (section, number)
    first = min(starts.keys() - {0}, default=None)
    # A title above the first chapter of its file belongs to it.
    if first is not None and document.kind != "setting" and all(block.role != "body" for block in paragraphs[:first]):
        starts[0] = starts.pop(first)
    seen: Counter[str] = Counter()
    for index, (label, chapter) in sorted(starts.items()):
        seen[label] += 1
        yield (label if seen[label] == 1 else f"{label} ({seen[label]})", chapter, index)


@dataclass(frozen=True, slots=True)
class CorpusSection:
    """One entry of a settings file: `document[start:end]`; `entities` are those it describes."""

    key: int
    path: str
    section: str
    start: int
    end: int
    text: str
    entities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OutlineLine:
    """What the outline says about a chapter."""

    path: str
    start: int
    end: int
    text: str


def chapters_of(document: Document) -> Iterator[tuple[int | None, str, list[Paragraph]]]:
    """The chapters of a file: (number, heading when the file holds several, body paragraphs)."""
    if document.chapter is not None or document.kind not in STORY_KINDS:
        yield document.chapter, "", [p for p in document.paragraphs if p.role == "body"]
        return
    groups: dict[tuple[int | None, str], list[Paragraph]] = {}
    heading = ""
    for paragraph in document.paragraphs:
        if paragraph.role == "heading":
            heading = paragraph.heading_path[-1]
        elif paragraph.role == "body":
            groups.setdefault((paragraph.chapter, heading if paragraph.chapter is not None else ""), []).append(
                paragraph
            )
    by_number: dict[int | None, tuple[str, list[Paragraph]]] = {}
    for (number, title), paragraphs in groups.items():
        by_number.setdefault(number, (title, []))[1].extend(paragraphs)
    for number, (title, paragraphs) in by_number.items():
        yield number, title, paragraphs


def entries_of(document: Document, owners: dict[str, list[str]]) -> Iterator[tuple[str, list[Paragraph]]]:
    """The entries of a settings file: under the heading of an entity, else under the innermost heading."""
    groups: dict[str, list[Paragraph]] = {}
    for paragraph in document.paragraphs:
        if paragraph.role == "front_matter":
            continue
        owned = [title for title in paragraph.heading_path if title in owners]
        name = owned[-1] if owned else "" if "" in owners else next(iter(paragraph.heading_path[1:][-1:]), "")
        groups.setdefault(name, []).append(paragraph)
    for name, paragraphs in groups.items():
        if any(paragraph.role == "body" for paragraph in paragraphs):
            yield name, paragraphs


def lines_by_text(
    outlines: Iterable[Document], by_chapter: Mapping[int, Sequence[int]]
) -> dict[int, list[OutlineLine]]:
    """Key of a text to the outline's lines about its chapter."""
    lines: dict[int, list[OutlineLine]] = {}
    for outline in outlines:
        for paragraph in outline.paragraphs:
            if paragraph.role != "front_matter" and paragraph.chapter is not None:
                text = outline.text[paragraph.start : paragraph.end]
                line = OutlineLine(outline.path, paragraph.start, paragraph.end, text)
                for key in by_chapter.get(paragraph.chapter, ()):
                    lines.setdefault(key, []).append(line)
    return lines


_NO_NAME = frozenset({"__init__", "__main__", "index", "main", "mod", "lib"})


def _symbols(document: Document) -> Iterator[tuple[int, str, str]]:
    """(paragraph, the words of its headings, the name that it defines or ""); of code its file and the definitions.

    Words of headings count for the paragraphs below them, except those of a chapter's own title, which says little
    about each of its paragraphs. A definition of several pieces is defined in the first; one that is written twice (an
    overload and what it stands for) in both. Cost: linear in the paragraphs.
    """
    if document.kind != "code":
        for block in document.paragraphs:
            if block.role == "body":
                above = (
                    block.heading_path[1:] if document.kind == "chapter" else block.heading_path or (document.title,)
                )
                if above:
                    yield block.index, " ".join(above), ""
        return
    path = PurePosixPath(document.path)
    stem = path.stem.partition(".")[0]
    file = path.parent.name if stem in _NO_NAME else stem
    seen: set[tuple[str, ...]] = set()
    for block in document.paragraphs:
        own = ""
        if block.heading_path:
            name = block.heading_path[-1]
            first = block.heading_path not in seen
            seen.add(block.heading_path)
            own = name if first or f"def {name}(" in document.text[block.start : block.end] else ""
        yield block.index, " ".join((file, *block.heading_path)), own


KIND: Final = "corpus"
_CORE = int.from_bytes(CorpusPart("", "note", "", [], []).to_bytes()[4:6], "little")
FORM: Final = f"6.{_CORE}"
"""Raise the first number when what is worked out from a document changes; the second is that of the core's part."""


@dataclass(frozen=True, slots=True)
class StoredPart:
    """A row, read as far as it is needed at once.

    Attributes:
        texts: Without their names.
        names: For `names_in`.
        data: The whole row; the part begins at `part`, for `Corpus.recover`.
    """

    texts: tuple[TextPart, ...]
    names: bytes
    data: bytes
    part: int


@dataclass(frozen=True, slots=True)
class StoredParts:
    """Where rows can be read, and for which names.

    Attributes:
        names: Digest of the names that were looked for.
        read: Rows of these paths, None for all; those that are not there are left out.
    """

    names: str
    read: Callable[[Sequence[str] | None], Mapping[str, DerivedRow]]

    def of(self, document: Document, row: DerivedRow | None) -> StoredPart | None:
        """What a row says of a document, None when it is about another one or damaged."""
        return PARTS.value(row, fingerprint(self.names, document.content_hash))


def fingerprint(names: str, content_hash: str) -> str:
    """What a row rests on."""
    return f"{names} {content_hash}"


def part_row(document: Document, hits: Sequence[Sequence[NameHit]], names: str) -> DerivedRow:
    """The row of a document, with the names in its paragraphs; `names` is the digest of all names."""
    return PARTS.row(document.path, fingerprint(names, document.content_hash), _part(document, hits))


def pack(part: DocumentPart) -> bytes:
    """The data of a row."""
    texts = [(text.number, text.section, text.start, text.end) for text in part.texts]
    names = [[(name.entity, name.term, name.count, name.start) for name in text.names] for text in part.texts]
    return join_pieces(_json(texts), _json(names), part.part.to_bytes())


def unpack(data: bytes) -> StoredPart:
    """What `pack` gave; names and part are not read yet.

    Raises:
        ValueError: The bytes are something else.
    """
    try:
        head, names, part = split_pieces(data, 3)
        rows: list[tuple[int | None, str, int, int]] = json.loads(head)
        texts = tuple(TextPart(number, section, start, end, ()) for number, section, start, end in rows)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"no part of a document: {error}") from error
    return StoredPart(texts, names, data, len(data) - len(part))


def names_in(names: bytes) -> list[tuple[NamedEntities, ...]]:
    """The names of each text.

    Raises:
        ValueError: The bytes are something else.
    """
    try:
        return [tuple(starmap(NamedEntities, rows)) for rows in json.loads(names)]
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"no names of a document: {error}") from error


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


PARTS: Final = DerivedCache(KIND, FORM, pack, unpack)


_FEW = 8  # parts that are read at once
KeptBytes = tuple[str, int, bytes, int]
"""Path, number of paragraphs, bytes, where the part begins in them."""


class Paragraphs:
    """The parts of a project, and the corpus of them; not thread safe while it changes."""

    def __init__(self) -> None:
        self._corpus = Corpus([])
        self._changed: dict[str, CorpusPart] = {}
        self._removed: set[str] = set()
        self._opening: tuple[Future[tuple[Corpus, dict[str, str]]], Callable[[str], CorpusPart]] | None = None

    def open(self, parts: Sequence[KeptBytes], anew: Callable[[str], CorpusPart]) -> None:
        """Take in what a store kept of documents that are new or changed.

        A whole project is read by a thread of its own while the question is being understood; `corpus` waits for it.

        Args:
            parts: Their bytes.
            anew: Makes the part of a document anew when its bytes are damaged.

        Cost: a check of every byte, and one merge; both on all cores.
        """
        self._finish()
        if len(parts) > _FEW and not len(self._corpus) and not self._changed:
            reader = ThreadPoolExecutor(1, "armarius-corpus")
            self._opening = reader.submit(_recover_corpus, parts), anew
            reader.shutdown(wait=False)
            return
        for path, paragraphs, data, begin in parts:
            try:
                self.update(path, _read(path, paragraphs, data[begin:]))
            except ValueError as error:
                self.update(path, _repair(path, str(error), anew))

    def update(self, path: str, part: CorpusPart) -> None:
        """Take in a new or changed document."""
        self._changed[path] = part
        self._removed.discard(path)

    def remove(self, path: str) -> None:
        """Forget a document; unknown paths are no error."""
        self._changed.pop(path, None)
        self._removed.add(path)

    def fork(self) -> "Paragraphs":
        """The same, to be changed by itself."""
        other = Paragraphs()
        other._corpus = self.corpus
        return other

    @property
    def corpus(self) -> Corpus:
        """The corpus of this moment. Cost: a few milliseconds after a change."""
        self._finish()
        if self._changed or self._removed:
            removed = sorted(self._removed & set(self._corpus.paths)) if self._removed else []
            self._corpus = self._corpus.with_parts(list(self._changed.values()), removed)
            self._changed, self._removed = {}, set()
        return self._corpus

    def _finish(self) -> None:
        """Take in what was read; a caller that is interrupted while waiting leaves it to the next."""
        if self._opening is not None:
            reading, anew = self._opening
            self._corpus, damaged = reading.result()
            mended = {path: _repair(path, why, anew) for path, why in damaged.items() if path not in self._removed}
            self._changed, self._opening = mended | self._changed, None


def _recover_corpus(parts: Sequence[KeptBytes]) -> tuple[Corpus, dict[str, str]]:
    """The corpus of what can be read, and of the other paths why they cannot."""
    try:
        return Corpus.recover(list(parts))
    except Exception as error:  # noqa: BLE001 - all of it can be made anew
        return Corpus([]), dict.fromkeys((path for path, *_ in parts), f"{type(error).__name__}: {error}")


def _read(path: str, paragraphs: int, data: bytes) -> CorpusPart:
    part = CorpusPart.from_bytes(data)
    if (part.path, len(part)) != (path, paragraphs):
        raise ValueError(f"corpus part is damaged: of another document, {part.path} of {len(part)} paragraphs")
    return part


def _repair(path: str, why: str, anew: Callable[[str], CorpusPart]) -> CorpusPart:
    import logging  # as good as never, and a search from the command line is quick

    logging.getLogger("armarius").warning("%s: %s; it is worked out again", path, why)
    return anew(path)


class StoreCorpus:
    """The full-text corpus of a store, without codex: brought to the generation that is asked. Threads may share it.

    It equals the corpus of retrieval in everything that words are ranked by; which names stand in its paragraphs is as
    old as the rows that were kept.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._paragraphs = Paragraphs()
        self._seen: tuple[Store, int] | None = None
        self._texts: dict[str, str] = {}

    def at(self, store: Store) -> Corpus:
        """The corpus of what `store` holds now.

        Raises:
            StoreError: The store cannot be read.

        Cost: nothing while nothing has changed; of what has, the kept rows are read and merged, all of a novel of
        900,000 characters in about 25 ms; what is not kept is worked out of the text.
        """
        with self._lock:
            now = store.generation()
            if self._seen is None or self._seen[0] is not store or self._seen[1] != now:
                self._seen = (store, self._apply_changes(store, now))
            return self._paragraphs.corpus

    def _apply_changes(self, store: Store, now: int) -> int:
        """Take in what differs; of which generation that is."""
        if self._seen is not None and self._seen[0] is store:
            changed = store.changed(self._seen[1])
            if not changed.whole:
                rows = [_Row(doc.path, doc.content_hash, doc.paragraph_count) for doc in changed.documents]
                self._index_rows(store, rows, changed.removed)
                return changed.generation
        rows = [_Row(row.path, row.content_hash, row.paragraphs) for row in store.documents()]
        self._index_rows(store, rows, self._texts.keys() - {row.path for row in rows})
        return now

    def _index_rows(self, store: Store, rows: "Sequence[_Row]", gone: Iterable[str]) -> None:
        for path in sorted(gone):
            if self._texts.pop(path, None) is not None:
                self._paragraphs.remove(path)
        changed = [row for row in rows if self._texts.get(row.path) != row.content_hash]
        kept = _kept_parts(store, changed)
        self._paragraphs.open(kept, lambda path: _computed_parts(store, [path])[path])
        missing = {row.path for row in changed} - {path for path, *_ in kept}
        for path, part in _computed_parts(store, sorted(missing)).items():
            self._paragraphs.update(path, part)
        self._texts.update((row.path, row.content_hash) for row in changed)


class _Row(NamedTuple):
    """A document, as far as its part is known by it."""

    path: str
    content_hash: str
    paragraphs: int


def _kept_parts(store: Store, rows: Sequence[_Row]) -> list[KeptBytes]:
    """What is kept of documents, as far as it is about their texts, whichever names were looked for."""
    values = PARTS.load(store, {row.path: row.content_hash for row in rows}, or_others=True)
    return [(row.path, row.paragraphs, value.data, value.part) for row in rows if (value := values.get(row.path))]


def _computed_parts(store: Store, paths: list[str]) -> dict[str, CorpusPart]:
    if not paths:
        return {}
    from armarius.text.matcher import EntityMatcher  # a process that only searches has everything kept

    documents = store.documents_of(paths)
    return {doc.path: part.part for doc, part in zip(documents, parts_of(documents, EntityMatcher([])), strict=True)}


PARAGRAPH_K1: Final = 2.0
"""How soon more occurrences in a paragraph stop counting; chosen with the weights of questions."""
PARAGRAPH_B: Final = 0.75
"""How much long paragraphs are held back."""

_WORDS = "words"


def by_words(corpus: Corpus, words: Sequence[str]) -> CorpusScores:
    """The paragraphs of a project for `words`, each of which may be several terms that stand together.

    Cost: the postings of their terms.
    """
    groups = [CorpusGroup(_WORDS, [(word, 1.0)]) for word in words]
    return corpus.score(CorpusQuery(_weights(), groups))


@cache
def _weights() -> CorpusWeights:
    """The paragraph's own words and nothing else: a heading that holds them is as good as a sentence."""
    families = [(_WORDS, 1.0, (PARAGRAPH_B,) * 4)]
    return CorpusWeights(families, k1=(PARAGRAPH_K1,) * 4, paragraph=1.0, d=1.0, heading=1.0)

"""Read files as documents; the language of a project.

Nothing outside the project is read: links are not followed at any level, and only regular files are opened.
A file that looks like a document and cannot be read is returned as `Skipped` with its reason.
"""

import hashlib
import os
import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import armarius._core as _core
import armarius.doors as doors
from armarius.documents.classify import (
    CODE_SUFFIXES,
    DATA_SUFFIXES,
    HIDDEN,
    MANUSCRIPTS,
    MARKUP_SUFFIXES,
    NOT_READ,
    PROSE_SUFFIXES,
    Kind,
    classify,
    is_hidden,
    number_of,
    opened_patterns,
    refused_name,
    refused_text,
)
from armarius.documents.data import DATA_LIMIT, is_tool_file, read_data, unescape_json
from armarius.documents.decode import Undecodable, decode
from armarius.documents.features import Features
from armarius.documents.kinds import STORY_KINDS
from armarius.documents.segments import Marks, Paragraph, parts_of, split_code, split_prose
from armarius.documents.titles import FrontMatter, read_front_matter
from armarius.documents.units import is_supplement
from armarius.errors import DocumentSkipped, UnknownDocument
from armarius.headings import DEFAULT_LANGUAGE, Language, ResultList
from armarius.io import TooLarge, read_files
from armarius.trust.settings import CONFIG_NAME, Config, load_config

_READ_BY_SUFFIX = PROSE_SUFFIXES | MANUSCRIPTS | NOT_READ.keys()
_KNOWN = _READ_BY_SUFFIX | DATA_SUFFIXES | CODE_SUFFIXES
_PROJECT_FOLDER = ".scriv/"
_CUT = frozenset({"cut", "deleted", "删去", "废弃"})


class NotInStory(Undecodable):
    """The `status` of the front matter excludes the file from the story."""


@dataclass(frozen=True, slots=True, repr=False)
class Document:
    """A file of the project as text.

    Attributes:
        path: Posix, relative to the project; the document's id.
        title: Front matter, else the first heading, else the file name without suffix.
        chapter: Number of a chapter; None for other kinds and for a file that holds several chapters.
        text: Decoded; line ends as in the file, byte order mark removed. Offsets are code points into it.
        paragraphs: In order, not overlapping; white space between them belongs to none.
        encoding: What the bytes were decoded as; of a manuscript its suffix, and `text` is what was extracted.
        content_hash: BLAKE2b-128 of the bytes, hexadecimal.
        past: Whether it belongs to an earlier book of a series, before all chapters of the project.
        features: The evidence for its kind, of a document that was just read; else None.
    """

    path: str
    kind: Kind
    title: str
    chapter: int | None
    text: str
    paragraphs: tuple[Paragraph, ...]
    front_matter: FrontMatter
    encoding: str
    content_hash: str
    past: bool = False
    features: Features | None = field(default=None, compare=False)
    _unread: "Unread | None" = field(default=None, init=False, compare=False)
    _line_ends: "array[int] | None" = field(default=None, init=False, compare=False)

    @classmethod
    def unread(cls, unread: "Unread", **fields: object) -> "Document":
        """A document that unpacks its text and paragraphs at first use: most are never shown.

        Args:
            unread: Text and paragraphs, packed.
            **fields: The fields before `past`, but these two.
        """
        document = object.__new__(cls)
        for name, value in {"past": False, "features": None, "_unread": unread, "_line_ends": None, **fields}.items():
            object.__setattr__(document, name, value)
        return document

    if not TYPE_CHECKING:  # a type checker must know only the fields

        def __getattr__(self, name: str) -> object:
            """Unpack text and paragraphs; two threads may do so at once, with equal results."""
            if name not in ("text", "paragraphs"):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
            unread = self._unread
            if unread is None:  # unpacked by another thread
                return object.__getattribute__(self, name)
            text, paragraphs = unread.read()
            object.__setattr__(self, "text", text)
            object.__setattr__(self, "paragraphs", paragraphs)
            object.__setattr__(self, "_unread", None)
            return text if name == "text" else paragraphs

    def in_the_past(self) -> "Document":
        """The same document marked as `past`; unpacks nothing."""
        unread = self._unread
        if unread is None:
            return replace(self, past=True)
        named = ("path", "kind", "title", "chapter", "front_matter", "encoding", "content_hash")
        return Document.unread(unread, **{name: getattr(self, name) for name in named}, past=True)

    def line_at(self, offset: int) -> int:
        """The line that a code point stands in, from 1. Cost: a pass over the text at first use, then a search."""
        ends = self._line_ends
        if ends is None:
            ends = array("L", (match.start() for match in re.finditer("\n", self.text)))
            object.__setattr__(self, "_line_ends", ends)
        return bisect_left(ends, offset) + 1

    def lines(self, first: int, last: int) -> str:
        """The text of these lines, both inclusive, from 1; "" where there are none."""
        return "\n".join(self.text.split("\n")[max(first, 1) - 1 : last])

    @property
    def paragraph_count(self) -> int:
        """The number of paragraphs; unpacks nothing."""
        unread = self._unread
        return len(self.paragraphs) if unread is None else unread.paragraphs

    def __repr__(self) -> str:
        number = "" if self.chapter is None else f" {self.chapter}"
        return f"Document({self.path}: {self.kind}{number}, {len(self.text):,} code points)"


class Unread(Protocol):
    """The packed text of a document, validated and consistent with its other fields."""

    @property
    def paragraphs(self) -> int:
        """The number of paragraphs."""

    def read(self) -> tuple[str, tuple[Paragraph, ...]]:
        """Text and paragraphs."""


class Documents(ResultList[Document]):
    """Documents, by path."""

    noun = ("document", "documents")
    columns = ("path", "kind", "chapter", "title", "code points")

    @classmethod
    def brief(cls, document: Document, /) -> str:
        """The path."""
        return document.path

    @classmethod
    def cells(cls, document: Document, /) -> tuple[str, ...]:
        """Never the text."""
        chapter = "" if document.chapter is None else str(document.chapter)
        return document.path, document.kind, chapter, document.title, f"{len(document.text):,}"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that looks like a document and could not be read as one."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class FileStamp:
    """File metadata; `stamp` differs after any change, `changed_ns` is its time."""

    path: str
    size: int
    stamp: str
    changed_ns: int


@dataclass(frozen=True, slots=True)
class FolderListing:
    """The documents of a project in path order, and the skipped files."""

    documents: tuple[Document, ...]
    skipped: tuple[Skipped, ...]


def list_documents(root: Path, config: Config | None = None) -> FolderListing:
    """Read every document below `root`.

    Raises:
        ConfigError: `armarius.toml` is wrong (only when `config` is not given).

    Cost: reads every file; 120 chapters of 2.6 MB in about 0.1 s.
    """
    config = load_config(root) if config is None else config
    stamps, refused = walk_files(root, config)
    documents: list[Document] = []
    skipped = list(refused)
    for stamp in stamps:
        for result in read_documents(root, [stamp.path], config=config):
            if isinstance(result, Document):
                documents.append(result)
            elif isinstance(result, Skipped):
                skipped.append(result)
    return FolderListing(tuple(documents), tuple(sorted(skipped, key=lambda item: item.path)))


def walk_files(root: Path, config: Config, *, only: Iterable[str] = ()) -> tuple[list[FileStamp], list[Skipped]]:
    """Files below `root` with a suffix of documents, in path order, without opening them.

    `.gitignore`, `.ignore` and `config.exclude` are honoured, hidden files left out unless `config.kinds` names them,
    links never followed.

    Args:
        root: The project folder.
        config: Its configuration.
        only: Relative paths; when given, limits the walk to these files and folders.
    """
    return look_at(root, config, only=only)[:2]


def look_at(
    root: Path, config: Config, *, only: Iterable[str] = (), queue: _core.EventQueue | None = None
) -> tuple[list[FileStamp], list[Skipped], _core.Seen]:
    """`walk_files`, and the state that its result depends on: while it is unchanged, so is the result.

    Args:
        root: The project folder.
        config: See `walk_files`.
        only: See `walk_files`.
        queue: Receives the folders of the walk, so that their events tell whether anything changed since.
    """
    files, refused, seen = _core.walk(str(root), list(config.exclude), list(only), opened_patterns(config), queue)
    stamps: list[FileStamp] = []
    skipped: list[Skipped] = []
    projects: set[str] = set()
    for file in files:
        path = file.path.replace(os.sep, "/")
        if _PROJECT_FOLDER in path:  # a folder that one program calls a file
            projects.add(path[: path.index(_PROJECT_FOLDER) + len(_PROJECT_FOLDER) - 1])
            continue
        if unread_reason(path, file.size) is not None:
            continue
        if reason := _refusal(path, file.size, config):
            skipped.append(Skipped(_printable_path(path), reason))
        else:
            stamps.append(FileStamp(path, file.size, file.stamp, file.changed_ns))
    skipped += [Skipped(_printable_path(path), NOT_READ[".scriv"]) for path in projects]
    skipped += [
        Skipped(_printable_path(path), reason)
        for raw, reason in refused
        if reason != HIDDEN
        and (
            parts_of(path := raw.replace(os.sep, "/")).suffix.lower() in _KNOWN
            or reason not in ("symbolic link", "not a regular file")
        )
    ]
    return stamps, sorted(skipped, key=lambda item: item.path), seen


def read_document(root: Path, relative_path: str, *, config: Config | None = None) -> Document:
    """Read one document by path; only a path that `walk_files` lists.

    Args:
        root: The project folder.
        relative_path: Posix path inside it, as in a listing.
        config: For `exclude`, `kinds` and `max_bytes`; the default configuration when not given.

    Raises:
        UnknownDocument: No such file, one that is hidden or ignored, or the path leaves the project.
        DocumentSkipped: Binary, unknown encoding, too large, a link, not a regular file.

    Cost: one check of the folders above the file, and one read.
    """
    config = config or Config()
    if not is_inside(relative_path):
        raise UnknownDocument(f"not a path inside the project: {relative_path!r}")
    listed, skipped = walk_files(root, config, only=[relative_path])
    for item in skipped:
        if item.path == relative_path:
            raise DocumentSkipped(item.path, item.reason)
    if all(stamp.path != relative_path for stamp in listed):
        raise UnknownDocument(f"no such document: {relative_path!r}")
    return _make_or_skip(relative_path, _read(root, relative_path, config.max_bytes), config)


def read_documents(
    root: Path, paths: Sequence[str], *, config: Config, hashes: Mapping[str, str] | None = None
) -> list[Document | Skipped | str | None]:
    """Documents of a walk, None for files that are gone, and the content hash for those that still have it.

    Args:
        root: The project folder.
        paths: As of the walk.
        config: Its configuration.
        hashes: Content hash by path; a file that has it is not parsed.

    Cost: all of them are read before the first is parsed.
    """
    read = read_files(root, paths, limit=config.max_bytes)
    same = hashes or {}
    results: list[Document | Skipped | str | None] = []
    for path, raw in zip(paths, read, strict=True):
        try:
            data = _bytes_or_raise(path, raw, config.max_bytes)
            is_same = path in same and _hash(data) == same[path]
            results.append(same[path] if is_same else _make_or_skip(path, data, config))
        except DocumentSkipped as error:
            results.append(Skipped(error.path, error.reason))
        except UnknownDocument:
            results.append(None)
    return results


def reread_document(root: Path, document: Document, *, config: Config | None = None) -> Document:
    """`document` as its file is now; the same object when the content is unchanged.

    Raises:
        UnknownDocument: The file is gone or no longer a document.

    Cost: reads and hashes the file; parses it only when it differs.
    """
    config = config or Config()
    data = _read(root, document.path, config.max_bytes)
    if _hash(data) == document.content_hash:
        return document
    return _make_or_skip(document.path, data, config)


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _make_or_skip(path: str, data: bytes, config: Config) -> Document:
    try:
        return make_document(path, data, config=config)
    except Undecodable as error:
        raise DocumentSkipped(path, str(error)) from None


def make_document(path: str, data: bytes, *, config: Config | None = None) -> Document:
    """A document from the bytes of a file; no file system involved.

    Raises:
        Undecodable: Binary, in an unknown encoding, a manuscript above `documents.max_bytes`, or excluded by its front
            matter; the message is the reason.
    """
    config = config or Config()
    suffix = parts_of(path).suffix.lower()
    if suffix in MANUSCRIPTS:
        text, encoding = doors.extract(path, data, limit=config.max_bytes), suffix[1:]
    else:
        decoded = decode(data)
        text, encoding = decoded.text, decoded.encoding
        if suffix == ".json":
            text = unescape_json(text)
        if reason := refused_text(text, prose=suffix in PROSE_SUFFIXES):
            raise Undecodable(reason)
    document = document_of(path, text, encoding, _hash(data), config=config)
    if document.front_matter.get("status") in _CUT and suffix not in CODE_SUFFIXES:
        raise NotInStory(f"status: {document.front_matter['status']}")
    return document


def document_of(
    path: str,
    text: str,
    encoding: str,
    content_hash: str,
    *,
    config: Config,
    decided: tuple[Kind, int | None] | None = None,
) -> Document:
    """A document from a text without a byte order mark; the path selects the reader.

    Args:
        path: Project-relative.
        text: The whole of it.
        encoding: As of the document.
        content_hash: As of the document.
        config: Its rules state kinds.
        decided: Kind and chapter number; None where the file alone decides.

    Cost: one pass over the text; 0.5 ms for 20 kB of Chinese.
    """
    suffix = parts_of(path).suffix.lower()
    front_matter: FrontMatter = {}
    prose: Callable[..., list[Paragraph]] | None = None
    if suffix in MARKUP_SUFFIXES:
        from armarius.documents.markup import MARKUP

        marks = MARKUP[suffix](text)
        front_matter, prose = marks.front, partial(split_prose, text, marks.body_start, marks=marks)
    elif suffix in PROSE_SUFFIXES or suffix in MANUSCRIPTS:
        front_matter, body_start, stray = read_front_matter(text)
        prose = partial(split_prose, text, body_start, broken=bool(stray))
    if prose is not None:
        paragraphs = prose()
    elif suffix in DATA_SUFFIXES:
        front_matter, paragraphs = read_data(suffix, text)
    elif suffix in CODE_SUFFIXES:
        paragraphs = split_code(text, suffix)
    else:  # a text of a format without a reader: plain paragraphs
        prose = partial(split_prose, text, marks=Marks(text, {}, {}, 0))
        paragraphs = prose()
    features = None
    if decided is None:
        kind, features = classify(path, front_matter=front_matter, paragraphs=paragraphs, text=text, rules=config.kinds)
    else:
        kind = decided[0]
    if kind == "outline" and prose is not None:
        paragraphs = prose(outline=True)
    if decided is not None:
        chapter = decided[1]
    elif features is not None and features.kind == kind:
        chapter = features.chapter
    else:
        chapter = number_of(path, kind, front_matter, paragraphs)
    if chapter is not None or is_supplement(parts_of(path).stem):
        paragraphs = [Paragraph(p.index, p.start, p.end, p.heading_path, p.role, chapter) for p in paragraphs]
    return Document(
        path=path,
        kind=kind,
        title=_title(path, front_matter, paragraphs),
        chapter=chapter,
        text=text,
        paragraphs=tuple(paragraphs),
        front_matter=front_matter,
        encoding=encoding,
        content_hash=content_hash,
        features=features,
    )


def with_kind(document: Document, kind: Kind, chapter: int | None, *, own: bool = True) -> Document:
    """A document with the kind and number that other files make it; only an outline is split otherwise.

    Args:
        document: As read.
        kind: As decided.
        chapter: As decided.
        own: It lies in the project and not in another folder of its series, whose chapters have no number.
    """
    if document.chapter is None and "outline" not in (document.kind, kind) and own:
        paragraphs = document.paragraphs
        if chapter is not None:
            paragraphs = tuple(replace(item, chapter=chapter) for item in paragraphs)
        return replace(document, kind=kind, chapter=chapter, paragraphs=paragraphs, features=None)
    made = document_of(
        document.path, document.text, document.encoding, document.content_hash, config=Config(),
        decided=(kind, chapter),
    )  # fmt: skip
    if own:
        return made
    return replace(made, paragraphs=tuple(replace(item, chapter=None) for item in made.paragraphs), past=document.past)


def _title(path: str, front_matter: FrontMatter, paragraphs: Iterable[Paragraph]) -> str:
    named = front_matter.get("title") or front_matter.get("标题")
    if isinstance(named, str) and named:
        return named
    heading = next((p.heading_path[-1] for p in paragraphs if p.role == "heading" and p.heading_path[-1]), None)
    return heading or parts_of(path).stem


def refusal_of(path: str, size: int, config: Config) -> str | None:
    """Why a text with this path and size is no document; "" when it is one, None when it does not look like one.

    For texts that are not in a folder; a hidden path is no document, as in a folder.
    """
    if is_hidden(path, config) or _PROJECT_FOLDER in path or unread_reason(path, size) is not None:
        return None
    return _refusal(path, size, config)


def unread_reason(path: str, size: int = 0) -> str | None:
    """Why a file is no document by its name and size, "" for a binary format; None when it is one.

    Cost: called for every file at every walk; 1 µs.
    """
    name = path.rpartition("/")[2]
    stem, _, suffix = name.rpartition(".")
    suffix = f".{suffix.lower()}" if stem else ""
    if suffix in _READ_BY_SUFFIX:
        return None
    if path == CONFIG_NAME or (suffix in DATA_SUFFIXES and is_tool_file(stem)):
        return "read as configuration"
    if suffix in DATA_SUFFIXES and size > DATA_LIMIT:
        return f"data of more than {DATA_LIMIT:,} bytes"
    return refused_name(name)


def _refusal(path: str, size: int, config: Config) -> str:
    # Called for every file at every walk, like `unread_reason`.
    if not path.isascii() and _printable_path(path) != path:
        return "file name is not valid Unicode"
    if size > config.max_bytes:
        return f"too large: {size} bytes, documents.max_bytes is {config.max_bytes}"
    return NOT_READ.get(f".{path.rpartition('.')[2].lower()}", "")


def _printable_path(path: str) -> str:
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


def _read(root: Path, path: str, max_bytes: int) -> bytes:
    return _bytes_or_raise(path, read_files(root, [path], limit=max_bytes)[0], max_bytes)


def is_inside(path: str) -> bool:
    """Whether a path is one inside a project, in letters that can be written."""
    parts = parts_of(path).parts
    return not (not parts or path.startswith("/") or ".." in parts or "\0" in path or _printable_path(path) != path)


def _bytes_or_raise(path: str, data: bytes | OSError, max_bytes: int) -> bytes:
    """The bytes that were read; raises the error of reading otherwise."""
    if isinstance(data, bytes):
        return data
    if isinstance(data, FileNotFoundError):
        raise UnknownDocument(f"no such document: {path!r}")
    if not isinstance(data, TooLarge):
        raise DocumentSkipped(path, str(data.strerror))
    if data.size is not None:
        raise DocumentSkipped(path, _refusal("", data.size, Config(max_bytes=max_bytes)))
    raise DocumentSkipped(path, f"too large: grew beyond documents.max_bytes {max_bytes} while being read")


_SAMPLED: Final = 24
_SAMPLE: Final = 4_000  # code points of each
_HAN: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_KANA: Final = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
_LETTER: Final = re.compile(r"[^\W\d_]")
_WORD: Final = re.compile(r"[A-Za-z\u00c0-\u024f]{2,}")


def language_of(documents: Iterable[Document]) -> Language:
    """The language of most of the text: Japanese with a kana for eight Han characters, Chinese where Han are the most.

    English for everything else. Judged by chapters, else other prose, else code; the default language without text.

    Args:
        documents: Of a project, in path order.

    Cost: reads the beginnings of at most 24 documents, evenly spread.
    """
    docs = list(documents)
    chapters = [doc for doc in docs if doc.kind in STORY_KINDS]
    prose = chapters or [doc for doc in docs if doc.kind != "code"] or docs
    step = max(1, len(prose) // _SAMPLED)
    texts = [doc.text[:_SAMPLE] for doc in islice(prose, 0, None, step)]
    han = sum(map(len, chain.from_iterable(map(_HAN.findall, texts))))
    words = sum(map(len, map(_WORD.findall, texts)))
    kana = sum(map(len, map(_KANA.findall, texts)))
    if not any(map(_LETTER.search, texts)):
        return DEFAULT_LANGUAGE
    if words * 3 > han + kana or not han + kana:
        return "en"
    return "ja" if kana * 8 > han else "zh"

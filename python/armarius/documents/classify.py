"""Classify files: chapter, setting, outline, note or code; and the chapter number.

Evidence in order: configuration, front matter, file name, folders from the file outwards, headings, shape of the
content. Without evidence a file is a note.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import get_args

from armarius.arguments import Kind
from armarius.documents.kinds import glob
from armarius.documents.numerals import (
    appended,
    bare_number,
    chapter_number,
    parse_numeral,
    volume_number,
)
from armarius.documents.segments import Paragraph, parts_of
from armarius.documents.titles import FrontMatter
from armarius.errors import ContractError
from armarius.text.unicode import HAN, HANGUL, KANA

__all__ = [
    "CODE_SUFFIXES",
    "MANUSCRIPTS",
    "NOT_READ",
    "PROSE_SUFFIXES",
    "Kind",
    "classify",
    "kind_named",
    "number_of",
    "outside_story",
]

PROSE_SUFFIXES = frozenset({".md", ".markdown", ".mdown", ".mkd", ".txt", ".text"})
_CODE = (
    "c cc cjs cpp cs cts cxx dart ex exs go h hpp hs java jl js jsx kt kts lua m mjs ml mts php pl py pyi r rb rs "
    "scala sh sql swift ts tsx vue zig"
)
CODE_SUFFIXES = frozenset(f".{name}" for name in _CODE.split())

# `status:` of front matter for text that is not part of the story (yet or any more). `cut` excludes the file.
_UNFINISHED = frozenset({"draft", "草稿"})

MANUSCRIPTS = frozenset({".docx", ".odt", ".epub", ".rtf", ".fountain", ".html", ".htm", ".xhtml"})
NOT_READ = {
    ".pdf": "PDF is not read; export it as .docx, .epub or Markdown",
    ".doc": "Word's old .doc is not read; save it as .docx",
    ".scriv": "Scrivener projects are not read; compile them to .docx, .rtf or Markdown",
    ".pages": "Pages documents are not read; export them as .docx or .epub",
}
"""Suffix to advice for the user."""

_UNSPACED = re.compile(f"[{KANA}{HAN}{HANGUL}]")
_PROFILE_LINE = re.compile(r"^\s*[-*+]\s*\**[^:：\n*]{1,12}\**\s*[:：]", re.MULTILINE)


def classify(
    path: str,
    *,
    front_matter: FrontMatter,
    paragraphs: Sequence[Paragraph],
    text: str,
    rules: Sequence[tuple[str, str]] = (),
) -> Kind:
    """The kind of a document.

    Args:
        path: Posix path inside the project.
        front_matter: Its `kind` or `type` may name the kind.
        paragraphs: Of the text, split as prose.
        text: The text itself.
        rules: `(kind, glob)` pairs of the configuration; the first match decides.
    """
    for kind, pattern in rules:
        if glob(pattern).matches(path):
            return kind_named(kind)
    parts = parts_of(path)
    if parts.suffix.lower() in CODE_SUFFIXES:
        return "code"
    for key in ("kind", "type", "类型"):
        named = front_matter.get(key)
        if isinstance(named, str) and (found := _named(named)):
            return found
    if front_matter.get("status") in _UNFINISHED or (appended(parts.stem) and chapter_number(parts.stem) is None):
        return "note"  # 附录, Appendix B; ch008a is prose without a number
    if chapter_number(parts.stem) is not None:
        return "chapter"
    if found := _named(parts.stem):
        return found
    for folder in reversed(parts.folders):
        if found := _named(folder):
            return found
        if volume_number(folder) is not None or chapter_number(folder) is not None:
            return "chapter"
    return _by_content(paragraphs, text)


def _by_content(paragraphs: Sequence[Paragraph], text: str) -> Kind:
    headings = [p for p in paragraphs if p.role == "heading"]
    bodies = [p for p in paragraphs if p.role == "body"]
    if headings:
        title = headings[0].heading_path[-1]
        if chapter_number(title) is not None or volume_number(title) is not None:
            return "chapter"
        if found := _named(title):
            return found
    profiles = sum(len(_PROFILE_LINE.findall(text, p.start, p.end)) >= 2 for p in bodies)
    if bodies and 2 * profiles >= len(bodies):
        return "setting"
    if any(chapter_number(p.heading_path[-1]) is not None for p in headings):
        return "chapter"
    return "note"


def outside_story(path: str, front_matter: FrontMatter) -> bool:
    """Whether a file has no chapter number: an appendix, a supplement of a chapter, a draft."""
    return front_matter.get("status") in _UNFINISHED or appended(parts_of(path).stem)


def number_of(path: str, kind: Kind, front_matter: FrontMatter, paragraphs: Sequence[Paragraph]) -> int | None:
    """The chapter number of a chapter: front matter, marker in the file name, headings, bare number in the file name.

    None for other kinds and for a file of several chapters, where each paragraph has its own.
    """
    if kind != "chapter":
        return None
    if outside_story(path, front_matter):  # not a second chapter with that number
        return None
    for key in ("chapter", "number", "章节", "章"):
        value = front_matter.get(key)
        if isinstance(value, str):
            number = parse_numeral(value)
            if number is None:
                number = chapter_number(value)
            if number is not None:
                return number
    stem = parts_of(path).stem
    if (number := chapter_number(stem)) is not None:
        return number
    titles = [p.heading_path[-1] for p in paragraphs if p.role == "heading"]
    named = {n for title in titles if not appended(title) and (n := chapter_number(title)) is not None}
    if len(named) == 1:
        return named.pop()
    return bare_number(stem) if not named else None


def kind_named(name: str) -> Kind:
    """The kind of that name.

    Raises:
        ContractError: There is none.
    """
    for kind in get_args(Kind):
        if kind == name:
            found: Kind = kind
            return found
    raise ContractError(f"kind must be one of {', '.join(get_args(Kind))}, got {name!r}")


def _named(name: str) -> Kind | None:
    """The kind that the last classifying word of a file, folder or heading name gives (`magic notes` are notes)."""
    lowered = name.lower()
    if lowered in get_args(Kind):
        return kind_named(lowered)
    kinds, unspaced = _words()
    for word in reversed(re.findall(r"[^\W\d_]+", lowered)):
        if word in kinds:
            return kinds[word]
    ends = [(lowered.rfind(word) + len(word), len(word), word) for word in unspaced if word in lowered]
    return kinds[max(ends)[2]] if ends else None


@cache
def _words() -> tuple[dict[str, Kind], list[str]]:
    """Word to kind, and the words that may be inside others. Loaded at first use: a warm search needs none."""
    from armarius.documents.kinds import KIND_OF_WORD

    kinds = {word: kind_named(kind) for word, kind in KIND_OF_WORD.items()}
    return kinds, sorted((word for word in kinds if _UNSPACED.match(word)), key=len, reverse=True)

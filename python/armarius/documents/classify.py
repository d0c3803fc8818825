"""Kind and chapter number of a file by itself, from the configuration or its evidence (`documents/features.py`).

Without evidence a file is a note. `documents/decide.py` decides with the evidence of the other files.
"""

from collections.abc import Sequence
from typing import get_args

from armarius.arguments import Kind
from armarius.documents.features import Features, features_of
from armarius.documents.kinds import glob
from armarius.documents.numerals import (
    appended,
    bare_number,
    chapter_number,
    parse_numeral,
)
from armarius.documents.segments import Paragraph, parts_of
from armarius.documents.titles import FrontMatter
from armarius.errors import ContractError

__all__ = [
    "CODE_SUFFIXES",
    "DATA_SUFFIXES",
    "MANUSCRIPTS",
    "NOT_READ",
    "PROSE_SUFFIXES",
    "Kind",
    "classify",
    "kind_named",
    "number_of",
    "stated_kind",
]

PROSE_SUFFIXES = frozenset({".md", ".markdown", ".mdown", ".mkd", ".txt", ".text", ".rst", ".org", ".nwd"})
DATA_SUFFIXES = frozenset({".json", ".yaml", ".yml", ".nwx"})
_CODE = (
    "c cc cjs cpp cs cts cxx dart ex exs go h hpp hs java jl js jsx kt kts lua m mjs ml mts php pl py pyi r rb rs "
    "scala sh sql swift ts tsx vue zig"
)
CODE_SUFFIXES = frozenset(f".{name}" for name in _CODE.split())


MANUSCRIPTS = frozenset({".docx", ".odt", ".epub", ".rtf", ".fountain", ".html", ".htm", ".xhtml"})
NOT_READ = {
    ".pdf": "PDF is not read; export it as .docx, .epub or Markdown",
    ".doc": "Word's old .doc is not read; save it as .docx",
    ".scriv": "Scrivener projects are not read; compile them to .docx, .rtf or Markdown",
    ".pages": "Pages documents are not read; export them as .docx or .epub",
}
"""Suffix to advice for the user."""


def classify(
    path: str,
    *,
    front_matter: FrontMatter,
    paragraphs: Sequence[Paragraph],
    text: str,
    rules: Sequence[tuple[str, str]] = (),
) -> tuple[Kind, Features]:
    """The kind of a document by itself, and the evidence.

    Args:
        path: Posix path inside the project.
        front_matter: Its `kind` or `type` may name the kind.
        paragraphs: Of the text, split as prose.
        text: The text itself.
        rules: `(kind, glob)` pairs of the configuration; the first match decides.
    """
    if parts_of(path).suffix.lower() in CODE_SUFFIXES:
        features = Features("code", None, length=len(text), prose=0.0)
    else:
        features = features_of(
            path, front_matter, paragraphs, text, lambda kind: number_of(path, kind, front_matter, paragraphs)
        )
    return stated_kind(path, rules) or features.kind, features


def stated_kind(path: str, rules: Sequence[tuple[str, str]]) -> Kind | None:
    """The kind that the configuration states; the first match decides."""
    return next((kind_named(kind) for kind, pattern in rules if glob(pattern).matches(path)), None)


def number_of(path: str, kind: Kind, front_matter: FrontMatter, paragraphs: Sequence[Paragraph]) -> int | None:
    """The chapter number of a chapter: front matter, marker in the file name, headings, bare number in the file name.

    None for other kinds and for a file of several chapters, where each paragraph has its own.
    """
    if kind != "chapter":
        return None
    if appended(parts_of(path).stem):  # not a second chapter with that number
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
    named = {n for title in titles if (n := chapter_number(title)) is not None and not appended(title)}
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

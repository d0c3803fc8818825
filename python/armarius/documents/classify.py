"""Kind and chapter number of a file by itself, from the configuration or its evidence (`documents/features.py`).

Without evidence a file is a note. `documents/decide.py` decides with the evidence of the other files.

Every text that the walk lists is read; `documents/unread.py` has the exceptions. A folder with a dot before its name
is read when `[documents]` names it:

[documents]
".story/**" = "state"        # opens .story/
"""

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import get_args

import armarius._core as _core
from armarius.arguments import Kind as Kind
from armarius.config import CONFIG_NAME, Config
from armarius.documents.features import Features, features_of
from armarius.documents.kinds import glob
from armarius.documents.segments import Paragraph, parts_of
from armarius.documents.titles import FrontMatter
from armarius.documents.units import appended, bare_number, chapter_number, parse_numeral
from armarius.documents.unread import refused_name
from armarius.errors import ContractError

_PROSE = "md markdown mdown mkd mdx qmd rmd txt text rst org adoc asciidoc tex nwd"
PROSE_SUFFIXES = frozenset(f".{name}" for name in _PROSE.split())
DATA_SUFFIXES = frozenset({".json", ".yaml", ".yml", ".csv", ".tsv", ".nwx"})
_CODE = (
    "bash bat c cc cjs cmd cpp cs css cts cxx dart ex exs go h hpp hs java jl js jsx kt kts less lua m mjs ml mts php "
    "pl ps1 py pyi r rb rs scala scss sh sql svelte swift ts tsx vue zig zsh"
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


HIDDEN = "hidden folder"
"""The reason that a walk gives for a folder that it left out."""
_NEVER = frozenset({".armarius", ".git"})


def opened(config: Config) -> list[str]:
    """Gitignore patterns of the hidden folders and files that `[documents]` names."""
    return [f"/{one}" for one in _opened(config.kinds)]


@lru_cache(maxsize=64)
def _opened(kinds: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    found = (prefix for _, pattern in kinds for prefix in _hidden_prefixes(pattern.strip("/")))
    return tuple(dict.fromkeys(one for one in found if _NEVER.isdisjoint(one.split("/"))))


def is_hidden(path: str, config: Config) -> bool:
    """Whether a path lies in a hidden folder, or is a hidden file, that `[documents]` does not name."""
    return any(not any(glob(one).matches(prefix) for one in _opened(config.kinds)) for prefix in _hidden_prefixes(path))


def is_closed(pattern: str) -> bool:
    """Whether a pattern names files below a folder that stays closed: `.git`, `.armarius`."""
    return not _NEVER.isdisjoint(pattern.split("/"))


def has_files(root: Path, config: Config, pattern: str) -> bool:
    """Whether a line of `[documents]` with `pattern` would match a file, below a folder that it opens too.

    Cost: a walk.
    """
    named = replace(config, kinds=(("note", pattern), *config.kinds))
    found, _, _ = _core.walk(str(root), list(config.exclude), [], opened(named))
    return any(glob(pattern).matches(one.path.replace("\\", "/")) for one in found)


def unread_files(root: Path, config: Config, read: Container[str], why: Mapping[str, str]) -> dict[str, int]:
    """What below `root` is not read, to the number of files: hidden folders (`.story/`), endings (`*.xlsx`).

    A file that was refused for what it holds stands by itself (`ch5.md (status: cut)`). Not counted are ignored
    and excluded files, and what Git and Armarius keep for themselves.

    Args:
        root: The project folder.
        config: Its configuration.
        read: Paths of the documents, and of other files that say something.
        why: Path of what was refused as a document to the reason.

    Cost: a walk, and one of each hidden folder.
    """
    found, refused, _ = _core.walk(str(root), list(config.exclude), [], opened(config))
    counted: dict[str, int] = {}
    for folder in sorted(path.replace("\\", "/") for path, reason in refused if reason == HIDDEN):
        if folder.rpartition("/")[2] not in _NEVER:
            itself = "/" + "".join(f"\\{char}" if char in "*?[]{}!#\\ " else char for char in folder)
            inside, _, _ = _core.walk(str(root), list(config.exclude), [folder], [*opened(config), itself])
            counted |= {f"{folder}/": len(inside)} if inside else {}
    paths = (one.path.replace("\\", "/") for one in found)
    others = Counter(
        _ending(path, why.get(path) or refused_name(path.rpartition("/")[2]) or "")
        for path in paths
        if path not in read and path != CONFIG_NAME
    )
    return counted | dict(others.most_common())


def _hidden_prefixes(path: str) -> Iterator[str]:
    """The path as far as each of its hidden parts, the part included."""
    if path.startswith(".") or "/." in path:
        parts = path.split("/")
        yield from ("/".join(parts[: at + 1]) for at, part in enumerate(parts) if part.startswith("."))


def _ending(path: str, why: str) -> str:
    name = PurePosixPath(path)
    if why and name.suffix.lower() not in NOT_READ:
        return f"{path} ({why})"
    return f"*{name.suffix.lower()}" if name.suffix else name.name

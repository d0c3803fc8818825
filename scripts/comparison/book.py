"""A project folder as a source of words: what requests are made of. Reads the files alone, never the package."""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Book", "digest_of", "files_of", "read_book"]

_PROSE = {".md", ".txt"}
_CODE = {".py", ".ts", ".js", ".go", ".rs"}
_SKIPPED = {"__pycache__", ".git"}
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*$", re.MULTILINE)
_SENTENCE = re.compile(r"[^。！？!?.\n]{6,}[。！？!?.]")
_DEFINED = re.compile(
    r"^[ \t]*(?:export\s+)?(?:async\s+)?(?:def|class|function|func|fn|interface)\s+(\w+)", re.MULTILINE
)
_HAN = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True)
class Book:
    """The words of one project, all in the order of its files.

    Attributes:
        name: Of the folder.
        texts: Project-relative path of every prose file to its text.
        chapters: Paths of those whose name ends in a number; all of them when none does.
        headings: Path to the headings of the file, without marks.
        names: Of entities: from `codex.json`, else the second-level headings of what is no chapter.
        aliases: Other names of the same.
        attributes: Keys of their attributes.
        sentences: (path, start in code points, text) of the chapters.
        symbols: Names defined in code files.
        language: "zh" or "en": which questions fit.
    """

    name: str
    texts: dict[str, str]
    chapters: tuple[str, ...]
    headings: dict[str, tuple[str, ...]]
    names: tuple[str, ...]
    aliases: tuple[str, ...]
    attributes: tuple[str, ...]
    sentences: tuple[tuple[str, int, str], ...]
    symbols: tuple[str, ...]
    language: str

    def number(self, path: str) -> int:
        """The number in the name of a chapter; its place among the chapters when there is none."""
        found = re.search(r"(\d+)$", path.rpartition(".")[0])
        return int(found[1]) if found else self.chapters.index(path) + 1


def files_of(folder: Path) -> list[str]:
    """Project-relative paths of all files, sorted; those of Git and of the Python cache left out."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(path.as_posix() for path in found if not _SKIPPED.intersection(path.parts))


def digest_of(folder: Path) -> str:
    """SHA-256 (hex) over the paths and bytes of all files."""
    whole = hashlib.sha256()
    for path in files_of(folder):
        data = (folder / path).read_bytes()
        whole.update(f"{path}\0{len(data)}\0".encode())
        whole.update(data)
    return whole.hexdigest()


def read_book(folder: Path) -> Book:
    """The words of the project at `folder`.

    Raises:
        ValueError: It holds neither a sentence nor a definition, so that nothing could be asked; or is not UTF-8.
    """
    paths = files_of(folder)
    texts = {path: _text(folder / path) for path in paths if Path(path).suffix in _PROSE}
    code = [_text(folder / path) for path in paths if Path(path).suffix in _CODE]
    chapters = tuple(path for path in texts if re.search(r"\d$", Path(path).stem)) or tuple(texts)
    headings = {path: tuple(_HEADING.findall(text)) for path, text in texts.items()}
    codex = _codex(folder / "codex.json")
    titles = tuple(title for path in texts if path not in chapters for title in headings[path][1:])
    whole = "".join(texts.values())
    sentences = tuple(_sentences(texts, chapters))
    symbols = _unique(name for text in code for name in _DEFINED.findall(text))
    if not sentences and not symbols:
        raise ValueError(f"{folder}: neither a sentence ({', '.join(sorted(_PROSE))}) nor a definition to ask about")
    return Book(
        name=folder.name,
        texts=texts,
        chapters=chapters,
        headings=headings,
        names=_unique(str(one["name"]) for one in codex) or _unique(titles),
        aliases=_unique(str(alias) for one in codex for alias in one.get("aliases", ())),
        attributes=_unique(key for one in codex for key in one.get("attributes", {})),
        sentences=sentences,
        symbols=symbols,
        language="zh" if len(_HAN.findall(whole)) > len(whole) * 0.3 else "en",
    )


def _text(path: Path) -> str:
    # As bytes: universal newlines would move every offset of a file with CRLF.
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8 ({error.reason} at byte {error.start})") from None


def _codex(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        return []
    entities = json.loads(path.read_bytes()).get("entities", [])
    return [one for one in entities if isinstance(one, dict) and one.get("name")]


def _sentences(texts: dict[str, str], chapters: tuple[str, ...]) -> Iterator[tuple[str, int, str]]:
    for path in chapters:
        for found in _SENTENCE.finditer(texts[path]):
            if not found[0].lstrip().startswith("#"):
                yield path, found.start(), found[0].strip()


def _unique(values: Iterator[str] | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if value))

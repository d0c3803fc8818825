"""Where a project says how it is written: `style.md`, `风格.md`, …, or `[style]` in `armarius.toml`.

[style]
files = ["guide/tone.md"]      # instead of the names below
text = "第三人称限知。"          # in addition to them
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from armarius.config import CONFIG_NAME, Config
from armarius.documents.document import Document
from armarius.documents.forms import filled_in
from armarius.documents.kinds import title_words
from armarius.errors import ConfigError
from armarius.text.unicode import fold

_NAMES = title_words("style")
_MAX_DEPTH = 3
_KEYS = ("files", "text")


@dataclass(frozen=True, slots=True)
class Style:
    """One description of style: project-relative path and text; the chapters that it stands in, when it is one."""

    path: str
    text: str
    chapters: tuple[int, ...] = ()


class ProjectStyle:
    """The style of a project, from its documents and configuration; of a form only what somebody has filled in.

    Args:
        documents: Any of the project's documents; those named for style are taken, nearest the root first, none of an
            earlier book.
        config: The `[style]` table may name files and add a text.

    Raises:
        ConfigError: An unknown key; `style.files` or `style.text` has the wrong type; a named file does not exist.
    """

    def __init__(self, documents: Iterable[Document], config: Config | None = None) -> None:
        table = (config or Config()).table("style", _KEYS)
        files, text = table.get("files", []), table.get("text", "")
        if not isinstance(files, list) or not all(isinstance(item, str) for item in files):
            raise ConfigError(f"{CONFIG_NAME}: style.files must be a list of paths, got {files!r}")
        if not isinstance(text, str):
            raise ConfigError(f"{CONFIG_NAME}: style.text must be a string, got {text!r}")
        found = {doc.path: doc for doc in documents if (doc.path in files if files else _is_style(doc))}
        if missing := [path for path in files if path not in found]:
            raise ConfigError(f"{CONFIG_NAME}: style.files: no document {missing[0]!r}")
        ordered = files or sorted(found, key=lambda path: (path.count("/"), path))
        self._styles = [one for path in ordered if (one := _of(found[path])).text.strip()]
        if text.strip():
            self._styles.insert(0, Style(CONFIG_NAME, text))

    def style_list(self, project_id: str, /) -> list[Style]:
        """The descriptions of style, in a stable order."""
        return list(self._styles)


def _of(document: Document) -> Style:
    numbers = {document.chapter, *(one.chapter for one in document.paragraphs)} - {None}
    body = next((one.start for one in document.paragraphs if one.role != "front_matter"), len(document.text))
    said = filled_in(document.text[body:])
    text = document.text[:body] + said if said.strip() else ""
    return Style(document.path, text, tuple(sorted(number for number in numbers if number is not None)))


def _is_style(document: Document) -> bool:
    pure = PurePosixPath(document.path)
    return (
        not document.past
        and len(pure.parts) <= _MAX_DEPTH
        and fold(pure.stem).replace("_", "-").replace(" ", "-") in _NAMES
    )

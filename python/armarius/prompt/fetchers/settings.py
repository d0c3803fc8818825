"""The settings layer: the style of the project, and memories.

A project says how it is written in `style.md`, `风格.md`, …, or in `armarius.toml`:

[style]
files = ["guide/tone.md"]      # instead of those names
text = "第三人称限知。"          # in addition to them
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, Protocol

from armarius.arguments import Kind
from armarius.codex.model import Memory
from armarius.config import CONFIG_NAME, Config
from armarius.documents.document import Document
from armarius.documents.features import filled_in
from armarius.documents.kinds import title_words
from armarius.errors import ConfigError, ContextWarning
from armarius.headings import Reason, heading
from armarius.prompt.fetchers.entities import file_warnings, resolve
from armarius.text.unicode import fold
from armarius.types import Candidate, Evidence, Fetched, FetchRequest, LayerName, Omission
from armarius.warnings import MEMORY_UNAVAILABLE, STYLE_UNAVAILABLE

_NAMES = title_words("style")
_MAX_DEPTH = 3
_KEYS = ("files", "text")


@dataclass(frozen=True, slots=True)
class Style:
    """One description of style: project-relative path and text; the chapters that it stands in, when it is one."""

    path: str
    text: str
    chapters: tuple[int, ...] = ()
    declared: bool = True


class ProjectStyle:
    """The style of a project, from its documents and configuration; of a form only what somebody has filled in.

    Args:
        documents: Any of the project's documents; those named for style are taken, nearest the root first, none of an
            earlier book.
        config: The `[style]` table may name files and add a text.
        declared: Kinds that the project declares, by path; a file that is declared anything but a setting is no style.

    Raises:
        ConfigError: An unknown key; `style.files` or `style.text` has the wrong type; a named file does not exist.
    """

    def __init__(
        self,
        documents: Iterable[Document],
        config: Config | None = None,
        declared: Mapping[str, Kind] = MappingProxyType({}),
    ) -> None:
        table = (config or Config()).table("style", _KEYS)
        files, text = table.get("files", []), table.get("text", "")
        if not isinstance(files, list) or not all(isinstance(item, str) for item in files):
            raise ConfigError(f"{CONFIG_NAME}: style.files must be a list of paths, got {files!r}")
        if not isinstance(text, str):
            raise ConfigError(f"{CONFIG_NAME}: style.text must be a string, got {text!r}")
        other = {path for path, kind in declared.items() if kind != "setting"}
        named = (doc for doc in documents if (doc.path in files if files else doc.path not in other and _is_style(doc)))
        found = {doc.path: doc for doc in named}
        if missing := [path for path in files if path not in found]:
            raise ConfigError(f"{CONFIG_NAME}: style.files: no document {missing[0]!r}")
        ordered = files or sorted(found, key=lambda path: (path.count("/"), path))
        styles = (replace(_of(found[path]), declared=bool(files)) for path in ordered)
        self._styles = [one for one in styles if one.text.strip()]
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
        and document.kind not in ("code", "data")
        and len(pure.parts) <= _MAX_DEPTH
        and fold(pure.stem).replace("_", "-").replace(" ", "-") in _NAMES
    )


# Above every memory: the style of a project is omitted last.
_STYLE_SCORE = 2.0


class MemorySource(Protocol):
    """Where memories are kept."""

    def memory_list(self, project_id: str, /) -> Any:  # noqa: ANN401 - an iterable of `Memory`, or an awaitable of one
        """The memories of a project."""
        ...


class StyleSource(Protocol):
    """Where the style of a project is described."""

    def style_list(self, project_id: str, /) -> Iterable[Style]:
        """The descriptions of style, in a stable order."""
        ...


class SettingsFetcher:
    """Style as `style:<path>`, semantic memories as `memory:semantic:<id>` scored by confidence.

    Episodic and procedural memories are for other tools and are listed as excluded.

    Args:
        memories: Lists the memories, or None.
        style: Lists the descriptions of style, or None.
    """

    name = "settings"
    layer: LayerName = "settings"
    inline = True

    def __init__(self, memories: MemorySource | None = None, *, style: StyleSource | None = None) -> None:
        self._memories = memories
        self._style = style

    def fetch(self, request: FetchRequest, /) -> Fetched:
        """Style and memories; a failing source is a warning and leaves the other one's."""
        candidates: list[Candidate] = []
        omitted: list[Omission] = []
        warnings: list[ContextWarning] = []
        if self._style is not None:
            try:
                for item in self._style.style_list(request.project_id):
                    if (outside := _outside(item, request)) is None:
                        candidates.append(_style(item, request))
                    else:
                        omitted.append(outside)
            except Exception as error:  # noqa: BLE001 - no source failure may fail the call
                warnings.append(STYLE_UNAVAILABLE(error=error))
                omitted.append(Omission("style", "settings", "style", "source failed", str(error)))
        if self._memories is not None:
            try:
                memories: Iterable[Memory] = resolve(self._memories.memory_list(request.project_id))
                warnings += file_warnings(self._memories)
                for memory in memories:
                    if memory.kind == "semantic":
                        candidates.append(_memory(memory, request))
                    else:
                        source = f"memory:{memory.kind}:{memory.id}"
                        why = Reason("out.memory", kind=memory.kind)
                        omitted.append(Omission(f"memory:{memory.id}", "settings", source, "excluded", why))
            except Exception as error:  # noqa: BLE001
                warnings.append(MEMORY_UNAVAILABLE(error=error))
                omitted.append(Omission("memories", "settings", "memory", "source failed", str(error)))
        return Fetched(tuple(candidates), tuple(omitted), tuple(warnings))


def _memory(memory: Memory, request: FetchRequest) -> Candidate:
    return Candidate(
        id=f"memory:{memory.id}",
        layer="settings",
        source=f"memory:semantic:{memory.id}",
        content=f"- {memory.text.strip()}",
        score=memory.confidence,
        evidence=(Evidence("memory", Reason("memory", confidence=memory.confidence)),),
        group=heading("memories", request.language),
        project_id=request.project_id,
    )


def _outside(style: Style, request: FetchRequest) -> Omission | None:
    """Why a description of style is left out: chapters may serve as one, and the request may leave those out."""
    outside = [why for one in style.chapters if (why := request.bounds.leaves_out(None, one)) is not None]
    if not outside:
        return None
    reason, detail = outside[0]
    return Omission(f"style:{style.path}", "settings", f"style:{style.path}", reason, detail)


def _style(style: Style, request: FetchRequest) -> Candidate:
    return Candidate(
        id=f"style:{style.path}",
        layer="settings",
        source=f"style:{style.path}",
        content=style.text.strip(),
        score=_STYLE_SCORE,
        evidence=(Evidence("memory", Reason("memory.style" if style.declared else "memory.style_named"), style.path),),
        group=heading("style", request.language),
        keep="head",
        documents=(style.path,),
        project_id=request.project_id,
    )

"""`ProjectMap`: what the files of a project are: kind, place in the story, edition, state, with the evidence."""

import base64
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, Literal

from armarius.arguments import Kind
from armarius.documents.kinds import HIDDEN_KINDS, STORY_KINDS

Edition = Literal["main", "copy", "translation", "archive"]
DocumentState = Literal["", "draft", "cut"]
_DOUBTFUL: Final = 0.8  # of labelled files, 6 of 36 below it and 2 of 614 others were wrong


@dataclass(frozen=True, slots=True)
class MappedFile:
    """What one file is.

    Attributes:
        path: Of the document.
        kind: As of the document.
        volume: Number of its volume, as labelled.
        number: Number of the chapter in its volume, as labelled; that of the document for a chapter.
        order: Place in the story of its edition, from 0; None outside the story.
        edition: "main" for everything that is no copy.
        story: Id of the edition that it belongs to: its folder ("" for the root); "" outside the story.
        state: `draft` or `cut` as its front matter, name or folder says.
        confidence: 0 to 1.
        evidence: Short sentences, the most weighty first.
        declared: `armarius.toml` or its front matter states the kind.
        chapters: How many a manuscript holds; else 0.
    """

    path: str
    kind: Kind
    volume: int | None = None
    number: int | None = None
    order: int | None = None
    edition: Edition = "main"
    story: str = ""
    state: DocumentState = ""
    confidence: float = 1.0
    evidence: tuple[str, ...] = ()
    declared: bool = False
    chapters: int = 0

    @property
    def is_guessed(self) -> bool:
        """Whether nobody declared its kind, and it is of the main edition."""
        return self.edition == "main" and not self.declared


_FIELDS: Final = attrgetter(*(one.name for one in fields(MappedFile)))


class ProjectMap:
    """All files of a project; immutable.

    Args:
        files: In any order.
        main: Id of the main edition; None when there is no story.

    Attributes:
        files: By path, in path order.
        hidden: Paths of reviews, templates, tool files and other editions, which no task looks into unless it asks for
            them by name; none where most of the project is code, whose README and guides are what is asked about.
        guessed: Those of them whose kind nobody declared: questions look into them.
        doubtful: Files of low confidence, the most doubtful first.
    """

    def __init__(self, files: Iterable[MappedFile] = (), main: str | None = None) -> None:
        self.files: Mapping[str, MappedFile] = MappingProxyType(
            {one.path: one for one in sorted(files, key=lambda one: one.path)}
        )
        aside = (path for path, one in self.files.items() if one.kind in HIDDEN_KINDS or one.edition != "main")
        self.hidden = frozenset(() if _is_code(self.files.values()) else aside)
        self.guessed = frozenset(path for path in self.hidden if self.files[path].is_guessed)
        unsure = [one for one in self.files.values() if one.confidence < _DOUBTFUL and not one.declared]
        self.doubtful = tuple(sorted(unsure, key=lambda one: (one.confidence, one.path)))
        self._main = main
        stories: dict[str, list[MappedFile]] = {}
        for one in self.files.values():
            if one.order is not None:
                stories.setdefault(one.story, []).append(one)
        self._stories = {
            story: tuple(one.path for one in sorted(inside, key=lambda one: one.order or 0))
            for story, inside in stories.items()
        }

    @classmethod
    def joined(cls, maps: Mapping[str, "ProjectMap"]) -> "ProjectMap":
        """The map of a series: that of the project, "", and those of other folders, by the name before their paths."""
        if len(maps) == 1:
            return maps[""]
        files = [
            replace(one, path=f"{name}/{one.path}", story=f"{name}/{one.story}") if name else one
            for name, part in maps.items()
            for one in part.files.values()
        ]
        return cls(files, maps[""]._main)

    def to_text(self) -> str:
        """The map as a note of the index: 20 bytes a file, which stand by columns and are compressed."""
        columns = zip(*map(_FIELDS, self.files.values()), strict=True)
        data = json.dumps([self._main, *columns], ensure_ascii=False, separators=(",", ":"))
        return base64.b64encode(zlib.compress(data.encode("utf-8", "surrogatepass"))).decode("ascii")

    @classmethod
    def from_text(cls, text: str) -> "ProjectMap":
        """What `to_text` gave. Cost: 5 µs a file."""
        main, *columns = json.loads(zlib.decompress(base64.b64decode(text)))
        rows: Iterable[list[Any]] = (
            [tuple(one) if isinstance(one, list) else one for one in row] for row in zip(*columns, strict=True)
        )
        return cls((MappedFile(*row) for row in rows), main)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProjectMap) and (self.files, self._main) == (other.files, other._main)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ProjectMap({len(self.files)} files, {len(self._stories)} editions of the story)"

    def get(self, path: str) -> MappedFile | None:
        """What is known of a file; None for an unknown path."""
        return self.files.get(path)

    def aside(self, path: str) -> str:
        """Whether a file is "in questions alone", "in no prompt" unless a request names it, or "" for any prompt."""
        return "" if path not in self.hidden else "in questions alone" if path in self.guessed else "in no prompt"

    def story(self, path: str | None = None) -> tuple[str, ...]:
        """Paths of the story in its order.

        Args:
            path: Of the edition of this file; None, and a file outside the story, mean the main edition.
        """
        one = None if path is None else self.files.get(path)
        which = self._main if one is None or one.kind not in STORY_KINDS or one.order is None else one.story
        return () if which is None else self._stories.get(which, ())

    def before(self, path: str) -> str | None:
        """The file before this one in the story of its edition."""
        return self._beside(path, -1)

    def after(self, path: str) -> str | None:
        """The file after this one in the story of its edition."""
        return self._beside(path, 1)

    def _beside(self, path: str, step: int) -> str | None:
        one = self.files.get(path)
        if one is None or one.order is None:
            return None
        at, inside = one.order + step, self._stories[one.story]
        return inside[at] if 0 <= at < len(inside) else None


def _is_code(files: Iterable[MappedFile]) -> bool:
    code = story = 0
    for one in files:
        code += one.kind == "code"
        story += one.kind in STORY_KINDS
    return code > story

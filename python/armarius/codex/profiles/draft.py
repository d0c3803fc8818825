"""An entity while it is being read: what was said and what was left unsaid, before merging decides."""

from dataclasses import dataclass, field

from armarius.codex.model import ContextLevel, Fact, Origin
from armarius.codex.profiles.links import NoteLink


@dataclass(slots=True)
class Line:
    """A labelled line that may state a relation: label, value and nested items, 1-based line number."""

    label: str
    value: str
    line: int
    related: bool = False


@dataclass(slots=True)
class Draft:
    """One description of one entity; None means that this source does not say.

    `whole` says that a file is about nothing else, so that a link to the file means the entity. `root` is the folder of
    a series that says it, "" for the project itself; an `id` of another folder begins with it.
    """

    name: str
    origin: Origin
    id: str | None = None
    type: str | None = None
    aliases: list[str] = field(default_factory=list)
    description: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    level: ContextLevel | None = None
    facts: list[Fact] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    links: list[NoteLink] = field(default_factory=list)
    whole: bool = False
    root: str = ""

    def add_attribute(self, key: str, value: str) -> None:
        """Keep `value` under `key`; a second value of the same key is appended, never dropped."""
        known = self.attributes.get(key)
        self.attributes[key] = value if known in {None, "", value} else f"{known}；{value}"

    def add_aliases(self, names: list[str]) -> None:
        """Add names that are not there yet, in order; the entity's own name is none of its aliases."""
        fresh = dict.fromkeys(names)
        for known in (self.name, *self.aliases):
            fresh.pop(known, None)
        self.aliases += fresh


@dataclass(frozen=True, slots=True)
class StatedLine:
    """A line of a page about relations, with the file and heading it stands in."""

    path: str
    section: str
    line: Line


@dataclass(slots=True)
class Profiles:
    """What one file describes: entities in file order, and lines that may state relations between any two."""

    drafts: list[Draft] = field(default_factory=list)
    lines: list[StatedLine] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class DraftRelation:
    """A relation whose ends are ids, names or aliases as written; `root` as of a `Draft`."""

    source: str
    target: str
    type: str
    since: int | None
    until: int | None
    origin: Origin
    where: str = ""
    root: str = ""

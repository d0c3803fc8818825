"""`codex.json`: entities and relations written by a tool or by hand, checked field by field.

    {"title": "…", "language": "zh",
     "entities": [{"id": "…", "name": "…", "type": "character", "aliases": ["…"], "aiContextLevel": "always",
                   "description": "…", "attributes": {"…": "…"}, "facts": [{"text": "…", "since": 3}]}],
     "relations": [{"source": "…", "target": "…", "type": "…", "since": 4}]}

An invalid field is ignored, and so is an entry without a name; every error is reported with the file, the entry's index
and id, and the field.
`level` and `ai_context_level` are read as `aiContextLevel` where the value is a level; `"level": 12` is an attribute.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from armarius.codex.model import CONTEXT_LEVELS, Fact, Origin
from armarius.codex.profiles.draft import Draft, DraftRelation
from armarius.errors import CodexError
from armarius.text.unicode import joined
from armarius.validation import expected, shown

CODEX_FILE = "codex.json"
_LAST_CHAPTER = 1_000_000_000  # the index keeps 64 bits

_LEVEL_NAMES = ("level", "ai_context_level")
_ENTITY_FIELDS = frozenset(
    {"id", "name", "type", "aliases", "without", "aiContextLevel", "description", "attributes", "facts", "over"}
)


@dataclass(slots=True)
class CodexFile:
    """The content of one or several codex files, with their errors."""

    title: str = ""
    language: str = ""
    drafts: list[Draft] = field(default_factory=list)
    relations: list[DraftRelation] = field(default_factory=list)
    errors: list[CodexError] = field(default_factory=list)

    def add(self, other: "CodexFile") -> None:
        """Add the content of another file; an existing title and language stay."""
        self.title = self.title or other.title
        self.language = self.language or other.language
        self.drafts += other.drafts
        self.relations += other.relations
        self.errors += other.errors


def parse_codex_json(path: str, text: str) -> CodexFile:
    """Read a codex file; never raises: errors are in `errors`.

    Args:
        path: Project-relative path, used in messages and origins.
        text: The whole file.
    """
    result = CodexFile()
    try:
        data = json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        result.errors.append(CodexError(f"{path}: line {error.lineno}, column {error.colno}: not JSON: {error.msg}"))
        return result
    except (RecursionError, ValueError) as error:
        result.errors.append(CodexError(f"{path}: not readable as JSON: {type(error).__name__}"))
        return result
    EntryReader(path, result).read(data)
    return result


class EntryReader:
    """Validates entries; adds them, and their errors, to a `CodexFile`.

    Args:
        path: Of the file the entries come from.
        result: Filled by the calls.
    """

    def __init__(self, path: str, result: CodexFile) -> None:
        self.path, self.result = path, result
        self._seen: dict[str, str] = {}

    def read(self, data: object) -> None:
        """Read a whole `codex.json`."""
        if not isinstance(data, dict):
            self._error("", f"expected an object with entities and relations, got {_kind(data)}")
            return
        self.result.title = self._text(data, "title", "")
        self.result.language = self._text(data, "language", "")
        self._each(data, "entities", self.entity)
        self._each(data, "relations", self.relation)

    def _each(self, data: dict[str, Any], key: str, read: Callable[[dict[str, Any], str], None]) -> None:
        entries = data.get(key)
        if entries is None:
            return
        if not isinstance(entries, list):
            self._error(key, f"expected a list, got {_kind(entries)}")
            return
        for index, entry in enumerate(entries):
            where = f"{key}[{index}]"
            if isinstance(entry, dict):
                name = entry.get("id", entry.get("name"))
                read(entry, f"{where} ({name!r})" if isinstance(name, str) else where)
            else:
                self._error(where, f"expected an object, got {_kind(entry)}")

    def entity(self, entry: dict[str, Any], where: str, line: int = 0) -> None:
        """Read one entity; `where` names it in messages."""
        for key in _LEVEL_NAMES:
            if entry.get(key) in CONTEXT_LEVELS:
                entry = {"aiContextLevel": entry[key], **entry}
                del entry[key]
        id_ = self._text(entry, "id", where)
        name = self._text(entry, "name", where).strip() or id_.strip()
        if not name:
            self._error(where, "name: missing, and there is no id to stand for it")
            return
        if not any(char.isalnum() for char in name):
            self._error(where, f"name: {name!r} has no letter or digit")
            return
        draft = Draft(name, Origin(self.path, where.split(" ")[0], line))
        draft.id = id_.strip() or None
        if draft.id is not None and self._seen.setdefault(draft.id, where) != where:
            self._error(where, f"id: the same as of {self._seen[draft.id].split(' ')[0]}; both are read as one entity")
        draft.type = self._text(entry, "type", where).strip() or None
        draft.description = self._text(entry, "description", where)
        draft.add_aliases(self._aliases(entry, where))
        draft.without = self._aliases(entry, where, "without")
        if isinstance(over := entry.get("over"), dict):
            draft.over = {str(key): value for key, value in over.items() if isinstance(value, str)}
        self._level(draft, entry, where)
        self._attributes(draft, entry, where)
        self._facts(draft, entry, where)
        for key in entry:
            if (
                key not in _ENTITY_FIELDS
                and isinstance(entry[key], (str, int, float))
                and not isinstance(entry[key], bool)
            ):
                draft.add_attribute(key, str(entry[key]))
        self.result.drafts.append(draft)

    def _aliases(self, entry: dict[str, Any], where: str, key: str = "aliases") -> list[str]:
        value = entry.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self._error(where, f"{key}: expected a list of strings, got {_kind(value)}")
            return []
        if {*map(type, value)} == {str} and _encodable("".join(value)):
            names = [name for item in value if (name := item.strip())]
            if len(names) == len(value):
                return names
        names = []
        for index, item in enumerate(value):
            if isinstance(item, str) and (name := item.strip()) and _encodable(name):
                names.append(name)
            else:
                self._error(where, f"{key}[{index}]: expected a non-empty string, got {shown(item)}")
        return names

    def _level(self, draft: Draft, entry: dict[str, Any], where: str) -> None:
        value = entry.get("aiContextLevel")
        if value is None:
            return
        level = next((level for level in CONTEXT_LEVELS if level == value), None)
        if level is None:
            self._error(where, f"aiContextLevel: {expected(CONTEXT_LEVELS, value)}")
        draft.level = level

    def _attributes(self, draft: Draft, entry: dict[str, Any], where: str) -> None:
        value = entry.get("attributes")
        if value is None:
            return
        if not isinstance(value, dict):
            self._error(where, f"attributes: expected an object, got {_kind(value)}")
            return
        for key, item in value.items():
            if isinstance(item, list) and all(isinstance(part, str) for part in item):
                item = joined(item, "、", str(key))
            if not isinstance(key, str) or not _encodable(key):
                self._error(where, f"attributes: expected names, got {shown(key)}")
            elif isinstance(item, bool) or not isinstance(item, (str, int, float)) or not _encodable(str(item)):
                self._error(where, f"attributes.{key}: expected a string or number, got {_kind(item)}")
            else:
                draft.add_attribute(key, str(item))

    def _facts(self, draft: Draft, entry: dict[str, Any], where: str) -> None:
        value = entry.get("facts")
        if value is None:
            return
        if not isinstance(value, list):
            self._error(where, f"facts: expected a list, got {_kind(value)}")
            return
        for index, item in enumerate(value):
            at = f"facts[{index}]"
            if isinstance(item, str) and item and _encodable(item):
                draft.facts.append(Fact(item))
            elif isinstance(item, dict) and isinstance(text := item.get("text"), str) and text and _encodable(text):
                draft.facts.append(
                    Fact(text, self._chapter(item, "since", where, at), self._chapter(item, "until", where, at))
                )
            else:
                self._error(where, f"{at}: expected an object with text, got {_kind(item)}")

    def relation(self, entry: dict[str, Any], where: str, line: int = 0) -> None:
        """Read one relation; `where` names it in messages."""
        ends = {key: self._text(entry, key, where, required=True) for key in ("source", "target", "type")}
        if all(ends.values()):
            since, until = self._chapter(entry, "since", where), self._chapter(entry, "until", where)
            origin = Origin(self.path, where.split(" ")[0], line)
            self.result.relations.append(DraftRelation(**ends, since=since, until=until, origin=origin, where=where))

    def _chapter(self, entry: dict[str, Any], key: str, where: str, at: str = "") -> int | None:
        value = entry.get(key)
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LAST_CHAPTER):
            return value
        self._error(where, f"{at + '.' if at else ''}{key}: expected a chapter number, got {shown(value)}"[:200])
        return None

    def _text(self, entry: dict[str, Any], key: str, where: str, *, required: bool = False) -> str:
        value = entry.get(key)
        if isinstance(value, str) and _encodable(value) and (value.strip() or not required):
            return value
        if value is not None:
            self._error(where, f"{key}: expected a {'non-empty ' if required else ''}string, got {shown(value)}"[:200])
        elif required:
            self._error(where, f"{key}: missing")
        return ""

    def _error(self, where: str, what: str) -> None:
        place = f"{self.path}: {where}" if where else self.path
        self.result.errors.append(CodexError(f"{place}: {what}"))


def card_draft(card: Mapping[str, Any], origin: Origin) -> Draft:
    """The character of a card (`documents.data.card_members`): description, personality and scenario as they stand."""
    draft = Draft(card["name"].strip(), origin)
    draft.type, draft.description = "character", card["description"]
    nickname = card.get("nickname")
    draft.add_aliases([nickname.strip()] if isinstance(nickname, str) and nickname.strip() else [])
    for key in ("personality", "scenario"):
        if isinstance(said := card.get(key), str) and said.strip():
            draft.add_attribute(key, said)
    return draft


def _encodable(text: str) -> bool:
    """Whether `text` has no lone surrogate, which no file and no matcher can hold."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), "null" if value is None else type(value).__name__)


IMPORTERS: dict[str, Callable[[str, str], CodexFile]] = {
    CODEX_FILE: parse_codex_json,
}
"""Path in the project folder to its reader. When two files describe one entity, the first gives its name."""

"""Settings in JSON and YAML: `codex.json`, written by a tool or by hand and checked field by field; other files.

    {"title": "…", "language": "zh",
     "entities": [{"id": "…", "name": "…", "type": "character", "aliases": ["…"], "aiContextLevel": "always",
                   "description": "…", "attributes": {"…": "…"}, "facts": [{"text": "…", "since": 3}]}],
     "relations": [{"source": "…", "target": "…", "type": "…", "since": 4}]}

An invalid field is ignored, and so is an entry without a name; every error is reported with the file, the entry's index
and id, and the field.
`level` and `ai_context_level` are read as `aiContextLevel` where the value is a level; `"level": 12` is an attribute.

Other files are drafts: an object with a name, a list of them, or one object per name.

    {"name": "林默", "age": 26}      characters: [{name: Elena, …}]      人物: {林默: {年龄: 26}}

YAML is read as far as settings use it: maps, lists, plain and quoted values, `|` and `>`; no anchors, no tags.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from typing import Any, Final, TypeVar

from armarius.codex.draft import Draft, DraftRelation, Profiles
from armarius.codex.model import CONTEXT_LEVELS, Fact, Origin, RejectedName
from armarius.codex.profile_entity import add_label, is_placeholder, is_plausible, lead_of, read_name
from armarius.codex.profile_fields import Field, is_personal, level_of, role_of
from armarius.documents.data import NOBODY, fill_names, load_json, yaml_tree
from armarius.documents.segments import parts_of
from armarius.documents.titles import group_of, is_generic, page_type, type_of
from armarius.errors import CodexError
from armarius.headings import frame
from armarius.text.unicode import join_parts
from armarius.validation import control_in, has_surrogate, near, option_error, shown, suggestion

CODEX_FILE = "codex.json"
_LAST_CHAPTER = 1_000_000_000  # the index keeps 64 bits

Stated = TypeVar("Stated", list[Any], dict[Any, Any])

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
        self._read_each(data, "entities", self.entity)
        self._read_each(data, "relations", self.relation)

    def _read_each(self, data: dict[str, Any], key: str, read: Callable[[dict[str, Any], str], None]) -> None:
        for index, entry in enumerate(self._field_value(data, key, "", list, "a list")):
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

    def record(self, table: str, data: dict[str, Any], where: str, line: int = 0) -> None:
        """Read one record of `.armarius/codex.toml`, where a level is called so."""
        if table == "entity":
            entry = {"aiContextLevel" if key == "level" else key: value for key, value in data.items()}
            self.entity(entry, where, line)
        else:
            self.relation(data, where, line)

    def _field_value(self, entry: dict[str, Any], key: str, where: str, kind: type[Stated], wanted: str) -> Stated:
        """The value of a field, empty where it is missing or of another kind."""
        value = entry.get(key)
        if isinstance(value, kind):
            return value
        if value is not None:
            self._error(where, f"{key}: expected {wanted}, got {_kind(value)}")
        return kind()

    def _aliases(self, entry: dict[str, Any], where: str, key: str = "aliases") -> list[str]:
        names = []
        for index, item in enumerate(self._field_value(entry, key, where, list, "a list of strings")):
            if isinstance(item, str) and item.strip() and not has_surrogate(item):
                names.append(item.strip())
            else:
                self._error(where, f"{key}[{index}]: expected a non-empty string, got {shown(item)}")
        return names

    def _level(self, draft: Draft, entry: dict[str, Any], where: str) -> None:
        value = entry.get("aiContextLevel")
        draft.level = next((level for level in CONTEXT_LEVELS if level == value), None)
        if draft.level is None and value is not None:
            self._error(where, f"aiContextLevel: {option_error(CONTEXT_LEVELS, value)}")

    def _attributes(self, draft: Draft, entry: dict[str, Any], where: str) -> None:
        for key, item in self._field_value(entry, "attributes", where, dict, "an object").items():
            if isinstance(item, list) and all(isinstance(part, str) for part in item):
                item = join_parts(item, "、", str(key))
            if not isinstance(key, str) or has_surrogate(key):
                self._error(where, f"attributes: expected names, got {shown(key)}")
            elif isinstance(item, bool) or not isinstance(item, (str, int, float)) or has_surrogate(str(item)):
                self._error(where, f"attributes.{key}: expected a string or number, got {_kind(item)}")
            else:
                draft.add_attribute(key, str(item))

    def _facts(self, draft: Draft, entry: dict[str, Any], where: str) -> None:
        for index, item in enumerate(self._field_value(entry, "facts", where, list, "a list")):
            at = f"facts[{index}]"
            fact = {"text": item} if isinstance(item, str) else item
            text = fact.get("text") if isinstance(fact, dict) else None
            if isinstance(text, str) and text and not has_surrogate(text):
                span = (self._chapter(fact, key, where, at) for key in ("since", "until"))
                draft.facts.append(Fact(text, *span))
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
        if isinstance(value, str) and not has_surrogate(value) and (value.strip() or not required):
            return value
        if value is not None:
            self._error(where, f"{key}: expected a {'non-empty ' if required else ''}string, got {shown(value)}"[:200])
        elif required:
            self._error(where, f"{key}: missing")
        return ""

    def _error(self, where: str, what: str) -> None:
        place = f"{self.path}: {where}" if where else self.path
        self.result.errors.append(CodexError(f"{place}: {what}"))


RECORD_FIELDS = ("id", "name", "type", "aliases", "without", "description", "level", "attributes", "facts", "over")
"""Of the record of an entity in `.armarius/codex.toml`, in the order of the file."""


def record_error(table: str, data: dict[str, Any]) -> str:
    """The first error of a record, or ""."""
    result = CodexFile()
    EntryReader("", result).record(table, data, "")
    return str(result.errors[0]).removeprefix(": ").replace("aiContextLevel", "level") if result.errors else ""


def refuse_record(table: str, data: dict[str, Any], *, checked: bool = True) -> None:
    """Refuse an invalid record; `checked` also validates its chapters, which is skipped for unchanged ones."""
    if what := record_error(table, data) or (_reversed_span(table, data) if checked else ""):
        raise CodexError(f"{table} {shown(data.get('id') or data.get('name', ''))}: {what}")


def _reversed_span(table: str, data: dict[str, Any]) -> str:
    """The first span that ends before it begins, or "". Each chapter number is valid by itself."""
    facts = [(f"facts[{number}].", fact) for number, fact in enumerate(data.get("facts", ())) if isinstance(fact, dict)]
    for where, item in facts if table == "entity" else [("", data)]:
        since, until = item.get("since"), item.get("until")
        if since is not None and until is not None and until < since:
            return f"{where}until: chapter {until} is before that of since, {since}"
    return ""


def record_fields(data: dict[str, Any]) -> dict[str, Any]:
    """A record as read; unknown keys move to the attributes, as in `EntryReader`."""
    values = {"level" if key == "aiContextLevel" else key: value for key, value in data.items()}
    extra = {key: str(value) for key, value in values.items() if key not in RECORD_FIELDS}
    fields = {key: value for key, value in values.items() if key in RECORD_FIELDS}
    return {**fields, "attributes": {**extra, **fields.get("attributes", {})}} if extra else fields


def entity_record(values: dict[str, Any]) -> dict[str, Any]:
    """Fields in file order, without None and empty values, objects as plain tables."""
    unknown = sorted(values.keys() - set(RECORD_FIELDS))
    if unknown:
        close = suggestion(near(unknown[0], RECORD_FIELDS))
        raise CodexError(
            f"entity {shown(values.get('id') or values.get('name'))}: {shown(unknown[0])[1:-1]}: no such field{close}"
        )
    data: dict[str, Any] = {}
    for key in RECORD_FIELDS:
        value = values.get(key)
        if isinstance(value, tuple):
            value = list(value)
        if isinstance(value, list):
            value = [asdict(item) if is_dataclass(item) and not isinstance(item, type) else item for item in value]
        if key == "type" and isinstance(value, str) and type_of(value) in frame().types:
            value = type_of(value)
        if key == "level" and isinstance(value, str):
            value = level_of(value) or value
        if value is not None and not (isinstance(value, str | list | Mapping) and not value):
            data[key] = value
    return data


_DEEPEST_VALUE: Final = 8  # levels of lists and mappings in a value: no field has more than two


def normalize_value(value: Any, field: str = "") -> Any:  # noqa: ANN401 - of any field
    """A value with line feeds alone at the ends of its lines.

    Raises:
        CodexError: It holds a control character, which would make a page binary, or is nested too deeply; names the
            field.
    """
    if field.count("[") + field.count(".") > _DEEPEST_VALUE:
        raise CodexError(f"entity: {shown(field)}: nested too deeply")
    if isinstance(value, str):
        value = value.replace("\r\n", "\n")
        if control := control_in(value):
            raise CodexError(f"entity: {field}: holds the control character {control}")
        return value
    if isinstance(value, Mapping):
        dot = f"{field}." if field else ""
        return {normalize_value(key, field): normalize_value(item, f"{dot}{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [normalize_value(item, f"{field}[{number}]") for number, item in enumerate(value)]
    return replace(value, text=normalize_value(value.text, f"{field}.text")) if isinstance(value, Fact) else value


def card_draft(card: Mapping[str, Any], origin: Origin) -> Draft:
    """The character of a card (`documents.data.card_members`): description, personality and scenario, with names."""
    draft = Draft(card["name"].strip(), origin)
    nickname = value.strip() if isinstance(value := card.get("nickname"), str) else ""
    draft.type, draft.description = "character", fill_names(card["description"], nickname or draft.name, NOBODY)
    draft.add_aliases([nickname] if nickname else [])
    for key in ("personality", "scenario"):
        if isinstance(value := card.get(key), str) and value.strip():
            draft.add_attribute(key, fill_names(value, nickname or draft.name, NOBODY))
    return draft


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), "null" if value is None else type(value).__name__)


IMPORTERS: dict[str, Callable[[str, str], CodexFile]] = {CODEX_FILE: parse_codex_json}
"""Path in the project folder to its reader. When two files describe one entity, the first gives its name."""


_DEEPEST: Final = 12
_MOST_TEXT: Final = 2_000  # code points of one attribute


def profiles_of_data(path: str, text: str) -> Profiles:
    """The entities that a file of settings in JSON or YAML describes; none where it cannot be read.

    Args:
        path: Project-relative, `/`-separated; names of file and folders give the type.
        text: The whole file.

    Cost: one pass; a search for the line of each name.
    """
    reader = _Reader(path, text)
    reader.walk(read_tree(text), page_type(path)[0], 0)
    return reader.found


class _Reader:
    """Collects the drafts of one file."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text, self.at = path, text, 0
        self.found = Profiles()

    def walk(self, tree: object, type_: str | None, depth: int) -> None:
        """The entities in `tree`; `type_` is that of the group around it."""
        if depth > _DEEPEST:
            return
        if isinstance(tree, list):
            for item in tree:
                if isinstance(item, str) and type_ is not None and is_plausible(item):
                    self._add(item, {}, type_, listed=True)
                else:
                    self.walk(item, type_, depth + 1)
        elif isinstance(tree, Mapping):
            name = _name_in(tree)
            if name is not None:
                self._add(name, tree, type_)
            elif type_ is not None and depth == 0 and _is_sheet(tree):
                self._add(parts_of(self.path).stem, tree, type_)
            else:
                self._members(tree, type_, depth)

    def _members(self, tree: Mapping[str, Any], type_: str | None, depth: int) -> None:
        for key, value in tree.items():
            group = group_of(key)
            if group is not None and isinstance(value, (list, Mapping)):
                self.walk(value, group.type or type_, depth + 1)
            elif isinstance(value, Mapping) and _name_in(value) is None and type_ is not None and is_plausible(key):
                self._add(key, value, type_)
            elif isinstance(value, (list, Mapping)):
                self.walk(value, type_, depth + 1)

    def _add(self, name: str, fields: Mapping[str, Any], type_: str | None, *, listed: bool = False) -> None:
        line = self._line(name)
        if is_placeholder(name) or group_of(name) is not None or is_generic(name):
            self.found.rejected.append(RejectedName(name, self.path, line, "a placeholder"))
            return
        draft = read_name(name, Origin(self.path, "", line))
        draft.standing = "listed" if listed else "declared"
        for key, value in _fields(fields):
            self._label(draft, key, value, line)
        draft.type = draft.type or type_ or ("character" if any(map(is_personal, draft.attributes)) else None)
        draft.lead = draft.lead or lead_of(parts_of(self.path).stem)
        self.found.drafts.append(draft)
        for key, value in fields.items():
            group = group_of(key)
            if group is not None and group.type is not None and isinstance(value, list):
                self.walk([item for item in value if isinstance(item, Mapping)], group.type, 1)

    def _label(self, draft: Draft, key: str, value: object, line: int) -> None:
        if role_of(key) == "name":
            return
        ends = [_relation(item) for item in value] if role_of(key) == "relations" and isinstance(value, list) else []
        if ends and all(ends):
            add_label(draft, Field(key, "", line, ends))
        else:
            add_label(draft, Field(key, _value_text(value)[:_MOST_TEXT], line))

    def _line(self, name: str) -> int:
        at = self.text.find(name, self.at)
        self.at = at if at >= 0 else self.at
        return self.text.count("\n", 0, at) + 1 if at >= 0 else 1


def _name_in(fields: Mapping[str, Any]) -> str | None:
    """The value of the name field of an object, or of its part such as `basic_info`."""
    parts = [fields, *(part for key, part in fields.items() if isinstance(part, Mapping) and is_generic(_label(key)))]
    names = [
        value for part in parts for key, value in part.items() if role_of(key) == "name" and isinstance(value, str)
    ]
    return names[0].strip() or "?" if names else None


def _is_sheet(fields: Mapping[str, Any]) -> bool:
    """Whether an object without a name describes one thing: it has plain values."""
    return any(isinstance(value, str) for value in fields.values())


def _fields(fields: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """The labels of an object; those of a part such as `basic_info` are its own."""
    for key, value in fields.items():
        if isinstance(value, Mapping) and is_generic(_label(key)) and _name_in(value) is not None:
            yield from value.items()
        else:
            yield _label(key), value


def _label(key: str) -> str:
    return key.replace("_", " ") if key.isascii() else key


def _value_text(value: object) -> str:
    """Any value as text: commas between plain items, semicolons between others."""
    if value is None or isinstance(value, bool):
        return {None: "", True: "true", False: "false"}[value]
    if isinstance(value, list):
        parts = [part for part in map(_value_text, value) if part]
        return join_parts(parts, "；" if any(isinstance(item, (list, Mapping)) for item in value) else "、")
    if isinstance(value, Mapping):
        stated = ((_label(key), text) for key, item in value.items() if (text := _value_text(item)))
        return join_parts((join_parts(pair, "：") for pair in stated), "；")
    return str(value).strip()


def _relation(item: object) -> str:
    """`brother：林默` of `{"name": "林默", "relation": "brother"}`, "" for anything else."""
    if not isinstance(item, Mapping):
        return ""
    plain = {key: value for key, value in item.items() if isinstance(value, str)}
    label = next((value for key, value in plain.items() if role_of(key) in ("relations", "type")), "")
    name = next(
        (value for key, value in plain.items() if role_of(key) == "name" or key in ("target", "with", "to")), ""
    )
    return join_parts((label, name), "：") if label and name else ""


def read_tree(text: str) -> object:
    """JSON or YAML as lists, mappings and plain values; an empty mapping where it is neither."""
    text = text.removeprefix("\ufeff")
    if text.lstrip()[:1] in ("{", "["):
        try:
            return load_json(text)
        except (ValueError, RecursionError):
            return {}
    return yaml_tree(text, 0, len(text), _DEEPEST) or {}

"""Settings in JSON and YAML to drafts: an object with a name, a list of them, or one object per name.

    {"name": "林默", "age": 26}      characters: [{name: Elena, …}]      人物: {林默: {年龄: 26}}

YAML is read as far as settings use it: maps, lists, plain and quoted values, `|` and `>`; no anchors, no tags.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from armarius.codex.model import Origin, RejectedName
from armarius.codex.profiles.draft import Draft, Profiles
from armarius.codex.profiles.entity import add_label
from armarius.codex.profiles.fields import Field, is_personal, role_of
from armarius.codex.profiles.headings import is_placeholder, is_plausible, lead_of, read_name
from armarius.documents.data import loaded
from armarius.documents.segments import parts_of
from armarius.documents.titles import group_of, is_generic, page_type, parse_front_matter
from armarius.text.unicode import joined

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
            for one in tree:
                if isinstance(one, str) and type_ is not None and is_plausible(one):
                    self._add(one, {}, type_, listed=True)
                else:
                    self.walk(one, type_, depth + 1)
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

    def _add(self, name: str, said: Mapping[str, Any], type_: str | None, *, listed: bool = False) -> None:
        line = self._line(name)
        if is_placeholder(name) or group_of(name) is not None or is_generic(name):
            self.found.rejected.append(RejectedName(name, self.path, line, "a placeholder"))
            return
        draft = read_name(name, Origin(self.path, "", line))
        draft.standing = "listed" if listed else "declared"
        for key, value in _fields(said):
            self._label(draft, key, value, line)
        draft.type = draft.type or type_ or ("character" if any(map(is_personal, draft.attributes)) else None)
        draft.lead = draft.lead or lead_of(parts_of(self.path).stem)
        self.found.drafts.append(draft)
        for key, value in said.items():
            group = group_of(key)
            if group is not None and group.type is not None and isinstance(value, list):
                self.walk([one for one in value if isinstance(one, Mapping)], group.type, 1)

    def _label(self, draft: Draft, key: str, value: object, line: int) -> None:
        if role_of(key) == "name":
            return
        ends = [_relation(one) for one in value] if role_of(key) == "relations" and isinstance(value, list) else []
        if ends and all(ends):
            add_label(draft, Field(key, "", line, ends))
        else:
            add_label(draft, Field(key, _flat(value)[:_MOST_TEXT], line))

    def _line(self, name: str) -> int:
        at = self.text.find(name, self.at)
        self.at = at if at >= 0 else self.at
        return self.text.count("\n", 0, at) + 1 if at >= 0 else 1


def _name_in(said: Mapping[str, Any]) -> str | None:
    """The value of the name field of an object, or of its part such as `basic_info`."""
    parts = [said, *(part for key, part in said.items() if isinstance(part, Mapping) and is_generic(_spaced(key)))]
    names = [
        value for part in parts for key, value in part.items() if role_of(key) == "name" and isinstance(value, str)
    ]
    return names[0].strip() or "?" if names else None


def _is_sheet(said: Mapping[str, Any]) -> bool:
    """Whether an object without a name describes one thing: it has plain values."""
    return any(isinstance(value, str) for value in said.values())


def _fields(said: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """The labels of an object; those of a part such as `basic_info` are its own."""
    for key, value in said.items():
        if isinstance(value, Mapping) and is_generic(_spaced(key)) and _name_in(value) is not None:
            yield from value.items()
        else:
            yield _spaced(key), value


def _spaced(key: str) -> str:
    return key.replace("_", " ") if key.isascii() else key


def _flat(value: object) -> str:
    """Any value as text: commas between plain items, semicolons between others."""
    if value is None or isinstance(value, bool):
        return {None: "", True: "true", False: "false"}[value]
    if isinstance(value, list):
        parts = [part for part in map(_flat, value) if part]
        return joined(parts, "；" if any(isinstance(one, (list, Mapping)) for one in value) else "、")
    if isinstance(value, Mapping):
        stated = ((_spaced(key), text) for key, one in value.items() if (text := _flat(one)))
        return joined((joined(pair, "：") for pair in stated), "；")
    return str(value).strip()


def _relation(one: object) -> str:
    """`brother：林默` of `{"name": "林默", "relation": "brother"}`, "" for anything else."""
    if not isinstance(one, Mapping):
        return ""
    plain = {key: value for key, value in one.items() if isinstance(value, str)}
    label = next((value for key, value in plain.items() if role_of(key) in ("relations", "type")), "")
    name = next(
        (value for key, value in plain.items() if role_of(key) == "name" or key in ("target", "with", "to")), ""
    )
    return joined((label, name), "：") if label and name else ""


def read_tree(text: str) -> object:
    """JSON or YAML as lists, mappings and plain values; an empty mapping where it is neither."""
    text = text.removeprefix("\ufeff")
    if text.lstrip()[:1] in ("{", "["):
        try:
            return loaded(text)
        except (ValueError, RecursionError):
            return {}
    return _Yaml(text).read()


_KEY = re.compile(r"(\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^\s#\"'\[{&*!|>%@-][^:#]*?|-[^\s:][^:#]*?)\s*:(?:\s+(.*)|\s*)$")
_BLOCK = re.compile(r"[|>][+-]?\d?$")
_REMARK = re.compile(r"(?<!\s)\s+#.*$")


class _Yaml:
    """Reads the lines of a file by their indentation."""

    def __init__(self, text: str) -> None:
        lines = [line.rstrip().expandtabs(2) for line in text.splitlines()]
        self.lines = [(len(line) - len(line.lstrip()), line.lstrip()) for line in lines]
        self.at = 0

    def read(self) -> object:
        return self._block(0, 0) if self._skip() else {}

    def _skip(self) -> bool:
        """Go to the next line with content; False at the end."""
        while self.at < len(self.lines):
            said = self.lines[self.at][1]
            if said and not said.startswith("#") and said not in ("---", "..."):
                return True
            self.at += 1
        return False

    def _block(self, least: int, depth: int) -> object:
        """The list or mapping that begins here, indented by at least `least`."""
        if not self._skip() or self.lines[self.at][0] < least or depth > _DEEPEST:
            return ""
        indent, said = self.lines[self.at]
        return self._list(indent, depth) if said == "-" or said.startswith("- ") else self._mapping(indent, depth)

    def _list(self, indent: int, depth: int) -> list[object]:
        found: list[object] = []
        while self._skip() and self.lines[self.at][0] == indent and self.lines[self.at][1][:2] in ("-", "- "):
            said = self.lines[self.at][1][1:]
            inner = indent + 1 + len(said) - len(said.lstrip())
            said = said.lstrip()
            if not said:
                self.at += 1
                found.append(self._block(indent + 1, depth + 1))
            elif _KEY.match(said) is not None:
                self.lines[self.at] = (inner, said)
                found.append(self._mapping(inner, depth + 1))
            else:
                self.at += 1
                found.append(_scalar(said) if not said.startswith("- ") else "")  # a list in a list: of no setting
            self._leave(indent)
        return found

    def _leave(self, indent: int) -> None:
        """Skip lines indented by more: they continue a plain value."""
        while self._skip() and self.lines[self.at][0] > indent:
            self.at += 1

    def _mapping(self, indent: int, depth: int) -> dict[str, object]:
        found: dict[str, object] = {}
        while self._skip() and self.lines[self.at][0] == indent:
            pair = _KEY.match(self.lines[self.at][1])
            self.at += 1
            if pair is None:
                continue
            key, said = str(_scalar(pair[1])), _REMARK.sub("", pair[2] or "")
            if _BLOCK.match(said):
                found[key] = self._text(indent, "\n" if said[0] == "|" else " ")
            elif said:
                found[key] = _scalar(said)
            else:
                lists = self._skip() and self.lines[self.at][0] == indent and self.lines[self.at][1].startswith("-")
                found[key] = self._block(indent if lists else indent + 1, depth + 1)
            self._leave(indent)
        return found

    def _text(self, indent: int, joint: str) -> str:
        said: list[str] = []
        while self.at < len(self.lines) and (not self.lines[self.at][1] or self.lines[self.at][0] > indent):
            said.append(self.lines[self.at][1])
            self.at += 1
        return joint.join(said).strip()


def _scalar(said: str) -> object:
    """A plain or quoted value, or a list in brackets."""
    if said.startswith("{"):
        try:
            return loaded(said)
        except (ValueError, RecursionError):
            return said
    value = parse_front_matter(f"---\nx: {said}\n---\n")[0].get("x", said)
    return list(value) if isinstance(value, tuple) else value

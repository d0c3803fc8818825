"""JSON, YAML and tables as documents: a paragraph for each entry, where it stands in the text."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import takewhile
from typing import Any, NamedTuple

from armarius.documents.classify import DATA_SUFFIXES
from armarius.documents.segments import PARAGRAPH_LIMIT, Paragraph, cut, parts_of
from armarius.documents.titles import FrontMatter, read_front_matter
from armarius.documents.units import chapter_number
from armarius.lexicon import word_file

DATA_LIMIT = 1024 * 1024
"""Bytes; larger files of data are tables, vocabularies or exports, and no documents."""
_TOOLS: dict[str, str] = word_file("kinds")["data"]
_TOOL_STEMS, _TOOL_ENDS = frozenset(_TOOLS["tools"].split()), tuple(_TOOLS["ends"].split())
_CARDS = ("chara_card_v2", "chara_card_v3")
_OF_A_CARD = frozenset({"personality", "scenario", "first_mes"})
# Members of a card that are for the program of its origin.
_OF_ITS_PROGRAM = """
name first_mes mes_example alternate_greetings group_only_greetings system_prompt post_history_instructions
character_book creator creator_notes creator_notes_multilingual character_version extensions assets tags spec
spec_version avatar source creation_date modification_date create_date chat talkativeness fav
"""
_NOT_SHOWN = frozenset(_OF_ITS_PROGRAM.split())
_KEYS = frozenset({"key", "keys", "keywords", "strategy"})
_TEXTS = frozenset({"content", "entry", "text", "value"})
_MANY = 50
_WORD = re.compile("[^\\W\\d_]{2} +[^\\W\\d_]|^[^\\W\\d_]{2,}$|[\u3040-\u30ff\u3400-\u9fff]")
_YAML_VALUE = re.compile(r"(?:: |- )[ \t]*[\"']?([^\s\"'][^\r\n\"']*)")
_DEEPEST = 8  # levels that are split; what is below is cut by length
_LONG = 800  # code points; an entry above it is split into its members
_TOGETHER = 400  # code points; plain values that follow each other are one paragraph up to here
_SPACE = re.compile(r"[ \t\r\n]*")
_LINE = re.compile(r"[^\r\n]+")
_VALUE = json.JSONDecoder().raw_decode


class _Entry(NamedTuple):
    """An entry of an object or list: its span, its key, where its members begin (-1 for a plain value)."""

    start: int
    end: int
    key: str
    inside: int


# (text, where the members begin, where they end) -> the members
_Inside = Callable[[str, int, int], Iterator[_Entry]]


def read_data(suffix: str, text: str) -> tuple[FrontMatter, list[Paragraph]]:
    """What stands for the front matter of JSON or YAML, and the paragraphs: the outermost entries, long ones by theirs.

    Plain values that follow each other are one paragraph up to 400 code points. `heading_path` is the keys around an
    entry; a key such as `chapter_12` gives the chapter. JSON that does not parse, and YAML always, is read by its
    indentation. A character card is a setting, without its openings and instructions. A lorebook has no paragraphs, for
    it is read where it is imported; nor have many values of which hardly any is a word.

    Cost: two passes over the text, one more for each of the first levels of what is long.
    """
    if suffix in (".csv", ".tsv"):
        return {}, list(_rows_of(text))
    if suffix == ".nwx":  # of novelWriter: the order of its texts, which `features` reads
        return {}, []
    tree = _parse_json(suffix, text)
    members = _members if isinstance(tree, (dict, list)) else _yaml_entries
    entries = list(members(text, _space(text, 0), len(text)))
    if (card := _card(suffix, text, tree)) is not None:
        if isinstance(tree, dict) and tree.get("spec") in _CARDS:
            data = next(entry for entry in entries if entry.key == "data")
            entries = list(_members(text, data.inside, data.end))
        fields = [entry for entry in entries if entry.key not in _NOT_SHOWN]
        return {"title": card["name"].strip(), "type": "character"}, _split(text, fields, members, together=0)
    values = _scalars(tree) if members is _members else (match[1] for match in _YAML_VALUE.finditer(text))
    return {}, [] if is_book(tree) or _is_table(values) else _split(text, entries, members)


def _rows_of(text: str) -> Iterator[Paragraph]:
    """The rows of a table by lines, up to 400 code points a paragraph; `heading_path` is the line of its columns."""
    lines = [(match.start(), match.end()) for match in _LINE.finditer(text) if match[0].strip()]
    if not lines:
        return
    head = (text[slice(*lines[0])].strip()[:_LONG],)
    at = start = 0
    end = -1
    for left, right in lines[1:]:
        if end >= 0 and right - start > _TOGETHER:
            for _, begin, stop in cut(text, [(start, end)]):
                yield Paragraph(at, begin, stop, head)
                at += 1
            end = -1
        start, end = left if end < 0 else start, right
    for _, begin, stop in cut(text, [(start, end) if end >= 0 else lines[0]]):
        yield Paragraph(at, begin, stop, head if end >= 0 else ())
        at += 1


def json_fault(text: str) -> tuple[int, str] | None:
    """The line (1-based) at which JSON breaks off or is wrong, and why; None for JSON with comments and JSON lines."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg != "Extra data" and text[error.pos : error.pos + 1] != "/":
            return error.lineno, f"no JSON ({error.msg}); it is read by its lines"
    except (ValueError, RecursionError):
        pass
    return None


def is_tool_file(stem: str) -> bool:
    """Whether a file of data with this stem is the configuration or the product of a tool, or read elsewhere."""
    stem = stem.lower().lstrip("_")
    return stem in _TOOL_STEMS or stem.partition(".")[0] in _TOOL_STEMS or stem.endswith(_TOOL_ENDS)


def load_json(text: str) -> object:
    """The tree of a JSON text; a lone surrogate that it escapes becomes a question mark, as no store can hold it.

    Raises:
        ValueError: No JSON.
        RecursionError: Nested too deeply.
    """
    tree: object = json.loads(text)
    if "\\u" in text:
        tree = json.loads(json.dumps(tree, ensure_ascii=False).encode("utf-8", "replace"))
    return tree


def card_in(suffix: str, text: str) -> Mapping[str, Any] | None:
    """The members of a character card in JSON or YAML; None for any other text."""
    return _card(suffix, text, _parse_json(suffix, text))


def values_in(path: str, entry: str) -> list[str]:
    """The plain values of one entry of a document of data; none of any other text, and of an entry that nests."""
    suffix = parts_of(path).suffix.lower()
    if suffix not in DATA_SUFFIXES:
        return []
    try:
        tree: Any = load_json(f"{{{entry}}}") if suffix == ".json" else read_front_matter(f"---\n{entry}\n---")[0]
    except (ValueError, RecursionError):
        return []
    values = list(tree.values())
    return values if all(isinstance(value, str) for value in values) else []


def card_members(tree: object) -> Mapping[str, Any] | None:
    """What a character card says, its name and description at least; None for anything else.

    A card of the known formats, or a plain object with `name`, `description` and `personality` or `scenario`.
    """
    data = tree.get("data") if isinstance(tree, Mapping) and tree.get("spec") in _CARDS else tree
    if not isinstance(data, Mapping) or (data is tree and not _OF_A_CARD & data.keys()):
        return None
    name, description = data.get("name"), data.get("description")
    return data if isinstance(name, str) and name.strip() and isinstance(description, str) else None


_NAME = re.compile(r"\{\{(char|user)\}\}|<(user|bot|char)>", re.IGNORECASE)
NOBODY = "User"
"""`{{user}}` where no setting names one; SillyTavern's name for nobody in particular."""


def fill_names(text: str, character: str, user: str) -> str:
    """The text of a card or an entry with names for `{{char}}` and `{{user}}`; "" leaves one as it stands."""

    def name(match: re.Match[str]) -> str:
        return (user if (match[1] or match[2]).lower() == "user" else character) or match[0]

    return _NAME.sub(name, text)


def is_book(tree: object, depth: int = 5) -> bool:
    """Whether a tree is a lorebook of any program: entries of keys and a text."""
    if isinstance(tree, Mapping):
        own = tree.keys()
        if own & _KEYS and own & _TEXTS and own != {"key", "value"}:
            return True
        tree = list(tree.values())
    if not isinstance(tree, list) or not depth:
        return False
    return any(is_book(item, depth - 1) for item in tree[:_MANY] if isinstance(item, (Mapping, list)))


def _card(suffix: str, text: str, tree: object) -> Mapping[str, Any] | None:
    if tree is None and suffix != ".json":
        return card_members(read_front_matter(f"---\n{text.strip()}\n---\n")[0])
    return card_members(tree)


def _parse_json(suffix: str, text: str) -> object:
    """The tree of JSON, in a file of YAML too; None for any other text."""
    if suffix != ".json" and text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return load_json(text)
    except (ValueError, RecursionError):
        return None


def _scalars(tree: object) -> Iterator[str]:
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, (dict, list)):
            left += node.values() if isinstance(node, dict) else node
        else:
            yield str(node)


def _is_table(values: Iterable[str]) -> bool:
    """Whether of many values not one in ten is a word or more: numbers, versions, addresses, digests."""
    flags = [_WORD.search(value) is not None for value in values]
    return len(flags) > _MANY and 10 * sum(flags) < len(flags)


def _split(text: str, entries: Iterable[_Entry], inside: _Inside, together: int = _TOGETHER) -> list[Paragraph]:
    result: list[Paragraph] = []

    def add(start: int, end: int, path: tuple[str, ...], key: str = "") -> None:
        chapter = next((n for name in (key, *reversed(path)) if (n := chapter_number(name)) is not None), None)
        for _, left, right in cut(text, [(start, end)]):
            result.append(Paragraph(len(result), left, right, path, "body", chapter))

    def walk(entries: Iterable[_Entry], path: tuple[str, ...], depth: int) -> None:
        start = end = -1
        for entry in entries:
            plain = entry.inside < 0 and chapter_number(entry.key) is None
            if start >= 0 and not (plain and entry.end - start <= together):
                add(start, end, path)
                start = -1
            if plain and entry.end - entry.start <= together:
                start, end = entry.start if start < 0 else start, entry.end
            elif entry.inside >= 0 and entry.end - entry.start > _LONG and depth < _DEEPEST:
                walk(inside(text, entry.inside, entry.end), (*path, entry.key) if entry.key else path, depth + 1)
            else:
                around = (*path, entry.key) if entry.key and entry.end - entry.start > PARAGRAPH_LIMIT else path
                add(entry.start, entry.end, around, entry.key)
        if start >= 0:
            add(start, end, path)

    walk(entries, (), 0)
    return result


def _members(text: str, at: int, end: int) -> Iterator[_Entry]:
    """The members of the object or list of JSON that begins at `at`.

    Raises:
        ValueError, IndexError: It is missing or damaged.
    """
    last = {"{": "}", "[": "]"}.get(text[at])
    if last is None:
        raise ValueError("no object and no list")
    at = _space(text, at + 1)
    while text[at] != last:
        start, key = at, ""
        if last == "}":
            key, at = _VALUE(text, at)
            at = _space(text, at)
            if text[at] != ":" or not isinstance(key, str):
                raise ValueError("no key")
            at = _space(text, at + 1)
        inside = at if text[at] in "{[" else -1
        at = _VALUE(text, at)[1]
        yield _Entry(start, at, key, inside)
        at = _space(text, at)
        if text[at] == ",":
            at = _space(text, at + 1)


def _space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None, "it matches nothing too"
    return match.end()


_KEY = re.compile(r"(?:- +)*+(\"[^\"]*\"|'[^']*'|[^\s:#\[{\"'][^:\r\n]*?)\s*:(?=\s|$)")
_LONGEST_KEY = 200


def _yaml_entries(text: str, at: int, end: int) -> Iterator[_Entry]:
    """The entries of YAML in a stretch of lines: what begins where its first line does."""
    depth, listed, block = -1, False, False
    start = last = inside = -1
    key = ""
    for line in _LINE.finditer(text, at, end):
        bare = line[0].strip()
        if not bare or (bare.startswith("#") and start < 0) or bare in ("---", "..."):
            continue
        first = line.start() + _indent(line[0])
        before = text.rfind("\n", 0, first)
        column = first - max(before, text.rfind("\r", before + 1, first)) - 1
        if depth < 0:
            depth, listed = column, bare.startswith("-")
        if column > depth or (not listed and f"{bare} ".startswith("- ")) or bare[0] in "]}#":
            if inside < 0 and not block:
                inside = first
        else:
            if start >= 0:
                yield _Entry(start, last, key, inside)
            head = bare[:_LONGEST_KEY]
            named, block = _KEY.match(head), bare[-3:].rstrip("+-123456789").endswith((" |", " >"))
            start, key = first, named[1].strip("\"'") if named is not None else ""
            # `- name: x` holds the first member of an object.
            inside = first + len(bare) - len(bare.lstrip("- ")) if listed and named is not None else -1
            key = "" if listed else key
        last = line.end()
    if start >= 0:
        yield _Entry(start, last, key, inside)


_BLOCK = re.compile(r"([|>])[+-]?\d?$")
_REMARK = re.compile(r"(?<!\s)\s+#.*$")


def yaml_tree(text: str, at: int, end: int, deepest: int) -> object:
    """Lists, mappings and plain values of YAML in a stretch of lines; "" for none, and below `deepest` levels.

    Cost: one pass over the lines for each level.
    """
    entries = [] if deepest < 0 else list(_yaml_entries(text, at, end))
    if entries and (text.startswith("- ", at := entries[0].start) or text[at : entries[0].end].splitlines()[0] == "-"):
        return [_yaml_value(text, entry, text[entry.start + 1 : entry.end].lstrip(" "), deepest) for entry in entries]
    values = {}
    for entry in entries:
        if key := _KEY.match(text, entry.start, entry.end):
            values[entry.key] = _yaml_value(text, entry, text[key.end() : entry.end], deepest)
    return values or ""


def _yaml_value(text: str, entry: _Entry, value: str, deepest: int) -> object:
    """The value of an entry; `value` is its text behind the key or the mark of a list."""
    first, *rest = value.splitlines() or [""]
    first = _REMARK.sub("", first).strip()
    if block := _BLOCK.match(first):
        depth = next((_indent(line) for line in rest if line.strip()), 0)
        lines = takewhile(lambda line: not line.strip() or _indent(line) >= depth, rest)
        return ("\n" if block[1] == "|" else " ").join(map(str.strip, lines)).strip()
    # `- name: x` holds the first member of an object
    if entry.inside >= 0 and (not first or "\n" not in text[entry.start : entry.inside]):
        return yaml_tree(text, entry.inside, entry.end, deepest - 1)
    return "" if first.startswith("- ") else _scalar(first)  # a list in a list: of no setting


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _scalar(text: str) -> object:
    """A plain or quoted value, or a list in brackets."""
    if text.startswith("{"):
        try:
            return load_json(text)
        except (ValueError, RecursionError):
            return text
    value = read_front_matter(f"---\nx: {text}\n---\n")[0].get("x", text)
    return list(value) if isinstance(value, tuple) else value


_ESCAPE = re.compile(r"\\\\|\\u(?:d[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|(?!d[89a-f])[0-9a-f]{4})", re.IGNORECASE)


def unescape_json(text: str) -> str:
    r"""JSON with its letters as letters: programs write 小 as `\u5c0f`, which nobody finds."""
    return _ESCAPE.sub(_letter, text) if "\\u" in text else text


def _letter(match: re.Match[str]) -> str:
    letter: str = match[0] if match[0] == "\\\\" else json.loads(f'"{match[0]}"')
    return letter if letter.isprintable() and letter not in '"\\' else match[0]

"""What the title of a folder, file or heading says about the sections below it.

A title counts only if it consists of known words: 主要人物, 人物档案, "Minor Characters", 01_locations. A form
that nobody has filled in has titles and labels with nothing behind them.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from armarius.documents.kinds import KIND_OF_WORD, TYPE_OF_WORD, title_words
from armarius.documents.segments import parts_of
from armarius.documents.units import UNNUMBERED, VOLUMES, chapter_number, unit_re, unnumbered
from armarius.text.unicode import fold, lazy_pattern

_UNNUMBERED = lazy_pattern(rf"^(?:{'|'.join(unnumbered(*UNNUMBERED))}|序言)\b|^{unit_re(*VOLUMES)}", re.IGNORECASE)
_NAME = 200  # a longer title announces nothing
_N = r"(?:\d{1,3}|[一二三四五六七八九十]{1,3})"
_NUMBERING = re.compile(
    rf"^\s*(?:[（(]?{_N}[)）]?\s*[.、．:：_-]\s*|[（(]\s*{_N}\s*[)）]\s*|\d{{1,3}}[)）]?\s+|[A-Z]{{1,4}}-?\d{{2,3}}[:：]\s*)"
)


@dataclass(frozen=True, slots=True)
class TitleGroup:
    """A title that announces entities; the type is None when it does not name one."""

    type: str | None


def _any_re(choices: Iterable[str]) -> str:
    """A regular expression for any of `choices`, the longest first; a hyphen matches a space too."""
    ordered = sorted(choices, key=lambda word: (-len(word), word))
    return "|".join(re.escape(word).replace(r"\-", "[ -]") for word in ordered)


_TYPES = frozenset(TYPE_OF_WORD.values())
_CONTAINERS, _OTHER = title_words("containers"), title_words("other")
_ENTRIES = title_words("entries")
_GENERIC = title_words("generic")
_ASIDE = {word for word in _OTHER if KIND_OF_WORD.get(word, "setting") == "setting"}  # 大纲 is never of a setting
_ANY = _any_re({*TYPE_OF_WORD, *_CONTAINERS, *title_words("fillers")})
_SEP = r"[\s_\-/&+,，、·.:：]"
# Latin words need a word boundary; Han words follow each other directly.
_COMPOSED = lazy_pattern(rf"^(?:{_SEP}*(?:{_ANY})(?=$|[^a-z]|(?<=[^a-z])))+{_SEP}*(?:\d+[人名位个個인명]?)?$")
_OTHER_COMPOSED = lazy_pattern(
    rf"^(?:{_SEP}*(?:{_any_re({*_OTHER, *_CONTAINERS, *title_words('fillers')})})(?=$|[^a-z]|(?<=[^a-z])))+{_SEP}*\d*$"
)
_WORD = re.compile(_ANY)
_UNSPACED_TYPE = _any_re(word for word in TYPE_OF_WORD if not word.isascii())
_TAIL = re.compile(rf"({_UNSPACED_TYPE})(?:{_any_re(title_words('group_tails'))})$")


def strip_numbering(title: str) -> str:
    """`title` without a leading list number: `1. 林小雨`, `一、林小雨`, `（二）林小雨`, `01-characters`."""
    stripped = _NUMBERING.sub("", title, count=1)
    return stripped if stripped.strip() else title.strip()


def group_of(title: str) -> TitleGroup | None:
    """The group that a folder, file or heading announces, or None when it announces none."""
    return _title_group(title) if len(title) <= _NAME else None


@lru_cache(maxsize=1024)
def _title_group(title: str) -> TitleGroup | None:
    bare = fold(re.sub(r"《[^《》]*》|[（(][^（(）)]*[)）]|^[A-Za-z][.)]\s", " ", strip_numbering(title)))
    if not bare or len(bare) > 40:
        return None
    if _COMPOSED.match(bare):
        words = _WORD.findall(bare)
        types = {TYPE_OF_WORD[word] for word in words if word in TYPE_OF_WORD}
        if types or any(word in _CONTAINERS for word in words):
            return TitleGroup(types.pop() if len(types) == 1 else None)
        return None
    tail = _TAIL.search(bare)
    if tail is not None:
        return TitleGroup(
            next(
                kind
                for word, kind in sorted(TYPE_OF_WORD.items(), key=lambda row: -len(row[0]))
                if tail[0].startswith(word)
            )
        )
    return None


def type_of(value: str) -> str:
    """An entity type from the user's word: a known type for 人物, "Main character"…, else the word itself."""
    bare = re.sub(r"[（(][^（(）)]*[)）]", "", value).strip()
    if fold(bare) in _TYPES:
        return fold(bare)
    group = group_of(bare)
    if group is not None and group.type is not None:
        return group.type
    return " ".join(bare.split())[:40] or "other"


def is_chapter(title: str) -> bool:
    """Whether a file stem or heading names a chapter: ch003, 第三回, Chapter 12, prologue."""
    return _UNNUMBERED.match(title.strip()) is not None or chapter_number(title) is not None


def is_other(title: str) -> bool:
    """Whether a title consists of words for other documents than settings and chapters: 剧情大纲, "Plot outline"."""
    bare = fold(strip_numbering(title))
    return 0 < len(bare) <= 40 and _OTHER_COMPOSED.match(bare) is not None and group_of(title) is None


def is_generic(title: str) -> bool:
    """Whether a heading names an aspect of a thing (外貌, Background) rather than a thing."""
    bare = fold(strip_numbering(title)).strip(" :：")
    return bare in _GENERIC or bare.replace(" ", "-") in _GENERIC


def lists_entries(title: str) -> bool:
    """Whether the headings of a page with this title are its entries: a glossary, an encyclopedia."""
    return any(word in _ENTRIES for word in _WORD.findall(fold(strip_numbering(title)))) and group_of(title) is not None


def page_type(path: str, title: str = "") -> tuple[str | None, bool]:
    """The type of the entities in a file of settings by its name, first heading and folders; the nearest wins.

    Args:
        path: Project-relative, `/`-separated.
        title: The file's first-level heading, or "".

    Returns:
        The entity type, None where the names give none; whether they say that the headings are no entities: 时间线.
    """
    pure = parts_of(path)
    in_group = False
    for name in (pure.stem, title, *reversed(pure.folders)):
        group = group_of(name)
        if group is not None and group.type is not None:
            return group.type, False
        in_group = in_group or group is not None
        if not in_group and fold(strip_numbering(name)) in _ASIDE:
            return None, True
    return None, False


FrontMatter = Mapping[str, str | tuple[str, ...]]

_BLOCK = re.compile(r"---[ \t]*(?:\r\n|\r|\n)(.*?)(?<=[\r\n])(?:---|\.\.\.)[ \t]*(?=\r|\n|\Z)", re.DOTALL)
_PAIR = re.compile(r"([^\s:：#-][^:：]*?)\s*[:：](?:\s+(.*)|\s*)$")
_ITEM = re.compile(r"\s*-\s+(.*)$")
# A blank line, a comment, the end of a list, a placeholder, `key:value`.
_NO_PAIR = re.compile(
    r"\s*(?:$|[#\]})<]|\{\{)|\S[^\s:：]*[:：]\S"
)  # blank, comment, end of a list, placeholder, `key:value`
_BLOCK_SCALAR = re.compile(r"[|>][+-]?$")
_FLOW_ITEM = re.compile(r"""\s*("[^"]*"|'[^']*'|[^,，、;；]*)\s*(?:[,，、;；]|$)""")
_SEPARATOR = re.compile(r"[,，、;；]")


def parse_front_matter(text: str) -> tuple[dict[str, str | tuple[str, ...]], int]:
    """Keys (lower case) with their values, and the code-point offset where the block ends.

    Returns:
        `({}, 0)` when the text does not begin with a closed block that holds at least one pair.
    """
    return read_front_matter(text)[:2]


def read_front_matter(text: str) -> tuple[dict[str, str | tuple[str, ...]], int, list[int]]:
    """`parse_front_matter`, and the lines (1-based) of its block that are no metadata: such a block is broken."""
    block = _BLOCK.match(text)
    if not block:
        return {}, 0, []
    fields: dict[str, str | tuple[str, ...]] = {}
    stray: list[int] = []
    key, joint = "", None
    for number, line in enumerate(re.split(r"\r\n|\r|\n", block[1]), 2):
        if joint is not None and (not line.strip() or line[0] in " \t"):
            fields[key] = joint.join(filter(None, (str(fields[key]), line.strip())))
        elif (item := _ITEM.match(line)) and key:
            before = fields[key]
            fields[key] = (*(before if isinstance(before, tuple) else ()), _unquote(item[1]))
        elif pair := _PAIR.match(line):
            key = pair[1].strip().strip("\"'").lower()
            value = (pair[2] or "").strip()
            joint = {"|": "\n", ">": " "}[value[0]] if _BLOCK_SCALAR.match(value) else None
            fields[key] = "" if joint is not None else _value(value)
        elif not _NO_PAIR.match(line) and not (key and line[0] in " \t"):
            stray.append(number)
    return (fields, block.end(), stray) if fields else ({}, 0, [])


def front_matter_faults(text: str) -> dict[int, str]:
    """What is wrong with the front matter of a text, by line (1-based).

    A block without its end needs a `key: value` in its second line, for a text may begin with a rule.
    """
    block = _BLOCK.match(text)
    lines = (block[1] if block else text).splitlines()
    if block is None:
        unended = len(lines) > 1 and lines[0].rstrip() == "---" and _PAIR.match(lines[1]) is not None
        return {1: "front matter without a closing `---`; it is read as prose"} if unended else {}
    faults = dict.fromkeys(
        read_front_matter(text)[2], "neither `key: value` nor a list item; this front matter is read as prose"
    )
    for at, line in enumerate(lines):
        pair = _PAIR.match(line)
        if pair is None or not (pair[2] or "").startswith("["):
            continue
        rest = takewhile(lambda row: _PAIR.match(row) is None, lines[at + 1 :])
        if not any("]" in part for part in (pair[2], *rest)):
            faults[at + 2] = "a list without its closing `]`"
    return faults


def as_strings(value: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """A value as a list: `a, b、c` is split; None gives an empty list."""
    if isinstance(value, tuple):
        return value
    return tuple(part for raw in _SEPARATOR.split(value or "") if (part := raw.strip()))


def _value(raw: str) -> str | tuple[str, ...]:
    if raw.startswith("[") and raw.endswith("]"):
        return tuple(part for item in _FLOW_ITEM.findall(raw[1:-1]) if (part := _unquote(item)))
    return _unquote(raw)


def _unquote(raw: str) -> str:
    raw = raw.strip()
    return raw[1:-1] if len(raw) >= 2 and raw[0] == raw[-1] and raw[0] in "\"'" else raw


_PLACEHOLDER = re.compile(
    r"\{\{(?![<%])[^{}\n]{0,80}\}\}|<%[^%\n]{0,80}%>|\$\{[^}\n]{0,80}\}|\b(?:TBD|TODO|FIXME)\b"
    r"|[（(【\[](?:待[填定补補写寫]|请填|填写)"
    r"|<!--(?:(?!<!--).)*?-->|\[\[[^\[\]\n]*/\]\]|_{3,}|…{2,}|\.{4,}|待补充|待填写|待定",
    re.DOTALL,
)
_HEADING = re.compile(r"#{1,6}(?:\s|$)")
_LISTED = re.compile(r"\s*(?:[-*+•·]|\d{1,3}[.)、])(?:\s+\[[ xX]\])?(?:\s|$)")
_LABELS = re.compile(r"(?:[^:：|]{1,60}[:：]\s*)+")
_LETTER = re.compile(r"[^\W_]")
_ITEMS = 7  # an item stands below every heading, and below any other line


def filled_in(text: str) -> str:
    """`text` without the headings and labels that have nothing behind them; "" when nothing is left.

    Of a text where each has something, the text itself. Placeholders such as `{{title}}` count as nothing.

    Cost: one pass over the lines.
    """
    lines = text.split("\n")
    kept: list[str] = []
    dropped = False
    below = 0  # the least depth for which something that is kept stands further down
    for line in reversed(lines):
        depth, is_frame = _read(line)
        if not _LETTER.search(line):
            kept.append(line)
        elif not is_frame or depth < below:
            kept.append(line)
            below = depth
        else:
            dropped = True
    if not dropped:
        return text
    left = "\n".join(reversed(kept))
    return re.sub(r"\n{3,}", "\n\n", left).strip() if below else ""


def _read(line: str) -> tuple[int, bool]:
    """How deep a line stands, from 1, and whether it only names what is to follow."""
    text = _PLACEHOLDER.sub("", line)
    if (heading := _HEADING.match(text)) is not None:
        return len(heading[0].rstrip()), True
    item = _LISTED.match(text)
    indent = len(line) - len(line.lstrip())
    depth = _ITEMS if item is None else _ITEMS + 1 + indent
    bare = (text if item is None else text[item.end() :]).replace("*", "").strip(" \t|-")
    return depth, not _LETTER.search(bare) or _LABELS.fullmatch(bare) is not None

"""Front matter: the small part of YAML that writers use between two `---` lines at the top of a file.

`key: value`, `key: [a, b]`, `key:` followed by `- item` lines, and `key: |` or `key: >` followed by indented lines.
Anything else in the block is left alone.
"""

import re
from collections.abc import Mapping

__all__ = ["FrontMatter", "as_strings", "parse_front_matter"]

FrontMatter = Mapping[str, str | tuple[str, ...]]

_BLOCK = re.compile(r"---[ \t]*(?:\r\n|\r|\n)(.*?)(?<=[\r\n])(?:---|\.\.\.)[ \t]*(?=\r|\n|\Z)", re.DOTALL)
_PAIR = re.compile(r"([^\s:：#-][^:：]*?)\s*[:：](?:\s+(.*)|\s*)$")
_ITEM = re.compile(r"\s*-\s+(.*)$")
_BLOCK_SCALAR = re.compile(r"[|>][+-]?$")
_FLOW_ITEM = re.compile(r"""\s*("[^"]*"|'[^']*'|[^,，、;；]*)\s*(?:[,，、;；]|$)""")
_SEPARATOR = re.compile(r"[,，、;；]")


def parse_front_matter(text: str) -> tuple[dict[str, str | tuple[str, ...]], int]:
    """Keys (lower case) with their values, and the code-point offset where the block ends.

    Returns:
        `({}, 0)` when the text does not begin with a closed block that holds at least one pair.
    """
    block = _BLOCK.match(text)
    if not block:
        return {}, 0
    found: dict[str, str | tuple[str, ...]] = {}
    key, joint = "", None
    for line in re.split(r"\r\n|\r|\n", block[1]):
        if joint is not None and (not line.strip() or line[0] in " \t"):
            found[key] = joint.join(filter(None, (str(found[key]), line.strip())))
        elif (item := _ITEM.match(line)) and key:
            before = found[key]
            found[key] = (*(before if isinstance(before, tuple) else ()), _unquote(item[1]))
        elif pair := _PAIR.match(line):
            key = pair[1].strip().strip("\"'").lower()
            value = (pair[2] or "").strip()
            joint = {"|": "\n", ">": " "}[value[0]] if _BLOCK_SCALAR.match(value) else None
            found[key] = "" if joint is not None else _value(value)
    return (found, block.end()) if found else ({}, 0)


def as_strings(value: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """A value as a list: `a, b、c` is split, a list is itself, nothing is empty."""
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

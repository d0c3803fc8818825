"""The block between two `---` lines at the head of a Markdown file: the plain part of YAML that people write there.

Read: `key: value`, `key: [a, b]`, `key:` followed by `- item` lines, quoted strings, `|` and `>` blocks, comments.
Anything deeper (anchors, nested mappings) is kept as its text: a head that is odd never makes a file unreadable.
"""

import re

FrontMatter = dict[str, str | list[str]]

_KEY = re.compile(r"^(?P<key>[^\s#:：\-\[{\"'][^:：]{0,60}?|\"[^\"]+\"|'[^']+')\s*[:：](?:\s+|$)(?P<value>.*)$")
_COMMENT = re.compile(r"(?:^|\s)#.*$")


def split_front_matter(text: str) -> tuple[FrontMatter, int]:
    r"""The head of `text` and the number of lines it occupies, both fences included.

    Args:
        text: A whole file with `\n` line ends.

    Returns:
        `({}, 0)` when the file does not begin with a closed `---` block.
    """
    if not text.startswith("---"):
        return {}, 0
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return {}, 0
    for end in range(1, len(lines)):
        if lines[end].rstrip() in {"---", "..."}:
            return _parse(lines[1:end]), end + 1
    return {}, 0


def _parse(lines: list[str]) -> FrontMatter:
    front: FrontMatter = {}
    at = 0
    while at < len(lines):
        match = _KEY.match(lines[at])
        at += 1
        if match is None:
            continue
        key, value = _scalar(match["key"]), match["value"].strip()
        block: list[str] = []
        while at < len(lines) and (not lines[at].strip() or lines[at][0] in " \t" or lines[at].startswith("- ")):
            block.append(lines[at])
            at += 1
        front[key] = _value(value, block)
    return front


def _value(value: str, block: list[str]) -> str | list[str]:
    if value[:1] in {"|", ">"} and len(value) <= 2:
        return ("\n" if value[0] == "|" else " ").join(line.strip() for line in block).strip()
    if value.startswith("["):
        flow = " ".join([value, *(line.strip() for line in block)])
        return [item for item in map(_scalar, split_flow(flow.strip().removeprefix("[").removesuffix("]"))) if item]
    stripped = [line.strip() for line in block if line.strip()]
    if not value and stripped and all(line.startswith("-") for line in stripped):
        return [item for line in stripped if (item := _scalar(line[1:]))]
    return " ".join([_scalar(value), *stripped]).strip()


def split_flow(text: str) -> list[str]:
    """The items of a flow list: commas of both widths, not those inside quotes."""
    items, current, quote = [], "", ""
    for char in text:
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'" and not current.strip():
            quote = char
        elif char in ",，、":
            items.append(current)
            current = ""
            continue
        current += char
    return [*items, current]


def _scalar(text: str) -> str:
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1].replace('\\"', '"') if text[0] == '"' else text[1:-1].replace("''", "'")
    return _COMMENT.sub("", text).strip()

"""Parse the reply of a language model into query variants: JSON or a list of lines, with or without a code fence."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from armarius.arguments import LONGEST, MOST
from armarius.lexicon import word_file

__all__ = ["parse"]

_READ = 20_000  # code points read of a reply
_ARRAYS = 40  # opening brackets that are tried as the start of a JSON array
_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[\w-]*\s*\n?(.*?)(?:```|\Z)", re.DOTALL)
_ITEM = re.compile(
    r"\s*(?:[-*+•·▪‣–—]\s+|\(?\d{1,2}\s*[.)、:：．]\s*|（\d{1,2}）\s*|[①-⑳]\s*|[一二三四五六七八九十]{1,2}\s*[、.．:：]\s*)(?P<said>\S.*)"
)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt])*"(?=\s*[,\]])')
_OPENING = "“\"'‘「『《〈[（(`*_ "
_CLOSING = "”\"'’」』》〉]）)`*_ ,，;；"
_WORD = re.compile(r"\w", re.UNICODE)


def parse(reply: object, *, question: str = "", n: int = 4) -> tuple[str, ...]:
    """Extract the query variants from a reply.

    Tried in this order: a JSON array of strings or of objects with a string, anywhere in the reply; the items of a
    numbered or bulleted list; all lines except introductions ("Here are …", 以下是…) and refusals. Surrounding quotes
    are removed. The question itself, duplicates, variants with fewer than two letters or digits and variants longer
    than 400 characters are dropped.

    Args:
        reply: A string, a message object with `content` or `text`, or a list of strings.
        question: The original query.
        n: Maximum number of variants.

    Returns:
        The variants in order of appearance; () if the reply contains none. Never raises.

    Cost: linear in the first 20,000 characters.
    """
    found = _items(reply) if isinstance(reply, list | tuple) and not _blocks(reply) else _read(_text(reply))
    kept: dict[str, str] = {}
    asked = _folded(question)
    for said in found:
        wording = _bare(said)
        key = _folded(wording)
        if wording and key != asked and _is_wording(wording):
            kept.setdefault(key, wording)
    return tuple(kept.values())[: max(0, min(n, MOST))]


def _text(reply: Any) -> str:  # noqa: ANN401 - model libraries have many types of replies
    """The text of a reply: the content of a message, or its text blocks joined."""
    if isinstance(reply, str):
        return reply[:_READ]
    if isinstance(reply, bytes):
        return reply[:_READ].decode("utf-8", "replace")
    if isinstance(reply, list | tuple):
        return "\n".join(_text(one) for one in reply[:_ARRAYS])[:_READ]
    if isinstance(reply, Mapping):
        return _text(next((reply[key] for key in ("content", "text") if reply.get(key) is not None), ""))
    for name in ("content", "text"):
        if isinstance(said := getattr(reply, name, None), str | list | tuple):
            return _text(said)
    return ""


def _blocks(reply: list[Any] | tuple[Any, ...]) -> bool:
    """Whether a list holds content blocks of one message, and not variants."""
    return any(isinstance(one, Mapping) and one.get("type") == "text" for one in reply)


def _read(text: str) -> Iterable[str]:
    text = _THOUGHT.sub("", text)
    for piece in (*(fence[1] for fence in _FENCE.finditer(text)), text):
        if found := _from_json(piece):
            return found
    fenced = _FENCE.search(text)
    if (begun := (fenced[1] if fenced else text).strip()).startswith("["):
        return _cut_short(begun)
    lines = [line for line in (fenced[1] if fenced else text).splitlines() if line.strip()]
    items = [item["said"] for line in lines if (item := _ITEM.fullmatch(line))]
    return items or [line for line in lines if not _is_talk(line.strip())]


def _is_talk(line: str) -> bool:
    """Whether a line outside a list introduces the reply or is a refusal; list items are never checked for that."""
    return line.endswith((":", "：")) or line.casefold().replace("’", "'").startswith(_talk())


def _from_json(text: str) -> list[str]:
    """The first JSON array of strings in `text`."""
    decoder = json.JSONDecoder()
    at, tried = text.find("["), 0
    while at >= 0 and tried < _ARRAYS:
        tried += 1
        try:
            value, _ = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, list) and (found := list(_items(value))):
            return found
        at = text.find("[", at + 1)
    return []


def _cut_short(array: str) -> list[str]:
    """The complete strings of a truncated JSON array."""
    return [json.loads(one) for one in _STRING.findall(array)]


def _items(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value[:_READ]
        elif isinstance(value, Mapping):
            yield from [one for one in value.values() if isinstance(one, str)][:1]


def _bare(said: str) -> str:
    """Join lines, and remove list markers and surrounding quotes; quotes inside are kept."""
    line = " ".join(said.split())
    if item := _ITEM.fullmatch(line):
        line = item["said"]
    if len(line) > 2 * LONGEST:
        return line  # too long in any case; the caller drops it
    while line and line[0] in _OPENING and line[-1] in _CLOSING and len(line) > 1:
        inner = line[1:-1].strip()
        if _is_torn(inner):
            break
        line = inner
    return line.strip(" ,，;；`")


def _is_torn(inner: str) -> bool:
    """Whether the removed quotes were of two quotations, as in `“来”，他说“好”`; then brackets no longer balance."""
    for opening, closing in ("“”", "‘’", "「」", "『』", "《》", "()", "（）", "[]"):
        depth = 0
        for char in inner:
            depth += (char == opening) - (char == closing)
            if depth < 0:
                return True
    return False


def _folded(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _is_wording(text: str) -> bool:
    if len(text) > LONGEST or len(_WORD.findall(text)) < 2:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@cache
def _talk() -> tuple[str, ...]:
    words = word_file("rewording")
    return (*words["talk"], *words["refusals"])
